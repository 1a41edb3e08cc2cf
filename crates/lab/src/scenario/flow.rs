//! One `[[flow]]`: who sends, with what, to whom, and how the receiver answers.

use super::graph::Graph;
use super::overrides::{self, Overrides};
use super::{within, MOST_FLOWS};
use crate::error::ScenarioError;
use crate::reader::{Keys, Node};
use ackclock_sim::scenario::{AppSpec, FlowSpec, WireSpec};
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Bytes;

/// A table of flows that has been read: all but their two nodes.
pub(super) struct FlowKeys<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) name: Option<(Node<'a>, String)>,
    pub(super) count: u32,
    pub(super) spread: Nanos,
    pub(super) spec: FlowSpec,
}

/// What a connection is like.
const CONNECTION: [&str; 8] = ["stack", "set", "segment", "header", "window", "handshake", "receiver", "wire"];
/// Which flows there are and what they send.
pub(super) const FLOW: [&str; 4] = ["name", "count", "spread", "app"];
/// The largest payload in an IPv4 packet with 20 bytes of IP and 20 of TCP header.
const LARGEST_SEGMENT: u64 = 65_495;
/// RFC 7323 §2.3: the largest window that can be announced.
const LARGEST_WINDOW: Bytes = 1 << 30;

/// Reads everything but the nodes; `besides` are the keys that may stand beside those of a connection.
pub(super) fn read<'a>(
    node: &Node<'a>,
    besides: &[&[&'static str]],
    graph: &mut Graph,
    overrides: &Overrides,
) -> Result<FlowKeys<'a>, ScenarioError> {
    let keys = node.keys(&[besides.concat().as_slice(), &CONNECTION].concat())?;
    let name = match keys.get("name") {
        None => None,
        Some(n) => match n.str("a name in quotes")? {
            "" => return Err(n.refuse("a name in quotes")),
            name => Some((n.clone(), name.to_owned())),
        },
    };
    let count = keys.get("count").map_or(Ok(1), |n| n.whole(1..=MOST_FLOWS))? as u32;
    let mss = keys.get("segment").map_or(Ok(1460), |n| n.bytes(1..=LARGEST_SEGMENT))? as u32;
    let window = window(&keys, mss)?;
    let app = app(&keys, mss, graph.duration)?;
    let spread = spread(&keys, count, app.start + app.jitter, graph.duration)?;
    let handshake = keys.get("handshake").map_or(Ok(false), |n| n.flag())?;
    let wire = wire(&keys)?;
    let stack = overrides::stack(&keys, overrides)?;
    let ack = match keys.get("receiver") {
        Some(r) => receiver(&r)?,
        None => stack.0.ack.clone(),
    };
    let stack = graph.stack(stack);
    let spec = FlowSpec { name: String::new(), from: 0, to: 0, stack, mss, window, ack, handshake, wire, app };
    Ok(FlowKeys { keys, name, count, spread, spec })
}

/// The receiver's window; without the key 64 KiB less one, the largest without window scaling.
fn window(keys: &Keys<'_>, mss: u32) -> Result<Bytes, ScenarioError> {
    let Some(node) = keys.get("window") else { return Ok(Bytes::max(65_535, mss.into())) };
    let window = node.amount(mss)?;
    if window < Bytes::from(mss) {
        return Err(node.refuse(format!("at least one segment ({mss} B)")));
    }
    if window > LARGEST_WINDOW {
        return Err(node.refuse("at most 1073741824 B (RFC 7323 §2.3)"));
    }
    Ok(window)
}

/// `{ kind = "bulk" }` never stops; `{ kind = "fixed", size = "1 MB" }` does.
fn app(keys: &Keys<'_>, mss: u32, duration: Nanos) -> Result<AppSpec, ScenarioError> {
    let Some(node) = keys.get("app") else {
        return Ok(AppSpec { start: Nanos::ZERO, jitter: Nanos::ZERO, bytes: None });
    };
    let app = node.keys(&["kind", "start", "jitter", "size"])?;
    let fixed = app.need("kind", "one of bulk, fixed")?.choice(&[("bulk", false), ("fixed", true)])?;
    let start = app.get("start").map_or(Ok(Nanos::ZERO), |n| within(&n, duration))?;
    let bytes = match (fixed, app.get("size")) {
        (true, _) => Some(app.need("size", "an amount, as in \"100 packets\" or \"1 MB\"")?.amount(mss)?),
        (false, Some(n)) => return Err(n.refuse_as("a size with kind \"bulk\"", "no size, or kind \"fixed\"")),
        (false, None) => None,
    };
    let jitter = match app.get("jitter") {
        None => Nanos::ZERO,
        Some(n) => match n.nanos()? {
            long if start + long >= duration => return Err(n.refuse("starts before the end of the run")),
            jitter => jitter,
        },
    };
    Ok(AppSpec { start, jitter, bytes })
}

