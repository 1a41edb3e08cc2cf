//! The receiver's side of the timestamps option.
//!
//! Source: RFC 7323 §4.3 (which timestamp to echo) and §5.3, §5.5 (PAWS).
//! Idea: echo the timestamp of the segment that an ACK answers; an older segment is an old duplicate.
//!
//! | RFC | here |
//! | --- | --- |
//! | `TS.Recent` | `recent`, once `known` |
//! | `Last.ACK.sent` | `last_ack_sent` |
//! | "TS.Recent is invalid" after 24 days | `recent_at` more than [`OUTDATED`] ago |

use crate::segment::{is_older, Segment};
use crate::seq::Offset;
use crate::time::{Nanos, Time};

/// RFC 7323 §5.5: after an idle time this long, a timestamp proves nothing.
const OUTDATED: Nanos = Nanos::from_secs(24 * 24 * 60 * 60);

/// The verdict of the timestamp on a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// Not older than those seen before.
    Fresh,
    /// Older: PAWS refuses it.
    Old,
    /// There is none, although the option was negotiated.
    Missing,
}

/// TS.Recent and its related state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timestamps {
    last_ack_sent: Offset,
    recent_at: Time,
    recent: u32,
    known: bool,
}

impl Timestamps {
    /// `recent` is the timestamp of the peer's SYN, if there was one.
    pub(super) fn new(rcv_nxt: Offset, recent: Option<u32>) -> Self {
        let known = recent.is_some();
        Self { last_ack_sent: rcv_nxt, recent_at: Time::ZERO, recent: recent.unwrap_or(0), known }
    }

    /// RFC 7323 §5.3 R1, tested before the window. Not for a RST.
    #[inline]
    pub(super) fn age(&self, now: Time, seg: &Segment) -> Age {
        if seg.opts & Segment::TIMESTAMPS == 0 {
            return Age::Missing;
        }
        if is_older(seg.tsval, self.recent) && self.known && now.since(self.recent_at) <= OUTDATED {
            Age::Old
        } else {
            Age::Fresh
        }
    }

    /// RFC 7323 §5.3 R3 and §4.3 (2), for a segment that is [`Age::Fresh`] and acceptable.
    #[inline]
    pub(super) fn take(&mut self, now: Time, seg: &Segment) {
        if seg.seq <= self.last_ack_sent {
            self.recent = seg.tsval;
            self.recent_at = now;
            self.known = true;
        }
    }

    /// TS.Recent.
    pub(super) fn recent(&self) -> u32 {
        self.recent
    }

    /// An ACK of everything before `rcv_nxt` is sent; returns the timestamp that it echoes (RFC 7323 §4.3
    /// (3)).
    #[inline]
    pub(super) fn ack_sent(&mut self, rcv_nxt: Offset) -> u32 {
        self.last_ack_sent = rcv_nxt;
        self.recent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seg(seq: u64, tsval: u32) -> Segment {
        Segment { seq: Offset(seq), len: 1, tsval, opts: Segment::TIMESTAMPS, ..Segment::EMPTY }
    }

    #[test]
    fn the_order_of_timestamps_wraps() {
        let t = Timestamps::new(Offset::DATA, Some(u32::MAX));
        assert_eq!(t.age(Time::ZERO, &seg(1, 3)), Age::Fresh);
        assert_eq!(t.age(Time::ZERO, &seg(1, u32::MAX - 1)), Age::Old);
        assert_eq!(t.age(Time::ZERO, &Segment { opts: 0, ..seg(1, 3) }), Age::Missing);
    }

    #[test]
    fn after_24_days_an_old_timestamp_is_taken_again() {
        let mut t = Timestamps::new(Offset::DATA, None);
        t.take(Time(1), &seg(1, 500));
        let day = 24 * 60 * 60 * 1_000_000_000;
        assert_eq!(t.age(Time(24 * day), &seg(1, 400)), Age::Old);
        assert_eq!(t.age(Time(24 * day + 2), &seg(1, 400)), Age::Fresh);
        t.take(Time(24 * day + 2), &seg(1, 400));
        assert_eq!(t.ack_sent(Offset(2)), 400);
    }

    #[test]
    fn without_a_syn_the_first_timestamp_is_taken_whatever_it_is() {
        let t = Timestamps::new(Offset::DATA, None);
        assert_eq!(t.age(Time::ZERO, &seg(1, 0x9000_0000)), Age::Fresh);
    }
}
