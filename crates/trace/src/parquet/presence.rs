//! The filled cells of a chunk: one bit for each cell, stored column by column.
//!
//! Most columns are filled in the same rows as another one, their leader. Such a column's bit says only where it differs from its
//! leader, which is rare.

use super::bits::{exchange, literal, repeat};
use crate::schema::{Id, COLUMNS};

/// The number of rows in a word, one bit for each.
const ROWS: usize = 64;

/// Columns that other columns follow or that are often filled. All others are rarely filled and lead only themselves.
const LEADERS: [Id; 16] = [
    Id::Time,
    Id::Flow,
    Id::Seq,
    Id::Ack,
    Id::Wire,
    Id::Sends,
    Id::By,
    Id::Episode,
    Id::Link,
    Id::NewlyDelivered,
    Id::Cwnd,
    Id::Sack,
    Id::Tsval,
    Id::Needless,
    Id::Why,
    Id::Dupthresh,
];

/// The column in whose rows `column` is usually filled: itself if there is none.
const fn leader(column: Id) -> Id {
    match column {
        Id::Event => Id::Time,
        Id::Side => Id::Flow,
        Id::Len | Id::Flags | Id::Rwnd | Id::Packet => Id::Seq,
        Id::Tsecr => Id::Tsval,
        Id::Refused => Id::Needless,
        Id::Ssthresh | Id::CwndFrom | Id::SsthreshFrom => Id::Cwnd,
        Id::DupRun | Id::Pipe => Id::NewlyDelivered,
        Id::QueuePackets | Id::QueueBytes => Id::Link,
        itself => itself,
    }
}

/// The place of each column in a row: leaders first.
const PLACES: [u8; COLUMNS.len()] = {
    let mut places = [u8::MAX; COLUMNS.len()];
    let mut next = 0;
    while next < LEADERS.len() {
        places[LEADERS[next] as usize] = next as u8;
        next += 1;
    }
    let mut i = 0;
    while i < places.len() {
        if places[i] == u8::MAX {
            places[i] = next as u8;
            next += 1;
        }
        i += 1;
    }
    places
};

/// The bits that change in a row when a column is filled: its own, and those of the columns that it leads.
const CHANGES: [u64; COLUMNS.len()] = {
    let mut changes = [0; COLUMNS.len()];
    let mut i = 0;
    while i < COLUMNS.len() {
        let bit = 1 << PLACES[i];
        changes[i] |= bit;
        let leader = leader(COLUMNS[i].id) as usize;
        if leader != i {
            changes[leader] |= bit;
        }
        i += 1;
    }
    changes
};

/// The filled cells of one row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filled(u64);

impl Filled {
    /// Fills the cell of `column`, which was empty.
    #[inline(always)]
    pub(super) fn add(&mut self, column: Id) {
        self.0 ^= CHANGES[column as usize];
    }
}

/// The filled cells of all columns.
#[derive(Debug)]
pub(super) struct Presence {
    rows: usize,
    /// The latest rows, one bit for each column, at its place.
    latest: [u64; ROWS],
    /// By place. Those of rarely filled columns may end early: what follows is 0.
    columns: Box<[Vec<u64>; COLUMNS.len()]>,
}

impl Presence {
    pub(super) fn new() -> Self {
        Presence { rows: 0, latest: [0; ROWS], columns: Box::new(std::array::from_fn(|_| Vec::new())) }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds the next row.
    pub(super) fn push(&mut self, row: Filled) {
        self.latest[self.rows % ROWS] = row.0;
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS) {
            self.turn(self.rows / ROWS - 1);
        }
    }

    /// Fills cells of an earlier row.
    pub(super) fn add(&mut self, row: usize, cells: Filled) {
        let word = row / ROWS;
        if word == self.rows / ROWS {
            self.latest[row % ROWS] ^= cells.0;
        } else {
            self.change(word, row % ROWS, cells.0);
        }
    }

    /// Converts the latest rows into the `nth` word of each column.
    #[inline(never)]
    fn turn(&mut self, nth: usize) {
        for (column, word) in self.columns.iter_mut().zip(transpose(&self.latest)) {
            column.push(word);
        }
        let rest = |row: &u64| row & (u64::MAX << LEADERS.len());
        if self.latest.iter().fold(0, |all, row| all | rest(row)) != 0 {
            for row in 0..ROWS {
                self.change(nth, row, rest(&self.latest[row]));
            }
        }
        self.latest = [0; ROWS];
    }

