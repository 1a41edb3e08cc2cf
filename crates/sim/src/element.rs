//! What acts on packets on their way. One file an element.

pub(crate) mod demote;
pub(crate) mod drop_tail;
pub(crate) mod gilbert_elliott;
pub(crate) mod interruption;
pub(crate) mod link;
pub(crate) mod loss;
pub(crate) mod netem;
pub(crate) mod path_trace;
pub(crate) mod queued_link;
pub(crate) mod red;
pub(crate) mod redrawn_delay;
pub(crate) mod script;
pub(crate) mod split;
pub(crate) mod swap;

use crate::scenario::Only;
use crate::watch::DropWhy;
use ackclock_tcp::time::Nanos;

/// A value out of range: its key, what was found, what is allowed.
pub(crate) type Fault = (&'static str, String, &'static str);

/// What an element sees of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// When it comes.
    pub(crate) now: u64,
    /// Bytes on the wire.
    pub(crate) wire: u32,
    /// Whether it takes up sequence numbers; else it is a pure ACK.
    pub(crate) data: bool,
    /// The explicit queue before it, if there is one.
    pub(crate) backlog: Backlog,
}

/// What a packet finds at a queue, the packet in transmission not counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backlog {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
    /// The packet does not fit.
    pub(crate) full: bool,
    /// Since when nothing is in transmission either.
    pub(crate) idle_since: Option<u64>,
}

impl Backlog {
    /// Nothing waits, one packet is in transmission.
    pub(crate) const NONE: Self = Backlog { packets: 0, bytes: 0, full: false, idle_since: None };
}

impl Seen {
    #[cfg(test)]
    pub(crate) const DATA: Self = Seen { now: 0, wire: 1500, data: true, backlog: Backlog::NONE };
}

/// What an element does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It goes on.
    Pass,
    /// It disappears.
    Drop(DropWhy),
    /// It is marked if it may be (RFC 3168 §5), and goes on; else it is dropped early.
    Mark,
    /// It goes on later.
    Delay(Nanos),
    /// It goes on twice.
    Duplicate,
}

/// An element through which each packet goes, at the entry or the exit of a link.
pub(crate) struct Gate {
    /// Its number in the run.
    pub(crate) element: u32,
    /// Packets that have come so far, of those that it sees.
    pub(crate) arrivals: u64,
    /// Which packets it sees; others pass.
    pub(crate) only: Only,
    pub(crate) kind: GateKind,
}

pub(crate) enum GateKind {
    Loss(loss::Loss),
    GilbertElliott(gilbert_elliott::GilbertElliott),
    Interruptions(interruption::Interruptions),
    Red(red::Red),
    Script(script::Script),
    Netem(netem::Netem),
    PathTrace(path_trace::TraceLoss),
}

impl Gate {
    /// What happens to the packet that comes now, and the how manieth it is (from 0).
    #[inline]
    pub(crate) fn judge(&mut self, seen: &Seen) -> (Fate, u64) {
        let nth = self.arrivals;
        if !self.only.covers(seen.data) {
            return (Fate::Pass, nth);
        }
        self.arrivals += 1;
        let fate = match &mut self.kind {
            GateKind::Loss(l) => l.judge(seen),
            GateKind::GilbertElliott(g) => g.judge(seen),
            GateKind::Interruptions(i) => i.judge(seen),
            GateKind::Red(r) => r.judge(seen),
            GateKind::Script(s) => s.judge(nth),
            GateKind::Netem(n) => n.judge(seen.now, seen.wire),
            GateKind::PathTrace(t) => t.judge(seen.now),
        };
        (fate, nth)
    }
}
