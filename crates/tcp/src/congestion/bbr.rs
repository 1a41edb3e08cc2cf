//! BBR: instead of losses, a model of the path's bandwidth and RTT sets the window and the pacing rate.
//!
//! Source: Linux 6.18, `net/ipv4/tcp_bbr.c` (BBR version 1), `lib/win_minmax.c`, in our words; rates come from `facts/rate.rs`.
//!
//! Idea: the largest delivery rate of ten round trips and the smallest RTT of ten seconds describe the path. Start fast until
//! the rate stops growing, drain the queue, then cycle through eight phases: one a quarter faster, one a quarter slower, six at
//! the measured rate. Every ten seconds, keep only four segments in flight for 200 ms to find a smaller RTT. After a loss, send
//! only as much as is delivered, for one round trip.
//!
//! | Linux | here |
//! | --- | --- |
//! | bbr_update_bw, bbr_check_full_bw_reached, bbr_check_drain | `Bbr::update_bw`, `check_full`, `check_drain` |
//! | bbr_update_cycle_phase, bbr_update_gains; bbr_update_min_rtt | `update_cycle`, `update_gains`; `bbr/min_rtt.rs` |
//! | bbr_set_pacing_rate, bbr_set_cwnd, bbr_bdp | `set_pacing_rate`; `bbr/window.rs` |
//! | lt_*; extra_acked, ack_epoch_*; minmax | `bbr/long_term.rs`, `bbr/aggregation.rs`, `bbr/max_filter.rs` |
//! | bbr_ssthresh, bbr_set_state, bbr_undo_cwnd, bbr_cwnd_event | `on_loss`, `on_loss`, `restore`, `on_tx_start` |
//!
//! Departures: the phase in which the cycle begins is random in the kernel and a hash of the time here (decision 0157). After a
//! timeout the window is one segment; the kernel's is one more than its estimate of segments in flight.
//! Unsaid: an echo of congestion changes nothing, as in the kernel. Without a handshake the RTT is unknown until the first ACK,
//! and the window is paced as if the RTT were a millisecond.

mod aggregation;
mod long_term;
mod max_filter;
mod min_rtt;
#[cfg(test)]
mod tests;
mod window;

