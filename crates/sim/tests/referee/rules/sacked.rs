//! Data that the receiver is known to hold is not sent again, unless a timeout has made the sender forget.

use super::{unless, Rule};
use crate::book::{Book, Sent};
use crate::judge::Verdict;
use ackclock_tcp::stack::Stack;

struct Sacked;

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    stack.options.sack.then(|| Box::new(Sacked) as Box<dyn Rule>)
}

impl Rule for Sacked {
    fn name(&self) -> &'static str {
        "sacked"
    }
    fn source(&self) -> &'static str {
        "RFC 2018 §5: SACKed segments are skipped when data is resent; after a timeout the bits may be turned off"
    }
    fn sent(&mut self, book: &Book, s: &Sent) -> Verdict {
        if s.is_new(book) {
            return Ok(());
        }
        let held = book.out.iter().filter(|p| s.start <= p.start && p.end <= s.end).find_map(|p| p.sacked);
        let known = held.is_some_and(|at| book.timeout_at.is_none_or(|t| t < at));
        unless(!known, || format!("{}:{} is resent, and the receiver reported it at {held:?}", s.start, s.end))
    }
}
