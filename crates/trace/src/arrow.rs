//! Records as Arrow, in memory: a record batch for each chunk.
//!
//! A record is converted to cells when its event happens. A column is allocated for a whole chunk; cells without a
//! value are never written, and memory that is never written costs almost nothing.

use crate::hash::TraceHash;
use crate::parquet::schema;
use crate::row::Row;
use crate::schema::{fill, judge, Cells, Column, Flags, Id, Kind, Sack, COLUMNS};
use crate::sink::{Chunk, Meta, Sink, CHUNK};
use ackclock_sim::fate::Verdict;
use ackclock_tcp::segment::Segment;
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, Int8Array, RecordBatch, StringArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, Schema};
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

/// A run's records.
#[derive(Clone, Debug)]
pub struct Events {
    /// The schema of every batch. Its metadata is that of a trace file: [`Meta::pairs`].
    pub schema: Arc<Schema>,
    /// At most [`CHUNK`] records each.
    pub batches: Vec<RecordBatch>,
}

/// Keeps records as Arrow.
#[derive(Debug)]
pub struct ArrowSink {
    meta: Meta,
    chunks: Vec<Vec<ArrayRef>>,
}

impl ArrowSink {
    /// An empty sink for the run that `meta` describes.
    pub fn new(meta: Meta) -> Self {
        ArrowSink { meta, chunks: Vec::new() }
    }
}

impl Sink for ArrowSink {
    type Chunk = Arrays;
    type Out = Events;

    fn chunk(&self) -> Arrays {
        Arrays::default()
    }

    fn write(&mut self, chunk: &mut Arrays) -> io::Result<()> {
        let Arrays { rows, columns } = std::mem::take(chunk);
        let arrays = COLUMNS.iter().zip(columns).map(|(about, column)| column.array(about, rows));
        self.chunks.push(arrays.collect::<Result<_, _>>().map_err(io::Error::other)?);
        Ok(())
    }

    fn finish(self, hash: TraceHash) -> io::Result<Events> {
        let about: HashMap<_, _> = self.meta.pairs(hash).into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        let schema = Arc::new(schema().with_metadata(about));
        let batch = |arrays| RecordBatch::try_new(schema.clone(), arrays);
        let batches = self.chunks.into_iter().map(batch).collect::<Result<_, _>>().map_err(io::Error::other)?;
        Ok(Events { schema, batches })
    }
}

/// The records of a chunk as columns.
#[derive(Debug, Default)]
pub struct Arrays {
    rows: usize,
    /// One for each of [`COLUMNS`], once there is a record.
    columns: Vec<Filled>,
}

/// A column of a chunk: its cells, and which of them are filled.
#[derive(Debug)]
struct Filled {
    filled: Vec<u8>,
    cells: Kept,
}

#[derive(Debug)]
enum Kept {
    Int(Vec<i64>),
    Small(Vec<i32>),
    Real(Vec<f64>),
    Bool(Vec<u8>),
    Word(Vec<i8>),
    /// The end of each text, for rows up to the last text; all texts.
    Text(Vec<i32>, Vec<u8>),
}

impl Filled {
    fn new(kind: Kind) -> Self {
        let cells = match kind {
            Kind::Int => Kept::Int(vec![0; CHUNK]),
            Kind::Small => Kept::Small(vec![0; CHUNK]),
            Kind::Real => Kept::Real(vec![0.0; CHUNK]),
            Kind::Bool => Kept::Bool(vec![0; CHUNK / 8]),
            Kind::Word(_) => Kept::Word(vec![0; CHUNK]),
            Kind::Text => Kept::Text(Vec::new(), Vec::new()),
        };
        Filled { filled: vec![0; CHUNK / 8], cells }
    }

    #[inline(always)]
    fn fill(&mut self, row: usize) {
        self.filled[row / 8] |= 1 << (row % 8);
    }

    /// Ends all texts before `row`.
    fn end(ends: &mut Vec<i32>, bytes: &[u8], row: usize) {
        ends.resize(row, bytes.len() as i32);
    }

