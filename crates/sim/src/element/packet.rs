//! The interface between elements and packets: which packets, where, and their fate.

use crate::watch::DropWhy;
use ackclock_tcp::time::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where on a link an element acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Before the queue.
    #[default]
    Entry,
    /// After transmission, before the propagation delay.
    Exit,
}

impl Place {
    pub(crate) fn exit() -> Self {
        Place::Exit
    }
}

/// The unit to which a probability applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// A packet of any size.
    #[default]
    Packet,
    /// A byte on the wire; a packet is lost if any of its bytes is (ns-2: `ErrorModel`, unit `byte`).
    Byte,
}

/// The packets that an element acts on; the others pass unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Only {
    /// All packets.
    #[default]
    All,
    /// Packets that occupy sequence numbers (data, SYN, FIN) and packets of unresponsive sources.
    Data,
    /// Pure ACKs.
    Acks,
}

impl Only {
    pub(crate) fn is_all(&self) -> bool {
        *self == Only::All
    }

    #[inline]
    pub(crate) fn covers(self, data: bool) -> bool {
        match self {
            Only::All => true,
            Only::Data => data,
            Only::Acks => !data,
        }
    }
}

/// An element's view of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// When it arrives.
    pub(crate) now: u64,
    /// Bytes on the wire.
    pub(crate) wire: u32,
    /// Whether it takes up sequence numbers; else it is a pure ACK.
    pub(crate) data: bool,
    /// The flow whose packet it is, in the order of the scenario; [`Seen::NO_FLOW`] for background traffic.
    pub(crate) flow: u32,
    /// The explicit queue before it, if there is one.
    pub(crate) backlog: Backlog,
}

/// The queue that a packet finds, without the packet in transmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backlog {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
    /// The packet does not fit.
    pub(crate) full: bool,
    /// Since when nothing has been in transmission either.
    pub(crate) idle_since: Option<u64>,
}

impl Backlog {
    /// Nothing waits; one packet is in transmission.
    pub(crate) const NONE: Self = Backlog { packets: 0, bytes: 0, full: false, idle_since: None };
}

impl Seen {
    /// More than any number of a flow.
    pub(crate) const NO_FLOW: u32 = u32::MAX;

    #[cfg(test)]
    pub(crate) const DATA: Self = Seen { now: 0, wire: 1500, data: true, flow: 0, backlog: Backlog::NONE };
}

/// An element's decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It passes.
    Pass,
    /// It disappears.
    Drop(DropWhy),
    /// If the packet may be marked (RFC 3168 §5), it is marked and passes; otherwise it is dropped early.
    Mark,
    /// It passes later.
    Delay(Nanos),
    /// It passes twice.
    Duplicate,
}
