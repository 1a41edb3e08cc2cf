//! A computed link whose elements add to its delay, so packets may overtake each other behind its transmitter.
//!
//! Departures are known when packets enter, and a packet's delay depends only on its departure. So a packet has one event here, its
//! arrival, and the link can be fused with the previous one, but not with the next.

use super::links::Links;
use crate::measures::Metering;
use crate::next_event::NEVER;
use crate::watch::Watch;

impl<W: Watch, M: Metering> Links<W, M> {
    /// A packet would arrive at the end of a computed link at `at`, but elements add to its delay.
    #[inline(never)]
    pub(super) fn lengthen(&mut self, packet: u32, link: u32, at: u64) {
        let transit = &self.transits[link as usize];
        let (delay, port) = (transit.pace.delay, transit.port());
        let Some(flight) = self.ports[port].flight.as_mut() else { return };
        let before = flight.next();
        flight.begin(packet, at - delay, delay);
        if flight.next() != before {
            self.next.set(link as usize, flight.next().map_or(NEVER, |t| self.keys.key(t, link)));
        }
    }

    /// The first packet in flight on a computed link whose elements add to its delay has arrived.
    #[inline(never)]
    pub(super) fn land(&mut self, link: u32) -> Option<u32> {
        let port = self.transits[link as usize].port();
        let flight = self.ports[port].flight.as_mut()?;
        let landed = flight.land(self.now);
        self.next.set(link as usize, flight.next().map_or(NEVER, |t| self.keys.key(t, link)));
        landed
    }
}
