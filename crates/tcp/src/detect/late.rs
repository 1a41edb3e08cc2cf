//! Late: a segment is lost when it has been overtaken for longer than overtaken segments take to arrive on this path.
//!
//! Source: this project (decision 0250); around it RFC 8985: §6.2 (until reordering is seen), §6.3 (timeouts), §7 (the tail
//! loss probe).
//!
//! Idea: RACK waits from the time of sending, and for at most a smoothed round trip. Late waits from the moment when a later
//! segment was delivered, since from then on only the path's reordering matters, and learns how long: the greatest lateness
//! seen, which fades slowly. So neither the round-trip time nor its variation enters the deadline.
//!
//! | source | here |
//! | --- | --- |
//! | overtaken since | `facts/lateness.rs` |
//! | greatest lateness | `longest` |
//! | RFC 8985's DupThresh, TLP | `dupthresh`, `tlp.rs` |
//!
//! Departures: none. Until a late segment was seen, RACK's rule holds: a round trip and `first_rtts` (a quarter) of the smallest one
//! since sending, without that quarter in a recovery or once `dupthresh` segments are SACKed. If the RTO comes due while the oldest
//! segment is waited for, that segment is repaired as a loss.

use super::tlp::Tlp;
use super::{Detector, Learner, StandIn, Timekeeper, Verdict};
use crate::error::StackError;
use crate::event::{Phase, Window};
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::lateness::{Lateness, Overtaken};
use crate::facts::scoreboard::send_order::SendOrder;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::needs::{Need, Requirement, Resends};
use crate::seq::Offset;
use crate::time::{earliest, Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LateSpec {
    /// The wait as a multiple of the greatest lateness seen. Default: 1.5; with 1.25 twice as many retransmissions are needless
    /// where the delay is redrawn.
    pub margin: f64,
    /// The shortest wait once a late segment was seen, in smallest round trips. Default: 0; with 0.5 connections of a few segments
    /// resend less needlessly (decision 0250).
    #[serde(skip_serializing_if = "is_zero")]
    pub least_rtts: f64,
    /// The wait until a late segment was seen, in smallest round trips, after a round trip. Default: 0.25 (RFC 8985 §6.2); with 0.75 and
    /// without `dupthresh` connections of a few segments resend almost nothing needlessly (decision 0250).
    #[serde(skip_serializing_if = "is_a_quarter")]
    pub first_rtts: f64,
    /// The longest wait, in smoothed round trips. Default: 8, enough for two paths 240 ms apart.
    pub cap_srtts: f64,
    /// Share of the greatest lateness that remains after each smaller one. Default: 0.999; with 0.98 frequent small ones make it
    /// forget a rare large one.
    pub keep: f64,
    /// Share of it that remains after a recovery in which no late segment arrived. Default: 0.95.
    pub keep_after_losses: f64,
    /// SACKed segments that mean a loss until a late segment was seen; 0: no number does. Default: 3 (RFC 8985 §6.2).
    pub dupthresh: u32,
    /// Added to the probe timeout when one segment is outstanding, to allow for a delayed ACK. Default: 200 ms (RFC 8985 §7.2).
    pub max_ack_delay: Nanos,
}

fn is_zero(least: &f64) -> bool {
    *least == 0.0
}

fn is_a_quarter(first: &f64) -> bool {
    *first == 0.25
}

impl Default for LateSpec {
    fn default() -> Self {
        LateSpec {
            margin: 1.5,
            least_rtts: 0.0,
            first_rtts: 0.25,
            cap_srtts: 8.0,
            keep: 0.999,
            keep_after_losses: 0.95,
            dupthresh: 3,
            max_ack_delay: Nanos::from_millis(200),
        }
    }
}

impl LateSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let share = |key, value: f64| StackError::unless((0.0..=1.0).contains(&value), key, &value, "0 to 1");
        let multiple = (1.0..=1000.0).contains(&self.margin);
        StackError::unless(multiple, "detect.margin", &self.margin, "1 to 1000 times the greatest lateness")?;
        let least = (0.0..=1000.0).contains(&self.least_rtts);
        StackError::unless(least, "detect.least_rtts", &self.least_rtts, "0 to 1000 round trips")?;
        let first = (0.0..=1000.0).contains(&self.first_rtts);
        StackError::unless(first, "detect.first_rtts", &self.first_rtts, "0 to 1000 round trips")?;
        let cap = self.cap_srtts > 0.0 && self.cap_srtts <= 1000.0;
        StackError::unless(cap, "detect.cap_srtts", &self.cap_srtts, "more than 0 and at most 1000 round trips")?;
        share("detect.keep", self.keep)?;
        share("detect.keep_after_losses", self.keep_after_losses)?;
        let n = self.dupthresh;
        StackError::unless((0..=1000).contains(&n), "detect.dupthresh", &n, "0 to 1000 SACKed segments")
    }

    pub(super) fn needs(&self) -> Vec<Requirement> {
        let by_mark = Requirement {
            need: Need::Resends(&[Resends::ByMark, Resends::Unknown]),
            key: "recovery",
            found: "a different one with detect = \"late\"",
            allowed: "\"prr\" with order = \"marks\", since Late marks each segment by itself",
        };
        let after_timeout = Requirement {
            need: Need::ResendsByMark,
            key: "timeout",
            found: "\"go-back-n\"",
            allowed: "\"sack\" with detect = \"late\", since going back N ignores its marks",
        };
        vec![Requirement::sack("detect", "\"late\""), by_mark, after_timeout]
    }
}

