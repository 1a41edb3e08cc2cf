//! A run's measurements for network engineers: delays, round-trip times, queueing times, and the links' loads. They are
//! counted in histograms during the run; single events are not recorded.
//!
//! Packets carry their transmission time, so nothing is looked up. A packet that enters several links at once (see
//! [`crate::engine`]) is counted on the last of them for all of them. It is counted link by link only if it leaves one of them
//! after the end of the run or bin.

use crate::histogram::Histogram;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::units::Bytes;
use std::collections::BTreeMap;

/// The number of duplicated packets that are remembered because the other one may still arrive.
const MOST_DOUBLED: usize = 1024;
/// The value in an ACK that acknowledges no data.
pub(crate) const NO_STAMP: u64 = u64::MAX;

/// The counts of a run so far, or of its current bin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meters {
    /// In the order of the scenario's flows.
    pub flows: Vec<FlowMeter>,
    /// Directed links, then the paths of splits. A link with a split has no counts of its own; its paths have them.
    pub links: Vec<LinkMeter>,
    /// The duration of each finished transfer, by kind of background traffic, ns.
    pub transfers: Vec<Histogram>,
    /// Loads without room for another packet, each with the last of the links that its packets entered.
    full: Vec<(u32, Load)>,
    /// The end of the period that is being counted.
    horizon: u64,
    /// Events after that period.
    later: Vec<Later>,
}

/// The counts of a flow. The alignment turns indexing into a shift.
#[derive(Clone, Debug, PartialEq)]
#[repr(align(128))]
pub struct FlowMeter {
    /// From the transmission of each packet with data to its arrival, ns; for a packet that the network duplicated, both
    /// arrivals.
    pub delay: Histogram,
    /// From the transmission of a packet with data to the arrival of the ACK that acknowledges it, ns: one value for each
    /// ACK.
    pub rtt: Histogram,
    /// Packets with data that arrived after a packet sent later (RFC 4737 §3), out of [`FlowMeter::arrived`]. Second arrivals are
    /// not counted.
    pub reordered: u64,
    /// When the earliest packet that no ACK has acknowledged yet was sent.
    unanswered: u64,
    /// The number after the highest that has arrived.
    next: u64,
    /// Second arrivals of packets that the network duplicated.
    again: u64,
    /// Numbers of duplicated packets, and whether the first of the two has arrived.
    #[expect(clippy::box_collection, reason = "eight bytes, which make a meter 128 bytes long")]
    doubled: Option<Box<BTreeMap<u32, bool>>>,
}

/// The counts of a directed link, or of a path of a split. The alignment turns indexing into a shift.
#[derive(Clone, Debug, Default, PartialEq)]
#[repr(align(64))]
pub struct LinkMeter {
    /// Packets that left the transmitter.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: Bytes,
    /// The time that each packet had waited in the queue before its transmission began, ns.
    pub wait: Histogram,
}

/// Packets and bytes in one number, so that both take one addition: packets in the upper 20 bits, bytes in the lower 44,
/// enough for 2^20 packets of up to 16 MiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load(u64);

impl Load {
    const PACKET: u64 = 1 << 44;

    /// Adds a packet of `wire` bytes. If there is no room for another packet, returns the previous sum and starts from zero.
    #[inline(always)]
    pub(crate) fn add(&mut self, wire: u32) -> Option<Load> {
        let one = Self::PACKET | u64::from(wire);
        match self.0.checked_add(one) {
            Some(sum) => {
                self.0 = sum;
                None
            }
            None => Some(std::mem::replace(self, Load(one))),
        }
    }

    pub(crate) fn packets(self) -> u64 {
        self.0 / Self::PACKET
    }

    pub(crate) fn bytes(self) -> u64 {
        self.0 % Self::PACKET
    }
}

/// A packet that leaves a link after the period that is being counted.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Later {
    leaves: u64,
    link: u32,
    what: Leaving,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Leaving {
    /// A packet that waited this long, ns.
    Waited(u64),
    /// A packet of this size.
    Bytes(u32),
}

