//! RACK-TLP: a segment is lost if one sent well after it has arrived, and a probe finds losses at the tail.
//!
//! Source: RFC 8985 §5 to §8; for `rules = "linux"` Linux 6.18, `net/ipv4/tcp_recovery.c` and `tcp_dsack_seen`,
//! `tcp_check_sack_reordering` in `net/ipv4/tcp_input.c`, in our words.
//!
//! Idea: time, not a count, tells loss from reordering: a segment sent before the newest one delivered may arrive a quarter of a
//! round trip later, or more if DSACKs show that this was too little. When the ACKs stop, one segment is sent as a probe.
//!
//! | source | here |
//! | --- | --- |
//! | RACK.xmit_ts, RACK.end_seq | `newest` |
//! | RACK.rtt, RACK.min_RTT, RACK.fack | `rtt`, `min_rtt`, `fack` |
//! | RACK.reo_wnd, reo_wnd_mult, reo_wnd_persist, dsack_round | `rack_tlp/window.rs` |
//! | TLP.* | `tlp.rs` |
//! | Segment.xmit_ts = INFINITE after marking | the mark LOST without REXMIT; the send time is kept |
//!
//! Departures: the RTO runs beside the other timers (§8 has one timer) and fires first if both are due, so a PTO need not be
//! capped at the RTO (§7.2): a PTO later than the RTO never fires. No PTO is armed when no probe could follow. The recovery
//! decides on the cut for a lost retransmission (`respond_lost_rexmit`).
//! Unsaid: a segment marked lost whose original arrives before it is resent counts with its real send time (decision 0043); the
//! window of the minimum (`min_rtt_window`); at an RTO without an RTT sample, only the head is lost.

mod linux;
mod window;

use super::tlp::Tlp;
use super::{Detector, Learner, StandIn, Timekeeper, Verdict};
use crate::error::StackError;
use crate::event::{Phase, Window};
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::send_order::SendOrder;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::needs::{Need, Requirement, Resends};
use crate::seq::Offset;
use crate::time::{Jiffies, Nanos, Time};
use crate::units::Bytes;
pub use linux::Rules;
use linux::{is_default_hz, is_default_max, HZ, MAX_REORDERING};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use window::{MinRtt, ReoWnd};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RackTlpSpec {
    /// SACKed segments that mean a loss as long as no reordering was seen. Default: 3 (RFC 8985 §6.2, DupThresh).
    pub dupthresh: u32,
    /// Recoveries without DSACK after which the window is again a quarter of the smallest RTT. Default: 16 (§6.2).
    pub persist: u32,
    /// Minimum time for which the smallest RTT is remembered. Default: 300 s (Linux; §6.2 gives none).
    pub min_rtt_window: Nanos,
    /// Whether the tail is probed. Default: yes.
    pub tlp: bool,
    /// Added to the probe timeout when one segment is outstanding, to allow for a delayed ACK. Default: 200 ms (§7.2).
    pub max_ack_delay: Nanos,
    /// The rules for which DSACKs widen the window, how the threshold is set, and when timers fire. Default: "rfc8985".
    #[serde(skip_serializing_if = "Rules::is_rfc8985")]
    pub rules: Rules,
    /// With `rules = "linux"`: the upper limit of the threshold (`tcp_max_reordering`). Default: 300.
    #[serde(skip_serializing_if = "is_default_max")]
    #[schemars(range(min = 1))]
    pub max_reordering: u32,
    /// With `rules = "linux"`: ticks of the kernel's clock per second, 1 to 1000. Default: 250.
    #[serde(skip_serializing_if = "is_default_hz")]
    pub hz: u32,
}

impl Default for RackTlpSpec {
    fn default() -> Self {
        RackTlpSpec {
            dupthresh: 3,
            persist: 16,
            min_rtt_window: Nanos::from_secs(300),
            tlp: true,
            max_ack_delay: Nanos::from_millis(200),
            rules: Rules::Rfc8985,
            max_reordering: MAX_REORDERING,
            hz: HZ,
        }
    }
}

