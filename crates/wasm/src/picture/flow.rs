//! One flow of a picture.

use super::tables::{Acks, Marks, Phases, Sends, Steps, Windows, ONCE, UNDER_WAY};
use super::{judged, FIRST};
use crate::border::{Border, Column};
use crate::pieces::Pieces;
use ackclock_sim::fate::Fates;
use ackclock_tcp::event::{Event, Slot};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Nanos;
use serde_json::{json, Value};

/// `fate`: positions in `FATES`, beside `UNDER_WAY`.
const DELIVERED: u8 = 0;
const DROPPED: u8 = 1;
const REFUSED: u8 = 3;
/// `kind`: positions in `KINDS`.
const TIMEOUT: u8 = 0;
const MISTAKE: u8 = 1;
const UNDONE: u8 = 2;
const PERSIST: u8 = 3;
/// In `row`: not a segment with data.
const NONE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(super) struct Flow {
    sends: Sends,
    /// What decides the verdicts on its retransmissions.
    pub(super) fates: Fates,
    /// The rows of the retransmissions.
    again: Vec<u32>,
    acks: Acks,
    sack_left: Pieces<f64>,
    sack_right: Pieces<f64>,
    windows: Windows,
    dupthresh: Steps,
    rto: Steps,
    /// The last of `rto`: an equal one is not made into a number of milliseconds.
    last_rto: Option<Nanos>,
    inflation: Steps,
    phases: Phases,
    marks: Marks,
    /// The sender's packets by number: their row in `sends`.
    row: Pieces<u32>,
    /// The receiver's packets by number: when they were sent, and the number of pure ACKs before
    /// them.
    answers: Pieces<(f64, u32)>,
    /// Packets of the sender that take sequence space, and pure ACKs of the receiver.
    numbered: [u32; 2],
    /// The engine's report about the segments now sent: first offset, end, requesting part,
    /// episode.
    asked: Option<(u64, u64, Slot, u32)>,
    /// Whether the last ACK waits for the sender's reaction.
    fresh: bool,
    /// The packet that the next `Watch::dropped` refers to.
    lost: u32,
    /// The row of the last packet that arrived at the receiver.
    arrived_data: Option<usize>,
}

impl Flow {
    pub(super) fn event(&mut self, at: f64, e: Event) {
        match e {
            Event::Sent { start, len, episode, by, .. } => {
                self.asked = Some((start.0, start.0 + u64::from(len), by, episode));
            }
            Event::Acked { delivered, dup_run, pipe, .. } => self.acked(delivered, dup_run, pipe),
            Event::Window { by, episode, from, to } => {
                if self.windows.time.is_empty() {
                    let began = self.sends.time.first().copied().unwrap_or(at);
                    self.window(began, from.cwnd, from.ssthresh, Slot::Startup, 0);
                }
                self.window(at, to.cwnd, to.ssthresh, by, episode);
            }
            Event::Inflation { bytes, .. } => self.inflation.step(at, bytes),
            Event::Threshold { dupthresh, .. } => self.dupthresh.step(at, dupthresh.into()),
            Event::Phase { from, to, why, episode } => {
                self.phases.time.push(at);
                self.phases.from.push(from as u8);
                self.phases.to.push(to as u8);
                self.phases.why.push(why as u8);
                self.phases.episode.push(episode);
            }
            Event::Timeout { episode, backoff } => self.mark(at, TIMEOUT, episode, backoff.into()),
            Event::Mistake { episode, undone, .. } => {
                self.mark(at, if undone { UNDONE } else { MISTAKE }, episode, f64::NAN);
            }
            Event::Persist { at: offset } => self.mark(at, PERSIST, 0, offset.0 as f64),
            Event::Rtt { rto, .. } => self.rto(at, rto),
        }
    }

    pub(super) fn rto(&mut self, at: f64, rto: Nanos) {
        if self.last_rto != Some(rto) {
            self.last_rto = Some(rto);
            self.rto.step(at, rto.0 as f64 / 1e6);
        }
    }

    fn window(&mut self, at: f64, cwnd: f64, ssthresh: f64, by: Slot, episode: u32) {
        self.windows.time.push(at);
        self.windows.cwnd.push(cwnd);
        self.windows.ssthresh.push(ssthresh);
        self.windows.by.push(by as u8);
        self.windows.episode.push(episode);
    }

    fn mark(&mut self, at: f64, kind: u8, episode: u32, value: f64) {
        self.marks.time.push(at);
        self.marks.kind.push(kind);
        self.marks.episode.push(episode);
        self.marks.value.push(value);
    }

