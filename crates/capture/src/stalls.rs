//! Detects where a transfer stalled, and divides its time among the causes.
//!
//! Idea: the time between two data segments belongs to what the second had to wait for. The packets in between show it. A wait
//! longer than twice the round-trip time, or than a retransmission timer would take, is a stall (TAPO, Zhou et al. 2015). A
//! wait after the last segment is one, too, if the connection went on with data outstanding or with a closed window. Until the end
//! neither the place of the capture nor the threshold is known; so the longest waits are kept with all evidence of their cause.
//!
//! | module | content |
//! | --- | --- |
//! | `cause` | the cause from the evidence |
//! | `edges` | the right edge of the window, as the sender knew it |
//! | `ending` | the wait at the end, outages, and a peer that stays silent |
//! | `pace` | whether a retransmission has made the window smaller |
//! | `policer` | whether losses are a policer's |
//! | `words` | the evidence in sentences |

mod cause;
mod edges;
mod ending;
mod pace;
mod policer;
mod words;

use crate::place::Side;
use crate::seen::Seen;
use ackclock_course::stall::cause::{Cause, CAUSES};
use ackclock_tcp::segment::Segment;
use cause::cause;
use edges::Edges;
pub(crate) use ending::End;
use pace::Pace;
pub use pace::Window;
use policer::Losses;
pub use policer::Policer;

/// The number of waits of one way that are kept in full: the longest.
const KEPT: usize = 256;
/// A wait up to this length is part of sending: hosts' clocks and schedulers cause it, nanoseconds.
const SHORT: i64 = 1_000_000;
/// A wait up to this length is no stall, nanoseconds: hosts' clocks often tick no faster.
const TICK: i64 = 10_000_000;
/// The smallest variation in a retransmission timeout, nanoseconds. Source: Linux 6.18, `tcp_rto_min` (`TCP_RTO_MIN`), which
/// bounds the variation and not the timeout.
const RTO_MIN: i64 = 200_000_000;

/// The packets around a wait between two data segments.
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
    /// Whether no segment ended it: the connection did, or its capture. The frame `after` is then the connection's last.
    pub at_end: bool,
    /// Whether that segment begins below the highest byte captured.
    pub again: bool,
    /// Whether it is the last segment sent by then.
    pub last: bool,
    /// Whether the segment before the wait had PSH: its sender had written no more.
    pub pushed: bool,
    /// Whether that segment was shorter than a full one.
    pub short: bool,
    /// Whether the IPv4 identification of the segment that ended it is the next after that of the segment before it; `None`
    /// without identifications.
    pub next_id: Option<bool>,
    /// Bytes outstanding when the wait began.
    pub outstanding: u64,
    /// Bytes outstanding when it ended.
    pub flight: u64,
    /// Payload of a full segment as the SYNs announce it, or otherwise the largest so far, bytes.
    pub full: u32,
    /// Whether a retransmission has made the window smaller.
    pub sending: Window,
    /// When the other end had last been heard when it ended, nanoseconds.
    pub heard: Option<i64>,
    /// Room in the receiver's window when the wait began, bytes; `None` if the window is unknown.
    pub room: Option<u64>,
    /// Captured where the data arrive: room in the window that the sender knew when it sent the last segment before it, bytes.
    pub known_room: Option<u64>,
    /// The receiver's window when the wait began, bytes; 0 if it closed in the wait.
    pub window: Option<u64>,
    /// When everything was acknowledged, and the frame of that acknowledgment.
    pub all_acked: Option<(i64, u64)>,
    /// The last acknowledgment in the wait.
    pub last_ack: Option<(i64, u64)>,
    /// The frame that opened the closed window.
    pub opened: Option<u64>,
    /// Acknowledgments in it without a new acknowledgment number.
    pub duplicates: u32,
    /// The frame of the first data that the other end sent meanwhile.
    pub answer: Option<u64>,
    /// The frame of an acknowledgment of data that was never captured here.
    pub unseen: Option<u64>,
    /// The other end was never heard again, or only full segments were lost; found at the end.
    pub ending: Option<Cause>,
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

