//! Real-time priority, for runs that need exact times.
//!
//! Source: `man 7 sched`.

use crate::sys;
use std::io;

/// A low real-time priority: above all ordinary ones, below those of more urgent processes.
const PRIORITY: i32 = 10;

/// The outcome of a request for real-time priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Not requested.
    Ordinary,
    /// `SCHED_FIFO`.
    RealTime,
    /// The system refused; the run continues without it.
    Refused(io::ErrorKind),
}

/// Requests it for the calling thread, if `wanted`.
pub fn request(wanted: bool) -> Priority {
    if !wanted {
        return Priority::Ordinary;
    }
    match sys::schedule_fifo(PRIORITY) {
        Ok(()) => Priority::RealTime,
        Err(e) => Priority::Refused(e.kind()),
    }
}

impl Priority {
    /// In words, for the first line of a run.
    pub fn words(self) -> String {
        match self {
            Priority::Ordinary => "ordinary priority".into(),
            Priority::RealTime => "real-time priority".into(),
            Priority::Refused(why) => format!("real-time priority refused ({why})"),
        }
    }
}