    /// The sender sent a packet; adds a row if it carries data.
    pub(super) fn sent(&mut self, at: f64, seg: &Segment, sends: u8) {
        if seg.len == 0 {
            self.row.push(NONE);
        } else {
            let row = self.sends.time.len();
            self.row.push(row as u32);
            let asked = self.asked.filter(|a| (a.0..a.1).contains(&seg.seq.0));
            let (by, episode) = asked.map_or((Slot::Sequencer, 0), |a| (a.2, a.3));
            let s = &mut self.sends;
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
    pub(super) fn answered(&mut self, at: f64, seg: &Segment) {
        self.answers.push((at, self.numbered[1]));
        self.numbered[1] += u32::from(seg.seq_len() == 0);
    }

    /// A packet of the sender arrived at the receiver. Of duplicates the first counts.
    pub(super) fn delivered(&mut self, at: f64, number: u32, seg: &Segment) {
        self.arrived_data = self.data(number).filter(|i| self.sends.fate.get(*i) != Some(&DELIVERED));
        let Some(i) = self.arrived_data else { return };
        self.fate(i, DELIVERED, at);
        let s = &mut self.sends;
        if seg.opts & Segment::CE != 0 {
            s.marked.set(i, 1, 0);
        } else {
            s.marked.reset(i, 0);
        }
        s.element.reset(i, -1);
        s.nth.reset(i, -1);
    }

    fn fate(&mut self, row: usize, fate: u8, at: f64) {
        self.sends.fate.set(row, fate, UNDER_WAY);
        self.sends.fate_time.set(row, at, f64::NAN);
    }

    /// The receiver threw away some of the last packet that arrived.
    pub(super) fn refused(&mut self, sends: u8, missing: &[(Offset, Offset)]) {
        for (left, right) in missing {
            self.fates.refused(left.0, (*right - *left) as u32, sends);
        }
        if let Some(i) = self.arrived_data {
            self.sends.fate[i] = REFUSED;
        }
    }

    pub(super) fn lost(&mut self, number: u32) {
        self.lost = number;
    }

    /// The packet last reported lost was dropped on its way to the receiver.
    pub(super) fn data_dropped(&mut self, at: f64, element: u32, nth: u64, seg: &Segment, sends: u8) {
        self.fates.dropped(seg.seq.0, seg.seq_len() as u32, sends);
        let open = |i: &usize| self.sends.fate.get(*i).is_none_or(|fate| *fate == UNDER_WAY);
        let Some(i) = self.data(self.lost).filter(open) else { return };
        self.fate(i, DROPPED, at);
        self.sends.element.set(i, i32::try_from(element).unwrap_or(-1), -1);
        self.sends.nth.set(i, i32::try_from(nth).unwrap_or(-1), -1);
    }

    fn data(&self, number: u32) -> Option<usize> {
        self.row.get(number as usize).filter(|row| **row != NONE).map(|row| *row as usize)
    }

    /// A packet of the receiver arrived at the sender.
    pub(super) fn answer_arrived(&mut self, at: f64, number: u32, seg: &Segment) {
        self.fresh = self.ack(number, seg, at, 0);
    }

    /// The packet last reported lost was dropped on its way to the sender.
    pub(super) fn answer_dropped(&mut self, seg: &Segment) {
        self.ack(self.lost, seg, f64::NAN, 1);
    }

    /// Adds a row, if it is a pure ACK.
    fn ack(&mut self, number: u32, seg: &Segment, arrived: f64, dropped: u8) -> bool {
        let Some(&(sent, number)) = self.answers.get(number as usize).filter(|_| seg.seq_len() == 0) else {
            return false;
        };
        let (row, first) = (self.acks.sent.len(), self.sack_left.len());
        for (left, right) in seg.sack_blocks() {
            self.sack_left.push(left.0 as f64);
            self.sack_right.push(right.0 as f64);
        }
        let a = &mut self.acks;
        a.sent.push(sent);
        a.time.push(arrived);
        a.ack.push(seg.ack.0 as f64);
        a.rwnd.push(seg.wnd.into());
        a.number.push(number);
        a.sack_first.push(first as u32);
        if self.sack_left.len() > first {
            a.sack_count.set(row, (self.sack_left.len() - first) as u8, 0);
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
        let a = &mut self.acks;
        let Some(row) = a.sent.len().checked_sub(1) else { return };
        a.pipe.set(row, pipe as f64, f64::NAN);
        a.newly_delivered.set(row, delivered as f64, 0.0);
        if dup_run != 0 {
            a.dup_run.set(row, dup_run, 0);
        }
    }

    pub(super) fn columns(mut self, border: &mut dyn Border) -> Value {
        for (row, verdict) in self.again.iter().zip(self.fates.each()) {
            self.sends.verdict.set(*row as usize, judged(verdict), FIRST);
        }
        json!({
            "sends": self.sends.whole().columns(border),
            "acks": self.acks.whole().in_order().columns(border),
            "sackLeft": border.column(Column::F64(self.sack_left.into_pieces())),
            "sackRight": border.column(Column::F64(self.sack_right.into_pieces())),
            "windows": self.windows.columns(border),
            "dupthresh": self.dupthresh.columns(border),
            "rto": self.rto.columns(border),
            "inflation": self.inflation.columns(border),
            "phases": self.phases.columns(border),
            "marks": self.marks.columns(border),
        })
    }
}
