//! How much a path reordered the packets of one way of a connection: RFC 4737 and RFC 5236, from a capture.
//!
//! Idea: the metrics need the order of sending. At the receiver and on the way the packets themselves tell it; at the sender only
//! acknowledgments tell in which order packets arrived. With captures of both sides [`crate::both`] has the order of sending.
//!
//! | module | what |
//! | --- | --- |
//! | [`arrivals`] | packets as they come by: their order of sending by identification, timestamps or sequence numbers |
//! | [`acks`] | the order in which data were acknowledged first |

pub mod acks;
pub mod arrivals;

use ackclock_sim::reordering::Reordering;
use ackclock_tcp::time::Time;

/// What told the order of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Told {
    /// The capture of the sender's side, packet by packet.
    Sender,
    /// IPv4's identification, which counts up.
    Identification,
    /// The timestamps; within one value the sequence numbers.
    Timestamps,
    /// The sequence numbers of what was sent first.
    Sequence,
    /// The order in which acknowledgments first covered the data: the arrivals themselves were not captured.
    Acks,
}

impl Told {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Told::Sender => "the sender's capture",
            Told::Identification => "IP identification",
            Told::Timestamps => "timestamps",
            Told::Sequence => "sequence numbers",
            Told::Acks => "as seen by ACKs",
        }
    }
}

/// The reordering of one way, and what told the order of sending.
#[derive(Clone, Debug, PartialEq)]
pub struct Reordered {
    /// What told it.
    pub told: Told,
    /// The metrics.
    pub order: Reordering,
    /// The frames of packets that came late, where they were to be kept, and arrivals were captured.
    pub late: Vec<u64>,
}

/// A time of a capture since its connection's first packet; one before it is 0.
pub(crate) fn since(first: i64, at: i64) -> Time {
    Time(u64::try_from(at.saturating_sub(first)).unwrap_or(0))
}
