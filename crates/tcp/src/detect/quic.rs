//! QUIC's loss detection: a packet is lost if one sent three packets later has arrived, or one sent nine eighths of a round trip
//! later.
//!
//! Source: RFC 9002 §6.1 (thresholds), §6.2 (PTO), §7.6 (persistent congestion), A.8 to A.10.
//!
//! Idea: every transmission has its place in the order of sending, and reordering and loss are judged by that alone, also for
//! retransmissions. When nothing is acknowledged, a probe is sent; nothing is marked lost for it.
//!
//! | source | here |
//! | --- | --- |
//! | packet number | place in the order of sending: `quic/packets.rs` |
//! | largest_acked_packet | `largest` |
//! | kPacketThreshold, kTimeThreshold, kGranularity | `packet_threshold`, `time_threshold`, `granularity` |
//! | congestion_recovery_start_time | `recovery_start`; losses of packets sent before it are `Verdict::More` |
//! | pto_count | `quic/probe.rs` |
//! | persistent congestion | `quic/persistent.rs`; `Verdict::Collapsed` |
//!
//! Departures: TCP's acknowledgments do not say which copy arrived; it is taken to be the last one, unless that was sent less
//! than the smallest RTT ago. One probe, not two: new data, else the last segment. From the second probe on it is the oldest
//! missing segment; enough is marked lost to let it be sent (§6.2.4 allows it). There is no Disorder: the window limits `pipe`,
//! also at a cut (§7.3.2 would let one packet exceed it). Unsaid: `max_pto`; `adapt` (decision 0061).

mod adapt;
mod packets;
mod persistent;
mod probe;
#[cfg(test)]
mod tests;

use super::{Detector, Learner, Timekeeper, Verdict};
use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::gate;
use crate::facts::reorder::ReorderSample;
use crate::facts::scoreboard::{Marks, Scoreboard, Sent};
use crate::needs::{Need, Requirement, Resends};
use crate::time::{Nanos, Time};
use adapt::Adapt;
use packets::{Fate, Packets};
use persistent::LostRun;
use probe::Pto;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QuicSpec {
    /// A packet is lost once one sent this many packets later is acknowledged. Default: 3 (RFC 9002 §6.1.1).
    #[schemars(range(min = 1, max = 1000))]
    pub packet_threshold: u32,
    /// Time after which a packet sent before an acknowledged one is lost, in round-trip times, 1 to 10. Default: 1.125 (RFC 9002 §6.1.2).
    #[schemars(range(min = 1.0, max = 10.0))]
    pub time_threshold: f64,
    /// The least time threshold. Default: 1 ms (RFC 9002 §6.1.2).
    pub granularity: Nanos,
    /// Probe timeouts without an acknowledgment that amount to persistent congestion. Default: 3 (RFC 9002 §7.6.1).
    #[schemars(range(min = 1, max = 1000))]
    pub persistent: u32,
    /// Upper limit of the probe timeout. Default: 60 s (RFC 6298 §2.5; RFC 9002 has none).
    pub max_pto: Nanos,
    /// Widen both thresholds after a loss that proves false. Default: no.
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
            allowed: "\"in-open\" with detect = \"quic\", which has no recovery phase (RFC 9002 §7.3.2)",
        };
        vec![Requirement::sack("detect", "\"quic\""), in_open]
    }
}

/// RFC 9002's detection at work. Boxed.
pub struct Quic {
    spec: QuicSpec,
    packets: Packets,
    /// largest_acked_packet.
    largest: Option<u64>,
    latest_rtt: Option<Nanos>,
    recovery_start: Option<Time>,
    loss_at: Option<Time>,
    pto: Pto,
    lost_run: LostRun,
    /// The last verdict was persistent congestion, and the cut for it is about to follow.
    collapsed: bool,
    adapt: Adapt,
}

impl Quic {
    pub(super) fn new(spec: &QuicSpec) -> Self {
        Quic {
            spec: spec.clone(),
            packets: Packets::default(),
            largest: None,
            latest_rtt: None,
            recovery_start: None,
            loss_at: None,
            pto: Pto::new(spec.max_pto),
            lost_run: LostRun::default(),
            collapsed: false,
            adapt: Adapt::default(),
        }
    }

    /// max (smoothed_rtt, latest_rtt). Before a sample, smoothed_rtt is kInitialRtt (A.4), a third of the timeout of that time
    /// (§6.2.2).
    fn rtt(&self, cx: &Ctx) -> Nanos {
        self.latest_rtt.max(cx.srtt).unwrap_or(Nanos(cx.rto.0 / 3))
    }

    /// §6.1.2 kTimeThreshold · max (smoothed_rtt, latest_rtt), at least kGranularity.
    fn loss_delay(&self, cx: &Ctx) -> Nanos {
        Nanos((self.rtt(cx).0 as f64 * self.spec.time_threshold) as u64).max(self.spec.granularity)
    }

