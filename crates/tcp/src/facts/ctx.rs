//! The read-only view that components get of the sender.

use crate::event::Phase;
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use crate::units::Bytes;

/// Snapshot of the sender, rebuilt after every change of phase or window and before each `next()`.
///
/// It has no `cwnd`: components that may read the window get a reference to it. Values that may be unknown are an `Option`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ctx {
    /// The current time.
    pub now: Time,
    /// Lowest unacknowledged offset (RFC 9293 §3.3.1).
    pub snd_una: Offset,
    /// Next offset to send; below `snd_max` after going back.
    pub snd_nxt: Offset,
    /// One past the highest offset ever sent.
    pub snd_max: Offset,
    /// Bytes that a new segment at `snd_max` may use, as limited by application data, the peer's window and the cap.
    pub room: Bytes,
    /// First unsent offset when the newest episode began; `None` before the first.
    pub recover: Option<Offset>,
    /// Whether a timeout began the newest episode.
    pub timed_out: bool,
    /// Smoothed round-trip time.
    pub srtt: Option<Nanos>,
    /// Smallest round-trip time seen.
    pub min_rtt: Option<Nanos>,
    /// Retransmission timeout without back-off.
    pub rto: Nanos,
    /// When the running retransmission timer fires.
    pub rto_at: Option<Time>,
    /// Maximum segment size, bytes of payload.
    pub mss: u32,
    /// Sequence space that the next segment at `snd_nxt` would take; 0 if none can be sent.
    pub next_len: u32,
    /// The phase.
    pub phase: Phase,
    /// Whether sending last stopped because the window was full (RFC 7661).
    pub cwnd_limited: bool,
}

impl Ctx {
    /// A sender that has sent and measured nothing yet. Its segments have `mss` bytes (1 for a transport that counts packets).
    pub fn at_start(mss: u32) -> Self {
        Ctx {
            now: Time::ZERO,
            snd_una: Offset::DATA,
            snd_nxt: Offset::DATA,
            snd_max: Offset::DATA,
            room: 0,
            recover: None,
            timed_out: false,
            srtt: None,
            min_rtt: None,
            rto: Nanos::from_secs(1),
            rto_at: None,
            mss,
            next_len: 0,
            phase: Phase::Open,
            cwnd_limited: true,
        }
    }

    /// Outstanding sequence space, `snd_max − snd_una` (RFC 5681 §2 FlightSize).
    #[inline]
    pub fn flight(&self) -> Bytes {
        self.snd_max - self.snd_una
    }

    /// The maximum segment size as a real number, the type of windows.
    #[inline]
    pub fn smss(&self) -> f64 {
        f64::from(self.mss)
    }
}
