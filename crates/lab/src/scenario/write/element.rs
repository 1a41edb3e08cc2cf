//! An element as inline TOML.

mod path;

use super::list;
use ackclock_sim::scenario::{
    Chain, ElementSpec, Gap, GilbertElliottSpec, Only, Per, Place, RedSpec, ScriptAction, ScriptRule, SwapMode,
    Thresholds, When,
};
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::show_bytes;

pub(super) fn element(e: &ElementSpec) -> String {
    let keys = match e {
        ElementSpec::Swap(s) => swap(s.mode, s.count, &s.gap),
        ElementSpec::Bernoulli(b) => {
            format!("kind = \"bernoulli\", p = {:?}, per = \"{}\", {}", b.p, word(b.per), gate(b.at, b.only))
        }
        ElementSpec::GilbertElliott(g) => gilbert_elliott(g),
        ElementSpec::DelaySpike(i) => interruption("delay-spike", &i.when, i.length, gate(i.at, i.only)),
        ElementSpec::Outage(i) => interruption("outage", &i.when, i.length, gate(i.at, i.only)),
        ElementSpec::Red(r) => red(r),
        ElementSpec::Script(s) => format!("kind = \"script\", {}, {}", script(&s.rules), gate(s.at, s.only)),
        ElementSpec::RedrawnDelay(s) => path::redrawn_delay(s),
        ElementSpec::Split(s) => path::split(s),
        ElementSpec::Demote(s) => path::demote(s),
        ElementSpec::Netem(s) => path::netem(s),
        ElementSpec::PathTrace(s) => path::path_trace(s),
        ElementSpec::Deliveries(s) => path::deliveries(s),
        ElementSpec::Wobble(_) | ElementSpec::Priority(_) | ElementSpec::TokenBucket(_) | ElementSpec::Custom(_) => {
            format!("kind = \"{}\"", e.kind())
        }
    };
    format!("{{ {keys} }}")
}

/// Where an element acts, and on which packets.
fn gate(at: Place, only: Only) -> String {
    let only = match only {
        Only::All => "",
        Only::Data => ", only = \"data\"",
        Only::Acks => ", only = \"acks\"",
    };
    format!("at = \"{}\"{only}", place(at))
}

fn place(at: Place) -> &'static str {
    match at {
        Place::Entry => "entry",
        Place::Exit => "exit",
    }
}

fn word(per: Per) -> &'static str {
    match per {
        Per::Packet => "packet",
        Per::Byte => "byte",
    }
}

pub(super) fn gap(gap: &Gap) -> String {
    match gap {
        Gap::Exponential(mean) => format!("{{ exponential = \"{mean}\" }}"),
        Gap::Constant(gap) => format!("{{ constant = \"{gap}\" }}"),
    }
}

fn swap(mode: SwapMode, count: u32, every: &Gap) -> String {
    let mode = match mode {
        SwapMode::Slots => "slots",
        SwapMode::Literal => "literal",
        SwapMode::Neighbours => "neighbours",
    };
    format!("kind = \"swap\", mode = \"{mode}\", count = {count}, gap = {}", gap(every))
}

fn gilbert_elliott(g: &GilbertElliottSpec) -> String {
    let chain = match g.chain {
        Chain::Packets { p, r } => format!("p = {p:?}, r = {r:?}"),
        Chain::Time { good_for, bad_for } => format!("good_for = \"{good_for}\", bad_for = \"{bad_for}\""),
    };
    let losses = format!("good_loss = {:?}, bad_loss = {:?}", g.good_loss, g.bad_loss);
    format!("kind = \"gilbert-elliott\", {chain}, {losses}, {}", gate(g.at, g.only))
}

fn interruption(kind: &str, when: &When, length: Nanos, gate: String) -> String {
    let when = match when {
        When::Times(times) => format!("times = {}", list(times.iter().map(|t| format!("\"{t}\"")))),
        When::Gap(g) => format!("gap = {}", gap(g)),
    };
    format!("kind = \"{kind}\", {when}, length = \"{length}\", {gate}")
}

fn red(r: &RedSpec) -> String {
    let (min, max) = match r.thresholds {
        Thresholds::Packets { min, max } => (format!("{min} packets"), format!("{max} packets")),
        Thresholds::Bytes { min, max } => (show_bytes(min), show_bytes(max)),
    };
    let luck = format!("max_p = {:?}, weight = {:?}, gentle = {}, wait = {}", r.max_p, r.weight, r.gentle, r.wait);
    let sizes = format!("per = \"{}\", mean_packet = \"{} B\", ecn = {}", word(r.per), r.mean_packet, r.ecn);
    format!("kind = \"red\", min = \"{min}\", max = \"{max}\", {luck}, {sizes}")
}

fn script(rules: &[ScriptRule]) -> String {
    let of = |action: ScriptAction| rules.iter().filter(move |r| r.action == action).map(|r| r.nth);
    let delays = rules.iter().filter_map(|r| match r.action {
        ScriptAction::Delay(by) => Some(format!("{{ nth = {}, by = \"{by}\" }}", r.nth)),
        ScriptAction::Drop | ScriptAction::Duplicate => None,
    });
    let (drops, duplicates) = (list(of(ScriptAction::Drop)), list(of(ScriptAction::Duplicate)));
    format!("drop = {drops}, duplicate = {duplicates}, delay = {}", list(delays))
}
