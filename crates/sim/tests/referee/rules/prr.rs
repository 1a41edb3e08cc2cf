//! RFC 9937's arithmetic, recounted: what each ACK of a recovery lets out.

use super::{unless, Rule};
use crate::book::{Ack, Book, Piece, Sent};
use crate::judge::Verdict;
use ackclock_tcp::detect::threshold::ThresholdSpec;
use ackclock_tcp::detect::DetectSpec;
use ackclock_tcp::event::{Event, Phase};
use ackclock_tcp::recovery::prr::{Bound, Order};
use ackclock_tcp::recovery::RecoverySpec;
use ackclock_tcp::stack::Stack;

#[derive(Default)]
struct Prr {
    /// Of the running recovery: its episode, RecoverFS, prr_delivered, prr_out.
    run: Option<(u32, f64, f64, f64)>,
    pipe: u64,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let plain =
        matches!(&stack.recovery, RecoverySpec::Prr(s) if s.bound == Bound::Rfc9937 && s.order == Order::Rfc6675);
    let three = matches!(&stack.detect, DetectSpec::Sack(s) if matches!(&s.threshold, ThresholdSpec::Fixed(f) if f.segments == 3));
    (plain && three).then(|| Box::new(Prr::default()) as Box<dyn Rule>)
}

/// Whether the ACK shows a loss that was not known.
fn shows_loss(book: &Book, ack: &Ack) -> bool {
    let lost = |out: &[Piece], p: &Piece| Book::is_lost(out, p, book.mss);
    book.out.iter().filter(|p| p.sacked.is_none()).any(|p| {
        let before = ack.before.iter().any(|b| b.end == p.end && b.sacked.is_none() && lost(&ack.before, b));
        lost(&book.out, p) && !before
    })
}

impl Rule for Prr {
    fn name(&self) -> &'static str {
        "prr"
    }
    fn source(&self) -> &'static str {
        "RFC 9937 §6.2: sndcnt = CEIL (prr_delivered * ssthresh / RecoverFS) - prr_out, or the bound, with SafeACK"
    }
    fn event(&mut self, _: &Book, e: &Event, _: Option<&Ack>) -> Verdict {
        if let Event::Acked { pipe, .. } = *e {
            self.pipe = pipe;
        }
        Ok(())
    }
    fn sent(&mut self, book: &Book, s: &Sent) -> Verdict {
        if let Some(run) = self.run.as_mut().filter(|_| book.phase == Phase::Recovery) {
            run.3 += s.len() as f64;
        }
        Ok(())
    }
    fn after(&mut self, book: &Book, ack: &Ack) -> Verdict {
        let (Phase::Recovery, Some(w)) = (book.phase, book.w) else {
            self.run = None;
            return Ok(());
        };
        let delivered = ack.delivered as f64;
        let begins = self.run.is_none_or(|r| r.0 != book.episode);
        if begins {
            let fs = (book.flight() - book.sacked()) as f64 + delivered;
            self.run = Some((book.episode, fs, 0.0, 0.0));
        }
        let Some(run) = self.run.as_mut().filter(|_| begins || delivered > 0.0) else { return Ok(()) };
        run.2 += delivered;
        let (_, fs, all, out) = *run;
        let (mss, inflight) = (book.mss as f64, self.pipe as f64);
        let sndcnt = |safe: bool| {
            let n = if inflight > w.ssthresh {
                (all * w.ssthresh / (fs.max(1.0) * mss)).ceil() * mss - out
            } else {
                ((all - out).max(delivered) + if safe { mss } else { 0.0 }).min(w.ssthresh - inflight)
            };
            (inflight + if out == 0.0 { n.max(mss) } else { n }).max(mss)
        };
        let safe = !begins && ack.acked > 0 && !shows_loss(book, ack);
        // With nothing new to send, the next segment may be the rescue, and then an ACK is not safe.
        let near = |want: f64| (w.cwnd - want).abs() < 1e-6;
        let right = near(sndcnt(safe)) || (safe && near(sndcnt(false)) && book.idle());
        unless(right, || format!("a window of {} and not {}, safe: {safe}", w.cwnd, sndcnt(safe)))
    }
}
