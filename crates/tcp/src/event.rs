//! Every traced event of a sender, with who caused it and why. No event is built without an observer.

use crate::seq::Offset;
use crate::time::{Nanos, Time};
use crate::units::Bytes;

/// The four phases of a sender. In each phase exactly one component decides what may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Nothing is missing.
    Open,
    /// Data is missing, and it is not clear whether it is lost.
    Disorder,
    /// A loss is being repaired after a judge's verdict.
    Recovery,
    /// A loss is being repaired after a retransmission timeout.
    Loss,
}

impl Phase {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 4] = [Phase::Open, Phase::Disorder, Phase::Recovery, Phase::Loss];

    /// Whether this is Disorder.
    pub fn is_disorder(self) -> bool {
        self == Phase::Disorder
    }

    /// Whether an episode is being repaired.
    pub fn repairs(self) -> bool {
        matches!(self, Phase::Recovery | Phase::Loss)
    }
}

/// The cause of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A detector's verdict.
    Fast,
    /// A retransmission timeout.
    Rto,
    /// A congestion mark (RFC 3168): the window is cut and nothing is repaired, so this begins no episode.
    Ecn,
}

/// The rule by which a segment is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resend {
    /// The fast recovery with this number, from 1, repairs.
    Recovery(u32),
    /// A fast recovery marked it lost and ended before it was sent.
    Later,
    /// A probe of the tail, or of a closed window.
    Probe,
    /// The repair after a timeout.
    Timeout,
}

/// The component that acted: a slot of the stack, or the sequencer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// The sequencer.
    Sequencer,
    /// Initial window, first ssthresh.
    Startup,
    /// Growth and cut.
    Congestion,
    /// Sending in Disorder.
    Disorder,
    /// Repair after a verdict.
    Recovery,
    /// Repair after a timeout.
    Timeout,
    /// Restoring the window after a mistaken cut.
    Undo,
}

/// Why a phase began or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// The detector suspects a loss.
    Suspected,
    /// The detector declared a loss.
    Lost,
    /// The retransmission timer fired.
    Timeout,
    /// It was reordering after all.
    Resolved,
    /// The owner of the phase finished.
    Repaired,
    /// The owner goes back to the first unacknowledged segment.
    Restarted,
    /// The declared loss was a mistake.
    Mistaken,
}

/// The congestion window and the slow start threshold in real-valued bytes. Round down where they gate sending, never where
/// they grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window (RFC 5681 §2), bytes.
    pub cwnd: f64,
    /// Slow start threshold (RFC 5681 §3.1), bytes.
    pub ssthresh: f64,
}

/// One thing that happened inside a sender. `Copy`, at most 40 bytes (pinned by a test).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// The phase changed.
    Phase {
        /// The phase left.
        from: Phase,
        /// The phase entered.
        to: Phase,
        /// The reason.
        why: Why,
        /// The newest episode's number, 0 before the first.
        episode: u32,
    },
    /// `cwnd` or `ssthresh` changed.
    Window {
        /// The slot that wrote it.
        by: Slot,
        /// The newest episode's number, 0 before the first.
        episode: u32,
        /// The value before.
        from: Window,
        /// The value after.
        to: Window,
    },
    /// The artificial inflation of a Reno-style recovery changed; it is not part of `cwnd`.
    Inflation {
        /// The episode.
        episode: u32,
        /// Bytes now added to the window when sending.
        bytes: f64,
    },
    /// A segment with sequence space was passed to the driver.
    Sent {
        /// First offset.
        start: Offset,
        /// Sequence space taken (payload, and one for a FIN).
        len: u32,
        /// The newest episode's number, 0 before the first.
        episode: u32,
        /// How often it has been sent so far: 1 for a first transmission.
        sends: u8,
        /// The slot that asked for it.
        by: Slot,
    },
    /// An acceptable ACK was processed.
    Acked {
        /// Its cumulative acknowledgment.
        ack: Offset,
        /// Bytes that it newly reports as delivered, cumulatively or by SACK.
        delivered: Bytes,
        /// Duplicates in a row, this one included; on an advancing ACK, the length of the run that has just ended.
        dup_run: u32,
        /// Bytes estimated to be in the network after it (RFC 6675's `pipe`).
        pipe: Bytes,
    },
    /// A judge found that an episode was a mistake.
    Mistake {
        /// The episode.
        episode: u32,
        /// The cause of the episode.
        cause: Cause,
        /// Whether the undo slot restored anything.
        undone: bool,
    },
    /// The retransmission timer fired.
    Timeout {
        /// The episode that it began or belongs to.
        episode: u32,
        /// How often the timer had already backed off.
        backoff: u32,
    },
    /// The number of duplicates that mean a loss. Reported on the first ACK and whenever it has changed.
    Threshold {
        /// The duplicate ACK threshold in force, segments.
        dupthresh: u32,
        /// The maximum segment size, bytes.
        mss: u32,
        /// The congestion window at that time, in bytes: it bounds the rules for the threshold.
        cwnd: f64,
    },
    /// A zero window was probed (RFC 9293 §3.8.6.1).
    Persist {
        /// The offset that the probe sends.
        at: Offset,
    },
    /// A segment was sent to probe the tail: the probe timer of the detector had expired (RFC 8985 §7, RFC 9002 §6.2).
    Probe {
        /// The first offset that it sends.
        at: Offset,
    },
    /// The sender's RTT estimates (RFC 6298). Not emitted by the sender but by code that samples a live one.
    Rtt {
        /// Smoothed round-trip time.
        srtt: Nanos,
        /// RTT variation.
        rttvar: Nanos,
        /// Retransmission timeout, back-off included.
        rto: Nanos,
    },
}

/// Which of the most frequent events an [`Observer`] hears: a sender has one of each for a packet or an ACK. Events that nobody
/// hears are not built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frequent {
    /// [`Event::Sent`].
    pub sent: bool,
    /// [`Event::Acked`].
    pub acked: bool,
    /// [`Event::Inflation`].
    pub inflation: bool,
}

impl Frequent {
    /// All of them.
    pub const ALL: Self = Frequent { sent: true, acked: true, inflation: true };
    /// None of them.
    pub const NONE: Self = Frequent { sent: false, acked: false, inflation: false };

    /// The events that one of two listeners hears.
    pub const fn or(self, other: Self) -> Self {
        let Frequent { sent, acked, inflation } = other;
        Frequent { sent: self.sent || sent, acked: self.acked || acked, inflation: self.inflation || inflation }
    }
}

/// Listens to a sender. `()` does not listen and costs nothing.
pub trait Observer {
    /// Whether it listens; if `false`, no event is built.
    const ENABLED: bool = true;
    /// The frequent events that it hears; it hears all others.
    const HEARS: Frequent = Frequent::ALL;
    /// Whether [`Observer::rto`] is called.
    const HEARS_RTO: bool = false;
    /// Takes one event.
    fn event(&mut self, at: Time, e: Event);
    /// The current duration of the retransmission timer, back-off included. Called after each ACK and timeout; not an event,
    /// because it seldom changes.
    fn rto(&mut self, _at: Time, _rto: Nanos) {}
}

impl Observer for () {
    const ENABLED: bool = false;
    const HEARS: Frequent = Frequent::NONE;
    fn event(&mut self, _: Time, _: Event) {}
}

impl Observer for Vec<(Time, Event)> {
    fn event(&mut self, at: Time, e: Event) {
        self.push((at, e));
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_event_takes_at_most_40_bytes() {
        assert_eq!(size_of::<super::Event>(), 40);
    }
}
