//! BBR's estimators: the rate of a policer, the rate of the path, bursts of ACKs, the smallest RTT.

use super::super::mss;
use super::{bytes_per_sec, Bbr, Mode, BW, UNIT};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::rate::{RateSample, Rates};
use ackclock_tcp::time::Time;

impl Bbr {
    /// `bbr_lt_bw_sampling`, `bbr_lt_bw_interval_done`.
    pub(super) fn lt_bw_sampling(&mut self, losses: u32, app_limited: bool, now: Time) {
        if self.lt.use_bw {
            if self.mode == Mode::ProbeBw && self.round_start {
                self.lt.rtt_cnt += 1;
                if self.lt.rtt_cnt >= 48 {
                    self.reset_lt();
                    self.reset_probe_bw(now);
                }
            }
            return;
        }
        if !self.lt.sampling {
            if losses == 0 {
                return;
            }
            (self.lt.last, self.lt.rtt_cnt, self.lt.sampling) = (self.tp, 0, true);
        }
        if app_limited {
            return self.reset_lt();
        }
        self.lt.rtt_cnt += u64::from(self.round_start);
        if self.lt.rtt_cnt < 4 {
            return;
        }
        if self.lt.rtt_cnt > 16 {
            return self.reset_lt();
        }
        if losses == 0 {
            return;
        }
        let lost = self.tp.lost - self.lt.last.lost;
        let delivered = self.tp.delivered - self.lt.last.delivered;
        if delivered == 0 || lost * 256 < 50 * delivered {
            return;
        }
        let ms = (self.tp.at / 1_000_000).saturating_sub(self.lt.last.at / 1_000_000);
        if ms == 0 {
            return;
        }
        let bw = u128::min(u128::from(delivered) * BW / (u128::from(ms) * 1000), u32::MAX.into());
        if self.lt.bw > 0 {
            let diff = bw.abs_diff(self.lt.bw);
            if diff * 256 <= 32 * self.lt.bw || bytes_per_sec(diff, UNIT, self.mss) <= 500 {
                self.lt.bw = (bw + self.lt.bw) / 2;
                (self.lt.use_bw, self.lt.rtt_cnt) = (true, 0);
                self.pacing_gain = UNIT;
                return;
            }
        }
        self.lt.bw = bw;
        (self.lt.last, self.lt.rtt_cnt) = (self.tp, 0);
    }

    pub(super) fn update_bw(&mut self, rs: &RateSample, now: Time) {
        self.round_start = false;
        let (Some(delivered), Some(us)) = (rs.delivered, rs.interval_us) else { return };
        if us == 0 {
            return;
        }
        if rs.prior_delivered >= self.next_rtt_delivered {
            self.next_rtt_delivered = self.tp.delivered;
            self.rtt_cnt += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.lt_bw_sampling(rs.losses, rs.is_app_limited, now);
        let bw = u128::min(u128::from(delivered) * BW / u128::from(us), u32::MAX.into());
        if bw >= self.max_bw() || !rs.is_app_limited {
            self.bw.running_max(10, self.rtt_cnt, bw);
        }
    }

    pub(super) fn update_ack_aggregation(&mut self, rs: &RateSample, w: &Window, cx: &Ctx) {
        if rs.acked_sacked == 0 || rs.delivered.is_none() || rs.interval_us.is_none_or(|us| us == 0) {
            return;
        }
        if self.round_start {
            self.extra_acked_win_rtts = u32::min(self.extra_acked_win_rtts + 1, 31);
            if self.extra_acked_win_rtts >= 5 {
                self.extra_acked_win_rtts = 0;
                self.extra_acked_win_idx = 1 - self.extra_acked_win_idx;
                self.extra_acked[self.extra_acked_win_idx] = 0;
            }
        }
        let us = (self.tp.at / 1000).saturating_sub(self.ack_epoch.0 / 1000);
        let mut expected = u128::min(self.bw() * u128::from(us) / BW, u32::MAX.into()) as u64;
        let acked = u64::from(rs.acked_sacked);
        if self.ack_epoch.1 <= expected || self.ack_epoch.1 + acked >= 1 << 20 {
            self.ack_epoch = (self.tp.at, 0);
            expected = 0;
        }
        self.ack_epoch.1 = u64::min(self.ack_epoch.1 + acked, (1 << 20) - 1);
        let extra = u64::min(self.ack_epoch.1.saturating_sub(expected), self.cwnd(w, cx));
        let slot = &mut self.extra_acked[self.extra_acked_win_idx];
        *slot = u64::max(*slot, u64::min(extra, u16::MAX.into()));
    }

    pub(super) fn update_min_rtt(&mut self, rs: &RateSample, rates: &mut Rates, w: &mut Window, cx: &Ctx) {
        let now = self.jiffies(cx.now.0);
        let stamp = *self.min_rtt_stamp.get_or_insert(now);
        let expired = now > stamp + 10 * self.hz;
        if let Some(us) = rs.rtt_us.map(u128::from) {
            let smaller = self.min_rtt_us.is_none_or(|min| us < min);
            if smaller || (expired && !rs.is_ack_delayed) {
                self.min_rtt_us = Some(us);
                self.min_rtt_stamp = Some(now);
            }
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(w, cx);
            self.probe_rtt_done = None;
        }
        if self.mode == Mode::ProbeRtt {
            rates.limit_by_application();
            if let Some(Ok(mut n)) = self.notes.as_ref().map(|n| n.lock()) {
                n.rates.limit(rs.in_flight);
            }
            if self.probe_rtt_done.is_none() && rs.in_flight <= 4 {
                // msecs_to_jiffies rounds up.
                let jiffy = 1_000_000_000 / self.hz;
                self.probe_rtt_done = Some(now + 200_000_000_u64.div_ceil(jiffy));
                self.probe_rtt_round_done = false;
                self.next_rtt_delivered = self.tp.delivered;
            } else if self.probe_rtt_done.is_some() {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(w, cx);
                }
            }
        }
        if rs.delivered.unwrap_or(0) > 0 {
            self.idle_restart = false;
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, w: &mut Window, cx: &Ctx) {
        let now = self.jiffies(cx.now.0);
        if self.probe_rtt_done.is_none_or(|done| now <= done) {
            return;
        }
        self.min_rtt_stamp = Some(now);
        w.cwnd = u64::max(self.cwnd(w, cx), self.prior_cwnd) as f64 * mss(cx);
        if self.full_bw_reached {
            self.reset_probe_bw(cx.now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
