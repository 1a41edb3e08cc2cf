//! Records as Parquet.
//!
//! A record is converted to cells when its event happens: `columns.rs` takes them, `numbers.rs` encodes numbers immediately,
//! `presence.rs` records the filled cells, `page.rs` builds a column's page. The `parquet` crate writes headers, metadata and the
//! file.

mod bits;
mod columns;
mod numbers;
mod page;
mod presence;
mod window;

pub use columns::Columns;

use crate::hash::TraceHash;
use crate::schema::{Column, Id, Kind, COLUMNS};
use crate::sink::{Chunk, Meta, Sink};
use arrow_schema::{DataType, Field, Schema};
use page::Page;
use parquet::arrow::{add_encoded_arrow_schema_to_metadata, ArrowSchemaConverter};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
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

/// Writes records as Parquet with Snappy compression, one row group for each chunk and one page for each column.
pub struct ParquetSink<W: Write + Send> {
    out: SerializedFileWriter<W>,
    page: Page,
    meta: Meta,
}

impl<W: Write + Send> ParquetSink<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new(out: W, meta: &Meta) -> io::Result<Self> {
        let schema = schema();
        let mut props = WriterProperties::builder()
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_created_by(format!("ackclock {}", env!("CARGO_PKG_VERSION")))
            .build();
        add_encoded_arrow_schema_to_metadata(&schema, &mut props);
        let columns = ArrowSchemaConverter::new().convert(&schema).map_err(plain)?;
        let out = SerializedFileWriter::new(out, columns.root_schema_ptr(), Arc::new(props)).map_err(plain)?;
        Ok(ParquetSink { out, page: Page::default(), meta: meta.clone() })
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
        let described = self.out.schema_descr().columns().to_vec();
        let mut group = self.out.next_row_group().map_err(plain)?;
        for (column, described) in COLUMNS.iter().zip(described) {
            chunk.encode(column, &mut self.page).map_err(plain)?;
            let range = (column.id == Id::Time).then(|| chunk.times());
            let (bytes, about) = self.page.column_chunk(described, chunk.len(), range).map_err(plain)?;
            group.append_column(&bytes, about).map_err(plain)?;
            self.page.reuse(bytes);
        }
        group.close().map(drop).map_err(plain)
    }

    fn finish(mut self, hash: TraceHash) -> io::Result<W> {
        for (name, value) in self.meta.pairs(hash) {
            self.out.append_key_value_metadata(KeyValue::new(name.to_owned(), value));
        }
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
