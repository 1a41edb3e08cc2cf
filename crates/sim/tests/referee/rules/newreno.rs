//! Without SACK, fast recovery resends the oldest segment: once at its start, and once for each partial ACK.

use super::{unless, Rule};
use crate::book::{Ack, Book, Sent};
use crate::judge::Verdict;
use ackclock_tcp::event::{Phase, Slot};
use ackclock_tcp::recovery::RecoverySpec;
use ackclock_tcp::stack::Stack;

#[derive(Default)]
struct NewReno {
    /// The oldest byte, once for each time that it must be resent.
    due: Option<u64>,
    was: Option<u32>,
    partial: bool,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    matches!(&stack.recovery, RecoverySpec::Newreno(_)).then(|| Box::new(NewReno::default()) as Box<dyn Rule>)
}

impl Rule for NewReno {
    fn name(&self) -> &'static str {
        "newreno"
    }
    fn source(&self) -> &'static str {
        "RFC 6582 §3.2 (3): on a partial ACK, retransmit the first unacknowledged segment"
    }
    fn after(&mut self, book: &Book, ack: &Ack) -> Verdict {
        let missed = self.due.take();
        let runs = book.phase == Phase::Recovery;
        let begins = runs && self.was != Some(book.episode);
        self.partial = runs && !begins && ack.acked > 0;
        self.was = runs.then_some(book.episode);
        if begins || self.partial {
            self.due = Some(book.una);
        }
        unless(missed.is_none() || !runs, || format!("{missed:?} was not resent in fast recovery"))
    }
    fn sent(&mut self, book: &Book, s: &Sent) -> Verdict {
        if s.by != Slot::Recovery || book.phase != Phase::Recovery {
            return Ok(());
        }
        match self.due.take() {
            Some(una) => unless(s.start == una, || format!("{} is sent before the missing {una}", s.start)),
            None => unless(s.sends == 1, || format!("{} is resent, and no ACK has asked for it", s.start)),
        }
    }
}
