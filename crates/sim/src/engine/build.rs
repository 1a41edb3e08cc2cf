//! From a scenario to a network that can run.

mod check;
mod path;

use super::Network;
use crate::app::App;
use crate::element::drop_tail::{DropTail, Limit};
use crate::element::link::Port;
use crate::element::loss::Loss;
use crate::element::queued_link::QueuedLink;
use crate::element::script::Script;
use crate::element::swap::Swap;
use crate::element::{Gate, GateKind};
use crate::error::Impossible;
use crate::fate::Fates;
use crate::host::{Endpoint, Host, UNARMED};
use crate::lane::{Lane, Pace};
use crate::next_event::{key, NextEvent, Search, NEVER};
use crate::results::LinkResult;
use crate::rng::Stream;
use crate::scenario::{
    DirectionSpec, ElementSpec, FlowSpec, LinkForm, Place, QueueLimit, Scenario, ScriptAction, ScriptRule, SwapMode,
    WireSpec,
};
use crate::slab::Slab;
use crate::topology::{paths, Paths, FUSED, HOST};
use crate::watch::{Side, Watch};
use ackclock_tcp::time::Time;
use std::collections::BTreeMap;

impl<W: Watch, E: Endpoint> Network<W, E> {
    /// Lays out `scenario` with the endpoints that `make` answers for each flow, the sender first. All luck comes from
    /// `seed`.
    ///
    /// # Errors
    /// What makes the scenario impossible to run.
    pub fn with_endpoints(
        scenario: &Scenario,
        seed: u64,
        watch: W,
        make: impl FnMut(&FlowSpec, Side) -> E,
    ) -> Result<Self, Impossible> {
        Self::with_search(scenario, seed, watch, make, Search::Auto)
    }

    pub(crate) fn with_search(
        scenario: &Scenario,
        seed: u64,
        watch: W,
        make: impl FnMut(&FlowSpec, Side) -> E,
        search: Search,
    ) -> Result<Self, Impossible> {
        let links = 2 * scenario.links.len();
        let first_host = check::scenario(scenario)?;
        let mut paths = paths(scenario)?;
        let fed = feeding(scenario, &paths);
        let mut parts = Parts::new(scenario, seed, &fed, W::ENABLED);
        for link in 0..links {
            parts.link(link);
        }
        parts.paths();
        let lanes = parts.lanes.len();
        fuse(&mut paths.hops, &fed, &parts.lanes, W::ENABLED);
        let mut slab = Slab::new();
        let mut network = Network {
            watch,
            lanes: parts.lanes,
            ports: parts.ports,
            counts: vec![LinkResult::default(); lanes],
            hops: paths.hops,
            spare: slab.alloc(),
            slab,
            next: NextEvent::new(lanes, search),
            timers: NextEvent::new(first_host as usize - lanes + 2 * scenario.flows.len(), search),
            timer_min: NEVER,
            swaps: parts.swaps,
            splits: parts.paths.into_iter().map(|p| p.link).collect(),
            hosts: hosts(scenario, &paths.first, make),
            first_host,
            fates: scenario.flows.iter().map(|_| Fates::default()).collect(),
            now: 0,
            so_far: 0,
            end: Time::ZERO + scenario.duration,
            events: 0,
        };
        network.arm_all();
        Ok(network)
    }

    /// The first wake-ups: applications that will begin, and the first event of each swap process.
    fn arm_all(&mut self) {
        for host in 0..self.hosts.len() {
            if let App::Waiting { start, .. } = self.hosts[host].app {
                self.hosts[host].armed = start;
                self.set_host_timer(host as u32, Some(start));
            }
        }
        for i in 0..self.swaps.len() {
            let (element, swap) = &mut self.swaps[i];
            let (element, at) = (*element, swap.gap().0);
            self.set_timer(element, key(at, element));
        }
    }
}

