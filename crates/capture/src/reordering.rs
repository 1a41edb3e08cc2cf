//! How much a path reordered the packets of one direction of a connection: RFC 4737 and RFC 5236, from a capture.
//!
//! Idea: the metrics need the order of transmission. At the receiver and midway the packets themselves show it; at the sender
//! only acknowledgments show the order in which packets arrived. With captures of both sides [`crate::both`] has the order of
//! transmission.
//!
//! | module | content |
//! | --- | --- |
//! | [`arrivals`] | packets as captured: their order of transmission by identification, timestamps or sequence numbers |
//! | [`acks`] | the order in which data was first acknowledged |

pub mod acks;
pub mod arrivals;

use ackclock_sim::reordering::Reordering;
use ackclock_tcp::time::Time;

/// The basis of the order of transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OrderSource {
    /// The capture of the sender's side, packet by packet.
    Sender,
    /// IPv4's identification, if it is a counter.
    Identification,
    /// The timestamps; sequence numbers where they are equal.
    Timestamps,
    /// The sequence numbers of first transmissions.
    Sequence,
    /// The order in which acknowledgments first covered the data: the arrivals themselves were not captured.
    Acks,
}

impl OrderSource {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            OrderSource::Sender => "the sender's capture",
            OrderSource::Identification => "IP identification",
            OrderSource::Timestamps => "timestamps",
            OrderSource::Sequence => "sequence numbers",
            OrderSource::Acks => "as seen by ACKs",
        }
    }
}

/// The reordering of one way, and the basis of the order of transmission.
#[derive(Clone, Debug, PartialEq)]
pub struct Reordered {
    /// The basis.
    pub source: OrderSource,
    /// The metrics.
    pub order: Reordering,
    /// The frames of late packets, if they were to be kept and arrivals were captured.
    pub late: Vec<u64>,
}

/// A time of a capture, relative to its connection's first packet; 0 if before it.
pub(crate) fn since(first: i64, at: i64) -> Time {
    Time(u64::try_from(at.saturating_sub(first)).unwrap_or(0))
}
