//! Lays out the elements that make a path reorder or change with time.

use super::check::{one_way, refuse, short};
use super::Parts;
use crate::element::deliveries::Deliveries;
use crate::element::demote::Demote;
use crate::element::link::Port;
use crate::element::netem::Netem;
use crate::element::path_trace::{Rates, TraceDelay, TraceLoss};
use crate::element::queued_link::{Delays, Service};
use crate::element::redrawn_delay::RedrawnDelay;
use crate::element::split::Split;
use crate::element::{Gate, GateKind};
use crate::error::Impossible;
use crate::rng::Stream;
use crate::scenario::{
    DirectionSpec, Draws, ElementSpec, NetemSpec, Only, PathTraceSpec, Place, RedrawnDelaySpec, Scenario, SplitSpec,
};
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Packets;

/// The longest jitter that Linux's netem has: 2³¹ − 1 ns.
const LONGEST_JITTER: Nanos = Nanos((1 << 31) - 1);
/// The largest weight of a path.
const HEAVIEST: u32 = 1_000_000;

/// A path of a split.
pub(super) struct Path<'a> {
    /// The directed link that is split.
    pub(super) link: u32,
    name: String,
    way: &'a DirectionSpec,
}

/// The splits of a scenario.
fn splits(s: &Scenario) -> impl Iterator<Item = &SplitSpec> {
    let elements = s.links.iter().flat_map(|l| l.forward.elements.iter().chain(&l.back.elements));
    elements.filter_map(|e| if let ElementSpec::Split(s) = e { Some(s) } else { None })
}

/// The paths of all splits.
pub(super) fn count(s: &Scenario) -> usize {
    splits(s).map(|s| s.paths.len()).sum()
}

/// The elements on them.
pub(super) fn elements(s: &Scenario) -> usize {
    splits(s).flat_map(|s| &s.paths).map(|p| p.way.elements.len()).sum()
}

/// Whether packets may arrive closer together than the link's transmitter would send them, or in another order.
pub(super) fn bunches(e: &ElementSpec) -> bool {
    match e {
        ElementSpec::RedrawnDelay(_)
        | ElementSpec::Split(_)
        | ElementSpec::PathTrace(_)
        | ElementSpec::Deliveries(_) => true,
        // Demote and netem act before the transmitter.
        _ => false,
    }
}

