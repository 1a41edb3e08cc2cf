//! A loss reduces the threshold to the share of its source, and a repeated timeout leaves it.

use super::{unless, Rule};
use crate::book::{Ack, Book, Sent};
use crate::judge::Verdict;
use ackclock_tcp::congestion::{CongestionSpec, CutFrom};
use ackclock_tcp::disorder::DisorderSpec;
use ackclock_tcp::event::{Event, Phase, Slot};
use ackclock_tcp::stack::Stack;

/// What is reduced, and to which share of it.
#[derive(Clone, Copy)]
enum Share {
    Flight(f64),
    /// ns-2: half of the smaller of both windows, in whole segments.
    Window,
}

struct Cut {
    share: Share,
    /// Data sent in Disorder beyond the window (RFC 5681 §3.2 (2)).
    beyond: u64,
    /// Whether that is known to the byte.
    exact: bool,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let share = match &stack.congestion {
        CongestionSpec::Aimd(s) if s.cut_from == CutFrom::Flight => Share::Flight(0.5),
        CongestionSpec::Aimd(s) if s.cut_from == CutFrom::Window => Share::Window,
        CongestionSpec::Vegas(_) => return None,
        CongestionSpec::Cubic(s) if s.cut_from == CutFrom::Flight => Share::Flight(s.beta),
        _ => return None,
    };
    let exact =
        matches!(stack.disorder, DisorderSpec::Nothing | DisorderSpec::LimitedTransmit | DisorderSpec::Extended(_));
    Some(Box::new(Cut { share, beyond: 0, exact }))
}

impl Rule for Cut {
    fn name(&self) -> &'static str {
        "cut"
    }
    fn source(&self) -> &'static str {
        "RFC 5681 §3.1 eq. 4: ssthresh = max (FlightSize / 2, 2 SMSS), §3.2 (2) without limited transmit; RFC 9438 §4.6"
    }
    fn event(&mut self, book: &Book, e: &Event, ack: Option<&Ack>) -> Verdict {
        match *e {
            Event::Phase { to: Phase::Disorder, .. } => self.beyond = 0,
            Event::Window { by: Slot::Congestion, from, to, episode } if episode > book.episode => {
                if from.ssthresh == to.ssthresh {
                    return Ok(());
                }
                return self.check(book, to.ssthresh, ack);
            }
            _ => {}
        }
        Ok(())
    }
    fn after(&mut self, book: &Book, ack: &Ack) -> Verdict {
        if ack.acked > 0 || book.phase == Phase::Open {
            self.beyond = 0;
        }
        Ok(())
    }
    fn sent(&mut self, book: &Book, s: &Sent) -> Verdict {
        let Some(w) = book.w else { return Ok(()) };
        if s.by == Slot::Disorder && book.flight() + s.len() > book.whole(w.cwnd) {
            self.beyond += s.len();
        }
        Ok(())
    }
}

impl Cut {
    fn check(&self, book: &Book, ssthresh: f64, ack: Option<&Ack>) -> Verdict {
        let (mss, Some(w)) = (book.mss as f64, book.w) else { return Ok(()) };
        let near = |want: f64| (ssthresh - want).abs() < 1e-6;
        let expected: Vec<f64> = match self.share {
            Share::Window => {
                vec![(w.cwnd.min(book.wnd() as f64) / mss / 2.0).floor().max(2.0) * mss]
            }
            Share::Flight(share) => {
                let beyond = if book.phase == Phase::Disorder && self.exact { self.beyond } else { 0 };
                // An advancing ACK in Disorder ends the count of what was sent beyond the window.
                let beyond = if ack.is_some_and(|a| a.acked > 0) { 0 } else { beyond };
                let mut flights = vec![book.flight() - beyond.min(book.flight())];
                if book.phase == Phase::Recovery {
                    // A lost retransmission: from the data still in flight (decision 0041).
                    flights.push(book.flight() - book.sacked());
                }
                flights.iter().map(|f| (*f as f64 * share).max(2.0 * mss)).collect()
            }
        };
        let most = expected.iter().copied().fold(0.0, f64::max);
        let right = if self.exact { expected.iter().any(|e| near(*e)) } else { ssthresh <= most + 1e-6 };
        unless(right, || format!("ssthresh {ssthresh} after a loss in {:?}, not one of {expected:?}", book.phase))
    }
}
