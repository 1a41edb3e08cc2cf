//! A sender reports of each ACK the counts that the ACKs themselves give.

use super::{unless, Rule};
use crate::book::{Ack, Book, Piece};
use crate::judge::Verdict;
use ackclock_tcp::event::{Event, Phase};
use ackclock_tcp::facts::ack::DupRule;
use ackclock_tcp::recovery::RecoverySpec;
use ackclock_tcp::stack::Stack;

struct Counting {
    /// Losses show in an episode, so without one nothing is lost.
    by_episodes: bool,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    // Without SACK, Linux counts duplicates as deliveries, which nobody else can.
    let by_episodes = !matches!(stack.recovery, RecoverySpec::InOpen);
    (stack.dup_rule != DupRule::EmulatedSack).then(|| Box::new(Counting { by_episodes }) as Box<dyn Rule>)
}

impl Rule for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }
    fn source(&self) -> &'static str {
        "RFC 5681 §2, RFC 6675 §2: duplicates; RFC 6675 §4: pipe counts what is not SACKed, and what is resent"
    }
    fn event(&mut self, book: &Book, e: &Event, ack: Option<&Ack>) -> Verdict {
        let (Event::Acked { delivered, dup_run, pipe, .. }, Some(ack)) = (*e, ack) else { return Ok(()) };
        unless(delivered == ack.delivered, || format!("{delivered} bytes delivered, and {} were", ack.delivered))?;
        let dups = book.dups;
        unless(dup_run == dups, || format!("{dup_run} duplicates in a row, and there were {dups}"))?;
        // A segment that is resent and not lost counts twice.
        let twice: u64 = book.out.iter().filter(|p| p.sends > 1 && p.sacked.is_none()).map(Piece::len).sum();
        let most = book.flight() - book.sacked() + twice;
        unless(pipe <= most, || format!("{pipe} bytes in the pipe, and at most {most} can be"))?;
        let quiet = book.phase == Phase::Open && book.sacked() == 0 && book.out.iter().all(|p| p.sends == 1);
        unless(!quiet || pipe == most || book.episode > 0 || !self.by_episodes, || {
            format!("{pipe} bytes in the pipe, not {most}")
        })
    }
}
