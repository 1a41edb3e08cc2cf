//! What acts on the packets of a link.

mod path;

use crate::error::{listed, nearest, ScenarioError};
use crate::reader::{Keys, Node};
use ackclock_sim::scenario::{DirectionSpec, ElementSpec, Gap, Place, QueueLimit, ScriptAction, ScriptRule, SwapMode};

const KINDS: [&str; 9] =
    ["swap", "bernoulli", "script", "redrawn-delay", "split", "demote", "netem", "path-trace", "deliveries"];

/// The elements of one direction, in order; `own` is that direction without them.
pub(super) fn list(node: &Node<'_>, own: &DirectionSpec) -> Result<Vec<ElementSpec>, ScenarioError> {
    let items = node.items("a list of elements, as in [{ kind = \"bernoulli\", p = 0.01 }]")?;
    items.iter().map(|item| element(item, own)).collect()
}

fn element(node: &Node<'_>, own: &DirectionSpec) -> Result<ElementSpec, ScenarioError> {
    let allowed = format!("one of {}", listed(&KINDS));
    let entries = node.entries("a table, as in { kind = \"bernoulli\", p = 0.01 }")?;
    let kind = entries.iter().find(|(k, _)| k == "kind").map(|(_, n)| n);
    let Some(kind) = kind else {
        return Err(node.src.error(node.span.start, Some(format!("{}.kind", node.path)), "nothing", allowed));
    };
    match kind.str(&allowed)? {
        "swap" => swap(&node.keys(&["kind", "mode", "count", "gap"])?),
        "bernoulli" => bernoulli(&node.keys(&["kind", "p", "at"])?),
        "script" => script(&node.keys(&["kind", "at", "drop", "delay", "duplicate"])?),
        "redrawn-delay" => path::redrawn_delay(node),
        "split" => path::split(node, own),
        "demote" => path::demote(node),
        "netem" => path::netem(node),
        "path-trace" => path::path_trace(node),
        "deliveries" => path::deliveries(node),
        other => {
            let hint = nearest(other, KINDS).map(|n| format!("\"{n}\""));
            Err(kind.refuse(allowed).with_hint(hint))
        }
    }
}

fn swap(keys: &Keys<'_>) -> Result<ElementSpec, ScenarioError> {
    let modes = [("slots", SwapMode::Slots), ("literal", SwapMode::Literal), ("neighbours", SwapMode::Neighbours)];
    let mode = keys.need("mode", "one of slots, literal, neighbours")?.choice(&modes)?;
    let count = keys.get("count").map_or(Ok(1), |n| n.whole(1..=100_000))? as u32;
    let gap = keys.need("gap", "{ exponential = \"1 s\" } or { constant = \"1 s\" }")?;
    let gap = gap.keys(&["exponential", "constant"])?;
    let gap = match (gap.get("exponential"), gap.get("constant")) {
        (Some(mean), None) => Gap::Exponential(mean.nanos_above_zero()?),
        (None, Some(gap)) => Gap::Constant(gap.nanos_above_zero()?),
        (both, _) => {
            let found = if both.is_some() { "both `exponential` and `constant`" } else { "neither key" };
            return Err(gap.node.refuse_as(found, "{ exponential = \"1 s\" } or { constant = \"1 s\" }"));
        }
    };
    Ok(ElementSpec::Swap { mode, count, gap })
}

fn bernoulli(keys: &Keys<'_>) -> Result<ElementSpec, ScenarioError> {
    let p = keys.need("p", "a probability from 0 to 1, as in 0.01")?.probability()?;
    Ok(ElementSpec::Bernoulli { p, at: place(keys)? })
}

/// Whether packets wait on this direction: it has a rate.
pub(super) fn waits(d: &DirectionSpec) -> bool {
    let rate = |e: &ElementSpec| match e {
        ElementSpec::PathTrace(s) => s.rows.first().is_some_and(|r| r.rate.is_some()),
        e => matches!(e, ElementSpec::Deliveries(_)),
    };
    d.rate.is_some() || d.elements.iter().any(rate)
}

fn place(keys: &Keys<'_>) -> Result<Place, ScenarioError> {
    keys.get("at").map_or(Ok(Place::Entry), |n| n.choice(&[("entry", Place::Entry), ("exit", Place::Exit)]))
}

/// `drop = [14, 26]`, `duplicate = [3]`, `delay = [{ nth = 5, by = "30 ms" }]`, in the order of arrivals.
fn script(keys: &Keys<'_>) -> Result<ElementSpec, ScenarioError> {
    let any = 0..=i64::MAX as u64;
    let mut rules: Vec<ScriptRule> = Vec::new();
    let mut add = |node: &Node<'_>, nth: u64, action: ScriptAction| {
        if rules.iter().any(|r| r.nth == nth) {
            return Err(node.refuse_as(format!("arrival {nth} a second time"), "one rule for each arrival"));
        }
        rules.push(ScriptRule { nth, action });
        Ok(())
    };
    for (key, action) in [("drop", ScriptAction::Drop), ("duplicate", ScriptAction::Duplicate)] {
        if let Some(list) = keys.get(key) {
            for item in list.items("a list of arrivals counted from 0, as in [14, 26]")? {
                add(&item, item.whole(any.clone())?, action)?;
            }
        }
    }
    if let Some(list) = keys.get("delay") {
        for item in list.items("a list, as in [{ nth = 5, by = \"30 ms\" }]")? {
            let rule = item.keys(&["nth", "by"])?;
            let nth = rule.need("nth", "an arrival counted from 0")?;
            let by = rule.need("by", "a time, as in \"30 ms\"")?.nanos_above_zero()?;
            add(&nth, nth.whole(any.clone())?, ScriptAction::Delay(by))?;
        }
    }
    if rules.is_empty() {
        return Err(keys.node.refuse_as("a script without a rule", "at least one of the keys drop, delay, duplicate"));
    }
    rules.sort_by_key(|r| r.nth);
    Ok(ElementSpec::Script { at: place(keys)?, rules })
}

/// A swap exchanges waiting packets, and a demote moves them: they must be able to wait, and slots must be countable.
pub(super) fn check_swaps(keys: &Keys<'_>, d: &DirectionSpec) -> Result<(), ScenarioError> {
    let at = keys.get("elements").unwrap_or_else(|| keys.node.clone());
    for (i, e) in d.elements.iter().enumerate() {
        let (what, mode) = match e {
            ElementSpec::Swap { mode, .. } => ("a swap", Some(*mode)),
            ElementSpec::Demote(_) => ("a demote", None),
            _ => continue,
        };
        let here = if at.value.is_array() { at.items("")?.swap_remove(i) } else { at.clone() };
        if !waits(d) {
            let found = format!("{what} on a link of unlimited rate");
            return Err(here.refuse_as(found, "a rate, since nothing waits here"));
        }
        if mode == Some(SwapMode::Slots) && !matches!(d.queue.limit, QueueLimit::Packets(_)) {
            let found = "a swap with mode \"slots\" on a queue whose slots cannot be counted";
            return Err(here.refuse_as(found, "a queue limit in packets, or mode \"literal\" or \"neighbours\""));
        }
    }
    Ok(())
}
