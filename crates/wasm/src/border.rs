//! What an answer needs of whoever asked, besides text.

use serde_json::Value;

/// Numbers of one kind, one after the other.
#[derive(Debug)]
pub enum Column {
    /// Times and offsets.
    F64(Vec<f64>),
    /// Counts.
    U32(Vec<u32>),
    /// Numbers that may be missing: -1.
    I32(Vec<i32>),
    /// Positions in lists of words; bytes.
    U8(Vec<u8>),
}

/// The other side.
pub trait Border {
    /// Hears the share of a run that is done, 0 to 1.
    fn told(&mut self, share: f64);
    /// Takes a column, and says what stands for it in the answer.
    fn column(&mut self, column: Column) -> Value;
}

/// Hears nothing; columns stand in the answer as lists, with `null` for what is not finite.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lists;

impl Border for Lists {
    fn told(&mut self, _: f64) {}

    fn column(&mut self, column: Column) -> Value {
        match column {
            Column::F64(v) => v.into(),
            Column::U32(v) => v.into(),
            Column::I32(v) => v.into(),
            Column::U8(v) => v.into(),
        }
    }
}
