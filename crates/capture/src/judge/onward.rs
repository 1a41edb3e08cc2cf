//! Verdicts from the sender's side, or from the middle for the rest of the way. The receiver's acknowledgments, reports and
//! echoes show which copies arrived.
//!
//! Idea: the first acknowledgment of some bytes, and each report of a duplicate (DSACK), is the arrival of a copy. The round-trip
//! time and the timestamps limit the copies that each arrival can be. If an earlier copy arrived in every possible matching, a
//! retransmission was needless; if in none, it was needed.

use super::bare_acks::{Answer, Claims};
use super::order::Reach;
use super::Facts;
use crate::place::Side;
use crate::stream::copies::{Bare, Before, By, Copy, Cover, Piece};
use crate::stream::older;
use crate::verdict::{Evidence, Judged, Verdict};

/// With more copies than this, no matching is searched for.
const MOST: usize = 12;
/// After answering a refused segment, a receiver may send no other such answer for this long, nanoseconds. Source: Linux 6.18,
/// `net/ipv4/tcp_ipv4.c`, `tcp_sk_init` (`sysctl_tcp_invalid_ratelimit`).
const HELD_BACK: i64 = 500_000_000;

/// The state shared by the verdicts of a stream.
pub(super) struct Context<'a> {
    facts: &'a Facts<'a>,
    /// The smallest round-trip time from here, and nine tenths of it: no answer arrives sooner.
    smallest: i64,
    floor: i64,
    /// Half of the smallest: no round trip is shorter, even on another route.
    never: i64,
    largest: i64,
    /// Whether the receiver has reported duplicates.
    reports: bool,
    claims: Claims,
    /// How far copies overtook each other.
    reach: Option<Reach>,
    /// Acknowledgments are missing or arrived out of order, so an acknowledgment without news may have been missed.
    unheard: bool,
}

/// An arrival at the receiver.
#[derive(Clone, Copy)]
struct Arrival {
    at: i64,
    echo: Option<u32>,
    /// Whether the echo identifies the copy that arrived, if it belongs to any.
    exact: bool,
}

/// Whether arrivals can be matched with copies so that the earlier copies did, or did not, arrive.
#[derive(Clone, Copy, Default)]
struct Ways {
    needless: bool,
    needed: bool,
}

/// The smallest round-trip time of a copy whose own timestamp was echoed when it filled a hole. Few others may have been measured if
/// the capture began while packets queued.
fn echoed(facts: &Facts<'_>) -> Option<i64> {
    let one = |piece: &Piece| {
        let cover = piece.cover.as_deref().filter(|c| facts.stream.timestamps && c.by == By::Head)?;
        let copies = piece.copies.iter().map(|c| &facts.cases.copies[*c as usize].sent);
        let mut named = copies.filter(|sent| cover.echo == Some(sent.tsval));
        let (sent, other) = (named.next()?, named.next());
        (other.is_none() && sent.at < cover.at).then(|| cover.at - sent.at)
    };
    facts.cases.pieces.values().filter_map(one).min()
}

impl<'a> Context<'a> {
    pub(super) fn new(facts: &'a Facts<'a>) -> Self {
        let smallest = facts.stream.onward.smallest().into_iter().chain(echoed(facts)).min().unwrap_or(0);
        let (floor, largest) = (smallest - smallest / 10, facts.stream.facts.largest);
        let reports = facts.stream.facts.dsacks > 0;
        let reach = Reach::new(facts, smallest);
        let claims = Claims::new(facts, floor, largest, reach.as_ref());
        let totals = &facts.stream.facts;
        let overtaken = reach.is_some() && totals.acks_overtaken.saturating_mul(100) > totals.acks;
        let unheard = overtaken || facts.ack_ids.many_missing();
        Context { facts, smallest, floor, never: smallest / 2, largest, reports, claims, reach, unheard }
    }
}

