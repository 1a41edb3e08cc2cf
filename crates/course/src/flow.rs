//! The course of one flow, and the course while its run goes on.

use crate::pieces::Pieces;
use crate::tables::{Acks, Fate, Mark, Marks, Phases, Sends, Steps, Verdict, Windows, ONCE};
use ackclock_sim::fate;
use ackclock_sim::fate::Fates;
use ackclock_tcp::event::{Event, Slot};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Nanos;

/// In `row`: not a segment with data.
const NONE: u32 = u32::MAX;

/// The rows of one flow.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// Segments with data.
    pub sends: Sends,
    /// Pure ACKs.
    pub acks: Acks,
    /// Left edges of all SACK blocks.
    pub sack_left: Pieces<f64>,
    /// Their right edges, exclusive.
    pub sack_right: Pieces<f64>,
    /// The window.
    pub windows: Windows,
    /// The number of duplicate ACKs, or SACKed segments, that means a loss.
    pub dupthresh: Steps,
    /// The retransmission timeout, ms.
    pub rto: Steps,
    /// The bytes that a Reno-style recovery adds to `cwnd` when it sends.
    pub inflation: Steps,
    /// The phases.
    pub phases: Phases,
    /// Timeouts, mistakes and probes.
    pub marks: Marks,
}

/// The course of a flow whose run goes on.
#[derive(Debug, Default)]
pub(crate) struct Growing {
    course: Course,
    /// What decides the verdicts on its retransmissions.
    pub(crate) fates: Fates,
    /// The verdicts on its retransmissions, where something else decided them.
    pub(crate) verdicts: Vec<Verdict>,
    /// The rows of the retransmissions.
    again: Vec<u32>,
    /// The last of the timeouts: an equal one is not made into a number of milliseconds.
    last_rto: Option<Nanos>,
    /// The sender's packets by number: their row in `sends`.
    row: Pieces<u32>,
    /// The receiver's packets by number: when they were sent, and the number of pure ACKs before
    /// them.
    answers: Pieces<(f64, u32)>,
    /// Packets of the sender that take sequence space, and pure ACKs of the receiver.
    numbered: [u32; 2],
    /// The engine's report about the segments now sent: first offset, end, requesting part,
    /// episode.
    requested: Option<(u64, u64, Slot, u32)>,
    /// Whether the last ACK waits for the sender's reaction.
    fresh: bool,
    /// The packet that the next `Watch::dropped` refers to.
    lost: u32,
    /// The row of the last packet that arrived at the receiver.
    arrived: Option<usize>,
}

impl Growing {
    pub(crate) fn event(&mut self, at: f64, e: Event) {
        match e {
            Event::Sent { start, len, episode, by, .. } => {
                self.requested = Some((start.0, start.0 + u64::from(len), by, episode));
            }
            Event::Acked { delivered, dup_run, pipe, .. } => self.acked(delivered, dup_run, pipe),
            Event::Window { by, episode, from, to } => {
                if self.course.windows.time.is_empty() {
                    let began = self.course.sends.time.first().copied().unwrap_or(at);
                    self.window(began, from.cwnd, from.ssthresh, Slot::Startup, 0);
                }
                self.window(at, to.cwnd, to.ssthresh, by, episode);
            }
            Event::Inflation { bytes, .. } => self.course.inflation.step(at, bytes),
            Event::Threshold { dupthresh, .. } => self.course.dupthresh.step(at, dupthresh.into()),
            Event::Phase { from, to, why, episode } => {
                self.course.phases.time.push(at);
                self.course.phases.from.push(from as u8);
                self.course.phases.to.push(to as u8);
                self.course.phases.why.push(why as u8);
                self.course.phases.episode.push(episode);
            }
            Event::Timeout { episode, backoff } => self.mark(at, Mark::Timeout, episode, backoff.into()),
            Event::Mistake { episode, undone, .. } => {
                self.mark(at, if undone { Mark::Undone } else { Mark::Mistake }, episode, f64::NAN);
            }
            Event::Persist { at: offset } => self.mark(at, Mark::Persist, 0, offset.0 as f64),
            Event::Probe { at: offset } => self.mark(at, Mark::Probe, 0, offset.0 as f64),
            Event::Rtt { rto, .. } => self.rto(at, rto),
        }
    }

