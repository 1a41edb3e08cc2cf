//! What a scenario must be like to be run. Each refusal is one sentence.

use super::direction;
use crate::background;
use crate::error::{Fault, Impossible};
use crate::next_event::{MAX_ELEMENTS, MAX_TIME};
use crate::scenario::{
    BackgroundKind, DirectionSpec, ElementSpec, FlowSpec, QueueLimit, Scenario, ScriptAction, ScriptRule, SwapMode,
    SwapSpec, WireSpec,
};
use ackclock_tcp::time::Nanos;

/// Largest segment and largest header: far above what any link carries, far below where arithmetic ends.
const MAX_SIZE: u32 = 1 << 20;

/// Checks everything but the paths; answers the element number of the first host.
pub(super) fn scenario(s: &Scenario) -> Result<u32, Impossible> {
    let on_links: usize = s.links.iter().map(|l| l.forward.elements.len() + l.back.elements.len()).sum();
    let slots: usize = s.background.iter().map(|b| b.slots() as usize).sum();
    let on_links = on_links + super::path::elements(s);
    let lanes = 2 * s.links.len() + super::path::count(s);
    let found = lanes + on_links + 2 * (s.flows.len() + slots) + s.background.len();
    if found > MAX_ELEMENTS {
        return Err(Impossible::TooManyElements { found });
    }
    short("the run's duration", s.duration)?;
    names(s)?;
    for (i, l) in s.links.iter().enumerate() {
        let what = format!("link {i}");
        ends(s, &what, l.from, l.to)?;
        for link in [2 * i, 2 * i + 1] {
            let (from, to) = if link % 2 == 1 { (l.to, l.from) } else { (l.from, l.to) };
            let what = format!("link {i} from \"{}\" to \"{}\"", s.nodes[from as usize], s.nodes[to as usize]);
            one_way(&what, direction(s, link))?;
        }
    }
    for f in &s.flows {
        let what = format!("flow \"{}\"", f.name);
        ends(s, &what, f.from, f.to)?;
        flow(&what, f)?;
    }
    for (i, b) in s.background.iter().enumerate() {
        let what = format!("background {}", i + 1);
        ends(s, &what, b.from, b.to)?;
        short(&format!("{what}: start"), b.start)?;
        background::check(b, &what)?;
        if let BackgroundKind::Transfers(t) = &b.kind {
            flow(&what, &t.flow)?;
        }
    }
    Ok((lanes + on_links) as u32)
}

pub(super) fn refuse<T>(what: &str, found: impl ToString, allowed: impl Into<String>) -> Result<T, Impossible> {
    Err(Impossible::Value { what: what.to_owned(), found: found.to_string(), allowed: allowed.into() })
}

pub(super) fn short(what: &str, found: Nanos) -> Result<(), Impossible> {
    if found.0 < MAX_TIME - 1 {
        Ok(())
    } else {
        Err(Impossible::TooLong { what: what.to_owned(), found })
    }
}

fn names(s: &Scenario) -> Result<(), Impossible> {
    let mut names: Vec<&String> = s.nodes.iter().collect();
    names.sort_unstable();
    match names.windows(2).find(|w| w[0] == w[1]) {
        Some(w) => refuse("nodes", format!("\"{}\" twice", w[0]), "each name once"),
        None => Ok(()),
    }
}

fn ends(s: &Scenario, what: &str, from: u32, to: u32) -> Result<(), Impossible> {
    for index in [from, to] {
        if index as usize >= s.nodes.len() {
            return Err(Impossible::Unknown { what: what.to_owned(), kind: "node", index, len: s.nodes.len() });
        }
    }
    if from == to {
        return Err(Impossible::SameNode { what: what.to_owned(), node: s.nodes[from as usize].clone() });
    }
    Ok(())
}