    /// The first `rows` cells.
    fn array(self, about: &Column, rows: usize) -> Result<ArrayRef, ArrowError> {
        let bits = |bytes: Vec<u8>| BooleanBuffer::new(Buffer::from_vec(cut(bytes, rows.div_ceil(8))), 0, rows);
        let nulls = about.nullable.then(|| NullBuffer::new(bits(self.filled))).filter(|n| n.null_count() > 0);
        Ok(match self.cells {
            Kept::Int(v) => Arc::new(Int64Array::try_new(cut(v, rows).into(), nulls)?),
            Kept::Small(v) => Arc::new(Int32Array::try_new(cut(v, rows).into(), nulls)?),
            Kept::Real(v) => Arc::new(Float64Array::try_new(cut(v, rows).into(), nulls)?),
            Kept::Bool(v) => Arc::new(BooleanArray::new(bits(v), nulls)),
            Kept::Word(v) => {
                let keys = Int8Array::try_new(cut(v, rows).into(), nulls)?;
                Arc::new(DictionaryArray::<Int8Type>::try_new(keys, words(about))?)
            }
            Kept::Text(mut ends, bytes) => {
                Filled::end(&mut ends, &bytes, rows);
                let offsets = OffsetBuffer::new(ScalarBuffer::from_iter(std::iter::once(0).chain(ends)));
                Arc::new(StringArray::try_new(offsets, Buffer::from_vec(bytes), nulls)?)
            }
        })
    }
}

/// The first `rows`, without unused memory.
fn cut<T>(mut cells: Vec<T>, rows: usize) -> Vec<T> {
    if rows < cells.len() {
        cells.truncate(rows);
        cells.shrink_to_fit();
    }
    cells
}

/// The words of a column.
fn words(about: &Column) -> ArrayRef {
    let Kind::Word(lists) = about.kind else { return Arc::new(StringArray::new_null(0)) };
    Arc::new(StringArray::from_iter_values(lists.iter().copied().flatten()))
}

/// A record being converted to cells.
struct Record<'a> {
    columns: &'a mut [Filled],
    row: usize,
}

impl Record<'_> {
    #[inline(always)]
    fn cells(&mut self, column: Id) -> &mut Kept {
        let cellar = &mut self.columns[column as usize];
        cellar.fill(self.row);
        &mut cellar.cells
    }

    fn text(&mut self, column: Id, v: impl std::fmt::Display) {
        let row = self.row;
        if let Kept::Text(ends, bytes) = self.cells(column) {
            Filled::end(ends, bytes, row);
            // A write to memory cannot fail.
            let _ = write!(bytes, "{v}");
            ends.push(bytes.len() as i32);
        }
    }
}

impl Cells for Record<'_> {
    #[inline(always)]
    fn int(&mut self, column: Id, v: i64) {
        let row = self.row;
        if let Kept::Int(cells) = self.cells(column) {
            cells[row] = v;
        }
    }

    #[inline(always)]
    fn small(&mut self, column: Id, v: i32) {
        let row = self.row;
        if let Kept::Small(cells) = self.cells(column) {
            cells[row] = v;
        }
    }

    #[inline(always)]
    fn real(&mut self, column: Id, v: f64) {
        let row = self.row;
        if let Kept::Real(cells) = self.cells(column) {
            cells[row] = v;
        }
    }

    #[inline(always)]
    fn truth(&mut self, column: Id, v: bool) {
        let row = self.row;
        if let Kept::Bool(cells) = self.cells(column) {
            cells[row / 8] |= u8::from(v) << (row % 8);
        }
    }

    #[inline(always)]
    fn word(&mut self, column: Id, nth: usize) {
        let row = self.row;
        if let Kept::Word(cells) = self.cells(column) {
            cells[row] = nth as i8;
        }
    }

    fn flags(&mut self, v: Flags) {
        self.text(Id::Flags, v);
    }

    fn sack(&mut self, v: Sack<'_>) {
        self.text(Id::Sack, v);
    }
}

impl Chunk for Arrays {
    #[inline(always)]
    fn push(&mut self, row: Row<&Segment>) {
        if self.columns.is_empty() {
            self.columns = COLUMNS.iter().map(|c| Filled::new(c.kind)).collect();
        }
        fill(&row, &mut Record { columns: &mut self.columns, row: self.rows });
        self.rows += 1;
    }

    fn len(&self) -> usize {
        self.rows
    }

    fn judge(&mut self, nth: usize, verdict: Verdict) {
        judge(&mut Record { columns: &mut self.columns, row: nth }, verdict);
    }

    fn clear(&mut self) {
        *self = Arrays::default();
    }
}
