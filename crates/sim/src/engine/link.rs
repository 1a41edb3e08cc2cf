//! A link whose departures are known when packets enter: nothing can act on a waiting packet, so no packet has to wait in a
//! queue.
//!
//! If only this link feeds the next link of a packet, all arrivals at that link are known as well, and the packet enters it in
//! the same step (*fused*). A bottleneck in front of access links then has no event of its own, and a flow that is alone on its
//! path has one event for each packet. Times, drops and their order are the same as without fusing.

use super::links::Links;
use crate::element::drop_tail::DropTail;
use crate::element::held::Late;
use crate::element::packet::{Backlog, Fate, Place, Seen};
use crate::element::queued_link::Serving;
use crate::measures::{LinkMetering, Metering, RunMetering};
use crate::next_event::NEVER;
use crate::slab::Slab;
use crate::topology::FUSED;
use crate::transit::Lane;
use crate::watch::{DropWhy, Watch};
use ackclock_tcp::time::Time;

impl<W: Watch, M: Metering> Links<W, M> {
    /// A packet arrives at `link`.
    #[inline(always)]
    pub(crate) fn enter(&mut self, packet: u32, link: u32) {
        if self.transits[link as usize].is_entered_by_port() {
            self.enter_gates(packet, link);
        } else {
            self.transmit(packet, link, self.now, self.so_far);
        }
    }

    #[inline(never)]
    fn enter_gates(&mut self, packet: u32, link: u32) {
        if self.transits[link as usize].is_queued() {
            if self.enter_queue(packet, link) {
                return;
            }
            self.depart_up_to(link, self.so_far);
        }
        self.pass(link, Place::Entry, 0, packet);
        self.rekey(link);
    }

    /// A packet arrives at a patient queued link without gates, handled in one go; `false` if the link is of another kind.
    #[inline]
    fn enter_queue(&mut self, packet: u32, link: u32) -> bool {
        let hands_on = self.transits[link as usize].hands_on();
        if hands_on {
            self.hand_on(link, self.so_far);
        }
        let (transit, meter) = self.transits[link as usize].parts();
        let port = &mut self.ports[transit.port()];
        let simple = port.entry.is_empty() && port.split.is_none();
        let Some(q) = port.queue.as_mut().filter(|q| q.patient && simple) else { return false };
        // A link that hands on only has to be woken: before the packet in transmission would arrive, or before an earlier one would.
        let known = if hands_on { q.serving().is_some() } else { q.lands_next() };
        if M::ON {
            self.slab[packet].arrived = self.now;
        }
        let mut serves = serves::<M>(meter, &self.slab);
        if !hands_on {
            q.leave_up_to(self.so_far, self.keys, link, &transit.pace, &mut serves);
        }
        let p = &self.slab[packet];
        let offered = q.offer(packet, p.wire, || p.seg.seq_len() > 0, self.now, &transit.pace, serves);
        if !known {
            self.next.set(link as usize, q.next_at(transit.pace.delay).map_or(NEVER, |t| self.keys.key(t, link)));
        }
        match offered {
            Err(nth) => self.drop_packet(packet, link, link, nth, DropWhy::Queue),
            Ok(()) if W::HEARS_QUEUES && port.reports => {
                let (packets, bytes) = q.held();
                self.watch.queue(Time(self.now), link, packets, bytes);
            }
            Ok(()) => {}
        }
        true
    }

    /// The link hands on: packets with a departure key up to `so_far` leave its transmitter and enter the next link, although they
    /// will arrive there later.
    #[inline(never)]
    fn hand_on(&mut self, link: u32, so_far: u64) {
        loop {
            let (transit, meter) = self.transits[link as usize].parts();
            let (port, pace) = (transit.port(), transit.pace);
            let serves = serves::<M>(meter, &self.slab);
            let Some(q) = self.ports[port].queue.as_mut() else { return };
            let Some(left) = q.leaves_by(so_far, self.keys, link, &pace, serves) else { return };
            // Known here, while the queue is at hand: usually no other packet has left.
            let another = q.has_left(so_far, self.keys, link);
            let p = &mut self.slab[left.packet];
            p.hop += 1;
            let (next, lands) = (self.hops[p.hop as usize] & !FUSED, left.until + pace.delay);
            self.transmit(left.packet, next, lands, self.keys.key(lands, link));
            if !another {
                return;
            }
        }
    }

