//! The events of a run.
//!
//! [`row`] is one record, [`schema`] the single table from which columns, CSV header and `docs/trace.md` are generated.
//! [`recorder`] listens to a run and passes chunks of records to a [`sink`]: [`mod@parquet`], [`csv`], or [`arrow`] in
//! memory. [`hash`] identifies a run's events in 128 bits, [`fate`] distinguishes needed, refused and needless
//! retransmissions. [`captures`] writes a run's packets as pcapng files, and [`truth`] the verdicts on its retransmissions,
//! by their frames.

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
