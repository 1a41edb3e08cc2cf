//! A recovery ends when its source says so, neither earlier nor later.

use super::{unless, Rule};
use crate::book::{Ack, Book};
use crate::judge::Verdict;
use ackclock_tcp::event::{Event, Phase, Why};
use ackclock_tcp::recovery::RecoverySpec;
use ackclock_tcp::stack::Stack;

enum End {
    /// At the first ACK of new data (RFC 5681 §3.2 (6)).
    NewData,
    /// When the data outstanding at its start is acknowledged (RFC 6582 §3.2 (3), RFC 6675 §5 (A)).
    Recover { exactly: bool },
}

struct Ends {
    end: End,
    /// Where it ends: what was sent when it began.
    begun: Option<(u64, u64)>,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let end = match &stack.recovery {
        RecoverySpec::Reno(s) if !s.header_prediction => End::NewData,
        RecoverySpec::Newreno(_) | RecoverySpec::Rfc6675(_) => End::Recover { exactly: true },
        // These begin another one at once if the last ACK shows a loss (decision 0041).
        RecoverySpec::Prr(_) | RecoverySpec::RateHalving | RecoverySpec::SackFf96(_) | RecoverySpec::Fack(_) => {
            End::Recover { exactly: false }
        }
        _ => return None,
    };
    Some(Box::new(Ends { end, begun: None }))
}

impl Rule for Ends {
    fn name(&self) -> &'static str {
        "ends"
    }
    fn source(&self) -> &'static str {
        "RFC 5681 §3.2 (6), RFC 6582 §3.2 (3), RFC 6675 §5 (A): an ACK up to the recovery point ends fast recovery"
    }
    fn event(&mut self, book: &Book, e: &Event, _: Option<&Ack>) -> Verdict {
        let Event::Phase { from, to, why, .. } = *e else { return Ok(()) };
        if to == Phase::Recovery {
            self.begun = Some((book.una, book.max));
            return Ok(());
        }
        let Some((una, max)) = self.begun.take().filter(|_| from == Phase::Recovery) else { return Ok(()) };
        if why != Why::Repaired {
            return Ok(());
        }
        match self.end {
            End::NewData => unless(book.una > una, || "recovery ends without new data".into()),
            End::Recover { .. } => unless(book.una >= max, || format!("recovery ends at {}, before {max}", book.una)),
        }
    }
    fn after(&mut self, book: &Book, _: &Ack) -> Verdict {
        let Some((una, max)) = self.begun.filter(|_| book.phase == Phase::Recovery) else { return Ok(()) };
        match self.end {
            End::NewData => unless(book.una == una, || "recovery goes on after new data".into()),
            End::Recover { exactly: true } => unless(book.una < max, || format!("recovery goes on after {max}")),
            End::Recover { exactly: false } => Ok(()),
        }
    }
}
