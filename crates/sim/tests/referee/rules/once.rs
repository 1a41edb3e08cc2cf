//! One window of data leads to one reduction.

use super::{unless, Rule};
use crate::book::{Ack, Book};
use crate::judge::Verdict;
use ackclock_tcp::detect::{DetectSpec, Guard};
use ackclock_tcp::event::{Event, Phase, Why};
use ackclock_tcp::stack::Stack;

struct Once {
    /// What was sent when the last episode began.
    recover: Option<u64>,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let guarded = match &stack.detect {
        DetectSpec::DupAck(s) => s.guard != Guard::Off,
        DetectSpec::Sack(_) | DetectSpec::Fack(_) | DetectSpec::RackTlp(_) | DetectSpec::Late(_) => true,
        _ => false,
    };
    guarded.then(|| Box::new(Once { recover: None }) as Box<dyn Rule>)
}

impl Rule for Once {
    fn name(&self) -> &'static str {
        "once"
    }
    fn source(&self) -> &'static str {
        "RFC 6582 §3.2 (1), RFC 6675 §5.1: no second fast retransmit before the data of the first episode is acknowledged"
    }
    fn event(&mut self, book: &Book, e: &Event, _: Option<&Ack>) -> Verdict {
        match *e {
            // A mistake moves the end of its episode.
            Event::Mistake { .. } => self.recover = None,
            Event::Phase { from, to: Phase::Recovery, why: Why::Lost, .. } => {
                let before = self.recover.replace(book.max);
                // RACK and F-RTO may find a lost retransmission while a timeout is being repaired: another event.
                let open = matches!(from, Phase::Open | Phase::Disorder);
                let over = before.is_none_or(|r| book.una >= r);
                return unless(over || !open, || format!("a second cut at {}, before {before:?}", book.una));
            }
            Event::Timeout { .. } | Event::Phase { to: Phase::Loss, .. } => self.recover = Some(book.max),
            _ => {}
        }
        Ok(())
    }
}
