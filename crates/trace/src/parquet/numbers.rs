//! Numbers of one column of a chunk: as positions in a dictionary while there are few different ones, otherwise as differences or
//! byte by byte.
//!
//! A number is only stored when it arrives. Numbers are encoded in blocks, in loops without a branch for each kind of record.

use super::bits::{bytes_of, exchange, make_room, pack, varint, zigzag, PART};

/// The largest size of a dictionary: enough for sizes on the wire, windows, links.
const FEW: usize = 16;

/// Differences in a block; each of its parts has its own width.
const BLOCK: usize = 128;

/// The number of places in a window: as many as the position has values, so that no position is outside.
const PLACES: usize = 1 << u8::BITS;

/// Numbers of 64 bits, encoded block by block.
#[derive(Debug)]
pub(super) struct Numbers<M> {
    /// The last number of the block before, if there is one, and the numbers since then.
    window: [i64; PLACES],
    used: u8,
    begun: Begun,
    first: i64,
    few: Few,
    /// The encoding once there are too many different numbers.
    many: M,
    spilt: bool,
}

/// Whether the first number of a window belongs to the block before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Begun {
    #[default]
    No,
    Yes,
}

/// Encodes numbers with many different values.
pub(super) trait Many: Default {
    /// The first number.
    fn first(&mut self, v: i64);
    /// The numbers of `window` after its first one, which was the last one so far: a whole block, or the last ones.
    fn more(&mut self, window: &[i64]);
    fn clear(&mut self);
}

impl<M: Many> Default for Numbers<M> {
    fn default() -> Self {
        Numbers {
            window: [0; PLACES],
            used: 0,
            begun: Begun::No,
            first: 0,
            few: Few::default(),
            many: M::default(),
            spilt: false,
        }
    }
}

impl<M: Many> Numbers<M> {
    #[inline(always)]
    pub(super) fn push(&mut self, v: i64) {
        self.window[usize::from(self.used)] = v;
        self.used += 1;
        if usize::from(self.used) > BLOCK {
            self.encode();
        }
    }

    /// Encodes the numbers that wait.
    #[inline(never)]
    fn encode(&mut self) {
        let window = &self.window[..usize::from(self.used)];
        let waiting = match self.begun {
            Begun::No => window,
            Begun::Yes => &window[1..],
        };
        let Some(last) = waiting.last().copied() else { return };
        if !self.spilt && !self.few.extend(waiting) {
            self.spilt = true;
            self.few.hand_over(&mut self.many);
        }
        if self.begun == Begun::No {
            self.first = window[0];
            if self.spilt {
                self.many.first(self.first);
            }
        }
        if self.spilt {
            self.many.more(window);
        }
        self.window[0] = last;
        self.used = 1;
        self.begun = Begun::Yes;
    }

    /// The dictionary and the positions in it, or the encoding for many values. Nothing may be added afterwards.
    pub(super) fn encoded(&mut self) -> Result<(&[i64], &[u8]), &mut M> {
        self.encode();
        if self.spilt {
            Err(&mut self.many)
        } else {
            Ok((&self.few.dictionary.known[..self.few.dictionary.different], &self.few.places))
        }
    }

    /// The first number and the last one; valid after [`Numbers::encoded`].
    pub(super) fn ends(&self) -> (i64, i64) {
        (self.first, self.window[0])
    }

    pub(super) fn clear(&mut self) {
        self.used = 0;
        self.begun = Begun::No;
        self.few.clear();
        self.spilt = false;
        self.many.clear();
    }
}

/// Numbers as places in a dictionary.
#[derive(Debug, Default)]
struct Few {
    dictionary: Dictionary,
    places: Vec<u8>,
    /// Whether all places of the last block are the same.
    even: bool,
}

impl Few {
    /// Adds numbers, unless the dictionary would become too large: then none is added.
    fn extend(&mut self, values: &[i64]) -> bool {
        let before = self.places.len();
        make_room(&mut self.places);
        // Only a column that has repeated one number is likely to do so again.
        let last =
            self.places.last().copied().filter(|place| self.even && self.dictionary.is_everywhere(*place, values));
        self.places.resize(before + values.len(), last.unwrap_or_default());
        if last.is_some() {
            return true;
        }
        for (place, v) in self.places[before..].iter_mut().zip(values) {
            let Some(found) = self.dictionary.place(*v) else {
                self.places.truncate(before);
                return false;
            };
            *place = found;
        }
        let (block, first) = (&self.places[before..], self.places[before]);
        self.even = block.iter().fold(0, |all, place| all | (place ^ first)) == 0;
        true
    }

    /// Passes all numbers on to another encoding.
    fn hand_over(&mut self, many: &mut impl Many) {
        let number = |place: &u8| self.dictionary.known[usize::from(*place)];
        let Some(first) = self.places.first() else { return };
        many.first(number(first));
        let mut window = [0; BLOCK + 1];
        // Only whole blocks have been encoded.
        for block in self.places.windows(BLOCK + 1).step_by(BLOCK) {
            window.iter_mut().zip(block).for_each(|(v, place)| *v = number(place));
            many.more(&window);
        }
    }

    fn clear(&mut self) {
        self.dictionary = Dictionary::default();
        self.places.clear();
        self.even = false;
    }
}