/// Checks an element of this module; others are always good.
pub(super) fn check(what: &str, d: &DirectionSpec, e: &ElementSpec) -> Result<(), Impossible> {
    match e {
        ElementSpec::RedrawnDelay(s) => redrawn_delay(&format!("{what}: redrawn delay"), s),
        ElementSpec::Split(s) => split(&format!("{what}: split"), d, s),
        ElementSpec::Demote(s) => {
            alone(&format!("{what}: demote"), d, |e| matches!(e, ElementSpec::Demote(_)))?;
            match (s.interval, s.device) {
                (0, _) => refuse(&format!("{what}: demote: interval"), 0, "at least 1"),
                (_, Some(Packets(0))) => refuse(&format!("{what}: demote: device"), 0, "at least 1"),
                _ => Ok(()),
            }
        }
        ElementSpec::Netem(s) => netem(&format!("{what}: netem"), s),
        ElementSpec::PathTrace(s) => {
            if s.rows[0].rate.is_some() {
                alone(&format!("{what}: path trace with rates"), d, sets_rate)?;
            }
            path_trace(&format!("{what}: path trace"), s)
        }
        ElementSpec::Deliveries(s) => {
            alone(&format!("{what}: deliveries"), d, sets_rate)?;
            if s.bytes == 0 {
                return refuse(&format!("{what}: deliveries: bytes"), "0 B", "at least 1 B");
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn sets_rate(e: &ElementSpec) -> bool {
    match e {
        ElementSpec::PathTrace(s) => s.rows[0].rate.is_some(),
        e => matches!(e, ElementSpec::Deliveries(_)),
    }
}

fn alone(what: &str, d: &DirectionSpec, like: impl Fn(&ElementSpec) -> bool) -> Result<(), Impossible> {
    match d.elements.iter().filter(|e| like(e)).count() {
        0 | 1 => Ok(()),
        n => refuse(what, format!("{n} of the kind"), "one in each direction of a link"),
    }
}

fn redrawn_delay(what: &str, s: &RedrawnDelaySpec) -> Result<(), Impossible> {
    for (name, time) in [("mean", s.mean), ("every", s.every)] {
        if time.0 == 0 {
            return refuse(&format!("{what}: {name}"), time, "at least 1 ns");
        }
    }
    for (name, time) in [("mean", s.mean), ("deviation", s.deviation), ("every", s.every)] {
        short(&format!("{what}: {name}"), time)?;
    }
    Ok(())
}

fn split(what: &str, d: &DirectionSpec, s: &SplitSpec) -> Result<(), Impossible> {
    alone(what, d, |e| matches!(e, ElementSpec::Split(_)))?;
    if !d.elements.iter().all(before_split) {
        let allowed = "netem, and losses, interruptions and scripts at the entry; others on its paths";
        return refuse(what, "an element beside it that acts later", allowed);
    }
    if let Some(p) = s.paths.iter().find(|p| p.weight > HEAVIEST) {
        return refuse(&format!("{what}: weight"), p.weight, "0 to 1000000");
    }
    if s.paths.iter().all(|p| p.weight == 0) {
        return refuse(what, "no path with a weight above 0", "at least one");
    }
    for (i, p) in s.paths.iter().enumerate() {
        if p.way.elements.iter().any(|e| matches!(e, ElementSpec::Split(_))) {
            return refuse(&format!("{what}: path {i}"), "a split", "paths without a split");
        }
        one_way(&format!("{what}: path {i}"), &p.way)?;
    }
    Ok(())
}

fn before_split(e: &ElementSpec) -> bool {
    match e {
        ElementSpec::Bernoulli(b) => b.at == Place::Entry,
        ElementSpec::Script(s) => s.at == Place::Entry,
        ElementSpec::GilbertElliott(g) => g.at == Place::Entry,
        ElementSpec::DelaySpike(i) => i.at == Place::Entry,
        ElementSpec::Outage(i) => i.at == Place::Entry,
        e => matches!(e, ElementSpec::Split(_) | ElementSpec::Netem(_)),
    }
}

fn netem(what: &str, s: &NetemSpec) -> Result<(), Impossible> {
    short(&format!("{what}: delay"), s.delay)?;
    if s.jitter > LONGEST_JITTER {
        return refuse(&format!("{what}: jitter"), s.jitter, "at most 2147483647 ns");
    }
    let shares = [
        ("jitter_correlation", s.jitter_correlation),
        ("reorder", s.reorder),
        ("reorder_correlation", s.reorder_correlation),
    ];
    if let Some((name, found)) = shares.iter().find(|(_, p)| !(0.0..=1.0).contains(p)) {
        return refuse(&format!("{what}: {name}"), found, "0 to 1");
    }
    // tc refuses this too.
    if s.gap > 0 && s.delay.0 == 0 {
        return refuse(&format!("{what}: gap"), format!("{} without a delay", s.gap), "a delay above zero with it");
    }
    if s.rate.is_some_and(|r| r.0 == 0) {
        return refuse(&format!("{what}: rate"), "0 bps", "at least 1 bps");
    }
    if s.limit.0 == 0 {
        return refuse(&format!("{what}: limit"), "0 packets", "at least 1 packet");
    }
    Ok(())
}

fn path_trace(what: &str, s: &PathTraceSpec) -> Result<(), Impossible> {
    let last = s.rows[s.rows.len() - 1].time;
    match s.repeat {
        Some(period) if period <= last => {
            refuse(&format!("{what}: repeat"), period, "a time after that of the trace's last row")
        }
        Some(period) => short(&format!("{what}: repeat"), period),
        None => Ok(()),
    }
}

impl<'a> Parts<'a> {
    /// Element number `i` of direction `d`, whose luck is called `name`, if it belongs to this module. `element`: its number
    /// in the run.
    pub(super) fn path_element(&mut self, d: &'a DirectionSpec, i: usize, name: &str, port: &mut Port, element: u32) {
        let e = &d.elements[i];
        let kind = std::mem::discriminant(e);
        let nth = d.elements[..i].iter().filter(|o| std::mem::discriminant(*o) == kind).count();
        let luck = |name: &str, what| Stream::new(self.seed, &format!("{name}/{what}.{nth}"));
        let Some(queue) = port.queue.as_mut() else { return };
        match e {
            ElementSpec::RedrawnDelay(s) => {
                let luck = match s.draws {
                    Draws::Own => luck(name, "redrawn-delay"),
                    Draws::Link => luck(&self.forward, "redrawn-delay/link"),
                };
                queue.add_delay(Delays::Redrawn(RedrawnDelay::new(s, luck)));
            }
            ElementSpec::Split(s) => {
                let first = self.splits_begin() + self.paths.len() as u32;
                port.split = Some(Split::new(s, first, luck(name, "split")));
                let link = self.lanes.len() as u32;
                let path = |(n, way)| Path { link, name: format!("{name}/split.{nth}/{n}"), way };
                self.paths.extend(s.paths.iter().map(|p| &p.way).enumerate().map(path));
            }
            ElementSpec::Demote(s) => queue.demote = Some(Demote::new(s)),
            ElementSpec::Netem(s) => {
                let luck = [luck(name, "netem/jitter"), luck(name, "netem/reorder")];
                port.entry.push(Gate {
                    element,
                    arrivals: 0,
                    only: Only::All,
                    kind: GateKind::Netem(Netem::new(s, luck)),
                });
            }
            ElementSpec::PathTrace(s) => {
                if s.rows[0].delay.is_some() {
                    queue.add_delay(Delays::Trace(TraceDelay::new(s)));
                }
                if s.rows[0].rate.is_some() {
                    queue.service = Some(Service::Rates(Rates::new(s)));
                }
                if s.rows[0].loss.is_some() {
                    let kind = GateKind::PathTrace(TraceLoss::new(s, luck(name, "path-trace")));
                    port.gates(s.at).push(Gate { element, arrivals: 0, only: Only::All, kind });
                }
            }
            ElementSpec::Deliveries(s) => queue.service = Some(Service::Deliveries(Deliveries::new(s))),
            _ => {}
        }
    }

    /// Makes the paths of the splits, behind all links.
    pub(super) fn paths(&mut self) {
        for i in 0..self.paths.len() {
            let (way, name) = (self.paths[i].way, self.paths[i].name.clone());
            self.forward.clone_from(&name);
            self.lane(way, &name, true);
        }
    }

    /// The number of the first path's lane.
    fn splits_begin(&self) -> u32 {
        self.fed.len() as u32
    }
}
