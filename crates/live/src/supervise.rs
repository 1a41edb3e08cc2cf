//! Work on a thread of its own, and whoever waits for it: progress one way, "stop" the other way.
//!
//! Whoever waits may be Python, whose signal handlers run on its main thread alone; the work may have real-time priority,
//! and must not wait for anybody.

use crate::error::LiveError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often whoever waits is told.
const EVERY: Duration = Duration::from_millis(50);

/// What the work and whoever waits for it share.
#[derive(Debug, Default)]
pub struct Shared {
    stop: AtomicBool,
    done: AtomicU64,
    of: AtomicU64,
}

/// How far the work is, in units of its own: bytes, or nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is done.
    pub done: u64,
    /// Of this; 0 if nobody knows.
    pub of: u64,
}

/// Whether the work goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It does.
    GoOn,
    /// It ends as soon as it can, with [`LiveError::Interrupted`].
    Stop,
}

impl Shared {
    /// Whether the work has to end.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// The work has to end.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// How much there is to do.
    pub fn expect(&self, of: u64) {
        self.of.store(of, Relaxed);
    }

    /// How much is done.
    #[inline]
    pub fn tell(&self, done: u64) {
        self.done.store(done, Relaxed);
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        Progress { done: self.done.load(Relaxed), of: self.of.load(Relaxed) }
    }
}

/// Carries `work` out on a thread of its own and asks `told` every 50 ms whether it goes on.
///
/// # Errors
/// Those of the work; [`LiveError::Failed`] if it panics.
pub fn supervise<T: Send>(
    told: &mut dyn FnMut(Progress) -> Answer,
    work: impl FnOnce(&Shared) -> Result<T, LiveError> + Send,
) -> Result<T, LiveError> {
    let shared = Shared::default();
    let (ended, ends) = channel::<()>();
    thread::scope(|scope| {
        let shared = &shared;
        let running = scope.spawn(move || {
            // Dropped at the end, whichever it is.
            let _ended = ended;
            work(shared)
        });
        while let Err(RecvTimeoutError::Timeout) = ends.recv_timeout(EVERY) {
            if told(shared.progress()) == Answer::Stop {
                shared.stop();
            }
        }
        running.join().unwrap_or_else(|_| Err(LiveError::Failed("a thread of the run panicked".into())))
    })
}
