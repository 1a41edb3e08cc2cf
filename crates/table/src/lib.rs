//! Rows of results that are described once.
//!
//! [`row!`] declares the columns of a kind of row: for each its name, type, unit, meaning, and how it is computed. From that
//! come the JSON of a row, Arrow tables, the tables of the command and of the lab page, its types ([`typescript`]), the
//! reference page ([`markdown`]), and the description that Python reads ([`description`]).
//!
//! # Example
//!
//! ```
//! use ackclock_table::{row, Row};
//!
//! row! {
//!     /// A transfer.
//!     #[derive(Clone, Debug)]
//!     pub struct Transfer {
//!         /// How long it took.
//!         time_s: f64 [unit("s")];
//!     }
//! }
//! assert_eq!(Transfer::columns()[0].unit, "s");
//! assert_eq!(serde_json::to_string(&Transfer { time_s: 0.5 }).unwrap(), r#"{"time_s":0.5}"#);
//! ```

mod cell;
mod column;
mod field;
mod page;
mod row;

pub use cell::Cell;
pub use column::{Column, Kind, PartShown, Shown, Together};
pub use field::{Field, Flat, Value};
pub use page::{description, markdown, shown, typescript, Described};
pub use row::Row;
#[doc(hidden)]
pub use serde;

#[cfg(test)]
mod tests;
