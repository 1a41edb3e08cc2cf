//! What is acknowledged never goes back, and never beyond what was sent.

use super::{unless, Rule};
use crate::book::{Ack, Book};
use crate::judge::Verdict;
use ackclock_tcp::event::Event;
use ackclock_tcp::stack::Stack;

struct Acks(u64);

pub(super) fn rule(_: &Stack) -> Option<Box<dyn Rule>> {
    Some(Box::new(Acks(1)))
}

impl Rule for Acks {
    fn name(&self) -> &'static str {
        "acks"
    }
    fn source(&self) -> &'static str {
        "RFC 9293 §3.10.7.4: an ACK is acceptable if SND.UNA =< SEG.ACK =< SND.NXT; SND.UNA <- SEG.ACK"
    }
    fn event(&mut self, book: &Book, e: &Event, ack: Option<&Ack>) -> Verdict {
        let Event::Acked { ack: acknowledged, .. } = *e else { return Ok(()) };
        let before = self.0;
        self.0 = before.max(acknowledged.0);
        unless(before <= acknowledged.0 && acknowledged.0 <= book.max, || {
            format!("ACK {acknowledged} after {before}, sent up to {}", book.max)
        })?;
        let Some(ack) = ack else { return Err("an ACK is reported, and none has arrived".into()) };
        unless(acknowledged.0 == book.una, || format!("ACK {acknowledged} is reported, and {} arrived", ack.ack))
    }
}