/// Late at work.
pub struct Late {
    margin: f64,
    least_rtts: f64,
    first_rtts: f64,
    cap_srtts: f64,
    keep: f64,
    keep_after_losses: f64,
    dupthresh: u32,
    /// Data was SACKed after the last ACK had been processed.
    sacked: bool,
    /// A late segment arrived since the last recovery ended.
    late_lately: bool,
    /// The greatest lateness, which fades; `None` until a late segment arrived.
    longest: Option<Nanos>,
    order: SendOrder,
    lateness: Lateness,
    judge_at: Option<Time>,
    /// The oldest segment outstanding was overtaken, so at the timeout it is repaired as a loss.
    head_waits: bool,
    tlp: Tlp,
}

impl Late {
    pub(super) fn new(spec: &LateSpec) -> Self {
        let LateSpec { margin, least_rtts, first_rtts, cap_srtts, keep, keep_after_losses, dupthresh, max_ack_delay } =
            spec.clone();
        Late {
            margin,
            least_rtts,
            first_rtts,
            cap_srtts,
            keep,
            keep_after_losses,
            dupthresh,
            sacked: false,
            late_lately: false,
            longest: None,
            order: SendOrder::default(),
            lateness: Lateness::default(),
            judge_at: None,
            head_waits: false,
            tlp: Tlp::new(max_ack_delay, None),
        }
    }

    /// The time for which an overtaken segment is waited for.
    fn wait(&self, repairing: bool, board: &Scoreboard, cx: &Ctx) -> Nanos {
        let Some(longest) = self.longest else {
            let counts = self.dupthresh > 0 && board.sacked() > 0;
            let enough = || counts && board.holes_end(self.dupthresh).is_some();
            let first = scaled(cx.min_rtt.unwrap_or_default(), self.first_rtts);
            return if repairing || enough() { Nanos::ZERO } else { first };
        };
        let least = scaled(cx.min_rtt.unwrap_or_default(), self.least_rtts);
        let wait = scaled(longest, self.margin).max(least);
        cx.srtt.map_or(wait, |srtt| wait.min(scaled(srtt, self.cap_srtts)))
    }

    /// Marks the segments that have been overtaken for too long, and arms the timer for the next one.
    fn judge(&mut self, repairing: bool, board: &mut Scoreboard, cx: &Ctx) -> u64 {
        let Some(newest) = self.lateness.newest() else { return 0 };
        self.head_waits = false;
        if self.lateness.is_quiet() {
            self.judge_at = None;
            return 0;
        }
        let wait = self.wait(repairing, board, cx);
        if self.longest.is_none() {
            return self.judge_as_rack(newest, wait, board, cx);
        }
        let overtaken = cx.now.0.checked_sub(wait.0).map(|by| self.lateness.overtaken_by(Time(by)));
        let lateness = &mut self.lateness;
        let overtaken = overtaken.unwrap_or((Time::ZERO, Offset(0)));
        let (lost, oldest) = board.mark_overtaken(&mut self.order, overtaken, newest, |s| lateness.marked(s));
        let since = self.lateness.settle(oldest);
        let head = board.iter().next().filter(|s| oldest == Some(s.key()));
        self.head_waits = head.is_some() && cx.phase != Phase::Loss;
        self.judge_at = since.map(|since| since + wait);
        lost
    }

