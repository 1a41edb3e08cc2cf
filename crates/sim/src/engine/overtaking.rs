//! A computed link whose elements hold packets back at its entry, or add to its delay, so packets may overtake each other.
//!
//! Departures are known when packets enter the queue, and a packet's delay depends only on its departure. So a packet has one event
//! here for its arrival, and one for each time that it was held back. The link can be fused with the previous one if nothing acts
//! before its queue, and with the next one if nothing acts behind it.

use super::links::Links;
use crate::element::port::Overtaking;
use crate::measures::Metering;
use crate::next_event::NEVER;
use crate::watch::Watch;

impl<W: Watch, M: Metering> Links<W, M> {
    /// The packet that was just put into the transit of the link is in flight instead, and arrives at `at` or later.
    #[cold]
    #[inline(never)]
    pub(super) fn overtake(&mut self, link: u32, at: u64) {
        let (packet, _) = self.transits[link as usize].pop(&self.slab);
        self.fly_overtaking(packet, link, at);
    }

    /// A packet is in flight, and arrives at the end of the link at `at`, or later if elements add to its delay.
    pub(super) fn fly_overtaking(&mut self, packet: u32, link: u32, at: u64) {
        let transit = &self.transits[link as usize];
        let (delay, port) = (transit.pace.delay, transit.port());
        let Some(overtaking) = self.ports[port].overtaking.as_mut() else { return };
        if overtaking.flight.begin(packet, at - delay, delay) {
            self.rekey_overtaking(link);
        }
    }

    /// Packets that need no longer be held back continue, then one packet arrives.
    #[cold]
    #[inline(never)]
    pub(super) fn overtaking_event(&mut self, link: u32) -> Option<u32> {
        let port = self.transits[link as usize].port();
        let overtaking = self.ports[port].overtaking.as_mut()?;
        if overtaking.held.next().is_some_and(|t| t <= self.now) {
            self.release(link);
        }
        let overtaking = self.ports[port].overtaking.as_mut()?;
        let landed = overtaking.flight.land(self.now);
        self.next.set(link as usize, overtaking.next().map_or(NEVER, |t| self.keys.key(t, link)));
        landed
    }

    #[inline(never)]
    fn release(&mut self, link: u32) {
        let port = self.transits[link as usize].port();
        while let Some(late) =
            self.ports[port].overtaking.as_mut().and_then(|overtaking| overtaking.held.release(self.now))
        {
            self.pass(link, late.place, late.gate as usize, late.packet);
        }
    }

    /// Sets the time of the link's next event.
    pub(super) fn rekey_overtaking(&mut self, link: u32) {
        let overtaking = &self.ports[self.transits[link as usize].port()].overtaking;
        let next = overtaking.as_ref().and_then(Overtaking::next);
        self.next.set(link as usize, next.map_or(NEVER, |t| self.keys.key(t, link)));
    }
}
