//! Path elements: they act on packets in transit. Each has one file, with its written form, its properties and its
//! behaviour.

pub mod bernoulli;
pub mod custom;
pub mod delay_spike;
pub mod deliveries;
pub mod demote;
pub mod direction;
pub(crate) mod drop_tail;
pub(crate) mod flight;
pub mod gilbert_elliott;
pub(crate) mod held;
pub mod interruption;
pub mod netem;
pub mod outage;
pub mod packet;
pub mod path_trace;
pub(crate) mod port;
pub mod priority;
pub mod properties;
pub(crate) mod queued_link;
pub mod red;
pub mod redrawn_delay;
pub mod script;
pub mod split;
pub mod swap;
pub mod table;
#[cfg(test)]
mod tests;
mod together;
pub mod token_bucket;
pub mod wobble;

use crate::error::Fault;
use crate::rng::Stream;
use direction::DirectionSpec;
use packet::{Fate, Only, Place, Seen};
use port::Port;
use properties::Properties;
use queued_link::{Moment, QueuedLink};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// The interface of every kind of element. Nothing here has a default, so a new kind does not compile until it implements
/// everything.
pub(crate) trait Element: fmt::Debug {
    /// Its properties, as far as other parts need them.
    fn properties(&self) -> Properties;
    /// The first value out of range, on this link.
    fn fault(&self, on: &DirectionSpec) -> Option<Fault>;
    /// Adds itself to the link that is being laid out.
    fn build<'a>(&'a self, site: &mut Site<'_, 'a>);
    /// Elements of this kind that differ in their properties, for tests over all kinds.
    #[cfg(test)]
    fn examples() -> Vec<ElementSpec>
    where
        Self: Sized;
}

/// Lists the kinds once.
macro_rules! kinds {
    ($($name:literal $kind:ident($spec:ty),)+) => {
        /// An element that acts on the packets of one direction.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        #[schemars(rename = "Element", title = "elements")]
        #[expect(missing_docs, reason = "each kind is described where it is defined")]
        pub enum ElementSpec {
            $(#[serde(rename = $name)] $kind($spec),)+
            /// An element from outside the crate, made by the reader of a file.
            #[serde(rename = "python", skip_deserializing)]
            #[schemars(skip)]
            Custom(custom::CustomSpec),
        }

        /// Elements of every kind.
        #[cfg(test)]
        pub(crate) fn examples() -> Vec<ElementSpec> {
            [$(<$spec>::examples(),)+ custom::CustomSpec::examples()].concat()
        }

        impl ElementSpec {
            /// The kinds, by their names in files.
            pub const KINDS: &[&str] = &[$($name),+];

            /// Reads the keys of an element of this kind, without `kind`. `None`: there is no such kind.
            pub fn read<'de, D: Deserializer<'de>>(kind: &str, keys: D) -> Option<Result<Self, D::Error>> {
                match kind {
                    $($name => Some(<$spec>::deserialize(keys).map(ElementSpec::$kind)),)+
                    _ => None,
                }
            }

            /// The element's kind, by its name in files.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(ElementSpec::$kind(_) => $name,)+
                    ElementSpec::Custom(_) => "python",
                }
            }

            fn each(&self) -> &dyn Element {
                match self {
                    $(ElementSpec::$kind(s) => s,)+
                    ElementSpec::Custom(s) => s,
                }
            }
        }
    };
}

kinds! {
    "swap" Swap(swap::SwapSpec),
    "bernoulli" Bernoulli(bernoulli::BernoulliSpec),
    "gilbert-elliott" GilbertElliott(gilbert_elliott::GilbertElliottSpec),
    "delay-spike" DelaySpike(delay_spike::DelaySpikeSpec),
    "outage" Outage(outage::OutageSpec),
    "red" Red(red::RedSpec),
    "script" Script(script::ScriptSpec),
    "redrawn-delay" RedrawnDelay(redrawn_delay::RedrawnDelaySpec),
    "split" Split(split::SplitSpec),
    "demote" Demote(demote::DemoteSpec),
    "netem" Netem(netem::NetemSpec),
    "path-trace" PathTrace(path_trace::PathTraceSpec),
    "deliveries" Deliveries(deliveries::DeliveriesSpec),
    "wobble" Wobble(wobble::WobbleSpec),
    "priority" Priority(priority::PrioritySpec),
    "token-bucket" TokenBucket(token_bucket::TokenBucketSpec),
}

impl ElementSpec {
    /// Its properties, as far as other parts need them.
    pub fn properties(&self) -> Properties {
        self.each().properties()
    }

    /// The first value out of range, on this link. [`DirectionSpec::fault`] also checks the elements together.
    pub fn fault(&self, on: &DirectionSpec) -> Option<Fault> {
        self.each().fault(on)
    }

    /// Adds itself to the link that is being laid out.
    pub(crate) fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        self.each().build(site);
    }
}

