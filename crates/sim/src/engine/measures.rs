//! Measurements, brought up to the time of the run.

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
        let hops = &self.links.hops;
        let links = |chain: usize| {
            let path = chain.checked_sub(hops.len()).map(|path| path as u32);
            let first = hops.get(chain).filter(|hop| **hop != HOST).map(|hop| hop & !FUSED);
            let behind = hops.get(chain + 1..).unwrap_or_default();
            let fused = behind.iter().take_while(|hop| **hop != HOST && *hop & FUSED != 0).map(|hop| hop & !FUSED);
            path.or(first).into_iter().chain(fused)
        };
        let meters = self.links.watch.meters()?;
        meters.settle(links);
        Some(meters)
    }

    /// Payload bytes of a flow that its sender knows to be delivered; 0 if there is no such flow.
    pub fn acked(&self, flow: u32) -> Bytes {
        self.hosts.get(2 * flow as usize).map_or(0, |h| h.tcp.acked())
    }
}