    /// A packet arrives at the queue of a computed link at `arrived`, after everything up to the key `so_far`, and at once at those fused
    /// with it. Determines when and where it will arrive next.
    #[inline(always)]
    fn transmit(&mut self, packet: u32, mut link: u32, arrived: u64, mut so_far: u64) {
        let p = &self.slab[packet];
        let (first, wire, mut hop) = (link, p.wire, p.hop as usize);
        let mut at = arrived;
        loop {
            let Some(then) = self.give(link, wire, at, so_far) else {
                return self.refuse(packet, first, link, hop, so_far);
            };
            at = then;
            let next = self.hops[hop + 1];
            if next & FUSED == 0 {
                break;
            }
            // Fused: time has advanced to the arrival that we skipped.
            so_far = self.keys.key(at, link);
            (hop, link) = (hop + 1, next & !FUSED);
        }
        self.slab[packet].hop = hop as u32;
        if M::ON && self.meters.is_later(at) {
            one_by_one::<M>(&mut self.meters, &mut self.transits, first, &self.hops[..=hop], arrived, wire);
            self.transits[link as usize].meter.carries_still(wire);
        }
        let (key, transit) = (self.keys.key(at, link), &mut self.transits[link as usize]);
        transit.meter.carried(wire);
        if !self.shared.push(transit.shared, &mut self.slab, packet, key) && transit.push(&mut self.slab, packet, key) {
            // A transit whose packets are in the port is always empty, so only empty ones are asked.
            match transit.is_overtaking() {
                true => self.overtake(link, at),
                false => self.next.set(link as usize, key),
            }
        }
    }

    /// Gives a computed link a packet of `wire` bytes at `now`, after everything up to the key `so_far`. Returns when it will be at
    /// the end; `None` if its queue is full.
    #[inline(always)]
    fn give(&mut self, link: u32, wire: u32, now: u64, so_far: u64) -> Option<u64> {
        let transit = &mut self.transits[link as usize];
        if !transit.is_limited() {
            return Some(transit.send(now, wire) + transit.pace.delay);
        }
        let port = transit.port();
        let tail = self.ports[port].tail.as_mut()?;
        if !tail.has_room(so_far) && !self.take_off(port, so_far, wire) {
            return None;
        }
        let transit = &mut self.transits[link as usize];
        let (leaves, port) = (transit.send(now, wire), &mut self.ports[port]);
        let tail = port.tail.as_mut()?;
        tail.push(self.keys.key(leaves, link), wire, now <= self.end.0);
        if W::HEARS_QUEUES && port.reports {
            let (packets, bytes) = tail.held();
            self.watch.queue(Time(now), link, packets, bytes);
        }
        Some(leaves + transit.pace.delay)
    }

    /// Whether a packet fits into a queue after all departures up to the key `so_far`. It takes `&mut self` on purpose: with a narrower
    /// borrow LLVM hoists the caller's loads out of the loop, and every packet pays for them.
    #[inline(never)]
    fn take_off(&mut self, port: usize, so_far: u64, wire: u32) -> bool {
        self.ports[port].tail.as_mut().is_some_and(|tail| tail.take_off(so_far, wire))
    }

    /// A packet does not fit in the queue of a computed link. If the link is fused with the previous one, the packet is still in
    /// flight there: it continues to the end of that link (the event with key `arrival`), and is dropped then. `first` is the link
    /// that it has entered, before those fused with it.
    #[cold]
    fn refuse(&mut self, packet: u32, first: u32, link: u32, hop: usize, arrival: u64) {
        if self.hops[hop] & FUSED == 0 {
            return self.drop_packet(packet, link, link, self.nth(link), DropWhy::Queue);
        }
        let (nth, before) = (self.nth(link), self.keys.element_of(arrival));
        let p = &mut self.slab[packet];
        p.hop = hop as u32 - 1;
        p.arrived = nth;
        if M::ON {
            one_by_one::<M>(&mut self.meters, &mut self.transits, first, &self.hops[..hop], self.now, p.wire);
        }
        if self.transits[before as usize].is_overtaking() {
            return self.fly_overtaking(packet, before, self.keys.time_of(arrival));
        }
        if self.transits[before as usize].push(&mut self.slab, packet, arrival) {
            self.next.set(before as usize, arrival);
        }
    }

