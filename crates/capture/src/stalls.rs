//! Where a transfer stood still, and why.
//!
//! Idea: a stall is a time without a segment of data that is longer than the median round trip and than ten times the median gap
//! between segments, though the transfer goes on after it. What came in between tells the cause. How long is long is known only at the
//! end, and so is where the capture was made; until then the longest gaps are kept with all that tells their cause.
//!
//! | module | what |
//! | --- | --- |
//! | [`cause`] | from what was seen to a cause, in words |
//! | `gaps` | the median gap |

pub mod cause;
mod gaps;

use crate::place::Side;
use crate::seen::Seen;
use ackclock_tcp::segment::Segment;
use cause::{Cause, CAUSES};
use gaps::Gaps;

/// How many stalls of one way are kept in full, the longest.
const KEPT: usize = 256;
/// A gap up to this is never kept, nanoseconds.
const SHORT: i64 = 1_000_000;
/// How many median gaps a stall is longer than.
const TIMES: i64 = 10;

/// What was seen around a gap between two segments with data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// When the segment before it was captured, and the one that ended it, nanoseconds.
    pub from: i64,
    /// See `from`.
    pub to: i64,
    /// The frame before it.
    pub before: u64,
    /// The frame that ended it.
    pub after: u64,
    /// The first byte of the segment that ended it, unwrapped as in [`Seen::seq`], and its bytes.
    pub seq: u64,
    /// See `seq`.
    pub len: u32,
    /// That segment had been sent before.
    pub again: bool,
    /// It is the last one that had been sent.
    pub last: bool,
    /// The segment before the gap had PSH: its sender had written no more.
    pub pushed: bool,
    /// Bytes outstanding when the gap ended.
    pub flight: u64,
    /// Bytes the receiver's window had room for when the gap began, if the window is known.
    pub room: Option<u64>,
    /// The receiver's window when the gap began, bytes; 0 if it closed in the gap.
    pub window: Option<u64>,
    /// When all had been acknowledged, and the frame that did it.
    pub all_acked: Option<(i64, u64)>,
    /// The last acknowledgment in the gap.
    pub last_ack: Option<(i64, u64)>,
    /// Acknowledgments in it that acknowledged nothing new by their number.
    pub duplicates: u32,
    /// The frame of an acknowledgment of data that never came by here.
    pub unseen: Option<u64>,
}

impl Facts {
    /// How long it was, nanoseconds.
    pub fn length(&self) -> i64 {
        self.to.saturating_sub(self.from)
    }
}

/// A stall with its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// What was seen.
    pub facts: Facts,
    /// Why it was.
    pub cause: Cause,
}

/// The stalls of one way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The longest in the order of time; at most 256.
    pub kept: Vec<Stall>,
    /// How many there were of each cause, in the order of [`CAUSES`], and how long they took together, nanoseconds.
    pub by_cause: [(u64, i64); CAUSES.len()],
    /// What is longer than this is a stall, nanoseconds.
    pub threshold: i64,
}

impl Found {
    /// The longest.
    pub fn longest(&self) -> Option<&Stall> {
        self.kept.iter().max_by_key(|s| (s.facts.length(), std::cmp::Reverse(s.facts.before)))
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.by_cause.iter().map(|c| c.0).sum()
    }
}

/// How many there were of each cause, and how long they took together, nanoseconds.
type ByCause = [(u64, i64); CAUSES.len()];

/// The data of one way and what the other end answers, so far. What every segment changes lies together at the beginning.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Stalls {
    gaps: Gaps,
    max: u64,
    now: Since,
    una: u64,
    /// The smallest time from data to their acknowledgment, nanoseconds.
    answer: Option<i64>,
    timed: Option<(u64, i64)>,
    edge: Option<u64>,
    window: Option<u64>,
    kept: Vec<Facts>,
    /// What was too much to keep, by the side from which it is seen.
    shorter: Option<Box<[ByCause; 3]>>,
}

/// What has been seen since the last segment. A frame of 0 is none.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Since {
    from: i64,
    before: u64,
    /// There was one.
    begun: bool,
    pushed: bool,
    /// An acknowledgment has come, and what follows holds.
    answered: bool,
    /// The window closed.
    closed: bool,
    duplicates: u32,
    last_ack: u64,
    last_ack_at: i64,
    /// The right edge of the window when the segment left.
    edge: Option<u64>,
    max: u64,
    window: Option<u64>,
    all_acked: u64,
    all_acked_at: i64,
    unseen: u64,
}

impl Since {
    fn facts(&self) -> Facts {
        let frame = |number: u64, at: i64| (number > 0).then_some((at, number));
        let room = self.edge.map(|e| e.saturating_sub(self.max));
        Facts {
            from: self.from,
            before: self.before,
            pushed: self.pushed,
            duplicates: self.duplicates,
            room: if self.closed { Some(0) } else { room },
            window: if self.closed { Some(0) } else { self.window },
            all_acked: frame(self.all_acked, self.all_acked_at),
            last_ack: frame(self.last_ack, self.last_ack_at),
            unseen: (self.unseen > 0).then_some(self.unseen),
            ..Facts::default()
        }
    }
}

const SIDES: [Side; 3] = [Side::Sender, Side::Receiver, Side::Middle];

