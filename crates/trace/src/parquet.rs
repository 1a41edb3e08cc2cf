//! Records as Parquet.
//!
//! A record is converted to cells when its event happens: `columns.rs` takes them, `numbers.rs` and `words.rs` encode them block
//! by block, `presence.rs` records the filled cells, `page.rs` builds a column's page. The `parquet` crate writes headers and
//! metadata.

mod bits;
mod columns;
mod numbers;
mod page;
mod presence;
mod words;

pub use columns::Columns;

use crate::hash::TraceHash;
use crate::schema::{Column, Id, Kind, COLUMNS};
use crate::sink::{Chunk, Meta, Sink};
use arrow_schema::{DataType, Field, Schema};
use page::Page;
use parquet::arrow::{add_encoded_arrow_schema_to_metadata, ArrowSchemaConverter};
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, ParquetMetaDataBuilder, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::TrackedWrite;
use parquet::schema::types::SchemaDescPtr;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

/// The Arrow schema of a trace. Every field carries its unit and meaning as metadata.
pub fn schema() -> Schema {
    Schema::new(COLUMNS.iter().map(field).collect::<Vec<_>>())
}

fn field(c: &Column) -> Field {
    let about = HashMap::from([("unit", c.unit), ("meaning", c.meaning)].map(|(k, v)| (k.to_owned(), v.to_owned())));
    Field::new(c.name, data_type(c), c.nullable).with_metadata(about)
}

fn data_type(c: &Column) -> DataType {
    match c.kind {
        Kind::Int => DataType::Int64,
        Kind::Small => DataType::Int32,
        Kind::Real => DataType::Float64,
        Kind::Bool => DataType::Boolean,
        Kind::Word(_) => DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)),
        Kind::Text => DataType::Utf8,
    }
}

/// The bytes at the beginning of a file.
const MAGIC: &[u8] = b"PAR1";

/// Writes records as Parquet with Snappy compression, one row group for each chunk and one page for each column.
pub struct ParquetSink<W: Write + Send> {
    out: TrackedWrite<W>,
    described: SchemaDescPtr,
    groups: Vec<RowGroupMetaData>,
    page: Page,
    meta: Meta,
}

impl<W: Write + Send> ParquetSink<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new(out: W, meta: &Meta) -> io::Result<Self> {
        let described = Arc::new(ArrowSchemaConverter::new().convert(&schema()).map_err(plain)?);
        let mut out = TrackedWrite::new(out);
        out.write_all(MAGIC)?;
        Ok(ParquetSink { out, described, groups: Vec::new(), page: Page::default(), meta: meta.clone() })
    }
}

impl<W: Write + Send> fmt::Debug for ParquetSink<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetSink").field("meta", &self.meta).finish_non_exhaustive()
    }
}

impl<W: Write + Send> Sink for ParquetSink<W> {
    type Chunk = Columns;
    type Out = W;

    fn chunk(&self) -> Columns {
        Columns::new()
    }

    fn write(&mut self, chunk: &mut Columns) -> io::Result<()> {
        chunk.finish();
        self.page.begin();
        let (rows, begin) = (chunk.len(), self.out.bytes_written() as i64);
        let mut columns = Vec::with_capacity(COLUMNS.len());
        for (column, described) in COLUMNS.iter().zip(self.described.columns()) {
            chunk.encode(column, &mut self.page).map_err(plain)?;
            let range = (column.id == Id::Time).then(|| chunk.times());
            columns.push(self.page.write(described.clone(), rows, range, &mut self.out).map_err(plain)?);
        }
        let group = RowGroupMetaData::builder(self.described.clone())
            .set_num_rows(rows as i64)
            .set_total_byte_size(columns.iter().map(ColumnChunkMetaData::uncompressed_size).sum())
            .set_file_offset(begin)
            .set_ordinal(self.groups.len() as i32)
            .set_column_metadata(columns);
        self.groups.push(group.build().map_err(plain)?);
        Ok(())
    }

    fn finish(mut self, hash: TraceHash) -> io::Result<W> {
        // The Arrow schema, which has the columns' metadata.
        let mut properties = WriterProperties::builder().build();
        add_encoded_arrow_schema_to_metadata(&schema(), &mut properties);
        let mut about = properties.key_value_metadata().cloned().unwrap_or_default();
        about.extend(self.meta.pairs(hash).into_iter().map(|(name, v)| KeyValue::new(name.to_owned(), v)));
        let rows = self.groups.iter().map(RowGroupMetaData::num_rows).sum();
        let writer = format!("ackclock {}", env!("CARGO_PKG_VERSION"));
        let version = properties.writer_version().as_num();
        let file = FileMetaData::new(version, rows, Some(writer), Some(about), self.described, None);
        let mut footer = Vec::new();
        let metadata = ParquetMetaDataBuilder::new(file).set_row_groups(self.groups).build();
        ParquetMetaDataWriter::new(&mut footer, &metadata).finish().map_err(plain)?;
        self.out.write_all(&footer)?;
        self.out.into_inner().map_err(plain)
    }
}

/// The system's own error if there is one, without Parquet's text around it.
fn plain(e: parquet::errors::ParquetError) -> io::Error {
    match e {
        parquet::errors::ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => *io,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
