//! Linux's Reno and CUBIC, worked out once more: growth by segments delivered, while the window is used.

use super::mss;
use ackclock_tcp::congestion::linux_cubic::LinuxCubicSpec;
use ackclock_tcp::congestion::{Congestion, Cut, LossEvent};
use ackclock_tcp::event::{Cause, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::time::Time;

/// Which of the two.
enum Kind {
    Reno,
    Cubic(Box<Cubic>),
}

/// `tcp_reno_cong_avoid`, `cubictcp_cong_avoid`.
pub(super) struct LinuxGrowth {
    kind: Kind,
    /// Bytes delivered, and segments counted of them so far.
    bytes: u64,
    segments: u64,
    max_packets_out: u64,
    is_cwnd_limited: bool,
    cwnd_usage_seq: u64,
    snd_cwnd_cnt: u64,
}

impl LinuxGrowth {
    fn of(kind: Kind) -> LinuxGrowth {
        LinuxGrowth {
            kind,
            bytes: 0,
            segments: 0,
            max_packets_out: 0,
            is_cwnd_limited: false,
            cwnd_usage_seq: 0,
            snd_cwnd_cnt: 0,
        }
    }

    pub(super) fn reno() -> LinuxGrowth {
        LinuxGrowth::of(Kind::Reno)
    }

    pub(super) fn cubic(spec: &LinuxCubicSpec) -> LinuxGrowth {
        LinuxGrowth::of(Kind::Cubic(Box::new(Cubic::new(spec))))
    }

    /// `tcp_cwnd_validate`, made up for when the next ACK arrives.
    fn validate(&mut self, cwnd: u64, ack: &AckEvent, cx: &Ctx) {
        let outstanding = cx.snd_nxt.0 - ack.prior_una.0;
        let mut packets_out = outstanding / u64::from(cx.mss);
        if !outstanding.is_multiple_of(u64::from(cx.mss)) {
            packets_out += 1;
        }
        let limited = cx.cwnd_limited || packets_out >= cwnd;
        let round_trip_over = ack.prior_una.0 >= self.cwnd_usage_seq;
        let more = !self.is_cwnd_limited && packets_out > self.max_packets_out;
        if round_trip_over || limited || more {
            self.is_cwnd_limited = limited;
            self.max_packets_out = packets_out;
            self.cwnd_usage_seq = cx.snd_nxt.0;
        }
    }

    /// `tcp_cong_avoid_ai`.
    fn avoid(&mut self, cwnd: u64, every: u64, acked: u64) -> u64 {
        let mut grown = cwnd;
        if self.snd_cwnd_cnt >= every {
            grown += 1;
            self.snd_cwnd_cnt = 0;
        }
        self.snd_cwnd_cnt += acked;
        if every == 0 {
            return grown + self.snd_cwnd_cnt;
        }
        while self.snd_cwnd_cnt >= every {
            self.snd_cwnd_cnt -= every;
            grown += 1;
        }
        grown
    }
}

impl Congestion for LinuxGrowth {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        let whole = |bytes: f64| (bytes / mss(cx)).floor() as u64;
        let cwnd = whole(w.cwnd);
        self.validate(cwnd, ack, cx);
        self.bytes += ack.delivered;
        let mut acked = self.bytes / u64::from(cx.mss) - self.segments;
        self.segments += acked;
        let slow_start = w.cwnd < w.ssthresh;
        // tcp_is_cwnd_limited.
        let half_used = slow_start && cwnd < 2 * self.max_packets_out;
        if !self.is_cwnd_limited && !half_used {
            return;
        }
        let mut grown = cwnd;
        if slow_start {
            // tcp_slow_start.
            while acked > 0 && grown < whole(w.ssthresh) {
                grown += 1;
                acked -= 1;
            }
        }
        if acked > 0 {
            let every = match &mut self.kind {
                Kind::Reno => grown,
                Kind::Cubic(c) => c.update(grown, acked, cx),
            };
            grown = self.avoid(grown, every, acked);
        }
        if grown != cwnd {
            w.cwnd = grown as f64 * mss(cx);
        }
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        self.snd_cwnd_cnt = 0;
        let cwnd = (w.cwnd / mss(cx)).floor() as u64;
        // tcp_enter_loss cuts only outside of a recovery and of another timeout.
        let cut_before = l.repeated || (l.cause == Cause::Rto && l.in_recovery);
        let segments = match &mut self.kind {
            Kind::Reno => cwnd / 2,
            Kind::Cubic(c) => {
                let timer = l.cause == Cause::Rto;
                let beta = u64::from(c.spec.beta_1024);
                if !cut_before {
                    let again = c.spec.fast_convergence && cwnd < c.last_max_cwnd;
                    c.last_max_cwnd = if again { cwnd * (1024 + beta) / 2048 } else { cwnd };
                    c.epoch_start = None;
                }
                if timer || cut_before {
                    **c = Cubic::new(&c.spec);
                }
                cwnd * beta / 1024
            }
        };
        if cut_before {
            return Cut { ssthresh: w.ssthresh, cwnd: w.cwnd };
        }
        let cut = u64::max(segments, 2) as f64 * mss(cx);
        Cut { ssthresh: cut, cwnd: cut }
    }
    fn save(&self) -> ackclock_tcp::facts::episode::CcUndo {
        Default::default()
    }
    fn restore(&mut self, _: &ackclock_tcp::facts::episode::CcUndo) {}
    fn grows_by_sack_above(&self) -> Option<u32> {
        // tcp_may_raise_cwnd, with the usual tcp_reordering.
        Some(3)
    }
    fn on_resume(&mut self, last_sent: Time, cx: &Ctx) {
        if let Kind::Cubic(c) = &mut self.kind {
            // cubictcp_cwnd_event: the pause does not count, and an epoch is never in the future.
            let (now, then) = (c.jiffies(cx.now.0), c.jiffies(last_sent.0));
            if let Some(start) = &mut c.epoch_start {
                *start = u64::min(*start + (now - then), now);
            }
        }
    }
    fn on_restart(&mut self) {}
    fn hears_rates(&self) -> bool {
        false
    }
}