use super::{Congestion, Cut, LossEvent};
use crate::error::StackError;
use crate::event::{Cause, Phase, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::episode::CcUndo;
use crate::facts::pace::Pace;
use crate::facts::rate::{micros, RateSample, Rates};
use crate::time::{Jiffies, Nanos, Time};
use aggregation::Aggregation;
use long_term::{Finding, LongTerm, Round, Totals};
use max_filter::MaxFilter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bandwidths are in segments per microsecond, times 2²⁴.
const BW_SCALE: u32 = 24;
/// Gains are in 256ths.
const UNIT: u32 = 1 << 8;
/// 2 / ln 2: the rate doubles every round trip.
const HIGH_GAIN: u32 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u32 = UNIT * 1000 / 2885;
const CWND_GAIN: u32 = UNIT * 2;
/// The gains of one cycle.
const CYCLE: [u32; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// Number of phases from which the first is chosen.
const CYCLE_RAND: u64 = 7;
/// The number of round trips for which a bandwidth is remembered.
const BW_RTTS: u32 = CYCLE.len() as u32 + 2;
/// Bandwidth stalls when it grows by less than this factor, in 256ths. Once it has stalled for this many round trips, the pipe
/// is full.
const FULL_BW_THRESH: u64 = UNIT as u64 * 5 / 4;
const FULL_BW_COUNT: u32 = 3;
/// Percentage of the bandwidth that is left free.
const MARGIN_PERCENT: u64 = 1;
/// Below this rate, in bytes per second, segments are sent one by one.
const MIN_TSO_RATE: u64 = 1_200_000 / 8;
/// `TCP_INIT_CWND`.
const INITIAL_WINDOW: u32 = 10;

/// A bandwidth times a gain, in bytes per second.
fn bytes_per_second(bw: u32, gain: u32, mss: u32) -> u64 {
    let gained = (u128::from(bw) * u128::from(mss) * u128::from(gain)) >> 8;
    u64::try_from((gained * (10_000 * (100 - u128::from(MARGIN_PERCENT)))) >> BW_SCALE).unwrap_or(u64::MAX)
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BbrSpec {
    /// Ticks of the kernel's clock per second, 1 to 1000. Default: 250.
    #[schemars(range(min = 1, max = 1000))]
    pub hz: u32,
}

impl Default for BbrSpec {
    fn default() -> Self {
        BbrSpec { hz: 250 }
    }
}

impl BbrSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        StackError::unless((1..=1000).contains(&self.hz), "congestion.hz", &self.hz, "1 to 1000 ticks a second")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// BBR at work.
pub struct Bbr {
    hz: u32,
    jiffies: Jiffies,
    mss: u32,
    mode: Mode,
    bw: MaxFilter,
    rtt_count: u32,
    next_rtt_delivered: u64,
    round_start: bool,
    min_rtt_us: Option<u64>,
    /// In jiffies; `None` before the first ACK.
    min_rtt_stamp: Option<u64>,
    probe_rtt_done: Option<u64>,
    probe_rtt_round_done: bool,
    cycle_at: Time,
    cycle: usize,
    pacing_gain: u32,
    cwnd_gain: u32,
    pacing_rate: u64,
    has_seen_rtt: bool,
    full_bw: u32,
    full_bw_count: u32,
    full_bw_reached: bool,
    idle_restart: bool,
    packet_conservation: bool,
    previous: Phase,
    prior_cwnd: u32,
    totals: Totals,
    long_term: LongTerm,
    aggregation: Aggregation,
}

impl Bbr {
    pub(super) fn new(spec: &BbrSpec, mss: u32) -> Self {
        let mut bbr = Bbr {
            hz: spec.hz,
            jiffies: Jiffies::per_second(spec.hz),
            mss,
            mode: Mode::Startup,
            bw: MaxFilter::default(),
            rtt_count: 0,
            next_rtt_delivered: 1,
            round_start: false,
            min_rtt_us: None,
            min_rtt_stamp: None,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            cycle_at: Time::ZERO,
            cycle: 0,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            pacing_rate: 0,
            has_seen_rtt: false,
            full_bw: 0,
            full_bw_count: 0,
            full_bw_reached: false,
            idle_restart: false,
            packet_conservation: false,
            previous: Phase::Open,
            prior_cwnd: 0,
            totals: Totals::default(),
            long_term: LongTerm::default(),
            aggregation: Aggregation::default(),
        };
        bbr.pace_window(INITIAL_WINDOW, 1000);
        bbr
    }

    fn max_bw(&self) -> u32 {
        self.bw.get()
    }

    /// The bandwidth in use: that of a policer if one seems to limit the path.
    fn bw(&self) -> u32 {
        self.long_term.bw().unwrap_or(self.max_bw())
    }

    /// `bbr_init_pacing_rate_from_rtt`: one window per round trip, with the startup gain.
    fn pace_window(&mut self, cwnd: u32, rtt_us: u64) {
        let bw = (u64::from(cwnd) << BW_SCALE) / rtt_us.max(1);
        self.pacing_rate = bytes_per_second(u32::try_from(bw).unwrap_or(u32::MAX), HIGH_GAIN, self.mss);
    }

    fn set_pacing_rate(&mut self, gain: u32, w: &Window, cx: &Ctx) {
        let rate = bytes_per_second(self.bw(), gain, self.mss);
        if let (false, Some(srtt)) = (self.has_seen_rtt, cx.srtt) {
            self.has_seen_rtt = true;
            self.pace_window(window::whole(w, cx), srtt.0 / 1000);
        }
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn min_burst(&self) -> u32 {
        if self.pacing_rate < MIN_TSO_RATE {
            1
        } else {
            2
        }
    }

    fn round(&self, rs: &RateSample) -> Round {
        Round {
            starts: self.round_start,
            losses: rs.losses,
            is_app_limited: rs.is_app_limited,
            probes_bandwidth: self.mode == Mode::ProbeBw,
            mss: self.mss,
        }
    }

    fn sample_long_term(&mut self, rs: &RateSample, now: Time) {
        match self.long_term.on_ack(self.totals, self.round(rs)) {
            Finding::Nothing => {}
            Finding::Policed => self.pacing_gain = UNIT,
            Finding::Over => self.probe_bw(now),
        }
    }

    fn update_bw(&mut self, rs: &RateSample, rates: &Rates, now: Time) {
        self.round_start = false;
        let (Some(delivered), Some(us)) = (rs.delivered, rs.interval_us.filter(|us| *us > 0)) else { return };
        if rs.prior_delivered >= self.next_rtt_delivered {
            self.next_rtt_delivered = rates.delivered();
            self.rtt_count = self.rtt_count.wrapping_add(1);
            (self.round_start, self.packet_conservation) = (true, false);
        }
        self.sample_long_term(rs, now);
        let bw = u32::try_from((delivered << BW_SCALE) / us).unwrap_or(u32::MAX);
        if !rs.is_app_limited || bw >= self.max_bw() {
            self.bw.take(BW_RTTS, self.rtt_count, bw);
        }
    }

    fn check_full(&mut self, rs: &RateSample) {
        if self.full_bw_reached || !self.round_start || rs.is_app_limited {
            return;
        }
        if u64::from(self.max_bw()) >= (u64::from(self.full_bw) * FULL_BW_THRESH) >> 8 {
            (self.full_bw, self.full_bw_count) = (self.max_bw(), 0);
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_reached = self.full_bw_count >= FULL_BW_COUNT;
    }

    fn check_drain(&mut self, rs: &RateSample, w: &mut Window, now: Time) {
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
            w.ssthresh = f64::from(self.inflight(self.max_bw(), UNIT)) * f64::from(self.mss);
        }
        if self.mode == Mode::Drain && self.in_net_at_departure(rs.in_flight, rs) <= self.inflight(self.max_bw(), UNIT)
        {
            self.probe_bw(now);
        }
    }

    /// `bbr_reset_probe_bw_mode`. The cycle does not begin with the draining phase.
    fn probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        self.cycle = CYCLE.len() - 1 - (scattered(now) % CYCLE_RAND) as usize;
        self.next_phase();
    }

    fn next_phase(&mut self) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_at = self.delivered_at();
    }

    fn delivered_at(&self) -> Time {
        self.totals.delivered_at()
    }

    fn update_cycle(&mut self, rs: &RateSample) {
        if self.mode == Mode::ProbeBw && self.phase_is_over(rs) {
            self.next_phase();
        }
    }

    fn phase_is_over(&self, rs: &RateSample) -> bool {
        let lasted = micros(self.delivered_at()).saturating_sub(micros(self.cycle_at));
        let is_full_length = self.min_rtt_us.is_some_and(|rtt| lasted > rtt);
        if self.pacing_gain == UNIT {
            return is_full_length;
        }
        let (in_net, bw) = (self.in_net_at_departure(rs.prior_in_flight, rs), self.max_bw());
        if self.pacing_gain > UNIT {
            return is_full_length && (rs.losses > 0 || in_net >= self.inflight(bw, self.pacing_gain));
        }
        is_full_length || in_net <= self.inflight(bw, UNIT)
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.long_term.bw().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.cycle], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }
}

/// A well-mixed hash of the time (the finalizer of SplitMix64).
fn scattered(at: Time) -> u64 {
    let mut x = at.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Congestion for Bbr {
    fn on_ack(&mut self, _: &AckEvent, _: &mut Window, _: &Ctx) {}
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        if !l.repeated {
            self.save_cwnd(w, cx);
        }
        if l.cause == Cause::Rto {
            (self.previous, self.full_bw, self.round_start) = (Phase::Loss, 0, true);
            self.sample_long_term(&RateSample { losses: 1, ..RateSample::default() }, cx.now);
        }
        Cut { ssthresh: w.ssthresh, cwnd: w.cwnd }
    }
    fn restore(&mut self, _: &CcUndo) {
        (self.full_bw, self.full_bw_count) = (0, 0);
        self.long_term.reset(self.totals);
    }
    fn hears_rates(&self) -> bool {
        true
    }
    fn on_rate(&mut self, rs: &RateSample, rates: &mut Rates, w: &mut Window, cx: &Ctx) {
        (self.mss, self.totals) = (cx.mss, Totals::of(rates));
        self.update_bw(rs, rates, cx.now);
        if rs.acked_sacked > 0 && rs.delivered.is_some() && rs.interval_us.is_some_and(|us| us > 0) {
            let (bw, cwnd) = (self.bw(), window::whole(w, cx));
            self.aggregation.on_ack(self.delivered_at(), self.round_start, rs.acked_sacked, bw, cwnd);
        }
        self.update_cycle(rs);
        self.check_full(rs);
        self.check_drain(rs, w, cx.now);
        self.update_min_rtt(rs, rates, w, cx);
        self.update_gains();
        self.set_pacing_rate(self.pacing_gain, w, cx);
        self.set_cwnd(rs, rates, w, cx);
    }
    fn on_tx_start(&mut self, rates: &Rates, w: &mut Window, cx: &Ctx) {
        if !rates.is_app_limited() {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(cx.now);
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(UNIT, w, cx),
            Mode::ProbeRtt => self.check_probe_rtt_done(w, cx),
            Mode::Startup | Mode::Drain => {}
        }
    }
    fn on_handshake(&mut self, rtt: Nanos, w: &Window) {
        (self.has_seen_rtt, self.min_rtt_us) = (true, Some(rtt.0 / 1000));
        self.pace_window((w.cwnd / f64::from(self.mss)) as u32, rtt.0 / 1000);
    }
    fn pace(&self) -> Option<Pace> {
        Some(Pace { rate: self.pacing_rate, min_burst: self.min_burst() })
    }
}