    /// Until a late segment was seen: RFC 8985 §6.2 step 5.
    fn judge_as_rack(&mut self, newest: (Time, Offset), wait: Nanos, board: &mut Scoreboard, cx: &Ctx) -> u64 {
        let wait = self.lateness.round_trip() + wait;
        let (lateness, by) = (&mut self.lateness, cx.now.0.checked_sub(wait.0).map(Time));
        let (lost, waits) = board.mark_sent_before(&mut self.order, newest, by, |s| lateness.marked(s));
        if waits.is_none() {
            self.lateness.settle(None);
        }
        self.judge_at = waits.map(|at| at + wait);
        lost
    }

    /// The timeout is due while the oldest segment is waited for: longer waiting cannot help.
    fn give_up_head(&mut self, board: &mut Scoreboard) -> u64 {
        let Some(head) = board.iter().next().copied() else { return 0 };
        if head.sends == 1 {
            self.lateness.marked(&head);
        }
        board.mark_lost(head.start)
    }

    /// Fast path for the usual ACK; see [`super::rack_tlp::RackTlp`]. Returns whether it was such an ACK; any other changes
    /// nothing here.
    fn take_plain(&mut self, ack: &AckEvent, board: &Scoreboard, cx: &Ctx) -> bool {
        let Some(n) = ack.newest else { return false };
        let plain = cx.phase == Phase::Open && ack.advances() && ack.dsack.is_none() && board.sacked() == 0;
        let newest = (n.at, n.end);
        if !plain
            || ack.rtt.is_none()
            || n.retransmitted
            || !self.lateness.is_quiet()
            || self.lateness.newest().is_some_and(|known| known >= newest)
            || !self.tlp.is_idle()
            || !board.is_in_order(&self.order, newest)
        {
            return false;
        }
        self.tlp.measured();
        self.lateness.advance(newest, cx.now);
        (self.judge_at, self.head_waits, self.sacked) = (None, false, false);
        self.tlp.arm(cx.now, cx);
        true
    }

    #[inline(never)]
    fn on_telling_ack(&mut self, ack: &AckEvent, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if ack.rtt.is_some() {
            self.tlp.measured();
        }
        let (keep, mut longest, mut seen) = (self.keep, self.longest, false);
        let overtaken = self.lateness.on_ack(ack, board, &self.order, cx, |by| {
            let faded = longest.map_or(Nanos::ZERO, |l| scaled(l, keep));
            (longest, seen) = (Some(by.max(faded)), true);
        });
        self.longest = longest;
        self.late_lately |= seen;
        let probe = self.tlp.on_ack(ack);
        let repairs = cx.phase.repairs();
        let repairing = repairs && cx.recover.is_none_or(|r| cx.snd_una < r);
        let same = overtaken == Overtaken::AsBefore && longest.is_some() && !seen;
        // The usual ACK while a segment is waited for.
        let lost = match self.judge_at {
            Some(at) if same && at > cx.now => 0,
            Some(_) | None => self.judge(repairing, board, cx),
        };
        self.sacked = board.sacked() > 0;
        if repairing || self.sacked || lost > 0 || cx.flight() == 0 {
            self.tlp.disarm();
        } else if ack.advances() {
            self.tlp.arm(cx.now, cx);
        }
        probe.verdict(lost, self.sacked, cx)
    }
}

/// `span` times `factor`.
fn scaled(span: Nanos, factor: f64) -> Nanos {
    Nanos((span.0 as f64 * factor) as u64)
}

impl Detector for Late {
    fn on_ack(&mut self, ack: &AckEvent, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if self.take_plain(ack, board, cx) {
            return Verdict::Clear;
        }
        self.on_telling_ack(ack, board, cx)
    }
}

