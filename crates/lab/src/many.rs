//! Many runs on many threads. Runs are independent and results are ordered by run, so results do not depend on the threads.

use crate::capturing::Capturing;
use crate::run::{run, run_captured, run_watched, RunError};
use crate::scenario::Plan;
use crate::stalls::explain;
use crate::summary::Summary;
use ackclock_course::record::Recording;
use ackclock_tcp::time::Nanos;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often progress is reported.
const REPORT_EVERY: Duration = Duration::from_millis(50);

/// One requested run.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The plan to run.
    pub plan: &'a Plan,
    /// The seed.
    pub seed: u64,
    /// The file for its events, if any.
    pub trace: Option<&'a Path>,
    /// The destination of its packets, if any.
    pub pcap: Option<Capturing>,
}

impl<'a> Job<'a> {
    /// One job for each seed of each plan, plan by plan. The first one is traced, and all are captured.
    pub fn all(plans: &[&'a Plan], trace: Option<&'a Path>, pcap: Option<&Capturing>) -> Vec<Self> {
        let mut captures = pcap.map(|pcap| pcap.of_runs(plans)).into_iter().flatten();
        let runs = plans.iter().flat_map(|plan| plan.seeds.iter().map(move |seed| (*plan, *seed)));
        let job = |(i, (plan, seed))| Job { plan, seed, trace: trace.filter(|_| i == 0), pcap: captures.next() };
        runs.enumerate().map(job).collect()
    }

    /// Runs the job. `progress` is as in [`run`].
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn run(&self, progress: &mut dyn FnMut(Nanos) -> ControlFlow<()>) -> Result<Summary, RunError> {
        let summary = match &self.pcap {
            None if self.plan.stalls && self.trace.is_none() => return self.run_with_stalls(progress),
            None => run(self.plan, self.seed, self.trace, progress)?,
            Some(pcap) => run_captured(self.plan, self.seed, self.trace, pcap, progress)?,
        };
        if !self.plan.stalls {
            return Ok(summary);
        }
        // A run is the same when it is repeated, and each set of listeners would be another copy of the engine.
        let repeated = self.run_with_stalls(&mut |_| progress(Nanos(0)))?;
        assert_eq!(repeated.trace_hash, summary.trace_hash, "a repeated run differs");
        Ok(repeated)
    }

    /// Runs it with a listener that keeps the course of each flow.
    fn run_with_stalls(&self, progress: &mut dyn FnMut(Nanos) -> ControlFlow<()>) -> Result<Summary, RunError> {
        let recording = Recording::new(self.plan.scenario.flows.len());
        let (mut summary, recording) = run_watched(self.plan, self.seed, recording, progress)?;
        summary.stalls = Some(explain(self.plan, recording));
        Ok(summary)
    }
}

/// Runs all jobs on `threads` threads (0: one for each core), which take them one by one in their order. `progress` is called on
/// the caller's thread about twenty times a second with the finished share of simulated time, and may stop everything.
///
/// # Errors
/// The error of the first job that has one; [`RunError::Stopped`] if `progress` requested it.
pub fn run_many(
    jobs: &[Job<'_>],
    threads: usize,
    mut progress: impl FnMut(f64) -> ControlFlow<()>,
) -> Result<Vec<Summary>, RunError> {
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let total = jobs.iter().fold(0u64, |sum, j| sum.saturating_add(j.plan.scenario.duration.0)).max(1);
    let one = |job: &Job<'_>| {
        let mut unreported = 0;
        let summary = job.run(&mut |slice| {
            unreported += slice.0;
            // All threads write to `done`, and each write takes it from the other cores' caches.
            if unreported >= total / 1000 {
                done.fetch_add(std::mem::take(&mut unreported), Ordering::Relaxed);
            }
            if stop.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        done.fetch_add(unreported, Ordering::Relaxed);
        summary.inspect_err(|_| stop.store(true, Ordering::Relaxed))
    };
    let next = AtomicUsize::new(0);
    let work = || {
        let mut results = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(i) else { break };
            results.push((i, one(job)));
        }
        results
    };
    let mut results = on_threads(number_of(threads).min(jobs.len()), &work, || {
        let share = done.load(Ordering::Relaxed) as f64 / total as f64;
        if progress(share.min(1.0)).is_break() {
            stop.store(true, Ordering::Relaxed);
        }
    });
    results.sort_unstable_by_key(|(i, _)| *i);
    first_error(results.into_iter().map(|(_, result)| result), jobs.len())
}

fn number_of(threads: usize) -> usize {
    let threads = NonZeroUsize::new(threads).or_else(|| thread::available_parallelism().ok());
    threads.map_or(1, NonZeroUsize::get)
}

/// The results of `work` on each of `threads` threads, in order; while they work, `wait` is called now and then.
fn on_threads<T: Send>(threads: usize, work: &(impl Fn() -> Vec<T> + Sync), mut wait: impl FnMut()) -> Vec<T> {
    thread::scope(|scope| {
        let (working, idle) = mpsc::channel::<()>();
        let worker = |_| {
            let working = working.clone();
            let held = move || {
                let results = work();
                drop(working);
                results
            };
            thread::Builder::new().spawn_scoped(scope, held).ok()
        };
        let workers: Vec<_> = (0..threads).map_while(worker).collect();
        drop(working);
        // If no thread can be started, the work is done on this one.
        let mut results = if workers.is_empty() { work() } else { Vec::new() };
        while idle.recv_timeout(REPORT_EVERY) == Err(RecvTimeoutError::Timeout) {
            wait();
        }
        results.extend(workers.into_iter().flat_map(|w| w.join().unwrap_or_else(|panic| resume_unwind(panic))));
        results
    })
}

/// The summaries of all `jobs`, or the error that stopped them.
fn first_error(
    results: impl Iterator<Item = Result<Summary, RunError>>,
    jobs: usize,
) -> Result<Vec<Summary>, RunError> {
    let mut summaries = Vec::with_capacity(jobs);
    for result in results {
        match result {
            Ok(summary) => summaries.push(summary),
            Err(RunError::Stopped) => {}
            Err(e) => return Err(e),
        }
    }
    if summaries.len() == jobs {
        Ok(summaries)
    } else {
        Err(RunError::Stopped)
    }
}