/// The time over which the starts of `count` flows are spread evenly.
fn spread(keys: &Keys<'_>, count: u32, start: Nanos, duration: Nanos) -> Result<Nanos, ScenarioError> {
    let Some(node) = keys.get("spread") else { return Ok(Nanos::ZERO) };
    if count == 1 {
        return Err(node.refuse_as("a spread of one flow", "the key `count` above 1 beside it"));
    }
    let spread = within(&node, duration)?;
    if start + spread >= duration {
        return Err(node.refuse("starts before the end of the run"));
    }
    Ok(spread)
}

/// Real headers, or ns-2's fixed one, which `header` gives.
fn wire(keys: &Keys<'_>) -> Result<WireSpec, ScenarioError> {
    let header = keys.get("header").map(|n| Ok((n.bytes(0..=65_535)? as u32, n))).transpose()?;
    let ns2 = keys.get("wire").map(|n| n.choice(&[("ipv4", false), ("ns2", true)])).transpose()?;
    match (ns2, header) {
        (Some(false), Some((_, n))) => Err(n.refuse_as("a header with wire \"ipv4\"", "no header, or wire \"ns2\"")),
        (Some(true) | None, Some((header, _))) => Ok(WireSpec::Ns2 { header }),
        (Some(true), None) => Ok(WireSpec::Ns2 { header: 40 }),
        (Some(false) | None, None) => Ok(WireSpec::Ipv4),
    }
}

/// `{ ack = "every" }`, `{ ack = "delayed", delay = "200 ms" }` or `delayed-reordered`, `{ ack = "heartbeat", interval = …, phase = … }`
/// or `window-update`.
fn receiver(node: &Node<'_>) -> Result<AckSpec, ScenarioError> {
    #[derive(Clone, Copy)]
    enum Kind {
        Every,
        Delayed,
        DelayedReordered,
        Heartbeat,
        WindowUpdate,
    }
    let keys = node.keys(&["ack", "delay", "interval", "phase"])?;
    let kinds = [
        ("every", Kind::Every),
        ("delayed", Kind::Delayed),
        ("delayed-reordered", Kind::DelayedReordered),
        ("heartbeat", Kind::Heartbeat),
        ("window-update", Kind::WindowUpdate),
    ];
    let ack = keys.need("ack", "one of every, delayed, delayed-reordered, heartbeat, window-update")?;
    let kind = ack.choice(&kinds)?;
    let used: &[&str] = match kind {
        Kind::Every => &[],
        Kind::Delayed | Kind::DelayedReordered => &["delay"],
        Kind::Heartbeat | Kind::WindowUpdate => &["interval", "phase"],
    };
    for key in ["delay", "interval", "phase"] {
        if let Some(n) = keys.get(key).filter(|_| !used.contains(&key)) {
            return Err(n.refuse_as(format!("`{key}` with ack {}", ack.written()), "a key that this policy has"));
        }
    }
    let time = |key: &str, default: u64| match keys.get(key) {
        Some(n) => n.nanos_above_zero(),
        None => Ok(Nanos::from_millis(default)),
    };
    Ok(match kind {
        Kind::Every => AckSpec::Every,
        Kind::Delayed => AckSpec::Delayed { delay: time("delay", 200)? },
        Kind::DelayedReordered => AckSpec::DelayedReordered { delay: time("delay", 200)? },
        Kind::Heartbeat | Kind::WindowUpdate => {
            let interval = time("interval", 200)?;
            let phase = keys.get("phase").map_or(Ok(Nanos::ZERO), |n| {
                let phase = n.nanos()?;
                let allowed = || n.refuse(format!("less than the interval (\"{interval}\")"));
                (phase < interval).then_some(phase).ok_or_else(allowed)
            })?;
            match kind {
                Kind::WindowUpdate => AckSpec::WindowUpdate { interval, phase },
                _ => AckSpec::Heartbeat { interval, phase },
            }
        }
    })
}
