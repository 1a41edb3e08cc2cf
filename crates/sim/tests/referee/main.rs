//! The referee: a second, naive implementation of what every sender must do. It shares no code with any algorithm. It reads what the
//! sender sends, hears and reports in random scenarios, and compares this with sentences of the sources (`rules`). Every
//! component exists a second time (`second`), and a stack of these must do the same at each event, also with components and
//! settings that no named stack has (`any`). It cannot judge everything: docs/testing.md lists what it leaves.
//!
//! `ACKCLOCK_REFEREE` is the number of scenarios for each stack, `ACKCLOCK_REFEREE_FROM` the number of the first, and
//! `ACKCLOCK_REFEREE_STACK` restricts the run to one stack ("any": drawn ones).

mod any;
mod book;
mod by_hand;
mod compare;
mod judge;
mod paths;
mod ranges;
mod rules;
mod second;

use ackclock_sim::engine::Sim;
use ackclock_sim::scenario::FlowSpec;
use ackclock_tcp::congestion::CongestionSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use compare::{Reader, Transcript};
use judge::Judge;
use paths::Rng;
use second::rates::Rates;
use second::witness::Notebook;
use second::Notes;
use std::collections::BTreeSet;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Scenarios for each stack against the rules in `make test`.
const SCENARIOS: u64 = 60;
/// Scenarios to compare there. Each counts for ten drawn stacks, and a quarter of them for each named stack.
const COMPARED: u64 = 20;
const DRAWN_STACKS: u64 = 10;

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn number(name: &str, without: u64) -> u64 {
    variable(name).map_or(without, |text| text.parse().expect("a whole number"))
}

/// The bytes that are written at the start; 0 if the application writes in pieces, which may be missing at any time.
fn written(f: &FlowSpec) -> u64 {
    if f.app.pieces.is_none() {
        f.app.bytes.expect("a finite transfer")
    } else {
        0
    }
}

