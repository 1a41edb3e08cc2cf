//! The filled cells of a chunk: one bit for each cell, stored column by column.

use super::bits::{literal, repeat};
use crate::schema::{Id, COLUMNS};

/// The number of rows in a word, one bit for each.
const ROWS: usize = 64;

/// Columns whose place is at least this are rarely filled.
const HALF: usize = ROWS / 2;

/// The place of each column in a row: its own, but the columns of queues have changed places with rare ones.
const PLACES: [u8; COLUMNS.len()] = {
    let swapped = [(Id::Link, Id::Missing), (Id::QueuePackets, Id::Element), (Id::QueueBytes, Id::Nth)];
    let mut places = [0; COLUMNS.len()];
    let mut i = 0;
    while i < places.len() {
        places[i] = i as u8;
        i += 1;
    }
    i = 0;
    while i < swapped.len() {
        let (often, seldom) = swapped[i];
        places[often as usize] = seldom as u8;
        places[seldom as usize] = often as u8;
        i += 1;
    }
    places
};

/// The place of a column in a row.
#[inline(always)]
pub(super) fn place(column: Id) -> usize {
    usize::from(PLACES[column as usize])
}

/// The filled cells of all columns.
#[derive(Debug)]
pub(super) struct Presence {
    rows: usize,
    /// The latest rows, one bit for each column, at its [`place`].
    latest: [u64; ROWS],
    /// By place.
    columns: Box<[Vec<u64>; COLUMNS.len()]>,
}

impl Presence {
    pub(super) fn new() -> Self {
        Presence { rows: 0, latest: [0; ROWS], columns: Box::new(std::array::from_fn(|_| Vec::new())) }
    }

    #[inline]
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The next row has these columns.
    #[inline]
    pub(super) fn push(&mut self, columns: u64) {
        self.latest[self.rows % ROWS] = columns;
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS) {
            self.turn();
        }
    }

    /// A cell of an earlier row is filled later.
    pub(super) fn add(&mut self, row: usize, column: Id) {
        let c = place(column);
        match self.columns[c].get_mut(row / ROWS) {
            Some(word) => *word |= 1 << (row % ROWS),
            None => self.latest[row % ROWS] |= 1 << c,
        }
    }

    /// Converts the latest rows into one word for each column.
    #[inline(never)]
    fn turn(&mut self) {
        let words = if self.latest.iter().fold(0, |all, row| all | row) >> HALF == 0 {
            let mut words = [0; ROWS];
            words[..HALF].copy_from_slice(&transpose_half(&self.latest));
            words
        } else {
            transpose(&mut self.latest);
            self.latest
        };
        for (column, word) in self.columns.iter_mut().zip(words) {
            column.push(word);
        }
        self.latest = [0; ROWS];
    }

    /// Ends the last word.
    pub(super) fn finish(&mut self) {
        if !self.rows.is_multiple_of(ROWS) {
            self.turn();
        }
    }

    /// The first place of a column with the same filled cells, once finished.
    pub(super) fn like(&self, column: Id) -> usize {
        let c = place(column);
        self.columns[..c].iter().position(|other| *other == self.columns[c]).unwrap_or(c)
    }

    /// A column's definition levels (0 empty, 1 filled), once finished. Long stretches without changes are written as
    /// runs.
    pub(super) fn write(&self, column: Id, out: &mut Vec<u8>) {
        let words = &self.columns[place(column)];
        let even = |w: u64| w == 0 || w == u64::MAX;
        let mut i = 0;
        while let Some(&w) = words.get(i) {
            let same = |other: &u64| if even(w) { *other == w } else { !even(*other) };
            let run = words[i..].iter().take_while(|other| same(other)).count();
            let rows = (run * ROWS).min(self.rows - i * ROWS);
            if even(w) {
                repeat(rows, (w & 1) as u8, out);
            } else {
                literal(rows, out);
                let whole = out.len() + rows.div_ceil(8);
                words[i..i + run].iter().for_each(|w| out.extend_from_slice(&w.to_le_bytes()));
                out.truncate(whole);
            }
            i += run;
        }
    }

    pub(super) fn clear(&mut self) {
        self.rows = 0;
        self.latest = [0; ROWS];
        self.columns.iter_mut().for_each(Vec::clear);
    }
}

/// [`transpose`] for rows of which only the lower half has bits: half of the work.
fn transpose_half(rows: &[u64; ROWS]) -> [u64; HALF] {
    // Two rows in each word, each in its half.
    let mut words: [u64; HALF] = std::array::from_fn(|r| rows[r] | rows[r + HALF] << HALF);
    exchange(&mut words, HALF / 2, u64::from(u32::MAX >> (HALF / 2)) * 0x1_0000_0001);
    words
}

/// Exchanges bit `c` of word `r` with bit `r` of word `c`: halves of halves, as in Warren, Hacker's Delight, §7-3.
fn transpose(words: &mut [u64; ROWS]) {
    exchange(words, HALF, u64::MAX >> HALF);
}

/// Exchanges squares of bits, from those of side `half` on; `mask` has the lower half of each.
#[inline(always)]
fn exchange(words: &mut [u64], mut half: usize, mut mask: u64) {
    while half > 0 {
        for pair in words.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                let swapped = ((*a >> half) ^ *b) & mask;
                *a ^= swapped << half;
                *b ^= swapped;
            }
        }
        half /= 2;
        mask ^= mask << half;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let rows: [u64; ROWS] = std::array::from_fn(|i| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut columns = rows;
        transpose(&mut columns);
        for (r, row) in rows.iter().enumerate() {
            for (c, column) in columns.iter().enumerate() {
                assert_eq!(row >> c & 1, column >> r & 1, "row {r}, column {c}");
            }
        }
    }

    #[test]
    fn rows_whose_upper_columns_are_empty_become_the_same_columns() {
        let mut rows: [u64; ROWS] = std::array::from_fn(|i| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> HALF);
        let half = transpose_half(&rows);
        transpose(&mut rows);
        assert_eq!((&rows[..HALF], &rows[HALF..]), (&half[..], &[0; HALF][..]));
    }

    #[test]
    fn an_even_stretch_takes_a_few_bytes_and_a_late_cell_is_not_lost() {
        let mut p = Presence::new();
        (0..100_000).for_each(|_| p.push(1 << place(Id::Time)));
        p.add(99_999, Id::Needless);
        p.add(3, Id::Needless);
        p.finish();
        let written = |column| {
            let mut out = Vec::new();
            p.write(column, &mut out);
            out
        };
        assert_eq!(written(Id::Flow), [0xc0, 0x9a, 0x0c, 0], "twice a hundred thousand, empty");
        let late = written(Id::Needless);
        assert_eq!(late.len(), 1 + 8 + 4 + 1 + 4);
        assert_eq!((late[1], late[17]), (1 << 3, 1 << 7), "row 3 of the first word, row 31 of the last one");
    }
}
