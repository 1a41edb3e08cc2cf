//! QUIC's loss detection: lost is what was sent three packets, or nine eighths of a round trip, before something that arrived.
//!
//! Source: RFC 9002 §6.1 (thresholds), §6.2 (PTO), §7.6 (persistent congestion), A.8 to A.10.
//!
//! Idea: every transmission has its place in the order of sending, so reordering and loss are judged by that alone, also for
//! retransmissions. When nothing is acknowledged a probe goes out; nothing is held to be lost for it.
//!
//! | source | here |
//! | --- | --- |
//! | packet number | place in the order of sending: `first`, and the index in `packets` |
//! | largest_acked_packet | `largest` |
//! | kPacketThreshold, kTimeThreshold, kGranularity | `packet_threshold`, `time_threshold`, `granularity` |
//! | congestion_recovery_start_time | `recovery_start`; losses of packets sent before it are `Verdict::More` |
//! | persistent congestion | `Verdict::Lost` that `began_by` a timeout |
//!
//! Departures: over TCP's acknowledgments, which do not say which copy arrived: it is the last one, unless that was sent less
//! than the smallest round trip ago. One probe, not two: new data, else the last segment, and from the second probe on the oldest
//! missing one: so much is held to be lost that it may go (§6.2.4 allows it). There is no Disorder: the window decides under `pipe`, also
//! at a cut (§7.3.2 would let one packet go beyond it). Unsaid: `max_pto`; `adapt` (decision 0061).

mod adapt;

use super::{Detector, Verdict};
use crate::error::StackError;
use crate::event::{Cause, Window};
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::gate;
use crate::facts::scoreboard::{Marks, Scoreboard, Sent};
use crate::needs::{Need, Requirement, Resends};
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use adapt::Adapt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QuicSpec {
    /// Packets sent later and acknowledged that make one lost. Default 3 (RFC 9002 §6.1.1).
    #[schemars(range(min = 1, max = 1000))]
    pub packet_threshold: u32,
    /// Round trips after which a packet sent before an acknowledged one is lost, 1 to 10. Default 1.125 (RFC 9002 §6.1.2).
    #[schemars(range(min = 1.0, max = 10.0))]
    pub time_threshold: f64,
    /// The least time threshold. Default 1 ms (RFC 9002 §6.1.2).
    pub granularity: Nanos,
    /// Probe timeouts without an acknowledgment that are persistent congestion. Default 3 (RFC 9002 §7.6.1).
    #[schemars(range(min = 1, max = 1000))]
    pub persistent: u32,
    /// Upper limit of the probe timeout. Default 60 s (RFC 6298 §2.5; RFC 9002 has none).
    pub max_pto: Nanos,
    /// Widen both thresholds after a loss that was none. Default no.
    pub adapt: bool,
}

impl Default for QuicSpec {
    fn default() -> Self {
        QuicSpec {
            packet_threshold: 3,
            time_threshold: 1.125,
            granularity: Nanos::from_millis(1),
            persistent: 3,
            max_pto: Nanos::from_secs(60),
            adapt: false,
        }
    }
}

impl QuicSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        for (key, n) in [("detect.packet_threshold", self.packet_threshold), ("detect.persistent", self.persistent)] {
            StackError::unless((1..=1000).contains(&n), key, &n, "1 to 1000")?;
        }
        let x = self.time_threshold;
        StackError::unless((1.0..=10.0).contains(&x), "detect.time_threshold", &x, "1 to 10 round trips")?;
        StackError::unless(self.granularity.0 > 0, "detect.granularity", &0, "more than 0")?;
        StackError::unless(self.max_pto.0 > 0, "detect.max_pto", &0, "more than 0")
    }

    pub(super) fn needs(&self) -> Vec<Requirement> {
        let in_open = Requirement {
            need: Need::Resends(&[Resends::InOpen, Resends::Unknown]),
            key: "recovery",
            found: "another",
            allowed: "\"in-open\" with detect = \"quic\": it has no phase of recovery (RFC 9002 §7.3.2)",
        };
        vec![Requirement::sack("detect", "\"quic\""), in_open]
    }
}

/// A transmission: which segment, by its end, and when.
#[derive(Clone, Copy)]
struct Packet {
    end: Offset,
    at: Time,
}

/// What became of a transmission.
enum Fate {
    /// Its segment is outstanding, and this is its last copy.
    Outstanding,
    /// Its segment was sent again while it was not held to be lost: a probe.
    Probed,
    /// Acknowledged, or held to be lost by somebody else.
    Settled,
}

