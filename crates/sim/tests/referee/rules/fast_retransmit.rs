//! A fast retransmit begins after its rule, and does begin then.

use super::{unless, Rule};
use crate::book::{Ack, Book};
use crate::judge::Verdict;
use ackclock_tcp::detect::threshold::ThresholdSpec;
use ackclock_tcp::detect::DetectSpec;
use ackclock_tcp::event::{Event, Phase, Why};
use ackclock_tcp::stack::Stack;

enum When {
    /// The duplicate of this number (RFC 5681 §3.2).
    Duplicate { fixed: Option<u32> },
    /// IsLost or DupThresh (RFC 6675 §5).
    IsLost,
    /// More than three segments above, or three duplicates (FACK).
    Distance,
    /// Three duplicates, then a delay (Blanton & Allman §6.4).
    Delayed,
}

struct FastRetransmit {
    when: When,
    /// ACKs with new SACK information since the last advance (RFC 6675 §2, §5 (B)).
    sacks: u32,
    /// The largest count of duplicates since the last advance.
    most: u32,
    /// Where the last episode ends.
    recover: Option<u64>,
    began: bool,
    /// No repair was running when the ACK arrived. The ACK that ends one may show another loss, which the next ACK reports.
    was_open: bool,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let when = match &stack.detect {
        DetectSpec::DupAck(s) => {
            let fixed = if let ThresholdSpec::Fixed(f) = &s.threshold { Some(f.segments) } else { None };
            When::Duplicate { fixed }
        }
        DetectSpec::Sack(s) if matches!(&s.threshold, ThresholdSpec::Fixed(f) if f.segments == 3) => When::IsLost,
        DetectSpec::Fack(_) => When::Distance,
        DetectSpec::Delayed(_) => When::Delayed,
        _ => return None,
    };
    Some(Box::new(FastRetransmit { when, sacks: 0, most: 0, recover: None, began: false, was_open: true }))
}

impl FastRetransmit {
    fn head_is_lost(&self, book: &Book) -> bool {
        self.sacks >= 3 || book.out.first().is_some_and(|p| Book::is_lost(&book.out, p, book.mss))
    }

    /// Whether the rule is fulfilled.
    fn holds(&self, book: &Book) -> bool {
        match self.when {
            When::Duplicate { fixed } => {
                let n = fixed.or(book.threshold);
                n.is_none_or(|n| book.dups == n) && book.dups >= fixed.unwrap_or(3).min(3)
            }
            When::IsLost => self.head_is_lost(book),
            When::Distance => {
                let top = book.out.iter().filter(|p| p.sacked.is_some()).map(|p| p.end).max().unwrap_or(0);
                book.dups >= 3 || top > book.una + 3 * book.mss
            }
            When::Delayed => self.most >= 3,
        }
    }
}

impl Rule for FastRetransmit {
    fn name(&self) -> &'static str {
        "fast-retransmit"
    }
    fn source(&self) -> &'static str {
        "RFC 5681 §3.2: the third duplicate; RFC 6675 §5 (1), (2): DupThresh duplicates or IsLost (HighACK + 1); Mathis & Mahdavi 1996"
    }
    fn ack(&mut self, book: &Book, ack: &Ack) -> Verdict {
        if ack.acked > 0 {
            (self.sacks, self.most) = (0, 0);
        }
        self.sacks += u32::from(ack.news.iter().any(|p| p.start >= book.una));
        self.most = self.most.max(book.dups);
        self.began = false;
        self.was_open = matches!(book.phase, Phase::Open | Phase::Disorder);
        Ok(())
    }
    fn event(&mut self, book: &Book, e: &Event, _: Option<&Ack>) -> Verdict {
        match *e {
            Event::Mistake { .. } => self.recover = Some(u64::MAX),
            Event::Phase { from, to: Phase::Recovery, why: Why::Lost, .. } => {
                (self.began, self.recover) = (true, Some(book.max));
                let first = matches!(from, Phase::Open | Phase::Disorder);
                let (dups, sacks) = (book.dups, self.sacks);
                return unless(!first || self.holds(book), || {
                    format!(
                        "a fast retransmit after {dups} duplicates, {sacks} with SACKs, threshold {:?}",
                        book.threshold
                    )
                });
            }
            Event::Timeout { .. } | Event::Phase { to: Phase::Loss, .. } => self.recover = Some(book.max),
            _ => {}
        }
        Ok(())
    }
    fn after(&mut self, book: &Book, ack: &Ack) -> Verdict {
        let open = matches!(book.phase, Phase::Open | Phase::Disorder);
        // The guard of the strictest stack: more than the earlier episode's data is acknowledged.
        let free = self.recover.is_none_or(|r| book.una > r);
        let due = match self.when {
            When::Duplicate { fixed: Some(n) } => ack.dup && book.dups == n,
            When::Duplicate { fixed: None } | When::Delayed => false,
            When::IsLost => ack.news.iter().any(|p| p.start >= book.una) && self.head_is_lost(book),
            When::Distance => ack.dup && book.dups == 3,
        };
        unless(!(open && self.was_open && free && due) || self.began, || {
            format!("{} duplicates, {} with SACKs, and nothing is resent of {:?}", book.dups, self.sacks, book.out)
        })
    }
}