/// The verdict on `copies[i]`, one of the copies of `piece`, in the order of transmission.
pub(super) fn judge(ctx: &Context<'_>, piece: &Piece, copies: &[Copy], i: usize) -> Judged {
    let this = &copies[i];
    let last = i.checked_sub(1).map(|j| copies[j].sent.frame);
    let cannot = |evidence| Judged { verdict: Verdict::Undecided, likely: false, evidence, earlier: last, proof: None };
    let Some(cover) = piece.cover.as_deref() else {
        let none = ctx.facts.stream.facts.acks == 0;
        return cannot(if none { Evidence::NoAcknowledgments } else { Evidence::NotAcknowledged });
    };
    if cover.frame.is_none_or(|f| f < this.sent.frame) {
        return Judged {
            verdict: Verdict::Needless,
            likely: false,
            evidence: Evidence::AlreadyAcknowledged,
            earlier: last,
            proof: cover.frame,
        };
    }
    if i == 0 || piece.before != Before::No {
        let upstream = ctx.facts.side == Side::Middle && piece.before == Before::No;
        return match upstream {
            true => Judged {
                verdict: Verdict::Needed,
                likely: false,
                evidence: Evidence::NoEarlierCopy,
                earlier: None,
                proof: None,
            },
            false => cannot(Evidence::FirstNotSeen),
        };
    }
    matched(ctx, piece, cover, copies, i).unwrap_or_else(|| cannot(Evidence::Alike))
}

fn matched(ctx: &Context<'_>, piece: &Piece, cover: &Cover, copies: &[Copy], i: usize) -> Option<Judged> {
    if copies.len() > MOST {
        return None;
    }
    let mut arrivals = vec![Arrival { at: cover.at, echo: cover.echo, exact: cover.by == By::Head }];
    arrivals.extend(piece.reports.iter().map(|r| Arrival { at: r.at, echo: r.echo, exact: false }));
    arrivals.truncate(copies.len());
    let case = Case { ctx, copies, i, arrivals: &arrivals, cover };
    let all = case.ways(arrivals.len(), i64::MAX, ctx.floor);
    match (all.needless, all.needed) {
        (true, false) => Some(case.needless()),
        (false, true) => Some(case.needed(true, true)),
        (true, true) if cover.by != By::Behind => case.by_time(),
        (true, true) | (false, false) => None,
    }
}

/// A retransmission, the other copies, and the arrivals.
struct Case<'a> {
    ctx: &'a Context<'a>,
    copies: &'a [Copy],
    i: usize,
    arrivals: &'a [Arrival],
    cover: &'a Cover,
}

