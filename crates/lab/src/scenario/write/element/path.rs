//! Elements that make a path reorder or change with time, as inline tables.

use super::place;
use crate::scenario::write::{direction, list, quoted};
use ackclock_sim::scenario::{
    BelowZero, DeliveriesSpec, DemoteSpec, Distribution, Draws, NetemSpec, PathTraceSpec, RedrawnDelaySpec,
    SplitChoice, SplitPath, SplitSpec,
};
use std::fmt::Write;

pub(super) fn redrawn_delay(s: &RedrawnDelaySpec) -> String {
    let below_zero = match s.below_zero {
        BelowZero::Again => "again",
        BelowZero::Zero => "zero",
    };
    let draws = match s.draws {
        Draws::Own => "own",
        Draws::Link => "link",
    };
    format!(
        "kind = \"redrawn-delay\", mean = \"{}\", deviation = \"{}\", every = \"{}\", below_zero = \"{below_zero}\", overtaking = {}, draws = \"{draws}\"",
        s.mean, s.deviation, s.every, s.overtaking
    )
}

pub(super) fn split(s: &SplitSpec) -> String {
    let choice = match s.choice {
        SplitChoice::Turns => "turns",
        SplitChoice::Random => "random",
        SplitChoice::Flows => "flows",
    };
    let path = |p: &SplitPath| format!("{{ weight = {}, {} }}", p.weight, direction(&p.way).join(", "));
    format!("kind = \"split\", choice = \"{choice}\", paths = {}", list(s.paths.iter().map(path)))
}

pub(super) fn demote(s: &DemoteSpec) -> String {
    let device = s.device.map(|n| format!(", device = \"{n}\"")).unwrap_or_default();
    format!("kind = \"demote\", interval = {}{device}", s.interval)
}

pub(super) fn netem(s: &NetemSpec) -> String {
    let distribution = match s.distribution {
        Distribution::Uniform => "uniform",
        Distribution::Normal => "normal",
    };
    let mut out = format!(
        "kind = \"netem\", delay = \"{}\", jitter = \"{}\", jitter_correlation = {:?}, distribution = \"{distribution}\"",
        s.delay, s.jitter, s.jitter_correlation
    );
    // Writing to a string cannot fail.
    if s.gap > 0 {
        let _ = write!(out, ", reorder = {:?}, gap = {}", s.reorder, s.gap);
    }
    if let Some(rate) = s.rate {
        let _ = write!(out, ", rate = \"{rate}\"");
    }
    let _ = write!(out, ", reorder_correlation = {:?}, limit = \"{}\"", s.reorder_correlation, s.limit);
    out
}

pub(super) fn path_trace(s: &PathTraceSpec) -> String {
    let data = quoted(&s.rows.to_string());
    let repeat = s.repeat.map(|t| format!(", repeat = \"{t}\"")).unwrap_or_default();
    format!("kind = \"path-trace\", data = {data}{repeat}, at = \"{}\"", place(s.at))
}

pub(super) fn deliveries(s: &DeliveriesSpec) -> String {
    format!("kind = \"deliveries\", data = {}, bytes = \"{} B\"", quoted(&s.times.to_string()), s.bytes)
}
