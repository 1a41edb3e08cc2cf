//! Verdicts compared with the truth.

use ackclock_capture::verdict::{Retransmission, Verdict};
use ackclock_capture::Way;
use ackclock_sim::fate;
use ackclock_trace::truth;
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// The place of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Point {
    Sender,
    Receiver,
    Middle,
    /// The sender's, together with the receiver's.
    Both,
}

impl Point {
    pub(crate) const ALL: [Point; 4] = [Point::Sender, Point::Receiver, Point::Middle, Point::Both];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Point::Sender => "sender",
            Point::Receiver => "receiver",
            Point::Middle => "middle",
            Point::Both => "both sides",
        }
    }
}

/// Counts of retransmissions that passed a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Score {
    pub(crate) all: u64,
    /// With a verdict other than "undecided".
    pub(crate) decided: u64,
    pub(crate) right: u64,
    /// Wrong, but not marked likely.
    pub(crate) wrong: u64,
    pub(crate) wrong_likely: u64,
    pub(crate) likely: u64,
    /// Not recognized as retransmissions.
    pub(crate) unseen: u64,
    /// Verdicts on packets that were not retransmissions.
    pub(crate) invented: u64,
    /// Truly needless, called needless, both.
    pub(crate) needless: u64,
    pub(crate) called: u64,
    pub(crate) found: u64,
}

impl AddAssign for Score {
    fn add_assign(&mut self, o: Score) {
        let add = |a: &mut u64, b: u64| *a += b;
        add(&mut self.all, o.all);
        add(&mut self.decided, o.decided);
        add(&mut self.right, o.right);
        add(&mut self.wrong, o.wrong);
        add(&mut self.wrong_likely, o.wrong_likely);
        add(&mut self.likely, o.likely);
        add(&mut self.unseen, o.unseen);
        add(&mut self.invented, o.invented);
        add(&mut self.needless, o.needless);
        add(&mut self.called, o.called);
        add(&mut self.found, o.found);
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        1.0
    } else {
        part as f64 / whole as f64
    }
}

impl Score {
    /// The share of needless verdicts that are correct.
    pub(crate) fn precision(&self) -> f64 {
        share(self.found, self.called)
    }

    /// The share of needless retransmissions that got this verdict.
    pub(crate) fn recall(&self) -> f64 {
        share(self.found, self.needless)
    }

    pub(crate) fn decided(&self) -> f64 {
        share(self.decided, self.all)
    }

    pub(crate) fn likely(&self) -> f64 {
        share(self.likely, self.all)
    }
}

/// A wrong verdict, for debugging.
#[derive(Clone, Debug)]
pub(crate) struct Wrong {
    pub(crate) truth: Option<truth::Retransmission>,
    pub(crate) found: Option<Retransmission>,
}

/// Compares the verdicts at one point with the truth.
pub(crate) fn score(truth: &[truth::Retransmission], found: &[Retransmission], point: Point) -> (Score, Vec<Wrong>) {
    // A FIN alone is not data.
    let judged = found.iter().filter(|r| r.way == Way::Out && r.len > 1);
    let mut judged: BTreeMap<u64, &Retransmission> = judged.map(|r| (r.frame, r)).collect();
    let (mut score, mut wrong) = (Score::default(), Vec::new());
    for t in truth {
        let frame = match point {
            Point::Sender | Point::Both => Some(t.sender_frame),
            Point::Receiver => t.receiver_frame,
            Point::Middle => t.middle_frame,
        };
        let Some(frame) = frame else { continue };
        let found = judged.remove(&frame);
        let one = against(t, found);
        if one.wrong + one.wrong_likely + one.unseen > 0 || one.decided == 0 {
            wrong.push(Wrong { truth: Some(*t), found: found.copied() });
        }
        score += one;
    }
    for found in judged.into_values() {
        score.invented += u64::from(found.judged.verdict != Verdict::Undecided && !found.judged.likely);
        wrong.push(Wrong { truth: None, found: Some(*found) });
    }
    (score, wrong)
}

fn against(t: &truth::Retransmission, found: Option<&Retransmission>) -> Score {
    let truth = match t.verdict {
        fate::Verdict::Needed => Verdict::Needed,
        fate::Verdict::Refused => Verdict::Refused,
        fate::Verdict::Needless => Verdict::Needless,
    };
    let needless = u64::from(truth == Verdict::Needless);
    let Some(found) = found else { return Score { all: 1, unseen: 1, needless, ..Score::default() } };
    let (verdict, likely) = (found.judged.verdict, found.judged.likely);
    let (decided, right) = (verdict != Verdict::Undecided, verdict == truth);
    let called = verdict == Verdict::Needless;
    Score {
        all: 1,
        decided: u64::from(decided),
        right: u64::from(right),
        wrong: u64::from(decided && !right && !likely),
        wrong_likely: u64::from(decided && !right && likely),
        likely: u64::from(likely),
        needless,
        called: u64::from(called),
        found: u64::from(called && right),
        ..Score::default()
    }
}
