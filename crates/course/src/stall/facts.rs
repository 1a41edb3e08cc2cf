//! What the course of a run says about one pause, before it becomes words.

use super::cause::{Cause, FEW};
use super::pauses::{Pause, Transit};
use crate::flow::Course;
use crate::tables::{Acks, Fate, Mark, Verdict};
use ackclock_tcp::event::{Phase, Slot};
use std::collections::HashSet;
use std::ops::Range;

/// A transmission of the segment for which both ends wait.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Copy {
    /// Row in `sends`.
    pub(super) row: usize,
    pub(super) time: f64,
    pub(super) sends: u8,
    pub(super) by: u8,
    pub(super) fate: u8,
    pub(super) fate_time: f64,
    /// The place of its drop, in words.
    pub(super) place: String,
    pub(super) needless: bool,
}

impl Copy {
    pub(super) fn is(&self, fate: Fate) -> bool {
        self.fate == fate as u8
    }
}

/// An expiry of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timeout {
    pub(super) time: f64,
    /// The number of earlier back-offs of the timer.
    pub(super) backoff: f64,
    /// The timer's setting, seconds.
    pub(super) rto: Option<f64>,
    /// The ACK or transmission that set it, if exactly this time has passed since one.
    pub(super) set_by: Option<f64>,
}

/// A tail loss probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Probe {
    pub(super) time: f64,
    /// Row in `sends`.
    pub(super) row: usize,
    /// The number of the segment that it sent again; `None` for new data.
    pub(super) segment: Option<u64>,
}

/// What is known about a pause.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Facts {
    pub(super) pause: Pause,
    /// The number of the awaited segment among the stream's full segments, from 1.
    pub(super) segment: u64,
    pub(super) copies: Vec<Copy>,
    pub(super) transit: Transit,
    /// When the ACK that ended the pause was sent; `None` at the end of the run.
    pub(super) acked: Option<f64>,
    /// Data packets sent after the first copy that arrived before it.
    pub(super) overtaken: u64,
    /// First transmissions outstanding when the pause began, the first copy included, and how many of them were dropped.
    pub(super) outstanding: u64,
    pub(super) lost: u64,
    /// The phase when the pause began, after the ACK that began it, and before that ACK.
    pub(super) phase: Phase,
    pub(super) phase_before: Phase,
    /// Duplicate ACKs until the first response: a fast retransmit, a timeout, or the end.
    pub(super) duplicates: u64,
    /// Arrival of the last of them; the beginning of the pause if there was none.
    pub(super) last_duplicate: f64,
    /// Duplicates that mean a loss; `None` for a sender that does not count them.
    pub(super) dupthresh: Option<f64>,
    /// Segments sent behind the first copy that arrived in time to cause duplicates.
    pub(super) behind: u64,
    /// New segments sent during the pause, and how many of them `disorder` requested.
    pub(super) fresh: u64,
    pub(super) limited: u64,
    /// When a fast recovery began in the pause.
    pub(super) recovery: Option<f64>,
    pub(super) probes: Vec<Probe>,
    pub(super) timeouts: Vec<Timeout>,
    /// The window and the outstanding data just before the first timeout or the end, in segments.
    pub(super) cwnd: Option<f64>,
    pub(super) inflation: f64,
    pub(super) flight: f64,
    pub(super) pipe: Option<f64>,
    pub(super) rwnd: Option<f64>,
    /// Retransmissions in the pause, and how many were needless.
    pub(super) again: u64,
    pub(super) needless: u64,
    /// Dropped ACKs that would have ended it.
    pub(super) lost_acks: u64,
    /// Segments that the ACK at its end covers; 0 at the end of the run.
    pub(super) covered: f64,
    /// When an episode of the pause was found to be a mistake, and whether the window was restored.
    pub(super) mistake: Option<(f64, bool)>,
}