impl RackTlpSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let n = self.dupthresh;
        StackError::unless((1..=1000).contains(&n), "detect.dupthresh", &n, "1 to 1000 SACKed segments")?;
        StackError::unless(self.max_reordering > 0, "detect.max_reordering", &0, "1 or more segments")?;
        StackError::unless((1..=1000).contains(&self.hz), "detect.hz", &self.hz, "1 to 1000 ticks a second")
    }

    pub(super) fn needs(&self) -> Vec<Requirement> {
        let by_mark = Requirement {
            need: Need::Resends(&[Resends::ByMark, Resends::Unknown]),
            key: "recovery",
            found: "a different one with detect = \"rack-tlp\"",
            allowed: "\"prr\" with order = \"marks\", since RACK-TLP replaces RFC 6675's NextSeg (RFC 8985 §9.2)",
        };
        let after_timeout = Requirement {
            need: Need::ResendsByMark,
            key: "timeout",
            found: "\"go-back-n\"",
            allowed: "\"sack\" with detect = \"rack-tlp\", since going back N ignores its marks",
        };
        vec![Requirement::sack("detect", "\"rack-tlp\""), by_mark, after_timeout]
    }
}

/// RACK-TLP at work. Boxed, so that other stacks do not pay for its size.
pub struct RackTlp {
    /// Grows under Linux's rules.
    dupthresh: u32,
    /// The clock of Linux's timers.
    linux: Option<Jiffies>,
    max_reordering: u32,
    tlp_on: bool,
    reordering_seen: bool,
    /// Data was SACKed after the last ACK had been processed.
    sacked: bool,
    /// By Linux's rules: the ACK being processed marks nothing lost.
    waits: bool,
    /// A delivery was taken into account since losses were last looked for (Linux's `rack.advanced`).
    advanced: bool,
    /// The RTO has just fired outside a repair.
    doubts_reordering: bool,
    newest: Option<(Time, Offset)>,
    order: SendOrder,
    /// The RTT of the segment that set `newest`, or of one delivered later; not read before there is one.
    rtt: Nanos,
    fack: Offset,
    reorder_at: Option<Time>,
    min_rtt: MinRtt,
    window: ReoWnd,
    tlp: Tlp,
}

impl RackTlp {
    pub(super) fn new(spec: &RackTlpSpec) -> Self {
        RackTlp {
            dupthresh: spec.dupthresh,
            linux: match spec.rules {
                Rules::Rfc8985 => None,
                Rules::Linux => Some(Jiffies::per_second(spec.hz)),
            },
            max_reordering: spec.max_reordering,
            tlp_on: spec.tlp,
            reordering_seen: false,
            sacked: false,
            waits: false,
            advanced: false,
            doubts_reordering: false,
            newest: None,
            order: SendOrder::default(),
            rtt: Nanos::ZERO,
            fack: Offset::DATA,
            reorder_at: None,
            min_rtt: MinRtt::new(spec.min_rtt_window),
            window: ReoWnd::new(spec.persist),
            tlp: Tlp::new(spec.max_ack_delay, (spec.rules == Rules::Linux).then(|| Jiffies::per_second(spec.hz))),
        }
    }

    /// §6.2 step 2: takes the most recently sent of the delivered segments, unless the ACK may be for an earlier copy.
    fn take_newest(&mut self, ack: &AckEvent, board: &Scoreboard, cx: &Ctx) {
        if let Some(n) = board.newest_delivered(ack, self.min_rtt.get(), cx.now) {
            (self.rtt, self.advanced) = (cx.now.since(n.at), true);
            if self.newest.is_none_or(|known| known < (n.at, n.end)) {
                self.newest = Some((n.at, n.end));
            }
        }
    }

    /// §6.2 step 3: whether a segment never resent was delivered after one sent later.
    fn look_for_reordering(&mut self, ack: &AckEvent, board: &Scoreboard, cx: &Ctx) {
        let highest = board.highest_sacked().map_or(ack.ack, |top| top.max(ack.ack));
        // Everything newly delivered is above the data known before: it is in order.
        if self.fack > ack.prior_una {
            if self.linux.is_some() {
                self.measure_reordering(highest, board, cx);
            } else if !self.reordering_seen {
                self.reordering_seen = board.lowest_overtaken(self.fack).is_some();
            }
        }
        self.fack = self.fack.max(highest);
    }

    /// §6.2 step 4 (RACK_update_reo_wnd), its last lines.
    fn reo_wnd(&self, repairing: bool, board: &Scoreboard, cx: &Ctx) -> Nanos {
        let enough = || board.sacked() > 0 && board.holes_end(self.dupthresh).is_some();
        if !self.reordering_seen && (repairing || enough()) {
            return Nanos::ZERO;
        }
        self.window.get(self.min_rtt.get(), cx.srtt)
    }