    #[inline]
    pub(crate) fn rto(&mut self, at: f64, rto: Nanos) {
        if self.last_rto != Some(rto) {
            self.last_rto = Some(rto);
            self.course.rto.step(at, rto.0 as f64 / 1e6);
        }
    }

    fn window(&mut self, at: f64, cwnd: f64, ssthresh: f64, by: Slot, episode: u32) {
        self.course.windows.time.push(at);
        self.course.windows.cwnd.push(cwnd);
        self.course.windows.ssthresh.push(ssthresh);
        self.course.windows.by.push(by as u8);
        self.course.windows.episode.push(episode);
    }

    fn mark(&mut self, at: f64, kind: Mark, episode: u32, value: f64) {
        self.course.marks.time.push(at);
        self.course.marks.kind.push(kind as u8);
        self.course.marks.episode.push(episode);
        self.course.marks.value.push(value);
    }

    /// The sender sent a packet; adds a row if it carries data.
    pub(crate) fn sent(&mut self, at: f64, seg: &Segment, sends: u8) {
        if seg.len == 0 {
            self.row.push(NONE);
        } else {
            let row = self.course.sends.time.len();
            self.row.push(row as u32);
            let requested = self.requested.filter(|a| (a.0..a.1).contains(&seg.seq.0));
            let (by, episode) = requested.map_or((Slot::Sequencer, 0), |a| (a.2, a.3));
            let s = &mut self.course.sends;
            s.time.push(at);
            s.seq.push(seg.seq.0 as f64);
            s.len.push(seg.len);
            s.by.push(by as u8);
            s.episode.push(episode);
            s.number.push(self.numbered[0]);
            if sends != ONCE {
                s.sends.set(row, sends, ONCE);
                self.again.push(row as u32);
                self.fates.retransmitted(seg.seq.0, seg.seq_len() as u32, sends, None);
            }
        }
        self.numbered[0] += u32::from(seg.seq_len() > 0);
    }

    /// The receiver sent a packet.
    pub(crate) fn answered(&mut self, at: f64, seg: &Segment) {
        self.answers.push((at, self.numbered[1]));
        self.numbered[1] += u32::from(seg.seq_len() == 0);
    }

    /// A packet of the sender arrived at the receiver. Of duplicates the first counts.
    pub(crate) fn delivered(&mut self, at: f64, number: u32, seg: &Segment) {
        self.arrived = self.data(number).filter(|i| self.course.sends.fate.get(*i) != Some(&(Fate::Delivered as u8)));
        let Some(i) = self.arrived else { return };
        self.fate(i, Fate::Delivered, at);
        let s = &mut self.course.sends;
        if seg.opts & Segment::CE != 0 {
            s.marked.set(i, 1, 0);
        } else {
            s.marked.reset(i, 0);
        }
        s.element.reset(i, -1);
        s.nth.reset(i, -1);
    }

    fn fate(&mut self, row: usize, fate: Fate, at: f64) {
        self.course.sends.fate.set(row, fate as u8, Fate::UnderWay as u8);
        self.course.sends.fate_time.set(row, at, f64::NAN);
    }

    /// The receiver threw away some of the last packet that arrived.
    pub(crate) fn refused(&mut self, sends: u8, missing: &[(Offset, Offset)]) {
        for (left, right) in missing {
            self.fates.refused(left.0, (*right - *left) as u32, sends);
        }
        if let Some(i) = self.arrived {
            self.course.sends.fate[i] = Fate::Refused as u8;
        }
    }

    pub(crate) fn lost(&mut self, number: u32) {
        self.lost = number;
    }

