//! The windows of RFC 5681, Net/2, TCP-PR and QUIC, worked out once more.

use super::{acked, flight, mss, segments};
use ackclock_tcp::congestion::aimd::AimdSpec;
use ackclock_tcp::congestion::net2::Net2Spec;
use ackclock_tcp::congestion::quic::QuicSpec;
use ackclock_tcp::congestion::{Congestion, Cut, CutFrom, LossEvent};
use ackclock_tcp::event::{Cause, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;

/// A cut to one value for threshold and window.
fn to(bytes: f64) -> Cut {
    Cut { ssthresh: bytes, cwnd: bytes }
}

/// The threshold and the window stay.
fn none(w: &Window) -> Cut {
    Cut { ssthresh: w.ssthresh, cwnd: w.cwnd }
}

/// RFC 5681 §3.1, with RFC 3465's count of bytes where it is asked for.
pub(super) struct Aimd {
    pub(super) spec: AimdSpec,
    /// RFC 3465 §2.1: bytes_acked.
    pub(super) bytes_acked: u64,
}

impl Congestion for Aimd {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        let smss = mss(cx);
        if self.spec.only_if_limited && !cx.cwnd_limited {
            return;
        }
        let slow_start = w.cwnd < w.ssthresh;
        match (self.spec.abc_limit_segs, slow_start) {
            // RFC 5681 §3.1, equations 2 and 3.
            (None, true) => w.cwnd += smss,
            (None, false) => w.cwnd += smss * smss / w.cwnd,
            // RFC 3465 §2.2, §2.3.
            (Some(l), true) => {
                let l = if cx.timed_out { 1.0 } else { f64::from(l) };
                w.cwnd += if acked(ack) as f64 > l * smss { l * smss } else { acked(ack) as f64 };
            }
            (Some(_), false) => {
                let window = w.cwnd.floor() as u64;
                self.bytes_acked += acked(ack);
                if self.bytes_acked >= window {
                    self.bytes_acked -= window;
                    w.cwnd += smss;
                }
            }
        }
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        let smss = mss(cx);
        self.bytes_acked = 0;
        // ns-2's slowdown: in packets, the threshold in whole ones.
        if self.spec.cut_from == CutFrom::Window {
            let packets = f64::min(w.cwnd, l.rwnd as f64) / smss;
            let ssthresh = f64::max((packets / 2.0).floor(), 2.0) * smss;
            return Cut { ssthresh, cwnd: f64::max(packets / 2.0, 1.0) * smss };
        }
        if l.repeated {
            return none(w);
        }
        let base = if self.spec.cut_from == CutFrom::Flight { l.flight } else { l.pipe };
        to(f64::max(base as f64 / 2.0, 2.0 * smss))
    }
}

/// Hoe 1995 §3.2: BSD Net/2.
pub(super) struct Net2(pub(super) Net2Spec);

impl Congestion for Net2 {
    fn on_ack(&mut self, _: &AckEvent, w: &mut Window, cx: &Ctx) {
        let smss = mss(cx);
        let below = w.cwnd < w.ssthresh || (w.cwnd == w.ssthresh && self.0.inclusive);
        let mut more = smss;
        if !below {
            more = smss * smss / w.cwnd;
            if self.0.eighth {
                more += smss / 8.0;
            }
        }
        let most = self.0.max_window.min(u64::from(u32::MAX)) as f64;
        w.cwnd = f64::max(f64::min(w.cwnd + more, most), smss);
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        let window = f64::min(w.cwnd, l.rwnd as f64);
        let segments = (window / 2.0 / mss(cx)).floor();
        to(f64::max(segments, 2.0) * mss(cx))
    }
}

/// Bohacek and others 2003: growth for each packet acknowledged, a cut of the window that the lost packet was sent under.
pub(super) struct TcpPr;

impl Congestion for TcpPr {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        let smss = mss(cx);
        // Offset 1 is the first byte of data.
        let mut packets = (ack.ack.0 - 1) / u64::from(cx.mss) - (ack.prior_una.0 - 1) / u64::from(cx.mss);
        while packets > 0 {
            w.cwnd += if w.cwnd + smss > w.ssthresh { smss * smss / w.cwnd } else { smss };
            packets -= 1;
        }
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        let (smss, half) = (mss(cx), l.cwnd_at_send / 2.0);
        if l.cause != Cause::Rto {
            return to(f64::max(half, smss));
        }
        let ssthresh = if l.repeated { w.ssthresh } else { f64::max(half, 2.0 * smss) };
        Cut { ssthresh, cwnd: smss }
    }
}

