//! Demote: the head of a queue is repeatedly moved back by a fixed number of places.
//!
//! Source: Fukuda, Nobayashi & Ikenaga 2018 §3 and Figure 2.
//!
//! Idea: when the transmitter is about to take the next packet and more than RI packets wait, the head moves behind the RI
//! packets that follow it. No other packet is moved until that one has been transmitted.
//!
//! | source | here |
//! | --- | --- |
//! | RI, reorder interval | `interval` |
//! | "if the buffer size of R1 is larger than RI" | more than `interval` packets wait, the one in transmission not counted |
//! | other packets are not reordered until the moved one has been transmitted | `moved` |
//!
//! Departures: none.
//!
//! Unsaid in the source, see docs/decisions/0026: why nothing is reordered at RI = 100, although the paper says that the buffer
//! is large enough. One explanation is `device`: the device whose queue is examined holds only the first few waiting packets.
//! The other is the flow's window.

use super::direction::DirectionSpec;
use super::packet::Only;
use super::properties::{Acts, Properties, RateUse};
use super::queued_link::Moment;
#[cfg(test)]
use super::ElementSpec;
use super::{Element, Order, Site};
use crate::error::Fault;
use ackclock_tcp::units::Packets;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Repeatedly moves the head of the queue back (Fukuda, Nobayashi & Ikenaga 2018 §3). Needs a rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Queue head moved back", extend("examples" = [{ "interval": 4 }]))]
pub struct DemoteSpec {
    /// Number of places to move it, whenever more packets wait. No other packet is moved until this one has been transmitted. The source uses 4 to
    /// 100.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub interval: u32,
    /// Number of waiting packets to consider. Default: all packets. The source does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Packets>,
}

impl Element for DemoteSpec {
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
        Fault::whole("interval", self.interval.into(), 1..=1_000_000)
            .or_else(|| (self.device == Some(Packets(0))).then(|| Fault::of("device", Packets(0), "at least 1 packet")))
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        site.queue(|q| q.order = Some(Order::Demote(Demote::new(self))));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let spec = |interval, device| ElementSpec::Demote(DemoteSpec { interval, device });
        vec![spec(3, None), spec(2, Some(Packets(5)))]
    }
}

pub(crate) struct Demote {
    interval: usize,
    device: usize,
    /// The moved packet, while it still waits.
    moved: Option<u32>,
}

impl Demote {
    pub(crate) fn new(spec: &DemoteSpec) -> Self {
        let device = spec.device.map_or(usize::MAX, |n| n.0 as usize);
        Demote { interval: spec.interval as usize, device, moved: None }
    }

    /// Called before the transmitter takes the first of these pairs (packet, size).
    pub(crate) fn arrange(&mut self, on: Moment, waiting: &mut VecDeque<(u32, u32)>) {
        let (Moment::Service, Some(&head)) = (on, waiting.front()) else { return };
        match self.moved {
            Some(packet) if packet == head.0 => self.moved = None,
            Some(_) => {}
            None if waiting.len().min(self.device) > self.interval => {
                waiting.pop_front();
                waiting.insert(self.interval, head);
                self.moved = Some(head.0);
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order in which `waiting` leaves if no other packet arrives.
    fn leave(interval: u32, device: Option<u32>, waiting: std::ops::Range<u32>) -> Vec<u32> {
        let mut demote = Demote::new(&DemoteSpec { interval, device: device.map(Packets) });
        let mut waiting: VecDeque<_> = waiting.map(|p| (p, 1500)).collect();
        let mut left = Vec::new();
        while !waiting.is_empty() {
            demote.arrange(Moment::Service, &mut waiting);
            left.extend(waiting.pop_front().map(|p| p.0));
        }
        left
    }

    #[test]
    fn eleven_packets_leave_as_in_the_papers_figure_2() {
        assert_eq!(leave(4, None, 10..21), [11, 12, 13, 14, 10, 16, 17, 18, 19, 15, 20]);
    }

    #[test]
    fn as_many_as_the_interval_are_not_more_than_it() {
        assert_eq!(leave(4, None, 0..4), [0, 1, 2, 3]);
        assert_eq!(leave(4, None, 0..5), [1, 2, 3, 4, 0]);
    }

    #[test]
    fn a_device_queue_no_longer_than_the_interval_moves_nothing() {
        assert!(leave(4, Some(4), 0..100).is_sorted());
        assert_eq!(leave(4, Some(5), 0..100), leave(4, None, 0..100));
    }
}
