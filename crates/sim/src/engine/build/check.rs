//! Checks that a scenario can be run. Each refusal is one sentence.

use super::{paths_of_splits, splits};
use crate::background::{self, ROUND_BITS};
use crate::error::{Fault, Impossible};
use crate::next_event::{Keys, MAX_ELEMENTS};
use crate::scenario::{BackgroundKind, DirectionSpec, FlowSpec, Scenario, WireSpec};
use ackclock_tcp::time::Nanos;

/// Largest segment and largest header: far above any link's packets, far below any overflow.
const MAX_SIZE: u32 = 1 << 20;

/// What follows from the size of a scenario.
pub(super) struct Checked {
    /// The element number of the first host.
    pub(super) first_host: u32,
    pub(super) keys: Keys,
}

/// Checks everything but the paths.
pub(super) fn scenario(s: &Scenario) -> Result<Checked, Impossible> {
    let on_links: usize = s.links.iter().map(|l| l.forward.elements.len() + l.back.elements.len()).sum();
    let slots: usize = s.background.iter().map(|b| b.slots() as usize).sum();
    let on_paths: usize = splits(s).flat_map(|s| &s.paths).map(|p| p.way.elements.len()).sum();
    let on_links = on_links + on_paths;
    let transits = 2 * s.links.len() + paths_of_splits(s);
    let found = transits + on_links + 2 * (s.flows.len() + slots) + s.background.len();
    // The number of a host that transfers of background traffic share has the number of the transfer above it.
    let most = if slots == 0 { MAX_ELEMENTS } else { 1 << ROUND_BITS };
    if found > most {
        return Err(Impossible::TooManyElements { found, most });
    }
    let keys = Keys::new(found);
    let short = |what: &str, found| short(what, found, keys);
    short("the run's duration", s.duration)?;
    names(s)?;
    for (i, l) in s.links.iter().enumerate() {
        let what = format!("link {i}");
        ends(s, &what, l.from, l.to)?;
        for link in [2 * i, 2 * i + 1] {
            let (from, to) = if link % 2 == 1 { (l.to, l.from) } else { (l.from, l.to) };
            let what = format!("link {i} from \"{}\" to \"{}\"", s.nodes[from as usize], s.nodes[to as usize]);
            one_way(&what, s.direction(link))?;
            counted_flows(s, &what, s.direction(link))?;
        }
    }
    splits(s).flat_map(|s| &s.paths).try_for_each(|p| counted_flows(s, "a path of a split", &p.way))?;
    for (f, number) in s.flows.iter().zip(0..) {
        let what = format!("flow \"{}\"", f.name);
        ends(s, &what, f.from, f.to)?;
        flow(&what, f, keys)?;
        waits(s, &what, f, number)?;
    }
    for (i, b) in s.background.iter().enumerate() {
        let what = format!("background {}", i + 1);
        ends(s, &what, b.from, b.to)?;
        short(&format!("{what}: start"), b.start)?;
        background::check(b, &what)?;
        if let BackgroundKind::Transfers(t) = &b.kind {
            flow(&what, &t.flow, keys)?;
        }
    }
    Ok(Checked { first_host: (transits + on_links) as u32, keys })
}

fn refuse<T>(what: &str, found: impl ToString, allowed: impl Into<String>) -> Result<T, Impossible> {
    Err(Impossible::Value { what: what.to_owned(), found: found.to_string(), allowed: allowed.into() })
}

fn short(what: &str, found: Nanos, keys: Keys) -> Result<(), Impossible> {
    if found.0 < keys.end() - 1 {
        Ok(())
    } else {
        Err(Impossible::TooLong { what: what.to_owned(), found, most: Nanos(keys.end() - 2) })
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

fn one_way(what: &str, d: &DirectionSpec) -> Result<(), Impossible> {
    d.fault().map_or(Ok(()), |Fault { key, found, allowed }| refuse(&format!("{what}: {key}"), found, allowed))
}

/// Checks that the flows exist whose packets the elements count.
fn counted_flows(s: &Scenario, what: &str, d: &DirectionSpec) -> Result<(), Impossible> {
    d.elements.iter().try_for_each(|e| match e.properties().flow {
        Some(index) if index as usize >= s.flows.len() => {
            let what = format!("{what}: a {}", e.kind());
            Err(Impossible::Unknown { what, kind: "flow", index, len: s.flows.len() })
        }
        Some(_) | None => Ok(()),
    })
}

/// Checks that a flow's wait can end.
fn waits(s: &Scenario, what: &str, f: &FlowSpec, number: u32) -> Result<(), Impossible> {
    let Some(after) = f.after else { return Ok(()) };
    if after.flow >= number {
        return refuse(&format!("{what}: the flow that it waits for"), after.flow, "the number of an earlier flow");
    }
    if s.flows[after.flow as usize].app.bytes.is_none() {
        return refuse(what, "a flow that waits for an endless flow", "a flow that waits for a flow of finite size");
    }
    match after.think.and_then(|think| think.fault("think")) {
        Some(Fault { key, found, allowed }) => refuse(&format!("{what}: {key}"), found, allowed),
        None => Ok(()),
    }
}

fn flow(what: &str, f: &FlowSpec, keys: Keys) -> Result<(), Impossible> {
    if !(1..=MAX_SIZE).contains(&f.mss) {
        return refuse(&format!("{what}: segment size"), format!("{} B", f.mss), "1 B to 1048576 B");
    }
    if let WireSpec::Ns2 { header } = f.wire
        && header > MAX_SIZE
    {
        return refuse(&format!("{what}: header size"), format!("{header} B"), "0 B to 1048576 B");
    }
    if f.app.bytes.is_some_and(|b| b > crate::app::BULK) {
        return refuse(&format!("{what}: bytes to send"), "more", "up to 2^60 B");
    }
    if let Some(Fault { key, found, allowed }) = f.app.pieces.and_then(|pieces| pieces.fault()) {
        return refuse(&format!("{what}: {key}"), found, allowed);
    }
    short(&format!("{what}: start"), Nanos(f.app.start.0.saturating_add(f.app.jitter.0)), keys)
}
