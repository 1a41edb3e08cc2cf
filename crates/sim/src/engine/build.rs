//! Builds a network that can run from a scenario.

mod background;
mod check;

use super::form::{feeding, form, fuse, Feeder};
use super::links::Links;
use super::prefetch::Ahead;
use super::turns::{start, Turns};
use super::Network;
use crate::app::{App, BULK};
use crate::element::direction::DirectionSpec;
use crate::element::drop_tail::Limit;
use crate::element::port::Port;
use crate::element::split::{Path, SplitSpec};
use crate::element::swap::Swap;
use crate::element::Site;
use crate::error::Impossible;
use crate::fate::Fates;
use crate::host::{Endpoint, Host, UNARMED};
use crate::measures::{Metering, RunMetering, Unmetered};
use crate::next_event::{NextEvent, Search, NEVER};
use crate::results::LinkResult;
use crate::scenario::{FlowSpec, Scenario};
use crate::shared_transit::SharedTransits;
use crate::slab::Slab;
use crate::topology::paths;
use crate::transit::{Lane, Pace, Transit};
use crate::watch::{Side, Watch};
use ackclock_tcp::time::Time;
use std::collections::BTreeMap;

impl<W: Watch, E: Endpoint> Network<W, E, Unmetered> {
    /// Lays out `scenario` with the endpoints that `make` returns for each flow, the sender first. `seed` determines all random
    /// numbers.
    ///
    /// # Errors
    /// The reason why the scenario cannot be run.
    pub fn with_endpoints(
        scenario: &Scenario,
        seed: u64,
        watch: W,
        make: impl FnMut(&FlowSpec, Side) -> E + 'static,
    ) -> Result<Self, Impossible> {
        Self::with_search(scenario, seed, watch, make, Search::Auto, Time::ZERO)
    }
}

impl<W: Watch, E: Endpoint, M: Metering> Network<W, E, M> {
    /// `counted`: the end of the first period that is measured.
    pub(crate) fn with_search(
        scenario: &Scenario,
        seed: u64,
        watch: W,
        mut make: impl FnMut(&FlowSpec, Side) -> E + 'static,
        search: Search,
        counted: Time,
    ) -> Result<Self, Impossible> {
        let check::Checked { first_host, keys } = check::scenario(scenario)?;
        let mut paths = paths(scenario)?;
        let feeders = feeding(scenario, &paths);
        let mut parts = Parts::new(scenario, seed, &feeders, W::HEARS_QUEUES);
        (0..2 * scenario.links.len()).for_each(|link| parts.link(link));
        parts.paths();
        let transits = parts.transits.len();
        // A packet on two links at once cannot be observed between them.
        if !W::HEARS_HOPS {
            fuse(&mut paths.hops, &feeders, &mut parts.transits, &parts.ports, W::HEARS_QUEUES);
        }
        let mut slab = Slab::new();
        let mut hosts = hosts(scenario, seed, &paths.first, &mut make);
        let (slots, generators) = background::lay_out(scenario, seed, &paths.first, &mut hosts, &mut make);
        let timers = first_host as usize - transits + hosts.len() + generators.len();
        let shared = SharedTransits::new(&mut parts.transits, &paths.hops, &paths.first);
        let links = Links {
            watch,
            meters: M::Run::until(counted, transits, generators.len()),
            transits: parts.transits.into_iter().map(Lane::new).collect(),
            ports: parts.ports,
            counts: vec![LinkResult::default(); transits],
            hops: paths.hops,
            spare: slab.alloc(),
            slab,
            next: NextEvent::new(transits, search),
            shared,
            shown: 2 * scenario.flows.len() as u32,
            slots,
            fates: (0..hosts.len() / 2).map(|_| Fates::default()).collect(),
            now: 0,
            so_far: 0,
            end: Time::ZERO + scenario.duration,
            keys,
        };
        let network = Network {
            links,
            timers: NextEvent::new(timers, search),
            timer_min: NEVER,
            swaps: parts.swaps,
            splits: parts.paths.into_iter().map(|p| p.link).collect(),
            ahead: Ahead::new(hosts.len()),
            hosts,
            starts: scenario.flows.iter().map(|f| f.after.is_none().then(|| start(f, seed))).collect(),
            turns: Turns::new(scenario, seed),
            generators,
            make: Box::new(make),
            first_host,
            events: 0,
        };
        Ok(network.armed())
    }

    /// With the first wake-ups: applications that will begin, and the first event of each swap process and generator.
    fn armed(mut self) -> Self {
        for host in 0..self.hosts.len() {
            if let App::Waiting { start, .. } = self.hosts[host].app {
                self.hosts[host].armed = start;
                self.set_host_timer(host as u32, Some(start));
            }
        }
        for i in 0..self.swaps.len() {
            let (element, swap) = &mut self.swaps[i];
            let (element, at) = (*element, swap.gap().0);
            self.set_timer(element, self.links.keys.key(at, element));
        }
        for i in 0..self.generators.len() {
            let element = self.first_host + (self.hosts.len() + i) as u32;
            if let Some(at) = self.generators[i].first() {
                self.set_timer(element, self.links.keys.key(at, element));
            }
        }
        self
    }
}

