//! Whole numbers of one column of a chunk: as places in a dictionary while they are few, else as differences.

use super::bits::{pack, varint, width, zigzag};

/// So many different numbers are few: sizes on the wire, windows, links.
const FEW: usize = 16;

/// Whole numbers, encoded as they come.
#[derive(Debug, Default)]
pub(super) struct Ints {
    /// The different ones, until they are too many.
    few: Vec<i64>,
    places: Vec<u8>,
    many: bool,
    differences: Differences,
}

/// What a column of whole numbers has become.
pub(super) enum Encoded<'a> {
    Few { dictionary: &'a [i64], places: &'a [u8] },
    Many(&'a mut Differences),
}

impl Ints {
    #[inline]
    pub(super) fn push(&mut self, v: i64) {
        if self.many {
            return self.differences.push(v);
        }
        match self.few.iter().position(|known| *known == v) {
            Some(place) => self.places.push(place as u8),
            None => self.meet(v),
        }
    }

    /// Takes a number that is new.
    #[cold]
    fn meet(&mut self, v: i64) {
        if self.few.len() < FEW {
            self.places.push(self.few.len() as u8);
            self.few.push(v);
            return;
        }
        self.many = true;
        self.places.iter().for_each(|place| self.differences.push(self.few[usize::from(*place)]));
        self.differences.push(v);
    }

    pub(super) fn encoded(&mut self) -> Encoded<'_> {
        if self.many {
            Encoded::Many(&mut self.differences)
        } else {
            Encoded::Few { dictionary: &self.few, places: &self.places }
        }
    }

    pub(super) fn clear(&mut self) {
        self.few.clear();
        self.places.clear();
        self.many = false;
        self.differences.clear();
    }
}

/// Differences in a block, and in each of the parts of it that have a width of their own.
const BLOCK: usize = 128;
const PART: usize = 32;

/// Parquet's DELTA_BINARY_PACKED.
#[derive(Debug)]
pub(super) struct Differences {
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) count: usize,
    block: [i64; BLOCK],
    used: usize,
    packed: Vec<u8>,
}

impl Default for Differences {
    fn default() -> Self {
        Differences { first: 0, last: 0, count: 0, block: [0; BLOCK], used: 0, packed: Vec::new() }
    }
}

impl Differences {
    #[inline]
    fn push(&mut self, v: i64) {
        if self.count == 0 {
            self.first = v;
        } else {
            self.block[self.used] = v.wrapping_sub(self.last);
            self.used += 1;
            if self.used == BLOCK {
                self.pack();
            }
        }
        self.last = v;
        self.count += 1;
    }

    #[inline(never)]
    fn pack(&mut self) {
        let used = &self.block[..self.used];
        let Some(least) = used.iter().copied().min() else { return };
        zigzag(least, &mut self.packed);
        let over = |d: &i64| d.wrapping_sub(least) as u64;
        let mut widths = [0; BLOCK / PART];
        for (w, part) in widths.iter_mut().zip(used.chunks(PART)) {
            *w = width(part.iter().map(over).fold(0, |all, v| all | v)) as u8;
        }
        self.packed.extend_from_slice(&widths);
        // A part that is begun is written whole.
        let rest = self.used.next_multiple_of(PART);
        self.block[self.used..rest].fill(least);
        for (w, part) in widths.iter().zip(self.block[..rest].chunks(PART)) {
            pack(part.iter().map(over), u32::from(*w), &mut self.packed);
        }
        self.used = 0;
    }

    /// Ends the last block and writes all of it.
    pub(super) fn write(&mut self, out: &mut Vec<u8>) {
        self.pack();
        varint(BLOCK as u64, out);
        varint((BLOCK / PART) as u64, out);
        varint(self.count as u64, out);
        zigzag(self.first, out);
        out.extend_from_slice(&self.packed);
    }

    fn clear(&mut self) {
        self.count = 0;
        self.used = 0;
        self.packed.clear();
    }
}
