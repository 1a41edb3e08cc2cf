//! The rate of a policer, detected by two intervals in a row with high loss and the same throughput.
//!
//! Source: Linux 6.18, `bbr_lt_bw_sampling`, `bbr_lt_bw_interval_done`, `bbr_reset_lt_bw_sampling` in `net/ipv4/tcp_bbr.c`, in our
//! words.

use super::bytes_per_second;
use crate::facts::rate::{micros, Rates};
use crate::time::Time;

/// The least number of round trips in an interval; four times as many are too long.
const MIN_RTTS: u32 = 4;
/// The ratio of losses to deliveries, in 256ths, from which an interval is lossy.
const LOSS_THRESH: u64 = 50;
/// Two rates count as the same if they differ by at most this share, in 256ths.
const RATIO: u64 = 256 / 8;
/// They also count as the same if they differ by at most this many bytes per second.
const DIFF: u64 = 4000 / 8;
/// Round trips for which the rate is used.
const MAX_RTTS: u32 = 48;

/// The inputs from the current rate and round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub(super) starts: bool,
    pub(super) losses: u32,
    pub(super) is_app_limited: bool,
    pub(super) probes_bandwidth: bool,
    pub(super) mss: u32,
}

/// Totals of delivered and lost data at a point in time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    delivered: u64,
    delivered_at: Time,
    lost: u64,
}

impl Totals {
    pub(super) fn delivered_at(&self) -> Time {
        self.delivered_at
    }

    pub(super) fn of(rates: &Rates) -> Totals {
        Totals { delivered: rates.delivered(), delivered_at: rates.delivered_at(), lost: rates.lost() }
    }
}

/// The outcome of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// Nothing.
    Nothing,
    /// A policer was detected: send no faster than its rate from now on.
    Policed,
    /// The rate has been used long enough.
    Over,
}

/// The estimator.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    is_sampling: bool,
    rtts: u32,
    in_use: bool,
    bw: u32,
    last: Totals,
}

impl LongTerm {
    /// The policer's rate, if one is in use.
    pub(super) fn bw(&self) -> Option<u32> {
        self.in_use.then_some(self.bw)
    }

    /// Starts from the beginning.
    pub(super) fn reset(&mut self, now: Totals) {
        *self = LongTerm { last: now, ..LongTerm::default() };
    }

    fn next_interval(&mut self, now: Totals) {
        (self.last, self.rtts) = (now, 0);
    }

    /// An ACK, or a timeout.
    pub(super) fn on_ack(&mut self, now: Totals, round: Round) -> Finding {
        if self.in_use {
            if round.probes_bandwidth && round.starts {
                self.rtts += 1;
                if self.rtts >= MAX_RTTS {
                    self.reset(now);
                    return Finding::Over;
                }
            }
            return Finding::Nothing;
        }
        if !self.is_sampling {
            if round.losses == 0 {
                return Finding::Nothing;
            }
            self.next_interval(now);
            self.is_sampling = true;
        }
        if round.is_app_limited {
            self.reset(now);
            return Finding::Nothing;
        }
        self.rtts += u32::from(round.starts);
        if self.rtts > 4 * MIN_RTTS {
            self.reset(now);
            return Finding::Nothing;
        }
        if self.rtts < MIN_RTTS || round.losses == 0 {
            return Finding::Nothing;
        }
        self.close(now, round.mss)
    }

    fn close(&mut self, now: Totals, mss: u32) -> Finding {
        let (lost, delivered) = (now.lost - self.last.lost, now.delivered - self.last.delivered);
        if delivered == 0 || (lost << 8) < LOSS_THRESH * delivered {
            return Finding::Nothing;
        }
        let millis = |at| micros(at) / 1000;
        let took = millis(now.delivered_at).saturating_sub(millis(self.last.delivered_at));
        if took == 0 {
            return Finding::Nothing;
        }
        let bw = u32::try_from((delivered << super::BW_SCALE) / (took * 1000)).unwrap_or(u32::MAX);
        if self.bw > 0 {
            let diff = bw.abs_diff(self.bw);
            if u64::from(diff) << 8 <= RATIO * u64::from(self.bw) || bytes_per_second(diff, super::UNIT, mss) <= DIFF {
                (self.bw, self.in_use, self.rtts) = (bw / 2 + self.bw / 2 + (bw & self.bw & 1), true, 0);
                return Finding::Policed;
            }
        }
        self.bw = bw;
        self.next_interval(now);
        Finding::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ms;

    const LOSSY: Round = Round { starts: true, losses: 1, is_app_limited: false, probes_bandwidth: true, mss: 1000 };

    fn at(delivered: u64, time: u64, lost: u64) -> Totals {
        Totals { delivered, delivered_at: ms(time), lost }
    }

    /// Two intervals of four round trips: 100 segments in 400 ms, then `second` in 400 ms; `lost` are lost in each.
    fn two_intervals(second: u64, lost: u64) -> (LongTerm, Finding) {
        let mut lt = LongTerm::default();
        lt.on_ack(at(0, 0, 1), Round { starts: false, ..LOSSY });
        (1..=4).for_each(|n| _ = lt.on_ack(at(25 * n, 100 * n, 1 + lost * n / 4), LOSSY));
        assert!(lt.bw().is_none());
        let mut found = Finding::Nothing;
        (1..=4)
            .for_each(|n| found = lt.on_ack(at(100 + second * n / 4, 400 + 100 * n, 1 + lost + lost * n / 4), LOSSY));
        (lt, found)
    }

    #[test]
    fn two_lossy_intervals_of_the_same_rate_are_a_policer_and_their_mean_its_rate() {
        // 100 segments in 400 ms, with 2²⁴ for one per microsecond, are 4194; 110 are 4613, a tenth more; the mean is 4403.
        let (lt, found) = two_intervals(110, 24);
        assert_eq!((found, lt.bw()), (Finding::Policed, Some(4403)));
        assert_eq!(two_intervals(113, 24).1, Finding::Nothing, "more than an eighth apart");
        assert_eq!(two_intervals(110, 16).1, Finding::Nothing, "less than a fifth is lost");
    }

    #[test]
    fn a_policer_is_believed_in_for_48_round_trips() {
        let (mut lt, _) = two_intervals(100, 24);
        let over: Vec<_> = (0..48).map(|_| lt.on_ack(at(1000, 1000, 100), LOSSY)).collect();
        assert!(over[..47].iter().all(|f| *f == Finding::Nothing));
        assert_eq!((over[47], lt.bw()), (Finding::Over, None));
    }

    #[test]
    fn what_the_application_holds_back_is_no_policers_rate() {
        let mut lt = LongTerm::default();
        lt.on_ack(at(0, 0, 1), LOSSY);
        lt.on_ack(at(10, 10, 2), Round { is_app_limited: true, ..LOSSY });
        assert!(!lt.is_sampling);
    }
}
