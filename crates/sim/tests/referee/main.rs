//! The referee: a second, naive implementation of what every sender must do, that knows no algorithm's code. It reads what the
//! sender sends, hears and reports in random scenarios, and compares this with sentences of the sources (`rules`). It cannot
//! judge everything: docs/testing.md lists what it leaves.
//!
//! `ACKCLOCK_REFEREE` is the number of scenarios for each stack, `ACKCLOCK_REFEREE_FROM` the number of the first, and
//! `ACKCLOCK_REFEREE_STACK` restricts the run to one stack.

mod book;
mod judge;
mod paths;
mod rules;

use ackclock_sim::engine::Sim;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use judge::Judge;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Scenarios for each stack in `make test`.
const SCENARIOS: u64 = 60;

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn number(name: &str, without: u64) -> u64 {
    variable(name).map_or(without, |text| text.parse().expect("a whole number"))
}

/// Runs a scenario; returns the first violation, and how many questions were asked.
fn examine(named: &Stack, number: u64) -> (Option<String>, u64) {
    let drawn = paths::draw(number);
    let (stack, f) = (drawn.stack(named), &drawn.scenario.flows[0]);
    // Data written in pieces may be missing at any time.
    let bytes = if f.app.pieces.is_none() { f.app.bytes.expect("a finite transfer") } else { 0 };
    let judge = Judge::new(&stack, f.mss, f.window, bytes);
    let mut sim = Sim::new(&drawn.scenario, std::slice::from_ref(&stack), number, judge).expect("a possible scenario");
    let mut finished = false;
    while !finished && sim.now() < sim.end() && sim.watch().wrong.is_none() {
        let until = sim.now() + Nanos::from_secs(20);
        sim.run_until(until);
        finished = sim.results().flows[0].finished.is_some();
    }
    let mut judge = sim.into_watch();
    judge.end(finished);
    (judge.wrong, judge.asked)
}

/// Runs scenarios for a stack; returns the violations.
fn examine_all(named: &Stack, from: u64, count: u64) -> (Vec<String>, u64) {
    let (mut wrong, mut asked) = (Vec::new(), 0);
    for number in from..from + count {
        let (why, n) = examine(named, number);
        asked += n;
        wrong.extend(why.map(|why| format!("{} in scenario {number}: {why}", named.name)));
    }
    (wrong, asked)
}

#[test]
fn every_stack_keeps_the_rules_of_its_sources_in_random_scenarios() {
    let (from, count) = (number("ACKCLOCK_REFEREE_FROM", 0), number("ACKCLOCK_REFEREE", SCENARIOS));
    let only = variable("ACKCLOCK_REFEREE_STACK");
    let names: Vec<&str> = Stack::names().filter(|n| only.as_deref().is_none_or(|o| o == *n)).collect();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let results: Vec<(Vec<String>, u64)> = std::thread::scope(|scope| {
        let worker = || {
            let mut found = Vec::new();
            while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                let stack = Stack::named(name).expect("listed");
                found.push(examine_all(&stack, from, count));
            }
            found
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        running.into_iter().flat_map(|t| t.join().expect("no panic")).collect()
    });
    let asked: u64 = results.iter().map(|r| r.1).sum();
    let wrong: Vec<&String> = results.iter().flat_map(|r| &r.0).collect();
    println!("{} stacks, {count} scenarios each, {asked} questions, {} violations", names.len(), wrong.len());
    for why in wrong.iter().take(200) {
        println!("{why}");
    }
    assert!(asked > count * names.len() as u64, "too quiet");
    assert_eq!(wrong.len(), 0, "violations: see above");
}

#[test]
fn the_scenarios_lose_reorder_stop_mark_and_end() {
    let all: Vec<_> = (0..SCENARIOS).map(paths::draw).collect();
    let kinds: BTreeSet<&str> = all
        .iter()
        .flat_map(|d| d.scenario.links.iter().flat_map(|l| l.forward.elements.iter().chain(&l.back.elements)))
        .map(|e| e.kind())
        .collect();
    for kind in
        ["bernoulli", "gilbert-elliott", "script", "outage", "delay-spike", "red", "swap", "redrawn-delay", "split"]
    {
        assert!(kinds.contains(kind), "{kind} is not in {kinds:?}");
    }
    assert!(all.iter().any(|d| d.ecn) && all.iter().any(|d| d.scenario.flows[0].app.pieces.is_some()));
}