/// RFC 9002's detection at work. Boxed.
pub struct Quic {
    spec: QuicSpec,
    /// In the order of sending; the first has number `first`.
    packets: VecDeque<Packet>,
    first: u64,
    largest: Option<u64>,
    latest_rtt: Nanos,
    recovery_start: Option<Time>,
    /// Since when nothing was sent, or the first ACK without that.
    quiet_since: Option<Time>,
    pto: Nanos,
    pto_count: u32,
    loss_at: Option<Time>,
    /// When the first of the lost packets in a row was sent that count for persistent congestion.
    lost_run_since: Option<Time>,
    unmeasured_until: Option<Time>,
    /// The verdict is persistent congestion.
    collapsed: bool,
    adapt: Adapt,
}

impl Quic {
    pub(super) fn new(spec: &QuicSpec) -> Self {
        Quic {
            spec: spec.clone(),
            packets: VecDeque::new(),
            first: 0,
            largest: None,
            latest_rtt: Nanos::ZERO,
            recovery_start: None,
            quiet_since: None,
            pto: Nanos::ZERO,
            pto_count: 0,
            loss_at: None,
            lost_run_since: None,
            unmeasured_until: None,
            collapsed: false,
            adapt: Adapt::default(),
        }
    }

    /// The number of the last transmission of a segment, if it is still remembered.
    fn number(&self, at: Time, end: Offset) -> Option<u64> {
        let after = self.packets.partition_point(|p| p.at <= at);
        let same_time = self.packets.range(..after).rev().take_while(|p| p.at == at);
        let back = same_time.enumerate().find(|(_, p)| p.end == end)?.0;
        Some(self.first + (after - 1 - back) as u64)
    }

    /// A.7: the largest number that this ACK acknowledges.
    fn take_largest(&mut self, ack: &AckEvent, board: &Scoreboard, cx: &Ctx) {
        let own = |at: Time| cx.min_rtt.is_none_or(|min| cx.now.since(at) >= min);
        let newest = match ack.newest {
            Some(n) if !n.retransmitted || own(n.at) => Some((n.at, n.end)),
            Some(_) => board.newly().filter(|s| s.sends == 1 || own(s.at)).map(|s| (s.at, s.end())).max(),
            None => None,
        };
        self.largest = self.largest.max(newest.and_then(|(at, end)| self.number(at, end)));
    }

    fn fate(p: &Packet, board: &Scoreboard) -> Fate {
        match board.get(Offset(p.end.0 - 1)) {
            Some(s) if s.marks.any(Marks::SACKED) => Fate::Settled,
            Some(s) if s.at != p.at => Fate::Probed,
            Some(s) if !s.marks.any(Marks::LOST) || s.marks.any(Marks::REXMIT) => Fate::Outstanding,
            _ => Fate::Settled,
        }
    }

    /// §6.1.2 kTimeThreshold · max (smoothed_rtt, latest_rtt), at least kGranularity.
    fn loss_delay(&self, cx: &Ctx) -> Nanos {
        let rtt = self.latest_rtt.max(cx.srtt.unwrap_or(Nanos::ZERO));
        Nanos((rtt.0 as f64 * self.spec.time_threshold) as u64).max(self.spec.granularity)
    }

    /// A.10 DetectAndRemoveLostPackets, in the order of sending: what is passed once is not looked at again.
    fn detect_lost(&mut self, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.loss_at = None;
        let Some(largest) = self.largest else { return Verdict::Clear };
        let delay = self.loss_delay(cx);
        let (mut lost, mut is_new, mut silence) = (0, false, Nanos::ZERO);
        while self.first <= largest {
            let Some(p) = self.packets.front().copied() else { break };
            let distance = largest - self.first;
            match Self::fate(&p, board) {
                Fate::Outstanding => {
                    // Part of the largest one itself may be outstanding.
                    let early = distance < u64::from(self.spec.packet_threshold) && p.at + delay > cx.now;
                    if early || distance == 0 {
                        self.loss_at = (distance > 0).then_some(p.at + delay);
                        break;
                    }
                    lost += board.mark_lost(Offset(p.end.0 - 1));
                    is_new |= self.recovery_start.is_none_or(|start| p.at > start);
                    if self.spec.adapt {
                        self.adapt.declare(p.end, p.at, distance);
                    }
                    silence = silence.max(self.lengthen_run(p.at));
                }
                Fate::Probed => silence = silence.max(self.lengthen_run(p.at)),
                Fate::Settled => self.lost_run_since = None,
            }
            self.packets.pop_front();
            self.first += 1;
        }
        // §7.6.1: (smoothed_rtt + max (4 · rttvar, kGranularity) + max_ack_delay) · kPersistentCongestionThreshold
        self.collapsed = lost > 0 && silence > cx.rto.times(u64::from(self.spec.persistent));
        match (lost, is_new || self.collapsed) {
            (0, _) => Verdict::Clear,
            (_, true) => Verdict::Lost(lost),
            (_, false) => Verdict::More(lost),
        }
    }

