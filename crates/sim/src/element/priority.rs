//! Priority: some packets overtake others in the queue.
//!
//! Source: the priority queueing of routers, as tc-prio(8) does it with two bands.
//!
//! Idea: a prioritized packet is enqueued behind the prioritized packets already waiting and in front of all others. The
//! transmitter takes the first packet, so other packets leave only if no prioritized packet waits. A transmission is not
//! interrupted.
//!
//! | source | here |
//! | --- | --- |
//! | classifier | `ahead`, `up_to` |
//! | bands, the first emptied first | `waiting[..first]` and the rest, each first in, first out |
//!
//! Departures: both bands share the queue's limit. A packet that finds the queue full is dropped, even a prioritized one.
//!
//! Unsaid in the source: the effect of a swap on the same queue. Here, a packet that a swap moves among the prioritized ones is
//! served as one of them.

use super::direction::DirectionSpec;
use super::packet::Only;
use super::properties::{Acts, Properties, RateUse};
use super::queued_link::Moment;
#[cfg(test)]
use super::ElementSpec;
use super::{Element, Order, Site};
use crate::error::Fault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Short packets, or packets of one class, overtake other waiting packets (tc-prio(8)). Needs a rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(title = "Priority", extend("examples" = [{ "ahead": "acks" }]))]
pub struct PrioritySpec {
    /// Which packets go ahead.
    pub ahead: Only,
    /// Only packets of at most this many bytes on the wire go ahead; `None`: of any size.
    pub up_to: Option<u32>,
}

/// As it is written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("anyOf" = [{ "required": ["ahead"] }, { "required": ["up_to"] }]))]
struct Written {
    /// The packets that go ahead. Default: all packets that are short enough.
    #[serde(default, skip_serializing_if = "Only::is_all")]
    ahead: Only,
    /// Largest packet that goes ahead, in bytes on the wire. Default: any size.
    #[serde(skip_serializing_if = "Option::is_none")]
    up_to: Option<Size>,
}

/// A packet's size on the wire.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
struct Size(
    #[serde(with = "ackclock_tcp::units::bytes")]
    #[schemars(schema_with = "ackclock_tcp::units::bytes_schema")]
    u32,
);

impl TryFrom<Written> for PrioritySpec {
    type Error = Fault;

    fn try_from(w: Written) -> Result<Self, Fault> {
        let Written { ahead, up_to } = w;
        Ok(PrioritySpec { ahead, up_to: up_to.map(|Size(n)| n) })
    }
}

impl From<PrioritySpec> for Written {
    fn from(s: PrioritySpec) -> Self {
        let PrioritySpec { ahead, up_to } = s;
        Written { ahead, up_to: up_to.map(Size) }
    }
}

impl Element for PrioritySpec {
    fn properties(&self) -> Properties {
        Properties {
            acts: Acts::Late,
            bunches: false,
            rate: RateUse::Waits,
            beside_split: false,
            only_one: Some("the order of the queue"),
            reorders: true,
            loses: false,
            duplicates: false,
            only: Only::All,
            flow: None,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        let all = self.ahead == Only::All && self.up_to.is_none();
        let allowed = "at least one of the keys ahead, up_to";
        all.then(|| Fault::of("", "a priority that applies to every packet", allowed))
            .or_else(|| self.up_to.and_then(|n| Fault::bytes("up_to", n.into(), 1..=1 << 20)))
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        site.queue(|q| q.order = Some(Order::Priority(Priority::new(self))));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let spec = |ahead, up_to| ElementSpec::Priority(PrioritySpec { ahead, up_to });
        vec![spec(Only::Acks, None), spec(Only::All, Some(200)), spec(Only::Data, Some(1500))]
    }
}

pub(crate) struct Priority {
    spec: PrioritySpec,
    /// The number of places at the front that belong to prioritized packets.
    first: usize,
}

impl Priority {
    pub(crate) fn new(spec: &PrioritySpec) -> Self {
        Priority { spec: spec.clone(), first: 0 }
    }

