//! The pages of one column of one chunk: a dictionary page if it has one, and a data page.

use super::bits::{literal, pack_bytes, repeat, width};
use bytes::{Bytes, BytesMut};
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page as Written, PageWriter};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::fmt;
use std::io::Write;

/// The largest length of a text's length in Snappy's format.
const LENGTH: usize = 5;

/// A column of a chunk, encoded.
pub(super) struct Page {
    encoding: Encoding,
    /// The dictionary's values in PLAIN encoding.
    plain: Vec<u8>,
    entries: u32,
    dictionary: Compressor,
    /// The definition levels, if the column has any, and the values.
    data: Compressor,
    /// The definition levels of the chunk's columns so far.
    known: Vec<Levels>,
    /// Memory for positions in the dictionary.
    packed: Vec<u8>,
}

/// Definition levels, which several columns of a chunk have in common.
struct Levels {
    /// The place of a column with these levels.
    of: usize,
    length: usize,
    /// As elements of Snappy, without the length before them.
    elements: Vec<u8>,
}

impl Default for Page {
    fn default() -> Self {
        Page {
            encoding: Encoding::PLAIN,
            plain: Vec::new(),
            entries: 0,
            dictionary: Compressor::new(),
            data: Compressor::new(),
            known: Vec::new(),
            packed: Vec::new(),
        }
    }
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("encoding", &self.encoding).field("entries", &self.entries).finish_non_exhaustive()
    }
}

impl Page {
    /// Begins a column.
    pub(super) fn clear(&mut self) {
        self.encoding = Encoding::PLAIN;
        self.plain.clear();
        self.entries = 0;
        self.dictionary.clear();
        self.data.clear();
    }

    /// Begins a chunk.
    pub(super) fn begin(&mut self) {
        self.known.clear();
    }

    /// Sets the definition levels, which show the filled cells: those of the column at place `of`, which `write` writes
    /// unless another column had the same. They precede the values, with their length in bytes.
    pub(super) fn levels(&mut self, of: usize, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        if let Some(known) = self.known.iter().find(|levels| levels.of == of) {
            self.data.append(known);
            return Ok(());
        }
        self.packed.clear();
        self.packed.extend([0; 4]);
        write(&mut self.packed);
        let length = self.packed.len() as u32 - 4;
        self.packed[..4].copy_from_slice(&length.to_le_bytes());
        self.data.add(&self.packed)?;
        self.known.push(Levels { of, length: self.packed.len(), elements: self.data.elements().to_vec() });
        Ok(())
    }

    /// Writes the values, encoded, which may come in several parts.
    pub(super) fn values<'a>(&mut self, encoding: Encoding, parts: impl IntoIterator<Item = &'a [u8]>) -> Result<()> {
        self.encoding = encoding;
        parts.into_iter().try_for_each(|part| self.data.add(part))
    }

    /// Adds a text to the dictionary.
    pub(super) fn text(&mut self, text: &str) {
        self.entries += 1;
        self.plain.extend_from_slice(&(text.len() as u32).to_le_bytes());
        self.plain.extend_from_slice(text.as_bytes());
    }

    /// Writes numbers of `size` bytes: a dictionary, and positions in it.
    pub(super) fn numbers(&mut self, (dictionary, places): (&[i64], &[u8]), size: usize) -> Result<()> {
        self.entries = dictionary.len() as u32;
        dictionary.iter().for_each(|v| self.plain.extend_from_slice(&v.to_le_bytes()[..size]));
        self.places(places)
    }

    /// Writes these positions in the dictionary as the values.
    pub(super) fn places(&mut self, places: &[u8]) -> Result<()> {
        if places.is_empty() {
            return Ok(());
        }
        let width = width(u64::from(self.entries - 1)).max(1);
        let out = &mut self.packed;
        out.clear();
        out.push(width as u8);
        if self.entries == 1 {
            repeat(places.len(), 0, out);
        } else {
            literal(places.len(), out);
            pack_bytes(places, width, out);
        }
        self.encoding = Encoding::RLE_DICTIONARY;
        self.data.add(&self.packed)
    }

    /// Writes `bits`, one in each byte.
    pub(super) fn bits(&mut self, bits: &[u8]) -> Result<()> {
        self.packed.clear();
        pack_bytes(bits, 1, &mut self.packed);
        self.data.add(&self.packed)
    }

    /// Writes the pages, compressed; returns their entry in the file's metadata.
    pub(super) fn write<W: Write + Send>(
        &mut self,
        described: ColumnDescPtr,
        rows: usize,
        range: Option<(i64, i64)>,
        out: &mut TrackedWrite<W>,
    ) -> Result<ColumnChunkMetaData> {
        let begin = out.bytes_written();
        let mut writer = SerializedPageWriter::new(out);
        let (mut uncompressed, mut encodings, mut dictionary) = (0, vec![Encoding::RLE, self.encoding], None);
        if self.entries > 0 {
            self.dictionary.add(&self.plain)?;
            let page = self.dictionary.lend(|buf| {
                let (num_values, encoding, is_sorted) = (self.entries, Encoding::PLAIN, false);
                let page = Written::DictionaryPage { buf, num_values, encoding, is_sorted };
                writer.write_page(CompressedPage::new(page, self.plain.len()))
            })?;
            uncompressed += page.uncompressed_size;
            encodings.push(Encoding::PLAIN);
            dictionary = Some(page.offset as i64);
        }
        let (encoding, length) = (self.encoding, self.data.length);
        let page = self.data.lend(|buf| {
            let page = Written::DataPage {
                buf,
                num_values: rows as u32,
                encoding,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            writer.write_page(CompressedPage::new(page, length))
        })?;
        uncompressed += page.uncompressed_size;
        let mut about = ColumnChunkMetaData::builder(described)
            .set_compression(Compression::SNAPPY)
            .set_encodings(encodings)
            .set_total_compressed_size((out.bytes_written() - begin) as i64)
            .set_total_uncompressed_size(uncompressed as i64)
            .set_num_values(rows as i64)
            .set_data_page_offset(page.offset as i64)
            .set_dictionary_page_offset(dictionary);
        if let Some((first, last)) = range {
            about = about.set_statistics(Statistics::int64(Some(first), Some(last), None, Some(0), false));
        }
        about.build()
    }
}

