//! Reads complete files in memory and streams, and unpacks them if necessary.

use super::{Contents, Frame, Reader, Unreadable, What};
use flate2::bufread::MultiGzDecoder;
use lz4_flex::frame::FrameDecoder as Lz4;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{BufRead, BufReader, Cursor, ErrorKind, Read};

/// The source of the bytes.
pub enum Input<'a> {
    /// All bytes, in memory or mapped.
    Bytes(&'a [u8]),
    /// A sequence of bytes.
    Stream(&'a mut dyn Read),
}

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Packing {
    /// None.
    Plain,
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
    /// LZ4's frame format.
    Lz4,
}

/// Bytes requested in one call.
const PIECE: usize = 1 << 20;

/// Reads a whole file and calls `each` for every packet.
///
/// # Errors
/// [`Unreadable`] if nothing could be read. Damage behind a readable packet is in [`Contents::damages`].
pub fn read<F: FnMut(&Frame<'_>)>(input: Input<'_>, mut each: F) -> Result<Contents, Unreadable> {
    match input {
        Input::Bytes(bytes) => match packing(bytes)? {
            Packing::Plain => {
                let mut reader = Reader::default();
                reader.feed(bytes, true, &mut each)?;
                reader.finish(Packing::Plain)
            }
            packing => unpack(packing, &mut &*bytes, each),
        },
        Input::Stream(stream) => {
            let mut head = [0; 4];
            let has = fill(stream, &mut head).map_err(Unreadable::Io)?;
            let packing = packing(&head[..has])?;
            unpack(
                packing,
                &mut BufReader::with_capacity(1 << 16, Cursor::new(head).take(has as u64).chain(stream)),
                each,
            )
        }
    }
}

/// The compression of a file with this beginning.
fn packing(bytes: &[u8]) -> Result<Packing, Unreadable> {
    match bytes {
        [0x1f, 0x8b, ..] => Ok(Packing::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Ok(Packing::Zstd),
        [0x04, 0x22, 0x4d, 0x18, ..] => Ok(Packing::Lz4),
        [0xfd, b'7', b'z', b'X', ..] => Err(Unreadable::Packed { with: "xz" }),
        [b'B', b'Z', b'h', ..] => Err(Unreadable::Packed { with: "bzip2" }),
        [b'P', b'K', 3, 4, ..] => Err(Unreadable::Packed { with: "zip" }),
        _ => Ok(Packing::Plain),
    }
}

fn unpack<F: FnMut(&Frame<'_>)>(packing: Packing, packed: &mut dyn BufRead, each: F) -> Result<Contents, Unreadable> {
    match packing {
        Packing::Plain => stream(packing, packed, each),
        Packing::Gzip => stream(packing, &mut MultiGzDecoder::new(packed), each),
        Packing::Lz4 => stream(packing, &mut Lz4::new(packed), each),
        Packing::Zstd => stream(packing, &mut Frames { packed, decoder: FrameDecoder::new(), within: false }, each),
    }
}

/// The frames of a zstd file in sequence.
struct Frames<'a> {
    packed: &'a mut dyn BufRead,
    decoder: FrameDecoder,
    within: bool,
}

impl Read for Frames<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let other = |e: &dyn std::fmt::Display| std::io::Error::new(ErrorKind::InvalidData, e.to_string());
        loop {
            if !self.within {
                if self.packed.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.decoder.reset(&mut self.packed).map_err(|e| other(&e))?;
                self.within = true;
            }
            let got = self.decoder.read(buf)?;
            if got > 0 {
                return Ok(got);
            }
            if self.decoder.is_finished() {
                self.within = false;
                continue;
            }
            let piece = BlockDecodingStrategy::UptoBytes(buf.len().max(1));
            self.decoder.decode_blocks(&mut self.packed, piece).map_err(|e| other(&e))?;
        }
    }
}

fn stream<F: FnMut(&Frame<'_>)>(packing: Packing, from: &mut dyn Read, mut each: F) -> Result<Contents, Unreadable> {
    let mut reader = Reader::default();
    let (mut buffer, mut held) = (vec![0; PIECE], 0);
    loop {
        let got = match from.read(&mut buffer[held..]) {
            Ok(got) => got,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            // A plain stream has no more data; the rest of a packed one is lost.
            Err(e) if reader.place.frames == 0 => return Err(Unreadable::Io(e)),
            Err(_) => {
                reader.place.damaged(held, What::Unpacking);
                0
            }
        };
        held += got;
        let done = reader.feed(&buffer[..held], got == 0, &mut each)?;
        if got == 0 {
            return reader.finish(packing);
        }
        buffer.copy_within(done..held, 0);
        held -= done;
        if held == buffer.len() {
            let longer = (buffer.len() * 2).min(Reader::enough());
            buffer.resize(longer, 0);
        }
    }
}

/// Reads as many bytes as available, up to the buffer's length.
fn fill(from: &mut dyn Read, buf: &mut [u8]) -> std::io::Result<usize> {
    let mut has = 0;
    while has < buf.len() {
        match from.read(&mut buf[has..]) {
            Ok(0) => break,
            Ok(got) => has += got,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(has)
}
