//! Runs work on a thread of its own: the work reports progress to its waiter, and the waiter can stop it.
//!
//! The waiter may be Python, whose signal handlers run only on its main thread. The work may have real-time priority, and
//! must not wait for anything.

use crate::error::LiveError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often the waiter is called.
const EVERY: Duration = Duration::from_millis(50);

/// The state shared by the work and its waiter.
#[derive(Debug, Default)]
pub struct Shared {
    stop: AtomicBool,
    done: AtomicU64,
    of: AtomicU64,
}

/// The progress of the work, in its own units: bytes, or nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The amount done.
    pub done: u64,
    /// The total amount; 0 if unknown.
    pub of: u64,
}

/// Whether the work continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It continues.
    GoOn,
    /// It ends as soon as it can, with [`LiveError::Interrupted`].
    Stop,
}

impl Shared {
    /// Whether the work must end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Stops the work.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Sets the total amount.
    pub fn expect(&self, of: u64) {
        self.of.store(of, Relaxed);
    }

    /// Sets the amount done.
    pub fn tell(&self, done: u64) {
        self.done.store(done, Relaxed);
    }

    /// The progress.
    pub fn progress(&self) -> Progress {
        Progress { done: self.done.load(Relaxed), of: self.of.load(Relaxed) }
    }
}

/// Runs `work` on a thread of its own and calls `report` every 50 ms to ask whether it continues.
///
/// # Errors
/// Errors of the work; [`LiveError::Failed`] if it panics.
pub fn supervise<T: Send>(
    report: &mut dyn FnMut(Progress) -> Answer,
    work: impl FnOnce(&Shared) -> Result<T, LiveError> + Send,
) -> Result<T, LiveError> {
    let shared = Shared::default();
    let (ended, ends) = channel::<()>();
    thread::scope(|scope| {
        let shared = &shared;
        let running = scope.spawn(move || {
            // Dropped at the end, in every case.
            let _ended = ended;
            work(shared)
        });
        while let Err(RecvTimeoutError::Timeout) = ends.recv_timeout(EVERY) {
            if report(shared.progress()) == Answer::Stop {
                shared.stop();
            }
        }
        running.join().unwrap_or_else(|_| Err(LiveError::Failed("a thread of the run panicked".into())))
    })
}