/// The stalls of one direction, and its time by cause.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The longest, in the order of time; at most 256.
    pub kept: Vec<Stall>,
    /// The number of stalls of each cause, in the order of [`CAUSES`], and their total length, nanoseconds.
    pub by_cause: [(u64, i64); CAUSES.len()],
    /// Longer waits are stalls, nanoseconds.
    pub threshold: i64,
    /// The time from the first data to the last acknowledgment of new data that was spent waiting for each cause, in the order of
    /// [`CAUSES`], nanoseconds.
    pub waits: [i64; CAUSES.len()],
    /// Time after that, by cause, nanoseconds.
    pub after: [i64; CAUSES.len()],
    /// The policer that its losses show, if they do.
    pub policer: Option<Policer>,
    /// The rest of that time: segments followed each other, or their last acknowledgment was on its way.
    pub sending: i64,
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

/// Waits that are not kept: stalls of each cause, their total length, and the total length of all waits, nanoseconds.
type Sums = [(u64, i64, i64); CAUSES.len()];

/// The data of one way and the acknowledgments of the other end, so far. The fields that every segment changes are together at
/// the beginning.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Stalls {
    max: u64,
    now: Since,
    una: u64,
    /// The first byte.
    start: u64,
    /// The number after the FIN, once it was sent.
    fin: u64,
    /// The smallest time from data to its acknowledgment, nanoseconds.
    answer: Option<i64>,
    timed: Option<(u64, i64)>,
    edge: Option<u64>,
    window: Option<u64>,
    /// Waits up to this length are part of sending, nanoseconds.
    least: i64,
    /// The round-trip time between the hosts, as known so far.
    round_trip: Option<i64>,
    /// When the other end was last heard.
    heard: Option<i64>,
    /// The first segment of the largest size.
    full: ending::Full,
    /// Payload of a full segment as the SYNs announce it, bytes; 0 if unknown.
    segment: u32,
    /// A round trip as far as it is known, nanoseconds; otherwise as long as can be.
    turn: i64,
    pace: Pace,
    edges: Edges,
    /// The total of the short waits that a retransmission made longer, while it was repaired and in a reduced window, nanoseconds.
    short: [i64; 2],
    /// From the first retransmission on.
    losses: Option<Box<Losses>>,
    /// The last times from data to its acknowledgment, nanoseconds.
    last_answers: [Option<i64>; 2],
    kept: Vec<Facts>,
    /// The waits that are not kept, for each side of the capture.
    shorter: Option<Box<[Sums; 3]>>,
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
    len: u32,
    id: Option<u16>,
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
    outstanding: u64,
    window: Option<u64>,
    all_acked: u64,
    all_acked_at: i64,
    opened: u64,
    answer: u64,
    unseen: u64,
}

impl Since {
    fn facts(&self) -> Facts {
        let frame = |number: u64| (number > 0).then_some(number);
        let room = self.edge.map(|e| e.saturating_sub(self.max));
        Facts {
            from: self.from,
            before: self.before,
            pushed: self.pushed,
            duplicates: self.duplicates,
            outstanding: self.outstanding,
            room: if self.closed { Some(0) } else { room },
            window: if self.closed { Some(0) } else { self.window },
            all_acked: frame(self.all_acked).map(|f| (self.all_acked_at, f)),
            last_ack: frame(self.last_ack).map(|f| (self.last_ack_at, f)),
            opened: frame(self.opened),
            answer: frame(self.answer),
            unseen: frame(self.unseen),
            ..Facts::default()
        }
    }
}

const SIDES: [Side; 3] = [Side::Sender, Side::Receiver, Side::Middle];

/// A longer wait is a stall, nanoseconds: the smaller of two round trips and a retransmission timeout (RFC 6298 §2.3).
fn threshold(round_trip: Option<i64>) -> i64 {
    round_trip.map_or(RTO_MIN, |rtt| rtt.saturating_add(rtt.min(RTO_MIN))).max(TICK)
}

