//! ACK aggregation: how far bursts of ACKs run ahead of the rate. The window needs this extra, or sending stops between two
//! ACKs.
//!
//! Source: Linux 6.18, `bbr_update_ack_aggregation`, `bbr_ack_aggregation_cwnd` in `net/ipv4/tcp_bbr.c`, in our words.

use crate::facts::rate::micros;
use crate::time::Time;

/// Round trips for which each of the two slots keeps its maximum.
const WINDOW_RTTS: u32 = 5;
/// An epoch is over once this many segments were acknowledged in it.
const RESET_AT: u32 = 1 << 20;
/// The extra is at most the data that the rate delivers in this time, in µs.
const MAX_US: u64 = 100_000;

/// The estimator.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    epoch: Time,
    epoch_acked: u32,
    extra: [u16; 2],
    rtts: u32,
    index: usize,
}

impl Aggregation {
    /// Starts again after a pause.
    pub(super) fn restart(&mut self, now: Time) {
        (self.epoch, self.epoch_acked) = (now, 0);
    }

    /// An ACK of `acked` segments, at the rate `bw`, under a window of `cwnd`.
    pub(super) fn on_ack(&mut self, now: Time, round_start: bool, acked: u32, bw: u32, cwnd: u32) {
        if round_start {
            self.rtts = (self.rtts + 1).min(0x1f);
            if self.rtts >= WINDOW_RTTS {
                (self.rtts, self.index) = (0, 1 - self.index);
                self.extra[self.index] = 0;
            }
        }
        let us = micros(now).saturating_sub(micros(self.epoch));
        let expected = u64::from(bw).saturating_mul(us) >> super::BW_SCALE;
        let mut expected = u32::try_from(expected).unwrap_or(u32::MAX);
        if self.epoch_acked <= expected || self.epoch_acked.saturating_add(acked) >= RESET_AT {
            self.restart(now);
            expected = 0;
        }
        self.epoch_acked = (self.epoch_acked + acked).min(RESET_AT - 1);
        let extra = self.epoch_acked.saturating_sub(expected).min(cwnd);
        self.extra[self.index] = self.extra[self.index].max(u16::try_from(extra).unwrap_or(u16::MAX));
    }

    /// The extra window in segments.
    pub(super) fn window(&self, bw: u32) -> u32 {
        let most = (u64::from(bw) * MAX_US) >> super::BW_SCALE;
        u32::from(self.extra[0].max(self.extra[1])).min(u32::try_from(most).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ms;

    /// One segment per millisecond.
    const BW: u32 = (1 << 24) / 1000;

    #[test]
    fn what_comes_before_it_is_expected_counts_until_the_rate_has_caught_up() {
        let mut a = Aggregation::default();
        a.on_ack(ms(10), false, 2, BW, 100);
        assert_eq!(a.window(BW), 2, "an epoch begins");
        // 16,777 / 2²⁴ per microsecond is slightly less than one per millisecond: 0 after the first, 2 after the third.
        a.on_ack(ms(11), false, 10, BW, 100);
        assert_eq!(a.window(BW), 12);
        a.on_ack(ms(13), false, 1, BW, 100);
        assert_eq!(a.window(BW), 12, "13 of which 2 were expected");
        a.on_ack(ms(40), false, 5, BW, 100);
        assert_eq!(a.extra[0], 12, "29 were expected: a new epoch");
        assert_eq!(a.epoch_acked, 5);
    }

    #[test]
    fn it_is_forgotten_after_five_to_ten_round_trips_and_bounded_by_the_window_and_a_tenth_of_a_second() {
        let mut a = Aggregation::default();
        a.on_ack(ms(10), false, 500, BW, 300);
        assert_eq!((a.extra[0], a.window(BW)), (300, 99), "100 ms at the rate");
        for n in 0..9 {
            a.on_ack(ms(2000 + 1000 * n), true, 1, BW, 300);
            assert_eq!(a.window(u32::MAX), 300);
        }
        a.on_ack(ms(20_000), true, 1, BW, 300);
        assert_eq!(a.window(u32::MAX), 1);
    }
}