    /// The packet last reported lost was dropped on its way to the receiver.
    pub(crate) fn data_dropped(&mut self, at: f64, element: u32, nth: u64, seg: &Segment, sends: u8) {
        self.fates.dropped(seg.seq.0, seg.seq_len() as u32, sends);
        let open = |i: &usize| self.course.sends.fate.get(*i).is_none_or(|fate| *fate == Fate::UnderWay as u8);
        let Some(i) = self.data(self.lost).filter(open) else { return };
        self.fate(i, Fate::Dropped, at);
        self.course.sends.element.set(i, i32::try_from(element).unwrap_or(-1), -1);
        self.course.sends.nth.set(i, i32::try_from(nth).unwrap_or(-1), -1);
    }

    fn data(&self, number: u32) -> Option<usize> {
        self.row.get(number as usize).filter(|row| **row != NONE).map(|row| *row as usize)
    }

    /// A packet of the receiver arrived at the sender.
    pub(crate) fn answer_arrived(&mut self, at: f64, number: u32, seg: &Segment) {
        self.fresh = self.ack(number, seg, at, 0);
    }

    /// The packet last reported lost was dropped on its way to the sender.
    pub(crate) fn answer_dropped(&mut self, seg: &Segment) {
        self.ack(self.lost, seg, f64::NAN, 1);
    }

    /// Adds a row, if it is a pure ACK.
    fn ack(&mut self, number: u32, seg: &Segment, arrived: f64, dropped: u8) -> bool {
        let Some(&(sent, number)) = self.answers.get(number as usize).filter(|_| seg.seq_len() == 0) else {
            return false;
        };
        let (row, first) = (self.course.acks.sent.len(), self.course.sack_left.len());
        for (left, right) in seg.sack_blocks() {
            self.course.sack_left.push(left.0 as f64);
            self.course.sack_right.push(right.0 as f64);
        }
        let a = &mut self.course.acks;
        a.sent.push(sent);
        a.time.push(arrived);
        a.ack.push(seg.ack.0 as f64);
        a.rwnd.push(seg.wnd.into());
        a.number.push(number);
        a.sack_first.push(first as u32);
        if self.course.sack_left.len() > first {
            a.sack_count.set(row, (self.course.sack_left.len() - first) as u8, 0);
        }
        if dropped != 0 {
            a.dropped.set(row, dropped, 0);
        }
        if seg.flags & Segment::ECE != 0 {
            a.echo.set(row, 1, 0);
        }
        true
    }

    /// The sender's reaction to the ACK that has just arrived; there is none to an old one.
    fn acked(&mut self, delivered: u64, dup_run: u32, pipe: u64) {
        if !std::mem::take(&mut self.fresh) {
            return;
        }
        let a = &mut self.course.acks;
        let Some(row) = a.sent.len().checked_sub(1) else { return };
        a.pipe.set(row, pipe as f64, f64::NAN);
        a.newly_delivered.set(row, delivered as f64, 0.0);
        if dup_run != 0 {
            a.dup_run.set(row, dup_run, 0);
        }
    }

    /// The course at the end of the run.
    pub(crate) fn finish(self) -> Course {
        let mut course = self.course;
        let mut verdicts = self.verdicts;
        if verdicts.is_empty() {
            verdicts.extend(self.fates.each().into_iter().map(judged));
        }
        for (row, verdict) in self.again.iter().zip(verdicts) {
            course.sends.verdict.set(*row as usize, verdict as u8, Verdict::First as u8);
        }
        course.sends = course.sends.whole();
        course.acks = course.acks.whole().in_order();
        course
    }
}

pub(crate) fn judged(verdict: fate::Verdict) -> Verdict {
    match verdict {
        fate::Verdict::Needed => Verdict::Needed,
        fate::Verdict::Refused => Verdict::Refused,
        fate::Verdict::Needless => Verdict::Needless,
    }
}
