//! The hosts' work: delivery, timers, sending.

use super::links::Links;
use super::Network;
use crate::app::App;
use crate::host::{side, Endpoint, Host, Tap, UNARMED};
use crate::measures::{HostMetering, Metering, NO_STAMP};
use crate::watch::{Side, Watch};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::Time;

impl<W: Watch, E: Endpoint, M: Metering> Network<W, E, M> {
    /// A packet has reached its host.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, packet: u32) {
        let links = &mut self.links;
        let p = &links.slab[packet];
        let (host, now) = (p.to, Time(links.now));
        let Some(h) = self.hosts.get_mut(host as usize) else { return self.deliver_background(packet) };
        if W::ENABLED {
            links.watch.arrived(now, host / 2, side(host), p.number, &p.seg);
            links.watch.delivered(now, host / 2, side(host), &p.seg, p.wire, p.sends);
        }
        h.meter.on_arrival(now.0, p.stamp, p.number);
        if h.hears_drops {
            h.hear_drops(&mut links.fates[host as usize / 2]);
        }
        if !h.tcp.on_expected(now, &p.seg, &mut Tap { watch: &mut links.watch, host }) {
            h.on_unexpected(links, packet, host);
        }
        links.slab.free(packet);
        let mut caught_up = false;
        if let App::Running { bytes } = h.app
            && h.tcp.acked() >= bytes
        {
            h.app = App::Done { at: now };
            caught_up = true;
        }
        if let Some(at) = h.pump(links, host) {
            self.set_host_timer(host, Some(at));
        }
        if caught_up {
            self.caught_up(host);
        }
    }

    /// A host's wake-up: its application begins, or its TCP checks whether a timer is really due.
    #[inline(never)]
    pub(crate) fn wake(&mut self, host: u32) {
        let links = &mut self.links;
        let now = Time(links.now);
        let h = &mut self.hosts[host as usize];
        if h.hears_drops {
            h.hear_drops(&mut links.fates[host as usize / 2]);
        }
        let writer = self.turns.is_writer(host);
        if let (App::Waiting { .. }, true) = (h.app, writer) {
            self.turns.begin(host, now.0);
        } else if let App::Waiting { bytes, close, .. } = h.app {
            h.app = App::Running { bytes };
            h.tcp.write(bytes);
            if close {
                h.close_when_open(bytes);
            }
        } else if h.tcp.next_timer().is_some_and(|t| t <= now) {
            h.tcp.on_timer(now, &mut Tap::new(&mut links.watch, host, links.shown));
        }
        h.armed = UNARMED;
        self.set_host_timer(host, None);
        if writer {
            self.write_piece(host);
        }
        self.pump(host);
    }

    /// Sends everything that a host has to send now, and arms its wake-up if it must be earlier.
    pub(super) fn pump(&mut self, host: u32) {
        if let Some(at) = self.hosts[host as usize].pump(&mut self.links, host) {
            self.set_host_timer(host, Some(at));
        }
    }
}

impl<E: Endpoint, H: HostMetering> Host<E, H> {
    /// The TCP has to examine a packet in full.
    #[inline(never)]
    pub(super) fn on_unexpected<W: Watch, M: Metering<Host = H>>(
        &mut self,
        links: &mut Links<W, M>,
        packet: u32,
        host: u32,
    ) {
        let p = &links.slab[packet];
        let mut tap = Tap::new(&mut links.watch, host, links.shown);
        let outcome = self.tcp.on_unexpected(Time(links.now), &p.seg, &mut tap);
        if let App::Opening { bytes } = self.app {
            self.close_when_open(bytes);
        }
        if outcome.refused.is_some() || outcome.bytes != p.seg.len {
            self.not_all_taken(links, packet, host, outcome.refused);
        }
    }

    /// The TCP did not take a packet, or not all of it. Data that it already had does not count.
    #[cold]
    fn not_all_taken<W: Watch, M: Metering<Host = H>>(
        &self,
        links: &mut Links<W, M>,
        packet: u32,
        host: u32,
        refused: Option<Refusal>,
    ) {
        let p = &links.slab[packet];
        let missing = self.tcp.missing(p.seg.seq, p.seg.end());
        // If no reason is given, the window cut the segment, or the receiver could hold no more ranges.
        let why = refused.unwrap_or(Refusal::Window);
        // An old duplicate is outside the window as well.
        if missing.is_empty() && why == Refusal::Window && p.seg.seq_len() > 0 {
            return;
        }
        if W::ENABLED && p.to < links.shown {
            links.watch.refused(Time(links.now), host / 2, side(host), why, &p.seg, p.sends, &missing);
        }
        let (seg, sends) = (p.seg, p.sends);
        links.write_down(host, &seg, sends, &missing);
    }

    /// Sends everything that there is to send now. Returns the time at which the host must be woken, if that is
    /// earlier than its current wake-up.
    #[inline(always)]
    fn pump<W: Watch, M: Metering<Host = H>>(&mut self, links: &mut Links<W, M>, host: u32) -> Option<u64> {
        let now = Time(links.now);
        loop {
            let p = &mut links.slab[links.spare];
            let mut tap = Tap::new(&mut links.watch, host, links.shown);
            if !self.tcp.poll_transmit(now, &mut p.seg, &mut tap) {
                break;
            }
            p.sends = self.tcp.last_sends();
            if p.seg.train > 1 {
                self.launch_train(links, host);
            } else {
                self.launch(links, host);
            }
        }
        let t = self.tcp.next_timer().filter(|t| t.0 < self.armed)?;
        self.armed = t.0;
        Some(t.0.max(now.0))
    }

    /// Sends the packet written into the spare place.
    #[inline(always)]
    fn launch<W: Watch, M: Metering<Host = H>>(&mut self, links: &mut Links<W, M>, host: u32) {
        let packet = links.spare;
        let p = &mut links.slab[packet];
        p.to = self.peer;
        p.hop = self.first_hop;
        p.wire = self.tcp.size(self.wire, &p.seg);
        if p.seg.len > 0 {
            if M::ON {
                p.stamp = links.now;
            }
            self.data_sent += 1;
            if p.sends > 1 {
                self.retransmitted += 1;
                let why = self.tcp.resend();
                links.fates[host as usize / 2].retransmitted(p.seg.seq.0, p.seg.seq_len() as u32, p.sends, why);
            }
        } else if M::ON {
            p.stamp = match side(host) {
                Side::Sender => NO_STAMP,
                Side::Receiver => self.meter.answer(),
            };
        }
        if (W::ENABLED || M::ON) && host < links.shown {
            p.number = self.sent;
            self.sent = self.sent.wrapping_add(1);
            links.watch.sent(Time(links.now), host / 2, side(host), &p.seg, p.wire, p.sends);
        }
        let link = links.hops[p.hop as usize];
        links.spare = links.slab.alloc();
        links.enter(packet, link);
    }

    /// The spare place holds a train: equal segments that the TCP passed as one.
    #[cold]
    #[inline(never)]
    fn launch_train<W: Watch, M: Metering<Host = H>>(&mut self, links: &mut Links<W, M>, host: u32) {
        let p = &links.slab[links.spare];
        let (whole, sends) = (p.seg, p.sends);
        let each = whole.len / u32::from(whole.train);
        for i in 0..u32::from(whole.train) {
            let last = i + 1 == u32::from(whole.train);
            let p = &mut links.slab[links.spare];
            p.seg = Segment { seq: whole.seq + u64::from(i * each), len: each, train: 1, ..whole };
            if !last {
                p.seg.flags &= !(Segment::FIN | Segment::PSH);
            }
            p.sends = sends;
            self.launch(links, host);
        }
    }
}
