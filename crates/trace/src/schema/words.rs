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

/// The same for kinds without fields, which are also read back.
macro_rules! kinds {
    ($(#[$doc:meta])* $list:ident, $word:ident, $kind:ident($from:ident) { $($is:ident => $says:literal,)* }) => {
        words! {
            $(#[$doc])*
            $list, $word($from) { $($from::$is => $says,)* }
        }

        pub(crate) fn $kind(word: &str) -> Option<$from> {
            match word {
                $($says => Some($from::$is),)*
                _ => None,
            }
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

kinds! {
    /// Ends of a flow.
    SIDES, side, read_side(Side) {
        Sender => "sender",
        Receiver => "receiver",
    }
}

kinds! {
    /// Reasons of a drop.
    DROPS, drop, read_drop(DropWhy) {
        Queue => "queue",
        Loss => "loss",
        Script => "script",
        Early => "early",
    }
}

kinds! {
    /// Reasons for a change of phase.
    WHYS, why, read_why(Why) {
        Suspected => "suspected",
        Lost => "lost",
        Timeout => "timeout",
        Resolved => "resolved",
        Repaired => "repaired",
        Restarted => "restarted",
        Mistaken => "mistaken",
    }
}

kinds! {
    /// Causes of a mistaken episode.
    CAUSES, cause, read_cause(Cause) {
        Fast => "fast",
        Rto => "rto",
        Ecn => "ecn",
    }
}

kinds! {
    /// Why a TCP discarded a packet.
    REFUSALS, refusal, read_refusal(Refusal) {
        Paws => "paws",
        Window => "window",
        Ack => "ack",
        Flags => "flags",
        Closed => "closed",
    }
}

kinds! {
    /// The parts of a stack that request transmissions.
    SLOTS, slot, read_slot(Slot) {
        Sequencer => "sequencer",
        Startup => "startup",
        Congestion => "congestion",
        Disorder => "disorder",
        Recovery => "recovery",
        Timeout => "timeout",
        Undo => "undo",
    }
}

kinds! {
    /// A sender's phases.
    PHASES, phase, read_phase(Phase) {
        Open => "open",
        Disorder => "disorder",
        Recovery => "recovery",
        Loss => "loss",
    }
}
