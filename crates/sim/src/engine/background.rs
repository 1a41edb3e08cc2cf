//! Background traffic on the network: transfers that reuse the same pairs of hosts, and packets of sources.

use super::Network;
use crate::app::App;
use crate::background::{NOBODY, ROUND_BITS};
use crate::host::{Endpoint, Tap, BACKGROUND, UNARMED};
use crate::measures::{Metering, RunMetering};
use crate::next_event::NEVER;
use crate::results::BackgroundResult;
use crate::scenario::{BackgroundKind, SourceSpec, TransfersSpec};
use crate::watch::{Side, Watch};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::{Nanos, Time};

impl<W: Watch, E: Endpoint, M: Metering> Network<W, E, M> {
    /// A packet of background traffic has reached its host.
    #[cold]
    #[inline(never)]
    pub(crate) fn deliver_background(&mut self, packet: u32) {
        let p = &self.links.slab[packet];
        let to = p.to;
        if let Some(host) = self.links.host_at(to) {
            let h = &mut self.hosts[host as usize];
            if h.hears_drops {
                h.hear_drops(&mut self.links.fates[host as usize / 2]);
            }
            if !h.tcp.on_expected(
                Time(self.links.now),
                &p.seg,
                &mut Tap { watch: &mut self.links.watch, host: BACKGROUND },
            ) {
                h.on_unexpected(&mut self.links, packet, host);
            }
            let h = &mut self.hosts[host as usize];
            match h.app {
                App::Running { bytes } if h.tcp.acked() >= bytes => self.finish(host),
                // The host sends when it is woken: sending from here too would slow the flows' hot path.
                _ => {
                    h.armed = self.links.now;
                    self.set_host_timer(host, Some(self.links.now));
                }
            }
        } else if to >> ROUND_BITS == NOBODY {
            let result = &mut self.generators[(to & ((1 << ROUND_BITS) - 1)) as usize].result;
            result.packets_delivered += 1;
            result.delivered += u64::from(p.wire);
        }
        self.links.slab.free(packet);
    }

    /// A generator's next event is due.
    #[cold]
    #[inline(never)]
    pub(crate) fn generate(&mut self, generator: u32) {
        let now = self.links.now;
        let g = &mut self.generators[generator as usize];
        match g.spec.kind.clone() {
            BackgroundKind::Source(s) => self.send_one(generator, s),
            BackgroundKind::Transfers(t) => self.begin(generator, &t),
        }
        let element = self.first_host + self.hosts.len() as u32 + generator;
        let next = self.generators[generator as usize].next(now);
        self.set_timer(element, next.map_or(NEVER, |at| self.links.keys.key(at, element)));
    }

    fn send_one(&mut self, generator: u32, s: SourceSpec) {
        let g = &mut self.generators[generator as usize];
        g.result.packets_sent += 1;
        let (packet, p) = (self.links.spare, &mut self.links.slab[self.links.spare]);
        p.seg = Segment { len: s.packet, ..Segment::EMPTY };
        (p.sends, p.wire, p.to) = (1, s.packet, NOBODY << ROUND_BITS | generator);
        p.hop = g.first_hop;
        let link = self.links.hops[p.hop as usize];
        self.links.spare = self.links.slab.alloc();
        self.links.enter(packet, link);
    }

    /// A transfer arrives.
    fn begin(&mut self, generator: u32, t: &TransfersSpec) {
        let g = &mut self.generators[generator as usize];
        let bytes = g.size(t.size);
        let Some(slot) = g.free.pop() else {
            g.result.turned_away += 1;
            return;
        };
        g.result.started += 1;
        let used = &mut self.links.slots[slot as usize];
        used.began = self.links.now;
        let (sender, round) = (self.links.shown + 2 * slot, used.round);
        for (host, side) in [(sender, Side::Sender), (sender + 1, Side::Receiver)] {
            let h = &mut self.hosts[host as usize];
            h.tcp = (self.make)(&t.flow, side);
            h.peer = (host ^ 1) | round << ROUND_BITS;
        }
        let h = &mut self.hosts[sender as usize];
        h.app = App::Waiting { start: self.links.now, bytes, close: t.flow.handshake };
        h.armed = self.links.now;
        self.set_host_timer(sender, Some(self.links.now));
    }

    /// The transfer whose sender is `host` has ended: its pair of hosts is free for another.
    fn finish(&mut self, host: u32) {
        let slot = (host - self.links.shown) / 2;
        let used = &mut self.links.slots[slot as usize];
        used.next_round();
        let g = &mut self.generators[used.generator as usize];
        g.free.push(slot);
        g.result.finished += 1;
        let took = Nanos(self.links.now - used.began);
        g.result.time = g.result.time + took;
        self.links.meters.transferred(used.generator, took.0);
        g.result.delivered += self.hosts[host as usize].tcp.acked();
        let fates = std::mem::take(&mut self.links.fates[host as usize / 2]);
        g.result.add(fates.verdicts());
        for end in [host, host + 1] {
            let h = &mut self.hosts[end as usize];
            (h.app, h.armed) = (App::Idle, UNARMED);
            self.set_host_timer(end, None);
        }
    }

    /// The counts of background traffic, current transfers included.
    pub(crate) fn background_results(&self) -> Vec<BackgroundResult> {
        let mut all: Vec<BackgroundResult> = self.generators.iter().map(|g| g.result).collect();
        for (i, slot) in self.links.slots.iter().enumerate() {
            let sender = self.links.shown as usize + 2 * i;
            let (h, r) = (&self.hosts[sender], &mut all[slot.generator as usize]);
            r.packets_sent += h.data_sent;
            r.retransmitted += h.retransmitted;
            if let App::Opening { .. } | App::Running { .. } = h.app {
                r.delivered += h.tcp.acked();
                r.add(self.links.fates[sender / 2].verdicts());
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::Sim;
    use crate::scenario::*;
    use crate::topology::dumbbell::{dumbbell, flow, pipe};
    use ackclock_tcp::stack::Stack;
    use ackclock_tcp::time::{Nanos, Time};
    use ackclock_tcp::units::Rate;

    #[test]
    fn thousands_of_short_transfers_need_no_more_memory_than_a_few() {
        let queue = QueueSpec { limit: QueueLimit::Packets(10), limit_counts_service: true };
        let shared = DirectionSpec { queue, ..pipe(Some(Rate(5_000_000)), Nanos::from_millis(20)) };
        let mut s = dumbbell(1, &pipe(None, Nanos::ZERO), &shared, &FlowSpec { window: 2 * 1460, ..flow() });
        s.duration = Nanos::from_secs(1000);
        let (gap, size) = (Gap::Exponential(Nanos::from_millis(100)), Size::Exponential(30_000));
        let kind = BackgroundKind::Transfers(TransfersSpec { gap, size, most: 20, flow: flow() });
        s.background = vec![BackgroundSpec { from: 0, to: 1, start: Nanos::ZERO, stop: None, kind }];
        let mut n = Sim::new(&s, &[Stack::named("newreno").unwrap()], 1, ()).unwrap();
        // Places in the slab, and the records of the fates of the transfers' packets, once every ten seconds.
        let held: Vec<(usize, usize)> = (1..=100)
            .map(|i| {
                n.run_until(Time(i * 10_000_000_000));
                (n.links.slab.places(), n.links.fates[1..].iter().map(|f| f.len()).sum())
            })
            .collect();
        let r = n.results().background[0];
        assert!(r.finished > 9_000 && r.retransmitted > 5_000 && n.hosts.len() == 42, "{r:?}");
        assert!(held.iter().all(|h| h.0 < 200 && h.1 < 500), "{held:?}");
    }
}