/// `struct bictcp`, without HyStart.
struct Cubic {
    spec: LinuxCubicSpec,
    cnt: u64,
    last_max_cwnd: u64,
    /// `last_time` and `last_cwnd`.
    last: Option<(u64, u64)>,
    bic_origin_point: u64,
    /// In 1024ths of a second.
    bic_k: u64,
    epoch_start: Option<u64>,
    ack_cnt: u64,
    tcp_cwnd: u64,
}

impl Cubic {
    fn new(spec: &LinuxCubicSpec) -> Cubic {
        Cubic {
            spec: spec.clone(),
            cnt: 0,
            last_max_cwnd: 0,
            last: None,
            bic_origin_point: 0,
            bic_k: 0,
            epoch_start: None,
            ack_cnt: 0,
            tcp_cwnd: 0,
        }
    }

    fn jiffies(&self, nanos: u64) -> u64 {
        nanos / (1_000_000_000 / u64::from(self.spec.hz))
    }

    /// `bictcp_update`.
    fn update(&mut self, cwnd: u64, acked: u64, cx: &Ctx) -> u64 {
        let now = self.jiffies(cx.now.0);
        self.ack_cnt += acked;
        if let Some((last_time, last_cwnd)) = self.last
            && last_cwnd == cwnd
            && now - last_time <= u64::from(self.spec.hz) / 32
        {
            return self.cnt;
        }
        let computed_now = self.epoch_start.is_some() && self.last.is_some_and(|l| l.0 == now);
        if !computed_now {
            self.last = Some((now, cwnd));
            if self.epoch_start.is_none() {
                self.epoch_start = Some(now);
                self.ack_cnt = acked;
                self.tcp_cwnd = cwnd;
                let below = self.last_max_cwnd.saturating_sub(cwnd);
                self.bic_origin_point = cwnd + below;
                // cubic_root(cube_factor * below), cube_factor = 2^40 / (bic_scale * 10).
                self.bic_k = libm::cbrt(((1u64 << 40) / 410) as f64 * below as f64) as u64;
            }
            self.cnt = self.by_curve(now, cwnd, cx.min_rtt.map_or(0, |r| r.0));
        }
        if self.spec.friendliness {
            self.befriend(cwnd);
        }
        self.cnt = u64::max(self.cnt, 2);
        self.cnt
    }

    fn by_curve(&self, now: u64, cwnd: u64, delay_min: u64) -> u64 {
        let since = now - self.epoch_start.unwrap_or(now) + self.jiffies(delay_min);
        let t = u128::from(since) * 1024 / u128::from(self.spec.hz);
        let k = u128::from(self.bic_k);
        let offs = k.abs_diff(t);
        // rtt_scale * offs^3 / 2^40, as far as anybody can get.
        let offs = u128::min(offs, 256 * 1024);
        let delta = u128::min((410 * offs * offs * offs) >> 40, u128::from(u32::MAX)) as u64;
        let origin = self.bic_origin_point;
        let target = if t < k { origin.saturating_sub(delta) } else { origin + delta };
        let cnt = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.last_max_cwnd == 0 {
            u64::min(cnt, 20)
        } else {
            cnt
        }
    }

    /// The window that additive increase would have.
    fn befriend(&mut self, cwnd: u64) {
        let beta = u64::from(self.spec.beta_1024);
        let beta_scale = 8 * (1024 + beta) / 3 / (1024 - beta);
        let delta = (cwnd * beta_scale) >> 3;
        while self.ack_cnt > delta {
            if delta == 0 {
                // Growth by every segment.
                self.tcp_cwnd += self.ack_cnt - 1;
                break;
            }
            self.ack_cnt -= delta;
            self.tcp_cwnd += 1;
        }
        if self.tcp_cwnd > cwnd {
            self.cnt = u64::min(self.cnt, cwnd / (self.tcp_cwnd - cwnd));
        }
    }
}
