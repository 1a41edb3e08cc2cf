//! Reads memory before its turn.
//!
//! With many flows nearly every packet is another flow's, whose memory has left the processor's caches. The way to it has steps: the
//! packet names its host, and the host has the address of its TCP. Each of them would wait for memory.
//!
//! So after an event the next packets of the link that is next are looked at, each a step further than the one behind it: of the
//! second packet the TCP is read, of the third the host, and the fourth one itself. None of these reads waits for another, and what
//! the first packet needs was read three events ago. The next host to wake is treated alike. No result depends on it.

use super::Network;
use crate::host::Endpoint;
use crate::measures::Metering;
use crate::next_event::NEVER;
use crate::topology::HOST;
use crate::watch::Watch;
use std::hint::black_box;

/// Hosts from which memory is read ahead: with fewer, it is in the processor's last cache anyway.
const MANY: usize = 1 << 15;

/// Whether memory is read ahead, and what was read.
pub(super) struct Ahead {
    pub(super) on: bool,
    /// The key of the wake-up whose host has been read.
    timer: u64,
}

impl Ahead {
    /// For a run with this many hosts.
    pub(super) fn new(hosts: usize) -> Self {
        Ahead { on: hosts >= MANY, timer: NEVER }
    }
}

impl<W: Watch, E: Endpoint, M: Metering> Network<W, E, M> {
    /// Reads what the events after the next one will need.
    #[cold]
    #[inline(never)]
    pub(super) fn read_ahead(&mut self) {
        black_box(self.of_packets() ^ self.of_timers());
    }

    /// A word of each cache line that the next packets need.
    fn of_packets(&self) -> u64 {
        let links = &self.links;
        let (link, shared) = (links.next.min(), links.shared.min());
        let ends = match shared < link {
            true => links.shared.ends(shared),
            false if link == NEVER => return 0,
            false => links.transits[links.keys.element_of(link) as usize].ends(),
        };
        let mut packets = links.slab.behind(ends);
        let mut host = || {
            let p = packets.next()?;
            self.hosts.get(p.to as usize).filter(|_| links.hops[p.hop as usize + 1] == HOST)
        };
        let tcp = host().map_or(0, |h| h.tcp.read_ahead());
        let host = host().map_or(0, |h| h.armed ^ h.data_sent);
        tcp ^ host ^ packets.next().map_or(0, |p| u64::from(p.to))
    }

    /// The same for the next host that is woken: the first time its own lines, then its TCP's.
    fn of_timers(&mut self) -> u64 {
        let known = std::mem::replace(&mut self.ahead.timer, self.timer_min) == self.timer_min;
        let element = self.links.keys.element_of(self.timer_min);
        let host = element.checked_sub(self.first_host).and_then(|host| self.hosts.get(host as usize));
        host.map_or(0, |h| if known { h.tcp.read_ahead() } else { h.armed ^ h.data_sent })
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
    fn reading_ahead_changes_nothing() {
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
