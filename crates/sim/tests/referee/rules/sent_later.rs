//! A detector that goes by time resends a segment only if one sent later has arrived, and not sooner than a round trip.

use super::{unless, Rule};
use crate::book::{Ack, Book, Sent};
use crate::judge::Verdict;
use ackclock_tcp::detect::DetectSpec;
use ackclock_tcp::event::{Event, Phase, Slot};
use ackclock_tcp::recovery::prr::Order;
use ackclock_tcp::recovery::RecoverySpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Rack,
    Quic,
    TcpPr,
}

struct SentLater {
    kind: Kind,
    /// Place in the order of sending of each outstanding segment's last copy, and of the newest that arrived.
    places: BTreeMap<u64, u64>,
    count: u64,
    newest: u64,
    /// When data last went without an ACK: a second probe may declare data lost (RFC 9002 §6.2.4).
    probed: Option<Time>,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let by_marks = matches!(&stack.recovery, RecoverySpec::Prr(s) if s.order == Order::Marks);
    let kind = match &stack.detect {
        DetectSpec::RackTlp(_) | DetectSpec::Late(_) if by_marks => Kind::Rack,
        DetectSpec::Quic(s) if !s.adapt => Kind::Quic,
        DetectSpec::TcpPr(_) => Kind::TcpPr,
        _ => return None,
    };
    Some(Box::new(SentLater { kind, places: BTreeMap::new(), count: 0, newest: 0, probed: None }))
}

impl Rule for SentLater {
    fn name(&self) -> &'static str {
        "sent-later"
    }
    fn source(&self) -> &'static str {
        "RFC 8985 §6.2: sent before RACK.xmit_ts and RACK.rtt + reo_wnd ago; RFC 9002 §6.1: three packets or 9/8 round trips"
    }
    fn event(&mut self, book: &Book, e: &Event, _: Option<&Ack>) -> Verdict {
        if let Event::Phase { to: Phase::Loss, .. } = e {
            // Persistent congestion declares everything lost (RFC 9002 §7.6).
            self.probed = Some(book.now);
        }
        Ok(())
    }
    fn ack(&mut self, _: &Book, ack: &Ack) -> Verdict {
        let newest = ack.news.iter().filter_map(|p| self.places.get(&p.start)).max();
        self.newest = self.newest.max(newest.copied().unwrap_or(0));
        Ok(())
    }
    fn sent(&mut self, book: &Book, s: &Sent) -> Verdict {
        let verdict = self.check(book, s);
        if !book.answers() {
            self.probed = Some(book.now);
        }
        self.count += 1;
        self.places.insert(s.start, self.count);
        if self.places.len() > 4096 {
            self.places = self.places.split_off(&book.una);
        }
        verdict
    }
}

impl SentLater {
    fn check(&self, book: &Book, s: &Sent) -> Verdict {
        let by_verdict = match self.kind {
            Kind::Rack => s.by == Slot::Recovery && book.phase == Phase::Recovery,
            // A probe may be due at the instant of an ACK; usually it is a copy of the last segment (RFC 9002 §6.2.4).
            Kind::Quic => s.by == Slot::Sequencer && !book.may_probe() && s.end != book.max,
            Kind::TcpPr => true,
        };
        let Some(p) = book.out.iter().find(|p| p.start == s.start).filter(|_| by_verdict && s.sends > 1) else {
            return Ok(());
        };
        let waited = book.now.since(p.last);
        let rtt = book.min_wait.is_none_or(|rtt| waited >= rtt);
        match self.kind {
            Kind::TcpPr => unless(rtt, || format!("{} is resent after {waited}", s.start)),
            Kind::Rack => {
                unless(book.newest.is_some_and(|n| n > p.order()), || {
                    format!("{} is resent, nothing sent later came", s.start)
                })?;
                unless(rtt, || format!("{} is resent after {waited}, a round trip takes {:?}", s.start, book.min_wait))
            }
            Kind::Quic if self.probed.is_some_and(|at| at >= p.last) => Ok(()),
            Kind::Quic => {
                let place = self.places.get(&s.start).copied().unwrap_or(0);
                let late = book.min_wait.is_some_and(|rtt| waited.0 * 8 + 8 >= rtt.0 * 9);
                let behind = self.newest >= place + 3;
                let sent_before = self.newest > place;
                unless(sent_before && (behind || late), || {
                    format!(
                        "{} is resent, {place} in the order of sending; {} has come, after {waited}",
                        s.start, self.newest
                    )
                })
            }
        }
    }
}