impl Meters {
    /// Counts up to and including `until`; later events are kept for [`Meters::turn`].
    pub fn until(until: Time) -> Self {
        Meters { horizon: until.0, ..Meters::default() }
    }

    /// Allocates room for a network of this size.
    pub(crate) fn lay_out(&mut self, flows: usize, links: usize, generators: usize) {
        self.flows.resize_with(flows, FlowMeter::default);
        self.links.resize_with(links, LinkMeter::default);
        self.transfers.resize_with(generators, Histogram::default);
    }

    /// Returns the counts and starts from zero, counting up to `until`.
    pub fn turn(&mut self, until: Time) -> Meters {
        self.horizon = until.0;
        let mut flows = self.flows.clone();
        for (mine, out) in self.flows.iter_mut().zip(&mut flows) {
            let FlowMeter { unanswered, next, doubled, .. } = std::mem::take(out);
            *out = std::mem::replace(mine, FlowMeter { unanswered, next, doubled, ..FlowMeter::default() });
        }
        let links = self.links.iter_mut().map(std::mem::take).collect();
        let transfers = self.transfers.iter_mut().map(std::mem::take).collect();
        for Later { leaves, link, what } in std::mem::take(&mut self.later) {
            match what {
                Leaving::Waited(wait) => self.waited(link, leaves, wait),
                Leaving::Bytes(wire) => self.left(link, leaves, wire),
            }
        }
        Meters { flows, links, transfers, ..Meters::default() }
    }

    /// Adds the counts of a later bin of the same run.
    pub fn add(&mut self, bin: &Meters) {
        let Meters { flows, links, transfers, full: _, horizon: _, later: _ } = bin;
        self.lay_out(flows.len(), links.len(), transfers.len());
        self.flows.iter_mut().zip(flows).for_each(|(mine, more)| mine.add(more));
        self.links.iter_mut().zip(links).for_each(|(mine, more)| mine.add(more));
        self.transfers.iter_mut().zip(transfers).for_each(|(mine, more)| mine.merge(more));
    }

    /// The value for an ACK of `flow`: the transmission time of the earliest packet that it is the first to acknowledge.
    #[inline(always)]
    pub(crate) fn answer(&mut self, flow: u32) -> u64 {
        self.flows.get_mut(flow as usize).map_or(NO_STAMP, |f| std::mem::replace(&mut f.unanswered, NO_STAMP))
    }

    /// A packet of a flow, sent at `stamp`, has arrived at its receiver.
    #[inline(always)]
    pub(crate) fn data_came(&mut self, now: u64, flow: u32, stamp: u64, number: u32, data: bool) {
        let Some(f) = self.flows.get_mut(flow as usize).filter(|_| data) else { return };
        f.delay.record(now - stamp);
        f.unanswered = f.unanswered.min(stamp);
        if u64::from(number) < f.next || f.doubled.is_some() {
            return f.out_of_order(number);
        }
        f.next = u64::from(number) + 1;
    }

    /// An ACK of a flow has arrived at its sender.
    #[inline(always)]
    pub(crate) fn ack_came(&mut self, now: u64, flow: u32, stamp: u64) {
        let Some(f) = self.flows.get_mut(flow as usize).filter(|_| stamp != NO_STAMP) else { return };
        f.rtt.record(now - stamp);
    }

    /// The network duplicated a packet on its way to a flow's receiver.
    pub(crate) fn doubled(&mut self, flow: u32, number: u32) {
        if let Some(f) = self.flows.get_mut(flow as usize) {
            let doubled = f.doubled.get_or_insert_default();
            doubled.insert(number, false);
            // For some of these, the other packet was dropped.
            if doubled.len() > MOST_DOUBLED {
                doubled.pop_first();
            }
        }
    }

    /// Whether an event at `time` is counted now, not later.
    #[inline(always)]
    pub(crate) fn counts(&self, time: u64) -> bool {
        time <= self.horizon
    }

