//! A link with an explicit queue, for elements that act on waiting packets or after their transmission. Where a computed transit
//! (`link.rs`) is also possible, both give the same results.

use super::drop_tail::Limit;
use super::flight::Flight;
use super::held::Held;
use super::packet::Backlog;
use super::{Order, Service};
use crate::next_event::{Keys, NEVER};
use crate::transit::{Pace, Transmitter};
use std::collections::VecDeque;

/// Packets that wait, are in transmission, in flight, or held back.
pub(crate) struct QueuedLink {
    limit: Limit,
    /// (packet, size)
    waiting: VecDeque<(u32, u32)>,
    serving: Option<Serving>,
    transmitter: Transmitter,
    pub(crate) flight: Flight,
    pub(crate) held: Held,
    /// Replaces the link's rate.
    pub(crate) service: Option<Service>,
    /// Changes the order of waiting packets.
    pub(crate) order: Option<Order>,
    /// Bytes waiting and in transmission.
    bytes: u64,
    arrivals: u64,
    longest: u32,
    /// Nothing follows the transmitter, so the time at which a packet leaves it is computed only when it matters.
    pub(crate) patient: bool,
}

/// The last event in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A packet has arrived and is the last in the queue. `data`: it takes up sequence numbers.
    Arrived { data: bool },
    /// The transmitter will take the first packet now.
    Service,
}

/// A packet in transmission, and the time when it ends.
#[derive(Clone, Copy)]
pub(crate) struct Serving {
    pub(crate) packet: u32,
    pub(crate) wire: u32,
    pub(crate) until: u64,
}

impl QueuedLink {
    pub(crate) fn new(limit: Limit) -> Self {
        QueuedLink {
            limit,
            waiting: VecDeque::new(),
            serving: None,
            transmitter: Transmitter::default(),
            flight: Flight::default(),
            held: Held::default(),
            service: None,
            order: None,
            bytes: 0,
            arrivals: 0,
            longest: 0,
            patient: false,
        }
    }

    /// The time of the next event here, on a link with this delay. If the link is patient and nothing adds to the delay, a
    /// departure is not an event.
    #[inline]
    pub(crate) fn next_at(&self, delay: u64) -> Option<u64> {
        let lands = self.flight.next();
        if self.patient && self.flight.keeps_order() && self.held.is_empty() {
            return lands.or_else(|| self.departure().map(|t| t + delay));
        }
        let times = [self.departure(), lands, self.held.next()];
        let first = times.iter().fold(NEVER, |first, time| first.min(time.unwrap_or(NEVER)));
        (first != NEVER).then_some(first)
    }

    /// Whether the next event will still be the arrival of the packet that has been in flight longest.
    #[inline]
    pub(crate) fn lands_next(&self) -> bool {
        self.patient && self.flight.next().is_some() && self.flight.keeps_order() && self.held.is_empty()
    }

    /// Whether a packet's arrival is known when it leaves the transmitter. Nothing may hold packets back at the entry.
    pub(crate) fn knows_arrivals(&self) -> bool {
        self.patient && self.flight.keeps_order()
    }

    /// The packet in transmission.
    pub(crate) fn serving(&self) -> Option<Serving> {
        self.serving
    }

    /// When the packet in transmission leaves.
    pub(crate) fn departure(&self) -> Option<u64> {
        self.serving.map(|s| s.until)
    }

    /// A packet arrives at the queue; `data`: whether it takes up sequence numbers. Returns `Err`, with its number among the
    /// arrivals (from 0), if it does not fit. `serves` is called for each packet whose transmission begins, with the time.
    pub(crate) fn offer(
        &mut self,
        packet: u32,
        wire: u32,
        data: impl FnOnce() -> bool,
        now: u64,
        pace: &Pace,
        serves: impl FnMut(&Serving, u64),
    ) -> Result<(), u64> {
        let nth = self.arrivals;
        self.arrivals += 1;
        let serving = self.serving.map_or(0, |s| s.wire);
        if !self.limit.admits(self.len(), self.bytes, serving, wire) {
            return Err(nth);
        }
        self.bytes += u64::from(wire);
        self.waiting.push_back((packet, wire));
        if let Some(order) = &mut self.order {
            order.arrange(Moment::Arrived { data: data() }, &mut self.waiting);
        }
        if self.serving.is_none() {
            self.serve(now, pace, serves);
        }
        self.longest = self.longest.max(self.len());
        Ok(())
    }