    /// How long nothing got through, up to this lost packet. §7.6.2: only those count that were sent after a round trip had been
    /// measured.
    fn lengthen_run(&mut self, at: Time) -> Nanos {
        if self.unmeasured_until.is_some_and(|until| at <= until) {
            return Nanos::ZERO;
        }
        at.since(*self.lost_run_since.get_or_insert(at))
    }

    fn widen(&mut self, ack: &AckEvent, w: &Window, board: &Scoreboard, cx: &Ctx) {
        let rtt = self.latest_rtt.max(cx.srtt.unwrap_or(Nanos::ZERO));
        if let Some(wider) = self.adapt.on_ack(ack, rtt, board, cx) {
            let window = (w.cwnd / cx.smss()) as u64;
            let packets = wider.packets.min(window).min(1000) as u32;
            self.spec.packet_threshold = self.spec.packet_threshold.max(packets);
            self.spec.time_threshold = self.spec.time_threshold.max(wider.round_trips);
        }
    }
}

impl Detector for Quic {
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if self.spec.adapt {
            self.widen(ack, w, board, cx);
        }
        (self.collapsed, self.pto) = (false, cx.rto);
        if board.is_empty() {
            self.first += self.packets.len() as u64;
            self.packets.clear();
            (self.quiet_since, self.loss_at, self.lost_run_since, self.pto_count) = (None, None, None, 0);
            return Verdict::Clear;
        }
        self.quiet_since.get_or_insert(cx.now);
        if ack.delivered == 0 {
            return Verdict::Clear;
        }
        self.pto_count = 0;
        self.latest_rtt = ack.rtt.unwrap_or(self.latest_rtt);
        self.take_largest(ack, board, cx);
        self.detect_lost(board, cx)
    }
    fn on_timer(&mut self, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.collapsed = false;
        if self.loss_at.is_some_and(|at| at <= cx.now) {
            let verdict = self.detect_lost(board, cx);
            // What is lost goes out now, in the probe's place.
            if self.deadline().is_some_and(|at| at <= cx.now) {
                self.quiet_since = Some(cx.now);
            }
            return verdict;
        }
        self.pto_count += 1;
        self.quiet_since = Some(cx.now);
        // RFC 2018 §8: a receiver that holds the oldest segment would have acknowledged it; it has reneged.
        if board.iter().next().is_some_and(|s| s.marks.any(Marks::SACKED)) {
            board.clear_sacks();
        }
        let last_is_sacked = board.iter().next_back().is_some_and(|s| s.marks.any(Marks::SACKED));
        if cx.next_len > 0 || (self.pto_count == 1 && !last_is_sacked) {
            return Verdict::Probe;
        }
        // §6.2.4. A probe of what has arrived, or a FIN alone above a hole, tells nothing.
        let mut lost = 0;
        let in_flight =
            |s: &&Sent| !s.marks.any(Marks::SACKED) && (!s.marks.any(Marks::LOST) || s.marks.any(Marks::REXMIT));
        loop {
            let oldest = board.iter().find(in_flight).map(|s| s.start);
            lost += oldest.map_or(0, |at| board.mark_lost(at));
            if oldest.is_none() || gate::pipe(w, board, cx) {
                break;
            }
        }
        Verdict::More(lost)
    }
    #[inline]
    fn deadline(&self) -> Option<Time> {
        // A.8: while the loss timer is set there is no PTO.
        let pto = Nanos(self.pto.0.saturating_mul(1 << self.pto_count.min(32))).min(self.spec.max_pto);
        self.loss_at.or(self.quiet_since.map(|since| since + pto))
    }
    fn watches_sends(&self) -> bool {
        true
    }
    fn on_sent(&mut self, _: Xmit, sent: &Sent, cx: &Ctx) {
        self.packets.push_back(Packet { end: sent.end(), at: sent.at });
        (self.quiet_since, self.pto) = (Some(cx.now), cx.rto);
        if cx.srtt.is_none() {
            self.unmeasured_until = Some(cx.now);
        }
    }
    fn on_cut(&mut self, _: &Window, cx: &Ctx) {
        // B.8: after persistent congestion everything sent counts.
        self.recovery_start = (!self.collapsed).then_some(cx.now);
        if self.collapsed {
            self.lost_run_since = None;
        }
    }
    fn began_by(&self) -> Cause {
        if self.collapsed {
            Cause::Rto
        } else {
            Cause::Fast
        }
    }
    fn owns_rto(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ack::Newest;
    use crate::testing::blank;
    use crate::testing::{context, wide};

    fn ms(n: u64) -> Time {
        Time(n * 1_000_000)
    }

    fn seg(n: u64) -> Offset {
        Offset(1 + 1000 * n)
    }

    /// A detector and a scoreboard; SRTT 100 ms, PTO 2 s.
    struct Bench {
        d: Quic,
        board: Scoreboard,
        cx: Ctx,
    }

    fn bench(spec: QuicSpec) -> Bench {
        let srtt = Some(Nanos::from_millis(100));
        let cx = Ctx { srtt, min_rtt: srtt, rto: Nanos::from_secs(2), ..context() };
        Bench { d: Quic::new(&spec), board: Scoreboard::default(), cx }
    }

    impl Bench {
        fn at(&mut self, now: u64) -> Ctx {
            self.cx.now = ms(now);
            self.cx
        }

        /// Sends segment `n`, for the first time or again.
        fn send(&mut self, now: u64, n: u64) {
            let cx = self.at(now);
            let again = self.board.get(seg(n)).is_some();
            let sent = if again {
                *self.board.resend(seg(n), cx.now, 1e9).unwrap()
            } else {
                self.board.push(seg(n), 1000, cx.now, 1e9, false)
            };
            self.d.on_sent(Xmit::New, &sent, &cx);
        }

        /// An ACK that reports segment `n`, last sent so long ago.
        fn sack(&mut self, now: u64, n: u64) -> Verdict {
            let cx = self.at(now);
            let s = *self.board.get(seg(n)).unwrap();
            let mut told = Default::default();
            self.board.begin_ack();
            self.board.apply_sack((s.start, s.end()), &mut told);
            let newest = Some(Newest { at: s.at, end: s.end(), retransmitted: s.sends > 1 });
            let rtt = (s.sends == 1).then(|| cx.now.since(s.at));
            let ack = AckEvent { delivered: 1000, sacked: 1000, newest, rtt, ..blank() };
            self.d.on_ack(&ack, &wide(), &mut self.board, &cx)
        }

        fn lost(&self) -> Vec<u64> {
            let lost = self.board.iter().filter(|s| s.marks.any(Marks::LOST) && !s.marks.any(Marks::REXMIT));
            lost.map(|s| (s.start.0 - 1) / 1000).collect()
        }
    }

    #[test]
    fn acknowledging_packet_4_loses_packet_1_and_not_packet_2() {
        let mut b = bench(QuicSpec::default());
        (1..=4).for_each(|n| b.send(n, n));
        assert_eq!((b.sack(80, 3), b.lost()), (Verdict::Clear, vec![]));
        assert_eq!((b.sack(81, 4), b.lost()), (Verdict::Lost(1000), vec![1]));
    }

    #[test]
    fn with_a_smoothed_round_trip_of_100_and_a_last_one_of_80_ms_a_packet_is_lost_after_112_and_a_half() {
        let mut b = bench(QuicSpec::default());
        b.send(0, 0);
        b.send(10, 1);
        assert_eq!((b.sack(90, 1), b.d.deadline()), (Verdict::Clear, Some(Time(112_500_000))));
        let cx = Ctx { now: Time(112_500_000), ..b.cx };
        assert_eq!(b.d.on_timer(&wide(), &mut b.board, &cx), Verdict::Lost(1000));
        assert_eq!(b.d.deadline(), Some(ms(2010)), "no loss timer: the probe's, from the last packet");
    }

    #[test]
    fn a_retransmission_has_a_place_of_its_own_and_is_lost_by_it() {
        let mut b = bench(QuicSpec::default());
        (0..4).for_each(|n| b.send(n, n));
        assert_eq!(b.sack(100, 3), Verdict::Lost(1000));
        b.d.on_cut(&wide(), &b.cx);
        // Segment 0 again, then 4, 5, 6: its copy is lost with 6, and was sent after the cut.
        [(101, 0), (102, 4), (103, 5), (104, 6)].into_iter().for_each(|(at, n)| b.send(at, n));
        b.sack(190, 1);
        b.sack(191, 2);
        assert_eq!((b.sack(202, 4), b.sack(203, 5)), (Verdict::Clear, Verdict::Clear));
        assert_eq!((b.sack(204, 6), b.lost()), (Verdict::Lost(1000), vec![0]));
    }

    #[test]
    fn a_loss_of_what_was_sent_before_the_last_cut_is_no_new_event() {
        let mut b = bench(QuicSpec::default());
        (0..6).for_each(|n| b.send(n, n));
        assert_eq!(b.sack(100, 3), Verdict::Lost(1000));
        b.d.on_cut(&wide(), &b.cx);
        assert_eq!((b.sack(101, 4), b.lost()), (Verdict::More(1000), vec![0, 1]));
    }

    #[test]
    fn seven_lost_packets_of_which_the_first_and_last_are_7_s_apart_are_persistent_congestion_at_a_pto_of_2_s() {
        // RFC 9002 §7.6.3; a round trip had been measured before.
        let mut b = bench(QuicSpec::default());
        b.send(0, 1);
        b.send(1000, 2);
        assert_eq!(b.sack(1200, 1), Verdict::Clear);
        for (at, n) in [(2000, 3), (3000, 4), (4000, 5), (5000, 6), (6000, 7), (8000, 8), (12_000, 9)] {
            b.send(at, n);
        }
        assert_eq!((b.sack(12_200, 9), b.lost()), (Verdict::Lost(7000), vec![2, 3, 4, 5, 6, 7, 8]));
        assert_eq!(b.d.began_by(), Cause::Rto);
        b.d.on_cut(&wide(), &b.cx);
        assert_eq!(b.d.recovery_start, None);
    }

    #[test]
    fn an_acknowledged_packet_in_between_or_an_unmeasured_round_trip_is_no_persistent_congestion() {
        for (acked_between, measured) in [(true, true), (false, false), (false, true)] {
            let mut b = bench(QuicSpec::default());
            let srtt = b.cx.srtt;
            b.cx.srtt = srtt.filter(|_| measured);
            [(0, 1), (4000, 2)].into_iter().for_each(|(at, n)| b.send(at, n));
            b.cx.srtt = srtt;
            [(7000, 3), (12_000, 4)].into_iter().for_each(|(at, n)| b.send(at, n));
            let told = if acked_between { b.sack(12_050, 2) } else { Verdict::Clear };
            assert_eq!(told == Verdict::Clear, !acked_between);
            assert!(matches!(b.sack(12_200, 4), Verdict::Lost(_)));
            let want = if measured && !acked_between { Cause::Rto } else { Cause::Fast };
            assert_eq!(b.d.began_by(), want, "{acked_between} {measured}");
        }
    }

    #[test]
    fn the_probe_timeout_doubles_up_to_a_minute_and_an_acknowledgment_ends_that() {
        let mut b = bench(QuicSpec::default());
        b.send(0, 0);
        let mut at = 0;
        for secs in [2, 4, 8, 16, 32, 60, 60] {
            at += secs * 1000;
            assert_eq!(b.d.deadline(), Some(ms(at)));
            let cx = b.at(at);
            let want = if at == 2000 { Verdict::Probe } else { Verdict::More(1000) };
            assert_eq!(b.d.on_timer(&wide(), &mut b.board, &cx), want);
            b.send(at, 0);
        }
        b.send(at, 1);
        b.sack(at + 100, 0);
        assert_eq!(b.d.deadline(), Some(ms(at + 2000)));
    }

    #[test]
    fn a_probe_goes_to_what_is_missing_when_the_last_segment_has_arrived() {
        let mut b = bench(QuicSpec::default());
        [0, 1].into_iter().for_each(|n| b.send(n, n));
        b.sack(100, 1);
        let cx = b.at(120);
        assert_eq!(b.d.on_timer(&wide(), &mut b.board, &cx), Verdict::Lost(1000));
        b.send(120, 0);
        let cx = b.at(2120);
        assert_eq!((b.d.on_timer(&wide(), &mut b.board, &cx), b.lost()), (Verdict::More(1000), vec![0]));
    }

    #[test]
    fn a_loss_that_was_none_widens_both_thresholds_if_asked() {
        for (adapt, packets, round_trips) in [(false, 3, 1.125), (true, 5, 1.5)] {
            let mut b = bench(QuicSpec { adapt, ..QuicSpec::default() });
            (0..6).for_each(|n| b.send(0, n));
            // Packet 0 is declared lost by number 4, and arrives at 150 ms, before it is sent again.
            assert_eq!((b.sack(100, 4), b.lost()), (Verdict::Lost(2000), vec![0, 1]));
            assert_eq!(b.sack(150, 0), Verdict::Clear);
            assert_eq!((b.d.spec.packet_threshold, b.d.spec.time_threshold), (packets, round_trips));
        }
    }
}
