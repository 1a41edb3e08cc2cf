//! The timeout doubles each time the timer fires, stays within its limits, and changes for no other reason than a sample.

use super::{unless, Rule};
use crate::book::{Ack, Book};
use crate::judge::Verdict;
use ackclock_tcp::event::Event;
use ackclock_tcp::rto::RtoSpec;
use ackclock_tcp::spurious::SpuriousSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;

struct BackOff {
    limits: (Nanos, Nanos),
    /// The timeout in force.
    rto: Nanos,
    fired: bool,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let RtoSpec::Rfc6298(spec) = &stack.rto else { return None };
    // Judges that time a segment sent twice change the timeout without an ACK of new data.
    if !matches!(stack.spurious, SpuriousSpec::Nothing | SpuriousSpec::Eifel(_) | SpuriousSpec::RttMin(_)) {
        return None;
    }
    let rto = spec.initial.max(spec.min).min(spec.max);
    Some(Box::new(BackOff { limits: (spec.min, spec.max), rto, fired: false }))
}

impl Rule for BackOff {
    fn name(&self) -> &'static str {
        "back-off"
    }
    fn source(&self) -> &'static str {
        "RFC 6298 §5.5: RTO <- RTO * 2; §2.4, §2.5: its limits; §3, §5.7: only a sample of new data ends the back-off"
    }
    fn event(&mut self, _: &Book, e: &Event, _: Option<&Ack>) -> Verdict {
        self.fired |= matches!(e, Event::Timeout { .. });
        Ok(())
    }
    fn rto(&mut self, _: &Book, rto: Nanos, ack: Option<&Ack>) -> Verdict {
        let before = std::mem::replace(&mut self.rto, rto);
        let (least, most) = self.limits;
        unless(least <= rto && rto <= most, || format!("a timeout of {rto}, outside {least} to {most}"))?;
        if std::mem::take(&mut self.fired) {
            let twice = Nanos(before.0 * 2).min(most);
            return unless(rto == twice, || format!("a timeout of {rto} after one of {before}"));
        }
        let advances = ack.is_some_and(|a| a.acked > 0);
        unless(advances || rto == before, || format!("the timeout goes from {before} to {rto} without new data"))
    }
}