    /// §6.2 step 5: marks the segments lost by now, and arms the timer for the last one that may be lost later.
    fn detect(&mut self, repairing: bool, board: &mut Scoreboard, cx: &Ctx) -> Bytes {
        let Some(newest) = self.newest else { return 0 };
        self.advanced = false;
        if board.is_in_order(&self.order, newest) {
            self.reorder_at = None;
            return 0;
        }
        self.detect_before(newest, repairing, board, cx)
    }

    #[inline(never)]
    fn detect_before(&mut self, newest: (Time, Offset), repairing: bool, board: &mut Scoreboard, cx: &Ctx) -> Bytes {
        let wait = self.rtt + self.reo_wnd(repairing, board, cx);
        let (lost, waits) =
            board.mark_sent_before(&mut self.order, newest, cx.now.0.checked_sub(wait.0).map(Time), |_| {});
        // Linux's timer counts from now, at most for an RTO, and everything due by its tick is examined together.
        self.reorder_at = waits.map(|at| match self.linux {
            None => at + wait,
            Some(jiffies) => linux::fires(jiffies, (at + wait).since(cx.now), cx),
        });
        lost
    }

    /// §7.2: ACKs of new data, and new data, (re)start the probe's timer.
    #[inline(always)]
    fn arm_after_ack(&mut self, board: &Scoreboard, cx: &Ctx) {
        if self.tlp_on && !self.sacked {
            if let (Some(_), Some(oldest)) = (self.linux, board.iter().next()) {
                self.tlp.oldest_sent(oldest.at);
            }
            self.tlp.arm(cx.now, cx);
        }
    }

    /// Fast path for the usual ACK: in Open, nothing SACKed or resent, no probe outstanding, and everything outstanding sent
    /// later than the data it delivers. Returns whether it was such an ACK; any other changes nothing here.
    fn take_plain(&mut self, ack: &AckEvent, board: &Scoreboard, cx: &Ctx) -> bool {
        let (Some(n), Some(rtt)) = (ack.newest, ack.rtt) else { return false };
        let plain = cx.phase == Phase::Open && ack.advances() && ack.dsack.is_none() && board.sacked() == 0;
        let newest = (n.at, n.end);
        if !plain
            || n.retransmitted
            || self.fack > ack.prior_una
            || self.newest.is_some_and(|known| known >= newest)
            || !self.tlp.is_idle()
            || !board.is_in_order(&self.order, newest)
        {
            return false;
        }
        self.min_rtt.sample(rtt, cx.now);
        self.tlp.measured();
        (self.rtt, self.newest, self.fack) = (cx.now.since(n.at), Some(newest), ack.ack);
        self.widen(false, false, Some(n.at), cx);
        (self.reorder_at, self.sacked, self.advanced) = (None, false, true);
        self.arm_after_ack(board, cx);
        true
    }

    #[inline(never)]
    fn on_telling_ack(&mut self, ack: &AckEvent, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if let Some(rtt) = ack.rtt {
            self.min_rtt.sample(rtt, cx.now);
            self.tlp.measured();
        }
        self.take_newest(ack, board, cx);
        let dsack = self.dsack_counts(ack, self.reordering_seen);
        self.look_for_reordering(ack, board, cx);
        let probe = self.tlp.on_ack(ack);
        let repairs = cx.phase.repairs();
        let ends = repairs && cx.recover.is_some_and(|r| cx.snd_una >= r);
        let repairing = repairs && !ends;
        self.widen(dsack, ends, ack.newest.map(|n| n.at), cx);
        let lost = if self.leaves_it_at_that(ack) { 0 } else { self.detect(repairing, board, cx) };
        let sacked = board.sacked() > 0;
        self.sacked = sacked;
        if repairing || sacked || lost > 0 || cx.flight() == 0 {
            self.tlp.disarm();
        } else if ack.advances() {
            self.arm_after_ack(board, cx);
        }
        probe.verdict(lost, sacked, cx)
    }
}

impl Detector for RackTlp {
    fn on_ack(&mut self, ack: &AckEvent, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if self.take_plain(ack, board, cx) {
            return Verdict::Clear;
        }
        self.on_telling_ack(ack, board, cx)
    }
    fn dupthresh(&self, _: &Window, _: &Ctx) -> Option<u32> {
        self.linux.map(|_| self.dupthresh)
    }
}