impl Stalls {
    /// The next segment with data.
    #[inline(always)]
    pub fn data(&mut self, seen: &Seen) {
        let end = seen.seq.wrapping_add(u64::from(seen.len));
        if self.now.begun {
            let gap = seen.at.saturating_sub(self.now.from);
            self.gaps.add(gap);
            // Nearly none is longer than a round trip: that is asked at once.
            if gap > self.answer.unwrap_or(0).max(SHORT) {
                self.long(seen, end);
            }
        } else {
            self.now.begun = true;
            (self.una, self.max) = (seen.seq, seen.seq);
        }
        if seen.seq >= self.max && self.timed.is_none() {
            self.timed = Some((end, seen.at));
        } else if seen.seq < self.max {
            self.timed = None;
        }
        self.max = self.max.max(end);
        let now = &mut self.now;
        (now.from, now.before, now.pushed, now.answered) = (seen.at, seen.frame, seen.has(Segment::PSH), false);
    }

    /// What was known when the last segment left: noted before the first acknowledgment that comes after it.
    fn note(&mut self) {
        if self.now.answered {
            return;
        }
        let now = &mut self.now;
        (now.edge, now.max, now.window, now.closed) = (self.edge, self.max, self.window, false);
        (now.duplicates, now.all_acked, now.last_ack, now.unseen) = (0, 0, 0, 0);
        now.answered = true;
    }

    /// An acknowledgment of the other end. `shift` is the scale of its window, if known.
    #[inline(always)]
    pub fn ack(&mut self, seen: &Seen, shift: Option<u8>) {
        let Some(ack) = seen.ack.filter(|_| self.now.begun) else { return };
        self.note();
        let window = shift.map(|s| u64::from(seen.window) << s).or((seen.window == 0).then_some(0));
        self.window = window;
        if let Some(window) = window {
            self.edge = Some(self.edge.unwrap_or(0).max(ack.saturating_add(window)));
            self.now.closed |= window == 0;
        }
        (self.now.last_ack, self.now.last_ack_at) = (seen.frame, seen.at);
        if ack > self.max {
            self.now.unseen = if self.now.unseen == 0 { seen.frame } else { self.now.unseen };
            self.max = ack;
        }
        if ack > self.una {
            self.una = ack;
            self.progress(seen.at, ack);
            if ack >= self.max {
                (self.now.all_acked, self.now.all_acked_at) = (seen.frame, seen.at);
            }
        } else if seen.len == 0 {
            self.now.duplicates += 1;
        }
    }

    #[inline(always)]
    fn progress(&mut self, at: i64, ack: u64) {
        if let Some((end, sent)) = self.timed.filter(|t| t.0 <= ack) {
            let took = at.saturating_sub(sent).max(0);
            self.answer = Some(self.answer.map_or(took, |a| a.min(took)));
            self.timed = None;
            debug_assert!(end <= ack);
        }
    }

    /// A gap that may be a stall has ended.
    #[cold]
    #[inline(never)]
    fn long(&mut self, seen: &Seen, end: u64) {
        self.note();
        let facts = Facts {
            to: seen.at,
            after: seen.frame,
            seq: seen.seq,
            len: seen.len,
            again: seen.seq < self.max,
            last: end == self.max,
            flight: self.max.saturating_sub(self.una),
            ..self.now.facts()
        };
        let length = facts.length();
        if length <= self.gaps.median().saturating_mul(TIMES) {
            return;
        }
        if self.kept.len() < KEPT {
            self.kept.push(facts);
            return;
        }
        let Some((i, shortest)) = self.kept.iter().enumerate().min_by_key(|(_, f)| f.length()) else { return };
        let (out, length) = if shortest.length() < length { (*shortest, shortest.length()) } else { (facts, length) };
        if out != facts {
            self.kept.remove(i);
            self.kept.push(facts);
        }
        for (side, counts) in SIDES.into_iter().zip(self.shorter.get_or_insert_default().iter_mut()) {
            let count = &mut counts[Cause::of(&out, side, self.answer) as usize];
            *count = (count.0 + 1, count.1 + length);
        }
    }

    /// The smallest time from data to their acknowledgment so far, nanoseconds.
    #[inline]
    pub fn answer(&self) -> Option<i64> {
        self.answer
    }

    /// What is known at the end, seen from this side of the data, with this median round trip, nanoseconds.
    pub fn finish(self, side: Side, round_trip: Option<i64>) -> Found {
        let round_trip = round_trip.or(self.answer);
        let threshold = round_trip.unwrap_or(0).max(self.gaps.median().saturating_mul(TIMES)).max(SHORT);
        let index = SIDES.iter().position(|s| *s == side).unwrap_or(2);
        let mut found = Found {
            kept: Vec::new(),
            by_cause: self.shorter.map_or_else(Default::default, |counts| counts[index]),
            threshold,
        };
        for facts in self.kept.into_iter().filter(|f| f.length() > threshold) {
            let cause = Cause::of(&facts, side, round_trip);
            let count = &mut found.by_cause[cause as usize];
            *count = (count.0 + 1, count.1 + facts.length());
            found.kept.push(Stall { facts, cause });
        }
        found
    }
}

#[cfg(test)]
mod tests;
