//! What happens at the hosts: delivery, timers, sending.

use super::Network;
use crate::app::{App, BULK};
use crate::host::{side, Endpoint, Tap, UNARMED};
use crate::watch::{DropWhy, Watch};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Time;

impl<W: Watch, E: Endpoint> Network<W, E> {
    /// A packet is at its host.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, packet: u32) {
        let p = &self.slab[packet];
        let (host, now) = (p.to, Time(self.now));
        let Some(h) = self.hosts.get_mut(host as usize) else { return self.deliver_background(packet) };
        if W::ENABLED {
            self.watch.delivered(now, host / 2, side(host), &p.seg, p.wire, p.sends);
            self.watch.arrived(now, host / 2, side(host), p.number, &p.seg);
        }
        let outcome = h.tcp.on_segment(now, &p.seg, &mut Tap { watch: &mut self.watch, host });
        match h.app {
            App::Running { bytes } if h.tcp.acked() >= bytes => h.app = App::Done { at: now },
            App::Opening { bytes } => h.close_when_open(bytes),
            App::Idle | App::Waiting { .. } | App::Running { .. } | App::Done { .. } => {}
        }
        if outcome.refused.is_some() || outcome.bytes != p.seg.len {
            self.not_all_taken(packet, host, outcome.refused);
        }
        self.slab.free(packet);
        self.pump(host);
    }

    /// A TCP did not take a packet, or not all of it. What it had before is no loss to it.
    #[cold]
    #[inline(never)]
    pub(crate) fn not_all_taken(&mut self, packet: u32, host: u32, refused: Option<Refusal>) {
        let (p, h) = (&self.slab[packet], &self.hosts[host as usize]);
        let missing = h.tcp.missing(p.seg.seq, p.seg.end());
        // Without a reason it was the window that cut the segment, or the receiver could hold no more ranges.
        let why = refused.unwrap_or(Refusal::Window);
        // An old duplicate stands outside the window as well.
        if missing.is_empty() && why == Refusal::Window && p.seg.seq_len() > 0 {
            return;
        }
        if W::ENABLED && p.to < self.shown {
            self.watch.refused(Time(self.now), host / 2, side(host), why, &p.seg, p.sends, &missing);
        }
        let (seg, sends) = (p.seg, p.sends);
        self.write_down(host, &seg, sends, &missing);
    }

    /// Writes down what a receiver threw away of a segment's payload; a FIN is not followed.
    pub(crate) fn write_down(&mut self, host: u32, seg: &Segment, sends: u8, missing: &[(Offset, Offset)]) {
        if host % 2 == 1 {
            let end = seg.seq + u64::from(seg.len);
            for (left, right) in missing.iter().map(|m| (m.0, m.1.min(end))).filter(|m| m.0 < m.1) {
                self.fates[host as usize / 2].refused(left.0, (right - left) as u32, sends);
            }
        }
    }

    /// A host's wake-up: its application begins, or its TCP is asked whether a timer is really due.
    #[inline(never)]
    pub(crate) fn wake(&mut self, host: u32) {
        let now = Time(self.now);
        let h = &mut self.hosts[host as usize];
        if let App::Waiting { bytes, close, .. } = h.app {
            let bytes = bytes.unwrap_or(BULK);
            h.app = App::Running { bytes };
            h.tcp.write(bytes);
            if close {
                h.close_when_open(bytes);
            }
        } else if h.tcp.next_timer().is_some_and(|t| t <= now) {
            h.tcp.on_timer(now, &mut Tap { watch: &mut self.watch, host: h.peer ^ 1 });
        }
        h.armed = UNARMED;
        self.set_host_timer(host, None);
        self.pump(host);
    }

    /// Sends all that a host has to send now, and arms its wake-up if it must be earlier.
    #[inline(always)]
    pub(super) fn pump(&mut self, host: u32) {
        let now = Time(self.now);
        loop {
            let (h, p) = (&mut self.hosts[host as usize], &mut self.slab[self.spare]);
            let mut tap = Tap { watch: &mut self.watch, host: h.peer ^ 1 };
            if !h.tcp.poll_transmit(now, &mut p.seg, &mut tap) {
                break;
            }
            p.sends = h.tcp.last_sends();
            if p.seg.train > 1 {
                self.launch_train(host);
            } else {
                self.launch(host);
            }
        }
        let h = &mut self.hosts[host as usize];
        if let Some(t) = h.tcp.next_timer() {
            if t.0 < h.armed {
                h.armed = t.0;
                self.set_host_timer(host, Some(t.0.max(self.now)));
            }
        }
    }

    /// Puts the packet written into the spare place on its way.
    #[inline(always)]
    fn launch(&mut self, host: u32) {
        let packet = self.spare;
        let (h, p) = (&mut self.hosts[host as usize], &mut self.slab[packet]);
        p.to = h.peer;
        p.hop = h.first_hop;
        p.wire = h.tcp.size(h.wire, &p.seg);
        if p.seg.len > 0 {
            h.data_sent += 1;
            if p.sends > 1 {
                h.retransmitted += 1;
                let recovery = h.tcp.fast_recovery();
                self.fates[host as usize / 2].retransmitted(p.seg.seq.0, p.seg.len, p.sends, recovery);
            }
        }
        if W::ENABLED && host < self.shown {
            p.number = h.sent;
            h.sent = h.sent.wrapping_add(1);
            self.watch.sent(Time(self.now), host / 2, side(host), &p.seg, p.wire, p.sends);
        }
        let link = self.hops[p.hop as usize];
        self.spare = self.slab.alloc();
        self.enter(packet, link);
    }

    /// The spare place holds a train: equal segments that the TCP handed over as one.
    #[cold]
    #[inline(never)]
    fn launch_train(&mut self, host: u32) {
        let (whole, sends) = (self.slab[self.spare].seg, self.slab[self.spare].sends);
        let each = whole.len / u32::from(whole.train);
        for i in 0..u32::from(whole.train) {
            let last = i + 1 == u32::from(whole.train);
            let p = &mut self.slab[self.spare];
            p.seg = Segment { seq: whole.seq + u64::from(i * each), len: each, train: 1, ..whole };
            if !last {
                p.seg.flags &= !(Segment::FIN | Segment::PSH);
            }
            p.sends = sends;
            self.launch(host);
        }
    }

    /// A packet ends here, as the `nth` arrival at `element`, which stands on `link`.
    #[cold]
    pub(crate) fn drop_packet(&mut self, packet: u32, link: u32, element: u32, nth: u64, why: DropWhy) {
        let p = &self.slab[packet];
        let drops = &mut self.counts[link as usize].drops;
        match why {
            DropWhy::Queue => drops.queue += 1,
            DropWhy::Loss => drops.loss += 1,
            DropWhy::Early => drops.early += 1,
            DropWhy::Script => drops.script += 1,
        }
        if W::ENABLED && p.to < self.shown {
            self.watch.lost(p.to / 2, side(p.to), p.number);
            self.watch.dropped(Time(self.now), p.to / 2, side(p.to), element, nth, why, &p.seg, p.sends);
        }
        if let Some(host) = self.host_at(p.to).filter(|host| p.seg.len > 0 && host % 2 == 1) {
            self.fates[host as usize / 2].dropped(p.seg.seq.0, p.seg.len, p.sends);
        }
        self.slab.free(packet);
    }

    /// Makes a second packet like this one. It is not a second copy sent by a host.
    pub(crate) fn double(&mut self, packet: u32) -> u32 {
        let twin = self.slab.alloc();
        let p = self.slab[packet];
        self.slab[twin] = p;
        if W::ENABLED && p.to < self.shown {
            self.watch.copied(p.to / 2, side(p.to), p.number);
            self.watch.doubled(Time(self.now), p.to / 2, side(p.to), &p.seg, p.sends);
        }
        if let Some(host) = self.host_at(p.to).filter(|host| p.seg.len > 0 && host % 2 == 1) {
            self.fates[host as usize / 2].doubled(p.seg.seq.0, p.seg.len, p.sends);
        }
        twin
    }
}