    /// A packet that a fused link refused has arrived at that link.
    #[cold]
    pub(super) fn found_full(&mut self, packet: u32, link: u32) {
        debug_assert!(!W::HEARS_QUEUES, "links that can drop are fused only if no listener is told about queues");
        let nth = self.slab[packet].arrived;
        self.drop_packet(packet, link & !FUSED, link & !FUSED, nth, DropWhy::Queue);
    }

    /// The number of the latest arrival at the limited queue of a computed link.
    fn nth(&self, link: u32) -> u64 {
        self.ports[self.transits[link as usize].port()].tail.as_ref().map_or(0, DropTail::nth)
    }

    /// A packet passes the gates at `place`, from number `gate` on, and continues behind them.
    pub(super) fn pass(&mut self, link: u32, place: Place, gate: usize, packet: u32) {
        let port = &mut self.ports[self.transits[link as usize].port()];
        let p = &self.slab[packet];
        let backlog = port.queue.as_ref().map_or(Backlog::NONE, |q| q.backlog(p.wire));
        let flow = if p.to < self.shown { p.to / 2 } else { Seen::NO_FLOW };
        let seen = Seen { now: self.now, wire: p.wire, data: p.seg.seq_len() > 0, flow, backlog };
        for (i, g) in port.gates(place).iter_mut().enumerate().skip(gate) {
            match g.judge(&seen) {
                (Fate::Pass, _) => {}
                (Fate::Drop(why), nth) => {
                    let element = g.element;
                    return self.drop_packet(packet, link, element, nth, why);
                }
                (Fate::Mark, nth) => {
                    if !self.slab[packet].seg.mark_congestion() {
                        let element = g.element;
                        return self.drop_packet(packet, link, element, nth, DropWhy::Early);
                    }
                    self.counts[link as usize].marks += 1;
                }
                (Fate::Delay(d), _) => {
                    let late = Late { at: self.now + d.0, packet, place, gate: i as u32 + 1 };
                    port.hold(late);
                    return;
                }
                (Fate::Duplicate, _) => {
                    let twin = self.double(packet);
                    self.pass(link, place, i + 1, packet);
                    return self.pass(link, place, i + 1, twin);
                }
            }
        }
        match place {
            Place::Entry => self.offer(link, packet),
            Place::Exit => self.fly(link, packet),
        }
    }

    /// A packet that has passed the gates is offered to the queue.
    fn offer(&mut self, link: u32, packet: u32) {
        let transit = &self.transits[link as usize];
        if let Some(split) = &mut self.ports[transit.port()].split {
            let path = split.next(self.slab[packet].to, self.now);
            if self.transits[path as usize].is_entered_by_port() {
                return self.enter_gates(packet, path);
            }
            return self.transmit(packet, path, self.now, self.so_far);
        }
        if !transit.is_queued() {
            return self.transmit(packet, link, self.now, self.so_far);
        }
        self.depart_up_to(link, self.so_far);
        let (transit, meter) = self.transits[link as usize].parts();
        let port = &mut self.ports[transit.port()];
        let Some(q) = port.queue.as_mut() else { return };
        if M::ON {
            self.slab[packet].arrived = self.now;
        }
        let p = &self.slab[packet];
        let serves = serves::<M>(meter, &self.slab);
        if let Err(nth) = q.offer(packet, p.wire, || p.seg.seq_len() > 0, self.now, &transit.pace, serves) {
            return self.drop_packet(packet, link, link, nth, DropWhy::Queue);
        }
        if W::HEARS_QUEUES && port.reports {
            let (packets, bytes) = q.held();
            self.watch.queue(Time(self.now), link, packets, bytes);
        }
    }

    /// A packet has left the transmitter and the gates behind it.
    fn fly(&mut self, link: u32, packet: u32) {
        let transit = &self.transits[link as usize];
        if let Some(q) = self.ports[transit.port()].queue.as_mut() {
            q.fly(packet, self.now, transit.pace.delay);
        }
    }

