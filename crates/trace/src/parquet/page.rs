//! The pages of one column of one chunk: a dictionary page if it has one, and a data page.

use super::bits::{literal, pack_all, repeat, width};
use ackclock_tcp::time::Time;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page as Written, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::fmt;

/// A column of a chunk, encoded.
pub(super) struct Page {
    encoding: Encoding,
    /// The dictionary's values in PLAIN encoding.
    dictionary: Vec<u8>,
    entries: u32,
    /// Definition levels and values.
    body: Vec<u8>,
    filled: usize,
    compressor: Compressor,
}

impl Default for Page {
    fn default() -> Self {
        Page {
            encoding: Encoding::PLAIN,
            dictionary: Vec::new(),
            entries: 0,
            body: Vec::new(),
            filled: 0,
            compressor: Compressor { snappy: snap::raw::Encoder::new(), room: Vec::new() },
        }
    }
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("encoding", &self.encoding).field("filled", &self.filled).finish_non_exhaustive()
    }
}

impl Page {
    pub(super) fn clear(&mut self) {
        self.encoding = Encoding::PLAIN;
        self.dictionary.clear();
        self.entries = 0;
        self.body.clear();
        self.filled = 0;
    }

    /// Writes the definition levels, which show the filled cells. They precede the values, with
    /// their length in bytes.
    pub(super) fn levels(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.body.extend_from_slice(&[0; 4]);
        write(&mut self.body);
        let length = self.body.len() as u32 - 4;
        self.body[..4].copy_from_slice(&length.to_le_bytes());
    }

    /// Where to write the `filled` values.
    pub(super) fn values(&mut self, filled: usize, encoding: Encoding) -> &mut Vec<u8> {
        self.filled = filled;
        self.encoding = encoding;
        &mut self.body
    }

    pub(super) fn plain(&mut self, filled: usize, bytes: &[u8]) {
        self.values(filled, Encoding::PLAIN).extend_from_slice(bytes);
    }

    /// Adds a value to the dictionary.
    pub(super) fn entry(&mut self, plain: impl FnOnce(&mut Vec<u8>)) {
        self.entries += 1;
        plain(&mut self.dictionary);
    }

    /// Writes these positions in the dictionary as the values.
    pub(super) fn places(&mut self, places: &[u8]) {
        self.all_places(places, u64::from);
    }

    fn all_places(&mut self, places: &[u8], of: impl Fn(u8) -> u64) {
        if places.is_empty() {
            return;
        }
        let width = width(u64::from(self.entries - 1)).max(1);
        let one = self.entries == 1;
        let out = self.values(places.len(), Encoding::RLE_DICTIONARY);
        out.push(width as u8);
        if one {
            repeat(places.len(), 0, out);
        } else {
            literal(places.len(), out);
            pack_all(places, of, width, out);
        }
    }

    /// Writes texts, given by bytes, as the values; the texts that occur form the dictionary.
    pub(super) fn texts(&mut self, bytes: &[u8], text: impl Fn(u8) -> String) {
        let mut occurs = [false; 256];
        bytes.iter().for_each(|b| occurs[usize::from(*b)] = true);
        let mut places = [0; 256];
        for b in (0..=u8::MAX).filter(|b| occurs[usize::from(*b)]) {
            places[usize::from(b)] = u64::from(self.entries);
            let text = text(b);
            self.entry(|out| {
                out.extend_from_slice(&(text.len() as u32).to_le_bytes());
                out.extend_from_slice(text.as_bytes());
            });
        }
        self.all_places(bytes, |b| places[usize::from(b)]);
    }

    /// The pages, compressed, and their entry in the file's metadata.
    pub(super) fn column_chunk(
        &mut self,
        described: ColumnDescPtr,
        rows: usize,
        times: Option<(Time, Time)>,
    ) -> Result<(Bytes, ColumnCloseResult)> {
        let mut out = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut out);
        let (mut uncompressed, mut encodings) = (0, vec![Encoding::RLE, self.encoding]);
        if self.entries > 0 {
            let buf = self.compressor.of(&self.dictionary)?;
            let (num_values, encoding, is_sorted) = (self.entries, Encoding::PLAIN, false);
            let page = Written::DictionaryPage { buf, num_values, encoding, is_sorted };
            uncompressed += writer.write_page(CompressedPage::new(page, self.dictionary.len()))?.uncompressed_size;
            encodings.push(Encoding::PLAIN);
        }
        let page = Written::DataPage {
            buf: self.compressor.of(&self.body)?,
            num_values: rows as u32,
            encoding: self.encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let page = writer.write_page(CompressedPage::new(page, self.body.len()))?;
        uncompressed += page.uncompressed_size;
        let bytes = Bytes::from(out.into_inner()?);
        let mut about = ColumnChunkMetaData::builder(described)
            .set_compression(Compression::SNAPPY)
            .set_encodings(encodings)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(uncompressed as i64)
            .set_num_values(rows as i64)
            .set_data_page_offset(page.offset as i64)
            .set_dictionary_page_offset((self.entries > 0).then_some(0));
        if let Some((first, last)) = times {
            let ns = |t: Time| Some(t.0 as i64);
            about = about.set_statistics(Statistics::int64(ns(first), ns(last), None, Some(0), false));
        }
        let about = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: rows as u64,
            metadata: about.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((bytes, about))
    }
}

/// Snappy, with its memory.
struct Compressor {
    snappy: snap::raw::Encoder,
    room: Vec<u8>,
}

impl Compressor {
    fn of(&mut self, bytes: &[u8]) -> Result<Bytes> {
        let most = snap::raw::max_compress_len(bytes.len());
        if self.room.len() < most {
            self.room.resize(most, 0);
        }
        let length = self.snappy.compress(bytes, &mut self.room).map_err(|e| ParquetError::External(Box::new(e)))?;
        Ok(Bytes::copy_from_slice(&self.room[..length]))
    }
}