impl Timekeeper for RackTlp {
    fn keeps_time(&self) -> bool {
        true
    }
    fn on_timer(&mut self, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if self.reorder_at.is_some_and(|at| at <= cx.now) {
            let lost = self.detect(cx.phase.repairs(), board, cx);
            if self.linux.is_some() {
                // From now on the RTO runs in its place (tcp_rack_reo_timeout).
                self.reorder_at = None;
            }
            if lost > 0 {
                self.tlp.disarm();
                return Verdict::Lost(lost);
            }
        }
        let instead_of_rto = self.goes_instead_of_rto(cx);
        self.tlp.on_timer(self.tlp_on && !self.sacked, instead_of_rto, board, cx)
    }
    fn deadline(&self) -> Option<Time> {
        crate::time::earliest(self.reorder_at, self.tlp.deadline())
    }
    fn watches_sends(&self) -> bool {
        self.tlp_on && !self.sacked && self.tlp.waits_for_a_send()
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        if sent.sends > 1 {
            self.order.resent(sent);
        }
        self.tlp.on_sent(self.tlp_on && !self.sacked, x, sent, cx);
    }
    fn stands_in_for_rto(&self) -> StandIn {
        match (self.linux, self.deadline()) {
            (Some(_), Some(_)) => StandIn::CountFromOldest,
            (None, _) | (_, None) => StandIn::No,
        }
    }
    fn after_rto(&mut self, board: &mut Scoreboard, cx: &Ctx) -> bool {
        self.reorder_at = None;
        self.order.forget();
        self.doubt_reordering(board, cx);
        if self.newest.is_none() {
            return false;
        }
        // §6.3: by time alone, whatever was delivered since. Linux adds no window (tcp_timeout_mark_lost).
        let wait = match self.linux {
            None => self.rtt + self.reo_wnd(true, board, cx),
            Some(_) => self.rtt,
        };
        let everything = (cx.now, cx.snd_max + 1);
        board.mark_sent_before(&mut self.order, everything, cx.now.0.checked_sub(wait.0).map(Time), |_| {});
        self.order.forget();
        true
    }
}

impl Learner for RackTlp {
    fn on_handshake(&mut self, rtt: Nanos, now: Time) {
        self.min_rtt.sample(rtt, now);
    }
    fn on_late_original(&mut self, from: Offset, waits: bool, board: &Scoreboard, cx: &Ctx) {
        self.learn_from_late_original(from, waits, board, cx);
    }
    fn on_rto(&mut self, _: u32, _: &Window, cx: &Ctx) {
        self.doubts_reordering = self.linux.is_some() && !cx.phase.repairs();
    }
    fn on_recovered(&mut self, _: &Ctx) {
        // The episode may have ended as a mistake, with marks removed.
        self.order.forget();
    }
    fn on_cut(&mut self, _: &Window, cx: &Ctx) {
        self.tlp.on_cut(cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ack::Newest;
    use crate::testing::{blank, context, wide};

    #[test]
    fn a_segment_is_lost_when_the_wait_is_over_and_not_a_nanosecond_before() {
        // RFC 8985 §6.2 step 5: remaining = Segment.xmit_ts + RACK.rtt + RACK.reo_wnd - Now(), lost if it is not above 0.
        let spec = RackTlpSpec { tlp: false, ..RackTlpSpec::default() };
        let (mut d, mut board, ms) = (RackTlp::new(&spec), Scoreboard::default(), |n: u64| Time(n * 1_000_000));
        let sent = [0, 10].map(|at| board.push(Offset(1 + 100 * at), 1000, ms(at), 1e9, false));
        board.begin_ack();
        board.apply_sack((sent[1].start, sent[1].end()), &mut Default::default());
        let newest = Some(Newest { at: sent[1].at, end: sent[1].end(), retransmitted: false });
        let rtt = Some(Nanos::from_millis(100));
        let ack = AckEvent { sacked: 1000, delivered: 1000, has_sack: true, is_dup: true, newest, rtt, ..blank() };
        let cx = Ctx { now: ms(110), phase: Phase::Disorder, srtt: rtt, snd_max: Offset(2001), ..context() };
        assert_eq!(d.on_ack(&ack, &wide(), &mut board, &cx), Verdict::Suspect);
        // Plus a quarter of the smallest RTT.
        assert_eq!(d.deadline(), Some(ms(125)));
        let before = Ctx { now: Time(ms(125).0 - 1), ..cx };
        assert_eq!((d.detect(false, &mut board, &before), d.deadline()), (0, Some(ms(125))));
        assert_eq!(d.on_timer(&wide(), &mut board, &Ctx { now: ms(125), ..cx }), Verdict::Lost(1000));
    }
}
