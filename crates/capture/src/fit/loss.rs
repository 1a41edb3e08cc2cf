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

#[cfg(test)]
mod tests {
    use super::super::points::tests::{once, points};
    use super::super::points::Point;
    use super::*;

    fn fitted(fates: impl IntoIterator<Item = Fate>) -> Loss {
        let all = (0..).zip(fates).map(|(i, fate)| Point { fate, ..once(i * 100, i * 100 + 50_000) }).collect();
        fit(&points(all, &[50_000]), &Full(None), 0.0)
    }

    #[test]
    fn losses_that_are_unknown_count_in_the_proportion_of_those_that_are_known() {
        // 10 of the 20 known ones were lost, so 2 of the 4 unknown ones.
        let all = [(10, Fate::Lost), (10, Fate::Needless), (4, Fate::Open), (76, Fate::Once)];
        let loss = fitted(all.into_iter().flat_map(|(n, fate)| [fate].repeat(n)));
        assert_eq!((loss.lost, loss.share.value), (10, 0.12));
    }

    #[test]
    fn losses_in_a_row_that_chance_does_not_explain_are_bursts_of_their_own_length() {
        let burst = |i: usize| if i % 100 < 5 { Fate::Lost } else { Fate::Once };
        let bursts = fitted((0..1000).map(burst)).bursts.expect("ten times five in a row");
        assert_eq!((bursts.turns_bad, bursts.turns_good), (10.0 / 950.0, 0.2));
        let single = |i: usize| if i.is_multiple_of(20) { Fate::Lost } else { Fate::Once };
        assert_eq!(fitted((0..1000).map(single)).bursts, None, "as many, but none after another");
    }
}
