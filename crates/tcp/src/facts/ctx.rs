//! The read-only view that components get of the sender.

use crate::event::Phase;
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use crate::units::Bytes;

/// Snapshot of the sender, rebuilt after every change of phase or window and before each `next()`.
///
/// There is no `cwnd` in it: whoever may read the window gets it lent. What may be unknown is an `Option`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ctx {
    /// The moment.
    pub now: Time,
    /// Lowest unacknowledged offset (RFC 9293 §3.3.1).
    pub snd_una: Offset,
    /// Next offset to send; below `snd_max` after going back.
    pub snd_nxt: Offset,
    /// One past the highest offset ever sent.
    pub snd_max: Offset,
    /// What a new segment at `snd_max` may use: application data, the peer's window and the cap allow so much.
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
    /// A sender of segments of `mss` bytes, or of a transport that counts packets with 1, that has sent nothing and measured nothing.
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

    /// The maximum segment size as the real number that windows are counted in.
    #[inline]
    pub fn smss(&self) -> f64 {
        f64::from(self.mss)
    }
}