fn hosts<E: Endpoint, H: Default>(
    s: &Scenario,
    seed: u64,
    first: &[u32],
    make: &mut impl FnMut(&FlowSpec, Side) -> E,
) -> Vec<Host<E, H>> {
    let mut hosts: Vec<Host<E, H>> = Vec::with_capacity(2 * s.flows.len());
    for f in &s.flows {
        let app = match f.after {
            None => App::Waiting { start: start(f, seed).0, bytes: f.app.bytes.unwrap_or(BULK), close: f.handshake },
            Some(_) => App::Idle,
        };
        for (side, app) in [(Side::Sender, app), (Side::Receiver, App::Idle)] {
            let tcp = make(f, side);
            hosts.push(Host {
                hears_drops: side == Side::Sender && tcp.hears_drops(),
                tcp,
                meter: H::default(),
                armed: UNARMED,
                first_hop: first[hosts.len()],
                peer: hosts.len() as u32 ^ 1,
                wire: f.wire,
                app,
                data_sent: 0,
                retransmitted: 0,
                sent: 0,
            });
        }
    }
    hosts
}

/// The splits of a scenario.
fn splits(s: &Scenario) -> impl Iterator<Item = &SplitSpec> {
    s.links.iter().flat_map(|l| [&l.forward, &l.back]).filter_map(DirectionSpec::split)
}

/// The paths of all splits.
fn paths_of_splits(s: &Scenario) -> usize {
    splits(s).map(|s| s.paths.len()).sum()
}

/// The links while they are made one after the other.
struct Parts<'a> {
    scenario: &'a Scenario,
    seed: u64,
    feeders: &'a [Feeder],
    watched: bool,
    transits: Vec<Transit>,
    ports: Vec<Port>,
    swaps: Vec<(u32, Swap)>,
    element: u32,
    /// The number of earlier links between the same two nodes.
    parallel: BTreeMap<(u32, u32), u32>,
    /// The paths of splits, made after the links.
    paths: Vec<Path<'a>>,
    /// The name of the random streams of the newest link's forward direction.
    forward: String,
}

impl<'a> Parts<'a> {
    fn new(scenario: &'a Scenario, seed: u64, feeders: &'a [Feeder], watched: bool) -> Self {
        Parts {
            scenario,
            seed,
            feeders,
            watched,
            transits: Vec::with_capacity(feeders.len()),
            ports: Vec::new(),
            swaps: Vec::new(),
            element: (feeders.len() + paths_of_splits(scenario)) as u32,
            paths: Vec::new(),
            parallel: BTreeMap::new(),
            forward: String::new(),
        }
    }

    fn link(&mut self, link: usize) {
        let name = self.link_name(link);
        if link.is_multiple_of(2) {
            self.forward.clone_from(&name);
        }
        let d = self.scenario.direction(link);
        // No packet waits before a split.
        let counts = self.feeders[link] != Feeder::NeverFull && d.split().is_none();
        self.transit(d, &name, counts);
    }

    /// Makes the paths of the splits, after all links.
    fn paths(&mut self) {
        for i in 0..self.paths.len() {
            let Path { way, ref name, .. } = self.paths[i];
            let name = name.clone();
            self.forward.clone_from(&name);
            self.transit(way, &name, true);
        }
    }

    /// A directed link, or a path of a split. `counts`: whether its queue may fill.
    fn transit(&mut self, d: &'a DirectionSpec, name: &str, counts: bool) {
        let limit = if counts { Limit::new(&d.queue) } else { Limit::None };
        // A queue that is never full need not be counted. With a listener for queues, all others are.
        let reports = counts && (self.watched || limit != Limit::None);
        let form = form(d, reports);
        let mut port = Port::new(form, limit, reports, self.watched);
        self.elements(d, name, &mut port);
        if let Some(queue) = &mut port.queue {
            queue.patient = port.exit.is_empty();
        }
        let pace = Pace::new(d.rate.map(|r| r.0), d.delay.0);
        let transit = Transit::new(pace, form, self.ports.len() as u32);
        if !transit.is_plain() {
            self.ports.push(port);
        }
        self.transits.push(transit);
    }

    fn elements(&mut self, d: &'a DirectionSpec, name: &str, port: &mut Port) {
        let mut before = BTreeMap::new();
        for e in &d.elements {
            e.build(&mut Site {
                element: self.element,
                link: self.transits.len() as u32,
                on: d,
                port,
                seed: self.seed,
                name,
                forward: &self.forward,
                before: &mut before,
                swaps: &mut self.swaps,
                paths: &mut self.paths,
                first_path: self.feeders.len() as u32,
            });
            self.element += 1;
        }
    }

    /// The name that determines a link's random streams: its ends, its direction, and the number of earlier links between them.
    fn link_name(&mut self, link: usize) -> String {
        let l = &self.scenario.links[link / 2];
        let (from, to) = if link % 2 == 1 { (l.to, l.from) } else { (l.from, l.to) };
        let n = self.parallel.entry((from, to)).or_default();
        *n += 1;
        format!("{}>{}.{}", self.scenario.nodes[from as usize], self.scenario.nodes[to as usize], *n - 1)
    }
}
