//! Numbers of one column of a chunk: as positions in a dictionary while there are few different ones, otherwise directly or as
//! differences.

use super::bits::{pack, varint, width, zigzag, PART};

/// The largest size of a dictionary: enough for sizes on the wire, windows, links.
const FEW: usize = 16;

/// Numbers of 64 bits, encoded one by one.
#[derive(Debug, Default)]
pub(super) struct Numbers<M> {
    /// The different numbers, until there are too many.
    known: [i64; FEW],
    different: usize,
    places: Vec<u8>,
    /// The encoding from then on.
    many: M,
    spilt: bool,
}

/// Encodes numbers with many different values.
pub(super) trait Many: Default {
    fn push(&mut self, v: i64);
    fn clear(&mut self);
}

impl<M: Many> Numbers<M> {
    #[inline(always)]
    pub(super) fn push(&mut self, v: i64) {
        if self.spilt {
            return self.many.push(v);
        }
        match self.known[..self.different].iter().position(|known| *known == v) {
            Some(place) => self.places.push(place as u8),
            None => self.meet(v),
        }
    }

    /// Adds a number that is not yet in the dictionary.
    #[cold]
    #[inline(never)]
    fn meet(&mut self, v: i64) {
        if let Some(free) = self.known.get_mut(self.different) {
            *free = v;
            self.places.push(self.different as u8);
            self.different += 1;
            return;
        }
        self.spilt = true;
        self.places.iter().for_each(|place| self.many.push(self.known[usize::from(*place)]));
        self.many.push(v);
    }

    /// The dictionary and the positions in it, or the encoding for many values.
    pub(super) fn encoded(&mut self) -> Result<(&[i64], &[u8]), &mut M> {
        if self.spilt {
            Err(&mut self.many)
        } else {
            Ok((&self.known[..self.different], &self.places))
        }
    }

    pub(super) fn clear(&mut self) {
        self.different = 0;
        self.places.clear();
        self.spilt = false;
        self.many.clear();
    }
}

/// Parquet's PLAIN.
#[derive(Debug, Default)]
pub(super) struct Plain(pub(super) Vec<u8>);

impl Many for Plain {
    #[inline(always)]
    fn push(&mut self, v: i64) {
        self.0.extend_from_slice(&v.to_le_bytes());
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// Differences in a block; each of its parts has its own width.
const BLOCK: usize = 128;

/// Parquet's DELTA_BINARY_PACKED.
#[derive(Debug)]
pub(super) struct Differences {
    first: i64,
    last: i64,
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

impl Many for Differences {
    #[inline(always)]
    fn push(&mut self, v: i64) {
        if self.count == 0 {
            self.first = v;
        } else {
            self.block[self.used % BLOCK] = v.wrapping_sub(self.last);
            self.used += 1;
            if self.used == BLOCK {
                self.pack();
            }
        }
        self.last = v;
        self.count += 1;
    }

    fn clear(&mut self) {
        self.count = 0;
        self.used = 0;
        self.packed.clear();
    }
}

impl Differences {
    #[inline(never)]
    fn pack(&mut self) {
        // A part that has begun is written whole.
        let parts = self.used.div_ceil(PART);
        let (used, rest) = self.block.split_at_mut(self.used);
        let Some(least) = used.iter().copied().min() else { return };
        rest.fill(least);
        zigzag(least, &mut self.packed);
        let mut over = [[0; PART]; BLOCK / PART];
        let mut widths = [0; BLOCK / PART];
        for ((w, over), part) in widths.iter_mut().zip(&mut over).zip(self.block.chunks_exact(PART)) {
            let mut all = 0;
            for (o, d) in over.iter_mut().zip(part) {
                *o = d.wrapping_sub(least) as u64;
                all |= *o;
            }
            *w = width(all) as u8;
        }
        self.packed.extend_from_slice(&widths);
        for (w, over) in widths.iter().zip(&over).take(parts) {
            pack(*over, u32::from(*w), &mut self.packed);
        }
        self.used = 0;
    }

    /// Ends the last block and writes the encoded numbers.
    pub(super) fn write(&mut self, out: &mut Vec<u8>) {
        self.pack();
        varint(BLOCK as u64, out);
        varint((BLOCK / PART) as u64, out);
        varint(self.count as u64, out);
        zigzag(self.first, out);
        out.extend_from_slice(&self.packed);
    }
}
