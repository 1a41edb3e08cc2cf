//! Paths with retransmissions of all kinds.

use ackclock_sim::scenario::*;
use ackclock_sim::topology::dumbbell::{dumbbell, flow, pipe};
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Rate;

/// One path: its name, and its difference from the plain one.
pub(crate) type Path = (&'static str, fn(&mut Scenario));

pub(crate) const PATHS: &[Path] = &[
    ("short queue", |s| queue(s, 20)),
    ("loss 0.3 %", |s| forward(s, loss(0.003))),
    ("loss 1 %", |s| forward(s, loss(0.01))),
    ("loss 3 %", |s| forward(s, loss(0.03))),
    ("loss 8 %", |s| forward(s, loss(0.08))),
    ("bursts", |s| forward(s, bursts())),
    ("swaps", |s| forward(s, swap(12))),
    ("many swaps", |s| forward(s, swap(60))),
    ("swaps, loss 1 %", |s| {
        forward(s, swap(12));
        forward(s, loss(0.01));
    }),
    ("jitter 20 ms", |s| forward(s, jitter(10))),
    ("jitter 100 ms", |s| forward(s, jitter(50))),
    ("jitter 50 ms, loss 3 %", |s| {
        forward(s, jitter(25));
        forward(s, loss(0.03));
    }),
    ("ACK loss 10 %, loss 1 %", |s| {
        forward(s, loss(0.01));
        backward(s, loss(0.1));
    }),
    ("ACK loss 30 %, swaps", |s| {
        forward(s, swap(12));
        backward(s, loss(0.3));
    }),
    ("ACK jitter 40 ms, loss 1 %", |s| {
        forward(s, loss(0.01));
        backward(s, jitter(20));
    }),
    ("delayed ACKs, loss 1 %", |s| {
        forward(s, loss(0.01));
        delayed(s);
    }),
    ("delayed ACKs, swaps", |s| {
        forward(s, swap(12));
        delayed(s);
    }),
    ("delayed ACKs, jitter 40 ms, loss 1 %", |s| {
        forward(s, jitter(20));
        forward(s, loss(0.01));
        delayed(s);
    }),
    ("two paths 40 ms apart", |s| forward(s, split(40))),
    ("two paths 40 ms apart, loss 1 %", |s| {
        forward(s, split(40));
        forward(s, early_loss(0.01));
        delayed(s);
    }),
    ("two paths 150 ms apart, loss 1 %", |s| {
        forward(s, split(150));
        forward(s, early_loss(0.01));
    }),
    ("spikes", |s| forward(s, spikes(600))),
    ("spikes, loss 1 %", |s| {
        forward(s, spikes(300));
        forward(s, loss(0.01));
    }),
    ("outages", |s| forward(s, outages())),
    ("redrawn delay", |s| forward(s, redrawn())),
    ("redrawn delay, ACK loss 5 %", |s| {
        forward(s, redrawn());
        backward(s, loss(0.05));
    }),
    ("doubled, loss 1 %", |s| {
        forward(s, doubles());
        forward(s, loss(0.01));
    }),
    ("slow, loss 2 %", |s| {
        s.links[0].forward.rate = Some(Rate(300_000));
        forward(s, loss(0.02));
    }),
    ("fast, loss 0.1 %", |s| {
        s.links[0].forward.rate = Some(Rate(50_000_000));
        forward(s, loss(0.001));
        queue(s, 500);
    }),
    ("wobble, loss 1 %", |s| {
        forward(s, wobble());
        forward(s, loss(0.01));
    }),
];

/// The path named `path`, for a transfer of `bytes`.
pub(crate) fn scenario(path: &Path, bytes: u64) -> Scenario {
    let mut shared = pipe(Some(Rate(5_000_000)), Nanos::from_millis(50));
    shared.queue = QueueSpec { limit: QueueLimit::Packets(65), limit_counts_service: true };
    let app = AppSpec { start: Nanos::from_millis(10), jitter: Nanos::ZERO, bytes: Some(bytes), pieces: None };
    let mut s = dumbbell(
        1,
        &pipe(None, Nanos::ZERO),
        &shared,
        &FlowSpec { handshake: true, app, window: 100 * 1460, ..flow() },
    );
    s.duration = Nanos::from_secs(60);
    s.links[0].back.queue = QueueSpec { limit: QueueLimit::Unlimited, limit_counts_service: false };
    (path.1)(&mut s);
    s
}

/// The same with 25 ms more behind the middle, where the same impairments apply again.
pub(crate) fn with_middle(path: &Path, bytes: u64) -> Scenario {
    let mut s = scenario(path, bytes);
    s.links.swap(0, 2);
    let mut last = pipe(Some(Rate(8_000_000)), Nanos::from_millis(25));
    last.queue = QueueSpec { limit: QueueLimit::Packets(100), limit_counts_service: true };
    (s.links[0].forward, s.links[0].back) = (last.clone(), last);
    let receiver = s.flows[0].ack.clone();
    (path.1)(&mut s);
    s.flows[0].ack = receiver;
    s.links.swap(0, 2);
    s
}

fn forward(s: &mut Scenario, e: ElementSpec) {
    s.links[0].forward.elements.push(e);
}

fn backward(s: &mut Scenario, e: ElementSpec) {
    s.links[0].back.elements.push(e);
}

fn queue(s: &mut Scenario, packets: u32) {
    s.links[0].forward.queue.limit = QueueLimit::Packets(packets);
}

fn delayed(s: &mut Scenario) {
    s.flows[0].ack = AckSpec::Delayed { delay: Nanos::from_millis(40) };
}

fn element(json: &str) -> ElementSpec {
    serde_json::from_str(json).unwrap_or_else(|e| panic!("{json}: {e}"))
}

fn loss(p: f64) -> ElementSpec {
    element(&format!(r#"{{ "kind": "bernoulli", "p": {p}, "at": "exit" }}"#))
}

fn early_loss(p: f64) -> ElementSpec {
    element(&format!(r#"{{ "kind": "bernoulli", "p": {p}, "at": "entry" }}"#))
}

fn bursts() -> ElementSpec {
    element(r#"{ "kind": "gilbert-elliott", "p": 0.004, "r": 0.25, "good_loss": 0.0, "bad_loss": 1.0, "at": "exit" }"#)
}

fn swap(count: u32) -> ElementSpec {
    element(&format!(
        r#"{{ "kind": "swap", "mode": "literal", "count": {count}, "gap": {{ "uniform": ["0.5 s", "1.5 s"] }} }}"#
    ))
}

fn jitter(ms: u32) -> ElementSpec {
    element(&format!(r#"{{ "kind": "netem", "delay": "{ms} ms", "jitter": "{ms} ms" }}"#))
}

fn split(apart_ms: u32) -> ElementSpec {
    let path = |weight, ms| {
        format!(r#"{{ "weight": {weight}, "rate": "5 Mbps", "delay": "{ms} ms", "queue": "100 packets" }}"#)
    };
    element(&format!(
        r#"{{ "kind": "split", "choice": "random", "paths": [{}, {}] }}"#,
        path(3, 20),
        path(1, 20 + apart_ms)
    ))
}

fn spikes(ms: u32) -> ElementSpec {
    element(&format!(r#"{{ "kind": "delay-spike", "gap": {{ "uniform": ["2 s", "6 s"] }}, "length": "{ms} ms" }}"#))
}

fn outages() -> ElementSpec {
    element(r#"{ "kind": "outage", "gap": { "uniform": ["3 s", "8 s"] }, "length": "700 ms" }"#)
}

fn redrawn() -> ElementSpec {
    element(
        r#"{ "kind": "redrawn-delay", "mean": "50 ms", "deviation": "17 ms", "every": "50 ms", "overtaking": true }"#,
    )
}

fn wobble() -> ElementSpec {
    element(r#"{ "kind": "wobble", "shape": "sine", "amplitude": "40 ms", "period": "3 s" }"#)
}

fn doubles() -> ElementSpec {
    let rules =
        (0..20_000).filter(|n| n % 50 == 7).map(|nth| ScriptRule { nth, action: ScriptAction::Duplicate }).collect();
    ElementSpec::Script(ScriptSpec { at: Place::Entry, only: Only::All, flow: None, rules })
}
