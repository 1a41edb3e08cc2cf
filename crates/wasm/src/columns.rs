//! Tables of numbers, column by column.

/// Columns of equal length.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($field:ident $key:literal: $kind:ident($type:ty),)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(crate) struct $name {
            $(pub(crate) $field: $crate::pieces::Pieces<$type>,)*
        }

        impl $name {
            pub(crate) fn columns(self, border: &mut dyn $crate::border::Border) -> serde_json::Value {
                let mut table = serde_json::Map::new();
                $(table.insert($key.to_owned(), border.column($crate::border::Column::$kind(self.$field.into_pieces())));)*
                table.into()
            }
        }
    };
}

pub(crate) use table;
