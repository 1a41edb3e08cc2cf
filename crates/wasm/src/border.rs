//! The caller's services for an answer, besides text.

pub use ackclock_course::columns::Column;
use serde_json::{Map, Value};
use std::io::{BufReader, Read};

/// Bytes requested from a file in one call.
const PIECE: usize = 4 << 20;

/// The caller's side.
pub trait Border {
    /// Reports the share of a run that is done, 0 to 1.
    fn progress(&mut self, share: f64);
    /// Reads from byte `at` of the file that came with the request; returns the number of bytes read, 0 beyond its end.
    fn read(&mut self, at: u64, into: &mut [u8]) -> usize;
    /// Takes a column, and returns its representation in the answer.
    fn column(&mut self, column: Column) -> Value;
}

/// Ignores progress; columns become lists in the answer, with `null` for values that are not finite.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    /// The file that comes with requests.
    pub file: Vec<u8>,
}

impl Border for Lists {
    fn progress(&mut self, _: f64) {}

    fn read(&mut self, at: u64, into: &mut [u8]) -> usize {
        let rest = usize::try_from(at).ok().and_then(|at| self.file.get(at..)).unwrap_or_default();
        let many = rest.len().min(into.len());
        into[..many].copy_from_slice(&rest[..many]);
        many
    }

    fn column(&mut self, column: Column) -> Value {
        match column {
            Column::F64(pieces) => pieces.concat().into(),
            Column::U32(pieces) => pieces.concat().into(),
            Column::I32(pieces) => pieces.concat().into(),
            Column::U8(pieces) => pieces.concat().into(),
        }
    }
}

/// A table as an object of columns.
pub(crate) fn table(columns: Vec<(&'static str, Column)>, border: &mut dyn Border) -> Map<String, Value> {
    columns.into_iter().map(|(name, column)| (name.to_owned(), border.column(column))).collect()
}

/// The file that came with a request, read from its beginning.
pub(crate) struct Pieces<'a> {
    border: &'a mut dyn Border,
    at: u64,
    size: f64,
}

impl<'a> Pieces<'a> {
    /// A file of this size, bytes. The share that is read is reported.
    pub(crate) fn of(border: &'a mut dyn Border, size: f64) -> BufReader<Self> {
        BufReader::with_capacity(PIECE, Pieces { border, at: 0, size })
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let many = self.border.read(self.at, into);
        self.at += many as u64;
        self.border.progress((self.at as f64 / self.size.max(1.0)).min(1.0));
        Ok(many)
    }
}