impl Case<'_> {
    fn judged(&self, verdict: Verdict, evidence: Evidence, likely: bool) -> Judged {
        let earlier = Some(self.copies[self.i - 1].sent.frame);
        Judged { verdict, likely, evidence, earlier, proof: self.cover.frame }
    }

    /// From its transmission to the first acknowledgment.
    fn after(&self) -> i64 {
        self.cover.at - self.copies[self.i].sent.at
    }

    fn needless(&self) -> Judged {
        let (ctx, after) = (self.ctx, self.after());
        // A route may have become faster than all round-trip times measured on it, but not by half.
        let triggered = self.cover.by != By::Behind || self.cover.skipped;
        let shorter = triggered && self.ways(self.arrivals.len(), i64::MAX, ctx.never).needed;
        let evidence = match self.ways(1, i64::MAX, ctx.floor).needed {
            false if after < ctx.floor => Evidence::TooSoon { after, smallest: ctx.smallest },
            false => match self.cover.trigger.filter(|_| self.cover.by == By::Behind) {
                Some(sent) => Evidence::EarlierAnswered { by: self.copies[self.i].sent.at - sent.at },
                None => Evidence::EarlierEcho { value: self.cover.echo.unwrap_or(0) },
            },
            // Reports of data that was sent once indicate a network that duplicates packets: if this copy was the first to
            // arrive, it more likely arrived twice.
            true if ctx.facts.stream.facts.stray_dsacks > 0 => {
                return match self.ways(1, self.around(), ctx.floor).needless {
                    true => self.judged(Verdict::Needless, self.reported(), true),
                    false => self.judged(Verdict::Needed, self.needed_evidence(), true),
                };
            }
            true => return self.judged(Verdict::Needless, self.reported(), shorter),
        };
        self.judged(Verdict::Needless, evidence, shorter)
    }

    /// Whether the only acknowledgment of an earlier copy may have been lost: none came when its answer had to be there, and nothing
    /// shows that all came.
    fn unheard(&self) -> bool {
        let shown = self.ctx.reports || self.ctx.facts.ack_ids.count_in_any_order() || self.own_echo().is_some();
        let expected = |c: &Copy| c.sent.at.saturating_add(self.around());
        !shown && self.copies[..self.i].iter().any(|c| self.cover.last < expected(c))
    }

    fn reported(&self) -> Evidence {
        Evidence::Reported { duplicates: (self.arrivals.len() - 1) as u32, copies: (self.copies.len() - self.i) as u32 }
    }

    /// None of the earlier copies was the first to arrive; `first`: for certain. An acknowledgment without news may show copies
    /// that arrived too late or were refused.
    fn needed(&self, sure: bool, first: bool) -> Judged {
        let ctx = self.ctx;
        if first && self.copies[..self.i].iter().all(|e| self.lost(e)) {
            return self.judged(Verdict::Needed, self.lost_evidence(), false);
        }
        if let Some(needless) = self.answered_too_often() {
            return self.unless_guessed(needless);
        }
        // The answer to an earlier copy may have been lost directly before.
        let unanswered = self.cover.skipped && !ctx.reports && ctx.facts.ack_ids.count();
        // Where copies arrived late before, more evidence is needed to conclude that no copy arrived late without an answer of
        // its own.
        let halfway = ctx.facts.side == Side::Middle;
        let open = !self.much_later() || halfway && self.could_be_refused();
        let late_ones = !ctx.reports && ctx.claims.any() && open;
        let mut likely =
            !sure || unanswered || late_ones || self.unheard() || halfway && self.could_be_refused() && self.silently();
        for earlier in &self.copies[..self.i] {
            let Some(claim) = ctx.claims.of(earlier) else {
                // Its answer may have been lost, if it may have arrived that late.
                let age = self.cover.at - earlier.sent.at;
                let late = ctx.reach.is_some() || age <= ctx.largest.saturating_add(ctx.largest / 2);
                likely |= ctx.claims.perhaps(earlier).is_some() || late && !ctx.reports && ctx.unheard;
                continue;
            };
            let (verdict, evidence) = match claim.answer {
                Answer::Refused => {
                    let (value, recent) = (earlier.sent.tsval, claim.bare.echo);
                    (Verdict::Refused, Evidence::RefusedByPaws { value, recent })
                }
                Answer::Duplicate => (Verdict::Needless, Evidence::BareAcks { acks: 1 }),
            };
            let (earlier, proof) = (Some(earlier.sent.frame), Some(claim.bare.frame));
            let judged = Judged { verdict, likely: !claim.sure, evidence, earlier, proof };
            return if verdict == Verdict::Refused { judged } else { self.unless_guessed(judged) };
        }
        if !ctx.facts.stream.facts.sack_seen
            && let Some(perhaps) = self.perhaps_answered()
        {
            return perhaps;
        }
        // The report of a duplicate may have been lost.
        let stamped = ctx.facts.stream.timestamps && self.cover.by == By::Head;
        let ids = ctx.facts.ack_ids;
        likely |= halfway && !stamped && ctx.reports && (!ids.count() || ids.many_missing());
        self.unless_guessed(self.judged(Verdict::Needed, self.needed_evidence(), likely))
    }

    /// The timestamp of the copy that filled the hole.
    fn own_echo(&self) -> Option<Evidence> {
        let stamped = self.ctx.facts.stream.timestamps && self.cover.by == By::Head;
        self.cover.echo.filter(|_| stamped).map(|value| Evidence::OwnEcho { value })
    }

    fn lost_evidence(&self) -> Evidence {
        let last = self.copies[self.i - 1].sent.place();
        let by = self.cover.newest.map_or(0, |newest| newest.behind(last).time);
        let most = self.ctx.facts.stream.farthest().time;
        self.own_echo().unwrap_or(Evidence::LaterArrived { by, most })
    }

    fn needed_evidence(&self) -> Evidence {
        match self.own_echo() {
            Some(echo) => echo,
            None if self.ctx.reports => Evidence::NoneReported { after: self.after() },
            None => Evidence::NoBareAck { after: self.after() },
        }
    }

    /// Whether an earlier copy, which did not arrive first, was lost: it can have arrived neither after this copy nor after
    /// data that would make the receiver refuse it (RFC 7323 §5.3).
    fn lost(&self, earlier: &Copy) -> bool {
        let this = self.copies[self.i].sent.place();
        let lost = |r: &Reach| r.keeps(earlier.sent.place(), this) && !r.refusable(self.ctx.facts, earlier);
        self.ctx.reach.as_ref().is_some_and(lost)
    }

    /// Without reports of duplicates a guess is wrong too often to be reported; and that a copy is needed, where the receiver is known
    /// to refuse copies.
    fn unless_guessed(&self, judged: Judged) -> Judged {
        let often = !self.ctx.reports || judged.verdict == Verdict::Needed && self.ctx.claims.refused();
        if judged.likely && often {
            return Judged { verdict: Verdict::Undecided, likely: false, evidence: Evidence::Alike, ..judged };
        }
        judged
    }

    /// More acknowledgments without news answered copies of these bytes than later copies alone can have caused.
    fn answered_too_often(&self) -> Option<Judged> {
        let duplicate = |c: &Copy| self.ctx.claims.of(c).filter(|c| c.answer == Answer::Duplicate);
        let answers: Vec<_> = self.copies.iter().filter_map(duplicate).collect();
        let last = answers.last()?;
        if answers.len() < self.copies.len() - self.i {
            return None;
        }
        let evidence = Evidence::BareAcks { acks: answers.len() as u32 };
        let likely = !answers.iter().all(|c| c.sure);
        Some(Judged { proof: Some(last.bare.frame), ..self.judged(Verdict::Needless, evidence, likely) })
    }

    /// The longest likely round-trip time: somewhat above the recent times.
    fn around(&self) -> i64 {
        let around = if self.cover.around > 0 { self.cover.around } else { self.ctx.largest };
        around.saturating_add(around / 8)
    }

    /// Without SACK every acknowledgment of an out-of-order segment is without news: if one arrived at a time at which an
    /// earlier copy may have been answered, it can be the answer to that copy.
    fn perhaps_answered(&self) -> Option<Judged> {
        let (ctx, cover) = (self.ctx, self.cover);
        let stamped = ctx.facts.stream.timestamps;
        let latest = ctx.largest.saturating_mul(4);
        for (j, copy) in self.copies.iter().enumerate() {
            let sent = &copy.sent;
            let may = |b: &&Bare| {
                let age = b.at - sent.at;
                // A later copy counts only as a duplicate: then this copy was not the only one to arrive.
                let of_use = b.at < cover.at && (j >= self.i || !(stamped && older(sent.tsval, b.echo)));
                ctx.floor <= age && age <= latest && !of_use && !(stamped && older(b.echo, sent.tsval))
            };
            let counted = stamped && !ctx.facts.ack_ids.many_missing();
            let other = |b: &&Bare| !(counted && ctx.facts.stream.accounted(b));
            let Some(bare) = ctx.facts.cases.bares.iter().filter(may).find(other) else { continue };
            let evidence = match bare.at < cover.at {
                true => Evidence::PerhapsRefused { value: sent.tsval, recent: bare.echo },
                false => Evidence::Alike,
            };
            let (earlier, proof) = (Some(sent.frame), Some(bare.frame));
            return Some(Judged { verdict: Verdict::Undecided, likely: false, evidence, earlier, proof });
        }
        None
    }

    /// Either may have been the first to arrive, judging by the smallest round-trip time. A copy that would have taken longer
    /// than every recent round-trip time was lost.
    fn by_time(&self) -> Option<Judged> {
        let ctx = self.ctx;
        let near = match self.after() < self.cover.least - self.cover.least / 10 {
            true => Ways::default(),
            false => self.ways(self.arrivals.len(), self.around(), ctx.floor),
        };
        match (near.needless, near.needed) {
            (false, true) => Some(self.needed(true, false)),
            (true, false) => Some(self.judged(Verdict::Needless, self.reported(), true)),
            _ if ctx.reports => Some(match self.i + self.arrivals.len() > self.copies.len() {
                true => self.judged(Verdict::Needless, self.reported(), true),
                false => self.needed(false, false),
            }),
            _ => None,
        }
    }

    /// Midway, the answer to a refusal may pass together with news: the receiver had a timestamp younger than an earlier copy's
    /// before this one arrived.
    fn could_be_refused(&self) -> bool {
        let recent = self.cover.echo_before.filter(|_| self.ctx.facts.stream.timestamps);
        recent.is_some_and(|recent| self.copies[..self.i].iter().any(|c| older(c.sent.tsval, recent)))
    }

    /// The only reply to a refusal is an acknowledgment without news, which may have been lost, or suppressed after another one.
    fn silently(&self) -> bool {
        let (ids, first) = (self.ctx.facts.ack_ids, self.copies[0].sent.at);
        let before = |b: &Bare| first - HELD_BACK <= b.at && b.at <= self.cover.at;
        !ids.count() || ids.many_missing() || self.ctx.facts.cases.bares.iter().any(before)
    }

    /// The first acknowledgment arrived more than one and a half times the largest round-trip time after every earlier copy was
    /// sent.
    fn much_later(&self) -> bool {
        let most = self.ctx.largest.saturating_add(self.ctx.largest / 2);
        self.copies[..self.i].iter().all(|c| self.cover.at - c.sent.at > most)
    }

    /// The copies that the first `count` arrivals may have been, if the first of them took at most `most`, and none less than
    /// `floor`.
    fn ways(&self, count: usize, most: i64, floor: i64) -> Ways {
        let mut found = Ways::default();
        search(self, &self.arrivals[..count], (floor, most), 0, false, &mut found);
        found
    }
}

