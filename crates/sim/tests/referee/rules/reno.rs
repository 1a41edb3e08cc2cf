//! Each duplicate inflates the window by a segment; a partial ACK deflates it by what it acknowledges.

use super::{unless, Rule};
use crate::book::{Ack, Book};
use crate::judge::Verdict;
use ackclock_tcp::event::Phase;
use ackclock_tcp::recovery::RecoverySpec;
use ackclock_tcp::stack::Stack;

struct Reno {
    partial: bool,
    /// cwnd with its inflation, and the episode.
    before: Option<(f64, u32)>,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let partial = match &stack.recovery {
        RecoverySpec::Reno(s) if !s.net2_order && !s.header_prediction && s.inflate_segs == 3 => false,
        RecoverySpec::Newreno(s) if s.inflate && s.deflate => true,
        _ => return None,
    };
    Some(Box::new(Reno { partial, before: None }))
}

impl Rule for Reno {
    fn name(&self) -> &'static str {
        "reno"
    }
    fn source(&self) -> &'static str {
        "RFC 5681 §3.2 (3), (4): cwnd = ssthresh + 3 SMSS, and SMSS for each duplicate; RFC 6582 §3.2 (3): partial window deflation"
    }
    fn ack(&mut self, book: &Book, _: &Ack) -> Verdict {
        let runs = book.phase == Phase::Recovery;
        self.before = book.w.filter(|_| runs).map(|w| (w.cwnd + book.inflation, book.episode));
        Ok(())
    }
    fn after(&mut self, book: &Book, ack: &Ack) -> Verdict {
        let (Phase::Recovery, Some(w)) = (book.phase, book.w) else { return Ok(()) };
        let (mss, now) = (book.mss as f64, w.cwnd + book.inflation);
        let want = match self.before.filter(|b| b.1 == book.episode) {
            None => w.ssthresh + 3.0 * mss,
            Some((before, _)) if ack.acked == 0 => before + if ack.dup { mss } else { 0.0 },
            Some((before, _)) if self.partial => {
                let back = if ack.acked >= book.mss { mss } else { 0.0 };
                (before - ack.acked as f64).max(mss) + back
            }
            Some(_) => return Ok(()),
        };
        // Nothing is left to deflate when the window is a segment, or when the inflation was used up before.
        let spent = self.partial && ack.acked > 0 && book.inflation <= mss;
        unless((now - want).abs() < 1e-6 || spent, || format!("a window of {now} with its inflation, not {want}"))
    }
}
