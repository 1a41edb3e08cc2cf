//! A listener that records every event, and the numbers that follow from them: slow, simple, and independent of the counters.

use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::{Nanos, Time};
use std::collections::{BTreeMap, BTreeSet};

/// A packet: its flow, its direction, and its number.
type Packet = (u32, Side, u32);

#[derive(Clone, Copy)]
enum What {
    Sent,
    /// It is about to enter the queue of this link.
    At(u32),
    Arrived,
}

/// Every event in order.
#[derive(Default)]
pub(crate) struct Log {
    events: Vec<(Time, Packet, What)>,
    /// Payload, and bytes on the wire.
    sizes: BTreeMap<Packet, (u32, u32)>,
    next: BTreeMap<(u32, Side), u32>,
}

/// A packet that left a link.
pub(crate) struct Left {
    pub(crate) at: u64,
    pub(crate) wait: u64,
    pub(crate) wire: u32,
}

fn other(side: Side) -> Side {
    match side {
        Side::Sender => Side::Receiver,
        Side::Receiver => Side::Sender,
    }
}

impl Watch for Log {
    const HEARS_HOPS: bool = true;
    fn sent(&mut self, at: Time, flow: u32, from: Side, seg: &Segment, wire: u32, _: u8) {
        let to = other(from);
        let number = self.next.entry((flow, to)).or_default();
        self.sizes.insert((flow, to, *number), (seg.len, wire));
        self.events.push((at, (flow, to, *number), What::Sent));
        *number += 1;
    }
    fn arrived(&mut self, at: Time, flow: u32, to: Side, number: u32, _: &Segment) {
        self.events.push((at, (flow, to, number), What::Arrived));
    }
    fn passed(&mut self, at: Time, link: u32, flow: u32, to: Side, number: u32, _: &Segment) {
        self.events.push((at, (flow, to, number), What::At(link)));
    }
}

impl Log {
    fn sent_at(&self) -> BTreeMap<Packet, Time> {
        let sent = self.events.iter().filter(|(.., what)| matches!(what, What::Sent));
        sent.map(|(at, packet, _)| (*packet, *at)).collect()
    }

    /// The delays of a flow's data packets that arrived up to `end`, in the order of arrivals.
    pub(crate) fn delays(&self, flow: u32, end: Time) -> Vec<u64> {
        let sent = self.sent_at();
        let arrivals = self.events.iter().filter(|(at, packet, what)| {
            let data = packet.0 == flow && packet.1 == Side::Receiver && self.sizes[packet].0 > 0;
            data && *at <= end && matches!(what, What::Arrived)
        });
        arrivals.map(|(at, packet, _)| at.since(sent[packet]).0).collect()
    }

    /// For each ACK that arrived up to `end`: the time since the earliest transmission of the packets that it was the first to
    /// follow.
    pub(crate) fn round_trips(&self, flow: u32, end: Time) -> Vec<u64> {
        let sent = self.sent_at();
        let (mut unanswered, mut answers, mut trips) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        for (at, packet, what) in self.events.iter().filter(|(at, packet, _)| packet.0 == flow && *at <= end) {
            match (what, packet.1) {
                (What::Arrived, Side::Receiver) if self.sizes[packet].0 > 0 => {
                    unanswered.insert(sent[packet]);
                }
                (What::Sent, Side::Sender) => {
                    if let Some(earliest) = std::mem::take(&mut unanswered).first() {
                        answers.insert(*packet, *earliest);
                    }
                }
                (What::Arrived, Side::Sender) => {
                    trips.extend(answers.get(packet).map(|earliest| at.since(*earliest).0))
                }
                _ => {}
            }
        }
        trips
    }

    /// The packets that left a link with this rate and delay; their next event is at its far end. Returns when they left, how
    /// long they had waited, and their size.
    pub(crate) fn left(&self, link: u32, rate: u64, delay: Nanos) -> Vec<Left> {
        let mut left_at: BTreeMap<Packet, Time> = BTreeMap::new();
        let mut left = Vec::new();
        for (at, packet, what) in &self.events {
            if let Some(from) = left_at.remove(packet) {
                let (leaves, wire) = (at.0 - delay.0, self.sizes[packet].1);
                let cost = u64::from(wire) * 8_000_000_000 / rate;
                left.push(Left { at: leaves, wait: (leaves - from.0).saturating_sub(cost), wire });
            }
            let first = matches!(what, What::Sent) && self.first_link(*packet) == link;
            if first || matches!(what, What::At(here) if *here == link) {
                left_at.insert(*packet, *at);
            }
        }
        left
    }

    /// In these scenarios the first link is at the senders and the last one at the receivers.
    fn first_link(&self, packet: Packet) -> u32 {
        match packet.1 {
            Side::Receiver => 0,
            Side::Sender => 5,
        }
    }
}
