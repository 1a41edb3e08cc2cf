//! The words in columns, and the position of each in its list. Each list is generated from the `match` with the positions, so
//! that they cannot diverge.

use crate::row::What;
use ackclock_sim::watch::{DropWhy, Side};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::event::{Cause, Event, Phase, Slot, Why};
use ackclock_tcp::segment::Segment;

macro_rules! words {
    ($(#[$doc:meta])* $list:ident, $word:ident($from:ty) { $($is:pat => $says:literal,)* }) => {
        $(#[$doc])*
        pub const $list: &[&str] = &[$($says),*];

        #[inline(always)]
        pub(super) fn $word(v: &$from) -> usize {
            match v { $($is => const { place($list, $says) },)* }
        }
    };
}

/// The position of `word` in `list`.
const fn place(list: &[&str], word: &str) -> usize {
    let mut i = 0;
    while !same(list[i].as_bytes(), word.as_bytes()) {
        i += 1;
    }
    i
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

words! {
    /// Kinds of record.
    EVENTS, event(What<&Segment>) {
        What::Sent { .. } | What::Tcp(Event::Sent { .. }) => "sent",
        What::Delivered { .. } => "delivered",
        What::Dropped { .. } => "dropped",
        What::Refused { .. } => "refused",
        What::Queue { .. } => "queue",
        What::Tcp(Event::Acked { .. }) => "acked",
        What::Tcp(Event::Window { .. }) => "window",
        What::Tcp(Event::Inflation { .. }) => "inflation",
        What::Tcp(Event::Phase { .. }) => "phase",
        What::Tcp(Event::Timeout { .. }) => "timeout",
        What::Tcp(Event::Mistake { .. }) => "mistake",
        What::Tcp(Event::Persist { .. }) => "persist",
        What::Tcp(Event::Probe { .. }) => "probe",
        What::Tcp(Event::Threshold { .. }) => "threshold",
        What::Tcp(Event::Rtt { .. }) => "rtt",
    }
}

words! {
    /// Ends of a flow.
    SIDES, side(Side) {
        Side::Sender => "sender",
        Side::Receiver => "receiver",
    }
}

words! {
    /// Reasons of a drop.
    DROPS, drop(DropWhy) {
        DropWhy::Queue => "queue",
        DropWhy::Loss => "loss",
        DropWhy::Script => "script",
        DropWhy::Early => "early",
    }
}

words! {
    /// Reasons for a change of phase.
    WHYS, why(Why) {
        Why::Suspected => "suspected",
        Why::Lost => "lost",
        Why::Timeout => "timeout",
        Why::Resolved => "resolved",
        Why::Repaired => "repaired",
        Why::Restarted => "restarted",
        Why::Mistaken => "mistaken",
    }
}

words! {
    /// Causes of a mistaken episode.
    CAUSES, cause(Cause) {
        Cause::Fast => "fast",
        Cause::Rto => "rto",
        Cause::Ecn => "ecn",
    }
}

words! {
    /// Why a TCP discarded a packet.
    REFUSALS, refusal(Refusal) {
        Refusal::Paws => "paws",
        Refusal::Window => "window",
        Refusal::Ack => "ack",
        Refusal::Flags => "flags",
        Refusal::Closed => "closed",
    }
}

words! {
    /// The parts of a stack that request transmissions.
    SLOTS, slot(Slot) {
        Slot::Sequencer => "sequencer",
        Slot::Startup => "startup",
        Slot::Congestion => "congestion",
        Slot::Disorder => "disorder",
        Slot::Recovery => "recovery",
        Slot::Timeout => "timeout",
        Slot::Undo => "undo",
    }
}

words! {
    /// A sender's phases.
    PHASES, phase(Phase) {
        Phase::Open => "open",
        Phase::Disorder => "disorder",
        Phase::Recovery => "recovery",
        Phase::Loss => "loss",
    }
}
