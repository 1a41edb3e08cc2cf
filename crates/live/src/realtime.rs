//! Real-time priority, for runs whose times are to be believed.
//!
//! Source: `man 7 sched`.

use crate::sys;
use std::io;

/// A low one of the real-time priorities: above everything ordinary, below what others have made more urgent.
const PRIORITY: i32 = 10;

/// What became of a request for real-time priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Nobody asked.
    Ordinary,
    /// `SCHED_FIFO`.
    RealTime,
    /// The system refused; the run goes on without.
    Refused(io::ErrorKind),
}

/// Asks for the calling thread, if it is `wanted`.
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