fn hosts<E: Endpoint>(s: &Scenario, first: &[u32], mut make: impl FnMut(&FlowSpec, Side) -> E) -> Vec<Host<E>> {
    let mut hosts = Vec::with_capacity(2 * s.flows.len());
    for f in &s.flows {
        let app = App::Waiting { start: f.app.start.0, bytes: f.app.bytes, close: f.handshake };
        for (side, app) in [(Side::Sender, app), (Side::Receiver, App::Idle)] {
            hosts.push(Host {
                tcp: make(f, side),
                armed: UNARMED,
                first_hop: first[hosts.len()],
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

/// The direction of a link by its directed number.
fn direction(s: &Scenario, link: usize) -> &DirectionSpec {
    let l = &s.links[link / 2];
    if link % 2 == 1 {
        &l.back
    } else {
        &l.forward
    }
}

/// What is known of a link that one other link alone feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fed {
    /// By hosts, by several links, or not at all.
    Many,
    /// Its queue may fill.
    Alone,
    /// Its queue is never full.
    Trailing,
}

/// How each link is fed, as far as it can be entered at once with the link that feeds it.
fn feeding(s: &Scenario, paths: &Paths) -> Vec<Fed> {
    const MANY: u32 = u32::MAX;
    let mut feeder = vec![None; 2 * s.links.len()];
    let mut before = MANY;
    for &hop in &paths.hops {
        if hop == HOST {
            before = MANY;
            continue;
        }
        let f = &mut feeder[hop as usize];
        *f = Some(if f.is_none_or(|known| known == before) { before } else { MANY });
        before = hop;
    }
    let (short, long) = sizes(s);
    let fed = |(link, from): (usize, &Option<u32>)| match *from {
        None | Some(MANY) => Fed::Many,
        Some(from) => {
            let (d, before) = (direction(s, link), direction(s, from as usize));
            let in_order = link > from as usize || takes_time(d, short);
            match d.elements.is_empty() && in_order {
                true if never_full(d, before, short, long) => Fed::Trailing,
                true if takes_time(before, short) => Fed::Alone,
                _ => Fed::Many,
            }
        }
    };
    feeder.iter().enumerate().map(fed).collect()
}

/// The smallest and the largest packet that may be on the network, in bytes on the wire.
fn sizes(s: &Scenario) -> (u64, u64) {
    let most_options = 100;
    let size = |f: &FlowSpec| match f.wire {
        WireSpec::Ns2 { header } => (u64::from(header + 1).min(40), u64::from(f.mss + header).max(80)),
        WireSpec::Ipv4 => (40, u64::from(f.mss) + most_options),
    };
    s.flows.iter().map(size).fold((u64::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// Whether a packet that enters this link arrives later than it came, however short it is. (Fused, a link that takes no
/// time would have its event before those of the links between the two numbers; not fused, after them. And behind one,
/// what has departed "by now" would depend on what else happens now.)
fn takes_time(d: &DirectionSpec, short: u64) -> bool {
    d.delay.0 > 0 || d.rate.is_some_and(|r| short * 8_000_000_000 >= 2 * r.0)
}

/// Whether the queue of `d` can never be full when `before` alone feeds it: what a slower transmitter sends one by one
/// a faster one never lets pile up beyond what comes during one transmission of the longest packet.
fn never_full(d: &DirectionSpec, before: &DirectionSpec, short: u64, long: u64) -> bool {
    let one_by_one = !before.elements.iter().any(|e| {
        let delays = |r: &ScriptRule| r.action != ScriptAction::Drop;
        let script = matches!(e, ElementSpec::Script { at: Place::Exit, rules } if rules.iter().any(delays));
        script || path::bunches(e)
    });
    let slower = match (before.rate, d.rate) {
        (Some(a), Some(b)) => a <= b,
        (Some(_), None) => true,
        (None, _) => false,
    };
    match d.queue.limit {
        QueueLimit::Unlimited => true,
        QueueLimit::Packets(n) => one_by_one && slower && u64::from(n) > long.div_ceil(short) + 2,
        QueueLimit::Bytes(n) => one_by_one && slower && n > 3 * long,
    }
}

/// Marks, in the paths, the links that are entered at once with the link before them. Where someone listens, those that
/// may drop are not: their queues are reported when packets come, not before.
fn fuse(hops: &mut [u32], fed: &[Fed], lanes: &[Lane], watched: bool) {
    let computed = |l: u32| !lanes[l as usize].is(Lane::QUEUED);
    for i in 1..hops.len() {
        let (before, link) = (hops[i - 1] & !FUSED, hops[i]);
        if before == HOST || link == HOST || !computed(before) || !computed(link) {
            continue;
        }
        if fed[link as usize] == Fed::Trailing || (fed[link as usize] == Fed::Alone && !watched) {
            hops[i] |= FUSED;
        }
    }
}

/// Whether something acts on this direction's waiting packets, or after their transmission.
fn acts_late(d: &DirectionSpec) -> bool {
    d.elements.iter().any(|e| match e {
        ElementSpec::Swap { .. } | ElementSpec::Bernoulli { at: Place::Exit, .. } => true,
        ElementSpec::Bernoulli { at: Place::Entry, .. } => false,
        ElementSpec::Script { at, rules } => {
            *at == Place::Exit || rules.iter().any(|r| matches!(r.action, ScriptAction::Delay(_)))
        }
        ElementSpec::RedrawnDelay(_) | ElementSpec::Split(_) | ElementSpec::Demote(_) => true,
        ElementSpec::Netem(_) | ElementSpec::PathTrace(_) | ElementSpec::Deliveries(_) => true,
    })
}

/// The links, as they are made one after the other.
struct Parts<'a> {
    scenario: &'a Scenario,
    seed: u64,
    fed: &'a [Fed],
    watched: bool,
    lanes: Vec<Lane>,
    ports: Vec<Port>,
    swaps: Vec<(u32, Swap)>,
    element: u32,
    /// How many links between the same two nodes stand before.
    parallel: BTreeMap<(u32, u32), u32>,
    /// The paths of splits, which are made after the links.
    paths: Vec<path::Path<'a>>,
    /// The luck of the newest link's forward direction is called so.
    forward: String,
}

impl<'a> Parts<'a> {
    fn new(scenario: &'a Scenario, seed: u64, fed: &'a [Fed], watched: bool) -> Self {
        Parts {
            scenario,
            seed,
            fed,
            watched,
            lanes: Vec::with_capacity(fed.len()),
            ports: Vec::new(),
            swaps: Vec::new(),
            element: (fed.len() + path::count(scenario)) as u32,
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
        let d = direction(self.scenario, link);
        // Nothing waits before a split.
        let counts = self.fed[link] != Fed::Trailing && !d.elements.iter().any(|e| matches!(e, ElementSpec::Split(_)));
        self.lane(d, &name, counts);
    }

    /// A directed link, or a path of a split. `counts`: its queue may fill.
    fn lane(&mut self, d: &'a DirectionSpec, name: &str, counts: bool) {
        let queued = d.form == LinkForm::Queued || acts_late(d);
        // A queue that is never full need not be counted; where someone listens, all others are.
        let limit = if counts { Limit::new(&d.queue) } else { Limit::None };
        let reports = counts && (self.watched || limit != Limit::None);
        let mut port = Port {
            limit,
            tail: (reports && !queued).then(|| DropTail::new(limit, self.watched)),
            queue: queued.then(|| QueuedLink::new(limit)),
            entry: Vec::new(),
            exit: Vec::new(),
            split: None,
            reports,
        };
        self.elements(d, name, &mut port);
        let mut flags = Lane::PLAIN;
        if queued {
            flags |= Lane::QUEUED;
        } else {
            flags |= if port.tail.is_some() { Lane::LIMITED } else { 0 };
            flags |= if port.entry.is_empty() { 0 } else { Lane::GATED };
        }
        let at = self.ports.len() as u32;
        if flags != Lane::PLAIN {
            self.ports.push(port);
        }
        let pace = Pace::new(d.rate.map(|r| r.0), d.delay.0);
        self.lanes.push(Lane::new(pace, flags, at));
    }

    fn elements(&mut self, d: &'a DirectionSpec, name: &str, port: &mut Port) {
        let link = self.lanes.len();
        let (mut swaps, mut losses) = (0, 0);
        for (i, e) in d.elements.iter().enumerate() {
            let element = self.element;
            self.element += 1;
            match e {
                ElementSpec::Swap { mode, count, gap } => {
                    let luck = |part| Stream::new(self.seed, &format!("{name}/swap.{swaps}/{part}"));
                    let luck = [luck("gap"), luck("pair")];
                    swaps += 1;
                    let slots = match (*mode, d.queue.limit) {
                        (SwapMode::Slots, QueueLimit::Packets(n)) => u64::from(n),
                        _ => 0,
                    };
                    self.swaps.push((element, Swap::new(link as u32, *mode, *count, *gap, slots, luck)));
                }
                ElementSpec::Bernoulli { p, at } => {
                    let luck = Stream::new(self.seed, &format!("{name}/bernoulli.{losses}"));
                    losses += 1;
                    let gate = Gate { element, arrivals: 0, kind: GateKind::Loss(Loss::new(*p, luck)) };
                    port.gates(*at).push(gate);
                }
                ElementSpec::Script { at, rules } => {
                    let gate = Gate { element, arrivals: 0, kind: GateKind::Script(Script::new(rules)) };
                    port.gates(*at).push(gate);
                }
                _ => self.path_element(d, i, name, port, element),
            }
        }
    }

    /// What a link's luck depends on: its ends, its direction, and how many links between them stand before it.
    fn link_name(&mut self, link: usize) -> String {
        let l = &self.scenario.links[link / 2];
        let (from, to) = if link % 2 == 1 { (l.to, l.from) } else { (l.from, l.to) };
        let n = self.parallel.entry((from, to)).or_default();
        *n += 1;
        format!("{}>{}.{}", self.scenario.nodes[from as usize], self.scenario.nodes[to as usize], *n - 1)
    }
}