/// `bounds`: the shortest and the longest time that the first arrival may have taken.
fn search(case: &Case<'_>, arrivals: &[Arrival], bounds: (i64, i64), used: u32, earlier: bool, found: &mut Ways) {
    let Some((arrival, rest)) = arrivals.split_first() else {
        found.needless |= earlier;
        found.needed |= !earlier;
        return;
    };
    if found.needed && found.needless {
        return;
    }
    let (floor, most) = bounds;
    let stamped = case.ctx.facts.stream.timestamps;
    let in_time = |c: &Copy| c.sent.at + floor <= arrival.at;
    let first = |c: &Copy| case.ctx.reach.is_none_or(|r| r.first(case.ctx.facts, c, case.cover));
    let named = |c: &Copy| arrival.exact && arrival.echo == Some(c.sent.tsval) && in_time(c);
    let any_named = stamped && case.copies.iter().any(named);
    for (j, copy) in case.copies.iter().enumerate() {
        let free = used & 1 << j == 0;
        let young = stamped && arrival.exact && arrival.echo.is_some_and(|e| older(e, copy.sent.tsval));
        let soon = arrival.at - copy.sent.at <= most;
        if free && in_time(copy) && soon && first(copy) && (!any_named || named(copy)) && !young {
            search(case, rest, (floor, i64::MAX), used | 1 << j, earlier || j < case.i, found);
        }
    }
}
