//! Verdicts from the receiver's side: arrivals are known, and refusals show in the next acknowledgment.
//!
//! Idea: PAWS (RFC 7323 §5.3) suggests which data may have been refused; the next acknowledgment confirms it by covering none
//! of it.

use super::Facts;
use crate::stream::copies::{Before, Copy, Piece, Suspect};
use crate::verdict::{Evidence, Judged, Verdict};

/// The verdict on `copies[i]`, one of the copies of `piece`, in the order of transmission.
pub(super) fn judge(facts: &Facts<'_>, piece: &Piece, copies: &[Copy], i: usize) -> Judged {
    let this = &copies[i];
    let mut refused = None;
    for earlier in copies[..i].iter().rev() {
        match refusal(facts, piece, copies, earlier) {
            None => {
                return Judged {
                    verdict: Verdict::Needless,
                    likely: false,
                    evidence: Evidence::EarlierArrived,
                    earlier: Some(earlier.sent.frame),
                    proof: Some(earlier.sent.frame.max(this.sent.frame)),
                }
            }
            Some(s) => refused = refused.or(Some((earlier, s))),
        }
    }
    let acknowledged = piece.cover.as_ref().filter(|c| c.frame.is_none_or(|f| f < this.sent.frame));
    let told = |verdict, evidence, proof| Judged { verdict, likely: false, evidence, earlier: None, proof };
    match piece.before {
        Before::No => {}
        Before::Yes => return told(Verdict::Needless, Evidence::EarlierArrived, Some(this.sent.frame)),
        Before::Perhaps => {
            return match acknowledged {
                Some(cover) => told(Verdict::Needless, Evidence::AlreadyAcknowledged, cover.frame),
                None => told(Verdict::Undecided, Evidence::FirstNotSeen, None),
            }
        }
    }
    match refused {
        Some((earlier, s)) => Judged {
            verdict: Verdict::Refused,
            likely: false,
            evidence: Evidence::OlderTimestamp { value: s.value, recent: s.recent },
            earlier: Some(earlier.sent.frame),
            proof: s.next.map(|n| n.0),
        },
        None => Judged {
            verdict: Verdict::Needed,
            likely: false,
            evidence: Evidence::NoEarlierCopy,
            earlier: None,
            proof: None,
        },
    }
}

/// Why a copy that arrived was not taken, although its bytes had not arrived before.
fn refusal<'a>(facts: &'a Facts<'_>, piece: &Piece, copies: &[Copy], copy: &Copy) -> Option<&'a Suspect> {
    let suspects = &facts.cases.suspects;
    let at = suspects.partition_point(|s| s.frame < copy.sent.frame);
    let suspect = suspects.get(at).filter(|s| s.frame == copy.sent.frame)?;
    // The receiver could not lose data that it already had.
    let there = copies.iter().any(|c| c.sent.frame < copy.sent.frame && !is_suspect(suspects, c));
    let covered = piece.cover.as_ref().is_some_and(|c| c.frame.is_none_or(|f| f < copy.sent.frame));
    (!there && !covered && suspect.next.is_none_or(|n| !n.1)).then_some(suspect)
}

fn is_suspect(suspects: &[Suspect], copy: &Copy) -> bool {
    suspects.binary_search_by_key(&copy.sent.frame, |s| s.frame).is_ok_and(|i| suspects[i].next.is_none_or(|n| !n.1))
}
