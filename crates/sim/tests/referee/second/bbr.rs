//! BBR (Linux's `tcp_bbr.c`, version 1), worked out once more.

use super::mss;
mod steps;

use super::Notes;
use ackclock_tcp::congestion::{Congestion, Cut, LossEvent};
use ackclock_tcp::event::{Cause, Phase, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::CcUndo;
use ackclock_tcp::facts::pace::Pace;
use ackclock_tcp::facts::rate::{RateSample, Rates};
use ackclock_tcp::time::{Nanos, Time};

/// `BW_UNIT`, `BBR_UNIT`.
const BW: u128 = 1 << 24;
const UNIT: u128 = 256;
const HIGH: u128 = 256 * 2885 / 1000 + 1;
const CYCLE: [u128; 8] = [320, 192, 256, 256, 256, 256, 256, 256];

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// `struct minmax`: (time, value).
#[derive(Clone, Copy, Default)]
struct MinMax([(u64, u128); 3]);

impl MinMax {
    /// `minmax_running_max`, `minmax_subwin_update`.
    fn running_max(&mut self, win: u64, t: u64, meas: u128) {
        let [s0, s1, s2] = self.0;
        let val = (t, meas);
        if meas >= s0.1 || t - s2.0 > win {
            self.0 = [val; 3];
            return;
        }
        if meas >= s1.1 {
            self.0 = [s0, val, val];
        } else if meas >= s2.1 {
            self.0 = [s0, s1, val];
        }
        let [s0, s1, s2] = self.0;
        let dt = t - s0.0;
        if dt > win {
            self.0 = if t - s1.0 > win { [s2, val, val] } else { [s1, s2, val] };
        } else if s1.0 == s0.0 && dt > win / 4 {
            self.0 = [s0, val, val];
        } else if s2.0 == s1.0 && dt > win / 2 {
            self.0[2] = val;
        }
    }
}

/// `tp->delivered`, `delivered_mstamp`, `lost`.
#[derive(Clone, Copy, Default)]
struct Totals {
    delivered: u64,
    at: u64,
    lost: u64,
}

/// `lt_*`.
#[derive(Clone, Copy, Default)]
struct LongTerm {
    sampling: bool,
    rtt_cnt: u64,
    use_bw: bool,
    bw: u128,
    last: Totals,
}

pub(super) struct Bbr {
    hz: u64,
    mss: u128,
    mode: Mode,
    bw: MinMax,
    rtt_cnt: u64,
    next_rtt_delivered: u64,
    round_start: bool,
    min_rtt_us: Option<u128>,
    min_rtt_stamp: Option<u64>,
    probe_rtt_done: Option<u64>,
    probe_rtt_round_done: bool,
    cycle_mstamp: u64,
    cycle_idx: usize,
    pacing_gain: u128,
    cwnd_gain: u128,
    pacing_rate: u64,
    has_seen_rtt: bool,
    full_bw: u128,
    full_bw_cnt: u32,
    full_bw_reached: bool,
    idle_restart: bool,
    packet_conservation: bool,
    prev_ca_state: Phase,
    prior_cwnd: u64,
    tp: Totals,
    lt: LongTerm,
    extra_acked: [u64; 2],
    extra_acked_win_rtts: u32,
    extra_acked_win_idx: usize,
    ack_epoch: (u64, u64),
    /// Rates reckoned outside of the sender.
    notes: Notes,
}

/// `bbr_rate_bytes_per_sec`.
fn bytes_per_sec(rate: u128, gain: u128, mss: u128) -> u64 {
    let rate = (rate * mss * gain) >> 8;
    u64::try_from((rate * (1_000_000 / 100 * 99)) >> 24).unwrap_or(u64::MAX)
}

impl Bbr {
    pub(super) fn new(hz: u32, mss: u32, notes: Notes) -> Bbr {
        let mut bbr = Bbr {
            hz: u64::from(hz),
            mss: u128::from(mss),
            mode: Mode::Startup,
            bw: MinMax::default(),
            rtt_cnt: 0,
            next_rtt_delivered: 1,
            round_start: false,
            min_rtt_us: None,
            min_rtt_stamp: None,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            cycle_mstamp: 0,
            cycle_idx: 0,
            pacing_gain: HIGH,
            cwnd_gain: HIGH,
            pacing_rate: 0,
            has_seen_rtt: false,
            full_bw: 0,
            full_bw_cnt: 0,
            full_bw_reached: false,
            idle_restart: false,
            packet_conservation: false,
            prev_ca_state: Phase::Open,
            prior_cwnd: 0,
            tp: Totals::default(),
            lt: LongTerm::default(),
            extra_acked: [0; 2],
            extra_acked_win_rtts: 0,
            extra_acked_win_idx: 0,
            ack_epoch: (0, 0),
            notes,
        };
        bbr.init_pacing_rate(10, 1000);
        bbr
    }

    fn jiffies(&self, at: u64) -> u64 {
        at / (1_000_000_000 / self.hz)
    }

    fn init_pacing_rate(&mut self, cwnd: u64, rtt_us: u64) {
        let bw = u128::from(cwnd) * BW / u128::from(rtt_us.max(1));
        self.pacing_rate = bytes_per_sec(bw.min(u32::MAX.into()), HIGH, self.mss);
    }

    fn max_bw(&self) -> u128 {
        self.bw.0[0].1
    }

    fn bw(&self) -> u128 {
        if self.lt.use_bw {
            self.lt.bw
        } else {
            self.max_bw()
        }
    }

    fn cwnd(&self, w: &Window, cx: &Ctx) -> u64 {
        (w.cwnd / mss(cx)).floor() as u64
    }

    fn set_pacing_rate(&mut self, gain: u128, w: &Window, cx: &Ctx) {
        let rate = bytes_per_sec(self.bw(), gain, self.mss);
        if let Some(srtt) = cx.srtt.filter(|_| !self.has_seen_rtt) {
            self.has_seen_rtt = true;
            self.init_pacing_rate(self.cwnd(w, cx), srtt.0 / 1000);
        }
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn min_tso_segs(&self) -> u64 {
        if self.pacing_rate < 1_200_000 / 8 {
            1
        } else {
            2
        }
    }

    fn tso_segs_goal(&self) -> u64 {
        let bytes = u64::min(self.pacing_rate >> 10, 65_536 - 1 - 320);
        u64::min(u64::max(bytes / self.mss as u64, self.min_tso_segs()), 127)
    }

    fn bdp(&self, bw: u128, gain: u128) -> u64 {
        let Some(rtt) = self.min_rtt_us else { return 10 };
        let w = (bw * rtt * gain) >> 8;
        u64::min((w + BW - 1) as u64 / BW as u64, u32::MAX.into())
    }

    fn quantization_budget(&self, cwnd: u64) -> u64 {
        let cwnd = (cwnd + 3 * self.tso_segs_goal()).div_ceil(2) * 2;
        let probes = self.mode == Mode::ProbeBw && self.cycle_idx == 0;
        if probes {
            cwnd + 2
        } else {
            cwnd
        }
    }

    fn inflight(&self, bw: u128, gain: u128) -> u64 {
        self.quantization_budget(self.bdp(bw, gain))
    }

    fn packets_in_net_at_edt(&self, inflight: u32, ahead: Nanos) -> u64 {
        let delivered = (self.bw() * u128::from(ahead.0 / 1000) / BW) as u64;
        let mut at_edt = u64::from(inflight);
        if self.pacing_gain > UNIT {
            at_edt += self.tso_segs_goal();
        }
        at_edt.saturating_sub(delivered)
    }

    fn save_cwnd(&mut self, w: &Window, cx: &Ctx) {
        let cwnd = self.cwnd(w, cx);
        let recovers = self.prev_ca_state == Phase::Recovery || self.prev_ca_state == Phase::Loss;
        if recovers || self.mode == Mode::ProbeRtt {
            self.prior_cwnd = u64::max(self.prior_cwnd, cwnd);
        } else {
            self.prior_cwnd = cwnd;
        }
    }

    fn advance_cycle(&mut self) {
        self.cycle_idx = (self.cycle_idx + 1) % 8;
        self.cycle_mstamp = self.tp.at;
    }

    /// `bbr_reset_probe_bw_mode`; decision 0157 has the kernel's random number.
    fn reset_probe_bw(&mut self, now: Time) {
        let mut x = now.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        self.mode = Mode::ProbeBw;
        self.cycle_idx = 7 - (x % 7) as usize;
        self.advance_cycle();
    }

    fn reset_lt(&mut self) {
        self.lt = LongTerm { last: self.tp, ..LongTerm::default() };
    }

    fn is_next_cycle_phase(&self, rs: &RateSample) -> bool {
        let lasted = (self.tp.at / 1000).saturating_sub(self.cycle_mstamp / 1000);
        let full = self.min_rtt_us.is_some_and(|rtt| u128::from(lasted) > rtt);
        if self.pacing_gain == UNIT {
            return full;
        }
        let in_net = self.packets_in_net_at_edt(rs.prior_in_flight, rs.ahead);
        if self.pacing_gain > UNIT {
            return full && (rs.losses > 0 || in_net >= self.inflight(self.max_bw(), self.pacing_gain));
        }
        full || in_net <= self.inflight(self.max_bw(), UNIT)
    }

    fn check_full_bw_reached(&mut self, rs: &RateSample) {
        if self.full_bw_reached || !self.round_start || rs.is_app_limited {
            return;
        }
        if self.max_bw() >= self.full_bw * 320 / 256 {
            self.full_bw = self.max_bw();
            self.full_bw_cnt = 0;
            return;
        }
        self.full_bw_cnt += 1;
        self.full_bw_reached = self.full_bw_cnt >= 3;
    }

    fn check_drain(&mut self, rs: &RateSample, w: &mut Window, now: Time) {
        let target = |bbr: &Bbr| bbr.inflight(bbr.max_bw(), UNIT);
        if self.full_bw_reached && self.mode == Mode::Startup {
            self.mode = Mode::Drain;
            w.ssthresh = target(self) as f64 * self.mss as f64;
        }
        if self.mode == Mode::Drain && self.packets_in_net_at_edt(rs.in_flight, rs.ahead) <= target(self) {
            self.reset_probe_bw(now);
        }
    }

    fn set_cwnd(&mut self, rs: &RateSample, w: &mut Window, cx: &Ctx) {
        let mut cwnd = self.cwnd(w, cx);
        if rs.acked_sacked > 0 {
            cwnd = self.next_cwnd(cwnd, rs, cx);
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = u64::min(cwnd, 4);
        }
        w.cwnd = u64::max(cwnd, 1) as f64 * mss(cx);
    }

    fn next_cwnd(&mut self, mut cwnd: u64, rs: &RateSample, cx: &Ctx) -> u64 {
        let (acked, inflight) = (u64::from(rs.acked_sacked), u64::from(rs.in_flight));
        // bbr_set_cwnd_to_recover_or_restore.
        let (before, state) = (self.prev_ca_state, cx.phase);
        let recovers = |p: Phase| p == Phase::Recovery || p == Phase::Loss;
        if rs.losses > 0 {
            cwnd = u64::max(cwnd.saturating_sub(rs.losses.into()), 1);
        }
        if state == Phase::Recovery && before != Phase::Recovery {
            self.packet_conservation = true;
            self.next_rtt_delivered = self.tp.delivered;
            cwnd = inflight + acked;
        } else if recovers(before) && !recovers(state) {
            self.packet_conservation = false;
            cwnd = u64::max(cwnd, self.prior_cwnd);
        }
        self.prev_ca_state = state;
        if self.packet_conservation {
            return u64::max(cwnd, inflight + acked);
        }
        let mut target = self.bdp(self.bw(), self.cwnd_gain);
        if self.full_bw_reached {
            // bbr_ack_aggregation_cwnd: at most what the rate delivers in 100 ms.
            let most = (self.bw() * 100_000 / BW) as u64;
            target += u64::min(u64::max(self.extra_acked[0], self.extra_acked[1]), most);
        }
        let target = self.quantization_budget(target);
        if self.full_bw_reached {
            cwnd = u64::min(cwnd + acked, target);
        } else if cwnd < target || self.tp.delivered < 10 {
            cwnd += acked;
        }
        u64::max(cwnd, 4)
    }
}

impl Congestion for Bbr {
    fn on_ack(&mut self, _: &AckEvent, _: &mut Window, _: &Ctx) {}
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        // bbr_ssthresh, bbr_set_state.
        if !l.repeated {
            self.save_cwnd(w, cx);
        }
        if l.cause == Cause::Rto {
            self.prev_ca_state = Phase::Loss;
            self.full_bw = 0;
            self.round_start = true;
            self.lt_bw_sampling(1, false, cx.now);
        }
        Cut { ssthresh: w.ssthresh, cwnd: w.cwnd }
    }
    fn save(&self) -> CcUndo {
        CcUndo::default()
    }
    fn restore(&mut self, _: &CcUndo) {
        (self.full_bw, self.full_bw_cnt) = (0, 0);
        self.reset_lt();
    }
    fn grows_by_sack_above(&self) -> Option<u32> {
        None
    }
    fn on_resume(&mut self, _: Time, _: &Ctx) {}
    fn on_restart(&mut self) {}
    fn hears_rates(&self) -> bool {
        true
    }
    fn on_rate(&mut self, own: &RateSample, rates: &mut Rates, w: &mut Window, cx: &Ctx) {
        self.mss = cx.mss.into();
        let (delivered, at, lost) = (rates.delivered(), rates.delivered_at().0, rates.lost());
        self.tp = Totals { delivered, at, lost };
        let mut rs = *own;
        if let Some(Ok(mut n)) = self.notes.as_ref().map(|n| n.lock()) {
            rs = n.rates.sample(own, cx.now, cx.min_rtt, cx.mss);
            self.tp = Totals { delivered: n.rates.delivered, at: n.rates.delivered_at, lost };
        }
        self.update_bw(&rs, cx.now);
        self.update_ack_aggregation(&rs, w, cx);
        if self.mode == Mode::ProbeBw && self.is_next_cycle_phase(&rs) {
            self.advance_cycle();
        }
        self.check_full_bw_reached(&rs);
        self.check_drain(&rs, w, cx.now);
        self.update_min_rtt(&rs, rates, w, cx);
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH, HIGH),
            Mode::Drain => (256 * 1000 / 2885, HIGH),
            Mode::ProbeBw => (if self.lt.use_bw { UNIT } else { CYCLE[self.cycle_idx] }, 2 * UNIT),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
        self.set_pacing_rate(self.pacing_gain, w, cx);
        self.set_cwnd(&rs, w, cx);
    }
    fn on_tx_start(&mut self, rates: &Rates, w: &mut Window, cx: &Ctx) {
        // bbr_cwnd_event.
        if !rates.is_app_limited() {
            return;
        }
        self.idle_restart = true;
        self.ack_epoch = (cx.now.0, 0);
        if self.mode == Mode::ProbeBw {
            self.set_pacing_rate(UNIT, w, cx);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done(w, cx);
        }
    }
    fn on_handshake(&mut self, rtt: Nanos, w: &Window) {
        self.has_seen_rtt = true;
        self.min_rtt_us = Some(u128::from(rtt.0 / 1000));
        self.init_pacing_rate((w.cwnd / self.mss as f64).floor() as u64, rtt.0 / 1000);
    }
    fn pace(&self) -> Option<Pace> {
        Some(Pace { rate: self.pacing_rate, min_burst: self.min_tso_segs() as u32 })
    }
}
