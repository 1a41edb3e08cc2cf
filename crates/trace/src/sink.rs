//! The destinations of records, and a file's metadata about its run.

use crate::hash::TraceHash;
use crate::row::{Row, What};
use ackclock_sim::fate::Verdict;
use ackclock_tcp::segment::Segment;
use std::io;

/// Version of the columns and their meaning. Raised when a column changes its meaning or disappears.
pub const FORMAT: u32 = 2;

/// Records in a chunk, which is also a Parquet row group.
pub const CHUNK: usize = 1 << 16;

/// Takes records, a chunk at a time.
pub trait Sink {
    /// A chunk while it is filled.
    type Chunk: Chunk;
    /// The result at the end.
    type Out;

    /// An empty chunk.
    fn chunk(&self) -> Self::Chunk;

    /// Takes the next records, in the order of the run. Records that it leaves in the chunk are
    /// cleared.
    ///
    /// # Errors
    /// The system's error for the file; the run's trace is then lost.
    fn write(&mut self, chunk: &mut Self::Chunk) -> io::Result<()>;

    /// Takes the trace hash and finishes.
    ///
    /// # Errors
    /// Those of [`Sink::write`].
    fn finish(self, hash: TraceHash) -> io::Result<Self::Out>;
}

/// Consecutive records of a run, in the form that a sink needs.
pub trait Chunk {
    /// Adds the next record.
    fn push(&mut self, row: Row<&Segment>);

    /// The number of records.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets the verdict on the retransmission that is its `nth` record, which had none when it was
    /// added.
    fn judge(&mut self, nth: usize, verdict: Verdict);

    /// Removes all records, and keeps the memory.
    fn clear(&mut self);
}

impl Chunk for Vec<Row> {
    fn push(&mut self, row: Row<&Segment>) {
        self.push(row.owned());
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn judge(&mut self, nth: usize, verdict: Verdict) {
        if let Some(Row { what: What::Sent { verdict: open, .. }, .. }) = self.get_mut(nth) {
            *open = Some(verdict);
        }
    }

    fn clear(&mut self) {
        self.clear();
    }
}

/// Keeps everything in memory.
impl Sink for Vec<Row> {
    type Chunk = Vec<Row>;
    type Out = Vec<Row>;

    fn chunk(&self) -> Vec<Row> {
        Vec::new()
    }

    fn write(&mut self, chunk: &mut Vec<Row>) -> io::Result<()> {
        self.append(chunk);
        Ok(())
    }

    fn finish(self, _: TraceHash) -> io::Result<Vec<Row>> {
        Ok(self)
    }
}

/// The metadata of a run that is known before it begins.
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
    /// Names and values in a finished file.
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
