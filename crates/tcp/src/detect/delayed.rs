//! DEL: three duplicates, then a short delay.
//!
//! Source: Blanton & Allman 2002 §6.4, after Paxson 1997; §6.6 for the reset.
//!
//! Idea: the third duplicate only arms a timer; if the hole fills before it fires, it was reordering. The delay follows the
//! waits that would have avoided earlier needless retransmissions.
//!
//! | source | here |
//! | --- | --- |
//! | "a small amount of time" | `delta`, 0 at first (then it is RFC 5681) and after a timeout |
//! | the ACKs that would have told loss from reordering | X, from the third duplicate to the ACK that filled the hole |
//!
//! Unsaid: how X enters `delta`: max (delta + g, (delta + X + g) / 2), with g the mean time between the event's duplicates, as
//! AVG does in duplicates. The ceiling of §6.6 is converted to time: (0.9 cwnd − 3) · SRTT / cwnd, about 0.87 SRTT however much
//! `cwnd` was cut; `ceiling` (decision 0180). With `target = "last-dup"`, X instead ends at the expected arrival of the next
//! duplicate. In Recovery a hole is lost once three segments above it have been SACKed for `delta` (`judge_in_recovery`).
//! `wait` can fix `delta`: Paxson's 20 ms, or a share of the RTT (Leung & Ma 2005 §II).

use super::{Detector, Guard, Learner, Timekeeper, Verdict};
use crate::error::StackError;
use crate::event::{Phase, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::reorder::ReorderSample;
use crate::facts::scoreboard::Scoreboard;
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The end of the measurement of X.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DelayTarget {
    /// The ACK that filled the hole.
    #[default]
    Fill,
    /// The expected arrival of one more duplicate.
    LastDup,
}

/// The window over which duplicates are spread, when §6.6's ceiling is converted to time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DelayCeiling {
    /// The current window: (0.9 cwnd − 3) · SRTT / cwnd. A cut of the window hardly lowers the ceiling.
    #[default]
    Now,
    /// The window before the last cut, over which the RTT was measured (or the current window, if larger). A halved window halves
    /// the delay, as it halves the thresholds of INC and AVG (Leung & Ma 2005 §II).
    BeforeTheCut,
}

/// Length of the timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Wait {
    /// Learned from earlier needless retransmissions (Blanton & Allman §6.4).
    #[default]
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    Adaptive,
    /// A fixed time (Paxson 1997).
    Fixed {
        /// The time. Default: 20 ms (Paxson 1997).
        #[serde(default = "paxsons_wait")]
        delay: Nanos,
    },
    /// A share of the smoothed RTT.
    RoundTrip {
        /// The fraction, 0 to 10. Default: 0.25 (no source gives one).
        #[serde(default = "quarter")]
        #[schemars(range(min = 0.0, max = 10.0))]
        share: f64,
    },
}

fn paxsons_wait() -> Nanos {
    Nanos::from_millis(20)
}

fn quarter() -> f64 {
    0.25
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DelayedSpec {
    /// The end of the measurement of X. Default: "fill".
    pub target: DelayTarget,
    /// When an earlier episode prevents a fast retransmit. Default: "careful".
    pub guard: Guard,
    /// Whether holes are also marked during recovery, for a recovery that retransmits only marked holes. Default: no.
    pub judge_in_recovery: bool,
    /// Duplicates that arm the timer. Default: 3 (Blanton & Allman §6.4; Paxson 1997 also tried 2).
    #[schemars(range(min = 1, max = 1000))]
    pub arming_dups: u32,
    /// Length of the timer. Default: "adaptive".
    pub wait: Wait,
    /// The window over which duplicates are spread, for the ceiling of an adaptive wait (§6.6). Default: "now".
    pub ceiling: DelayCeiling,
}

impl Default for DelayedSpec {
    fn default() -> Self {
        DelayedSpec {
            target: DelayTarget::default(),
            guard: Guard::default(),
            judge_in_recovery: false,
            arming_dups: 3,
            wait: Wait::Adaptive,
            ceiling: DelayCeiling::Now,
        }
    }
}

impl DelayedSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let n = self.arming_dups;
        StackError::unless((1..=1000).contains(&n), "detect.arming_dups", &n, "1 to 1000 duplicate ACKs")?;
        let share = if let Wait::RoundTrip { share } = self.wait { share } else { 0.0 };
        StackError::unless((0.0..=10.0).contains(&share), "detect.wait.share", &share, "0 to 10 round trips")
    }
}