    /// A.10 DetectAndRemoveLostPackets, in the order of sending: a packet once passed is not examined again.
    fn detect_lost(&mut self, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.loss_at = None;
        let Some(largest) = self.largest else { return Verdict::Clear };
        let delay = self.loss_delay(cx);
        let (mut lost, mut is_new, mut silence) = (0, false, Nanos::ZERO);
        while let Some((number, p)) = self.packets.oldest().filter(|(number, _)| *number <= largest) {
            let distance = largest - number;
            match p.fate(board) {
                Fate::Outstanding => {
                    // Part of the largest packet itself may still be outstanding.
                    let early = distance < u64::from(self.spec.packet_threshold) && p.at + delay > cx.now;
                    if early || distance == 0 {
                        self.loss_at = (distance > 0).then_some(p.at + delay);
                        break;
                    }
                    lost += board.mark_lost(p.last());
                    is_new |= self.recovery_start.is_none_or(|start| p.at > start);
                    if self.spec.adapt {
                        self.adapt.declare(p.end, p.at, distance);
                    }
                    silence = silence.max(self.lost_run.lengthen(p.at));
                }
                Fate::Probed => silence = silence.max(self.lost_run.lengthen(p.at)),
                Fate::Settled => self.lost_run.end(),
            }
            self.packets.pop();
        }
        // §7.6.1: (smoothed_rtt + max (4 · rttvar, kGranularity) + max_ack_delay) · kPersistentCongestionThreshold
        self.collapsed = lost > 0 && silence > cx.rto.times(u64::from(self.spec.persistent));
        match (lost, is_new) {
            (0, _) => Verdict::Clear,
            _ if self.collapsed => Verdict::Collapsed(lost),
            (_, true) => Verdict::Lost(lost),
            (_, false) => Verdict::More(lost),
        }
    }

    /// §6.2.4: chooses the segment that a probe sends. New data, else the last segment; from the second probe on, enough
    /// missing data is marked lost to let the oldest be sent. A probe with data that has arrived, or with a FIN alone above a
    /// hole, reveals nothing.
    fn probe(&self, count: u32, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        let last_is_sacked = board.iter().next_back().is_some_and(|s| s.marks.any(Marks::SACKED));
        if cx.next_len > 0 || (count == 1 && !last_is_sacked) {
            return Verdict::Probe;
        }
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

    fn widen(&mut self, ack: &AckEvent, w: &Window, board: &Scoreboard, cx: &Ctx) {
        if let Some(wider) = self.adapt.on_ack(ack, self.rtt(cx), board, cx) {
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
        self.collapsed = false;
        if board.is_empty() {
            self.packets.clear();
            self.pto.stop();
            self.lost_run.end();
            self.loss_at = None;
            return Verdict::Clear;
        }
        self.pto.keep(cx.now, cx.rto);
        if ack.delivered == 0 {
            return Verdict::Clear;
        }
        self.pto.acknowledged();
        self.latest_rtt = ack.rtt.or(self.latest_rtt);
        self.largest = self.largest.max(self.packets.largest_in(ack, board, cx));
        self.detect_lost(board, cx)
    }
}

impl Timekeeper for Quic {
    fn keeps_time(&self) -> bool {
        true
    }
    fn on_timer(&mut self, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.collapsed = false;
        if self.loss_at.is_some_and(|at| at <= cx.now) {
            let verdict = self.detect_lost(board, cx);
            // Lost data is sent now, in place of the probe.
            if self.deadline().is_some_and(|at| at <= cx.now) {
                self.pto.postpone(cx.now);
            }
            return verdict;
        }
        let count = self.pto.fire(cx.now);
        // RFC 2018 §8: a receiver that holds the oldest segment would have acknowledged it; it has reneged.
        if board.iter().next().is_some_and(|s| s.marks.any(Marks::SACKED)) {
            board.clear_sacks();
        }
        self.probe(count, w, board, cx)
    }
    fn deadline(&self) -> Option<Time> {
        // A.8: while the loss timer is set there is no PTO.
        self.loss_at.or(self.pto.deadline())
    }
    fn watches_sends(&self) -> bool {
        true
    }
    fn on_sent(&mut self, _: Xmit, sent: &Sent, cx: &Ctx) {
        self.packets.push(sent);
        self.pto.restart(cx.now, cx.rto);
        if cx.srtt.is_none() {
            self.lost_run.sent_unmeasured(cx.now);
        }
    }
    fn owns_rto(&self) -> bool {
        true
    }
}

impl Learner for Quic {
    fn on_reorder(&mut self, sample: &ReorderSample, _: &Window, _: &Ctx) {
        // The last cut was a mistake: a loss among data sent before it is a new event again.
        if sample.resent.is_some() {
            self.recovery_start = None;
        }
    }
    fn on_cut(&mut self, _: &Window, cx: &Ctx) {
        // B.8: after persistent congestion everything sent counts.
        self.recovery_start = (!self.collapsed).then_some(cx.now);
        if self.collapsed {
            self.lost_run.end();
        }
    }
}