impl Timekeeper for Late {
    fn keeps_time(&self) -> bool {
        true
    }
    fn on_timer(&mut self, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        let in_place_of_rto = self.head_waits && cx.rto_at.is_some_and(|at| at <= cx.now);
        if in_place_of_rto || self.judge_at.is_some_and(|at| at <= cx.now) {
            let head = if in_place_of_rto { self.give_up_head(board) } else { 0 };
            let lost = head + self.judge(cx.phase.repairs(), board, cx);
            if lost > 0 {
                self.tlp.disarm();
                return Verdict::Lost(lost);
            }
        }
        self.tlp.on_timer(!self.sacked, false, board, cx)
    }
    fn deadline(&self) -> Option<Time> {
        earliest(self.judge_at, self.tlp.deadline())
    }
    fn watches_sends(&self) -> bool {
        !self.sacked && self.tlp.waits_for_a_send()
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        if sent.sends > 1 {
            self.order.resent(sent);
        }
        self.tlp.on_sent(!self.sacked, x, sent, cx);
    }
    fn stands_in_for_rto(&self) -> StandIn {
        if self.head_waits {
            StandIn::Restart
        } else {
            StandIn::No
        }
    }
    fn after_rto(&mut self, board: &mut Scoreboard, cx: &Ctx) -> bool {
        (self.judge_at, self.head_waits) = (None, false);
        self.order.forget();
        if self.lateness.newest().is_none() {
            return false;
        }
        // RFC 8985 §6.3: by time alone. The rest is overtaken by the next segment reported.
        let wait = self.wait(true, board, cx);
        let answered = cx.now.0.checked_sub(self.lateness.round_trip().0 + wait.0).map(Time);
        let everything = (cx.now, cx.snd_max + 1);
        board.mark_sent_before(&mut self.order, everything, answered, |_| {});
        self.order.forget();
        self.judge(true, board, cx);
        true
    }
}

