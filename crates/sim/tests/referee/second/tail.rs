//! The tail loss probe (RFC 8985 §7), worked out once more for detectors that judge by time with timers of any time.

use super::{advances, flight};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::scoreboard::{Marks, Scoreboard, Sent};
use ackclock_tcp::time::Nanos;

pub(super) struct Tail {
    max_ack_delay: u64,
    /// TLP.end_seq, and whether the probe is a copy.
    probe: Option<(u64, bool)>,
    /// A round trip was measured since the last probe.
    pub(super) measured: bool,
    /// When it fires, and whether that was set for a single segment.
    pub(super) pto: Option<u64>,
    single: bool,
    /// It has fired, and the next segment is the probe.
    firing: bool,
    /// Data was SACKed after the last ACK.
    pub(super) any_sacked: bool,
}

impl Tail {
    pub(super) fn new(max_ack_delay: Nanos) -> Tail {
        let (probe, pto, single, firing, any_sacked) = (None, None, false, false, false);
        Tail { max_ack_delay: max_ack_delay.0, probe, measured: true, pto, single, firing, any_sacked }
    }

    /// §7.3: one probe at a time, and a round trip measured between two.
    fn may_arm(&self) -> bool {
        self.probe.is_none() && self.measured
    }

    /// §7.2.
    pub(super) fn arm(&mut self, since: u64, cx: &Ctx) {
        if !self.may_arm() {
            return;
        }
        self.single = flight(cx) <= u64::from(cx.mss);
        let delay = if self.single { self.max_ack_delay } else { 0 };
        self.pto = Some(since + cx.srtt.map_or(1_000_000_000, |srtt| 2 * srtt.0 + delay));
    }

    /// §7.4.2: whether the probe replaced a lost segment.
    pub(super) fn answered(&mut self, ack: &AckEvent) -> bool {
        let Some((end, copy)) = self.probe.filter(|p| ack.ack.0 >= p.0) else { return false };
        let both = ack.dsack.is_some_and(|d| d.1 .0 == end);
        let repaired = copy && !both && ack.ack.0 > end;
        let duplicate = !advances(ack) && !ack.has_sack && ack.dsack.is_none();
        if !copy || both || repaired || duplicate {
            self.probe = None;
        }
        repaired
    }

    /// Whether a probe is due now. New data restarts the timer (§7.2), which is noticed only now.
    pub(super) fn fires(&mut self, board: &Scoreboard, cx: &Ctx) -> bool {
        let now = cx.now.0;
        let due = self.pto.is_some_and(|at| at <= now) && !self.any_sacked && cx.rto_at.is_some();
        if let Some(last) = board.iter().last().filter(|s| s.sends == 1 && due) {
            self.arm(last.at.0, cx);
        }
        let fires = self.pto.is_some_and(|at| at <= now);
        if fires {
            self.pto = None;
        }
        self.firing = fires && self.probe.is_none();
        self.firing
    }

    pub(super) fn watches_sends(&self) -> bool {
        !self.any_sacked && (self.firing || (self.may_arm() && (self.pto.is_none() || self.single)))
    }

    pub(super) fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        if std::mem::take(&mut self.firing) {
            self.probe = Some((cx.snd_max.0, x != Xmit::New));
            (self.measured, self.pto) = (false, None);
            return;
        }
        let data = sent.sends == 1 && !sent.marks.any(Marks::PROBE);
        if data && !super::counting::repairs(cx) && cx.rto_at.is_some() && !self.any_sacked {
            self.arm(cx.now.0, cx);
        }
    }

    /// A recovery begins.
    pub(super) fn reset(&mut self) {
        (self.probe, self.pto, self.firing) = (None, None, false);
    }
}
