//! How far packets were reordered, measured at one hole.

use crate::time::{Nanos, Time};

/// One measurement of reordering: a hole, and the duplicate ACKs that it caused before it filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReorderSample {
    /// Duplicate ACKs until the hole filled (Blanton & Allman's D, N).
    pub dupacks: u32,
    /// When the first of them arrived.
    pub first_dup: Time,
    /// When the last of them arrived.
    pub last_dup: Time,
    /// When the ACK that filled the hole arrived.
    pub filled: Time,
    /// When the hole was resent; `None` if it was not. That retransmission is proved needless.
    pub resent: Option<Time>,
    /// Segments that were resent for it, all needlessly.
    pub segments: u32,
}

impl ReorderSample {
    /// Mean time between two of the duplicates; zero if there was only one.
    pub fn spacing(&self) -> Nanos {
        Nanos(self.last_dup.since(self.first_dup).0 / u64::from(self.dupacks.saturating_sub(1).max(1)))
    }
}
