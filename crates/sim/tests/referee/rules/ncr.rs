//! TCP-NCR's window once a hole has filled on its own: as much as is outstanding, and no more than before.

use super::{unless, Rule};
use crate::book::{Ack, Book};
use crate::judge::Verdict;
use ackclock_tcp::disorder::DisorderSpec;
use ackclock_tcp::event::{Event, Phase, Slot};
use ackclock_tcp::stack::Stack;

#[derive(Default)]
struct Ncr {
    /// FlightSizePrev.
    before: u64,
    /// The hole filled on this ACK.
    resolved: bool,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    matches!(stack.disorder, DisorderSpec::Ncr(_)).then(|| Box::new(Ncr::default()) as Box<dyn Rule>)
}

impl Rule for Ncr {
    fn name(&self) -> &'static str {
        "ncr"
    }
    fn source(&self) -> &'static str {
        "RFC 4653 §3.3: cwnd = min (FlightSize + SMSS, FlightSizePrev), once extended limited transmit ends without a loss"
    }
    fn ack(&mut self, _: &Book, _: &Ack) -> Verdict {
        self.resolved = false;
        Ok(())
    }
    fn event(&mut self, book: &Book, e: &Event, _: Option<&Ack>) -> Verdict {
        match *e {
            Event::Phase { from: Phase::Open, to: Phase::Disorder, .. } => self.before = book.flight(),
            Event::Window { by: Slot::Disorder, .. } => self.resolved = true,
            _ => {}
        }
        Ok(())
    }
    fn after(&mut self, book: &Book, _: &Ack) -> Verdict {
        let (true, Some(w)) = (self.resolved, book.w) else { return Ok(()) };
        let most = (book.flight() + book.mss).min(self.before).max(2 * book.mss) as f64;
        unless(w.cwnd <= most + 1e-6, || format!("a window of {} after reordering, at most {most} may be", w.cwnd))
    }
}
