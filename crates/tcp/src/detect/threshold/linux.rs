//! Linux's reordering metric: the threshold is the largest distance by which a segment was ever overtaken.
//!
//! Source: Linux 6 (`tcp_check_sack_reordering`, `tcp_check_reno_reordering`, `tcp_enter_loss`; sysctl `tcp_reordering`,
//! `tcp_max_reordering`), in our words; from 6.17 on, the kernel no longer counts duplicates up to it.
//!
//! Idea: a segment that was sent once and is reported below the highest SACK was overtaken by all segments in between.
//!
//! | source | here |
//! | --- | --- |
//! | reordering | `reordering` |
//! | highest SACK | `top`, kept after everything is acknowledged |
//! | metric | segments from the lowest such segment to `top`, rounded up |
//!
//! Departures: `sacked_out` at a timeout is taken as the number of duplicates of the hole, one for each SACKed segment.
//! Unsaid: without SACK, more duplicates than segments in flight mean a window's worth of reordering.

use super::{DupThresh, Learner};
use crate::event::{Phase, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::reorder::ReorderSample;
use crate::facts::scoreboard::{Marks, Scoreboard};
use crate::seq::Offset;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinuxSpec {
    /// Duplicates at first, and after a timeout caused by too high a threshold. Default: 3 (`tcp_reordering`).
    pub initial: u32,
    /// Upper limit. Default: 300 (`tcp_max_reordering`; 127 before Linux 3.19).
    pub max: u32,
}

impl Default for LinuxSpec {
    fn default() -> Self {
        LinuxSpec { initial: 3, max: 300 }
    }
}

/// The rule at work.
pub struct Linux {
    spec: LinuxSpec,
    reordering: u32,
    /// `None` before anything was SACKed.
    top: Option<Offset>,
}

impl Linux {
    pub(super) fn new(spec: &LinuxSpec) -> Self {
        Linux { spec: spec.clone(), reordering: spec.initial.min(spec.max), top: None }
    }

    fn seen(&mut self, segments: u64) {
        let metric = u32::try_from(segments).unwrap_or(u32::MAX);
        self.reordering = self.reordering.max(metric.min(self.spec.max));
    }
}

impl DupThresh for Linux {
    fn segments(&self, _: &Window, _: &Ctx) -> u32 {
        self.reordering
    }
    fn on_ack(&mut self, ack: &AckEvent, board: &Scoreboard, cx: &Ctx) {
        // Below the data SACKed before this ACK: blocks of one ACK do not overtake each other.
        let overtaken = board.newly().filter(|s| s.sends == 1 && Some(s.start) < self.top).map(|s| s.start);
        // A resent segment was SACKed, and now its other copy arrived.
        let doubled = ack.dsack.and_then(|(left, _)| board.get(left));
        let doubled = doubled.filter(|s| s.marks.any(Marks::SACKED) && s.sends > 1).map(|s| s.start);
        let lowest = overtaken.chain(doubled).min();
        self.top = self.top.max(board.highest_sacked());
        if let (Some(start), Some(top)) = (lowest, self.top) {
            self.seen((top - start).div_ceil(u64::from(cx.mss)));
        }
        let too_many = ack.is_dup && !ack.has_sack && u64::from(ack.dup_run) + 1 > board.len() as u64;
        if too_many && board.sacked() == 0 {
            self.seen(board.len() as u64);
        }
    }
}

impl Learner for Linux {
    fn on_reorder(&mut self, sample: &ReorderSample, _: &Window, _: &Ctx) {
        // The hole itself was resent, so `on_ack` skipped it.
        if sample.resent.is_some() {
            self.seen(u64::from(sample.dupacks) + 1);
        }
    }
    fn on_rto(&mut self, dup_run: u32, _: &Window, cx: &Ctx) {
        // Overestimated: enough was reported for the initial threshold, but the loss was left to the timer.
        let unsure = matches!(cx.phase, Phase::Open | Phase::Disorder);
        if unsure && dup_run >= self.spec.initial {
            self.reordering = self.reordering.min(self.spec.initial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::scoreboard::Delivered;
    use crate::testing::blank;
    use crate::testing::{context, spurious, wide};
    use crate::time::Time;

    fn seg(n: u64) -> Offset {
        Offset(1 + 1000 * n)
    }

    /// Sends twenty segments. Each step is an ACK of everything before a segment, with a block; returns the threshold
    /// after each step.
    fn run(spec: &LinuxSpec, resent: Option<u64>, steps: &[(u64, u64, u64)]) -> Vec<u32> {
        let (mut rule, mut board) = (Linux::new(spec), Scoreboard::default());
        (0..20).for_each(|n| _ = board.push(seg(n), 1000, Time(0), 20_000.0, false));
        resent.map(|n| board.resend(seg(n), Time(1), 20_000.0).is_some());
        let mut thresholds = vec![];
        for &(ack, left, right) in steps {
            let mut d = Delivered::default();
            board.begin_ack();
            board.acknowledge(seg(ack), &mut d);
            board.apply_sack((seg(left), seg(right)), &mut d);
            let has_sack = left < right;
            rule.on_ack(&AckEvent { ack: seg(ack), has_sack, sacked: d.sacked, ..blank() }, &board, &context());
            thresholds.push(rule.segments(&wide(), &context()));
        }
        thresholds
    }

    #[test]
    fn the_threshold_is_the_distance_from_the_lowest_overtaken_segment_to_the_highest_reported() {
        // 8 arrives before 2 and 3: the lower one was overtaken by all up to 8. Below three nothing changes.
        assert_eq!(run(&LinuxSpec::default(), None, &[(0, 1, 2), (0, 8, 9), (0, 6, 7), (0, 2, 4)]), [3, 3, 3, 7]);
        // An ACK that fills the hole gives the same result.
        assert_eq!(run(&LinuxSpec::default(), None, &[(0, 1, 9), (9, 0, 0)]), [3, 9]);
        // The highest segment reported by the same ACK counts, too; blocks that arrive in order are not reordering.
        assert_eq!(run(&LinuxSpec::default(), None, &[(0, 1, 2), (2, 4, 9)]), [3, 9]);
        assert_eq!(run(&LinuxSpec::default(), None, &[(0, 2, 4), (0, 6, 12)]), [3, 3]);
    }

    #[test]
    fn resent_data_gives_no_sample_and_the_maximum_holds() {
        assert_eq!(run(&LinuxSpec::default(), Some(0), &[(0, 1, 9), (9, 0, 0)]), [3, 3]);
        assert_eq!(run(&LinuxSpec { max: 5, ..LinuxSpec::default() }, None, &[(0, 1, 9), (9, 0, 0)]), [3, 5]);
    }

    #[test]
    fn only_a_timeout_that_too_high_a_threshold_caused_lowers_it() {
        let mut rule = Linux::new(&LinuxSpec::default());
        rule.on_reorder(&spurious(9), &wide(), &context());
        assert_eq!(rule.segments(&wide(), &context()), 10);
        rule.on_rto(2, &wide(), &context());
        rule.on_rto(5, &wide(), &Ctx { phase: Phase::Recovery, ..context() });
        assert_eq!(rule.segments(&wide(), &context()), 10);
        rule.on_rto(3, &wide(), &Ctx { phase: Phase::Disorder, ..context() });
        assert_eq!(rule.segments(&wide(), &context()), 3);
    }

    #[test]
    fn without_sack_more_duplicates_than_segments_under_way_mean_a_window_of_reordering() {
        let (mut rule, mut board) = (Linux::new(&LinuxSpec::default()), Scoreboard::default());
        (0..6).for_each(|n| _ = board.push(seg(n), 1000, Time(0), 6_000.0, false));
        for (dup_run, threshold) in [(5, 3), (6, 6)] {
            rule.on_ack(&AckEvent { is_dup: true, dup_run, ..blank() }, &board, &context());
            assert_eq!(rule.segments(&wide(), &context()), threshold);
        }
    }
}
