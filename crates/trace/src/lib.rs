//! What happened in a run.
//!
//! [`row`] is one record, [`schema`] the one table from which columns, CSV header and `docs/trace.md` come,
//! [`recorder`] listens to a run and hands chunks of records to a [`sink`]: [`mod@parquet`], [`csv`], or [`arrow`] in memory;
//! [`hash`] says in 128 bits what happened, [`fate`] tells needed, refused and needless retransmissions apart.
//! [`captures`] has a run's packets as pcapng files, and [`truth`] what its retransmissions were, by their frames.

pub mod arrow;
pub mod both;
pub mod captures;
pub mod csv;
pub mod error;
pub mod fate;
pub mod file;
pub mod hash;
pub mod parquet;
pub mod pcapng;
pub mod recorder;
pub mod row;
pub mod schema;
pub mod sink;
pub mod truth;
pub mod under_way;

pub use arrow::{ArrowSink, Events};
pub use both::Both;
pub use captures::{CaptureFolder, Captures};
pub use error::TraceError;
pub use file::TraceFile;
pub use hash::{Hasher, TraceHash};
pub use recorder::Recorder;
pub use row::{Row, What};
pub use sink::{Meta, Sink};
pub use truth::Truth;
pub use under_way::UnderWay;
