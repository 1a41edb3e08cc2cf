//! What acts on the packets of a link.

mod path;

use crate::error::{listed, nearest, ScenarioError};
use crate::reader::{Keys, Node};
use ackclock_sim::scenario::{
    BernoulliSpec, Chain, DelaySpikeSpec, DirectionSpec, ElementSpec, Gap, GilbertElliottSpec, Only, OutageSpec, Per,
    Place, QueueLimit, RedSpec, ScriptAction, ScriptRule, ScriptSpec, SwapMode, SwapSpec, Thresholds, When,
};
use ackclock_tcp::time::Nanos;

const KINDS: [&str; 13] = [
    "swap",
    "bernoulli",
    "gilbert-elliott",
    "delay-spike",
    "outage",
    "red",
    "script",
    "redrawn-delay",
    "split",
    "demote",
    "netem",
    "path-trace",
    "deliveries",
];

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
        "bernoulli" => bernoulli(&node.keys(&["kind", "p", "per", "at", "only"])?),
        "gilbert-elliott" => gilbert_elliott(&node.keys(&[
            "kind",
            "p",
            "r",
            "good_for",
            "bad_for",
            "good_loss",
            "bad_loss",
            "at",
            "only",
        ])?),
        "delay-spike" => interruption(node)
            .map(|(when, length, at, only)| ElementSpec::DelaySpike(DelaySpikeSpec { when, length, at, only })),
        "outage" => interruption(node)
            .map(|(when, length, at, only)| ElementSpec::Outage(OutageSpec { when, length, at, only })),
        "red" => red(&node.keys(&[
            "kind",
            "min",
            "max",
            "max_p",
            "weight",
            "gentle",
            "wait",
            "per",
            "mean_packet",
            "ecn",
        ])?),
        "script" => script(&node.keys(&["kind", "at", "only", "drop", "delay", "duplicate"])?),
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
    Ok(ElementSpec::Swap(SwapSpec { mode, count, gap: gap(&keys.need("gap", GAP)?, Nanos(1))? }))
}

pub(super) const GAP: &str = "{ exponential = \"1 s\" } or { constant = \"1 s\" }";

/// `{ exponential = "1 s" }` or `{ constant = "1 s" }`, at least so long.
pub(super) fn gap(node: &Node<'_>, shortest: Nanos) -> Result<Gap, ScenarioError> {
    let keys = node.keys(&["exponential", "constant"])?;
    let time = |n: &Node<'_>| match n.nanos_above_zero()? {
        short if short < shortest => Err(n.refuse(format!("a time of at least \"{shortest}\""))),
        long => Ok(long),
    };
    match (keys.get("exponential"), keys.get("constant")) {
        (Some(mean), None) => Ok(Gap::Exponential(time(&mean)?)),
        (None, Some(gap)) => Ok(Gap::Constant(time(&gap)?)),
        (both, _) => {
            let found = if both.is_some() { "both `exponential` and `constant`" } else { "neither key" };
            Err(node.refuse_as(found, GAP))
        }
    }
}

fn bernoulli(keys: &Keys<'_>) -> Result<ElementSpec, ScenarioError> {
    let p = keys.need("p", "a probability from 0 to 1, as in 0.01")?.probability()?;
    Ok(ElementSpec::Bernoulli(BernoulliSpec { p, per: per(keys)?, at: place(keys, Place::Entry)?, only: only(keys)? }))
}

/// `p` and `r`, or `good_for` and `bad_for`.
fn gilbert_elliott(keys: &Keys<'_>) -> Result<ElementSpec, ScenarioError> {
    let (step, spell) = ("a probability above 0, as in 0.01", "a time, as in \"10 s\"");
    let chain = match (["p", "r"].map(|k| keys.get(k)), ["good_for", "bad_for"].map(|k| keys.get(k))) {
        ([None, None], [None, None]) => {
            return Err(keys.node.refuse_as("a channel that never changes", "p and r, or good_for and bad_for"));
        }
        (_, [None, None]) => {
            let p = above_zero(&keys.need("p", step)?)?;
            Chain::Packets { p, r: above_zero(&keys.need("r", step)?)? }
        }
        ([None, None], _) => {
            let good_for = keys.need("good_for", spell)?.nanos_above_zero()?;
            Chain::Time { good_for, bad_for: keys.need("bad_for", spell)?.nanos_above_zero()? }
        }
        _ => {
            let found = "a channel that changes by packets and by time";
            return Err(keys.node.refuse_as(found, "either p and r, or good_for and bad_for"));
        }
    };
    let loss = |key, default| keys.get(key).map_or(Ok(default), |n| n.probability());
    let (good_loss, bad_loss) = (loss("good_loss", 0.0)?, loss("bad_loss", 1.0)?);
    let (at, only) = (place(keys, Place::Entry)?, only(keys)?);
    Ok(ElementSpec::GilbertElliott(GilbertElliottSpec { chain, good_loss, bad_loss, at, only }))
}

