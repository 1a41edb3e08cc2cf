//! Compares every arrival with ns-2's RED, where ns-2 is installed. `tests/sim/ns2/red.tcl` sends packets of three sizes to a
//! RED queue, at times more than the link carries, at times less. The same arrivals with the same random numbers must
//! give the same averages (to the six digits that ns-2 prints) and the same drops.

use super::*;
use crate::element::direction::{QueueLimit, QueueSpec};
use crate::element::drop_tail::Limit;
use crate::element::queued_link::QueuedLink;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// ns-2's default generator: MRG32k3a from the seed 1; `uniform` uses 31 of its bits.
struct Mrg32k3a([i64; 3], [i64; 3]);

impl Mrg32k3a {
    fn unit(&mut self) -> f64 {
        const M1: i64 = 4_294_967_087;
        const M2: i64 = 4_294_944_443;
        let Mrg32k3a(a, b) = self;
        let p1 = (1_403_580 * a[1] - 810_728 * a[0]).rem_euclid(M1);
        let p2 = (527_612 * b[2] - 1_370_589 * b[0]).rem_euclid(M2);
        (*a, *b) = ([a[1], a[2], p1], [b[1], b[2], p2]);
        let whole = (p1 - p2 + if p1 > p2 { 0 } else { M1 }) as f64 / (M1 + 1) as f64;
        (whole * f64::from(i32::MAX)).floor() / f64::from(i32::MAX)
    }
}

/// ns-2's run: arrivals (ns, bytes, number), the numbers of dropped packets, the averages in turn.
struct Theirs {
    arrivals: Vec<(u64, u32, u64)>,
    dropped: BTreeSet<u64>,
    averages: Vec<f64>,
}

fn theirs(ns: &str, spec: &RedSpec, limit: u32) -> Theirs {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sim/ns2/red.tcl");
    let flag = |b: bool| if b { "true" } else { "false" };
    let bytes = matches!(spec.thresholds, Thresholds::Bytes { .. });
    let args = [flag(spec.gentle), flag(spec.wait), flag(bytes), flag(spec.per == Per::Byte), &limit.to_string()];
    let out = Command::new(ns).arg(script).args(args).stdin(Stdio::null()).output().expect("ns-2 starts");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "ns-2: {text}{}", String::from_utf8_lossy(&out.stderr));
    let mut t = Theirs { arrivals: Vec::new(), dropped: BTreeSet::new(), averages: Vec::new() };
    let number = |s: &str| s.parse::<f64>().unwrap_or_else(|_| panic!("no number: {s}"));
    for line in text.lines() {
        // `a time average`, or `+ time from to kind size flags class source destination sequence id`.
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["a", _, average] => t.averages.push(number(average)),
            [what @ ("+" | "d"), time, "0", "1", _, size, .., id] => {
                let id = number(id) as u64;
                if what == "+" {
                    t.arrivals.push(((number(time) * 1e9).round() as u64, number(size) as u32, id));
                } else {
                    t.dropped.insert(id);
                }
            }
            _ => {}
        }
    }
    t
}

/// Six digits, as C's `%g` prints them.
fn same_digits(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1.001e-6 * 5.0 * b.abs().max(1e-12)
}

#[test]
fn the_same_arrivals_with_the_same_luck_have_the_same_averages_and_drops_as_in_ns_2() {
    let Some(ns) =
        ["ns2", "ns"].into_iter().find(|ns| Command::new("which").arg(ns).output().is_ok_and(|o| o.status.success()))
    else {
        println!("SKIPPED: ns-2 is not installed (Debian's package is called ns2); RED was not compared");
        return;
    };
    let packets = RedSpec { max_p: 0.02, mean_packet: 1000, ..RedSpec::new(Thresholds::Packets { min: 5, max: 20 }) };
    let bytes = RedSpec { thresholds: Thresholds::Bytes { min: 5_000, max: 20_000 }, per: Per::Byte, ..packets };
    for spec in [packets, bytes] {
        for (gentle, wait) in [(false, false), (false, true), (true, false), (true, true)] {
            compare(ns, RedSpec { gentle, wait, ..spec }, 25);
            compare(ns, RedSpec { gentle, wait, ..spec }, 200);
        }
    }
}

fn compare(ns: &str, spec: RedSpec, limit: u32) {
    let t = theirs(ns, &spec, limit);
    assert!(t.arrivals.len() > 10_000 && t.dropped.len() > 200, "{} arrivals", t.arrivals.len());
    let pace = Pace::new(Some(830_000), 0);
    let most = match spec.thresholds {
        Thresholds::Packets { .. } => QueueLimit::Packets(limit),
        Thresholds::Bytes { .. } => QueueLimit::Unlimited,
    };
    let mut queue = QueuedLink::new(Limit::new(&QueueSpec { limit: most, limit_counts_service: false }));
    let (mut law, mut rng) = (Law::new(spec, &pace), Mrg32k3a([1; 3], [1; 3]));
    let (mut averages, mut early) = (t.averages.iter(), 0);
    let mut last = 0.0;
    for &(now, wire, id) in &t.arrivals {
        while queue.departure().is_some_and(|at| at <= now) {
            queue.depart(&pace, |_, _| ());
        }
        let mut backlog = queue.backlog(wire);
        if matches!(spec.thresholds, Thresholds::Bytes { .. }) {
            // ns-2 asks whether the queue is full before the arrival, not whether the packet fits.
            backlog.full = backlog.bytes >= u64::from(limit * spec.mean_packet);
        }
        let seen = Seen { now, wire, backlog, ..Seen::DATA };
        let drops = law.drops(&seen, || rng.unit());
        early += u32::from(drops);
        let place = format!("{spec:?} limit {limit}, packet {id} at {now} ns, average {}", law.average);
        assert_eq!(drops || backlog.full, t.dropped.contains(&id), "{place}");
        if law.average != last {
            last = law.average;
            let theirs = *averages.next().expect("ns-2 prints each average");
            assert!(same_digits(law.average, theirs), "{place}, in ns-2 {theirs}");
        }
        if !drops && !backlog.full {
            queue.offer(0, wire, || true, now, &pace, |_, _| ()).expect("a place in the queue");
        }
    }
    let (n, full) = (t.arrivals.len(), t.dropped.len() as u32 - early);
    println!("same: {n} arrivals, {early} early drops, {full} by the full queue, {spec:?}");
}
