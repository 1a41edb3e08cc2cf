//! Which segment a SACK recovery sends: the lowest lost one, else new data, else another hole, else once the last.

use super::{unless, Rule};
use crate::book::{Ack, Book, Piece, Sent};
use crate::judge::Verdict;
use ackclock_tcp::detect::threshold::ThresholdSpec;
use ackclock_tcp::detect::DetectSpec;
use ackclock_tcp::event::{Event, Phase, Slot};
use ackclock_tcp::recovery::prr::Order;
use ackclock_tcp::recovery::RecoverySpec;
use ackclock_tcp::stack::Stack;

#[derive(Default)]
struct NextSeg {
    /// The first retransmission's end, and whether the rescue has been sent.
    rescue: Option<(u64, bool)>,
    episode: u32,
    /// The segment that begins the recovery (§5 (4.3)), if it must.
    head: Option<u64>,
    /// It need not be resent.
    spared: bool,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let ordered = match &stack.recovery {
        RecoverySpec::Rfc6675(_) => true,
        RecoverySpec::Prr(s) => s.order == Order::Rfc6675,
        _ => false,
    };
    let three = matches!(&stack.detect, DetectSpec::Sack(s) if matches!(&s.threshold, ThresholdSpec::Fixed(f) if f.segments == 3));
    (ordered && three).then(|| Box::new(NextSeg::default()) as Box<dyn Rule>)
}

impl NextSeg {
    /// Not SACKed, not resent, and lost: by IsLost, or as the segment that began it. A segment that an earlier recovery resent
    /// counts as resent (decision 0041).
    fn lost<'a>(&self, book: &'a Book, sent: u64) -> Option<&'a Piece> {
        let head = self.head.filter(|head| !self.spared || *head == sent);
        book.out.iter().find(|p| {
            let lost = p.sends == 1 && Book::is_lost(&book.out, p, book.mss);
            // §5 (4.3): the first is resent in any case.
            p.sacked.is_none() && (lost || (Some(p.start) == head && !p.resent_in(book.episode)))
        })
    }
}

impl Rule for NextSeg {
    fn name(&self) -> &'static str {
        "next-seg"
    }
    fn source(&self) -> &'static str {
        "RFC 6675 §4, NextSeg: (1) the smallest lost segment, (2) new data, (3) another hole, (4) one rescue per recovery"
    }
    fn event(&mut self, book: &Book, e: &Event, _: Option<&Ack>) -> Verdict {
        if let Event::Phase { to: Phase::Recovery, .. } = *e {
            let head = book.out.first().map_or(book.una, |p| p.end);
            (self.rescue, self.head, self.spared) = (Some((head, false)), Some(book.una), false);
        }
        Ok(())
    }
    fn sent(&mut self, book: &Book, s: &Sent) -> Verdict {
        if s.by != Slot::Recovery || book.phase != Phase::Recovery {
            return Ok(());
        }
        if std::mem::replace(&mut self.episode, book.episode) != book.episode {
            // A recovery that followed another at once (decision 0041) has no event of its own.
            self.head = Some(book.una);
            // With PRR the ACK that ended the one before began it, by a loss elsewhere. A copy of the oldest segment that the one
            // before sent may still be under way, and need not be repeated (decision 0041).
            let prr = matches!(book.stack.recovery, RecoverySpec::Prr(_));
            self.spared = prr && book.out.first().is_some_and(|p| p.sends > 1);
            self.rescue = Some((book.out.first().map_or(book.una, |p| p.end), false));
        }
        if let Some(lost) = self.lost(book, s.start) {
            return unless(s.start == lost.start, || format!("{} is sent, and this is lost: {lost:?}", s.start));
        }
        if s.is_new(book) {
            return Ok(());
        }
        let piece = book.out.iter().find(|p| p.start == s.start);
        let resent = piece.is_some_and(|p| p.resent_in(book.episode));
        unless(!resent, || format!("{} is resent twice in a recovery", s.start))?;
        let top = book.out.iter().filter(|p| p.sacked.is_some()).map(|p| p.start).max().unwrap_or(0);
        let (end, gone) = self.rescue.unwrap_or((0, false));
        if s.end == book.max && s.start > top {
            self.rescue = Some((end, true));
            unless(!gone, || "a second rescue in a recovery".into())?;
            return unless(book.una > end, || format!("a rescue at {}, before an ACK above {end}", book.una));
        }
        unless(s.start < top, || format!("{} is resent, and nothing above it has arrived", s.start))
    }
}