/// DEL at work.
pub struct Delayed {
    spec: DelayedSpec,
    delta: Nanos,
    /// When the third duplicate arrived, and when the fast retransmit that it armed is due.
    armed: Option<(Time, Time)>,
    /// When the last fast retransmit was sent, and when its third duplicate had arrived.
    last: Option<(Time, Time)>,
    /// The window before the last cut, bytes.
    before_cut: f64,
    /// In Recovery: the offsets below which holes had three SACKed segments above them, and since when.
    seen: VecDeque<(Time, Offset)>,
}

impl Delayed {
    pub(super) fn new(spec: &DelayedSpec) -> Self {
        let (spec, delta, seen) = (spec.clone(), Nanos::ZERO, VecDeque::new());
        Delayed { spec, delta, armed: None, last: None, before_cut: 0.0, seen }
    }

    fn in_recovery(&mut self, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.armed = None;
        if !self.spec.judge_in_recovery {
            return Verdict::Suspect;
        }
        if let Some(end) = board.holes_end(self.spec.arming_dups)
            && self.seen.back().is_none_or(|s| s.1 < end)
        {
            self.seen.push_back((cx.now, end));
        }
        let mut marked = 0;
        while let Some(&(since, end)) = self.seen.front().filter(|s| s.0 + self.delta <= cx.now) {
            debug_assert!(since <= cx.now);
            marked += board.mark_holes_below(end);
            self.seen.pop_front();
        }
        Verdict::More(marked)
    }

    fn fire(&mut self, third: Time, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        (self.last, self.before_cut) = (Some((cx.now, third)), w.cwnd);
        Verdict::Lost(board.mark_head_lost())
    }

    /// Sets `delta` if the parameters fix it.
    fn take_given(&mut self, cx: &Ctx) {
        match self.spec.wait {
            Wait::Adaptive => {}
            Wait::Fixed { delay } => self.delta = delay,
            Wait::RoundTrip { share } => {
                self.delta = Nanos(cx.srtt.map_or(0, |srtt| (srtt.0 as f64 * share) as u64));
            }
        }
    }

    /// §6.6's ceiling as a time.
    fn cap(&mut self, w: &Window, cx: &Ctx) {
        if self.spec.wait != Wait::Adaptive {
            return;
        }
        if let Some(srtt) = cx.srtt {
            let segs = w.cwnd / cx.smss();
            let spread = match self.spec.ceiling {
                DelayCeiling::Now => segs,
                DelayCeiling::BeforeTheCut => segs.max(self.before_cut / cx.smss()),
            };
            let share = ((0.9 * segs - f64::from(self.spec.arming_dups)) / spread).max(0.0);
            self.delta = self.delta.min(Nanos((srtt.0 as f64 * share) as u64));
        }
    }
}

impl Detector for Delayed {
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.take_given(cx);
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
        if ack.dup_run == self.spec.arming_dups && self.spec.guard.admits(cx) {
            if self.delta == Nanos::ZERO {
                return self.fire(cx.now, w, board, cx);
            }
            self.armed = Some((cx.now, cx.now + self.delta));
        }
        Verdict::Suspect
    }
    fn dupthresh(&self, _: &Window, _: &Ctx) -> Option<u32> {
        Some(self.spec.arming_dups)
    }
}

impl Timekeeper for Delayed {
    fn keeps_time(&self) -> bool {
        true
    }
    fn on_timer(&mut self, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if cx.phase == Phase::Recovery {
            return self.in_recovery(board, cx);
        }
        self.seen.clear();
        match self.armed.take() {
            Some((third, _)) => self.fire(third, w, board, cx),
            None => Verdict::Clear,
        }
    }
    fn deadline(&self) -> Option<Time> {
        self.armed.map(|a| a.1).or_else(|| self.seen.front().map(|s| s.0 + self.delta))
    }
}

