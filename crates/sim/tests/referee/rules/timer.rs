//! The timer fires exactly when the timeout has passed since it was set.

use super::{unless, Rule};
use crate::book::{Ack, Book, Sent};
use crate::judge::Verdict;
use ackclock_tcp::detect::DetectSpec;
use ackclock_tcp::event::Event;
use ackclock_tcp::recovery::RecoverySpec;
use ackclock_tcp::rto::RtoSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};

struct Timer {
    rto: Nanos,
    due: Option<Time>,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let RtoSpec::Rfc6298(spec) = &stack.rto else { return None };
    // Others restart it at their own moments: NewReno on some partial ACKs, Reno, Tahoe and Robust Recovery with the first
    // retransmission, RACK-TLP with a probe.
    let plain = match &stack.recovery {
        RecoverySpec::Rfc6675(s) => !s.rearm_on_rexmit,
        RecoverySpec::Prr(s) => !s.restart_timer,
        RecoverySpec::RateHalving => true,
        _ => false,
    };
    let counts = matches!(stack.detect, DetectSpec::Sack(_) | DetectSpec::DupAck(_));
    let rto = spec.initial.max(spec.min).min(spec.max);
    (plain && counts).then(|| Box::new(Timer { rto, due: None }) as Box<dyn Rule>)
}

impl Rule for Timer {
    fn name(&self) -> &'static str {
        "timer"
    }
    fn source(&self) -> &'static str {
        "RFC 6298 §5.1 to §5.6: set when data is sent and it is off, off when all is acknowledged, restarted by new data and timeouts"
    }
    fn sent(&mut self, book: &Book, _: &Sent) -> Verdict {
        if self.due.is_none() && !book.probing {
            self.due = Some(book.now + self.rto);
        }
        Ok(())
    }
    fn rto(&mut self, book: &Book, rto: Nanos, ack: Option<&Ack>) -> Verdict {
        self.rto = rto;
        if book.out.is_empty() || book.probing {
            self.due = None;
        } else if ack.is_none_or(|a| a.acked > 0) {
            self.due = Some(book.now + rto);
        }
        Ok(())
    }
    fn event(&mut self, book: &Book, e: &Event, _: Option<&Ack>) -> Verdict {
        if !matches!(e, Event::Timeout { .. }) {
            return Ok(());
        }
        unless(self.due == Some(book.now), || format!("a timeout, and the timer is due at {:?}", self.due))
    }
}
