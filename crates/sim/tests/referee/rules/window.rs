//! No data goes beyond the peer's window, except the byte that probes a closed one.

use super::{unless, Rule};
use crate::book::{Book, Sent};
use crate::judge::Verdict;
use ackclock_tcp::stack::Stack;

struct Window;

pub(super) fn rule(_: &Stack) -> Option<Box<dyn Rule>> {
    Some(Box::new(Window))
}

impl Rule for Window {
    fn name(&self) -> &'static str {
        "window"
    }
    fn source(&self) -> &'static str {
        "RFC 9293 §3.8.6, §3.8.6.1: the window is the range of numbers that may be sent; a zero window is probed"
    }
    fn sent(&mut self, book: &Book, s: &Sent) -> Verdict {
        let probe = book.probing && s.len() == 1;
        unless(s.end <= book.edge || probe, || format!("data up to {} in a window that ends at {}", s.end, book.edge))
    }
}