impl Stalls {
    /// The next segment with data.
    #[inline(always)]
    pub fn data(&mut self, seen: &Seen) {
        let end = seen.seq.wrapping_add(u64::from(seen.len));
        if self.now.begun {
            let wait = seen.at.saturating_sub(self.now.from);
            // Almost no wait is long: this is tested first.
            if wait > self.least.max(SHORT) {
                self.long(seen, end);
                self.pace.short(seen.len, 0, self.una, &mut self.short);
            } else {
                self.pace.short(seen.len, wait, self.una, &mut self.short);
            }
        } else {
            self.now.begun = true;
            (self.una, self.max, self.start) = (seen.seq, seen.seq, seen.seq);
            self.turn = self.answer().unwrap_or(i64::MAX);
            self.pace.begin(seen.at, seen.seq);
        }
        if seen.at.saturating_sub(self.pace.from) > self.turn {
            self.pace.turn(seen.at, self.max, self.una);
        }
        if seen.len >= self.full.len {
            self.full.sent(seen.len, end);
        }
        if seen.seq >= self.max && self.timed.is_none() {
            self.timed = Some((end, seen.at));
        } else if seen.seq < self.max {
            self.timed = None;
            self.repair(seen);
        }
        if let Some(losses) = self.losses.as_deref_mut().filter(|_| end > self.max) {
            losses.sent(seen.at, end);
        }
        self.max = self.max.max(end);
        let now = &mut self.now;
        (now.from, now.before, now.pushed, now.answered) = (seen.at, seen.frame, seen.has(Segment::PSH), false);
        (now.len, now.id) = (seen.len, seen.id);
    }

    /// Data from below the highest byte was sent.
    #[cold]
    fn repair(&mut self, seen: &Seen) {
        self.pace.repair(self.max, self.una);
        let (start, now) = (self.start, (seen.at, self.max));
        let losses = self.losses.get_or_insert_with(|| Box::new(Losses::new(start, seen.seq, now)));
        losses.repaired(seen.at, seen.seq, seen.len, self.last_answers.iter().flatten().min().copied());
    }

    /// A FIN was sent.
    pub fn closed(&mut self, seen: &Seen) {
        self.fin = seen.end();
    }

    /// Whether the wait before this segment may depend on the round-trip time.
    #[inline(always)]
    pub(crate) fn asks(&self, seen: &Seen) -> bool {
        !self.now.begun || seen.at.saturating_sub(self.now.from) > SHORT
    }

    /// The round-trip time between the hosts, as far as it is known.
    pub fn know(&mut self, round_trip: Option<i64>) {
        self.round_trip = round_trip;
        self.least = round_trip.unwrap_or(0) / 4;
        self.turn = self.answer().unwrap_or(i64::MAX);
    }

    /// Payload of a full segment, bytes.
    pub(crate) fn full_segment(&mut self, bytes: u32) {
        self.segment = bytes;
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
        (now.edge, now.max, now.window, now.closed) = (self.edge, self.max, self.window, self.window == Some(0));
        now.outstanding = self.max.saturating_sub(self.una);
        (now.duplicates, now.all_acked, now.last_ack, now.unseen) = (0, 0, 0, 0);
        (now.opened, now.answer) = (0, 0);
        now.answered = true;
    }