impl Learner for Late {
    fn on_recovered(&mut self, _: &Ctx) {
        if !std::mem::take(&mut self.late_lately) {
            self.longest = self.longest.map(|l| scaled(l, self.keep_after_losses));
        }
        // It may have ended as a mistake, with marks removed.
        self.order.forget();
    }
    fn on_cut(&mut self, _: &Window, cx: &Ctx) {
        self.tlp.on_cut(cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::scoreboard::{Delivered, Marks};
    use crate::testing::{context, ms, wide};

    /// Ten segments of 1000 bytes, one sent in each millisecond; then segment `i` is SACKed at `now`.
    fn sack(d: &mut Late, board: &mut Scoreboard, now: u64, i: u64) -> Verdict {
        board.begin_ack();
        let mut out = Delivered::default();
        board.apply_sack((Offset(1 + 1000 * i), Offset(1001 + 1000 * i)), &mut out);
        let ack = out.ack_event(Offset::DATA, Offset::DATA, ms(now));
        d.on_ack(&ack, &wide(), board, &at(now))
    }

    fn at(now: u64) -> Ctx {
        let rtt = Some(Nanos::from_millis(100));
        Ctx { now: ms(now), phase: Phase::Disorder, srtt: rtt, min_rtt: rtt, snd_max: Offset(10_001), ..context() }
    }

    fn sent() -> (Late, Scoreboard) {
        let mut board = Scoreboard::default();
        (0..10).for_each(|i| _ = board.push(Offset(1 + 1000 * i), 1000, ms(i), 1e9, false));
        (Late::new(&LateSpec::default()), board)
    }

    #[test]
    fn the_wait_counts_from_the_moment_of_being_overtaken_not_from_sending() {
        let (mut d, mut board) = sent();
        d.longest = Some(Nanos::from_millis(40));
        // Overtaken 400 ms after it was sent: a path with another delay changes nothing.
        assert_eq!(sack(&mut d, &mut board, 400, 1), Verdict::Suspect);
        assert_eq!(d.deadline(), Some(ms(460)), "1.5 times 40 ms later");
        assert_eq!(sack(&mut d, &mut board, 450, 4), Verdict::Suspect);
        assert_eq!(d.deadline(), Some(ms(460)), "later deliveries move nothing");
        assert_eq!(d.on_timer(&wide(), &mut board, &at(460)), Verdict::Lost(1000));
        assert_eq!(d.deadline(), Some(ms(510)), "segments 2 and 3 were overtaken at 450 ms");
        assert_eq!(d.on_timer(&wide(), &mut board, &at(510)), Verdict::Lost(2000));
        assert_eq!(d.deadline(), None);
    }

    #[test]
    fn until_a_late_segment_was_seen_the_rules_are_racks() {
        let (mut d, mut board) = sent();
        assert_eq!(sack(&mut d, &mut board, 101, 1), Verdict::Suspect);
        assert_eq!(d.deadline(), Some(ms(125)), "a round trip and a quarter after sending");
        sack(&mut d, &mut board, 102, 2);
        assert_eq!(sack(&mut d, &mut board, 103, 3), Verdict::Lost(1000), "three SACKed segments");
    }

    #[test]
    fn until_a_late_segment_was_seen_it_may_be_more_patient_than_rack() {
        let (_, mut board) = sent();
        let mut d = Late::new(&LateSpec { first_rtts: 0.75, dupthresh: 0, ..LateSpec::default() });
        for i in 1..9 {
            assert_eq!(
                sack(&mut d, &mut board, 100 + i, i),
                Verdict::Suspect,
                "no number of SACKed segments is enough"
            );
        }
        assert_eq!(d.deadline(), Some(ms(175)), "a round trip and three quarters after sending");
        assert_eq!(d.on_timer(&wide(), &mut board, &at(175)), Verdict::Lost(1000));
    }

    #[test]
    fn the_greatest_lateness_stands_until_it_fades() {
        let (mut d, mut board) = sent();
        sack(&mut d, &mut board, 105, 5);
        sack(&mut d, &mut board, 125, 0);
        assert_eq!(d.longest, Some(Nanos::from_millis(20)));
        sack(&mut d, &mut board, 126, 1);
        assert_eq!(d.longest, Some(Nanos::from_millis(21)));
        sack(&mut d, &mut board, 126, 9);
        sack(&mut d, &mut board, 127, 8);
        assert_eq!(d.longest, Some(Nanos(20_979_000)), "0.999 of it after a smaller one");
        d.on_recovered(&at(130));
        assert_eq!(d.longest, Some(Nanos(20_979_000)), "late segments arrived");
        d.on_recovered(&at(130));
        assert_eq!(d.longest, Some(Nanos(19_930_050)), "none did");
    }

    #[test]
    fn the_wait_has_a_floor_in_smallest_round_trips_if_it_is_given_one() {
        let (mut d, mut board) = sent();
        (d.longest, d.least_rtts) = (Some(Nanos::from_millis(2)), 0.25);
        sack(&mut d, &mut board, 101, 1);
        assert_eq!(d.deadline(), Some(ms(126)));
    }

    #[test]
    fn its_state_takes_at_most_256_bytes_more_than_racks() {
        let (late, rack) = (size_of::<Late>(), size_of::<crate::detect::rack_tlp::RackTlp>());
        assert!(late <= rack + 256, "{late} and {rack} bytes");
    }

    #[test]
    fn the_wait_has_a_ceiling_in_round_trips() {
        let (mut d, mut board) = sent();
        d.longest = Some(Nanos::from_secs(2));
        sack(&mut d, &mut board, 101, 1);
        assert_eq!(d.deadline(), Some(ms(901)));
    }

    #[test]
    fn at_a_timeout_segments_sent_a_round_trip_and_the_wait_ago_are_lost() {
        let (mut d, mut board) = sent();
        d.longest = Some(Nanos::from_millis(10));
        sack(&mut d, &mut board, 101, 1);
        let cx = Ctx { phase: Phase::Loss, ..at(119) };
        assert!(d.after_rto(&mut board, &cx));
        // 115 ms ago, segments up to 4 had been sent.
        assert_eq!((board.lost(), d.deadline()), (4000, None));
        assert!(board.iter().skip(5).all(|s| !s.marks.any(Marks::LOST)));
    }

    #[test]
    fn at_the_timeout_a_head_that_is_waited_for_is_repaired_as_a_loss() {
        let (mut d, mut board) = sent();
        d.longest = Some(Nanos::from_millis(400));
        sack(&mut d, &mut board, 101, 1);
        assert_eq!((d.stands_in_for_rto(), d.deadline()), (StandIn::Restart, Some(ms(701))));
        let due = Ctx { rto_at: Some(ms(300)), ..at(300) };
        assert_eq!(d.on_timer(&wide(), &mut board, &due), Verdict::Lost(1000));
        assert_eq!(d.stands_in_for_rto(), StandIn::No, "it is resent, and then nothing sent later has arrived");
    }
}