/// `times = ["5 s"]`, or `gap = { exponential = "30 s" }`; `length = "3 s"`.
fn interruption(node: &Node<'_>) -> Result<(When, Nanos, Place, Only), ScenarioError> {
    let keys = &node.keys(&["kind", "times", "gap", "length", "at", "only"])?;
    let length = keys.need("length", "a time, as in \"3 s\"")?.nanos_above_zero()?;
    let when = match (keys.get("times"), keys.get("gap")) {
        (Some(list), None) => {
            let mut times: Vec<Nanos> = Vec::new();
            for item in list.items("a list of times, as in [\"5 s\", \"20 s\"]")? {
                let at = item.nanos()?;
                if times.last().is_some_and(|t| at <= *t + length) {
                    return Err(item.refuse("a time after the end of the interruption before"));
                }
                times.push(at);
            }
            if times.is_empty() {
                return Err(list.refuse("at least one time, as in [\"5 s\"]"));
            }
            When::Times(times)
        }
        (None, Some(g)) => When::Gap(gap(&g, Nanos::from_millis(1))?),
        (times, _) => {
            let found = if times.is_some() { "both `times` and `gap`" } else { "neither `times` nor `gap`" };
            return Err(node.refuse_as(found, "times = [\"5 s\"] or gap = { exponential = \"30 s\" }"));
        }
    };
    Ok((when, length, place(keys, Place::Exit)?, only(keys)?))
}

/// Thresholds with a unit, `min = "5 packets", max = "20 packets"`; the rest has ns-2's defaults.
fn red(keys: &Keys<'_>) -> Result<ElementSpec, ScenarioError> {
    let allowed = "\"5 packets\" or a size in bytes, as in \"5 kB\"";
    let (min, max) = (keys.need("min", allowed)?, keys.need("max", allowed)?);
    let thresholds = match (min.limit()?, max.limit()?) {
        (QueueLimit::Packets(a), QueueLimit::Packets(b)) if a < b => Thresholds::Packets { min: a, max: b },
        (QueueLimit::Bytes(a), QueueLimit::Bytes(b)) if a < b => Thresholds::Bytes { min: a, max: b },
        (QueueLimit::Unlimited, _) => return Err(min.refuse(allowed)),
        _ => return Err(max.refuse(format!("more than `min` ({}), in the same unit", min.written()))),
    };
    let mut spec = RedSpec::new(thresholds);
    for (key, value) in [("max_p", &mut spec.max_p), ("weight", &mut spec.weight)] {
        if let Some(n) = keys.get(key) {
            *value = above_zero(&n)?;
        }
    }
    for (key, value) in [("gentle", &mut spec.gentle), ("wait", &mut spec.wait), ("ecn", &mut spec.ecn)] {
        if let Some(n) = keys.get(key) {
            *value = n.flag()?;
        }
    }
    spec.per = per(keys)?;
    if let Some(n) = keys.get("mean_packet") {
        spec.mean_packet = n.bytes(1..=65_535)? as u32;
    }
    Ok(ElementSpec::Red(spec))
}

fn above_zero(node: &Node<'_>) -> Result<f64, ScenarioError> {
    let p = node.probability()?;
    (p > 0.0).then_some(p).ok_or_else(|| node.refuse("above 0, at most 1"))
}

fn per(keys: &Keys<'_>) -> Result<Per, ScenarioError> {
    keys.get("per").map_or(Ok(Per::Packet), |n| n.choice(&[("packet", Per::Packet), ("byte", Per::Byte)]))
}

fn only(keys: &Keys<'_>) -> Result<Only, ScenarioError> {
    keys.get("only").map_or(Ok(Only::All), |n| n.choice(&[("data", Only::Data), ("acks", Only::Acks)]))
}

fn place(keys: &Keys<'_>, default: Place) -> Result<Place, ScenarioError> {
    keys.get("at").map_or(Ok(default), |n| n.choice(&[("entry", Place::Entry), ("exit", Place::Exit)]))
}

/// Whether packets wait on this direction: it has a rate.
pub(super) fn waits(d: &DirectionSpec) -> bool {
    let rate = |e: &ElementSpec| match e {
        ElementSpec::PathTrace(s) => s.rows.first().is_some_and(|r| r.rate.is_some()),
        e => matches!(e, ElementSpec::Deliveries(_)),
    };
    d.rate.is_some() || d.elements.iter().any(rate)
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
    Ok(ElementSpec::Script(ScriptSpec { at: place(keys, Place::Entry)?, only: only(keys)?, rules }))
}

/// Swaps, RED and demotes act on waiting packets: they must be able to wait, and slots must be countable.
pub(super) fn check_queue(keys: &Keys<'_>, d: &DirectionSpec) -> Result<(), ScenarioError> {
    let at = keys.get("elements").unwrap_or_else(|| keys.node.clone());
    for (i, e) in d.elements.iter().enumerate() {
        let (what, mode, can) = match e {
            ElementSpec::Swap(s) => ("a swap", Some(&s.mode), waits(d)),
            ElementSpec::Demote(_) => ("a demote", None, waits(d)),
            // By the link's own rate RED measures how long it was idle.
            ElementSpec::Red(_) => ("RED", None, d.rate.is_some()),
            _ => continue,
        };
        let here = if at.value.is_array() { at.items("")?.swap_remove(i) } else { at.clone() };
        if !can {
            let found = format!("{what} on a link of unlimited rate");
            return Err(here.refuse_as(found, "a rate, since nothing waits here"));
        }
        if mode == Some(&SwapMode::Slots) && !matches!(d.queue.limit, QueueLimit::Packets(_)) {
            let found = "a swap with mode \"slots\" on a queue whose slots cannot be counted";
            return Err(here.refuse_as(found, "a queue limit in packets, or mode \"literal\" or \"neighbours\""));
        }
    }
    Ok(())
}
