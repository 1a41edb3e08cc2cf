//! A tail loss probe that copies data copies the last segment, at least two round trips after the last news, and only where
//! nothing is SACKed.

use super::{unless, Rule};
use crate::book::{Book, Sent};
use crate::judge::Verdict;
use ackclock_tcp::detect::rack_tlp::Rules;
use ackclock_tcp::detect::DetectSpec;
use ackclock_tcp::event::{Phase, Slot};
use ackclock_tcp::pacing::PacingRule;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};

#[derive(Default)]
struct Probes {
    linux: bool,
    /// When the last probe went.
    last: Option<Time>,
    new_at: Option<Time>,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let (probes, linux) = match &stack.detect {
        DetectSpec::RackTlp(spec) => (spec.tlp, spec.rules == Rules::Linux),
        DetectSpec::Late(_) => (true, false),
        _ => return None,
    };
    let plain = probes && stack.pacing == PacingRule::Off;
    plain.then(|| Box::new(Probes { linux, ..Probes::default() }) as Box<dyn Rule>)
}

impl Rule for Probes {
    fn name(&self) -> &'static str {
        "probes"
    }
    fn source(&self) -> &'static str {
        "RFC 8985 §7.2: PTO = 2 SRTT; §7.3: the highest-sequence segment; one probe until an ACK; §7.2: not while data is SACKed"
    }
    fn sent(&mut self, book: &Book, s: &Sent) -> Verdict {
        if s.is_new(book) {
            self.new_at = Some(book.now);
        }
        let copy = s.sends > 1 && s.by == Slot::Sequencer && book.phase == Phase::Open && !book.answers();
        if !copy || book.probing {
            return Ok(());
        }
        unless(s.end == book.max, || format!("a probe of {}, the last segment ends at {}", s.start, book.max))?;
        unless(book.sacked() == 0, || "a probe while data is SACKed".into())?;
        let before = self.last.replace(book.now);
        let answered = before.is_none_or(|at| book.heard_at.is_some_and(|heard| heard > at));
        unless(answered, || format!("a second probe, the first at {before:?}"))?;
        let since = book.advanced_at.max(self.new_at);
        let waited = since.map(|at| book.now.since(at));
        // A timestamp's clock has ticks of a millisecond.
        let tick = Nanos(if book.stack.options.timestamps { 2_000_000 } else { 0 });
        let enough = waited.zip(book.min_wait).is_none_or(|(w, rtt)| w + tick >= rtt.times(2));
        unless(enough || self.linux, || {
            format!("a probe after {waited:?}, the shortest round trip is {:?}", book.min_wait)
        })
    }
}
