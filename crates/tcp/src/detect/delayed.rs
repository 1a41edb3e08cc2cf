//! DEL: three duplicates and a little time.
//!
//! Source: Blanton & Allman 2002 §6.4, after Paxson 1997; §6.6 for the reset.
//!
//! Idea: the third duplicate only arms a timer; if the hole fills before it fires, it was reordering. The time follows what
//! earlier needless retransmissions would have needed.
//!
//! | source | here |
//! | --- | --- |
//! | "a small amount of time" | `delta`, 0 at first (then it is RFC 5681) and after a timeout |
//! | the ACKs that would have told loss from reordering | X, from the third duplicate to the ACK that filled the hole |
//!
//! Unsaid: how X enters `delta`: max (delta + g, (delta + X + g) / 2), with g the mean time between the event's duplicates,
//! as AVG does in duplicates. The ceiling of §6.6 is taken in time: (0.9 cwnd − 3) · SRTT / cwnd. `target = "last-dup"` takes X
//! up to where the next duplicate would have come instead. In Recovery a hole needs three SACKed segments above it for
//! `delta` (`judge_in_recovery`).

use super::{Detector, Guard, Verdict};
use crate::event::{Phase, Window};
use crate::sender::ack::AckEvent;
use crate::sender::ctx::Ctx;
use crate::sender::reorder::ReorderSample;
use crate::sender::scoreboard::Scoreboard;
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Duplicates that arm the timer (§6.4).
const ARMING_DUPS: u32 = 3;

/// Up to where X is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DelayTarget {
    /// The ACK that filled the hole.
    #[default]
    Fill,
    /// Where the duplicate after the last would have come.
    LastDup,
}

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DelayedSpec {
    /// Up to where X is measured. Default "fill".
    pub target: DelayTarget,
    /// When an earlier episode forbids a fast retransmit.
    pub guard: Guard,
    /// Whether holes are judged in Recovery too, for a recovery that resends marked holes only. Default no.
    pub judge_in_recovery: bool,
}

/// DEL at work.
pub struct Delayed {
    spec: DelayedSpec,
    delta: Nanos,
    /// When the armed fast retransmit goes.
    armed: Option<Time>,
    /// In Recovery: below which offset holes had three SACKed segments above them, and since when.
    seen: VecDeque<(Time, Offset)>,
}

impl Delayed {
    pub(super) fn new(spec: &DelayedSpec) -> Self {
        Delayed { spec: spec.clone(), delta: Nanos::ZERO, armed: None, seen: VecDeque::new() }
    }

    fn in_recovery(&mut self, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.armed = None;
        if !self.spec.judge_in_recovery {
            return Verdict::Suspect;
        }
        if let Some(end) = board.holes_end(ARMING_DUPS) {
            if self.seen.back().is_none_or(|s| s.1 < end) {
                self.seen.push_back((cx.now, end));
            }
        }
        let mut marked = 0;
        while let Some(&(since, end)) = self.seen.front().filter(|s| s.0 + self.delta <= cx.now) {
            debug_assert!(since <= cx.now);
            marked += board.mark_holes_below(end);
            self.seen.pop_front();
        }
        Verdict::More(marked)
    }

    /// §6.6's ceiling as a time.
    fn cap(&mut self, w: &Window, cx: &Ctx) {
        if let Some(srtt) = cx.srtt {
            let segs = w.cwnd / cx.smss();
            let share = ((0.9 * segs - f64::from(ARMING_DUPS)) / segs).max(0.0);
            self.delta = self.delta.min(Nanos((srtt.0 as f64 * share) as u64));
        }
    }
}

impl Detector for Delayed {
    fn on_ack(&mut self, ack: &AckEvent, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if cx.phase == Phase::Recovery {
            return self.in_recovery(board, cx);
        }
        self.seen.clear();
        if ack.advances() {
            self.armed = None;
        }
        if !ack.is_dup {
            return if ack.advances() || !cx.phase.is_disorder() { Verdict::Clear } else { Verdict::Suspect };
        }
        if ack.dup_run == ARMING_DUPS && self.spec.guard.admits(cx) {
            if self.delta == Nanos::ZERO {
                return Verdict::Lost(board.mark_head_lost());
            }
            self.armed = Some(cx.now + self.delta);
        }
        Verdict::Suspect
    }
    fn on_timer(&mut self, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if cx.phase == Phase::Recovery {
            return self.in_recovery(board, cx);
        }
        self.seen.clear();
        match self.armed.take() {
            Some(_) => Verdict::Lost(board.mark_head_lost()),
            None => Verdict::Clear,
        }
    }
    fn deadline(&self) -> Option<Time> {
        self.armed.or_else(|| self.seen.front().map(|s| s.0 + self.delta))
    }
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        let Some(resent) = sample.resent else { return };
        let g = sample.spacing();
        let until = match self.spec.target {
            DelayTarget::Fill => sample.filled,
            DelayTarget::LastDup => sample.last_dup + g,
        };
        // The fast retransmit went `delta` after the third duplicate; `delta` changes only here and at timeouts.
        let x = until.since(resent) + self.delta;
        self.delta = (self.delta + g).max(Nanos((self.delta + x + g).0 / 2));
        self.cap(w, cx);
    }
    fn on_recovered(&mut self, _: &Ctx) {
        self.seen.clear();
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        self.cap(w, cx);
    }
    fn on_rto(&mut self, _: u32, _: &Window, _: &Ctx) {
        (self.delta, self.armed) = (Nanos::ZERO, None);
        self.seen.clear();
    }
}
