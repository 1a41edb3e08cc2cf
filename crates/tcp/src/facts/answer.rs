//! Answers of a phase's owner: what to send next, and how the phase continues.

use crate::seq::Offset;

/// A transmission to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Xmit {
    /// The segment at `snd_nxt`; below `snd_max` that *is* a retransmission.
    New,
    /// The segment that contains this offset.
    Again(Offset),
}

/// The effect on the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rearm {
    /// RFC 6298 §5: restarted by an ACK of new data.
    OnNewData,
    /// Restarted now.
    Restart,
    /// Left running.
    Keep,
}

/// How the owner of Recovery or Loss wants to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The phase continues.
    Continue(Rearm),
    /// The phase is over.
    Done {
        /// Whether the same ACK also grows the window.
        grow: bool,
    },
    /// From Recovery only: the same episode continues in Loss, without back-off.
    Restart,
    /// From Loss only: `snd_nxt` goes back to `snd_una`.
    Rewind,
    /// A fast retransmit begins a new episode; in Recovery this ends the old one.
    Begin,
}