    /// Changes these bits of a row in the `nth` words.
    fn change(&mut self, nth: usize, row: usize, mut bits: u64) {
        while bits != 0 {
            let column = &mut self.columns[bits.trailing_zeros() as usize];
            if column.len() <= nth {
                column.resize(nth + 1, 0);
            }
            column[nth] ^= 1 << row;
            bits &= bits - 1;
        }
    }

    /// Ends the last word.
    pub(super) fn finish(&mut self) {
        if !self.rows.is_multiple_of(ROWS) {
            self.turn(self.rows / ROWS);
        }
    }

    /// The place of a column with the same filled cells, once finished.
    pub(super) fn like(&self, column: Id) -> usize {
        let (own, leader) = self.words(column);
        if own.is_empty() || leader.is_empty() {
            let words = if own.is_empty() { leader } else { own };
            if let Some(same) = self.columns[..LEADERS.len()].iter().position(|other| other == words) {
                return same;
            }
        }
        usize::from(PLACES[column as usize])
    }

    /// The words of a column and, if it is not itself, those of its leader. Either may end early.
    fn words(&self, column: Id) -> (&[u64], &[u64]) {
        let of = |column: Id| &self.columns[usize::from(PLACES[column as usize])];
        let leader = leader(column);
        (of(column), if leader == column { &[] } else { of(leader) })
    }

    /// A column's definition levels (0 empty, 1 filled), once finished. Long stretches without changes are written as
    /// runs.
    pub(super) fn write(&self, column: Id, out: &mut Vec<u8>) {
        let (own, leader) = self.words(column);
        let word = |words: &[u64], i: usize| words.get(i).copied().unwrap_or_default();
        let words: Vec<u64> = (0..self.rows.div_ceil(ROWS)).map(|i| word(own, i) ^ word(leader, i)).collect();
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

/// The first columns of these rows, one word each. Four rows are put in a word; then squares of bits are exchanged.
fn transpose(rows: &[u64; ROWS]) -> [u64; LEADERS.len()] {
    const SIDE: usize = LEADERS.len();
    let low = |row: u64| row & (u64::MAX >> (ROWS - SIDE));
    let mut words: [u64; SIDE] =
        std::array::from_fn(|r| (0..ROWS / SIDE).fold(0, |all, k| all | low(rows[r + k * SIDE]) << (k * SIDE)));
    // The lower half of each square.
    exchange(&mut words, 1, u64::MAX / (u64::MAX >> (ROWS - SIDE)) * ((1 << (SIDE / 2)) - 1));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(columns: &[Id]) -> Filled {
        let mut filled = Filled::default();
        columns.iter().for_each(|c| filled.add(*c));
        filled
    }

    fn written(p: &Presence, column: Id) -> Vec<u8> {
        let mut out = Vec::new();
        p.write(column, &mut out);
        out
    }

    #[test]
    fn rows_become_columns() {
        let rows: [u64; ROWS] = std::array::from_fn(|i| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for (c, column) in transpose(&rows).iter().enumerate() {
            for (r, row) in rows.iter().enumerate() {
                assert_eq!(row >> c & 1, column >> r & 1, "row {r}, column {c}");
            }
        }
    }

    #[test]
    fn every_column_is_filled_where_its_cells_were_whatever_its_leader_has() {
        let all: Vec<Id> = COLUMNS.iter().map(|c| c.id).collect();
        let mix = |v: u64| (v ^ v >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20;
        let noise = |i: usize| mix((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let of = |i: usize| all.iter().filter(move |c| noise(i) >> **c as usize & 1 != 0).copied();
        let mut p = Presence::new();
        (0..256).for_each(|i| p.push(row(&of(i).collect::<Vec<_>>())));
        p.finish();
        for c in &all {
            let mut words = [0_u64; 4];
            (0..256).filter(|i| of(*i).any(|id| id == *c)).for_each(|i| words[i / ROWS] |= 1 << (i % ROWS));
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            assert_eq!(written(&p, *c)[1..], bytes, "{c:?}");
        }
    }

    #[test]
    fn an_even_stretch_takes_a_few_bytes_and_a_late_cell_is_not_lost() {
        let mut p = Presence::new();
        (0..100_000).for_each(|_| p.push(row(&[Id::Time])));
        p.add(99_999, row(&[Id::Needless]));
        p.add(3, row(&[Id::Needless]));
        p.finish();
        assert_eq!(written(&p, Id::Flow), [0xc0, 0x9a, 0x0c, 0], "twice a hundred thousand, empty");
        let late = written(&p, Id::Needless);
        assert_eq!(late.len(), 1 + 8 + 4 + 1 + 4);
        assert_eq!((late[1], late[17]), (1 << 3, 1 << 7), "row 3 of the first word, row 31 of the last one");
    }
}
