//! A run's measurements for network engineers: delays, round-trip times, queueing times, and the links' loads. They are
//! counted in histograms during the run; single events are not recorded.
//!
//! Whether a network is metered is part of its type ([`Metering`]): one that is not has no meters, and does nothing for them.
//! Meters lie where packets pass anyway, in the hosts and beside the links, so none is looked up. Packets carry their
//! transmission time. A packet that enters several links at once (see [`crate::engine`]) is counted on the last of them for all of
//! them. It is counted link by link only if it is still on them at the end of the run or bin.

mod host;
mod link;
mod metering;
mod period;

use crate::histogram::Histogram;
use ackclock_tcp::units::Bytes;
pub(crate) use host::{NO_STAMP, TWIN};
#[cfg(test)]
pub(crate) use link::LaneMeter;
pub(crate) use metering::{HostMetering, LinkMetering, RunMetering};
pub use metering::{Metered, Metering, Unmetered};

/// The counts of a run, or of one of its bins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meters {
    /// In the order of the scenario's flows.
    pub flows: Vec<FlowMeter>,
    /// Directed links, then the paths of splits. A link with a split has no counts of its own; its paths have them.
    pub links: Vec<LinkMeter>,
    /// The duration of each finished transfer, by kind of background traffic, ns.
    pub transfers: Vec<Histogram>,
}

/// The counts of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// Second arrivals of packets that the network duplicated.
    again: u64,
}

/// The counts of a directed link, or of a path of a split.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkMeter {
    /// Packets that left the transmitter.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: Bytes,
    /// The time that each packet had waited in the queue before its transmission began, ns.
    pub wait: Histogram,
}

impl Meters {
    /// Adds the counts of a later bin of the same run.
    pub fn add(&mut self, bin: &Meters) {
        let Meters { flows, links, transfers } = bin;
        self.flows.resize_with(flows.len(), FlowMeter::default);
        self.links.resize_with(links.len(), LinkMeter::default);
        self.transfers.resize_with(transfers.len(), Histogram::default);
        self.flows.iter_mut().zip(flows).for_each(|(mine, more)| mine.add(more));
        self.links.iter_mut().zip(links).for_each(|(mine, more)| mine.add(more));
        self.transfers.iter_mut().zip(transfers).for_each(|(mine, more)| mine.merge(more));
    }
}

impl FlowMeter {
    /// Packets with data that arrived; a packet that the network duplicated counts once.
    pub fn arrived(&self) -> u64 {
        self.delay.len() - self.again
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
