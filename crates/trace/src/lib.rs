//! The events of a run.
//!
//! [`row`] is one record, [`schema`] the single table from which columns, CSV header and `docs/trace.md` are generated.
//! [`recorder`] listens to a run and passes chunks of records to a [`sink`]: [`mod@parquet`], [`csv`], or [`arrow`] in
//! memory. [`read`] reads a CSV back. [`hash`] identifies a run's events in 128 bits, [`fate`] distinguishes needed, refused and needless
//! retransmissions. [`captures`] writes a run's packets as pcapng files, and [`truth`] the verdicts on its retransmissions,
//! by their frames.
//!
//! # Example
//!
//! A run's events as CSV in memory, with their hash.
//!
//! ```
//! use ackclock_sim::engine::Network;
//! use ackclock_sim::topology::dumbbell::{dumbbell, flow, pipe};
//! use ackclock_tcp::stack::Stack;
//! use ackclock_tcp::time::Nanos;
//! use ackclock_tcp::units::Rate;
//! use ackclock_trace::csv::CsvSink;
//! use ackclock_trace::recorder::Recorder;
//!
//! # fn main() -> std::io::Result<()> {
//! let link = pipe(Some(Rate(5_000_000)), Nanos::from_millis(20));
//! let mut scenario = dumbbell(1, &pipe(None, Nanos::ZERO), &link, &flow());
//! scenario.duration = Nanos::from_secs(1);
//! let stacks = [Stack::named("newreno").expect("a named stack")];
//! let recorder = Recorder::new(CsvSink::new(Vec::new())?, 1);
//! let mut network = Network::new(&scenario, &stacks, 1, recorder).expect("a scenario that can be run");
//! network.run();
//! let (hash, csv) = network.into_watch().close()?;
//! assert!(hash.to_string().starts_with("xxh3-128:"));
//! assert!(String::from_utf8_lossy(&csv).lines().count() > 100);
//! # Ok(())
//! # }
//! ```

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
pub mod read;
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