/// Runs a scenario; returns the first violation, and how many questions were asked.
fn examine(named: &Stack, number: u64) -> (Option<String>, u64) {
    let drawn = paths::draw(number);
    let (stack, f) = (drawn.stack(named), &drawn.scenario.flows[0]);
    let judge = Judge::new(&stack, f.mss, f.window, written(f));
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

/// The most simulated time, and the most actions, of two runs that are compared.
const LONGEST: Nanos = Nanos::from_secs(300);
const MOST_ACTIONS: usize = 8_000;

/// Whether second implementations in these slots differ in a scenario, and how; and how many actions were compared.
fn differs(drawn: &paths::Drawn, stack: &Stack, slots: &[&str], seed: u64) -> Result<(Option<String>, u64), String> {
    let f = &drawn.scenario.flows[0];
    let judge = Judge::silent(stack, f.mss, f.window, written(f));
    let mut notebook = Notebook::new(judge, Rates::new(stack, f.app.pieces.is_none()));
    notebook.greets = f.handshake;
    let notes: Notes = Some(Arc::new(Mutex::new(notebook)));
    let second = second::replaced(stack, slots, &notes);
    let mut sim = Sim::new(&drawn.scenario, std::slice::from_ref(stack), seed, Transcript::default())
        .map_err(|e| format!("the engine's: {e}"))?;
    let mut finished = false;
    while !finished
        && sim.now() < sim.end()
        && sim.now().since(Time::ZERO) < LONGEST
        && sim.watch().0.len() < MOST_ACTIONS
    {
        let until = sim.now() + Nanos::from_secs(2);
        sim.run_until(until);
        finished = sim.results().flows[0].finished.is_some();
    }
    let (until, transcript) = (sim.now(), sim.into_watch());
    if transcript.syns() > 1 {
        // A repeated SYN changes the timer's first timeout outside of its slot (RFC 6298 §5.7).
        return Ok((None, 0));
    }
    let reader = Reader::new(&transcript.0, notes);
    let mut sim = Sim::new(&drawn.scenario, std::slice::from_ref(&second), seed, reader).map_err(|e| e.to_string())?;
    sim.run_until(until);
    let mut reader = sim.into_watch();
    let compared = reader.end();
    Ok((reader.wrong, compared))
}

/// Compares the engine's components with the second implementations; if they differ, names the slots in which they do alone.
fn compare(drawn: &paths::Drawn, stack: &Stack, seed: u64) -> (Option<String>, u64) {
    let (wrong, compared) = differs(drawn, stack, &second::SLOTS, seed).expect("a possible scenario");
    let Some(wrong) = wrong else { return (None, compared) };
    let alone = |slot: &&&str| differs(drawn, stack, &[**slot], seed).is_ok_and(|d| d.0.is_some());
    let slots: Vec<&&str> = second::SLOTS.iter().filter(alone).collect();
    (Some(format!("{slots:?}: {wrong}")), compared)
}

/// A scenario with a drawn stack.
fn examine_any(number: u64) -> (Option<String>, u64) {
    let mut rng = Rng::new(number ^ 0x0061_6e79);
    let mut drawn = paths::draw(number);
    let f = &mut drawn.scenario.flows[0];
    f.handshake = rng.one_in(3);
    if rng.one_in(16) {
        // Less than two segments.
        f.window = u64::from(f.mss) * rng.of(&[2, 3]) / 2;
    }
    if rng.one_in(3) {
        drawn.round(&mut rng);
    }
    let mut stack = any::draw(&mut rng);
    if matches!(stack.congestion, CongestionSpec::Bbr(_)) && !drawn.ecn && rng.one_in(2) {
        drawn.police(&mut rng);
    }
    stack.options.ecn |= drawn.ecn;
    let (wrong, compared) = compare(&drawn, &stack, number);
    (wrong.map(|why| format!("a drawn stack in scenario {number}: {why}\n  {stack:?}")), compared)
}

/// Runs scenarios for a stack; returns the violations.
fn examine_all(named: &Stack, from: u64, count: u64) -> (Vec<String>, u64) {
    let (mut wrong, mut asked) = (Vec::new(), 0);
    for number in from..from + count {
        if wrong.len() >= ENOUGH {
            break;
        }
        let (why, n) = examine(named, number);
        asked += n;
        wrong.extend(why.map(|why| format!("{} in scenario {number}: {why}", named.name)));
    }
    (wrong, asked)
}

/// Differences, or violations, after which a run stops.
const ENOUGH: usize = 20;

/// Runs `count` numbers from `from` on, a few at a time on each core, until enough of them are wrong.
fn on_all_cores(from: u64, count: u64, examine: impl Fn(u64) -> (Option<String>, u64) + Sync) -> (Vec<String>, u64) {
    const CHUNK: usize = 16;
    let (next, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let results: Vec<(Option<String>, u64)> = std::thread::scope(|scope| {
        let worker = || {
            let mut found = Vec::new();
            loop {
                let first = next.fetch_add(CHUNK, Ordering::Relaxed) as u64;
                if first >= count || wrong.load(Ordering::Relaxed) >= ENOUGH {
                    return found;
                }
                let safely = |n| catch_unwind(AssertUnwindSafe(|| examine(from + n)));
                for n in first..count.min(first + CHUNK as u64) {
                    let result = safely(n).unwrap_or_else(|_| (Some(format!("a panic in scenario {}", from + n)), 0));
                    wrong.fetch_add(usize::from(result.0.is_some()), Ordering::Relaxed);
                    found.push(result);
                }
            }
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        running.into_iter().flat_map(|t| t.join().expect("no panic")).collect()
    });
    let asked = results.iter().map(|r| r.1).sum();
    (results.into_iter().filter_map(|r| r.0).collect(), asked)
}

#[test]
fn every_component_does_the_same_as_its_second_implementation_in_random_scenarios() {
    let (from, count) = (number("ACKCLOCK_REFEREE_FROM", 0), number("ACKCLOCK_REFEREE", COMPARED));
    let (only, mut wrong, mut compared) = (variable("ACKCLOCK_REFEREE_STACK"), Vec::new(), 0);
    let wanted = |name: &str| only.as_deref().is_none_or(|o| o == name);
    if wanted("any") {
        (wrong, compared) = on_all_cores(from, count * DRAWN_STACKS, examine_any);
    }
    for name in Stack::names().filter(|n| wanted(n)) {
        if wrong.len() >= ENOUGH {
            break;
        }
        let named = Stack::named(name).expect("listed");
        let (more, n) = on_all_cores(from, count.div_ceil(4), |number| {
            let drawn = paths::draw(number);
            let (wrong, n) = compare(&drawn, &drawn.stack(&named), number);
            (wrong.map(|why| format!("{name} in scenario {number}: {why}")), n)
        });
        wrong.extend(more);
        compared += n;
    }
    println!("{compared} actions compared, {} differences", wrong.len());
    for why in wrong.iter().take(3 * ENOUGH) {
        println!("{why}");
    }
    assert!(compared > count, "too quiet");
    assert_eq!(wrong.len(), 0, "differences: see above");
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
                if found.iter().any(|(wrong, _): &(Vec<String>, u64)| wrong.len() >= ENOUGH) {
                    break;
                }
            }
            found
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        running.into_iter().flat_map(|t| t.join().expect("no panic")).collect()
    });
    let asked: u64 = results.iter().map(|r| r.1).sum();
    let wrong: Vec<&String> = results.iter().flat_map(|r| &r.0).collect();
    println!("{} stacks, {count} scenarios each, {asked} questions, {} violations", names.len(), wrong.len());
    for why in wrong.iter().take(3 * ENOUGH) {
        println!("{why}");
    }
    assert!(asked > count * names.len() as u64, "too quiet");
    assert_eq!(wrong.len(), 0, "violations: see above");
}

#[test]
fn the_scenarios_lose_reorder_stop_mark_and_end() {
    let all: Vec<_> = (0..60).map(paths::draw).collect();
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