impl Facts {
    /// The facts of a pause. `full` is the flow's [`full_segment`]; `place` names what dropped the packet in a row of `sends`.
    pub(super) fn of(
        course: &Course,
        transit: Transit,
        full: f64,
        pause: Pause,
        place: &dyn Fn(usize) -> String,
    ) -> Self {
        let of = Of { course, pause };
        let Course { sends, acks, windows, .. } = course;
        let copies = of.copies(place);
        let first = copies.first();
        let size = first.map_or(full, |c| f64::from(sends.len[c.row]));
        let timeouts = of.timeouts();
        let recovery = of.recovery();
        // The first response, and the moment until which nothing but ACKs had an effect.
        let quiet = timeouts.first().map_or(pause.to, |t| t.time);
        let answer = f64::min(recovery.unwrap_or(pause.to), quiet);
        let mut same = arrivals(acks, pause.from, answer);
        // The ACK that arrived at the instant of the response, if any: the sender reacted to it.
        same.extend(after(acks, answer).checked_sub(1).filter(|i| acks.time[*i] == answer));
        same.retain(|i| acks.ack[*i] == pause.una);
        let last = arrivals(acks, pause.from, quiet).last().copied().or(after(acks, pause.from).checked_sub(1));
        let reported = |value: fn(&Acks, usize) -> f64| {
            last.map(|i| value(acks, i)).filter(|bytes| bytes.is_finite()).map(|bytes| bytes / size)
        };
        let window = windows.time.count_until(quiet, true).checked_sub(1);
        let (outstanding, lost) = of.outstanding(first);
        let (behind, fresh, limited) = of.sent_meanwhile(first, answer, transit.ack);
        let (again, needless) = of.resent();
        let before_timeout = Some(answer) == timeouts.first().map(|t| t.time);
        let dupthresh = course.dupthresh.at(answer, before_timeout).or(course.dupthresh.value.first().copied());
        Facts {
            pause,
            segment: number(pause.una, full),
            transit,
            acked: pause.ended.map(|i| acks.sent[i]),
            overtaken: first.map_or(0, |first| of.overtakers(first)),
            outstanding,
            lost,
            phase: of.phase(false),
            phase_before: of.phase(true),
            duplicates: same.iter().map(|i| u64::from(acks.dup_run[*i])).max().unwrap_or(0),
            last_duplicate: same.last().map_or(pause.from, |i| acks.time[*i]),
            dupthresh,
            behind,
            fresh,
            limited,
            recovery,
            probes: of.probes(full),
            timeouts,
            cwnd: window.map(|i| windows.cwnd[i] / size),
            inflation: course.inflation.at(quiet, true).unwrap_or(0.0) / size,
            flight: (of.highest(quiet) - pause.una) / size,
            pipe: reported(|acks, i| acks.pipe[i]),
            rwnd: reported(|acks, i| acks.rwnd[i]),
            again,
            needless,
            lost_acks: of.lost_acks(),
            covered: pause.ended.map_or(0.0, |i| (acks.ack[i] - pause.una) / size),
            mistake: of.mistake(),
            copies,
        }
    }

    /// The cause.
    pub(super) fn cause(&self) -> Cause {
        let fired = !self.timeouts.is_empty();
        // A copy that had arrived before the timer fired was all that was missing.
        let repaired = |c: &Copy| c.is(Fate::Delivered) && self.timeouts.first().is_some_and(|t| c.fate_time < t.time);
        let Some((first, later)) = self.copies.split_first() else { return Cause::Delay };
        if first.is(Fate::Dropped) {
            return if later.iter().any(|c| c.is(Fate::Dropped)) {
                Cause::LostRetransmission
            } else if later.iter().any(repaired) {
                Cause::Loss
            } else if fired && self.duplicates == 0 && self.outstanding < FEW {
                Cause::TailLoss
            } else if fired {
                Cause::Timeout
            } else if self.probes.is_empty() {
                Cause::Loss
            } else {
                Cause::LossProbe
            };
        }
        if first.is(Fate::Refused) {
            Cause::Refusal
        } else if self.lost_acks > 0 && first.fate_time < self.pause.to {
            Cause::LostAcks
        } else if fired {
            Cause::NeedlessTimeout
        } else {
            Cause::Delay
        }
    }
}

/// The size of a flow's full segment: the largest that was sent, bytes.
pub(super) fn full_segment(course: &Course) -> f64 {
    course.sends.len.iter().copied().max().map_or(1.0, |len| f64::from(len.max(1)))
}

/// The number of the segment at this offset among full segments, from 1.
fn number(offset: f64, full: f64) -> u64 {
    ((offset - 1.0) / full) as u64 + 1
}

/// When an ACK arrived; when it was sent, if it was dropped. ACKs are in this order.
fn place_in_order(acks: &Acks, row: usize) -> f64 {
    if acks.dropped[row] == 1 {
        acks.sent[row]
    } else {
        acks.time[row]
    }
}

