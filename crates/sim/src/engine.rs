//! The event loop: finds and handles the next event, such as a packet's arrival or an expiring timer.

mod background;
mod build;
mod form;
mod link;
mod links;
mod measures;
pub mod outside;
mod overtaking;
mod prefetch;
mod tcp;
mod traffic;
mod turns;

use crate::app::App;
use crate::background::Generator;
use crate::element::swap::Swap;
use crate::fate::Verdicts;
use crate::host::{Endpoint, Host};
use crate::measures::{Metering, Unmetered};
use crate::next_event::NextEvent;
use crate::results::{FlowResult, LinkResult, Results};
use crate::scenario::FlowSpec;
use crate::topology::{FUSED, HOST};
use crate::watch::{Side, Watch};
use ackclock_tcp::time::Time;
use links::Links;
use prefetch::Ahead;
pub use tcp::Sim;
use turns::Turns;

/// A run: a network, the hosts on it, and one listener.
///
/// The same scenario, seed and endpoints give the same calls of `watch` on every machine. `M` says whether it is measured.
pub struct Network<W, E, M: Metering = Unmetered> {
    pub(crate) links: Links<W, M>,
    /// The wake-ups of elements and hosts. They seldom change, so they are kept apart, with their minimum cached.
    timers: NextEvent,
    timer_min: u64,
    /// With their element numbers, ascending.
    swaps: Vec<(u32, Swap)>,
    /// The links that the splits' transits belong to; these transits follow those of the links.
    splits: Vec<u32>,
    /// The hosts of the flows, then those of the slots.
    pub(crate) hosts: Vec<Host<E, M::Host>>,
    /// The start of each flow, once it is known.
    starts: Vec<Option<Time>>,
    turns: Turns,
    pub(crate) generators: Vec<Generator>,
    /// Creates the ends of new transfers.
    make: Make<E>,
    /// The element number of the first host.
    first_host: u32,
    ahead: Ahead,
    events: u64,
}

type Make<E> = Box<dyn FnMut(&FlowSpec, Side) -> E>;

impl<W: Watch, E: Endpoint, M: Metering> Network<W, E, M> {
    /// Runs to the end of the scenario and returns the counts.
    pub fn run(&mut self) -> Results {
        self.run_until(self.links.end);
        self.results()
    }

    /// Runs up to and including `until`, or to the end of the scenario. A caller that shows progress or may stop early
    /// runs in steps; the steps do not change any result.
    pub fn run_until(&mut self, until: Time) {
        let until = until.min(self.links.end);
        let last = self.links.keys.last(until.0);
        while self.event(last) {
            if self.ahead.on {
                self.fetch_ahead();
            }
        }
        self.links.now = self.links.now.max(until.0);
        // Packets that have left a queue since the last event are gone for the next arrival.
        self.links.so_far = self.links.so_far.max(last);
        self.check_conservation();
    }

    /// Handles the next event up to and including `until`, or the end of the scenario: at most one packet reaches a host.
    /// Returns `false` if there is none; the time then does not change.
    pub fn step(&mut self, until: Time) -> bool {
        self.event(self.links.keys.last(until.min(self.links.end).0))
    }

    /// Handles the next event whose key is not above `last`.
    #[inline(always)]
    fn event(&mut self, last: u64) -> bool {
        let (link, keys) = (self.links.next.min(), self.links.keys);
        let shared = self.links.shared.min();
        let k = link.min(shared).min(self.timer_min);
        if k > last {
            return false;
        }
        debug_assert!(keys.time_of(k) >= self.links.now, "time never goes back");
        self.links.so_far = self.links.so_far.max(k);
        self.links.now = keys.time_of(k);
        self.events += 1;
        // Packets of one link at one instant: packets in the shared list arrived first.
        let arrival = if k == shared {
            Some(self.links.shared.pop(k, &self.links.slab))
        } else if k == link {
            self.links.event(keys.element_of(k))
        } else {
            self.timer_event(keys.element_of(k));
            None
        };
        // The only call on a packet's path: everything below it is inlined (decision 0073).
        if let Some((packet, hop)) = arrival {
            self.arrived(packet, hop);
        }
        true
    }

    /// The time up to which the run has advanced.
    pub fn now(&self) -> Time {
        Time(self.links.now)
    }

    /// The time of the next event; there is none after the end.
    pub fn next_event(&self) -> Option<Time> {
        let next = self.links.next.min().min(self.links.shared.min()).min(self.timer_min);
        Some(Time(self.links.keys.time_of(next))).filter(|at| *at <= self.links.end)
    }

    /// When the scenario ends.
    pub fn end(&self) -> Time {
        self.links.end
    }

