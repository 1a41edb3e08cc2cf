//! Many runs on many threads. Runs are independent and results are ordered by run, so threads cannot be seen in them.

use crate::run::{run, RunError};
use crate::scenario::Plan;
use crate::summary::Summary;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How often progress is told.
const TOLD_EVERY: Duration = Duration::from_millis(50);

/// One run that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// What.
    pub plan: &'a Plan,
    /// With which seed.
    pub seed: u64,
    /// Where its events go, if anywhere.
    pub trace: Option<&'a Path>,
}

impl<'a> Job<'a> {
    /// One job for each seed of a plan; the first is traced.
    pub fn all(plan: &'a Plan, trace: Option<&'a Path>) -> Vec<Self> {
        let job = |(i, &seed)| Job { plan, seed, trace: trace.filter(|_| i == 0) };
        plan.seeds.iter().enumerate().map(job).collect()
    }
}

/// Runs all jobs on `threads` threads (0: one for each core). `told` is called on the caller's thread some twenty times a
/// second with the share of simulated time that is done, and may stop everything.
///
/// # Errors
/// That of the first job that has one; [`RunError::Stopped`] if `told` said so.
pub fn run_many(
    jobs: &[Job<'_>],
    threads: usize,
    mut told: impl FnMut(f64) -> ControlFlow<()>,
) -> Result<Vec<Summary>, RunError> {
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let total = jobs.iter().fold(0u64, |sum, j| sum.saturating_add(j.plan.scenario.duration.0)).max(1);
    let one = |job: &Job<'_>| {
        let mut untold = 0;
        let summary = run(job.plan, job.seed, job.trace, &mut |slice| {
            untold += slice.0;
            // All threads write to `done`, and a core that does takes it away from the others.
            if untold >= total / 1000 {
                done.fetch_add(std::mem::take(&mut untold), Ordering::Relaxed);
            }
            if stop.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        done.fetch_add(untold, Ordering::Relaxed);
        summary.inspect_err(|_| stop.store(true, Ordering::Relaxed))
    };
    let one = &one;
    std::thread::scope(|scope| {
        let (ready, finished) = mpsc::channel();
        let worker = move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.min(jobs.len())).build();
            let all = || jobs.par_iter().map(one).collect::<Vec<_>>();
            // Without threads of our own the runs still get done.
            let results = pool.map_or_else(|_| jobs.iter().map(one).collect(), |pool| pool.install(all));
            let _ = ready.send(results);
        };
        scope.spawn(worker);
        loop {
            match finished.recv_timeout(TOLD_EVERY) {
                Ok(results) => return first_error(results),
                Err(RecvTimeoutError::Disconnected) => return Err(RunError::Stopped),
                Err(RecvTimeoutError::Timeout) => {
                    let share = done.load(Ordering::Relaxed) as f64 / total as f64;
                    if told(share.min(1.0)).is_break() {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
    })
}

/// All summaries, or the error that made the others stop.
fn first_error(results: Vec<Result<Summary, RunError>>) -> Result<Vec<Summary>, RunError> {
    let mut summaries = Vec::with_capacity(results.len());
    let mut stopped = false;
    for result in results {
        match result {
            Ok(summary) => summaries.push(summary),
            Err(RunError::Stopped) => stopped = true,
            Err(e) => return Err(e),
        }
    }
    if stopped {
        Err(RunError::Stopped)
    } else {
        Ok(summaries)
    }
}
