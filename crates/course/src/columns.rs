//! Tables of numbers, column by column.

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

/// Columns of equal length.
#[macro_export]
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($(#[$meaning:meta])* $field:ident $key:literal: $kind:ident($type:ty),)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub struct $name {
            $($(#[$meaning])* pub $field: $crate::pieces::Pieces<$type>,)*
        }

        impl $name {
            /// The columns by name.
            pub fn columns(self) -> Vec<(&'static str, $crate::columns::Column)> {
                vec![$(($key, $crate::columns::Column::$kind(self.$field.into_pieces())),)*]
            }
        }
    };
}