    /// The state of the queue for an arriving packet of `wire` bytes.
    pub(crate) fn backlog(&self, wire: u32) -> Backlog {
        let serving = self.serving.map_or(0, |s| s.wire);
        Backlog {
            packets: self.waiting.len() as u32,
            bytes: self.bytes - u64::from(serving),
            full: !self.limit.admits(self.len(), self.bytes, serving, wire),
            idle_since: self.serving.is_none().then(|| self.transmitter.free_at()),
        }
    }

    fn serve(&mut self, now: u64, pace: &Pace, mut serves: impl FnMut(&Serving, u64)) {
        if let Some(order) = &mut self.order {
            order.arrange(Moment::Service, &mut self.waiting);
        }
        self.serving = self.waiting.pop_front().map(|(packet, wire)| {
            let until = match &mut self.service {
                None => self.transmitter.send(now, wire, pace),
                Some(service) => {
                    let until = service.send(now, wire);
                    self.transmitter.busy_until(until);
                    until
                }
            };
            let serving = Serving { packet, wire, until };
            serves(&serving, now);
            serving
        });
    }

    /// The packet in transmission leaves, and the transmission of the next one begins.
    pub(crate) fn depart(&mut self, pace: &Pace, serves: impl FnMut(&Serving, u64)) -> Option<u32> {
        let s = self.serving?;
        self.bytes -= u64::from(s.wire);
        self.serve(s.until, pace, serves);
        Some(s.packet)
    }

    /// Whether the departure key of the packet in transmission is not above `so_far`.
    #[inline]
    pub(crate) fn has_left(&self, so_far: u64, keys: Keys, link: u32) -> bool {
        self.serving.is_some_and(|s| keys.key(s.until, link) <= so_far)
    }

    /// The packet in transmission, if its departure key is not above `so_far`: it leaves, and the next transmission begins.
    #[inline]
    pub(crate) fn leaves_by(
        &mut self,
        so_far: u64,
        keys: Keys,
        link: u32,
        pace: &Pace,
        serves: impl FnMut(&Serving, u64),
    ) -> Option<Serving> {
        let s = self.serving.filter(|_| self.has_left(so_far, keys, link))?;
        self.bytes -= u64::from(s.wire);
        self.serve(s.until, pace, serves);
        Some(s)
    }

    /// Lets packets with a departure key up to `so_far` leave a patient link's transmitter.
    #[inline]
    pub(crate) fn leave_up_to(
        &mut self,
        so_far: u64,
        keys: Keys,
        link: u32,
        pace: &Pace,
        mut serves: impl FnMut(&Serving, u64),
    ) {
        while let Some(s) = self.leaves_by(so_far, keys, link, pace, &mut serves) {
            self.fly(s.packet, s.until, pace.delay);
        }
    }

    /// `packet` leaves a link with this delay at `now`.
    #[inline]
    pub(crate) fn fly(&mut self, packet: u32, now: u64, delay: u64) {
        self.flight.begin(packet, now, delay);
    }

    /// The packet that has arrived by `now`, if any.
    pub(crate) fn land(&mut self, now: u64) -> Option<u32> {
        self.flight.land(now)
    }

    /// The number of waiting packets, without the one in transmission.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The packets at two positions of the queue change places together with their sizes, so transmission times follow.
    pub(crate) fn exchange(&mut self, a: usize, b: usize) {
        self.waiting.swap(a, b);
    }

    /// Packets and bytes, the one in transmission included.
    pub(crate) fn held(&self) -> (u32, u64) {
        (self.len(), self.bytes)
    }

    /// The longest queue so far in packets, the packet in transmission included.
    pub(crate) fn longest(&self) -> u32 {
        self.longest
    }

    /// All packets on this link.
    pub(crate) fn count(&self) -> u32 {
        self.len() + self.flight.count() + self.held.count()
    }

    fn len(&self) -> u32 {
        self.waiting.len() as u32 + u32::from(self.serving.is_some())
    }
}
