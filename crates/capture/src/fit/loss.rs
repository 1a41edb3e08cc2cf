//! Losses without a full queue: single ones, or bursts (Gilbert–Elliott).

use super::estimate::{around_share, Estimate};
use super::log::Fate;
use super::points::Points;
use super::queue::Full;

/// Consecutive losses must exceed chance by this many standard deviations to count as bursts.
const SURELY: f64 = 4.0;

/// Losses on the path.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The share of packets lost without meeting a full queue.
    pub share: Estimate,
    /// Their number.
    pub lost: u64,
    /// Bursts, if consecutive losses are more frequent than chance would allow.
    pub bursts: Option<Bursts>,
}

/// A channel with a good and a bad state, as in the element `gilbert-elliott`; the bad state loses
/// everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// The probability that it turns bad after a packet.
    pub turns_bad: f64,
    /// The probability that it turns good again.
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
    let how = format!("{lost:.0} of {sent:.0} packets that met no full queue, and {open:.0} that may have");
    Loss { share: Estimate::measured(value, (low, high), how), lost: lost as u64, bursts }
}
