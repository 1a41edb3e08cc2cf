//! The caller's services for an answer, besides text.

use serde_json::Value;

/// A sequence of numbers of one kind, in pieces that follow one another.
#[derive(Debug)]
pub enum Column {
    /// Times and offsets.
    F64(Vec<Vec<f64>>),
    /// Counts.
    U32(Vec<Vec<u32>>),
    /// Numbers that may be missing: -1.
    I32(Vec<Vec<i32>>),
    /// Positions in lists of words; bytes.
    U8(Vec<Vec<u8>>),
}

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