    /// `waiting`: packets and their sizes.
    pub(crate) fn arrange(&mut self, on: Moment, waiting: &mut VecDeque<(u32, u32)>) {
        match on {
            Moment::Service => self.first = self.first.saturating_sub(1),
            Moment::Arrived { data } => {
                let Some(&(packet, wire)) = waiting.back() else { return };
                let PrioritySpec { ahead, up_to } = self.spec;
                if ahead.covers(data) && up_to.is_none_or(|most| wire <= most) {
                    waiting.pop_back();
                    waiting.insert(self.first, (packet, wire));
                    self.first += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::drop_tail::Limit;
    use crate::element::queued_link::QueuedLink;
    use crate::rng::Stream;
    use crate::transit::Pace;

    #[derive(Clone, Copy)]
    struct One {
        at: u64,
        wire: u32,
        data: bool,
    }

    /// Up to 40 packets wait; now and then all leave.
    fn arrivals() -> Vec<One> {
        let mut rng = Stream::new(3, "arrivals");
        let mut at = 0;
        let mut one = |i| {
            at += if i % 100 == 0 { 60_000_000 } else { rng.below(1_900_000) };
            One { at, wire: 40 + rng.below(1461) as u32, data: rng.below(3) > 0 }
        };
        (0..3_000).map(&mut one).collect()
    }

    /// The order in which they leave a link of 8 Mb/s (a byte in a microsecond), and when.
    fn leave(spec: &PrioritySpec, packets: &[One], limit: Limit) -> Vec<(usize, u64)> {
        let pace = Pace::new(Some(8_000_000), 0);
        let mut q = QueuedLink::new(limit);
        q.order = Some(Order::Priority(Priority::new(spec)));
        let mut left = Vec::new();
        let mut depart = |q: &mut QueuedLink, until: u64| {
            while let Some(at) = q.departure().filter(|at| *at <= until) {
                left.extend(q.depart(&pace, |_, _| ()).map(|p| (p as usize, at)));
            }
        };
        for (i, p) in packets.iter().enumerate() {
            depart(&mut q, p.at);
            let _ = q.offer(i as u32, p.wire, || p.data, p.at, &pace, |_, _| ());
        }
        depart(&mut q, u64::MAX);
        left
    }

    /// The same with two queues.
    fn two_queues(goes_ahead: impl Fn(&One) -> bool, packets: &[One], most: usize) -> Vec<(usize, u64)> {
        let (mut queues, mut free, mut left) = ([VecDeque::new(), VecDeque::new()], 0, Vec::new());
        let mut coming = packets.iter().enumerate().peekable();
        loop {
            let next = coming.peek().map(|(_, p)| p.at);
            let idle = queues.iter().all(VecDeque::is_empty);
            // A transmitter that is idle at the time of an arrival takes the next packet first.
            if !idle && next.is_none_or(|at| free <= at) {
                let band = usize::from(queues[0].is_empty());
                let i: usize = queues[band].pop_front().expect("one waits");
                free += u64::from(packets[i].wire) * 1_000;
                left.push((i, free));
            } else if let Some((i, p)) = coming.next() {
                let waiting = queues.iter().map(VecDeque::len).sum::<usize>();
                if waiting + usize::from(free > p.at) < most {
                    if free <= p.at {
                        free = p.at;
                    }
                    queues[usize::from(!goes_ahead(p))].push_back(i);
                }
            } else {
                return left;
            }
        }
    }

    #[test]
    fn packets_leave_as_from_two_queues_of_which_the_first_is_emptied_first() {
        let packets = arrivals();
        let acks = PrioritySpec { ahead: Only::Acks, up_to: None };
        let short = PrioritySpec { ahead: Only::All, up_to: Some(500) };
        let both = PrioritySpec { ahead: Only::Data, up_to: Some(900) };
        for most in [4, 1_000] {
            let limit = Limit::Packets(most);
            let most = most as usize;
            let plain: Vec<_> = two_queues(|_| false, &packets, most);
            assert_eq!(leave(&acks, &packets, limit), two_queues(|p| !p.data, &packets, most));
            assert_eq!(leave(&short, &packets, limit), two_queues(|p| p.wire <= 500, &packets, most));
            assert_eq!(leave(&both, &packets, limit), two_queues(|p| p.data && p.wire <= 900, &packets, most));
            assert_ne!(leave(&acks, &packets, limit), plain);
            assert_eq!(plain.len() == packets.len(), most == 1_000);
        }
    }

    #[test]
    fn a_priority_that_every_packet_has_is_refused() {
        let refused = |ahead, up_to| {
            let on = crate::topology::dumbbell::pipe(None, Default::default());
            PrioritySpec { ahead, up_to }.fault(&on).map(|f| f.key)
        };
        assert_eq!(refused(Only::All, None).as_deref(), Some(""));
        assert_eq!(refused(Only::All, Some(0)).as_deref(), Some("up_to"));
        assert_eq!(refused(Only::Acks, None), None);
    }
}
