//! Applications that use a TCP: bulk (never stops) and fixed size, from a start time on.

use ackclock_tcp::time::Time;

/// An application at the sender. A receiver's application does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum App {
    /// Does nothing (a receiver).
    Idle,
    /// Has not started yet. Then it writes `bytes`, [`BULK`] if it never stops.
    Waiting { start: u64, bytes: u64, close: bool },
    /// All data is written; the application closes its side once the connection is open.
    Opening { bytes: u64 },
    /// All the data that it will ever send is written; done when `bytes` are acknowledged.
    Running { bytes: u64 },
    /// Everything is acknowledged.
    Done { at: Time },
}

/// The amount that a bulk application writes: more than any run can send, and far below the largest
/// offset.
pub(crate) const BULK: u64 = 1 << 60;

impl App {
    /// The time when the last byte was acknowledged.
    pub(crate) fn finished(&self) -> Option<Time> {
        match *self {
            App::Done { at } => Some(at),
            _ => None,
        }
    }
}
