//! Acknowledgments without news, and the copies that they answer.
//!
//! Idea: a receiver immediately acknowledges a segment that it cannot use (RFC 9293 §3.10.7.4): a copy that PAWS refuses (RFC
//! 7323 §5.3), or one of bytes that it has. If it reports duplicates (DSACK), an acknowledgment without any news is the reply
//! to a refused copy; otherwise it may be the reply to either kind. Each is the reply to one copy. If several copies may have
//! caused it, it is attributed to the one sent first, since most paths keep their order.

use super::order::Reach;
use super::Facts;
use crate::stream::copies::{Bare, Copy, Piece};
use crate::stream::older;
use std::collections::BTreeMap;

/// The meaning of an acknowledgment without news for a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The copy was refused before its bytes had arrived.
    Refused,
    /// It was a duplicate.
    Duplicate,
}

/// An answer to a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) answer: Answer,
    pub(super) bare: Bare,
    /// Whether no other copy may have caused it.
    pub(super) sure: bool,
}

/// The copies that may have been answered, by their frames.
#[derive(Debug, Default)]
pub(super) struct Claims {
    given: BTreeMap<u64, Claim>,
    /// Copies that may have caused an answer attributed to another copy.
    passed_over: BTreeMap<u64, Claim>,
    /// Whether there were answers that no copy explains: the network duplicates packets.
    stray: bool,
    /// Whether copies excluded by the order of arrivals are left out; if so, all remaining ones are uncertain.
    ordered: bool,
}

/// Frames of copies, and the meaning of an acknowledgment for each.
type Answered = Vec<(u64, Answer)>;

/// A copy that may have been useless.
struct Candidate<'a> {
    copy: Copy,
    piece: &'a Piece,
    cannot: Cannot,
}

/// The fates of a copy that the order of arrivals excludes.
#[derive(Clone, Copy, Default)]
struct Cannot {
    duplicate: bool,
    refused: bool,
}

impl Claims {
    pub(super) fn new(facts: &Facts<'_>, floor: i64, largest: i64, reach: Option<&Reach>) -> Self {
        let reports = facts.stream.facts.dsacks > 0;
        let mut claims = Claims::default();
        if facts.cases.bares.is_empty() || !facts.stream.facts.sack_seen {
            return claims;
        }
        let cannot = |w: &[Copy]| Cannot {
            duplicate: reach.is_some_and(|r| r.keeps(w[0].sent.place(), w[1].sent.place())),
            refused: reach.is_some_and(|r| !r.refusable(facts, &w[0])),
        };
        let mut candidates: Vec<Candidate<'_>> = Vec::new();
        for piece in facts.cases.pieces.values() {
            let copies = facts.in_order_of_sending(piece);
            if copies.len() > 1 {
                let each = copies.windows(2).map(cannot).chain([Cannot::default()]);
                candidates.extend(copies.iter().zip(each).map(|(copy, cannot)| Candidate {
                    copy: *copy,
                    piece,
                    cannot,
                }));
            }
        }
        candidates.sort_by_key(|c| (c.copy.sent.at, c.copy.sent.frame));
        let mut answered: BTreeMap<u64, (Answered, Answered)> = BTreeMap::new();
        for bare in &facts.cases.bares {
            let to = candidates.partition_point(|c| c.copy.sent.at + floor <= bare.at);
            let since =
                |most: i64| candidates.partition_point(|c| c.copy.sent.at.saturating_add(most) < bare.at).min(to);
            let may = |from: usize| -> Answered {
                let caused = |c: &&Candidate<'_>| reach.is_none_or(|r| r.caused(&c.copy, bare));
                let one = |c: &Candidate<'_>| Some((c.copy.sent.frame, c.answer(facts, bare, reports)?));
                candidates[from..to].iter().filter(caused).filter_map(one).collect()
            };
            let (near, all) = (may(since(largest.saturating_add(largest / 8))), may(since(largest.saturating_mul(4))));
            answered.insert(bare.frame, (near, all));
        }
        claims.ordered = reach.is_some();
        claims.give(facts, &answered);
        if claims.stray {
            claims.given.values_mut().filter(|c| c.answer == Answer::Duplicate).for_each(|c| c.sure = false);
        }
        claims
    }

    fn give(&mut self, facts: &Facts<'_>, answered: &BTreeMap<u64, (Answered, Answered)>) {
        for bare in &facts.cases.bares {
            let (near, all) = &answered[&bare.frame];
            // Copies that took no longer than others come first.
            let may = if near.is_empty() { all } else { near };
            let free = may.iter().find(|(frame, _)| !self.given.contains_key(frame));
            let Some(&(frame, answer)) = free else {
                self.stray = true;
                continue;
            };
            let sure = all.iter().all(|(f, _)| *f == frame || self.given.contains_key(f));
            self.given.insert(frame, Claim { answer, bare: *bare, sure });
            for &(other, answer) in if self.ordered { all } else { may } {
                self.passed_over.entry(other).or_insert(Claim { answer, bare: *bare, sure: false });
            }
        }
    }

    /// Whether any copy was answered.
    pub(super) fn any(&self) -> bool {
        !self.given.is_empty()
    }

    /// Whether any copy was refused.
    pub(super) fn refused(&self) -> bool {
        self.given.values().any(|claim| claim.answer == Answer::Refused)
    }

    /// The answer to a copy.
    pub(super) fn of(&self, copy: &Copy) -> Option<&Claim> {
        self.given.get(&copy.sent.frame)
    }

    /// An answer attributed to another copy, which may have been an answer to this copy.
    pub(super) fn perhaps(&self, copy: &Copy) -> Option<&Claim> {
        self.passed_over.get(&copy.sent.frame)
    }
}

impl Candidate<'_> {
    /// The meaning of `bare` for this copy, if it can be an answer to it.
    fn answer(&self, facts: &Facts<'_>, bare: &Bare, reports: bool) -> Option<Answer> {
        let stamped = facts.stream.timestamps;
        let covered = self.piece.cover.as_ref().is_some_and(|c| c.at <= bare.at);
        if !covered {
            let old = stamped && !bare.risen && older(self.copy.sent.tsval, bare.echo);
            return (old && !self.cannot.refused).then_some(Answer::Refused);
        }
        // At least one copy was useful. Data below the acknowledgment is echoed if its timestamp is younger than all earlier
        // ones (RFC 7323 §4.3).
        let younger =
            stamped && (older(bare.echo, self.copy.sent.tsval) || bare.risen && bare.echo != self.copy.sent.tsval);
        (!reports && !younger && !self.cannot.duplicate).then_some(Answer::Duplicate)
    }
}
