//! BBR's smallest RTT of the last ten seconds, and the search for a new one: 200 ms with only four segments in flight.
//!
//! Source: Linux 6.18, `bbr_update_min_rtt`, `bbr_check_probe_rtt_done` in `net/ipv4/tcp_bbr.c`, in our words.

use super::{window, Bbr, Mode};
use crate::event::Window;
use crate::facts::ctx::Ctx;
use crate::facts::rate::{RateSample, Rates};
use crate::time::Nanos;

/// How long an RTT is remembered, in seconds.
const WINDOW_SECS: u64 = 10;
/// How long the probe for it lasts, in milliseconds, and at least one round trip.
const PROBE_MS: u64 = 200;

impl Bbr {
    pub(super) fn update_min_rtt(&mut self, rs: &RateSample, rates: &mut Rates, w: &mut Window, cx: &Ctx) {
        let now = self.jiffies.count(cx.now.0);
        let since = *self.min_rtt_stamp.get_or_insert(now);
        let expired = now > since + WINDOW_SECS * u64::from(self.hz);
        if let Some(rtt) = rs.rtt_us
            && (self.min_rtt_us.is_none_or(|least| rtt < least) || (expired && !rs.is_ack_delayed))
        {
            (self.min_rtt_us, self.min_rtt_stamp) = (Some(rtt), Some(now));
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(w, cx);
            self.probe_rtt_done = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(rs, rates, w, cx);
        }
        if rs.delivered.is_some_and(|n| n > 0) {
            self.idle_restart = false;
        }
    }

    fn probe_rtt(&mut self, rs: &RateSample, rates: &mut Rates, w: &mut Window, cx: &Ctx) {
        rates.limit_by_application();
        match self.probe_rtt_done {
            None if rs.in_flight <= window::LEAST => {
                let lasts = self.jiffies.count(self.jiffies.whole(Nanos::from_millis(PROBE_MS)).0);
                self.probe_rtt_done = Some(self.jiffies.count(cx.now.0) + lasts);
                self.probe_rtt_round_done = false;
                self.next_rtt_delivered = rates.delivered();
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(w, cx);
                }
            }
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, w: &mut Window, cx: &Ctx) {
        let now = self.jiffies.count(cx.now.0);
        if self.probe_rtt_done.is_none_or(|until| now <= until) {
            return;
        }
        self.min_rtt_stamp = Some(now);
        w.cwnd = f64::from(window::whole(w, cx).max(self.prior_cwnd)) * cx.smss();
        match self.full_bw_reached {
            true => self.probe_bw(cx.now),
            false => self.mode = Mode::Startup,
        }
    }
}
