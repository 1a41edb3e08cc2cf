//! Prefetches memory before its turn.
//!
//! With many flows nearly every packet is another flow's, whose memory has left the processor's caches. The way to it has steps: the
//! packet names its host, the host has the address of its TCP, and the TCP that of its oldest record.
//!
//! So after an event the next packets of the link that is next are looked at, each a step further than the one behind it: of the
//! second packet the record is prefetched, of the third the TCP, of the fourth the host, and the fifth one itself. What a step reads
//! was prefetched an event ago, so nothing waits. The next host to wake is treated alike. No result depends on it.

use super::Network;
use crate::fetch::fetch_all;
use crate::host::{Endpoint, Host};
use crate::measures::Metering;
use crate::next_event::NEVER;
use crate::slab::Packet;
use crate::topology::HOST;
use crate::watch::Watch;

/// Hosts from which memory is prefetched: with fewer, most of it is in a cache near the processor anyway.
const MANY: usize = 1 << 13;

/// Whether memory is prefetched, and what was.
pub(super) struct Ahead {
    pub(super) on: bool,
    /// The key of the wake-up whose host has been looked at, and how often.
    timer: (u64, u8),
}

impl Ahead {
    /// For a run with this many hosts.
    pub(super) fn new(hosts: usize) -> Self {
        Ahead { on: hosts >= MANY, timer: (NEVER, 0) }
    }
}

impl<W: Watch, E: Endpoint, M: Metering> Network<W, E, M> {
    /// Prefetches what the events after the next one will need.
    #[cold]
    #[inline(never)]
    pub(super) fn fetch_ahead(&mut self) {
        self.of_packets();
        self.of_timers();
    }

    fn of_packets(&self) {
        let links = &self.links;
        let (link, shared) = (links.next.min(), links.shared.min());
        let ends = match shared < link {
            true => links.shared.ends(shared),
            false if link == NEVER => return,
            false => links.transits[links.keys.element_of(link) as usize].ends(),
        };
        let mut packets = links.slab.behind(ends);
        packets.next().and_then(|p| self.is_for(p)).inspect(|h| h.tcp.fetch_further());
        packets.next().and_then(|p| self.is_for(p)).inspect(|h| h.tcp.fetch());
        packets.next().and_then(|p| self.is_for(p)).inspect(|h| fetch_all(*h));
        packets.next().inspect(|p| fetch_all(*p));
    }

    /// The host that a packet reaches next, if it does.
    fn is_for(&self, p: &Packet) -> Option<&Host<E, M::Host>> {
        self.hosts.get(p.to as usize).filter(|_| self.links.hops[p.hop as usize + 1] == HOST)
    }

    fn of_timers(&mut self) {
        let (key, times) = self.ahead.timer;
        let times = if key == self.timer_min { times } else { 0 };
        self.ahead.timer = (self.timer_min, times.saturating_add(1));
        let element = self.links.keys.element_of(self.timer_min);
        let Some(h) = element.checked_sub(self.first_host).and_then(|host| self.hosts.get(host as usize)) else {
            return;
        };
        match times {
            0 => fetch_all(h),
            1 => h.tcp.fetch(),
            2 => h.tcp.fetch_further(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::Sim;
    use crate::results::Results;
    use crate::scenario::{DirectionSpec, ElementSpec, Gap, QueueLimit, QueueSpec, Scenario, SwapMode, SwapSpec};
    use crate::topology::dumbbell::{dumbbell, flow, pipe};
    use ackclock_tcp::stack::Stack;
    use ackclock_tcp::time::Nanos;
    use ackclock_tcp::units::Rate;

    fn flows_on(shared: &DirectionSpec) -> Scenario {
        let mut s = dumbbell(5, &pipe(Some(Rate(20_000_000)), Nanos::from_millis(1)), shared, &flow());
        s.duration = Nanos::from_secs(8);
        s
    }

    #[test]
    fn prefetching_changes_nothing() {
        let queue = QueueSpec { limit: QueueLimit::Packets(20), limit_counts_service: true };
        let plain = DirectionSpec { queue, ..pipe(Some(Rate(5_000_000)), Nanos::from_millis(20)) };
        let mut swapped = plain.clone();
        let gap = Gap::Exponential(Nanos::from_millis(50));
        swapped.elements.push(ElementSpec::Swap(SwapSpec { mode: SwapMode::Slots, count: 3, gap }));
        // All flows on one link.
        let mut one = flows_on(&plain);
        one.flows.iter_mut().for_each(|f| (f.from, f.to) = (one.links[0].from, one.links[0].to));
        one.links.truncate(1);
        for (s, stack) in [flows_on(&plain), flows_on(&swapped), one].iter().zip(["sack-ff96", "linux-2025", "newreno"])
        {
            let run = |far| -> Results {
                let mut network = Sim::new(s, &[Stack::named(stack).unwrap()], 1, ()).unwrap();
                assert!(!std::mem::replace(&mut network.ahead.on, far));
                network.run()
            };
            let plainly = run(false);
            assert!(plainly.events > 5000 && plainly.links.iter().any(|l| l.drops.queue > 0), "{plainly:?}");
            assert_eq!(run(true), plainly);
        }
    }
}
