//! Measurements, brought up to the time of the run.

use super::Network;
use crate::host::Endpoint;
use crate::measures::{FlowMeter, HostMetering, LinkMetering, Metering, Meters, RunMetering};
use crate::topology::{FUSED, HOST};
use crate::watch::Watch;
use ackclock_tcp::time::Time;
use ackclock_tcp::units::Bytes;

impl<W: Watch, E: Endpoint, M: Metering> Network<W, E, M> {
    /// Returns the measurements since the last call, and counts up to `until` from now on; `None` if nothing is measured. The call
    /// does not affect the run.
    pub fn measured(&mut self, until: Time) -> Option<Meters> {
        if !M::ON {
            return None;
        }
        let serving = self.serving();
        let unfinished: Vec<u64> = serving.iter().map(|(link, wire)| self.meter(*link).serves_still(*wire)).collect();
        let feeders = self.feeders();
        let mut meters: Vec<&mut M::Link> = self.links.transits.iter_mut().map(|lane| &mut lane.meter).collect();
        let (links, transfers) = self.links.meters.turn(until, &mut meters, &feeders);
        for ((link, wire), wait) in serving.into_iter().zip(unfinished) {
            self.meter(link).serves(wait, wire);
        }
        let mut flows = vec![FlowMeter::default(); self.links.shown as usize / 2];
        for (host, h) in self.hosts[..self.links.shown as usize].iter_mut().enumerate() {
            h.meter.read(&mut flows[host / 2], host % 2 == 0);
        }
        Some(Meters { flows, links, transfers })
    }

    /// The links whose departures are events and whose transmitter is busy beyond the period, with the size of the packet there.
    /// Packets that have left since the last look at them are removed first.
    fn serving(&mut self) -> Vec<(u32, u32)> {
        let links = &mut self.links;
        let mut serving = Vec::new();
        for link in 0..links.transits.len() as u32 {
            if !links.transits[link as usize].is_queued() {
                continue;
            }
            links.depart_up_to(link, links.so_far);
            let queue = &links.ports[links.transits[link as usize].port()].queue;
            let served = queue.as_ref().and_then(|q| q.serving()).filter(|s| links.meters.is_later(s.until));
            serving.extend(served.map(|s| (link, s.wire)));
        }
        serving
    }

    fn meter(&mut self, link: u32) -> &mut M::Link {
        &mut self.links.transits[link as usize].meter
    }

    /// The link with which each link is fused: all its packets enter both at once. Queued links, whose departures are events, are
    /// left out.
    fn feeders(&self) -> Vec<Option<u32>> {
        let mut feeders = vec![None; self.links.transits.len()];
        for hops in self.links.hops.windows(2).filter(|hops| hops[1] != HOST && hops[1] & FUSED != 0) {
            let feeder = hops[0] & !FUSED;
            if !self.links.transits[feeder as usize].is_queued() {
                feeders[(hops[1] & !FUSED) as usize] = Some(feeder);
            }
        }
        feeders
    }

    /// Payload bytes of a flow that its sender knows to be delivered; 0 if there is no such flow.
    pub fn acked(&self, flow: u32) -> Bytes {
        self.hosts.get(2 * flow as usize).map_or(0, |h| h.tcp.acked())
    }
}
