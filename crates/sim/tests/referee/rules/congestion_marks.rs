//! Explicit congestion notification: what is marked as capable, and when the sender says that it has reduced its window.

use super::{unless, Rule};
use crate::book::{Ack, Book, Sent};
use crate::judge::Verdict;
use ackclock_tcp::congestion::CongestionSpec;
use ackclock_tcp::event::{Event, Phase, Slot};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::stack::Stack;

#[derive(Default)]
struct CongestionMarks {
    /// What was sent at the last reduction, and its episode.
    reduced: Option<u64>,
    answered: bool,
    episode: u32,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    // BBR writes its window from its model on each ACK, whatever it says.
    let cuts = stack.options.ecn && !matches!(stack.congestion, CongestionSpec::Bbr(_));
    cuts.then(|| Box::new(CongestionMarks { answered: true, ..CongestionMarks::default() }) as Box<dyn Rule>)
}

impl Rule for CongestionMarks {
    fn name(&self) -> &'static str {
        "congestion-marks"
    }
    fn source(&self) -> &'static str {
        "RFC 3168 §6.1.2: react at most once per window, then set CWR on new data; §6.1.5: no ECT on retransmissions"
    }
    fn ack(&mut self, _: &Book, ack: &Ack) -> Verdict {
        self.answered &= !ack.ece;
        Ok(())
    }
    fn event(&mut self, book: &Book, e: &Event, ack: Option<&Ack>) -> Verdict {
        let Event::Window { by: Slot::Congestion, from, to, episode } = *e else {
            if let Event::Mistake { .. } = e {
                self.reduced = None;
            }
            // A cut may leave the numbers as they were.
            if matches!(e, Event::Timeout { .. } | Event::Phase { to: Phase::Recovery, .. }) {
                (self.reduced, self.answered) = (Some(book.max), false);
            }
            return Ok(());
        };
        if to.ssthresh == from.ssthresh && to.cwnd >= from.cwnd {
            return unless(ack.is_none_or(|a| !a.ece), || "an ACK with an echo opens the window".into());
        }
        let by_echo = episode == book.episode && ack.is_some_and(|a| a.ece);
        if !by_echo && episode == book.episode {
            // Vegas closes its window by a segment without any loss.
            return Ok(());
        }
        let before = self.reduced.replace(book.max);
        self.answered = false;
        let over = before.is_none_or(|r| book.una > r);
        unless(over || !by_echo, || format!("an echo cuts at {}, and a cut answers all up to {before:?}", book.una))
    }
    fn sent(&mut self, _: &Book, s: &Sent) -> Verdict {
        // An episode whose numbers are those of the one before is seen only here.
        self.answered &= s.episode == std::mem::replace(&mut self.episode, s.episode);
        Ok(())
    }
    fn packet(&mut self, book: &Book, seg: &Segment, sends: u8) -> Verdict {
        let capable = seg.opts & Segment::ECT != 0;
        unless(sends == 1 || !capable, || "a retransmission is ECT".into())?;
        if sends == 1 && seg.len > 0 && !book.probing {
            unless(capable, || "new data is not ECT".into())?;
            let cwr = seg.has(Segment::CWR);
            let due = !std::mem::replace(&mut self.answered, true);
            return unless(!cwr || due, || "CWR without a reduction".into());
        }
        Ok(())
    }
}
