//! The pages of one column of one chunk: a dictionary page if it has one, and a data page.

use super::bits::{literal, pack_bytes, repeat, varint, width};
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

/// The largest length of a text's length in Snappy's format.
const LENGTH: usize = 5;

/// A column of a chunk, encoded.
pub(super) struct Page {
    encoding: Encoding,
    /// The dictionary's values in PLAIN encoding.
    dictionary: Vec<u8>,
    entries: u32,
    /// The definition levels, if the column has any: their position in `known`.
    levels: Option<usize>,
    /// The values.
    body: Vec<u8>,
    filled: usize,
    compressor: Compressor,
    /// The definition levels of the chunk's columns so far.
    known: Vec<Levels>,
    /// Memory for a finished column.
    chunk: Vec<u8>,
}

/// Definition levels, which several columns of a chunk have in common.
struct Levels {
    /// The first place of a column with these levels.
    of: usize,
    length: usize,
    /// As elements of Snappy, without the length before them.
    packed: Vec<u8>,
}

impl Default for Page {
    fn default() -> Self {
        Page {
            encoding: Encoding::PLAIN,
            dictionary: Vec::new(),
            entries: 0,
            levels: None,
            body: Vec::new(),
            filled: 0,
            compressor: Compressor { snappy: snap::raw::Encoder::new(), room: Vec::new() },
            known: Vec::new(),
            chunk: Vec::new(),
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
        self.levels = None;
        self.body.clear();
        self.filled = 0;
    }

    /// Begins a chunk.
    pub(super) fn begin(&mut self) {
        self.known.clear();
    }

    /// Sets the definition levels, which show the filled cells: those of the column at place `of`, which `write` writes
    /// unless another column had the same. They precede the values, with their length in bytes.
    pub(super) fn levels(&mut self, of: usize, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let known = self.known.iter().position(|levels| levels.of == of);
        if known.is_none() {
            let mut all = vec![0; 4];
            write(&mut all);
            let length = all.len() as u32 - 4;
            all[..4].copy_from_slice(&length.to_le_bytes());
            let packed = self.compressor.elements(&all)?;
            self.known.push(Levels { of, length: all.len(), packed });
        }
        self.levels = known.or(self.known.len().checked_sub(1));
        Ok(())
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
            pack_bytes(places, width, out);
        }
    }

    /// Writes texts, given by bytes, as the values; the texts that occur form the dictionary. Leaves their positions in it in
    /// `bytes`.
    pub(super) fn texts(&mut self, bytes: &mut [u8], text: impl Fn(u8) -> String) {
        let mut occurs = [false; 256];
        bytes.iter().for_each(|b| occurs[usize::from(*b)] = true);
        let mut places = [0; 256];
        for b in (0..=u8::MAX).filter(|b| occurs[usize::from(*b)]) {
            places[usize::from(b)] = self.entries as u8;
            let text = text(b);
            self.entry(|out| {
                out.extend_from_slice(&(text.len() as u32).to_le_bytes());
                out.extend_from_slice(text.as_bytes());
            });
        }
        bytes.iter_mut().for_each(|b| *b = places[usize::from(*b)]);
        self.places(bytes);
    }

    /// Takes back the memory of a written column.
    pub(super) fn reuse(&mut self, chunk: Bytes) {
        self.chunk = chunk.into();
        self.chunk.clear();
    }

    /// The pages, compressed, and their entry in the file's metadata.
    pub(super) fn column_chunk(
        &mut self,
        described: ColumnDescPtr,
        rows: usize,
        range: Option<(i64, i64)>,
    ) -> Result<(Bytes, ColumnCloseResult)> {
        let mut out = TrackedWrite::new(std::mem::take(&mut self.chunk));
        let mut writer = SerializedPageWriter::new(&mut out);
        let (mut uncompressed, mut encodings) = (0, vec![Encoding::RLE, self.encoding]);
        if self.entries > 0 {
            let page = self.compressor.with(None, &self.dictionary, |buf| {
                let (num_values, encoding, is_sorted) = (self.entries, Encoding::PLAIN, false);
                let page = Written::DictionaryPage { buf, num_values, encoding, is_sorted };
                writer.write_page(CompressedPage::new(page, self.dictionary.len()))
            })?;
            uncompressed += page.uncompressed_size;
            encodings.push(Encoding::PLAIN);
        }
        let levels = self.levels.and_then(|at| self.known.get(at));
        let length = self.body.len() + levels.map_or(0, |levels| levels.length);
        let page = self.compressor.with(levels, &self.body, |buf| {
            let page = Written::DataPage {
                buf,
                num_values: rows as u32,
                encoding: self.encoding,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            writer.write_page(CompressedPage::new(page, length))
        })?;
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
        if let Some((first, last)) = range {
            about = about.set_statistics(Statistics::int64(Some(first), Some(last), None, Some(0), false));
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
    /// Passes `levels` and `bytes` behind them to `write`, compressed.
    fn with<T>(&mut self, levels: Option<&Levels>, bytes: &[u8], write: impl FnOnce(Bytes) -> Result<T>) -> Result<T> {
        let (length, packed) = levels.map_or((0, &[][..]), |levels| (levels.length, &levels.packed[..]));
        let before = packed.len() + LENGTH;
        let (begin, end) = self.compress(before, bytes)?;
        // Elements refer only to elements before them, so those of two texts in a row are those of one text.
        let mut total = Vec::new();
        varint((length + bytes.len()) as u64, &mut total);
        let first = begin - packed.len() - total.len();
        self.room[begin - packed.len()..begin].copy_from_slice(packed);
        self.room[first..][..total.len()].copy_from_slice(&total);
        let lent = Bytes::from(std::mem::take(&mut self.room));
        let done = write(lent.slice(first..end));
        self.room = lent.into();
        done
    }

    /// The elements that `bytes` become, without the length before them.
    fn elements(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        let (begin, end) = self.compress(0, bytes)?;
        Ok(self.room[begin..end].to_vec())
    }

    /// Compresses `bytes` into `room` from `at` on; returns where their elements begin and end.
    fn compress(&mut self, at: usize, bytes: &[u8]) -> Result<(usize, usize)> {
        let most = at + snap::raw::max_compress_len(bytes.len());
        if self.room.len() < most {
            self.room.resize(most, 0);
        }
        let into = &mut self.room[at..];
        let length = self.snappy.compress(bytes, into).map_err(|e| ParquetError::External(Box::new(e)))?;
        let mut head = Vec::new();
        varint(bytes.len() as u64, &mut head);
        Ok((at + head.len(), at + length))
    }
}