/// RFC 9002 §7 and appendix B.
pub(super) struct Quic(pub(super) QuicSpec);

impl Congestion for Quic {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        if !cx.cwnd_limited {
            return;
        }
        // B.5: what was sent before the recovery period began does not count, after persistent congestion everything does.
        let period = if cx.timed_out { 0 } else { cx.recover.map_or(0, |r| r.0) };
        let bytes = ack.ack.0.saturating_sub(u64::max(ack.prior_una.0, period)) as f64;
        w.cwnd += if w.cwnd >= w.ssthresh { mss(cx) * bytes / w.cwnd } else { bytes };
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        let (least, less) = (f64::from(self.0.minimum_window_segs) * mss(cx), w.cwnd * self.0.loss_reduction);
        match l.cause {
            Cause::Fast | Cause::Ecn => Cut { ssthresh: less, cwnd: f64::max(less, least) },
            // B.8.
            Cause::Rto => {
                let before_the_cut = matches!(cx.recover, Some(r) if l.first < r);
                Cut { ssthresh: if before_the_cut { w.ssthresh } else { less }, cwnd: least }
            }
        }
    }
}

/// gVisor's netstack, `reno.go` and `snd.go`: the window in whole segments, and its count of outstanding ones, in which segments
/// SACKed outside a recovery stay.
#[derive(Default)]
pub(super) struct NetstackReno {
    /// Bytes that the count of outstanding data has too many.
    too_many: f64,
    /// SndCAAckCount.
    ca_acks: u64,
    recounted: bool,
}

impl Congestion for NetstackReno {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        let smss = mss(cx);
        // SndCwnd, of which `w.cwnd` is the part that may be used.
        let mut cwnd = ((w.cwnd + self.too_many) / smss).floor() as u64;
        let ssthresh = w.ssthresh / smss;
        let cumulative = ack.delivered.saturating_sub(ack.sacked);
        let repairs = !matches!(cx.phase, ackclock_tcp::event::Phase::Open | ackclock_tcp::event::Phase::Disorder);
        if !self.recounted && !repairs {
            self.too_many += acked(ack).saturating_sub(cumulative) as f64;
        }
        self.recounted = false;
        if flight(cx) == 0 {
            self.too_many = 0.0;
        }
        let mut packets = segments(cumulative, cx);
        // updateSlowStart: up to the threshold, the rest counts in congestion avoidance.
        let mut avoids = true;
        if (cwnd as f64) < ssthresh {
            let room = (ssthresh - cwnd as f64).floor() as u64;
            if packets < room {
                cwnd += packets;
                avoids = false;
            } else {
                cwnd += room;
                packets -= room;
                self.ca_acks = 0;
                avoids = packets > 0;
            }
        }
        // updateCongestionAvoidance.
        if avoids {
            self.ca_acks += packets;
            let full = u64::max(cwnd, 1);
            if self.ca_acks >= full {
                cwnd += self.ca_acks / full;
                self.ca_acks %= cwnd;
            }
        }
        let cwnd = cwnd as f64 * smss;
        self.too_many = f64::min(self.too_many, f64::max(cwnd - smss, 0.0));
        w.cwnd = cwnd - self.too_many;
    }
    fn on_loss(&mut self, l: &LossEvent, _: &Window, cx: &Ctx) -> Cut {
        let went_back = cx.snd_nxt.0 < cx.snd_max.0;
        let out = if went_back { cx.snd_nxt.0 - cx.snd_una.0 } else { l.flight };
        let segments = ((out as f64 + self.too_many).floor() as u64) / u64::from(cx.mss);
        self.too_many = 0.0;
        self.recounted = true;
        let ssthresh = if l.repeated { 2 } else { u64::max(segments / 2, 2) } as f64 * mss(cx);
        Cut { ssthresh, cwnd: if l.cause == Cause::Rto { mss(cx) } else { ssthresh } }
    }
}