#[derive(Debug)]
struct Dictionary {
    known: [i64; FEW],
    different: usize,
    /// Numbers that were found before, each in its [`slot`], and their places.
    found: [i64; 2 * FEW],
    places: [u8; 2 * FEW],
}

impl Default for Dictionary {
    fn default() -> Self {
        let mut found = [0; 2 * FEW];
        // A number that belongs to another slot, as 0 does in all other slots.
        found[slot(0)] = 1;
        Dictionary { known: [0; FEW], different: 0, found, places: [0; 2 * FEW] }
    }
}

impl Dictionary {
    /// The place of `v`, which is added if it is new; `None` if there is no room.
    #[inline(always)]
    fn place(&mut self, v: i64) -> Option<u8> {
        let slot = slot(v);
        if self.found[slot] == v {
            return Some(self.places[slot]);
        }
        self.look_up(v)
    }

    #[inline(never)]
    fn look_up(&mut self, v: i64) -> Option<u8> {
        let place = self.known[..self.different].iter().position(|known| *known == v).unwrap_or(self.different);
        *self.known.get_mut(place)? = v;
        self.different = self.different.max(place + 1);
        self.found[slot(v)] = v;
        self.places[slot(v)] = place as u8;
        Some(place as u8)
    }

    /// Whether all of `values` are the number at `place`.
    fn is_everywhere(&self, place: u8, values: &[i64]) -> bool {
        let known = self.known[usize::from(place)];
        values.iter().fold(0, |all, v| all | (v ^ known)) == 0
    }
}

/// Multiplicative hashing with 2⁶⁴ divided by the golden ratio (Knuth, The Art of Computer Programming, volume 3, §6.4).
#[inline(always)]
fn slot(v: i64) -> usize {
    ((v as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - (2 * FEW).ilog2())) as usize
}

/// Parquet's BYTE_STREAM_SPLIT: the lowest bytes of all numbers, then the next ones.
#[derive(Debug, Default)]
pub(super) struct Split(pub(super) [Vec<u8>; size_of::<i64>()]);

impl Many for Split {
    fn first(&mut self, v: i64) {
        self.0.iter_mut().for_each(make_room);
        self.0.iter_mut().zip(v.to_le_bytes()).for_each(|(bytes, byte)| bytes.push(byte));
    }

    fn more(&mut self, window: &[i64]) {
        let (numbers, begin) = (&window[1..], self.0[0].len());
        self.0.iter_mut().for_each(|bytes| bytes.resize(begin + numbers.len().next_multiple_of(8), 0));
        for (place, eight) in (begin..).step_by(8).zip(numbers.chunks(8)) {
            let mut words = [0; size_of::<i64>()];
            words.iter_mut().zip(eight).for_each(|(word, v)| *word = *v as u64);
            exchange(&mut words, 8, u64::from(u32::MAX));
            for (bytes, word) in self.0.iter_mut().zip(words) {
                bytes[place..place + 8].copy_from_slice(&word.to_le_bytes());
            }
        }
        self.0.iter_mut().for_each(|bytes| bytes.truncate(begin + numbers.len()));
    }

    fn clear(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }
}

/// Parquet's DELTA_BINARY_PACKED.
#[derive(Debug, Default)]
pub(super) struct Differences {
    first: i64,
    count: usize,
    packed: Vec<u8>,
}

impl Many for Differences {
    fn first(&mut self, v: i64) {
        self.first = v;
        self.count = 1;
        make_room(&mut self.packed);
    }

    /// Widths are whole bytes, and a block's least difference is 0 or that of its width: differences that repeat then have the
    /// same bytes in each block, which Snappy finds.
    fn more(&mut self, window: &[i64]) {
        let used = window.len() - 1;
        if used == 0 {
            return;
        }
        let mut block = [0; BLOCK];
        block.iter_mut().zip(window.windows(2)).for_each(|(d, pair)| *d = pair[1].wrapping_sub(pair[0]));
        // A part that has begun is written whole.
        let parts = || block.chunks_exact(PART).take(used.div_ceil(PART));
        let mut widths = [0; BLOCK / PART];
        let mut least = 0;
        if block.iter().fold(0, |all, d| all | d) >= 0 {
            let most = parts().map(|part| part.iter().fold(0, |all, d| all | d));
            widths.iter_mut().zip(most).for_each(|(width, most)| *width = bytes_of(most as u64));
        } else {
            let most = block.iter().fold(0, |all, d| all | (d ^ (d >> (i64::BITS - 1))));
            // One bit for the sign.
            let width = bytes_of((most as u64) << 1 | 1);
            least = i64::MIN >> (i64::BITS - 8 * u32::from(width));
            widths.iter_mut().zip(parts()).for_each(|(w, _)| *w = width);
        }
        self.count += used;
        zigzag(least, &mut self.packed);
        self.packed.extend(widths.map(|width| 8 * width));
        widths.iter().zip(parts()).for_each(|(width, part)| pack(part, least, *width, &mut self.packed));
    }

    fn clear(&mut self) {
        self.count = 0;
        self.packed.clear();
    }
}

impl Differences {
    /// The head of the encoded numbers, and what follows.
    pub(super) fn parts(&self) -> (Vec<u8>, &[u8]) {
        let mut head = Vec::new();
        varint(BLOCK as u64, &mut head);
        varint((BLOCK / PART) as u64, &mut head);
        varint(self.count as u64, &mut head);
        zigzag(self.first, &mut head);
        (head, &self.packed)
    }
}
