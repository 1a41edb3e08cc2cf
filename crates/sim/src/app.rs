//! What uses a TCP: bulk (never stops) and fixed size, from a start time on.

use ackclock_tcp::time::Time;

/// An application at the sender; a receiver has none that acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum App {
    /// Does nothing (a receiver).
    Idle,
    /// Will begin.
    Waiting { start: u64, bytes: Option<u64>, close: bool },
    /// Everything is written; that nothing more follows, it says once the connection is open.
    Opening { bytes: u64 },
    /// Everything that it will ever send is written; done when `bytes` are acknowledged.
    Running { bytes: u64 },
    /// All is acknowledged.
    Done { at: Time },
}

/// What a bulk application writes: more than any run can send, and far from where offsets end.
pub(crate) const BULK: u64 = 1 << 60;

impl App {
    /// When the last byte was acknowledged.
    pub(crate) fn finished(&self) -> Option<Time> {
        match *self {
            App::Done { at } => Some(at),
            _ => None,
        }
    }
}