impl Learner for Delayed {
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        let Some(resent) = sample.resent.filter(|_| self.spec.wait == Wait::Adaptive) else { return };
        let g = sample.spacing();
        let until = match self.spec.target {
            DelayTarget::Fill => sample.filled,
            DelayTarget::LastDup => sample.last_dup + g,
        };
        // The cut of the window may have lowered `delta` since; for an older episode only `delta` is known.
        let x = match self.last {
            Some((at, third)) if at == resent => until.since(third),
            _ => until.since(resent) + self.delta,
        };
        self.delta = (self.delta + g).max(Nanos((self.delta + x + g).0 / 2));
        self.cap(w, cx);
    }
    fn on_recovered(&mut self, _: &Ctx) {
        self.seen.clear();
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        self.cap(w, cx);
    }
    fn on_rto(&mut self, _: u32, w: &Window, _: &Ctx) {
        (self.delta, self.armed, self.before_cut) = (Nanos::ZERO, None, w.cwnd);
        self.seen.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::context;

    fn at(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    fn segs(n: f64) -> Window {
        Window { cwnd: n * 1000.0, ssthresh: 0.0 }
    }

    /// Ten duplicates, one per millisecond from 1 ms on; the hole is filled at 11 ms.
    fn sample(resent: Time) -> ReorderSample {
        ReorderSample {
            dupacks: 10,
            first_dup: at(1),
            last_dup: at(10),
            filled: at(11),
            resent: Some(resent),
            segments: 1,
        }
    }

    fn armed(delta: Nanos) -> (Delayed, Scoreboard) {
        let mut board = Scoreboard::default();
        board.push(Offset(1), 1000, Time(0), 1000.0, false);
        let d = Delayed { delta, armed: Some((at(3), at(3) + delta)), ..Delayed::new(&DelayedSpec::default()) };
        (d, board)
    }

    #[test]
    fn the_ceiling_is_the_share_of_the_round_trip_that_nine_tenths_of_the_window_less_three_take() {
        let cx = Ctx { srtt: Some(Nanos::from_millis(100)), ..context() };
        for (cwnd, ceiling) in [(10.0, 60), (40.0, 82), (5.0, 30), (3.0, 0)] {
            let mut d = Delayed { delta: Nanos::from_secs(1), ..Delayed::new(&DelayedSpec::default()) };
            d.on_cut(&segs(cwnd), &cx);
            assert_eq!(d.delta.0 / 1_000_000, ceiling, "window of {cwnd}");
        }
    }

    #[test]
    fn with_the_round_trip_over_the_window_before_the_cut_a_halved_window_halves_the_ceiling() {
        let cx = Ctx { srtt: Some(Nanos::from_millis(100)), now: at(9), phase: Phase::Disorder, ..context() };
        // (0.9 now - 3) * 100 ms / max (before, now), in microseconds; the current value beside it.
        for (before, now, ceiling, as_today) in [
            (20.0, 10.0, 30_000, 60_000),
            (40.0, 20.0, 37_500, 75_000),
            (10.0, 5.0, 15_000, 30_000),
            (10.0, 40.0, 82_500, 82_500),
        ] {
            for (which, want) in [(DelayCeiling::BeforeTheCut, ceiling), (DelayCeiling::Now, as_today)] {
                let spec = DelayedSpec { ceiling: which, ..DelayedSpec::default() };
                let (d, mut board) = armed(Nanos::from_secs(1));
                let mut d = Delayed { spec, ..d };
                d.on_timer(&segs(before), &mut board, &cx);
                d.on_cut(&segs(now), &cx);
                assert_eq!(d.delta.0 / 1000, want, "{which:?}: {before} cut to {now}");
            }
        }
    }

    #[test]
    fn a_cut_of_the_delay_after_the_retransmission_does_not_shorten_what_is_measured() {
        let (mut d, mut board) = armed(Nanos::from_millis(6));
        let cx = Ctx { now: at(9), phase: Phase::Disorder, srtt: Some(Nanos::from_millis(10)), ..context() };
        assert_eq!(d.on_timer(&segs(40.0), &mut board, &cx), Verdict::Lost(1000));
        d.on_cut(&segs(4.0), &cx);
        assert_eq!(d.delta, Nanos(1_500_000));
        // X = 8 ms from the third duplicate at 3 ms: max (1.5 + 1, (1.5 + 8 + 1) / 2).
        d.on_reorder(&sample(at(9)), &segs(40.0), &cx);
        assert_eq!(d.delta, Nanos(5_250_000));
    }

    #[test]
    fn the_delay_grows_by_the_spacing_of_the_duplicates_at_least_and_by_pure_reordering_not_at_all() {
        let mut d = Delayed { delta: Nanos::from_millis(30), ..Delayed::new(&DelayedSpec::default()) };
        // X = 11 - 9 + 30 = 32 ms: (30 + 32 + 1) / 2 = 31.5.
        d.on_reorder(&sample(at(9)), &segs(40.0), &context());
        assert_eq!(d.delta, Nanos(31_500_000));
        let mut d = Delayed { delta: Nanos::from_millis(30), last: Some((at(9), at(3))), ..d };
        // X = 8 ms plus one spacing.
        d.on_reorder(&sample(at(9)), &segs(40.0), &context());
        assert_eq!(d.delta, Nanos(31_000_000));
        d.on_reorder(&ReorderSample { resent: None, ..sample(at(9)) }, &segs(40.0), &context());
        assert_eq!(d.delta, Nanos(31_000_000));
    }

    #[test]
    fn up_to_the_next_duplicate_x_ends_a_spacing_after_the_last() {
        let spec = DelayedSpec { target: DelayTarget::LastDup, ..DelayedSpec::default() };
        let mut d = Delayed { last: Some((at(3), at(3))), ..Delayed::new(&spec) };
        let late = ReorderSample { filled: at(50), ..sample(at(3)) };
        d.on_reorder(&late, &segs(40.0), &context());
        assert_eq!(d.delta, Nanos(4_500_000));
    }

    #[test]
    fn in_recovery_a_hole_is_lost_after_three_sacked_segments_and_the_delay() {
        let spec = DelayedSpec { judge_in_recovery: true, ..DelayedSpec::default() };
        let mut d = Delayed { delta: Nanos::from_millis(5), ..Delayed::new(&spec) };
        let (_, mut board) = armed(Nanos::ZERO);
        (1..6).for_each(|n| _ = board.push(Offset(1 + 1000 * n), 1000, Time(0), 1000.0, false));
        let mut delivered = Default::default();
        board.apply_sack((Offset(2001), Offset(5001)), &mut delivered);
        let cx = Ctx { now: at(10), phase: Phase::Recovery, ..context() };
        assert_eq!((d.in_recovery(&mut board, &cx), d.deadline()), (Verdict::More(0), Some(at(15))));
        assert_eq!(d.on_timer(&segs(9.0), &mut board, &Ctx { now: at(15), ..cx }), Verdict::More(2000));
        assert_eq!(d.deadline(), None);
    }

    #[test]
    fn in_recovery_each_further_hole_waits_from_when_it_was_seen_and_after_it_none_does() {
        let spec = DelayedSpec { judge_in_recovery: true, ..DelayedSpec::default() };
        let mut d = Delayed { delta: Nanos::from_millis(5), ..Delayed::new(&spec) };
        let (_, mut board) = armed(Nanos::ZERO);
        (1..10).for_each(|n| _ = board.push(Offset(1 + 1000 * n), 1000, Time(0), 1000.0, false));
        let mut delivered = Default::default();
        let at_ms = |ms: u64| Ctx { now: at(ms), phase: Phase::Recovery, ..context() };
        board.apply_sack((Offset(1001), Offset(4001)), &mut delivered);
        assert_eq!(d.in_recovery(&mut board, &at_ms(10)), Verdict::More(0), "the first hole");
        board.apply_sack((Offset(5001), Offset(8001)), &mut delivered);
        assert_eq!(d.in_recovery(&mut board, &at_ms(12)), Verdict::More(0), "the second");
        assert_eq!(d.in_recovery(&mut board, &at_ms(15)), Verdict::More(1000));
        assert_eq!((d.deadline(), d.in_recovery(&mut board, &at_ms(16))), (Some(at(17)), Verdict::More(0)));
        d.on_recovered(&context());
        assert_eq!(d.deadline(), None);
    }

    #[test]
    fn a_wait_by_the_round_trip_is_a_quarter_of_it_unless_said_otherwise() {
        let spec: DelayedSpec = toml::from_str("wait = { kind = \"round-trip\" }").unwrap();
        assert_eq!(spec.wait, Wait::RoundTrip { share: 0.25 });
    }

    #[test]
    fn a_given_wait_is_twenty_ms_or_a_share_of_the_round_trip_whatever_was_needless_before() {
        let quarter = Wait::RoundTrip { share: 0.25 };
        for (wait, arming_dups, fires) in [(Wait::Fixed { delay: paxsons_wait() }, 2, 32), (quarter, 3, 38)] {
            let mut d = Delayed::new(&DelayedSpec { wait, arming_dups, ..DelayedSpec::default() });
            let (_, mut board) = armed(Nanos::ZERO);
            d.on_reorder(&sample(at(9)), &segs(40.0), &context());
            d.on_cut(&segs(4.0), &context());
            for run in 1..=3 {
                let cx = Ctx { now: at(10 + u64::from(run)), srtt: Some(Nanos::from_millis(100)), ..context() };
                let dup = AckEvent { is_dup: true, dup_run: run, ..crate::testing::blank() };
                assert_eq!(d.on_ack(&dup, &segs(40.0), &mut board, &cx), Verdict::Suspect);
            }
            assert_eq!(d.deadline(), Some(at(fires)), "{wait:?}");
        }
    }
}
