//! Detects where a transfer stalled, and why.
//!
//! Idea: a stall is a time without a data segment that is longer than the median round-trip time and longer than ten times the
//! median gap between segments, although the transfer continues after it. The packets in between show the cause. The threshold is
//! known only at the end, and so is the place of the capture; until then the longest gaps are kept with all evidence of their
//! cause.
//!
//! | module | content |
//! | --- | --- |
//! | `cause` | the cause from the evidence, in words |
//! | `gaps` | the median gap |

mod cause;
mod gaps;

use crate::place::Side;
use crate::seen::Seen;
use ackclock_course::stall::cause::{Cause, CAUSES};
use ackclock_tcp::segment::Segment;
use cause::cause;

use gaps::Gaps;

/// The number of stalls of one way that are kept in full: the longest.
const KEPT: usize = 256;
/// A gap up to this length is never kept, nanoseconds.
const SHORT: i64 = 1_000_000;
/// A stall is longer than this many median gaps.
const TIMES: i64 = 10;

/// The packets around a gap between two data segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// When the segments before and after it were captured, nanoseconds.
    pub from: i64,
    /// See `from`.
    pub to: i64,
    /// The frame before it.
    pub before: u64,
    /// The frame that ended it.
    pub after: u64,
    /// The first byte of the segment that ended it, unwrapped as in [`Seen::seq`], and its length in bytes.
    pub seq: u64,
    /// See `seq`.
    pub len: u32,
    /// Whether that segment was a retransmission.
    pub again: bool,
    /// Whether it is the last segment sent by then.
    pub last: bool,
    /// Whether the segment before the gap had PSH: its sender had written no more.
    pub pushed: bool,
    /// Bytes outstanding when the gap ended.
    pub flight: u64,
    /// Room in the receiver's window when the gap began, bytes; `None` if the window is unknown.
    pub room: Option<u64>,
    /// The receiver's window when the gap began, bytes; 0 if it closed in the gap.
    pub window: Option<u64>,
    /// When everything was acknowledged, and the frame of that acknowledgment.
    pub all_acked: Option<(i64, u64)>,
    /// The last acknowledgment in the gap.
    pub last_ack: Option<(i64, u64)>,
    /// Acknowledgments in it without a new acknowledgment number.
    pub duplicates: u32,
    /// The frame of an acknowledgment of data that was never captured here.
    pub unseen: Option<u64>,
}

impl Facts {
    /// Its length, nanoseconds.
    pub fn length(&self) -> i64 {
        self.to.saturating_sub(self.from)
    }
}

/// A stall with its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The evidence.
    pub facts: Facts,
    /// The cause.
    pub cause: Cause,
}

/// The stalls of one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The longest, in the order of time; at most 256.
    pub kept: Vec<Stall>,
    /// The number of stalls of each cause, in the order of [`CAUSES`], and their total length, nanoseconds.
    pub by_cause: [(u64, i64); CAUSES.len()],
    /// Longer gaps are stalls, nanoseconds.
    pub threshold: i64,
}

impl Found {
    /// The longest.
    pub fn longest(&self) -> Option<&Stall> {
        self.kept.iter().max_by_key(|s| (s.facts.length(), std::cmp::Reverse(s.facts.before)))
    }

    /// The number of stalls.
    pub fn count(&self) -> u64 {
        self.by_cause.iter().map(|c| c.0).sum()
    }
}

/// The number of stalls of each cause, and their total length, nanoseconds.
type ByCause = [(u64, i64); CAUSES.len()];

/// The data of one way and the acknowledgments of the other end, so far. The fields that every segment changes are together at
/// the beginning.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Stalls {
    gaps: Gaps,
    max: u64,
    now: Since,
    una: u64,
    /// The smallest time from data to its acknowledgment, nanoseconds.
    answer: Option<i64>,
    timed: Option<(u64, i64)>,
    edge: Option<u64>,
    window: Option<u64>,
    kept: Vec<Facts>,
    /// The counts of the shorter stalls, which are not kept, for each side of the capture.
    shorter: Option<Box<[ByCause; 3]>>,
}

/// The events since the last segment. A frame of 0 means none.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Since {
    from: i64,
    before: u64,
    /// Whether there was a segment.
    begun: bool,
    pushed: bool,
    /// Whether an acknowledgment has arrived; the following fields are then valid.
    answered: bool,
    /// Whether the window closed.
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
            // Almost no gap is longer than a round trip: this is tested first.
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

    /// Whether there were data.
    pub(crate) fn has_begun(&self) -> bool {
        self.now.begun
    }

    /// Records the state when the last segment was sent; called before the first acknowledgment after it.
    fn note(&mut self) {
        if self.now.answered {
            return;
        }
        let now = &mut self.now;
        (now.edge, now.max, now.window, now.closed) = (self.edge, self.max, self.window, false);
        (now.duplicates, now.all_acked, now.last_ack, now.unseen) = (0, 0, 0, 0);
        now.answered = true;
    }

    /// An acknowledgment of the other end. `shift` is its window scale, if known.
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
            let count = &mut counts[cause(&out, side, self.answer) as usize];
            *count = (count.0 + 1, count.1 + length);
        }
    }

    /// The smallest time from data to its acknowledgment so far, nanoseconds.
    #[inline]
    pub fn answer(&self) -> Option<i64> {
        self.answer
    }

    /// The results at the end, for this side of the data and this median round-trip time, nanoseconds.
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
            let cause = cause::cause(&facts, side, round_trip);
            let count = &mut found.by_cause[cause as usize];
            *count = (count.0 + 1, count.1 + facts.length());
            found.kept.push(Stall { facts, cause });
        }
        found
    }
}

#[cfg(test)]
mod tests;
