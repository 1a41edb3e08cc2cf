//! Verdicts compared with the truth.

use ackclock_capture::verdict::{Retransmission, Verdict};
use ackclock_capture::{Seen, Way};
use ackclock_sim::fate;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The frames of data that begins below the highest byte that had passed.
fn below_the_highest(seen: &[Seen]) -> BTreeSet<u64> {
    let mut top = 0;
    let data = seen.iter().filter(|s| s.way == Way::Out && s.len > 0);
    let below = data.filter(|s| {
        let below = s.seq < top;
        top = top.max(s.end());
        below
    });
    below.map(|s| s.frame).collect()
}

/// Counts, and the wrong verdicts in words.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) all: u32,
    pub(crate) right: u32,
    /// Wrong, but not marked as a guess.
    pub(crate) wrong: u32,
    pub(crate) likely: u32,
    pub(crate) unknown: u32,
    /// Retransmissions that were not recognized.
    pub(crate) unlisted: u32,
    /// Those of them that a plain reader recognizes: bytes of them, or of later data, had passed.
    pub(crate) overlooked: u32,
    /// Segments mistaken for retransmissions, and the number of these mistakes not marked as guesses.
    pub(crate) extra: u32,
    pub(crate) invented: u32,
    /// Needless retransmissions: the true number, the number found, and the number called needless.
    pub(crate) needless: u32,
    found: u32,
    called: u32,
    words: Vec<String>,
}

impl Tally {
    /// Adds the verdicts `got` of one run, by frame; `frames` are the frames of the retransmissions that this capture
    /// has.
    pub(crate) fn add(
        &mut self,
        path: &str,
        truth: &[fate::Verdict],
        frames: impl Iterator<Item = Option<u64>>,
        seen: &[Seen],
        got: &BTreeMap<u64, Retransmission>,
    ) {
        let mut listed = BTreeSet::new();
        let below = below_the_highest(seen);
        for (t, frame) in truth.iter().zip(frames) {
            let Some(frame) = frame else { continue };
            let one = got.get(&frame);
            listed.insert(frame);
            self.overlooked += u32::from(one.is_none() && below.contains(&frame));
            self.one(path, frame, *t, one);
        }
        for (_, extra) in got.iter().filter(|(frame, _)| !listed.contains(*frame)) {
            self.extra += 1;
            self.invented += u32::from(!extra.judged.likely);
        }
    }

    fn one(&mut self, path: &str, frame: u64, truth: fate::Verdict, got: Option<&Retransmission>) {
        let truth = match truth {
            fate::Verdict::Needless => Verdict::Needless,
            fate::Verdict::Refused => Verdict::Refused,
            fate::Verdict::Needed => Verdict::Needed,
        };
        self.all += 1;
        self.needless += u32::from(truth == Verdict::Needless);
        let Some(got) = got else {
            self.unlisted += 1;
            return;
        };
        let judged = &got.judged;
        self.likely += u32::from(judged.likely);
        self.called += u32::from(judged.verdict == Verdict::Needless);
        if judged.verdict == Verdict::Undecided {
            self.unknown += 1;
        } else if judged.verdict == truth {
            self.right += 1;
            self.found += u32::from(truth == Verdict::Needless);
        } else {
            self.wrong += u32::from(!judged.likely);
            self.words.push(format!("{path}, frame {frame}: {}, but {}", truth.name(), judged.words()));
        }
    }

    /// The share of needless verdicts that are correct.
    pub(crate) fn precision(&self) -> f64 {
        f64::from(self.found) / f64::from(self.called)
    }

    /// The share of needless retransmissions that were found.
    pub(crate) fn recall(&self) -> f64 {
        f64::from(self.found) / f64::from(self.needless)
    }

    /// The share that is marked as a guess.
    pub(crate) fn guessed(&self) -> f64 {
        f64::from(self.likely) / f64::from(self.all)
    }

    /// The share with a verdict.
    pub(crate) fn decided(&self) -> f64 {
        1.0 - f64::from(self.unknown + self.unlisted) / f64::from(self.all)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} retransmissions: {} right, {} wrong, {} likely, {} undecided, {} not listed ({} overlooked), {} extra ({} of them not as a guess); needless {}, found {}, called {}",
            self.all, self.right, self.wrong, self.likely, self.unknown, self.unlisted, self.overlooked, self.extra, self.invented, self.needless, self.found, self.called
        )?;
        self.words.iter().take(20).try_for_each(|w| writeln!(f, "  {w}"))
    }
}
