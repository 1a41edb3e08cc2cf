//! The event loop: which packet arrives next, whose timer is due.

mod background;
mod build;
mod link;
pub mod outside;
mod tcp;
mod traffic;

use crate::app::App;
use crate::background::{Generator, Slot};
use crate::element::port::Port;
use crate::element::swap::Swap;
use crate::fate::{Fates, Verdicts};
use crate::host::{Endpoint, Host};
use crate::next_event::{element_of, key, time_of, NextEvent, MAX_ELEMENTS};
use crate::results::{FlowResult, LinkResult, Results};
use crate::scenario::FlowSpec;
use crate::shared_transit::SharedTransits;
use crate::slab::Slab;
use crate::topology::{FUSED, HOST};
use crate::transit::Transit;
use crate::watch::{Side, Watch};
use ackclock_tcp::time::Time;
pub use tcp::Sim;

/// A run: a network, the hosts on it, and one listener.
///
/// The same scenario, seed and endpoints give the same calls of `watch` on every machine.
pub struct Network<W, E> {
    pub(crate) watch: W,
    /// By directed link.
    pub(crate) transits: Vec<Transit>,
    pub(crate) ports: Vec<Port>,
    pub(crate) counts: Vec<LinkResult>,
    pub(crate) hops: Vec<u32>,
    pub(crate) slab: Slab,
    /// The place into which the next segment is written.
    pub(crate) spare: u32,
    /// The next event of each link.
    pub(crate) next: NextEvent,
    /// Packets of links that are alike; their events are not in `next`.
    pub(crate) shared: SharedTransits,
    /// The wake-ups of elements and hosts, which seldom change: apart, with their minimum at hand.
    timers: NextEvent,
    timer_min: u64,
    /// With their element numbers, ascending.
    swaps: Vec<(u32, Swap)>,
    /// The links whose splits the transits after those of the links belong to.
    splits: Vec<u32>,
    /// Those of the flows, then those of the slots.
    pub(crate) hosts: Vec<Host<E>>,
    /// When each flow begins.
    starts: Vec<Time>,
    /// How many hosts are flows'; the others are background.
    pub(crate) shown: u32,
    pub(crate) slots: Vec<Slot>,
    pub(crate) generators: Vec<Generator>,
    /// Makes the ends of new transfers.
    make: Make<E>,
    /// The element number of the first host.
    first_host: u32,
    pub(crate) fates: Vec<Fates>,
    pub(crate) now: u64,
    /// The greatest key whose event has begun. What an element does at a time with a key up to this one has happened,
    /// even where it has no event of its own.
    pub(crate) so_far: u64,
    pub(crate) end: Time,
    events: u64,
}

type Make<E> = Box<dyn FnMut(&FlowSpec, Side) -> E>;

impl<W: Watch, E: Endpoint> Network<W, E> {
    /// Runs to the end of the scenario and answers the counts.
    pub fn run(&mut self) -> Results {
        self.run_until(self.end);
        self.results()
    }

    /// Runs up to and including `until`, or the end of the scenario. A caller that wants to show progress or to stop goes
    /// in steps; the steps change nothing.
    pub fn run_until(&mut self, until: Time) {
        let until = until.min(self.end);
        let last = key(until.0, MAX_ELEMENTS as u32 - 1);
        while self.event(last) {}
        self.now = self.now.max(until.0);
        self.check_conservation();
    }

    /// Handles the next event up to and including `until`, or the end of the scenario: at most one packet reaches a host.
    /// `false` if there is none; time then stays as it is.
    pub fn step(&mut self, until: Time) -> bool {
        self.event(key(until.min(self.end).0, MAX_ELEMENTS as u32 - 1))
    }

    /// Handles the next event whose key is not above `last`.
    #[inline(always)]
    fn event(&mut self, last: u64) -> bool {
        let link = self.next.min();
        let shared = self.shared.min();
        let k = link.min(shared).min(self.timer_min);
        if k > last {
            return false;
        }
        debug_assert!(time_of(k) >= self.now, "time never goes back");
        self.so_far = self.so_far.max(k);
        self.now = time_of(k);
        self.events += 1;
        // Packets of one link at one instant: those in the shared list came first.
        if k == shared {
            let (packet, hop) = self.shared.pop(k, &self.slab);
            self.arrived(packet, hop);
        } else if k == link {
            self.link_event(element_of(k));
        } else {
            self.timer_event(element_of(k));
        }
        true
    }

