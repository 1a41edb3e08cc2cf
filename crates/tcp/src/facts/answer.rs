//! What the owner of a phase answers: what goes next, and how the phase goes on.

use crate::seq::Offset;

/// A transmission that was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Xmit {
    /// The segment at `snd_nxt`; below `snd_max` that *is* a retransmission.
    New,
    /// The segment that contains this offset.
    Again(Offset),
}

/// What happens to the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rearm {
    /// RFC 6298 §5: restarted by an ACK of new data.
    OnNewData,
    /// Restarted now.
    Restart,
    /// Left running.
    Keep,
}

/// What the owner of Recovery or Loss wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The phase goes on.
    Continue(Rearm),
    /// The phase is over.
    Done {
        /// Whether this same ACK also grows the window.
        grow: bool,
    },
    /// From Recovery only: the same episode goes on in Loss, without back-off.
    Restart,
    /// From Loss only: `snd_nxt` goes back to `snd_una`.
    Rewind,
    /// A fast retransmit begins a new episode; from Recovery the old one ends with it.
    Begin,
}
