//! Vegas's window, worked out once more from a list of the round's samples.

use super::{flight, mss};
use ackclock_tcp::congestion::vegas::VegasSpec;
use ackclock_tcp::congestion::{Congestion, Cut, LossEvent};
use ackclock_tcp::event::{Cause, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::time::Time;

/// Brakmo & Peterson 1995 §3.
pub(super) struct Vegas {
    spec: VegasSpec,
    /// All round-trip times seen, and those of this round, nanoseconds.
    all: Vec<u64>,
    round: Vec<u64>,
    /// Of the running round: where it ends, what was outstanding when it began.
    begun: Option<(u64, u64)>,
    rounds: u64,
    last_cut: Option<Time>,
}

impl Vegas {
    pub(super) fn new(spec: &VegasSpec) -> Vegas {
        Vegas { spec: spec.clone(), all: vec![], round: vec![], begun: None, rounds: 0, last_cut: None }
    }

    /// Segments of ours in the queue: (Expected - Actual) BaseRTT.
    fn queued(&self, cx: &Ctx) -> Option<f64> {
        let base = *self.all.iter().min()? as f64;
        if self.round.is_empty() {
            return None;
        }
        let mean = self.round.iter().sum::<u64>() as f64 / self.round.len() as f64;
        let (end, out) = self.begun.unwrap_or((1, 0));
        let sent = (cx.snd_max.0 - end) as f64 / mss(cx);
        Some(out as f64 / mss(cx) - sent * base / mean)
    }
}

impl Congestion for Vegas {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        let smss = mss(cx);
        self.all.extend(ack.rtt.map(|r| r.0));
        self.round.extend(ack.rtt.map(|r| r.0));
        // Slow start opens the window every other round.
        if self.rounds.is_multiple_of(2) && w.cwnd < w.ssthresh {
            w.cwnd += smss;
        }
        if self.begun.is_some_and(|(end, _)| ack.ack.0 < end) {
            return;
        }
        let slow_start = w.cwnd < w.ssthresh;
        match self.queued(cx) {
            Some(queued) if slow_start && queued > self.spec.gamma => {
                w.cwnd = f64::max(w.cwnd - w.cwnd / 8.0, 2.0 * smss);
                w.ssthresh = w.cwnd;
            }
            Some(queued) if !slow_start && queued > self.spec.beta => w.cwnd = f64::max(w.cwnd - smss, 2.0 * smss),
            Some(queued) if !slow_start && queued < self.spec.alpha => w.cwnd += smss,
            _ => {}
        }
        self.rounds += 1;
        self.round.clear();
        self.begun = Some((cx.snd_max.0, flight(cx)));
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        let two = 2.0 * mss(cx);
        if l.repeated {
            return Cut { ssthresh: w.ssthresh, cwnd: w.cwnd };
        }
        if l.cause == Cause::Rto {
            return Cut { ssthresh: f64::max(w.cwnd / 2.0, two), cwnd: two };
        }
        // One cut for what was sent before the last one.
        if self.last_cut.is_some_and(|cut| cut >= l.sent_at) {
            return Cut { ssthresh: w.cwnd, cwnd: w.cwnd };
        }
        self.last_cut = Some(cx.now);
        let rest = if l.sends > 1 { w.cwnd * 0.5 } else { w.cwnd * 0.75 };
        Cut { ssthresh: f64::max(rest, two), cwnd: f64::max(rest, two) }
    }
}