    /// An acknowledgment of the other end. `shift` is its window scale, if known.
    #[inline(always)]
    pub fn ack(&mut self, seen: &Seen, shift: Option<u8>) {
        // A RST announces no window.
        let Some(ack) = seen.ack.filter(|_| self.now.begun && !seen.has(Segment::RST)) else { return };
        self.note();
        self.heard = Some(seen.at);
        let window = shift.map(|s| u64::from(seen.window) << s).or((seen.window == 0).then_some(0));
        if self.window == Some(0) && seen.window > 0 {
            self.now.opened = seen.frame;
        }
        self.window = window;
        if let Some(window) = window {
            let edge = self.edge.unwrap_or(0).max(ack.saturating_add(window));
            self.edge = Some(edge);
            self.edges.on(seen.at, edge, self.turn);
            self.now.closed |= window == 0;
        }
        (self.now.last_ack, self.now.last_ack_at) = (seen.frame, seen.at);
        if ack > self.max.max(self.fin) {
            self.now.unseen = if self.now.unseen == 0 { seen.frame } else { self.now.unseen };
            self.max = ack;
        }
        if ack > self.una {
            let repairs = self.pace.window(self.una) == Window::Repairs;
            self.una = ack;
            self.progress(seen.at, ack, repairs);
            if ack >= self.max {
                (self.now.all_acked, self.now.all_acked_at) = (seen.frame, seen.at);
            }
        } else if seen.len == 0 {
            self.now.duplicates += 1;
        }
        if seen.len > 0 && self.now.answer == 0 {
            self.now.answer = seen.frame;
        }
    }

    #[inline(always)]
    fn progress(&mut self, at: i64, ack: u64, repairs: bool) {
        if let Some((end, sent)) = self.timed.filter(|t| t.0 <= ack) {
            let took = at.saturating_sub(sent).max(0);
            self.answer = Some(self.answer.map_or(took, |a| a.min(took)));
            self.turn = self.answer().unwrap_or(i64::MAX);
            // An acknowledgment that waited for a hole to be filled is no round trip.
            if !repairs {
                self.last_answers = [Some(took), self.last_answers[0]];
            }
            self.timed = None;
            debug_assert!(end <= ack);
        }
    }

    /// The room that the sender knew when it sent the last segment: by ACKs that left a round trip before it arrived here.
    fn known_room(&self) -> Option<u64> {
        let edge = self.edges.at(self.now.from.saturating_sub(self.answer()?), self.edge?)?;
        Some(edge.saturating_sub(self.now.max))
    }

    fn full_size(&self) -> u32 {
        self.full.len.max(self.segment)
    }

    /// A wait that is not part of sending has ended.
    #[cold]
    #[inline(never)]
    fn long(&mut self, seen: &Seen, end: u64) {
        if seen.after_jump {
            return;
        }
        self.note();
        let facts = Facts {
            to: seen.at,
            after: seen.frame,
            seq: seen.seq,
            len: seen.len,
            short: self.now.len < self.full_size().max(seen.len),
            next_id: seen.id.zip(self.now.id).map(|(id, before)| id == before.wrapping_add(1)),
            full: self.full_size(),
            known_room: self.known_room(),
            sending: self.pace.window(self.una),
            heard: self.heard,
            again: seen.seq < self.max,
            last: end == self.max,
            flight: self.max.saturating_sub(self.una),
            ..self.now.facts()
        };
        // A wait that is no stall is only counted.
        if facts.length() <= threshold(self.answer()) {
            self.sum(&facts);
        } else if self.kept.len() < KEPT {
            self.kept.push(facts);
        } else if let Some((i, shortest)) = self.kept.iter().enumerate().min_by_key(|(_, f)| f.length()) {
            if shortest.length() < facts.length() {
                let out = self.kept.remove(i);
                self.kept.push(facts);
                self.sum(&out);
            } else {
                self.sum(&facts);
            }
        }
    }

    /// Counts a wait that is not kept, for each side of the capture.
    fn sum(&mut self, wait: &Facts) {
        let round_trip = self.answer();
        let is_stall = wait.length() > threshold(round_trip);
        for (side, sums) in SIDES.into_iter().zip(self.shorter.get_or_insert_default().iter_mut()) {
            let sum = &mut sums[cause(wait, side, round_trip) as usize];
            let stalled = if is_stall { wait.length() } else { 0 };
            *sum = (sum.0 + u64::from(is_stall), sum.1 + stalled, sum.2 + wait.length());
        }
    }

    /// The round-trip time so far, nanoseconds: between the hosts if it is known, else from here to the receiver.
    #[inline]
    pub fn answer(&self) -> Option<i64> {
        self.round_trip.or(self.answer)
    }
}

#[cfg(test)]
mod tests;
