//! BBR's window: twice the data that the path holds, plus room for bursts of segments and of ACKs.
//!
//! Source: Linux 6.18, `bbr_bdp`, `bbr_quantization_budget`, `bbr_packets_in_net_at_edt`, `bbr_set_cwnd`,
//! `bbr_set_cwnd_to_recover_or_restore`, `bbr_save_cwnd` in `net/ipv4/tcp_bbr.c`, in our words.

use super::{Bbr, Mode, BW_SCALE, INITIAL_WINDOW, UNIT};
use crate::event::{Phase, Window};
use crate::facts::ctx::Ctx;
use crate::facts::pace::{Pace, LARGEST_BURST};
use crate::facts::rate::{RateSample, Rates};

/// The least window in segments, used when probing for the smallest RTT.
pub(super) const LEAST: u32 = 4;
/// The largest burst, in segments, that the window allows for.
const LARGEST_GOAL: u64 = 0x7f;

/// The window in whole segments.
pub(super) fn whole(w: &Window, cx: &Ctx) -> u32 {
    (w.cwnd / cx.smss()) as u32
}

impl Bbr {
    /// Segments that are sent together (`bbr_tso_segs_goal`).
    fn burst_goal(&self) -> u32 {
        let bytes = Pace { rate: self.pacing_rate, min_burst: 0 }.burst_bytes().min(LARGEST_BURST);
        (bytes / u64::from(self.mss)).max(u64::from(self.min_burst())).min(LARGEST_GOAL) as u32
    }

    /// The segments that the path holds at `bw`, times `gain`, rounded up.
    pub(super) fn bdp(&self, bw: u32, gain: u32) -> u32 {
        let Some(rtt) = self.min_rtt_us else { return INITIAL_WINDOW };
        let gained = (u128::from(bw) * u128::from(rtt) * u128::from(gain)) >> 8;
        u32::try_from(gained.div_ceil(1 << BW_SCALE)).unwrap_or(u32::MAX)
    }

    /// Adds the segments that bursts need at the sender, on the path and at the receiver.
    fn with_bursts(&self, segs: u32) -> u32 {
        let even = segs.saturating_add(3 * self.burst_goal() + 1) & !1;
        let probing = self.mode == Mode::ProbeBw && self.cycle == 0;
        even.saturating_add(if probing { 2 } else { 0 })
    }

    /// The target number of segments in flight.
    pub(super) fn inflight(&self, bw: u32, gain: u32) -> u32 {
        self.with_bursts(self.bdp(bw, gain))
    }

    /// The part of `in_flight` that will still be on the path when the next burst may be sent.
    pub(super) fn in_net_at_departure(&self, in_flight: u32, rs: &RateSample) -> u32 {
        let delivered = (u128::from(self.bw()) * u128::from(rs.ahead.0 / 1000)) >> BW_SCALE;
        let then = in_flight.saturating_add(if self.pacing_gain > UNIT { self.burst_goal() } else { 0 });
        then.saturating_sub(u32::try_from(delivered).unwrap_or(u32::MAX))
    }

    /// Saves the window to restore after a recovery or a probe for the smallest RTT.
    pub(super) fn save_cwnd(&mut self, w: &Window, cx: &Ctx) {
        let cwnd = whole(w, cx);
        let good = !self.previous.repairs() && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if good { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    pub(super) fn set_cwnd(&mut self, rs: &RateSample, rates: &Rates, w: &mut Window, cx: &Ctx) {
        let mut cwnd = whole(w, cx);
        if rs.acked_sacked > 0 {
            cwnd = self.next_cwnd(cwnd, rs, rates, cx);
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(LEAST);
        }
        w.cwnd = f64::from(cwnd.max(1)) * cx.smss();
    }

    pub(super) fn next_cwnd(&mut self, cwnd: u32, rs: &RateSample, rates: &Rates, cx: &Ctx) -> u32 {
        let (acked, bw) = (rs.acked_sacked, self.bw());
        let mut cwnd = self.recover_or_restore(cwnd, rs, rates, cx.phase);
        if self.packet_conservation {
            return cwnd.max(rs.in_flight + acked);
        }
        let more = if self.full_bw_reached { self.aggregation.window(bw) } else { 0 };
        let target = self.with_bursts(self.bdp(bw, self.cwnd_gain).saturating_add(more));
        if self.full_bw_reached {
            cwnd = cwnd.saturating_add(acked).min(target);
        } else if cwnd < target || rates.delivered() < u64::from(INITIAL_WINDOW) {
            cwnd = cwnd.saturating_add(acked);
        }
        cwnd.max(LEAST)
    }

    /// Lost segments are taken off the window at once. A recovery begins with the segments in flight; at its end the earlier
    /// window is restored.
    fn recover_or_restore(&mut self, mut cwnd: u32, rs: &RateSample, rates: &Rates, phase: Phase) -> u32 {
        let before = std::mem::replace(&mut self.previous, phase);
        if rs.losses > 0 {
            cwnd = cwnd.saturating_sub(rs.losses).max(1);
        }
        if phase == Phase::Recovery && before != Phase::Recovery {
            self.packet_conservation = true;
            self.next_rtt_delivered = rates.delivered();
            cwnd = rs.in_flight + rs.acked_sacked;
        } else if before.repairs() && !phase.repairs() {
            self.packet_conservation = false;
            cwnd = cwnd.max(self.prior_cwnd);
        }
        cwnd
    }
}
