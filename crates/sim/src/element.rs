//! What acts on packets on their way. One file an element.

pub(crate) mod bernoulli;
pub(crate) mod delay_spike;
pub(crate) mod deliveries;
pub(crate) mod demote;
pub(crate) mod direction;
pub(crate) mod drop_tail;
pub(crate) mod gilbert_elliott;
pub(crate) mod interruption;
pub(crate) mod link;
pub(crate) mod netem;
pub(crate) mod outage;
pub(crate) mod path_trace;
pub(crate) mod queued_link;
pub(crate) mod red;
pub(crate) mod redrawn_delay;
pub(crate) mod script;
pub(crate) mod split;
pub(crate) mod swap;
pub(crate) mod table;

use crate::error::Fault;
use crate::watch::DropWhy;
use ackclock_tcp::time::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Something that acts on the packets of one direction.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(title = "elements")]
#[expect(missing_docs, reason = "each kind is described where it is defined")]
pub enum ElementSpec {
    Swap(swap::SwapSpec),
    Bernoulli(bernoulli::BernoulliSpec),
    GilbertElliott(gilbert_elliott::GilbertElliottSpec),
    DelaySpike(delay_spike::DelaySpikeSpec),
    Outage(outage::OutageSpec),
    Red(red::RedSpec),
    Script(script::ScriptSpec),
    RedrawnDelay(redrawn_delay::RedrawnDelaySpec),
    Split(split::SplitSpec),
    Demote(demote::DemoteSpec),
    Netem(netem::NetemSpec),
    PathTrace(path_trace::PathTraceSpec),
    Deliveries(deliveries::DeliveriesSpec),
}

/// A run's identity is a hash of this text, so it stays as it was when five of the kinds had another form.
impl fmt::Debug for ElementSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementSpec::Swap(swap::SwapSpec { mode, count, gap }) => {
                let mut fields = f.debug_struct("Swap");
                fields.field("mode", mode).field("count", count).field("gap", gap).finish()
            }
            ElementSpec::Bernoulli(bernoulli::BernoulliSpec { p, per, at, only }) => {
                let mut fields = f.debug_struct("Bernoulli");
                fields.field("p", p).field("per", per).field("at", at).field("only", only).finish()
            }
            ElementSpec::Script(script::ScriptSpec { at, only, rules }) => {
                let mut fields = f.debug_struct("Script");
                fields.field("at", at).field("only", only).field("rules", rules).finish()
            }
            ElementSpec::DelaySpike(delay_spike::DelaySpikeSpec { when, length, at, only }) => {
                let fields = format_args!("when: {when:?}, length: {length:?}, at: {at:?}, only: {only:?}");
                write!(f, "Interruption(InterruptionSpec {{ what: DelaySpike, {fields} }})")
            }
            ElementSpec::Outage(outage::OutageSpec { when, length, at, only }) => {
                let fields = format_args!("when: {when:?}, length: {length:?}, at: {at:?}, only: {only:?}");
                write!(f, "Interruption(InterruptionSpec {{ what: Outage, {fields} }})")
            }
            ElementSpec::GilbertElliott(s) => f.debug_tuple("GilbertElliott").field(s).finish(),
            ElementSpec::Red(s) => f.debug_tuple("Red").field(s).finish(),
            ElementSpec::RedrawnDelay(s) => f.debug_tuple("RedrawnDelay").field(s).finish(),
            ElementSpec::Split(s) => f.debug_tuple("Split").field(s).finish(),
            ElementSpec::Demote(s) => f.debug_tuple("Demote").field(s).finish(),
            ElementSpec::Netem(s) => f.debug_tuple("Netem").field(s).finish(),
            ElementSpec::PathTrace(s) => f.debug_tuple("PathTrace").field(s).finish(),
            ElementSpec::Deliveries(s) => f.debug_tuple("Deliveries").field(s).finish(),
        }
    }
}

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

/// To what a probability belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// A packet of whatever size.
    #[default]
    Packet,
    /// A byte on the wire; a packet is lost with the first of its bytes (ns-2: `ErrorModel`, unit `byte`).
    Byte,
}

/// Which packets an element sees; the others pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Only {
    /// All of them.
    #[default]
    All,
    /// Those that take up sequence numbers: data, SYN, FIN, and unresponsive sources'.
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
    Bernoulli(bernoulli::Bernoulli),
    GilbertElliott(gilbert_elliott::GilbertElliott),
    DelaySpike(delay_spike::DelaySpike),
    Outage(outage::Outage),
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
            GateKind::Bernoulli(b) => b.judge(seen),
            GateKind::GilbertElliott(g) => g.judge(seen),
            GateKind::DelaySpike(d) => d.judge(seen),
            GateKind::Outage(o) => o.judge(seen),
            GateKind::Red(r) => r.judge(seen),
            GateKind::Script(s) => s.judge(nth),
            GateKind::Netem(n) => n.judge(seen.now, seen.wire),
            GateKind::PathTrace(t) => t.judge(seen.now),
        };
        (fate, nth)
    }
}
