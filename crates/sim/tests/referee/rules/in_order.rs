//! New data follows the old without a gap, and what is resent is outstanding.

use super::{unless, Rule};
use crate::book::{Book, Sent};
use crate::judge::Verdict;
use ackclock_tcp::stack::Stack;

struct InOrder;

pub(super) fn rule(_: &Stack) -> Option<Box<dyn Rule>> {
    Some(Box::new(InOrder))
}

impl Rule for InOrder {
    fn name(&self) -> &'static str {
        "in-order"
    }
    fn source(&self) -> &'static str {
        "RFC 9293 §3.3.1, §3.8.1: SND.NXT is the next number to send; the retransmission queue has what is not acknowledged"
    }
    fn sent(&mut self, book: &Book, s: &Sent) -> Verdict {
        unless(s.start < s.end && s.len() <= book.mss + 1, || format!("a segment of {} bytes", s.len()))?;
        if s.is_new(book) {
            return unless(s.sends == 1, || format!("new data counts as sent {} times", s.sends));
        }
        let known = book.una <= s.start && s.end <= book.max;
        unless(known, || format!("{}:{} is resent, outstanding are {}:{}", s.start, s.end, book.una, book.max))?;
        let before = book.out.iter().find(|p| p.start == s.start).map_or(0, |p| p.sends);
        unless(before > 0 && u32::from(s.sends) == before + 1, || {
            format!("sent {before} times before, {} now", s.sends)
        })
    }
}
