//! The timeout is the one that RFC 6298's two formulas give, in real numbers, for one timed segment per round trip.

use super::{unless, Rule};
use crate::book::{Ack, Book, Sent};
use crate::judge::Verdict;
use ackclock_tcp::event::Event;
use ackclock_tcp::rto::RtoSpec;
use ackclock_tcp::spurious::SpuriousSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};

/// How far whole nanoseconds may be from real numbers.
const ROUNDING: f64 = 100.0;

/// The estimator.
pub(super) struct Rtt {
    limits: (f64, f64),
    initial: f64,
    estimate: Option<(f64, f64)>,
    timed: Option<(u64, Time)>,
    backoff: u32,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    Rtt::of(stack).map(|rtt| Box::new(rtt) as Box<dyn Rule>)
}

impl Rtt {
    /// For a stack whose samples anybody can take.
    pub(super) fn of(stack: &Stack) -> Option<Rtt> {
        let RtoSpec::Rfc6298(spec) = &stack.rto else { return None };
        let plain = spec.tick == Nanos(1) && !spec.every_ack && !spec.timestamps;
        let undisturbed =
            matches!(stack.spurious, SpuriousSpec::Nothing | SpuriousSpec::Eifel(_) | SpuriousSpec::RttMin(_));
        let adapts = matches!(stack.undo, ackclock_tcp::undo::UndoSpec::EifelResponse(_));
        let limits = (spec.min.0 as f64, spec.max.0 as f64);
        let rule = Rtt { limits, initial: spec.initial.0 as f64, estimate: None, timed: None, backoff: 0 };
        (plain && undisturbed && !adapts).then_some(rule)
    }

    /// SRTT, nanoseconds; 0 before the first sample.
    pub(super) fn srtt(&self) -> f64 {
        self.estimate.map_or(0.0, |e| e.0)
    }

    /// RFC 6298 §2.2, §2.3.
    fn sample(&mut self, r: f64) {
        self.backoff = 0;
        self.estimate = Some(match self.estimate {
            None => (r, r / 2.0),
            Some((srtt, rttvar)) => (0.875 * srtt + 0.125 * r, 0.75 * rttvar + 0.25 * (srtt - r).abs()),
        });
    }

    /// Two to the number of back-offs.
    fn factor(&self) -> f64 {
        f64::from(1u32 << self.backoff.min(20))
    }

    fn expected(&self) -> f64 {
        let base = self.estimate.map_or(self.initial, |(srtt, rttvar)| srtt + 4.0 * rttvar);
        (base.clamp(self.limits.0, self.limits.1) * self.factor()).min(self.limits.1)
    }
}

impl Rule for Rtt {
    fn name(&self) -> &'static str {
        "rtt"
    }
    fn source(&self) -> &'static str {
        "RFC 6298 §2.2, §2.3: SRTT, RTTVAR, RTO = SRTT + 4 RTTVAR; §3 (Karn): no sample from a segment sent twice"
    }
    fn ack(&mut self, book: &Book, ack: &Ack) -> Verdict {
        if let Some((_, at)) = self.timed.filter(|(end, _)| ack.acked > 0 && ack.ack >= *end) {
            self.timed = None;
            self.sample(book.now.since(at).0.max(1) as f64);
        }
        Ok(())
    }
    fn sent(&mut self, book: &Book, s: &Sent) -> Verdict {
        if s.sends > 1 {
            self.timed = None;
        } else if self.timed.is_none() {
            self.timed = Some((s.end, book.now));
        }
        Ok(())
    }
    fn event(&mut self, _: &Book, e: &Event, _: Option<&Ack>) -> Verdict {
        if let Event::Timeout { .. } = e {
            (self.backoff, self.timed) = (self.backoff + 1, None);
        }
        Ok(())
    }
    fn rto(&mut self, _: &Book, rto: Nanos, _: Option<&Ack>) -> Verdict {
        let expected = self.expected();
        let near = (rto.0 as f64 - expected).abs() <= ROUNDING * self.factor();
        unless(near, || format!("a timeout of {rto}, and the samples give {:.9} s", expected / 1e9))
    }
}