/// An element that sees each packet, at the entry or the exit of a link.
pub(crate) struct Gate {
    /// Its number in the run.
    pub(crate) element: u32,
    /// The number of packets that it has seen.
    pub(crate) arrivals: u64,
    /// The packets that it sees; others pass.
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
    TokenBucket(token_bucket::TokenBucket),
    Custom(custom::Custom),
}

impl GateKind {
    /// Whether the element sees the packets of this flow.
    #[inline]
    fn covers(&self, flow: u32) -> bool {
        match self {
            GateKind::Script(s) => s.covers(flow),
            GateKind::Bernoulli(_)
            | GateKind::GilbertElliott(_)
            | GateKind::DelaySpike(_)
            | GateKind::Outage(_)
            | GateKind::Red(_)
            | GateKind::Netem(_)
            | GateKind::PathTrace(_)
            | GateKind::TokenBucket(_)
            | GateKind::Custom(_) => true,
        }
    }
}

impl Gate {
    /// The fate of the packet that arrives now, and its number among the packets that the element sees (from 0).
    #[inline]
    pub(crate) fn judge(&mut self, seen: &Seen) -> (Fate, u64) {
        let nth = self.arrivals;
        if !self.only.covers(seen.data) || !self.kind.covers(seen.flow) {
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
            GateKind::TokenBucket(t) => t.judge(seen),
            GateKind::Custom(c) => c.judge(nth, seen),
        };
        (fate, nth)
    }
}

/// Adds to the delay of a packet that has left the transmitter.
pub(crate) enum Delays {
    RedrawnDelay(redrawn_delay::RedrawnDelay),
    PathTrace(path_trace::TraceDelay),
    Wobble(wobble::Wobble),
}

impl Delays {
    /// The delay added for a packet that leaves at `now`; times do not go back.
    pub(crate) fn of(&mut self, now: u64) -> u64 {
        match self {
            Delays::RedrawnDelay(d) => d.of(now),
            Delays::PathTrace(d) => d.of(now),
            Delays::Wobble(w) => w.of(now),
        }
    }
}

/// Transmits packets in place of a link's own rate.
pub(crate) enum Service {
    PathTrace(path_trace::Rates),
    Deliveries(deliveries::Deliveries),
}

impl Service {
    /// Accepts `wire` bytes at `now`; returns when their transmission ends.
    pub(crate) fn send(&mut self, now: u64, wire: u32) -> u64 {
        match self {
            Service::PathTrace(r) => r.send(now, wire),
            Service::Deliveries(d) => d.send(now, wire),
        }
    }
}

/// Changes the order of waiting packets when a packet arrives or the next is dequeued.
pub(crate) enum Order {
    Demote(demote::Demote),
    Priority(priority::Priority),
}

impl Order {
    /// `waiting` holds packets and their sizes; the transmitter takes the first one next.
    pub(crate) fn arrange(&mut self, on: Moment, waiting: &mut VecDeque<(u32, u32)>) {
        match self {
            Order::Demote(d) => d.arrange(on, waiting),
            Order::Priority(p) => p.arrange(on, waiting),
        }
    }
}

/// The place on a link where an element is laid out.
pub(crate) struct Site<'s, 'a> {
    /// The element's number in the run.
    pub(crate) element: u32,
    /// The number of the directed link, or of the path of a split.
    pub(crate) link: u32,
    pub(crate) on: &'a DirectionSpec,
    pub(crate) port: &'s mut Port,
    /// The run's seed, and the names of the random streams of this direction and of the forward direction.
    pub(crate) seed: u64,
    pub(crate) name: &'s str,
    pub(crate) forward: &'s str,
    /// For each name of random streams: the number of earlier elements that use it.
    pub(crate) before: &'s mut BTreeMap<&'static str, u32>,
    /// Swaps, with their element numbers.
    pub(crate) swaps: &'s mut Vec<(u32, swap::Swap)>,
    /// The paths of splits so far, and the number of the first.
    pub(crate) paths: &'s mut Vec<split::Path<'a>>,
    pub(crate) first_path: u32,
}

impl Site<'_, '_> {
    /// The number of earlier elements that share the name `kind` for their random streams.
    pub(crate) fn nth(&mut self, kind: &'static str) -> u32 {
        let n = self.before.entry(kind).or_default();
        *n += 1;
        *n - 1
    }

    /// A random stream on this link.
    pub(crate) fn stream(&self, name: impl fmt::Display) -> Stream {
        Stream::new(self.seed, &format!("{}/{name}", self.name))
    }

    /// Adds a gate that each packet passes.
    pub(crate) fn gate(&mut self, at: Place, only: Only, kind: GateKind) {
        self.port.gates(at).push(Gate { element: self.element, arrivals: 0, only, kind });
    }

    /// From now on `more` adds to the link's delay.
    pub(crate) fn lengthen(&mut self, more: Delays) {
        self.port.lengthen(more);
    }

    /// Acts on the explicit queue, which exists because of [`Acts::Late`](properties::Acts::Late).
    pub(crate) fn queue(&mut self, act: impl FnOnce(&mut QueuedLink)) {
        if let Some(queue) = &mut self.port.queue {
            act(queue);
        }
    }
}
