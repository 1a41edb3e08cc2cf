//! Wider thresholds after a loss that proved false (RFC 9002 §6.1 allows it and gives no rule; decision 0061).

use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::Scoreboard;
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use std::collections::VecDeque;

/// The most declared losses remembered.
const CAPACITY: usize = 512;
/// The widest time threshold, in round trips.
const WIDEST: f64 = 2.0;

/// A packet that was declared lost.
#[derive(Clone, Copy)]
struct Declared {
    end: Offset,
    /// When it was sent.
    at: Time,
    /// The difference between the largest acknowledged packet's number and its own.
    distance: u64,
    /// When its data arrived, if the arrival may have been a later copy.
    answered: Option<Time>,
}

/// Packets declared lost, remembered to see whether they arrive.
#[derive(Default)]
pub(super) struct Adapt {
    declared: VecDeque<Declared>,
}

/// The thresholds that would have avoided a needless loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wider {
    pub(super) packets: u64,
    pub(super) round_trips: f64,
}

impl Adapt {
    pub(super) fn declare(&mut self, end: Offset, at: Time, distance: u64) {
        if self.declared.len() >= CAPACITY {
            self.declared.pop_front();
        }
        self.declared.push_back(Declared { end, at, distance, answered: None });
    }

    /// Returns the needless loss that this ACK shows, if any: an original arrived before it was resent or too soon after, or a
    /// DSACK shows that both copies arrived.
    pub(super) fn on_ack(&mut self, ack: &AckEvent, rtt: Nanos, board: &Scoreboard, cx: &Ctx) -> Option<Wider> {
        if self.declared.is_empty() {
            return None;
        }
        let mut wider: Option<Wider> = None;
        let mut widen = |d: &Declared, arrived: Time| {
            let round_trips = (arrived.since(d.at).0 as f64 / rtt.0.max(1) as f64).min(WIDEST);
            let old = wider.unwrap_or(Wider { packets: 0, round_trips: 0.0 });
            wider =
                Some(Wider { packets: old.packets.max(d.distance + 1), round_trips: old.round_trips.max(round_trips) });
        };
        for s in board.newly() {
            let Some(i) = self.declared.iter().rposition(|d| d.end == s.end() && d.answered.is_none()) else {
                continue;
            };
            let too_soon = cx.min_rtt.is_some_and(|min| cx.now.since(s.at) < min);
            if s.at == self.declared[i].at || too_soon {
                widen(&self.declared[i], cx.now);
                self.declared.remove(i);
            } else {
                self.declared[i].answered = Some(cx.now);
            }
        }
        if let Some((left, right)) = ack.dsack {
            let is_covered = |d: &Declared| left < d.end && d.end <= right;
            if let Some(i) = self.declared.iter().rposition(|d| is_covered(d) && d.answered.is_some()) {
                widen(&self.declared[i], self.declared[i].answered.unwrap_or(cx.now));
                self.declared.remove(i);
            }
        }
        wider
    }
}
