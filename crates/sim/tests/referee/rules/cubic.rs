//! CUBIC's window, recomputed: which value each ACK of new data gives it in congestion avoidance.

use super::rtt::Rtt;
use super::{unless, Rule};
use crate::book::{Ack, Book, Sent};
use crate::judge::Verdict;
use ackclock_tcp::congestion::cubic::CubicSpec;
use ackclock_tcp::congestion::CongestionSpec;
use ackclock_tcp::event::{Event, Phase, Slot};
use ackclock_tcp::spurious::SpuriousSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;

/// What the RFC calls the state of an epoch, windows in segments, times in seconds.
#[derive(Clone, Copy)]
struct Epoch {
    since: Time,
    k: f64,
    estimate: f64,
    alpha: f64,
}

struct Cubic {
    spec: CubicSpec,
    rtt: Rtt,
    /// W_max and cwnd_prior; `None` before the first congestion avoidance.
    max: Option<(f64, f64)>,
    epoch: Option<Epoch>,
    after_timeout: bool,
    /// The window grew on this ACK.
    grew: bool,
    /// What W_est is, or since when W_cubic counts, is unknown until the next cut.
    unknown: bool,
    /// W_max is known.
    sure: bool,
    /// An episode began, and its cut has not been seen; one that leaves both values as they are is not reported.
    due: bool,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let CongestionSpec::Cubic(spec) = &stack.congestion else { return None };
    // An undo brings back a state that only the sender knows (§4.9.2).
    let rtt = Rtt::of(stack).filter(|_| matches!(stack.spurious, SpuriousSpec::Nothing))?;
    let (spec, max, epoch) = (spec.clone(), None, None);
    Some(Box::new(Cubic {
        spec,
        rtt,
        max,
        epoch,
        after_timeout: false,
        grew: false,
        unknown: false,
        sure: true,
        due: false,
    }))
}

impl Cubic {
    /// §4.6, §4.7.
    fn cut(&mut self, cwnd: f64) {
        let lower = self.spec.fast_convergence && self.max.is_some_and(|(max, _)| cwnd < max);
        let max = if lower { cwnd * (1.0 + self.spec.beta) / 2.0 } else { cwnd };
        (self.max, self.epoch, self.unknown, self.due) = (Some((max, cwnd)), None, false, false);
    }

    /// §4.2, §4.8: an epoch begins with a window of `cwnd`.
    fn begin(&mut self, now: Time, cwnd: f64) -> Epoch {
        let (max, prior) = self.max.unwrap_or((cwnd, cwnd));
        self.sure |= self.after_timeout;
        let max = if self.after_timeout { cwnd } else { max.max(cwnd) };
        (self.max, self.after_timeout) = (Some((max, prior)), false);
        let alpha = 3.0 * (1.0 - self.spec.beta) / (1.0 + self.spec.beta);
        Epoch { since: now, k: libm::cbrt((max - cwnd) / self.spec.c), estimate: cwnd, alpha }
    }

    /// The window after an ACK of `acked` segments.
    fn expected(&mut self, now: Time, cwnd: f64, acked: f64) -> f64 {
        let mut e = self.epoch.unwrap_or_else(|| self.begin(now, cwnd));
        let (max, prior) = self.max.unwrap_or((cwnd, cwnd));
        // §4.3.
        e.estimate += e.alpha * acked / cwnd;
        if e.estimate >= prior {
            e.alpha = 1.0;
        }
        self.epoch = Some(e);
        let at = |t: f64| self.spec.c * (t - e.k) * (t - e.k) * (t - e.k) + max;
        let t = now.since(e.since).as_secs_f64();
        if at(t) < e.estimate {
            return e.estimate.max(cwnd);
        }
        // §4.2, §4.4, §4.5.
        let target = at(t + self.rtt.srtt() / 1e9).clamp(cwnd, 1.5 * cwnd);
        cwnd + (target - cwnd) / cwnd
    }
}

impl Rule for Cubic {
    fn name(&self) -> &'static str {
        "cubic"
    }
    fn source(&self) -> &'static str {
        "RFC 9438 §4.2: cwnd grows by (target - cwnd) / cwnd towards W_cubic(t + RTT); §4.3: never below W_est; §4.7, §4.8"
    }
    fn ack(&mut self, book: &Book, ack: &Ack) -> Verdict {
        self.grew = false;
        if std::mem::take(&mut self.due) {
            (self.unknown, self.sure, self.epoch) = (true, false, None);
        }
        self.rtt.ack(book, ack)
    }
    fn sent(&mut self, book: &Book, s: &Sent) -> Verdict {
        self.rtt.sent(book, s)
    }
    fn event(&mut self, book: &Book, e: &Event, ack: Option<&Ack>) -> Verdict {
        self.rtt.event(book, e, ack)?;
        let mss = book.mss as f64;
        match *e {
            Event::Timeout { .. } => (self.after_timeout, self.due) = (true, true),
            Event::Phase { to: Phase::Recovery, .. } => self.due = true,
            Event::Window { by: Slot::Congestion, from, to, .. } if to.cwnd > from.cwnd => {
                self.grew = true;
                let Some(ack) = ack.filter(|_| from.cwnd >= from.ssthresh && !self.unknown) else { return Ok(()) };
                let want = mss * self.expected(book.now, from.cwnd / mss, ack.acked as f64 / mss);
                return unless(!self.sure || (to.cwnd - want).abs() < 1e-3, || {
                    format!("the window goes from {} to {} and not to {want}", from.cwnd, to.cwnd)
                });
            }
            Event::Window { by: Slot::Congestion, from, to, .. } if to != from => {
                self.after_timeout = book.timeout_at == Some(book.now);
                self.cut(from.cwnd / mss);
            }
            // After a pause slow start begins again, and so does the clock of the cubic (§4.8).
            Event::Window { by: Slot::Startup, from, to, .. } if to.cwnd < from.cwnd => self.epoch = None,
            _ => {}
        }
        Ok(())
    }
    fn after(&mut self, book: &Book, ack: &Ack) -> Verdict {
        // Data that the application or the peer limited does not count, and its time neither (§5.8).
        let quiet = ack.acked > 0 && !self.grew && book.phase != Phase::Recovery;
        self.unknown |= quiet && self.epoch.is_some();
        Ok(())
    }
}