    /// A link's load has no room for another packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn is_full(&mut self, link: u32, load: Load) {
        self.full.push((link, load));
    }

    /// Adds the loads of links, which have been removed from the links. `feeder` returns the link that a link is fused with.
    pub(crate) fn settle(&mut self, loads: impl Iterator<Item = (u32, Load)>, feeder: &[Option<u32>]) {
        for (last, load) in std::mem::take(&mut self.full).into_iter().chain(loads) {
            let mut entered = Some(last);
            while let Some(link) = entered {
                let l = &mut self.links[link as usize];
                l.packets += load.packets();
                l.bytes += load.bytes();
                entered = feeder[link as usize];
            }
        }
        for l in &mut self.links {
            // Only packets that waited were recorded.
            l.wait.record_zeros(l.packets - l.wait.len());
        }
    }

    /// A packet that leaves a link's transmitter at `leaves` had to wait.
    #[inline(always)]
    pub(crate) fn waited(&mut self, link: u32, leaves: u64, wait: u64) {
        if leaves > self.horizon {
            return self.postpone(Later { leaves, link, what: Leaving::Waited(wait) });
        }
        if let Some(l) = self.links.get_mut(link as usize) {
            l.wait.record(wait);
        }
    }

    /// A packet of `wire` bytes leaves a link's transmitter at `leaves`.
    pub(crate) fn left(&mut self, link: u32, leaves: u64, wire: u32) {
        if leaves > self.horizon {
            return self.postpone(Later { leaves, link, what: Leaving::Bytes(wire) });
        }
        if let Some(l) = self.links.get_mut(link as usize) {
            l.packets += 1;
            l.bytes += u64::from(wire);
        }
    }

    #[cold]
    #[inline(never)]
    fn postpone(&mut self, later: Later) {
        self.later.push(later);
    }

    /// A transfer of background traffic has ended.
    pub(crate) fn transferred(&mut self, generator: u32, took: Nanos) {
        if let Some(h) = self.transfers.get_mut(generator as usize) {
            h.record(took.0);
        }
    }
}

impl Default for FlowMeter {
    fn default() -> Self {
        FlowMeter {
            delay: Histogram::default(),
            rtt: Histogram::default(),
            reordered: 0,
            unanswered: NO_STAMP,
            next: 0,
            again: 0,
            doubled: None,
        }
    }
}

impl FlowMeter {
    /// Packets with data that arrived; a packet that the network duplicated counts once.
    pub fn arrived(&self) -> u64 {
        self.delay.len() - self.again
    }

    /// A packet arrives that was overtaken or may have been duplicated.
    #[cold]
    #[inline(never)]
    fn out_of_order(&mut self, number: u32) {
        if self.is_second(number) {
            self.again += 1;
            return;
        }
        self.reordered += u64::from(u64::from(number) < self.next);
        self.next = self.next.max(u64::from(number) + 1);
    }

    /// Whether this packet is the second of two to arrive.
    fn is_second(&mut self, number: u32) -> bool {
        let Some(doubled) = &mut self.doubled else { return false };
        let second = doubled.get_mut(&number).is_some_and(|came| std::mem::replace(came, true));
        if second {
            doubled.remove(&number);
        }
        if doubled.is_empty() {
            self.doubled = None;
        }
        second
    }

    /// Adds later counts.
    pub fn add(&mut self, more: &FlowMeter) {
        self.delay.merge(&more.delay);
        self.rtt.merge(&more.rtt);
        self.reordered += more.reordered;
        self.again += more.again;
    }
}

impl LinkMeter {
    /// Adds later counts, or those of another path.
    pub fn add(&mut self, more: &LinkMeter) {
        self.wait.merge(&more.wait);
        self.packets += more.packets;
        self.bytes += more.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_load_is_returned_and_nothing_is_lost() {
        let (mut load, mut packets, mut bytes) = (Load::default(), 0, 0);
        let many = (1 << 20) + 5;
        for _ in 0..many {
            if let Some(full) = load.add(16_777_215) {
                (packets, bytes) = (packets + full.packets(), bytes + full.bytes());
            }
        }
        assert!(packets > 0, "it was full once");
        assert_eq!((packets + load.packets(), bytes + load.bytes()), (many, many * 16_777_215));
    }

    #[test]
    fn a_flows_meter_takes_two_lines() {
        assert_eq!(size_of::<FlowMeter>(), 128);
    }
}
