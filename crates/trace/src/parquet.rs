//! Records as Arrow columns, and as Parquet. Not built for WebAssembly.

use crate::hash::TraceHash;
use crate::row::Row;
use crate::schema::{Column, Get, COLUMNS};
use crate::sink::{Meta, Sink};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, Int8Array, RecordBatch, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

/// The Arrow schema of a trace. Every field carries its unit and meaning as metadata.
pub fn schema() -> Arc<Schema> {
    Arc::new(Schema::new(COLUMNS.iter().map(field).collect::<Vec<_>>()))
}

/// The records as one batch of columns.
///
/// # Errors
/// None that [`schema`] and the columns' types could disagree about; Arrow's own, were memory to overflow its offsets.
pub fn batch(rows: &[Row]) -> Result<RecordBatch, ArrowError> {
    batch_of(&schema(), rows)
}

fn batch_of(schema: &Arc<Schema>, rows: &[Row]) -> Result<RecordBatch, ArrowError> {
    let arrays = COLUMNS.iter().map(|c| array(c, rows)).collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new(schema.clone(), arrays)
}

fn field(c: &Column) -> Field {
    let about = HashMap::from([("unit", c.unit), ("meaning", c.meaning)].map(|(k, v)| (k.to_owned(), v.to_owned())));
    Field::new(c.name, data_type(c), c.nullable).with_metadata(about)
}

fn data_type(c: &Column) -> DataType {
    match c.get {
        Get::Int(_) => DataType::Int64,
        Get::Small(_) => DataType::Int32,
        Get::Real(_) => DataType::Float64,
        Get::Bool(_) => DataType::Boolean,
        Get::Word(..) => DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)),
        Get::Text(_) => DataType::Utf8,
    }
}

fn array(c: &Column, rows: &[Row]) -> Result<ArrayRef, ArrowError> {
    Ok(match c.get {
        Get::Int(f) => Arc::new(rows.iter().map(f).collect::<Int64Array>()),
        Get::Small(f) => Arc::new(rows.iter().map(f).collect::<Int32Array>()),
        Get::Real(f) => Arc::new(rows.iter().map(f).collect::<Float64Array>()),
        Get::Bool(f) => Arc::new(rows.iter().map(f).collect::<BooleanArray>()),
        Get::Text(f) => Arc::new(rows.iter().map(f).collect::<StringArray>()),
        Get::Word(lists, f) => {
            let words: Vec<&str> = lists.concat();
            // A handful of words, told apart by where they stand in memory sooner than by hashing each.
            let place = |w: &str| words.iter().position(|known| std::ptr::eq(*known, w) || *known == w);
            let keys: Int8Array = rows.iter().map(|row| f(row).and_then(place).map(|i| i as i8)).collect();
            Arc::new(DictionaryArray::<Int8Type>::try_new(keys, Arc::new(StringArray::from(words.clone())))?)
        }
    })
}

/// Writes rows as Parquet with Snappy compression, one row group a chunk.
pub struct ParquetSink<W: Write + Send> {
    out: ArrowWriter<W>,
    schema: Arc<Schema>,
    meta: Meta,
}

impl<W: Write + Send> ParquetSink<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// What `out` says.
    pub fn new(out: W, meta: &Meta) -> io::Result<Self> {
        let mut props = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_max_row_group_row_count(Some(crate::recorder::CHUNK))
            .set_created_by(format!("ackclock {}", env!("CARGO_PKG_VERSION")));
        // Times, offsets and windows seldom repeat: a dictionary of them costs more than it saves.
        for column in COLUMNS.iter().filter(|c| matches!(c.get, Get::Int(_) | Get::Real(_))) {
            props = props.set_column_dictionary_enabled(ColumnPath::from(column.name), false);
            if matches!(column.get, Get::Int(_)) {
                props = props.set_column_encoding(ColumnPath::from(column.name), Encoding::DELTA_BINARY_PACKED);
            }
        }
        let schema = schema();
        let out = ArrowWriter::try_new(out, schema.clone(), Some(props.build())).map_err(plain)?;
        Ok(ParquetSink { out, schema, meta: meta.clone() })
    }
}

impl<W: Write + Send> fmt::Debug for ParquetSink<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetSink").field("meta", &self.meta).finish_non_exhaustive()
    }
}

impl<W: Write + Send> Sink for ParquetSink<W> {
    type Out = W;

    fn write(&mut self, rows: &[Row]) -> io::Result<()> {
        let batch = batch_of(&self.schema, rows).map_err(io::Error::other)?;
        self.out.write(&batch).map_err(plain)
    }

    fn finish(mut self, hash: TraceHash) -> io::Result<W> {
        for (name, value) in self.meta.pairs(hash) {
            self.out.append_key_value_metadata(KeyValue::new(name.to_owned(), value));
        }
        self.out.into_inner().map_err(plain)
    }
}

/// The system's own error where there is one, without Parquet's words around it.
fn plain(e: parquet::errors::ParquetError) -> io::Error {
    match e {
        parquet::errors::ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => *io,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
