//! A transfer over a path that works ends.

use super::{unless, Rule};
use crate::book::Book;
use crate::judge::Verdict;
use ackclock_tcp::stack::Stack;

struct StaysAlive;

pub(super) fn rule(_: &Stack) -> Option<Box<dyn Rule>> {
    Some(Box::new(StaysAlive))
}

impl Rule for StaysAlive {
    fn name(&self) -> &'static str {
        "stays-alive"
    }
    fn source(&self) -> &'static str {
        "RFC 9293 §1: a reliable, in-order byte stream"
    }
    fn over(&mut self, book: &Book, finished: bool) -> Verdict {
        unless(finished, || format!("{} bytes acknowledged at the end, {} outstanding", book.una - 1, book.flight()))
    }
}
