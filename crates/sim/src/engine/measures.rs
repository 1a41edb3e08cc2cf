//! Measurements, brought up to the time of the run.

use super::Network;
use crate::host::Endpoint;
use crate::measures::{FlowMeter, HostMetering, Metering, Meters, RunMetering};
use crate::topology::{FUSED, HOST};
use crate::transit::Transit;
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
        // Packets that have left queues since the last look at them.
        for link in 0..self.links.transits.len() as u32 {
            if self.links.transits[link as usize].is(Transit::QUEUED) {
                self.links.depart_up_to(link, self.links.so_far);
            }
        }
        let feeders = self.feeders();
        let mut meters: Vec<&mut M::Link> = self.links.transits.iter_mut().map(|lane| &mut lane.meter).collect();
        let (links, transfers) = self.links.meters.turn(until, &mut meters, &feeders);
        let mut flows = vec![FlowMeter::default(); self.links.shown as usize / 2];
        for (host, h) in self.hosts[..self.links.shown as usize].iter_mut().enumerate() {
            h.meter.read(&mut flows[host / 2], host % 2 == 0);
        }
        Some(Meters { flows, links, transfers })
    }

    /// The link with which each link is fused: all its packets enter both at once.
    fn feeders(&self) -> Vec<Option<u32>> {
        let mut feeders = vec![None; self.links.transits.len()];
        for hops in self.links.hops.windows(2).filter(|hops| hops[1] != HOST && hops[1] & FUSED != 0) {
            feeders[(hops[1] & !FUSED) as usize] = Some(hops[0] & !FUSED);
        }
        feeders
    }

    /// Payload bytes of a flow that its sender knows to be delivered; 0 if there is no such flow.
    pub fn acked(&self, flow: u32) -> Bytes {
        self.hosts.get(2 * flow as usize).map_or(0, |h| h.tcp.acked())
    }
}