/// The first row whose place in the order is after `time`.
fn after(acks: &Acks, time: f64) -> usize {
    let (mut low, mut high) = (0, acks.time.len());
    while low < high {
        let middle = (low + high) / 2;
        if place_in_order(acks, middle) <= time {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Rows of the ACKs that arrived after `from` and before `to`.
fn arrivals(acks: &Acks, from: f64, to: f64) -> Vec<usize> {
    let rows = (after(acks, from)..acks.time.len()).take_while(|i| place_in_order(acks, *i) < to);
    rows.filter(|i| acks.dropped[*i] == 0 && acks.time[*i] > from).collect()
}

/// One pause of a course.
struct Of<'a> {
    course: &'a Course,
    pause: Pause,
}

impl Of<'_> {
    fn end(&self, row: usize) -> f64 {
        self.course.sends.seq[row] + f64::from(self.course.sends.len[row])
    }

    /// Rows of `sends` from this one to the last one at `time`; with `before`, to the last one before it.
    fn rows(&self, from: usize, time: f64, before: bool) -> Range<usize> {
        from..self.course.sends.time.count_until(time, before)
    }

    /// The first row after the beginning of the pause.
    fn begins(&self) -> usize {
        self.course.sends.time.count_until(self.pause.from, false)
    }

    /// Every transmission of the awaited segment, up to the end.
    fn copies(&self, place: &dyn Fn(usize) -> String) -> Vec<Copy> {
        let sends = &self.course.sends;
        let mut copies = Vec::new();
        for row in (0..sends.time.count_until(self.pause.to, false)).rev() {
            if sends.seq[row] > self.pause.una || self.end(row) <= self.pause.una {
                continue;
            }
            let dropped = sends.fate[row] == Fate::Dropped as u8;
            copies.push(Copy {
                row,
                time: sends.time[row],
                sends: sends.sends[row],
                by: sends.by[row],
                fate: sends.fate[row],
                fate_time: sends.fate_time[row],
                place: if dropped { place(row) } else { String::new() },
                needless: sends.verdict[row] == Verdict::Needless as u8,
            });
            if sends.sends[row] == 1 {
                break;
            }
        }
        copies.reverse();
        copies
    }

    /// The number of packets sent later that arrived before this one.
    fn overtakers(&self, first: &Copy) -> u64 {
        let sends = &self.course.sends;
        if !first.is(Fate::Delivered) {
            return 0;
        }
        let later = self.rows(first.row + 1, first.fate_time, true);
        later.filter(|i| sends.fate[*i] == Fate::Delivered as u8 && sends.fate_time[*i] < first.fate_time).count()
            as u64
    }

    fn outstanding(&self, first: Option<&Copy>) -> (u64, u64) {
        let sends = &self.course.sends;
        let (mut outstanding, mut lost) = (0, 0);
        for row in self.rows(first.map_or(0, |c| c.row), self.pause.from, false) {
            if sends.sends[row] == 1 && sends.seq[row] >= self.pause.una {
                outstanding += 1;
                lost += u64::from(sends.fate[row] == Fate::Dropped as u8);
            }
        }
        (outstanding, lost)
    }

    /// The phase at the beginning; with `before`, before the ACK of that instant.
    fn phase(&self, before: bool) -> Phase {
        let phases = &self.course.phases;
        let changes = phases.time.count_until(self.pause.from, before);
        changes.checked_sub(1).map_or(Phase::Open, |i| Phase::ALL[usize::from(phases.to[i])])
    }

    /// One past the highest offset sent before `time`.
    fn highest(&self, time: f64) -> f64 {
        let sends = &self.course.sends;
        let mut highest = 0.0;
        for row in (0..sends.time.count_until(time, true)).rev() {
            if sends.sends[row] == 1 {
                return self.end(row);
            }
            highest = f64::max(highest, self.end(row));
        }
        highest
    }

    /// Segments sent behind the hole that had arrived in time for the first response, new segments sent until then, and how many
    /// of these limited transmit requested. ACKs take `back` seconds.
    fn sent_meanwhile(&self, first: Option<&Copy>, answer: f64, back: f64) -> (u64, u64, u64) {
        let sends = &self.course.sends;
        let (mut behind, mut fresh, mut limited) = (0, 0, 0);
        for row in self.rows(first.map_or(0, |c| c.row + 1), answer, true) {
            if sends.seq[row] <= self.pause.una {
                continue;
            }
            let arrived = if sends.fate[row] == Fate::Delivered as u8 { sends.fate_time[row] } else { f64::INFINITY };
            behind += u64::from(arrived > self.pause.since && arrived < answer - back);
            if sends.sends[row] == 1 && sends.time[row] > self.pause.from {
                fresh += 1;
                limited += u64::from(sends.by[row] == Slot::Disorder as u8);
            }
        }
        (behind, fresh, limited)
    }

    /// The instants of this kind in the pause, each with its row in `marks`.
    fn marks(&self, kind: Mark) -> impl Iterator<Item = (f64, usize)> + '_ {
        let marks = &self.course.marks;
        let rows = marks.time.count_until(self.pause.from, false)..marks.time.count_until(self.pause.to, false);
        rows.filter(move |i| marks.kind[*i] == kind as u8).map(|i| (marks.time[i], i))
    }

    fn timeouts(&self) -> Vec<Timeout> {
        let one = |(time, row): (f64, usize)| {
            let rto = self.course.rto.at(time, true).map(|ms| ms / 1e3);
            let set_by = rto.and_then(|rto| self.moment(time - rto));
            Timeout { time, backoff: self.course.marks.value[row], rto, set_by }
        };
        self.marks(Mark::Timeout).map(one).collect()
    }

    /// The ACK or the transmission at exactly that time, if there is one; it may have set the timer.
    fn moment(&self, time: f64) -> Option<f64> {
        const SLACK: f64 = 1e-7;
        let Course { sends, acks, .. } = self.course;
        let ack = after(acks, time + SLACK).checked_sub(1).map(|i| acks.time[i]);
        let sent = sends.time.count_until(time + SLACK, false).checked_sub(1).map(|i| sends.time[i]);
        ack.into_iter().chain(sent).find(|t| (t - time).abs() < SLACK)
    }

    fn probes(&self, full: f64) -> Vec<Probe> {
        let sends = &self.course.sends;
        let one = |(time, mark): (f64, usize)| {
            let seq = self.course.marks.value[mark];
            let mut rows = self.rows(sends.time.count_until(time, true), time, false);
            let row = rows.find(|i| sends.seq[*i] == seq)?;
            let segment = (sends.sends[row] > 1).then_some(number(seq, full));
            Some(Probe { time, row, segment })
        };
        self.marks(Mark::Probe).filter_map(one).collect()
    }

    fn recovery(&self) -> Option<f64> {
        let phases = &self.course.phases;
        let rows = phases.time.count_until(self.pause.from, false)..phases.time.count_until(self.pause.to, true);
        rows.into_iter().find(|i| phases.to[*i] == Phase::Recovery as u8).map(|i| phases.time[i])
    }

    fn resent(&self) -> (u64, u64) {
        let sends = &self.course.sends;
        let (mut again, mut needless) = (0, 0);
        for row in self.rows(self.begins(), self.pause.to, true).filter(|row| sends.sends[*row] != 1) {
            again += 1;
            needless += u64::from(sends.verdict[row] == Verdict::Needless as u8);
        }
        (again, needless)
    }

    fn lost_acks(&self) -> u64 {
        let acks = &self.course.acks;
        let rows =
            (after(acks, self.pause.since)..acks.time.len()).take_while(|i| place_in_order(acks, *i) < self.pause.to);
        rows.filter(|i| acks.dropped[*i] == 1 && acks.ack[*i] > self.pause.una).count() as u64
    }

    /// The verdict on an episode that began in the pause; it may follow later.
    fn mistake(&self) -> Option<(f64, bool)> {
        let Course { marks, phases, .. } = self.course;
        let entered = phases.time.count_until(self.pause.from, false)..phases.time.count_until(self.pause.to, false);
        let repairs = |to: u8| to == Phase::Recovery as u8 || to == Phase::Loss as u8;
        let episodes: HashSet<u32> = entered.filter(|i| repairs(phases.to[*i])).map(|i| phases.episode[i]).collect();
        if episodes.is_empty() {
            return None;
        }
        let undone = |kind: u8| match Mark::ALL[usize::from(kind)] {
            Mark::Mistake => Some(false),
            Mark::Undone => Some(true),
            Mark::Timeout | Mark::Persist | Mark::Probe => None,
        };
        (marks.time.count_until(self.pause.from, false)..marks.time.len())
            .filter(|i| episodes.contains(&marks.episode[*i]))
            .find_map(|i| Some((marks.time[i], undone(marks.kind[i])?)))
    }
}