pub(super) fn one_way(what: &str, d: &DirectionSpec) -> Result<(), Impossible> {
    if d.rate.is_some_and(|r| r.0 == 0) {
        return refuse(&format!("{what}: rate"), "0 bps", "at least 1 bps");
    }
    short(&format!("{what}: delay"), d.delay)?;
    let limit = format!("{what}: queue limit");
    match d.queue.limit {
        QueueLimit::Packets(0) if d.queue.limit_counts_service => {
            return refuse(&limit, "0 packets", "at least 1 packet where the limit counts the packet in transmission")
        }
        QueueLimit::Bytes(0) => return refuse(&limit, "0 B", "at least 1 B"),
        _ => {}
    }
    d.elements.iter().try_for_each(|e| element(what, d, e))
}

fn element(what: &str, d: &DirectionSpec, e: &ElementSpec) -> Result<(), Impossible> {
    match e {
        ElementSpec::Swap(SwapSpec { mode, count: _, gap }) => {
            if *mode == SwapMode::Slots && !matches!(d.queue.limit, QueueLimit::Packets(1..)) {
                let found = format!("{:?}", d.queue.limit);
                return refuse(
                    &format!("{what}: queue limit"),
                    found,
                    "a number of packets, from which swap mode \"slots\" draws",
                );
            }
            let mean = gap.mean();
            if mean.0 == 0 {
                return refuse(&format!("{what}: swap gap"), mean, "at least 1 ns");
            }
            short(&format!("{what}: swap gap"), mean)
        }
        ElementSpec::Bernoulli(b) if !(0.0..=1.0).contains(&b.p) => {
            refuse(&format!("{what}: loss probability"), b.p, "0 to 1")
        }
        ElementSpec::Bernoulli(_) => Ok(()),
        ElementSpec::GilbertElliott(g) => fault(&format!("{what}: gilbert-elliott"), g.fault()),
        ElementSpec::Red(_) if d.rate.is_none() => {
            refuse(&format!("{what}: red"), "an unlimited rate", "a rate, since nothing waits here")
        }
        ElementSpec::Red(r) => fault(&format!("{what}: red"), r.fault()),
        ElementSpec::DelaySpike(i) => fault(&format!("{what}: interruption"), i.fault()),
        ElementSpec::Outage(i) => fault(&format!("{what}: interruption"), i.fault()),
        ElementSpec::Script(s) => script(&format!("{what}: script"), &s.rules),
        _ => super::path::check(what, d, e),
    }
}

fn fault(what: &str, fault: Option<Fault>) -> Result<(), Impossible> {
    fault.map_or(Ok(()), |Fault { key, found, allowed }| refuse(&format!("{what}: {key}"), found, allowed))
}

fn script(what: &str, rules: &[ScriptRule]) -> Result<(), Impossible> {
    let mut nths: Vec<u64> = rules.iter().map(|r| r.nth).collect();
    nths.sort_unstable();
    if let Some(w) = nths.windows(2).find(|w| w[0] == w[1]) {
        return refuse(what, format!("two rules for arrival {}", w[0]), "one rule for each arrival");
    }
    rules.iter().try_for_each(|r| match r.action {
        ScriptAction::Delay(d) => short(&format!("{what}: delay of arrival {}", r.nth), d),
        ScriptAction::Drop | ScriptAction::Duplicate => Ok(()),
    })
}

fn flow(what: &str, f: &FlowSpec) -> Result<(), Impossible> {
    if !(1..=MAX_SIZE).contains(&f.mss) {
        return refuse(&format!("{what}: segment size"), format!("{} B", f.mss), "1 B to 1048576 B");
    }
    if let WireSpec::Ns2 { header } = f.wire {
        if header > MAX_SIZE {
            return refuse(&format!("{what}: header size"), format!("{header} B"), "0 B to 1048576 B");
        }
    }
    if f.app.bytes.is_some_and(|b| b > crate::app::BULK) {
        return refuse(&format!("{what}: bytes to send"), "more", "up to 2^60 B");
    }
    short(&format!("{what}: start"), Nanos(f.app.start.0.saturating_add(f.app.jitter.0)))
}