/// A text that Snappy compresses in parts: elements refer only to earlier ones, so those of two texts in a row are those of one.
struct Compressor {
    snappy: snap::raw::Encoder,
    /// Room for the text's length, then its elements up to `end`.
    room: BytesMut,
    end: usize,
    /// The uncompressed length.
    length: usize,
}

impl Compressor {
    fn new() -> Self {
        Compressor { snappy: snap::raw::Encoder::new(), room: BytesMut::new(), end: LENGTH, length: 0 }
    }

    fn clear(&mut self) {
        self.end = LENGTH;
        self.length = 0;
    }

    /// Adds a part.
    fn add(&mut self, part: &[u8]) -> Result<()> {
        self.grow(self.end + snap::raw::max_compress_len(part.len()));
        // Snappy writes the part's length before its elements. It is not wanted.
        let mut kept = [0; LENGTH];
        let at = self.end - length(part.len(), &mut kept);
        let kept = &mut kept[..self.end - at];
        kept.copy_from_slice(&self.room[at..self.end]);
        let written = self.snappy.compress(part, &mut self.room[at..]).map_err(|e| ParquetError::External(e.into()))?;
        self.room[at..self.end].copy_from_slice(kept);
        self.end = at + written;
        self.length += part.len();
        Ok(())
    }

    /// The elements so far.
    fn elements(&self) -> &[u8] {
        &self.room[LENGTH..self.end]
    }

    /// Adds levels that are compressed.
    fn append(&mut self, levels: &Levels) {
        let end = self.end + levels.elements.len();
        self.grow(end);
        self.room[self.end..end].copy_from_slice(&levels.elements);
        self.end = end;
        self.length += levels.length;
    }

    /// Makes room up to `most`.
    fn grow(&mut self, most: usize) {
        if self.room.len() < most {
            self.room.resize(most, 0);
        }
    }

    /// Passes the whole text to `write`, compressed.
    fn lend<T>(&mut self, write: impl FnOnce(Bytes) -> Result<T>) -> Result<T> {
        self.grow(LENGTH);
        let mut head = [0; LENGTH];
        let used = length(self.length, &mut head);
        self.room[LENGTH - used..LENGTH].copy_from_slice(&head[..used]);
        let lent = std::mem::take(&mut self.room).freeze();
        let done = write(lent.slice(LENGTH - used..self.end));
        // Nobody else has it now, so it is not copied.
        self.room = lent.into();
        done
    }
}

/// Writes a text's length as Snappy does; returns the number of bytes.
fn length(text: usize, head: &mut [u8; LENGTH]) -> usize {
    let (mut left, mut used) = (text, 0);
    while left >= 0x80 {
        head[used] = left as u8 | 0x80;
        left >>= 7;
        used += 1;
    }
    head[used] = left as u8;
    used + 1
}
