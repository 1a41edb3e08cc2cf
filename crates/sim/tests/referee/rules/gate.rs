//! Never more is in the network than the window, and what the phase adds to it, allows.

use super::{unless, Rule};
use crate::book::{Book, Piece, Sent};
use crate::judge::Verdict;
use ackclock_tcp::detect::DetectSpec;
use ackclock_tcp::disorder::DisorderSpec;
use ackclock_tcp::event::{Phase, Slot};
use ackclock_tcp::recovery::RecoverySpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::timeout::TimeoutSpec;

/// How a loss shows, and so what is certainly still in the network.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    /// By what is SACKed above.
    ByPlace,
    /// By what was sent later and has arrived.
    ByTime,
}

struct Gate {
    by_pipe: bool,
    shown: Shown,
    /// A tail may be probed whatever the window says.
    probes: bool,
    first: bool,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let by_pipe = match &stack.recovery {
        RecoverySpec::Tahoe | RecoverySpec::Reno(_) | RecoverySpec::Newreno(_) => false,
        RecoverySpec::Rfc6675(_) | RecoverySpec::Prr(_) => true,
        _ => return None,
    };
    let (shown, probes) = match &stack.detect {
        DetectSpec::RackTlp(s) => (Shown::ByTime, s.tlp),
        DetectSpec::Late(_) => (Shown::ByTime, true),
        DetectSpec::Sack(_) | DetectSpec::DupAck(_) => (Shown::ByPlace, false),
        _ => return None,
    };
    Some(Box::new(Gate { by_pipe, shown, probes, first: false }))
}

impl Gate {
    /// Bytes that are in the network by every reading: never reported, and not lost by any rule.
    fn least(&self, book: &Book) -> u64 {
        let top = book.out.iter().filter(|p| p.sacked.is_some()).map(|p| p.start).max();
        let since =
            book.timeout_at.max(Some(book.began)).filter(|_| matches!(book.phase, Phase::Recovery | Phase::Loss));
        let certain = |p: &&Piece| {
            p.sacked.is_none()
                && match self.shown {
                    Shown::ByTime => book.newest.is_none_or(|n| p.order() > n),
                    Shown::ByPlace => {
                        let resent = p.sends > 1 && since.is_some_and(|at| p.last >= at);
                        resent || (p.sends == 1 && top.is_none_or(|t| p.start > t) && self.spared(book, p))
                    }
                }
        };
        book.out.iter().filter(certain).map(Piece::len).sum()
    }

    /// A timeout declares everything lost that was sent before it, and a fast retransmit the oldest segment.
    fn spared(&self, book: &Book, p: &Piece) -> bool {
        book.timeout_at.is_none_or(|at| p.last >= at) && (p.start > book.una || book.phase == Phase::Open)
    }

    /// What may be outstanding with the new segment under a window that counts from the oldest data.
    fn most(&self, book: &Book, cwnd: f64) -> Option<u64> {
        let whole = book.whole(cwnd);
        let extra = match (book.phase, &book.stack.disorder) {
            (Phase::Open, _) | (Phase::Disorder, DisorderSpec::Nothing) => 0,
            // RFC 3042 §2.
            (Phase::Disorder, DisorderSpec::LimitedTransmit) => u64::from(book.dups.min(2)) * book.mss,
            (Phase::Disorder, DisorderSpec::Extended(s)) => {
                let k = u64::from(book.dups);
                book.mss * if s.every_dup { k } else { k.min(2) + k.saturating_sub(2) / 2 }
            }
            (Phase::Recovery, _) => book.inflation.max(0.0) as u64,
            (Phase::Disorder | Phase::Loss, _) => return None,
        };
        Some(whole + extra)
    }
}

impl Rule for Gate {
    fn name(&self) -> &'static str {
        "gate"
    }
    fn source(&self) -> &'static str {
        "RFC 5681 §3.1: no more outstanding than cwnd; §3.2 (3), (4): inflated; RFC 3042 §2: plus two; RFC 6675 §5 (C): cwnd - pipe >= 1 SMSS"
    }
    fn sent(&mut self, book: &Book, s: &Sent) -> Verdict {
        let Some(w) = book.w else { return Ok(()) };
        if book.probing || (self.probes && book.may_probe() && s.by == Slot::Sequencer) {
            return Ok(());
        }
        let (new, mss) = (s.is_new(book), book.mss as f64);
        let by_pipe = match book.phase {
            Phase::Open | Phase::Recovery => self.by_pipe,
            Phase::Disorder => matches!(book.stack.disorder, DisorderSpec::Pipe),
            Phase::Loss => match book.stack.timeout {
                TimeoutSpec::GoBackN(_) => return self.going_back(book, s, w.cwnd),
                TimeoutSpec::Sack(_) => true,
                // Its two new segments may exceed the window (RFC 5682 §2.1 (2b)).
                TimeoutSpec::Frto(_) | TimeoutSpec::Custom(_) => return Ok(()),
            },
        };
        if by_pipe {
            let least = self.least(book);
            let first = s.start == book.una;
            return unless(w.cwnd - least as f64 >= mss - 1e-6 || first, || {
                format!(
                    "sent in {:?} with a window of {} and at least {least} bytes in the network",
                    book.phase, w.cwnd
                )
            });
        }
        let Some(most) = self.most(book, w.cwnd).filter(|_| new) else { return Ok(()) };
        let need = book.flight() + s.len().min(book.mss);
        unless(need <= most, || format!("{need} bytes outstanding in {:?}, at most {most} may be", book.phase))
    }
}

impl Gate {
    /// After going back, what has been sent since the timeout is limited by the window.
    fn going_back(&mut self, book: &Book, s: &Sent, cwnd: f64) -> Verdict {
        self.first = false;
        let need = s.end.min(s.start + book.mss) - book.una;
        unless(need <= book.whole(cwnd), || format!("{need} bytes from the oldest on after a timeout, cwnd is {cwnd}"))
    }
}
