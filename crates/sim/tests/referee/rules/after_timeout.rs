//! A timeout resends the oldest segment, alone, at a window of one segment.

use super::{unless, Rule};
use crate::book::{Ack, Book, Sent};
use crate::judge::Verdict;
use ackclock_tcp::congestion::CongestionSpec;
use ackclock_tcp::event::{Event, Slot};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use ackclock_tcp::timeout::frto::Form;
use ackclock_tcp::timeout::TimeoutSpec;

struct AfterTimeout {
    /// Linux's window is one segment above what it believes to be in flight; BBR's does not shrink at all.
    one_segment: bool,
    alone: bool,
    /// When the timer fired, and the bytes sent since at that instant.
    fired: Option<(Time, u64)>,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let linux = matches!(&stack.timeout, TimeoutSpec::Frto(f) if f.form == Form::Linux);
    let alone = !matches!(stack.congestion, CongestionSpec::Bbr(_));
    Some(Box::new(AfterTimeout { one_segment: !linux, alone, fired: None }))
}

impl Rule for AfterTimeout {
    fn name(&self) -> &'static str {
        "after-timeout"
    }
    fn source(&self) -> &'static str {
        "RFC 6298 §5.4: retransmit the earliest segment not acknowledged; RFC 5681 §3.1: cwnd no more than one segment"
    }
    fn event(&mut self, book: &Book, e: &Event, _: Option<&Ack>) -> Verdict {
        match *e {
            Event::Timeout { .. } => {
                self.fired = Some((book.now, 0));
                unless(book.max > book.una, || "a timeout, and nothing is outstanding (RFC 6298 §5.2)".into())
            }
            Event::Window { by: Slot::Timeout, to, .. } if self.fired == Some((book.now, 0)) && self.one_segment => {
                unless(to.cwnd <= book.mss as f64, || format!("a window of {} bytes after a timeout", to.cwnd))
            }
            _ => Ok(()),
        }
    }
    fn sent(&mut self, book: &Book, s: &Sent) -> Verdict {
        let Some((at, count)) = self.fired else { return Ok(()) };
        if at != book.now {
            let none = count == 0;
            self.fired = None;
            return unless(!none, || format!("nothing was resent at the timeout at {at:?}"));
        }
        let all = count + s.len();
        self.fired = Some((at, all));
        // A FIN may come with a full segment.
        unless(all <= book.mss + 1 || !self.alone, || format!("{all} bytes are sent at a timeout"))?;
        let first = count == 0;
        unless(!first || s.start == book.una, || {
            format!("{} is sent at a timeout, the oldest is {}", s.start, book.una)
        })
    }
}
