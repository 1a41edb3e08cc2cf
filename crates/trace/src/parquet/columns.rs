//! A chunk of records as columns.

use super::numbers::{Differences, Numbers, Split};
use super::page::Page;
use super::presence::{Filled, Presence};
use super::words::Words;
use crate::row::Row;
use crate::schema::{fill, judge, Cells, Column, Flags, Id, Kind, Sack, COLUMNS};
use crate::sink::Chunk;
use ackclock_sim::fate::Verdict;
use ackclock_tcp::segment::Segment;
use parquet::basic::Encoding;
use parquet::errors::Result;
use std::io::Write;
use std::iter::once;

/// Where a column's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Whole numbers.
    Differences,
    /// Real numbers.
    Split,
    /// Words and flags.
    Words,
    /// Verdicts, which are known only later.
    Truths,
    /// SACK blocks.
    Texts,
}

const fn form(column: &Column) -> Form {
    match column.kind {
        Kind::Int | Kind::Small => Form::Differences,
        Kind::Real => Form::Split,
        Kind::Bool => Form::Truths,
        Kind::Word(_) => Form::Words,
        Kind::Text if matches!(column.id, Id::Flags) => Form::Words,
        Kind::Text => Form::Texts,
    }
}

/// The form of each column, and its place among those of its form.
const FORMS: [(Form, usize); COLUMNS.len()] = {
    let mut forms = [(Form::Texts, 0); COLUMNS.len()];
    let mut i = 0;
    while i < forms.len() {
        let form = form(&COLUMNS[i]);
        forms[i] = (form, count(form, i));
        i += 1;
    }
    forms
};

/// How many of the first `columns` columns have this form.
const fn count(wanted: Form, columns: usize) -> usize {
    let (mut i, mut found) = (0, 0);
    while i < columns {
        found += (form(&COLUMNS[i]) as usize == wanted as usize) as usize;
        i += 1;
    }
    found
}

const fn all(form: Form) -> usize {
    count(form, COLUMNS.len())
}

/// The records of a chunk, each converted to cells when its event happened.
#[derive(Debug)]
pub struct Columns {
    presence: Presence,
    values: Box<Values>,
}

/// The values of the columns, by form.
#[derive(Debug)]
struct Values {
    differences: [Numbers<Differences>; all(Form::Differences)],
    split: [Numbers<Split>; all(Form::Split)],
    words: [Words; all(Form::Words)],
    /// Each with its row.
    truths: [Vec<(u32, bool)>; all(Form::Truths)],
    /// In Parquet's PLAIN encoding.
    sacks: Vec<u8>,
}

impl Columns {
    pub(super) fn new() -> Self {
        let values = Values {
            differences: std::array::from_fn(|_| Numbers::default()),
            split: std::array::from_fn(|_| Numbers::default()),
            words: std::array::from_fn(|_| Words::default()),
            truths: std::array::from_fn(|_| Vec::new()),
            sacks: Vec::new(),
        };
        Columns { presence: Presence::new(), values: Box::new(values) }
    }
}

/// A record being converted to cells.
struct Record<'a> {
    values: &'a mut Values,
    row: u32,
    filled: Filled,
}

impl Record<'_> {
    /// The place of the column's values.
    #[inline(always)]
    fn fill(&mut self, column: Id) -> (Form, usize) {
        self.filled.add(column);
        FORMS[column as usize]
    }

    #[inline(always)]
    fn byte(&mut self, column: Id, v: u8) {
        let (_, c) = self.fill(column);
        self.values.words[c].push(v);
    }
}

impl Cells for Record<'_> {
    #[inline(always)]
    fn int(&mut self, column: Id, v: i64) {
        let (_, c) = self.fill(column);
        self.values.differences[c].push(v);
    }

    #[inline(always)]
    fn small(&mut self, column: Id, v: i32) {
        self.int(column, v.into());
    }

    #[inline(always)]
    fn real(&mut self, column: Id, v: f64) {
        let (_, c) = self.fill(column);
        self.values.split[c].push(v.to_bits() as i64);
    }

    #[inline(always)]
    fn truth(&mut self, column: Id, v: bool) {
        let (_, c) = self.fill(column);
        self.values.truths[c].push((self.row, v));
    }

    #[inline(always)]
    fn word(&mut self, column: Id, nth: usize) {
        self.byte(column, nth as u8);
    }

    #[inline(always)]
    fn flags(&mut self, v: Flags) {
        self.byte(Id::Flags, v.0);
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
    }
}

impl Chunk for Columns {
    #[inline(always)]
    fn push(&mut self, row: Row<&Segment>) {
        let rows = self.presence.rows();
        let mut record = Record { values: &mut self.values, row: rows as u32, filled: Filled::default() };
        fill(&row, &mut record);
        let filled = record.filled;
        self.presence.push(filled);
    }

    fn len(&self) -> usize {
        self.presence.rows()
    }

    fn judge(&mut self, nth: usize, verdict: Verdict) {
        let mut record = Record { values: &mut self.values, row: nth as u32, filled: Filled::default() };
        judge(&mut record, verdict);
        let filled = record.filled;
        self.presence.add(nth, filled);
    }

    fn clear(&mut self) {
        self.presence.clear();
        self.values.differences.iter_mut().for_each(Numbers::clear);
        self.values.split.iter_mut().for_each(Numbers::clear);
        self.values.words.iter_mut().for_each(Words::clear);
        self.values.truths.iter_mut().for_each(Vec::clear);
        self.values.sacks.clear();
    }
}

impl Columns {
    /// Ends the chunk. The functions below may be called after this, and nothing may be added.
    pub(super) fn finish(&mut self) {
        self.presence.finish();
    }

    /// The first and the last record's time, once its column is encoded.
    pub(super) fn times(&self) -> (i64, i64) {
        self.values.differences[FORMS[Id::Time as usize].1].ends()
    }

    /// Writes a column into `page`.
    ///
    /// # Errors
    /// Those of the compression.
    pub(super) fn encode(&mut self, column: &Column, page: &mut Page) -> Result<()> {
        page.clear();
        if column.nullable {
            page.levels(self.presence.like(column.id), |out| self.presence.write(column.id, out))?;
        }
        let size = if matches!(column.kind, Kind::Small) { size_of::<i32>() } else { size_of::<i64>() };
        match FORMS[column.id as usize] {
            (Form::Differences, c) => match self.values.differences[c].encoded() {
                Ok(few) => page.numbers(few, size),
                Err(many) => {
                    let (head, packed) = many.parts();
                    page.values(Encoding::DELTA_BINARY_PACKED, [&head[..], packed])
                }
            },
            (Form::Split, c) => match self.values.split[c].encoded() {
                Ok(few) => page.numbers(few, size),
                Err(Split(bytes)) => page.values(Encoding::BYTE_STREAM_SPLIT, bytes.iter().map(Vec::as_slice)),
            },
            (Form::Words, c) => {
                let (words, places) = self.values.words[c].encoded();
                for word in words {
                    match column.kind {
                        Kind::Text => page.text(&Flags(*word).to_string()),
                        Kind::Int | Kind::Small | Kind::Real | Kind::Bool | Kind::Word(_) => {
                            page.text(column.word(usize::from(*word)))
                        }
                    }
                }
                page.places(places)
            }
            (Form::Truths, c) => {
                let truths = &mut self.values.truths[c];
                truths.sort_unstable();
                page.bits(&truths.iter().map(|t| t.1.into()).collect::<Vec<_>>())
            }
            (Form::Texts, _) => page.values(Encoding::PLAIN, once(&self.values.sacks[..])),
        }
    }
}
