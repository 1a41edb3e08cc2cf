//! RACK's reordering window, and the smallest RTT that it is a fraction of (RFC 8985 §6.2 steps 1 and 4).

use crate::facts::ctx::Ctx;
use crate::seq::Offset;
use crate::time::{Nanos, Time};

/// The smallest RTT over at least the last `window` and at most two windows.
pub(super) struct MinRtt {
    window: Nanos,
    since: Time,
    before: Option<Nanos>,
    now: Option<Nanos>,
}

impl MinRtt {
    pub(super) fn new(window: Nanos) -> Self {
        MinRtt { window, since: Time::ZERO, before: None, now: None }
    }

    pub(super) fn sample(&mut self, rtt: Nanos, at: Time) {
        if at.since(self.since) > self.window {
            (self.before, self.now, self.since) = (self.now, None, at);
        }
        self.now = Some(self.now.map_or(rtt, |n| n.min(rtt)));
    }

    pub(super) fn get(&self) -> Option<Nanos> {
        match (self.before, self.now) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

/// How long a segment may be late: quarters of the smallest RTT, one more for each round trip with a DSACK.
pub(super) struct ReoWnd {
    mult: u32,
    full_persist: u32,
    persist: u32,
    /// DSACKs below this offset belong to a round trip already counted.
    dsack_round: Option<Offset>,
    /// By Linux's rules: whether a DSACK is still to be counted, and when the last one was.
    pending: bool,
    widened: Option<Time>,
}

impl ReoWnd {
    pub(super) fn new(persist: u32) -> Self {
        ReoWnd { mult: 1, full_persist: persist, persist, dsack_round: None, pending: false, widened: None }
    }

    /// Processes an ACK: `dsack` if it carries a DSACK, `ends` if it ends a recovery.
    pub(super) fn on_ack(&mut self, dsack: bool, ends: bool, cx: &Ctx) {
        if self.dsack_round.is_some_and(|end| cx.snd_una >= end) {
            self.dsack_round = None;
        }
        if dsack && self.dsack_round.is_none() {
            self.dsack_round = Some(cx.snd_nxt);
            self.mult = self.mult.saturating_add(1);
            self.persist = self.full_persist;
        } else if ends {
            self.persist = self.persist.saturating_sub(1);
            if self.persist == 0 {
                self.mult = 1;
            }
        }
    }

    /// The same by Linux's rules (`tcp_rack_update_reo_wnd`): a DSACK counts with the next delivery, whose last segment was
    /// sent at `newest`, unless that was before the last DSACK counted.
    pub(super) fn on_ack_by_linux(&mut self, dsack: bool, ends: bool, newest: Option<Time>, now: Time) {
        self.pending |= dsack;
        if let Some(newest) = newest {
            self.pending &= self.widened.is_none_or(|at| newest >= at);
            if std::mem::take(&mut self.pending) {
                (self.mult, self.persist) = (self.mult.saturating_add(1).min(u8::MAX.into()), self.full_persist);
                self.widened = Some(now);
            } else if self.persist == 0 {
                self.mult = 1;
            }
        }
        if ends {
            self.persist = self.persist.saturating_sub(1);
        }
    }

    pub(super) fn get(&self, min_rtt: Option<Nanos>, srtt: Option<Nanos>) -> Nanos {
        let wide = Nanos(min_rtt.unwrap_or_default().0.saturating_mul(u64::from(self.mult)) / 4);
        srtt.map_or(wide, |srtt| wide.min(srtt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::context;

    fn at(una: u64, nxt: u64) -> Ctx {
        Ctx { snd_una: Offset(una), snd_nxt: Offset(nxt), ..context() }
    }

    fn width(w: &ReoWnd) -> u64 {
        w.get(Some(Nanos::from_millis(100)), Some(Nanos::from_millis(120))).0 / 1_000_000
    }

    #[test]
    fn each_round_trip_with_a_dsack_adds_a_quarter_up_to_a_smoothed_round_trip() {
        // Spec C1: min_RTT 100 ms, SRTT 120 ms.
        let (mut w, mut widths) = (ReoWnd::new(16), vec![]);
        for round in 0..6 {
            widths.push(width(&w));
            let una = 1000 * round;
            w.on_ack(true, false, &at(una, una + 1000));
            w.on_ack(true, false, &at(una + 999, una + 2000));
        }
        assert_eq!(widths, [25, 50, 75, 100, 120, 120]);
    }

    #[test]
    fn sixteen_recoveries_without_a_dsack_bring_the_window_back_to_a_quarter() {
        let mut w = ReoWnd::new(16);
        w.on_ack(true, false, &at(0, 1000));
        w.on_ack(true, false, &at(1000, 2000));
        for _ in 0..15 {
            w.on_ack(false, true, &at(2000, 3000));
        }
        assert_eq!(width(&w), 75);
        w.on_ack(false, false, &at(2000, 3000));
        assert_eq!(width(&w), 75);
        w.on_ack(false, true, &at(2000, 3000));
        assert_eq!(width(&w), 25);
    }

    #[test]
    fn a_dsack_starts_the_count_of_recoveries_again() {
        let mut w = ReoWnd::new(16);
        (0..15).for_each(|_| w.on_ack(false, true, &at(0, 1000)));
        w.on_ack(true, true, &at(0, 1000));
        (0..15).for_each(|_| w.on_ack(false, true, &at(0, 1000)));
        assert_eq!(width(&w), 50);
    }

    #[test]
    fn by_linuxs_rules_a_dsack_counts_once_until_something_sent_later_is_delivered() {
        let ms = |n: u64| Time(n * 1_000_000);
        let mut w = ReoWnd::new(2);
        // (DSACK, ends a recovery, newest delivered, now): the window in quarters of 100 ms.
        let acks = [
            ((true, false, None, 100), 25, "nothing was delivered: the DSACK waits"),
            ((false, false, Some(50), 110), 50, "the next delivery makes the DSACK count"),
            ((true, false, Some(105), 120), 50, "sent before the window became wider"),
            ((true, false, Some(110), 130), 75, "sent after"),
            ((false, true, Some(131), 140), 75, "a recovery"),
            ((false, true, Some(141), 150), 75, "the second one"),
            ((false, false, Some(151), 160), 25, "and the next delivery"),
        ];
        for ((dsack, ends, newest, now), want, why) in acks {
            w.on_ack_by_linux(dsack, ends, newest.map(ms), ms(now));
            assert_eq!(width(&w), want, "{why}");
        }
    }

    #[test]
    fn the_smallest_round_trip_is_forgotten_after_two_windows_at_most() {
        let secs = |n: u64| Time(n * 1_000_000_000);
        let mut m = MinRtt::new(Nanos::from_secs(300));
        assert_eq!(m.get(), None);
        m.sample(Nanos::from_millis(10), secs(1));
        m.sample(Nanos::from_millis(50), secs(301));
        assert_eq!(m.get(), Some(Nanos::from_millis(10)));
        m.sample(Nanos::from_millis(60), secs(602));
        assert_eq!(m.get(), Some(Nanos::from_millis(50)));
    }
}
