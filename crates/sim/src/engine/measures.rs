//! Measurements, brought up to the time of the run.

use super::links::Links;
use super::Network;
use crate::host::Endpoint;
use crate::measures::Meters;
use crate::topology::{FUSED, HOST};
use crate::transit::Transit;
use crate::watch::Watch;
use ackclock_tcp::units::Bytes;

impl<W: Watch, E: Endpoint> Network<W, E> {
    /// The measurements so far; `None` where nothing is measured. The call does not affect the run.
    pub fn measured(&mut self) -> Option<&mut Meters> {
        self.links.watch.meters()?;
        // Packets that have left queues since the last look at them.
        for link in 0..self.links.transits.len() as u32 {
            if self.links.transits[link as usize].is(Transit::QUEUED) {
                self.links.depart_up_to(link, self.links.so_far);
            }
        }
        let feeder = self.feeders();
        let Links { watch, transits, .. } = &mut self.links;
        let meters = watch.meters()?;
        let loads = transits.iter_mut().enumerate().map(|(link, transit)| (link as u32, transit.unload()));
        meters.settle(loads, &feeder);
        Some(meters)
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
