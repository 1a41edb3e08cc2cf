//! One run: a plan and a seed in, a [`Summary`] out.

use crate::capturing::Capturing;
use crate::chains::chains;
use crate::error::ScenarioError;
use crate::identity::identity;
use crate::measuring::Measured;
use crate::scenario::Plan;
use crate::summary::{BackgroundSummary, LinkSummary, Summary};
pub use crate::tally::Tally;
use crate::transfers::of_chain;
use ackclock_sim::engine::Sim;
use ackclock_sim::measures::{Metered, Metering, Unmetered};
use ackclock_sim::results::Results;
use ackclock_sim::scenario::{FlowSpec, Scenario};
use ackclock_sim::watch::Watch;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_trace::{ArrowSink, Both, CaptureFolder, Events, Hasher, Meta, Recorder, TraceError, TraceHash};
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;

/// The number of slices of a run; after each, progress is reported and the run may be stopped.
const SLICES: u64 = 256;

/// The reason for the lack of a summary.
#[derive(Debug)]
pub enum RunError {
    /// The simulator refuses the scenario.
    Scenario(Box<ScenarioError>),
    /// The trace or a capture could not be written.
    Trace(TraceError),
    /// The caller stopped the run.
    Stopped,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Scenario(e) => e.fmt(f),
            RunError::Trace(e) => e.fmt(f),
            RunError::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for RunError {}

/// Runs `plan` with `seed`. With `trace`, its events are written to that file, whose ending selects the format. After each slice
/// `progress` receives the simulated time of the slice, and may stop the run.
///
/// # Errors
/// See [`RunError`]; an unfinished trace leaves no file.
pub fn run(
    plan: &Plan,
    seed: u64,
    trace: Option<&Path>,
    progress: &mut dyn FnMut(Nanos) -> ControlFlow<()>,
) -> Result<Summary, RunError> {
    let flows = plan.scenario.flows.len() as u32;
    let Some(path) = trace else {
        let (hasher, ran) = simulate(plan, seed, Hasher::new(flows), progress)?;
        return Ok(ran.summary(plan, seed, hasher.hash()));
    };
    let recorder = Recorder::create(path, meta(plan, seed), flows).map_err(refuse_trace)?;
    let (recorder, ran) = simulate(plan, seed, recorder, progress)?;
    let hash = recorder.finish().map_err(RunError::Trace)?;
    Ok(ran.summary(plan, seed, hash))
}

/// Runs `plan` with `seed` and also captures its packets. Otherwise as [`run`].
///
/// # Errors
/// See [`RunError`]; unfinished captures leave no files.
pub fn run_captured(
    plan: &Plan,
    seed: u64,
    trace: Option<&Path>,
    capturing: &Capturing,
    progress: &mut dyn FnMut(Nanos) -> ControlFlow<()>,
) -> Result<Summary, RunError> {
    let refused = |e| RunError::Scenario(Box::new(e));
    check(plan).map_err(refused)?;
    let middle = capturing.middle(&plan.scenario).map_err(refused)?;
    let scenario = &plan.scenario;
    let made = CaptureFolder::create(&capturing.folder, scenario, seed, capturing.snap, middle);
    let (folder, watch) = made.map_err(RunError::Trace)?;
    let Some(path) = trace else {
        let (summary, watch) = run_watched(plan, seed, watch, progress)?;
        folder.finish(scenario, watch).map_err(RunError::Trace)?;
        return Ok(summary);
    };
    let recorder = Recorder::create(path, meta(plan, seed), scenario.flows.len() as u32).map_err(refuse_trace)?;
    let (Both(recorder, watch), ran) = simulate(plan, seed, Both(recorder, watch), progress)?;
    let hash = recorder.finish().map_err(RunError::Trace)?;
    folder.finish(scenario, watch).map_err(RunError::Trace)?;
    Ok(ran.summary(plan, seed, hash))
}

/// Runs `plan` with `seed` and the caller's listener, which is returned together with the summary. Otherwise as [`run`] without a
/// file.
///
/// # Errors
/// See [`RunError`].
pub fn run_watched<W: Watch>(
    plan: &Plan,
    seed: u64,
    watch: W,
    progress: &mut dyn FnMut(Nanos) -> ControlFlow<()>,
) -> Result<(Summary, W), RunError> {
    let watch = Both(Hasher::new(plan.scenario.flows.len() as u32), watch);
    let (Both(hasher, watch), ran) = simulate(plan, seed, watch, progress)?;
    Ok((ran.summary(plan, seed, hasher.hash()), watch))
}

/// Runs `plan` with `seed` and keeps its events in memory. Otherwise as [`run`] without a file.
///
/// # Errors
/// See [`RunError`].
pub fn run_recorded(
    plan: &Plan,
    seed: u64,
    progress: &mut dyn FnMut(Nanos) -> ControlFlow<()>,
) -> Result<(Summary, Events), RunError> {
    let recorder = Recorder::new(ArrowSink::new(meta(plan, seed)), plan.scenario.flows.len() as u32);
    let (recorder, ran) = simulate(plan, seed, recorder, progress)?;
    let (hash, events) = recorder.close().map_err(|e| RunError::Trace(TraceError::io(Path::new("memory"), e)))?;
    Ok((ran.summary(plan, seed, hash), events))
}

/// An unknown ending is an error of the caller; everything else is the system's error.
fn refuse_trace(e: TraceError) -> RunError {
    match e {
        TraceError::Format { path, allowed } => RunError::Scenario(Box::new(ScenarioError::option(
            "--trace",
            format!("{path:?}"),
            format!("a file name that ends in {}", allowed.join(" or ")),
        ))),
        e @ (TraceError::Io { .. } | TraceError::Capture { .. }) => RunError::Trace(e),
    }
}

/// A trace file's metadata for the run of `plan` with `seed`.
pub fn meta(plan: &Plan, seed: u64) -> Meta {
    let stack = |f: &FlowSpec| plan.stacks[f.stack as usize].name.clone();
    Meta { scenario: identity(plan, seed), seed, stacks: plan.scenario.flows.iter().map(stack).collect() }
}

/// Whether the simulator accepts `plan`; nothing is run.
///
/// # Errors
/// The simulator's refusal, beyond the checks of the file's reader.
pub fn check(plan: &Plan) -> Result<(), ScenarioError> {
    lay_out::<_, Unmetered>(plan, plan.seeds[0], (), Time::ZERO).map(drop)
}

/// `until`: the end of the first bin.
fn lay_out<W: Watch, M: Metering>(plan: &Plan, seed: u64, watch: W, until: Time) -> Result<Sim<W, M>, ScenarioError> {
    Sim::metered(&plan.scenario, &plan.stacks, seed, watch, until).map_err(|e| {
        let (found, allowed) = ("a scenario that cannot be run".to_owned(), e.to_string());
        ScenarioError { file: plan.file.clone(), line: None, key: None, found, allowed, hint: None }
    })
}

/// The results of a run, besides those of its listener.
struct Ran {
    tally: Tally,
    results: Results,
    measured: Option<Measured>,
}

impl Ran {
    fn summary(&self, plan: &Plan, seed: u64, hash: TraceHash) -> Summary {
        let mut summary = summary(plan, seed, &self.tally, &self.results, hash);
        summary.measures = self.measured.as_ref().map(|measured| measured.of(plan, &summary));
        summary
    }
}

/// A run that is measured if the plan requests it. That is decided before it is laid out, so that an unmeasured run has no cost.
fn simulate<W: Watch>(
    plan: &Plan,
    seed: u64,
    watch: W,
    progress: &mut dyn FnMut(Nanos) -> ControlFlow<()>,
) -> Result<(W, Ran), RunError> {
    match Measured::begin(plan) {
        None => simulate_as::<W, Unmetered>(plan, seed, watch, None, progress),
        measured => simulate_as::<W, Metered>(plan, seed, watch, measured, progress),
    }
}

fn simulate_as<W: Watch, M: Metering>(
    plan: &Plan,
    seed: u64,
    watch: W,
    mut measured: Option<Measured>,
    progress: &mut dyn FnMut(Nanos) -> ControlFlow<()>,
) -> Result<(W, Ran), RunError> {
    let until = measured.as_ref().map_or(Time::ZERO, Measured::next);
    let sim = lay_out::<_, M>(plan, seed, Both(Tally::new(plan), watch), until);
    let mut sim = sim.map_err(|e| RunError::Scenario(Box::new(e)))?;
    let end = plan.scenario.duration.0;
    let mut now = 0;
    while now < end {
        let slice = (end / SLICES).max(1).min(end - now);
        now += slice;
        while let Some(measured) = measured.as_mut().filter(|m| m.next().0 <= now && m.next().0 > sim.now().0) {
            sim.run_until(measured.next());
            measured.turn(&mut sim, plan.scenario.flows.len());
        }
        sim.run_until(Time(now));
        if progress(Nanos(slice)).is_break() {
            return Err(RunError::Stopped);
        }
    }
    let results = sim.results();
    let Both(tally, watch) = sim.into_watch();
    Ok((watch, Ran { tally, results, measured }))
}

/// The numbers of a run: the network's counts, and those of a [`Tally`] that listened to it.
pub fn summary(plan: &Plan, seed: u64, tally: &Tally, results: &Results, hash: TraceHash) -> Summary {
    let s = &plan.scenario;
    Summary {
        seed,
        identity: identity(plan, seed),
        trace_hash: hash.to_string(),
        duration_s: s.duration.as_secs_f64(),
        flows: chains(&s.flows).into_iter().map(|chain| of_chain(plan, tally, results, chain)).collect(),
        background: (s.background.iter().zip(&results.background))
            .map(|(b, r)| BackgroundSummary::of((s, b, r)))
            .collect(),
        links: links(s, results),
        unused_parameters: plan.unused.clone(),
        measures: None,
        stalls: None,
    }
}

/// Each direction of the links.
fn links(s: &Scenario, results: &Results) -> Vec<LinkSummary> {
    let ends = s.links.iter().flat_map(|l| [(l.from, l.to), (l.to, l.from)]);
    ends.zip(&results.links).map(|(ends, r)| LinkSummary::of((s, ends, r))).collect()
}