    /// Up to when the run has gone.
    pub fn now(&self) -> Time {
        Time(self.now)
    }

    /// When something happens next; nothing does after the end.
    pub fn next_event(&self) -> Option<Time> {
        let next = self.next.min().min(self.shared.min()).min(self.timer_min);
        Some(Time(time_of(next))).filter(|at| *at <= self.end)
    }

    /// When the scenario ends.
    pub fn end(&self) -> Time {
        self.end
    }

    /// The listener.
    pub fn watch(&mut self) -> &mut W {
        &mut self.watch
    }

    /// Ends the run and hands back the listener.
    pub fn into_watch(self) -> W {
        self.watch
    }

    /// The counts so far.
    pub fn results(&self) -> Results {
        Results {
            at: self.now(),
            events: self.events,
            flows: self.flow_results(),
            background: self.background_results(),
            links: self.link_results(),
        }
    }

    fn flow_results(&self) -> Vec<FlowResult> {
        let pairs = self.hosts[..self.shown as usize].chunks_exact(2).zip(&self.fates).zip(&self.starts);
        pairs
            .map(|((ends, fates), started)| (ends, fates.verdicts(), started))
            .map(|(ends, Verdicts { needed, refused, needless, needless_fast }, started)| FlowResult {
                started: *started,
                delivered: ends[1].tcp.received(),
                acked: ends[0].tcp.acked(),
                data_sent: ends[0].data_sent,
                retransmitted: ends[0].retransmitted,
                needed,
                refused,
                needless,
                needless_fast,
                finished: ends[0].app.finished(),
            })
            .collect()
    }

    fn link_results(&self) -> Vec<LinkResult> {
        let mut links = self.counts.clone();
        for (result, transit) in links.iter_mut().zip(&self.transits) {
            if !transit.is_plain() {
                result.max_queue = self.ports[transit.port()].longest();
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

    #[inline(always)]
    fn link_event(&mut self, link: u32) {
        let transit = &mut self.transits[link as usize];
        if transit.is(Transit::QUEUED) {
            if let Some(packet) = self.queued_event(link) {
                self.arrived_from_queue(packet);
            }
            return;
        }
        let (packet, next) = transit.pop(&self.slab);
        self.next.set(link as usize, next);
        self.arrived(packet, self.slab[packet].hop);
    }

    #[inline(never)]
    fn arrived_from_queue(&mut self, packet: u32) {
        self.arrived(packet, self.slab[packet].hop);
    }

    /// A packet is at the end of its link, which is number `hop` in the list of paths.
    // In line at its hot calls, as all that follows (decision 0140).
    #[inline(always)]
    fn arrived(&mut self, packet: u32, hop: u32) {
        self.slab[packet].hop = hop + 1;
        match self.hops[hop as usize + 1] {
            HOST => self.deliver(packet),
            link if link & FUSED != 0 => self.found_full(packet, link),
            link => self.enter(packet, link),
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
        self.depart_up_to(link, self.so_far);
        let swap = &mut self.swaps[i].1;
        if let Some(q) = self.ports[self.transits[swap.link as usize].port()].queue.as_mut() {
            swap.act(q.waiting(), |a, b| q.exchange(a, b));
        }
        let at = self.now + swap.gap().0;
        self.set_timer(element, key(at, element));
    }

    pub(crate) fn set_timer(&mut self, element: u32, key: u64) {
        self.timers.set(element as usize - self.transits.len(), key);
        self.timer_min = self.timers.min();
    }

    pub(crate) fn set_host_timer(&mut self, host: u32, at: Option<u64>) {
        let element = self.first_host + host;
        self.set_timer(element, at.map_or(crate::next_event::NEVER, |t| key(t, element)));
    }

    /// Every packet that was made and not delivered or dropped is on exactly one link.
    fn check_conservation(&self) {
        if cfg!(debug_assertions) {
            let queues = self.ports.iter().filter_map(|p| p.queue.as_ref());
            let queued: u32 = queues.map(|q| q.count()).sum();
            let flying: u32 =
                self.transits.iter().map(|l| l.count(&self.slab)).sum::<u32>() + self.shared.count(&self.slab);
            assert_eq!(self.slab.live, 1 + queued + flying, "packets are conserved");
            let waiting = self.hosts.iter().filter(|h| matches!(h.app, App::Waiting { start, .. } if start < self.now));
            assert_eq!(waiting.count(), 0, "applications start in time");
        }
    }
}
