//! Verdicts on a rewritten capture, compared with the truth.

use super::packets::Packet;
use crate::score::Point;
use ackclock_capture::place::Side;
use ackclock_capture::survey::{Survey, Surveyed};
use ackclock_capture::verdict::{Retransmission, Verdict};
use ackclock_capture::{Flows, Wanted, Way};
use ackclock_sim::fate;
use ackclock_trace::truth;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

/// Verdicts of one kind, and the wrong ones among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdicts {
    pub(crate) all: u64,
    pub(crate) wrong: u64,
}

impl Verdicts {
    fn one(right: bool) -> Verdicts {
        Verdicts { all: 1, wrong: u64::from(!right) }
    }

    /// The share that is right; `None` without any.
    pub(crate) fn precision(self) -> Option<f64> {
        (self.all > 0).then(|| 1.0 - self.wrong as f64 / self.all as f64)
    }
}

/// The verdicts in some captures of one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Captured retransmissions. Several that a device joined are one.
    pub(crate) all: u64,
    /// Sure verdicts: needed, refused, needless. A verdict on a packet that is no retransmission is a wrong one.
    pub(crate) sure: [Verdicts; 3],
    pub(crate) likely: Verdicts,
    /// Packets that may be retransmissions.
    pub(crate) suspected: Verdicts,
    pub(crate) undecided: u64,
    /// Retransmissions without a row.
    pub(crate) unlisted: u64,
    /// Packets that are no retransmissions, but are called some.
    pub(crate) invented: u64,
    /// Captures, those whose place was found, and those for which another was.
    pub(crate) captures: u64,
    pub(crate) placed: u64,
    pub(crate) misplaced: u64,
}

impl AddAssign for Verdicts {
    fn add_assign(&mut self, o: Verdicts) {
        self.all += o.all;
        self.wrong += o.wrong;
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, o: Tally) {
        self.all += o.all;
        self.sure.iter_mut().zip(o.sure).for_each(|(s, o)| *s += o);
        self.likely += o.likely;
        self.suspected += o.suspected;
        self.undecided += o.undecided;
        self.unlisted += o.unlisted;
        self.invented += o.invented;
        self.captures += o.captures;
        self.placed += o.placed;
        self.misplaced += o.misplaced;
    }
}

impl Tally {
    pub(crate) fn sure(&self) -> Verdicts {
        let mut sum = Verdicts::default();
        self.sure.iter().for_each(|s| sum += *s);
        sum
    }

    /// The share of the retransmissions that got the right verdict for sure.
    pub(crate) fn recall(&self) -> f64 {
        let sure = self.sure();
        if self.all == 0 {
            return 1.0;
        }
        (sure.all - sure.wrong) as f64 / self.all as f64
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |p: Option<f64>| p.map_or("-".to_owned(), |p| format!("{:.2} %", 100.0 * p));
        let Tally { all, likely, suspected, undecided, unlisted, invented, captures, placed, misplaced, .. } = self;
        let sure = self.sure();
        let wrong = self.sure.map(|s| s.wrong);
        write!(
            f,
            "{all} retransmissions; sure {} ({wrong:?} wrong), precision {}, recall {}; likely {} ({} wrong); suspected {} \
             ({} wrong); undecided {undecided}, unlisted {unlisted}, invented {invented}; placed {placed}, misplaced \
             {misplaced} of {captures}",
            sure.all,
            percent(sure.precision()),
            percent(Some(self.recall())),
            likely.all,
            likely.wrong,
            suspected.all,
            suspected.wrong,
        )
    }
}

/// A wrong verdict, for debugging.
#[derive(Clone, Debug)]
#[expect(dead_code, reason = "printed")]
pub(crate) struct Wrong {
    pub(crate) truth: Option<Verdict>,
    /// The packets of the simulated capture.
    pub(crate) frames: Vec<u64>,
    pub(crate) found: Retransmission,
}

fn survey(packets: &[Packet]) -> Vec<Surveyed> {
    let mut survey = Survey::new(Wanted { at: None, each: true, densities: false }, 10, None);
    let mut flows = Flows::new(&mut survey, 10);
    packets.iter().zip(1..).for_each(|(p, n)| flows.frame(&p.frame(n)));
    flows.finish();
    survey.finish().connections
}

fn named(verdict: fate::Verdict) -> Verdict {
    match verdict {
        fate::Verdict::Needed => Verdict::Needed,
        fate::Verdict::Refused => Verdict::Refused,
        fate::Verdict::Needless => Verdict::Needless,
    }
}

/// The truth about each packet: of several that were joined, the worst.
fn worst(packets: &[Packet], truth: &[truth::Retransmission], point: Point) -> BTreeMap<u64, Verdict> {
    let frame = |t: &truth::Retransmission| match point {
        Point::Sender | Point::Both => Some(t.sender_frame),
        Point::Receiver => t.receiver_frame,
        Point::Middle => t.middle_frame,
    };
    let known: BTreeMap<u64, Verdict> = truth.iter().filter_map(|t| Some((frame(t)?, named(t.verdict)))).collect();
    let of = |p: &Packet| p.frames.iter().filter_map(|f| known.get(f)).max().copied();
    packets.iter().zip(1..).filter_map(|(p, n)| Some((n, of(p)?))).collect()
}

/// Judges a capture.
pub(crate) fn judge(packets: &[Packet], truth: &[truth::Retransmission], point: Point) -> (Tally, Vec<Wrong>) {
    let found = survey(packets);
    let mut left = worst(packets, truth, point);
    let (mut tally, mut wrong) = (Tally { all: left.len() as u64, captures: 1, ..Tally::default() }, Vec::new());
    for connection in &found {
        let sends = |way: Way| connection.ends[way as usize].port() != 5_001;
        let way = if sends(Way::Out) { Way::Out } else { Way::Back };
        let expected = [Side::Sender, Side::Receiver, Side::Middle][point as usize];
        let (words, side) = (connection.record.place.words(way), connection.record.place.side(way));
        let known = words != "unknown";
        tally.placed += u64::from(known && side == expected);
        tally.misplaced += u64::from(known && side != expected);
    }
    let each = found.iter().flat_map(|c| &c.retransmissions);
    // A FIN alone is no data, but a probe must not be called a retransmission.
    for r in each.filter(|r| r.len > 1 || packets[r.frame as usize - 1].frames.is_empty()) {
        let truth = left.remove(&r.frame);
        let (verdict, right) = (r.judged.verdict, truth == Some(r.judged.verdict));
        tally.invented += u64::from(truth.is_none() && !r.suspected);
        match verdict {
            _ if r.suspected => tally.suspected += Verdicts::one(truth.is_some()),
            Verdict::Undecided => tally.undecided += u64::from(truth.is_some()),
            _ if r.judged.likely => tally.likely += Verdicts::one(right),
            Verdict::Needed => tally.sure[0] += Verdicts::one(right),
            Verdict::Refused => tally.sure[1] += Verdicts::one(right),
            Verdict::Needless => tally.sure[2] += Verdicts::one(right),
        }
        if !right && (verdict != Verdict::Undecided || truth.is_none()) {
            let frames = packets[r.frame as usize - 1].frames.clone();
            wrong.push(Wrong { truth, frames, found: *r });
        }
    }
    tally.unlisted = left.len() as u64;
    (tally, wrong)
}
