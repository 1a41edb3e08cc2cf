//! The rules, a file each. A rule is a property of a sender that its source states; it knows no algorithm's code.

mod acks;
mod after_timeout;
mod back_off;
mod congestion_marks;
mod counting;
mod cubic;
mod cut;
mod ends;
mod fast_retransmit;
mod gate;
mod growth;
mod in_order;
mod ncr;
mod newreno;
mod next_seg;
mod once;
mod probes;
mod prr;
mod reno;
mod rtt;
mod sacked;
mod sent_later;
mod stays_alive;
mod timer;
mod undo;
mod window;

use crate::book::{Ack, Book, Sent};
use crate::judge::Verdict;
use ackclock_tcp::event::Event;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;

/// A rule at work on one sender. Each call may object.
pub(crate) trait Rule: Send {
    fn name(&self) -> &'static str;
    /// The place of the sentence, and the sentence in short.
    fn source(&self) -> &'static str;
    /// An ACK arrived; the notebook has it, the sender does not yet.
    fn ack(&mut self, _: &Book, _: &Ack) -> Verdict {
        Ok(())
    }
    /// The sender reports something; the notebook does not have it yet.
    fn event(&mut self, _: &Book, _: &Event, _: Option<&Ack>) -> Verdict {
        Ok(())
    }
    /// The sender has processed an ACK, and not sent anything yet.
    fn after(&mut self, _: &Book, _: &Ack) -> Verdict {
        Ok(())
    }
    /// The sender sends data; the notebook does not have it yet.
    fn sent(&mut self, _: &Book, _: &Sent) -> Verdict {
        Ok(())
    }
    /// The packet of that data.
    fn packet(&mut self, _: &Book, _: &Segment, _: u8) -> Verdict {
        Ok(())
    }
    /// The retransmission timeout after an ACK or a timeout.
    fn rto(&mut self, _: &Book, _: Nanos, _: Option<&Ack>) -> Verdict {
        Ok(())
    }
    /// The run is over.
    fn over(&mut self, _: &Book, _finished: bool) -> Verdict {
        Ok(())
    }
}

/// Makes a rule for a stack, if it can judge it.
type Make = fn(&Stack) -> Option<Box<dyn Rule>>;

pub(crate) const RULES: &[Make] = &[
    acks::rule,
    after_timeout::rule,
    back_off::rule,
    congestion_marks::rule,
    counting::rule,
    cubic::rule,
    cut::rule,
    ends::rule,
    fast_retransmit::rule,
    gate::rule,
    growth::rule,
    in_order::rule,
    ncr::rule,
    newreno::rule,
    next_seg::rule,
    once::rule,
    probes::rule,
    prr::rule,
    reno::rule,
    rtt::rule,
    sacked::rule,
    sent_later::rule,
    stays_alive::rule,
    timer::rule,
    undo::rule,
    window::rule,
];

/// The rules that can judge this stack.
pub(crate) fn for_stack(stack: &Stack) -> Vec<Box<dyn Rule>> {
    RULES.iter().filter_map(|make| make(stack)).collect()
}

/// Objects unless `holds`.
pub(crate) fn unless(holds: bool, why: impl FnOnce() -> String) -> Verdict {
    if holds {
        Ok(())
    } else {
        Err(why())
    }
}
