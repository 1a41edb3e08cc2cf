//! Where records go, and what a file says about the run that it holds.

use crate::hash::TraceHash;
use crate::row::Row;
use std::io;

/// Version of the columns and their meaning. Raised when a column changes its meaning or disappears.
pub const FORMAT: u32 = 1;

/// Takes records, a chunk at a time.
pub trait Sink {
    /// What is left at the end.
    type Out;

    /// Takes the next records, in the order of the run.
    ///
    /// # Errors
    /// Whatever the system says about the file; the run's trace is then lost.
    fn write(&mut self, rows: &[Row]) -> io::Result<()>;

    /// Takes the trace hash and finishes.
    ///
    /// # Errors
    /// As for [`Sink::write`].
    fn finish(self, hash: TraceHash) -> io::Result<Self::Out>;
}

/// Keeps everything in memory.
impl Sink for Vec<Row> {
    type Out = Vec<Row>;

    fn write(&mut self, rows: &[Row]) -> io::Result<()> {
        self.extend_from_slice(rows);
        Ok(())
    }

    fn finish(self, _: TraceHash) -> io::Result<Vec<Row>> {
        Ok(self)
    }
}

/// What is known about a run before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// Hash of the scenario, with its name (as in `xxh3-128:…`).
    pub scenario: String,
    /// The run's seed.
    pub seed: u64,
    /// The senders' stacks, one line each, in the scenario's order.
    pub stacks: Vec<String>,
}

impl Meta {
    /// Names and values that a finished file carries.
    pub fn pairs(&self, hash: TraceHash) -> Vec<(&'static str, String)> {
        vec![
            ("ackclock.format", FORMAT.to_string()),
            ("ackclock.version", env!("CARGO_PKG_VERSION").to_owned()),
            ("ackclock.scenario", self.scenario.clone()),
            ("ackclock.seed", self.seed.to_string()),
            ("ackclock.stacks", self.stacks.join("\n")),
            ("ackclock.trace_hash", hash.to_string()),
        ]
    }
}
