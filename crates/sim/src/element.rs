//! What acts on packets on their way. One file an element.

pub(crate) mod demote;
pub(crate) mod drop_tail;
pub(crate) mod link;
pub(crate) mod loss;
pub(crate) mod netem;
pub(crate) mod path_trace;
pub(crate) mod queued_link;
pub(crate) mod redrawn_delay;
pub(crate) mod script;
pub(crate) mod split;
pub(crate) mod swap;

use crate::watch::DropWhy;
use ackclock_tcp::time::Nanos;

/// What an element does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It goes on.
    Pass,
    /// It disappears.
    Drop(DropWhy),
    /// It goes on later.
    Delay(Nanos),
    /// It goes on twice.
    Duplicate,
}

/// An element through which each packet goes, at the entry or the exit of a link.
pub(crate) struct Gate {
    /// Its number in the run.
    pub(crate) element: u32,
    /// Packets that have come so far.
    pub(crate) arrivals: u64,
    pub(crate) kind: GateKind,
}

pub(crate) enum GateKind {
    Loss(loss::Loss),
    Script(script::Script),
    Netem(netem::Netem),
    PathTrace(path_trace::TraceLoss),
}

impl Gate {
    /// What happens to the packet of `wire` bytes that comes at `now`, and the how manieth it is (from 0).
    #[inline]
    pub(crate) fn judge(&mut self, now: u64, wire: u32) -> (Fate, u64) {
        let nth = self.arrivals;
        self.arrivals += 1;
        let fate = match &mut self.kind {
            GateKind::Loss(l) => l.judge(),
            GateKind::Script(s) => s.judge(nth),
            GateKind::Netem(n) => n.judge(now, wire),
            GateKind::PathTrace(t) => t.judge(now),
        };
        (fate, nth)
    }
}
