//! The results of live runs, as JSON: for `--json`, and for the tables of the command.

use crate::bench::{Direction, Outcome, Transfer};
use crate::driver::Counts;
use crate::kernel::{Counters, SHOWN};
use crate::path::{Prepared, Ran};
use crate::shell::{Ended, Way};
use crate::transfer::Transferred;
use ackclock_lab::summary::ReorderingSummary;
use ackclock_tcp::time::Nanos;
use serde_json::{json, Value};

/// An entry of `ackclock live bench`.
pub fn entry(transfer: &Transfer, outcome: &Outcome) -> Value {
    let Transfer { direction, family, offload, mtu, stack, .. } = transfer;
    json!({
        "direction": match direction {
            Direction::Send => "send",
            Direction::Receive => "receive",
        },
        "offload": offload,
        "family": family.name(),
        "stack": stack.name,
        "mtu": mtu,
        "bytes": outcome.bytes,
        "seconds": outcome.time.as_secs_f64(),
        "gbps": gbps(outcome.bytes, outcome.time),
        "hashes_equal": outcome.hashes_equal,
        "wraps": outcome.wraps,
        "engine_processor": outcome.engine_processor,
        "kernel_processor": outcome.kernel_processor,
        "bytes_per_frame": per_frame(outcome.bytes, outcome.counts, *direction),
        "retransmitted": outcome.retransmitted,
        "frames": frames(outcome.counts),
        "late_p99_us": micros(outcome.late_p99),
        "late_worst_us": micros(outcome.late_worst),
        "priority": outcome.priority.words(),
    })
}

/// The result of `ackclock live send` and `ackclock live recv`.
pub fn transferred(it: &Transferred) -> Value {
    json!({
        "bytes": it.bytes,
        "xxh3": format!("{:016x}", it.hash),
        "hashes_equal": it.hashes_equal,
        "seconds": it.time.as_secs_f64(),
        "gbps": gbps(it.bytes, it.time),
        "engine_processor": it.engine_processor,
        "retransmitted": it.retransmitted,
        "frames": frames(it.counts),
        "late_p99_us": micros(it.late_p99),
        "late_worst_us": micros(it.late_worst),
        "priority": it.priority.words(),
    })
}

/// The result of `ackclock live shell` between two nodes.
pub fn shelled(it: &Ended, seed: u64, ends: &[String; 2]) -> Value {
    let [a, b] = ends;
    let [out, back] = &it.ways;
    json!({
        "code": it.code,
        "peer_code": it.peer,
        "seed": seed,
        "seconds": it.lasted.as_secs_f64(),
        "ways": [way(out, a, b, it.device_drops[0]), way(back, b, a, it.device_drops[1])],
        "late_p50_us": micros(it.lateness.percentile(500)),
        "late_p99_us": micros(it.lateness.percentile(990)),
        "late_worst_us": micros(it.lateness.worst()),
        "priority": it.priority.words(),
    })
}

fn way(way: &Way, from: &str, to: &str, device_drops: u64) -> Value {
    json!({
        "from": from,
        "to": to,
        "sent": way.sent,
        "bytes": way.bytes,
        "arrived": way.arrived,
        "lost": way.lost(),
        "queue_drops": way.queue_drops,
        "loss_drops": way.loss_drops,
        "early_drops": way.early_drops,
        "script_drops": way.script_drops,
        "doubled": way.doubled,
        "marked": way.marked,
        "under_way": way.under_way(),
        "device_drops": device_drops,
        "reordering": ReorderingSummary::of(&way.order),
    })
}

/// The results that only `ackclock live path` has, in addition to those of every run of a scenario.
pub fn about(prepared: &Prepared, ran: &Ran) -> Value {
    let [at_sender, at_receiver] = &ran.counters;
    let [from_sender, from_receiver] = ran.device_drops;
    let name = |flow: u32| &prepared.plan.scenario.flows[flow as usize].name;
    json!({
        "notes": prepared.notes,
        "counters": { "sender": counters(at_sender.as_ref()), "receiver": counters(at_receiver.as_ref()) },
        "shown_counters": SHOWN,
        "late_p50_us": micros(ran.lateness.percentile(500)),
        "late_p99_us": micros(ran.lateness.percentile(990)),
        "late_worst_us": micros(ran.lateness.worst()),
        "packets": ran.lateness.count(),
        "priority": ran.priority.words(),
        "device_drops": { "sender": from_sender, "receiver": from_receiver },
        "strays": ran.strays,
        "damaged": ran.damaged.iter().map(|(flow, at)| json!({ "flow": name(*flow), "byte": at })).collect::<Vec<_>>(),
    })
}

fn counters(of: Option<&Counters>) -> Value {
    of.map_or(Value::Null, |c| c.iter().map(|(name, n)| (name.to_owned(), json!(n))).collect())
}

fn frames(counts: Counts) -> Value {
    let Counts { received, other, malformed, sent, lost, naps } = counts;
    json!({
        "received": received, "other": other, "malformed": malformed, "sent": sent, "lost": lost, "naps": naps,
    })
}

/// Of the side that carries the data.
fn per_frame(bytes: u64, counts: Counts, direction: Direction) -> f64 {
    let frames = match direction {
        Direction::Send => counts.sent,
        Direction::Receive => counts.received,
    };
    bytes as f64 / frames.max(1) as f64
}

fn gbps(bytes: u64, time: Nanos) -> f64 {
    bytes as f64 * 8e-9 / time.as_secs_f64().max(1e-9)
}

fn micros(time: Option<Nanos>) -> Option<f64> {
    time.map(|t| t.0 as f64 / 1e3)
}
