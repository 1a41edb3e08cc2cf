//! A chunk of records as columns.

use super::bits::pack_bytes;
use super::numbers::{Differences, Numbers, Plain};
use super::page::Page;
use super::presence::{place, Presence};
use super::window::Small;
use crate::row::Row;
use crate::schema::{fill, judge, Cells, Column, Flags, Id, Kind, Sack, COLUMNS};
use crate::sink::Chunk;
use ackclock_sim::fate::Verdict;
use ackclock_tcp::segment::Segment;
use parquet::basic::Encoding;
use parquet::errors::Result;
use std::io::Write;

const N: usize = COLUMNS.len();

/// The records of a chunk, each converted to cells when its event happened.
#[derive(Debug)]
pub struct Columns {
    presence: Presence,
    values: Box<Values>,
}

/// A column has its values in one of these fields; the entries for other columns are unused.
#[derive(Debug)]
struct Values {
    ints: [Numbers<Differences>; N],
    reals: [Numbers<Plain>; N],
    /// Words and flags.
    bytes: [Small; N],
    /// SACK blocks in Parquet's PLAIN encoding.
    sacks: Vec<u8>,
    /// The number of records with SACK blocks.
    texts: usize,
    /// The verdicts with their rows, because a verdict is known only later.
    truths: [Vec<(u32, bool)>; N],
}

impl Columns {
    pub(super) fn new() -> Self {
        let values = Values {
            ints: std::array::from_fn(|_| Numbers::default()),
            reals: std::array::from_fn(|_| Numbers::default()),
            bytes: std::array::from_fn(|_| Small::default()),
            sacks: Vec::new(),
            texts: 0,
            truths: std::array::from_fn(|_| Vec::new()),
        };
        Columns { presence: Presence::new(), values: Box::new(values) }
    }
}

/// A record being converted to cells.
struct Record<'a> {
    values: &'a mut Values,
    row: u32,
    /// Its columns, one bit each, at their places.
    filled: u64,
}

impl Record<'_> {
    #[inline(always)]
    fn fill(&mut self, column: Id) -> usize {
        self.filled |= 1 << place(column);
        column as usize
    }
}

impl Cells for Record<'_> {
    #[inline(always)]
    fn int(&mut self, column: Id, v: i64) {
        let c = self.fill(column);
        self.values.ints[c].push(v);
    }

    #[inline(always)]
    fn small(&mut self, column: Id, v: i32) {
        self.int(column, v.into());
    }

    #[inline(always)]
    fn real(&mut self, column: Id, v: f64) {
        let c = self.fill(column);
        self.values.reals[c].push(v.to_bits() as i64);
    }

    #[inline(always)]
    fn truth(&mut self, column: Id, v: bool) {
        let c = self.fill(column);
        self.values.truths[c].push((self.row, v));
    }

    #[inline(always)]
    fn word(&mut self, column: Id, nth: usize) {
        let c = self.fill(column);
        self.values.bytes[c].push(nth as u8);
    }

    #[inline(always)]
    fn flags(&mut self, v: Flags) {
        let c = self.fill(Id::Flags);
        self.values.bytes[c].push(v.0);
    }

    #[inline(always)]
    fn sack(&mut self, v: Sack<'_>) {
        self.fill(Id::Sack);
        self.values.sack(v);
    }
}

impl Values {
    #[inline(never)]
    fn sack(&mut self, v: Sack<'_>) {
        let out = &mut self.sacks;
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        // A write to memory cannot fail.
        let _ = write!(out, "{v}");
        let length = (out.len() - start - 4) as u32;
        out[start..start + 4].copy_from_slice(&length.to_le_bytes());
        self.texts += 1;
    }
}

impl Chunk for Columns {
    #[inline(always)]
    fn push(&mut self, row: Row<&Segment>) {
        let rows = self.presence.rows();
        let mut record = Record { values: &mut self.values, row: rows as u32, filled: 0 };
        fill(&row, &mut record);
        let filled = record.filled;
        self.presence.push(filled);
    }

    #[inline]
    fn len(&self) -> usize {
        self.presence.rows()
    }

    fn judge(&mut self, nth: usize, verdict: Verdict) {
        self.presence.add(nth, Id::Needless);
        self.presence.add(nth, Id::Refused);
        judge(&mut Record { values: &mut self.values, row: nth as u32, filled: 0 }, verdict);
    }

    fn clear(&mut self) {
        self.presence.clear();
        self.values.ints.iter_mut().for_each(Numbers::clear);
        self.values.reals.iter_mut().for_each(Numbers::clear);
        self.values.bytes.iter_mut().for_each(Small::clear);
        self.values.sacks.clear();
        self.values.truths.iter_mut().for_each(Vec::clear);
        self.values.texts = 0;
    }
}

impl Columns {
    /// Ends the chunk. The functions below may be called after this, and nothing may be added.
    pub(super) fn finish(&mut self) {
        self.presence.finish();
    }

    /// The first and the last record's time, once its column is encoded.
    pub(super) fn times(&self) -> (i64, i64) {
        self.values.ints[Id::Time as usize].ends()
    }

    /// Writes a column into `page`.
    ///
    /// # Errors
    /// Those of the compression.
    pub(super) fn encode(&mut self, column: &Column, page: &mut Page) -> Result<()> {
        let c = column.id as usize;
        page.clear();
        if column.nullable {
            page.levels(self.presence.like(column.id), |out| self.presence.write(column.id, out))?;
        }
        let bytes = self.values.bytes[c].all();
        match column.kind {
            Kind::Int | Kind::Small => match self.values.ints[c].encoded() {
                Ok((dictionary, places)) => {
                    let size = if matches!(column.kind, Kind::Int) { 8 } else { 4 };
                    dictionary.iter().for_each(|v| page.entry(|out| out.extend_from_slice(&v.to_le_bytes()[..size])));
                    page.places(places);
                }
                Err(many) => many.write(page.values(many.count, Encoding::DELTA_BINARY_PACKED)),
            },
            Kind::Real => match self.values.reals[c].encoded() {
                Ok((dictionary, places)) => {
                    dictionary.iter().for_each(|v| page.entry(|out| out.extend_from_slice(&v.to_le_bytes())));
                    page.places(places);
                }
                Err(Plain(many)) => page.plain(many.len() / size_of::<f64>(), many),
            },
            Kind::Bool => {
                let truths = &mut self.values.truths[c];
                truths.sort_unstable();
                let bytes: Vec<u8> = truths.iter().map(|t| t.1.into()).collect();
                pack_bytes(&bytes, 1, page.values(truths.len(), Encoding::PLAIN));
            }
            Kind::Word(_) => page.texts(bytes, |nth| column.word(nth.into()).to_owned()),
            Kind::Text if column.id == Id::Flags => page.texts(bytes, |bits| Flags(bits).to_string()),
            Kind::Text => page.plain(self.values.texts, &self.values.sacks),
        }
        Ok(())
    }
}