    /// Lets packets with a departure key up to `so_far` leave a queued link's transmitter.
    pub(crate) fn depart_up_to(&mut self, link: u32, so_far: u64) {
        let (transit, meter) = self.transits[link as usize].parts();
        if transit.hands_on() {
            return self.hand_on(link, so_far);
        }
        let (port, pace) = (transit.port(), transit.pace);
        if let Some(q) = self.ports[port].queue.as_mut().filter(|q| q.patient) {
            return q.leave_up_to(so_far, self.keys, link, &pace, serves::<M>(meter, &self.slab));
        }
        while let Some(q) =
            self.ports[port].queue.as_mut().filter(|q| q.departure().is_some_and(|t| self.keys.key(t, link) <= so_far))
        {
            let meter = &mut self.transits[link as usize].meter;
            let left = q.depart(&pace, serves::<M>(meter, &self.slab));
            let Some(packet) = left else { return };
            self.pass(link, Place::Exit, 0, packet);
        }
    }

    /// A link whose packets are in its port has a due event. With an explicit queue: departures first, then packets held back,
    /// then one arrival at the far end. Returns the packet that arrives.
    #[inline]
    pub(super) fn port_event(&mut self, link: u32) -> Option<u32> {
        let (transit, meter) = self.transits[link as usize].parts();
        if transit.is_overtaking() {
            return self.overtaking_event(link);
        }
        if transit.hands_on() {
            return self.wake_link(link);
        }
        let port = transit.port();
        if let Some(q) = self.ports[port].queue.as_mut().filter(|q| q.patient && q.held.is_empty()) {
            let serves = serves::<M>(meter, &self.slab);
            q.leave_up_to(self.so_far, self.keys, link, &transit.pace, serves);
            let landed = q.land(self.now);
            self.next.set(link as usize, q.next_at(transit.pace.delay).map_or(NEVER, |t| self.keys.key(t, link)));
            return landed;
        }
        self.impatient_event(link, port)
    }

    /// A link that hands on is woken, in case nothing has arrived there for a while.
    #[inline(never)]
    fn wake_link(&mut self, link: u32) -> Option<u32> {
        self.hand_on(link, self.so_far);
        self.rekey(link);
        None
    }

    #[inline(never)]
    fn impatient_event(&mut self, link: u32, port: usize) -> Option<u32> {
        self.depart_up_to(link, self.so_far);
        while let Some(late) = self.ports[port].queue.as_mut().and_then(|q| q.held.release(self.now)) {
            self.pass(link, late.place, late.gate as usize, late.packet);
            self.depart_up_to(link, self.so_far);
        }
        let landed = self.ports[port].queue.as_mut().and_then(|q| q.land(self.now));
        self.rekey(link);
        landed
    }

    /// Sets the time of the next event of a link whose packets are in its port.
    fn rekey(&mut self, link: u32) {
        let transit = &self.transits[link as usize];
        if transit.is_queued() {
            let (port, delay) = (transit.port(), transit.pace.delay);
            let next = self.ports[port].queue.as_ref().and_then(|q| q.next_at(delay));
            self.next.set(link as usize, next.map_or(NEVER, |t| self.keys.key(t, link)));
        } else if transit.is_overtaking() {
            self.rekey_overtaking(link);
        }
    }
}

/// Measures, link by link, a packet of `wire` bytes that entered `first` and those fused with it at `now`. `hops` end with the last of
/// them. On each, the packet is the last one given to the transmitter.
#[cold]
#[inline(never)]
fn one_by_one<M: Metering>(
    meters: &mut M::Run,
    lanes: &mut [Lane<M::Link>],
    first: u32,
    hops: &[u32],
    now: u64,
    wire: u32,
) {
    // The first may itself be fused with a queued link that hands on.
    let fused = hops.iter().rev().take_while(|hop| **hop & FUSED != 0 && **hop & !FUSED != first).count();
    let links = std::iter::once(first).chain(hops[hops.len() - fused..].iter().map(|hop| hop & !FUSED));
    let mut arrived = now;
    for link in links {
        let lane = &mut lanes[link as usize];
        let (leaves, wait) = (lane.transmitter.free_at(), lane.transmitter.began(wire, &lane.pace) - arrived);
        if meters.is_later(leaves) {
            lane.meter.waits_still(wait);
            meters.waits(leaves, link, wait);
        }
        meters.leaves(leaves, link, wire);
        arrived = leaves + lane.pace.delay;
    }
}

/// Measures a packet of a queued link whose transmission begins.
#[inline(always)]
fn serves<'a, M: Metering>(meter: &'a mut M::Link, slab: &'a Slab) -> impl FnMut(&Serving, u64) + use<'a, M> {
    move |s, began| {
        if M::ON {
            meter.serves(began - slab[s.packet].arrived, s.wire);
        }
    }
}
