//! Losses that no full queue explains: singly, or in bursts (Gilbert–Elliott).

use super::estimate::{around_share, Estimate};
use super::log::Fate;
use super::points::Points;
use super::queue::Full;

/// Losses that follow each other must exceed chance by so many standard deviations to be bursts.
const SURELY: f64 = 4.0;

/// How packets are lost on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// Of the packets that met no full queue, the share that was lost.
    pub share: Estimate,
    /// How many were.
    pub lost: u64,
    /// Whether they were lost one after the other more often than chance would have it.
    pub bursts: Option<Bursts>,
}

/// A channel that is good or bad, as the element `gilbert-elliott` has it; a bad one loses all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// Probability with which it turns bad after a packet.
    pub turns_bad: f64,
    /// Probability with which it turns good again.
    pub turns_good: f64,
}

pub(crate) fn fit(points: &Points, full: &Full, spread: f64) -> Loss {
    let (mut sent, mut lost, mut open, mut runs, mut pairs) = (0.0f64, 0.0f64, 0.0f64, 0.0f64, 0.0f64);
    let mut arrived = 0.0f64;
    let mut before = false;
    for (i, p) in points.all.iter().enumerate() {
        if full.0.is_some_and(|level| points.local_excess(i, spread) >= level) {
            before = false;
            continue;
        }
        sent += 1.0;
        match p.fate {
            Fate::Once => {}
            Fate::Needless | Fate::Refused => arrived += 1.0,
            Fate::Open => open += 1.0,
            Fate::Lost => {
                lost += 1.0;
                let counted = if before { &mut pairs } else { &mut runs };
                *counted += 1.0;
            }
        }
        before = p.fate == Fate::Lost;
    }
    let known = lost + arrived;
    let value = (lost + if known > 0.0 { open * lost / known } else { open / 2.0 }) / sent.max(1.0);
    let (low, high) = (around_share(lost, sent).0, around_share(lost + open, sent).1);
    let by_chance = lost * lost / sent.max(1.0);
    let bursts = (pairs >= 3.0 && pairs > by_chance + SURELY * (by_chance + 1.0).sqrt())
        .then(|| Bursts { turns_bad: (runs / (sent - lost).max(1.0)).min(1.0), turns_good: (runs / lost).min(1.0) });
    let how = format!("{lost:.0} of {sent:.0} packets that met no full queue, and {open:.0} of which it does not show");
    Loss { share: Estimate::measured(value, (low, high), how), lost: lost as u64, bursts }
}