    /// The listener.
    pub fn watch(&mut self) -> &mut W {
        &mut self.links.watch
    }

    /// Ends the run and returns the listener.
    pub fn into_watch(self) -> W {
        self.links.watch
    }

    /// The counts so far.
    pub fn results(&self) -> Results {
        Results {
            at: self.now(),
            events: self.events,
            flows: self.flow_results(),
            turns: self.turns.done.clone(),
            background: self.background_results(),
            links: self.link_results(),
        }
    }

    fn flow_results(&self) -> Vec<FlowResult> {
        let pairs = self.hosts[..self.links.shown as usize].chunks_exact(2).zip(&self.links.fates).zip(&self.starts);
        pairs
            .map(|((ends, fates), started)| (ends, fates.verdicts(), started))
            .map(|(ends, Verdicts { needed, refused, needless, needless_by }, started)| FlowResult {
                started: *started,
                delivered: ends[1].tcp.received(),
                acked: ends[0].tcp.acked(),
                data_sent: ends[0].data_sent,
                retransmitted: ends[0].retransmitted,
                needed,
                refused,
                needless,
                needless_by,
                finished: ends[0].app.finished(),
            })
            .collect()
    }

    fn link_results(&self) -> Vec<LinkResult> {
        let mut links = self.links.counts.clone();
        for (result, transit) in links.iter_mut().zip(&self.links.transits) {
            if !transit.is_plain() {
                result.max_queue = self.links.ports[transit.port()].longest();
            }
        }
        for (_, s) in &self.swaps {
            let r = &mut links[s.link as usize];
            r.swap_events += s.events;
            r.swap_skipped += s.skipped;
        }
        let paths = links.split_off(links.len() - self.splits.len());
        for (path, link) in paths.iter().zip(&self.splits) {
            links[*link as usize].add(path);
        }
        links
    }

    /// A packet is at the end of its link; the link's position in the list of paths is `hop`.
    #[inline(always)]
    fn arrived(&mut self, packet: u32, hop: u32) {
        let links = &mut self.links;
        links.slab[packet].hop = hop + 1;
        if W::HEARS_HOPS {
            links.tell_of_hop(packet, hop + 1);
        }
        match links.hops[hop as usize + 1] {
            HOST => self.deliver(packet),
            link if link & FUSED != 0 => links.found_full(packet, link),
            link => links.enter(packet, link),
        }
    }

    fn timer_event(&mut self, element: u32) {
        match element.checked_sub(self.first_host) {
            Some(host) if (host as usize) < self.hosts.len() => self.wake(host),
            Some(behind) => self.generate(behind - self.hosts.len() as u32),
            None => self.swap_event(element),
        }
    }

    fn swap_event(&mut self, element: u32) {
        let Ok(i) = self.swaps.binary_search_by_key(&element, |s| s.0) else { return };
        let link = self.swaps[i].1.link;
        self.links.depart_up_to(link, self.links.so_far);
        let swap = &mut self.swaps[i].1;
        if let Some(q) = self.links.ports[self.links.transits[swap.link as usize].port()].queue.as_mut() {
            swap.act(q.waiting(), |a, b| q.exchange(a, b));
        }
        let at = self.links.now + swap.gap().0;
        self.set_timer(element, self.links.keys.key(at, element));
    }

    pub(crate) fn set_timer(&mut self, element: u32, key: u64) {
        self.timers.set(element as usize - self.links.transits.len(), key);
        self.timer_min = self.timers.min();
    }

    pub(crate) fn set_host_timer(&mut self, host: u32, at: Option<u64>) {
        let element = self.first_host + host;
        self.set_timer(element, at.map_or(crate::next_event::NEVER, |t| self.links.keys.key(t, element)));
    }

    /// Checks that every packet that was made and not delivered or dropped is on exactly one link.
    fn check_conservation(&self) {
        if cfg!(debug_assertions) {
            let queues = self.links.ports.iter().filter_map(|p| p.queue.as_ref());
            let overtaking = self.links.ports.iter().filter_map(|p| p.overtaking.as_ref());
            let queued = queues.map(|q| q.count()).sum::<u32>() + overtaking.map(|a| a.count()).sum::<u32>();
            let flying: u32 = self.links.transits.iter().map(|l| l.count(&self.links.slab)).sum::<u32>()
                + self.links.shared.count(&self.links.slab);
            assert_eq!(self.links.slab.live, 1 + queued + flying, "packets are conserved");
            let waiting =
                self.hosts.iter().filter(|h| matches!(h.app, App::Waiting { start, .. } if start < self.links.now));
            assert_eq!(waiting.count(), 0, "applications start in time");
        }
    }
}
