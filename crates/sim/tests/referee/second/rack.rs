//! RACK-TLP, worked out once more: every segment is looked at after every ACK.

use super::{advances, board, end_of, flight, is_older, ms, segments};
use ackclock_tcp::detect::rack_tlp::{RackTlpSpec, Rules};
use ackclock_tcp::detect::{Detector, Learner, StandIn, Timekeeper, Verdict};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::scoreboard::{Marks, Scoreboard, Sent};
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};

/// A segment's place in the order of sending (RFC 8985 §6.2): time, and end.
type Order = (u64, u64);

/// RFC 8985 §7: TLP.end_seq and whether the probe is a copy.
type Probe = (u64, bool);

/// RFC 8985, and Linux's `tcp_recovery.c`. Nanoseconds.
pub(super) struct RackTlp {
    spec: RackTlpSpec,
    dupthresh: u32,
    reordering_seen: bool,
    any_sacked: bool,
    waits: bool,
    /// A delivery was counted since losses were last looked for (`rack.advanced`).
    advanced: bool,
    doubts: bool,
    /// RACK.xmit_ts and end_seq, RACK.rtt, RACK.fack.
    newest: Option<Order>,
    rtt: u64,
    fack: u64,
    reorder_at: Option<u64>,
    /// All round-trip times of the running window and of the one before it, and since when the running one counts.
    rtts: [Vec<u64>; 2],
    since: u64,
    /// reo_wnd_mult, reo_wnd_persist, dsack_round; Linux: a DSACK not counted yet, and when one was last counted.
    mult: u64,
    persist: u32,
    dsack_round: Option<u64>,
    pending: bool,
    widened: Option<u64>,
    /// The probe that is out, its timer, and what the timer was set for.
    probe: Option<Probe>,
    measured: bool,
    pto: Option<u64>,
    single: bool,
    firing: bool,
    armed_at: u64,
    oldest_sent: u64,
}

impl RackTlp {
    pub(super) fn new(spec: &RackTlpSpec) -> RackTlp {
        RackTlp {
            spec: spec.clone(),
            dupthresh: spec.dupthresh,
            reordering_seen: false,
            any_sacked: false,
            waits: false,
            advanced: false,
            doubts: false,
            newest: None,
            rtt: 0,
            fack: 1,
            reorder_at: None,
            rtts: [vec![], vec![]],
            since: 0,
            mult: 1,
            persist: spec.persist,
            dsack_round: None,
            pending: false,
            widened: None,
            probe: None,
            measured: true,
            pto: None,
            single: false,
            firing: false,
            armed_at: 0,
            oldest_sent: 0,
        }
    }

    fn linux(&self) -> bool {
        self.spec.rules == Rules::Linux
    }

    /// When the kernel's timer wheel fires: see [`super::timer`].
    fn on_the_wheel(&self, set: u64, span: u64) -> u64 {
        super::timer::wheel(self.spec.hz, set, span)
    }

    fn sample(&mut self, rtt: u64, now: u64) {
        if now - self.since > self.spec.min_rtt_window.0 {
            self.rtts[0] = std::mem::take(&mut self.rtts[1]);
            self.since = now;
        }
        self.rtts[1].push(rtt);
    }

    fn min_rtt(&self) -> Option<u64> {
        self.rtts.iter().flatten().min().copied()
    }

    /// Whether the copy sent at `at` is the one that arrived, as far as one can tell (§6.2 step 2). The echo is of the segment that
    /// moved the cumulative point (RFC 7323 §4.3).
    fn own_copy(&self, (at, end): Order, ack: &AckEvent, now: u64) -> bool {
        let covered = end <= ack.ack.0;
        let echo_is_older = covered && ack.tsecr.is_some_and(|echo| is_older(echo, ms(Time(at))));
        !echo_is_older && self.min_rtt().is_none_or(|min| now - at >= min)
    }

    /// Step 2.
    fn update(&mut self, ack: &AckEvent, board: &Scoreboard, now: u64) {
        let Some(n) = ack.newest else { return };
        let mut newest = Some((n.at.0, n.end.0));
        if n.retransmitted && !self.own_copy((n.at.0, n.end.0), ack, now) {
            let certain = |s: &&Sent| s.sends == 1 || self.own_copy((s.at.0, end_of(s)), ack, now);
            newest = board::newly(board).filter(certain).map(|s| (s.at.0, end_of(s))).max();
        }
        if let Some((at, end)) = newest {
            self.rtt = now - at;
            self.newest = self.newest.max(Some((at, end)));
            self.advanced = true;
        }
    }

    /// Step 3, and Linux's `tcp_check_sack_reordering`.
    fn detect_reordering(&mut self, ack: &AckEvent, board: &Scoreboard, cx: &Ctx) {
        let top = u64::max(board::highest_sacked(board).unwrap_or(0), ack.ack.0);
        let below = |s: &&Sent| s.sends == 1 && end_of(s) < self.fack && self.fack > ack.prior_una.0;
        let overtaken = board::newly(board).filter(below).map(|s| s.start.0).min();
        if let Some(low) = overtaken {
            if self.linux() {
                self.take_distance(low, top, cx);
            } else {
                self.reordering_seen = true;
            }
        }
        self.fack = u64::max(self.fack, top);
    }

    fn take_distance(&mut self, low: u64, top: u64, cx: &Ctx) {
        if low < top {
            let metric = u64::min(segments(top - low, cx), u64::from(self.spec.max_reordering)) as u32;
            self.dupthresh = u32::max(self.dupthresh, metric);
            self.reordering_seen = true;
        }
    }

    /// Step 4: RACK_update_reo_wnd.
    fn update_window(&mut self, dsack: bool, ends: bool, newest: Option<u64>, cx: &Ctx) {
        if self.linux() {
            self.pending |= dsack;
            if let Some(sent) = newest {
                let counts = self.pending && self.widened.is_none_or(|at| sent >= at);
                self.pending = false;
                if counts {
                    self.mult = u64::min(self.mult + 1, 255);
                    self.persist = self.spec.persist;
                    self.widened = Some(cx.now.0);
                } else if self.persist == 0 {
                    self.mult = 1;
                }
            }
            if ends {
                self.persist = self.persist.saturating_sub(1);
            }
            return;
        }
        if self.dsack_round.is_some_and(|round| cx.snd_una.0 >= round) {
            self.dsack_round = None;
        }
        if dsack && self.dsack_round.is_none() {
            self.dsack_round = Some(cx.snd_nxt.0);
            self.mult += 1;
            self.persist = self.spec.persist;
        } else if ends {
            self.persist = self.persist.saturating_sub(1);
            if self.persist == 0 {
                self.mult = 1;
            }
        }
    }

    fn reo_wnd(&self, repairing: bool, board: &Scoreboard, cx: &Ctx) -> u64 {
        if !self.reordering_seen {
            let sacked = board.iter().filter(|s| board::sacked(s)).count() as u64;
            if repairing || (sacked > 0 && sacked >= u64::from(self.dupthresh)) {
                return 0;
            }
        }
        let quarter = self.mult * self.min_rtt().unwrap_or(0) / 4;
        cx.srtt.map_or(quarter, |srtt| u64::min(quarter, srtt.0))
    }

    /// In the network as far as is known.
    fn in_flight(s: &Sent) -> bool {
        !board::sacked(s) && (!board::lost(s) || board::resent(s))
    }

    /// Marks what was sent before `newest` and at least `wait` ago. Returns the bytes, and when the last of the others was sent.
    fn mark(newest: Order, wait: u64, board: &mut Scoreboard, now: u64) -> (u64, Option<u64>) {
        let before = |s: &&Sent| RackTlp::in_flight(s) && (s.at.0, end_of(s)) < newest;
        let (due, rest): (Vec<Sent>, Vec<Sent>) =
            board.iter().filter(before).copied().partition(|s| s.at.0 + wait <= now);
        let bytes = due.iter().map(|s| board.mark_lost(s.start)).sum();
        (bytes, rest.iter().map(|s| s.at.0).max())
    }

    /// Step 5.
    fn detect_loss(&mut self, repairing: bool, board: &mut Scoreboard, cx: &Ctx) -> u64 {
        let Some(newest) = self.newest else { return 0 };
        self.advanced = false;
        if std::mem::replace(&mut self.waits, false) {
            return 0;
        }
        let wait = self.rtt + self.reo_wnd(repairing, board, cx);
        let (lost, last) = RackTlp::mark(newest, wait, board, cx.now.0);
        self.reorder_at = last.map(|at| {
            let due = at + wait;
            if !self.linux() {
                return due;
            }
            // tcp_rack_mark_lost: 2 ms more, at most a timeout without back-off.
            let span = u64::min(due.saturating_sub(cx.now.0) + 2_000_000, cx.rto.0);
            self.on_the_wheel(cx.now.0, span)
        });
        lost
    }

    /// §7.2; Linux checks when the timer fires.
    fn may_arm(&self) -> bool {
        self.linux() || (self.probe.is_none() && self.measured)
    }

    fn set_pto(&mut self, since: u64, data: bool, cx: &Ctx) {
        self.single = flight(cx) <= u64::from(cx.mss);
        let mut pto = cx.srtt.map_or(1_000_000_000, |srtt| 2 * srtt.0);
        if self.single && cx.srtt.is_some() {
            pto += self.spec.max_ack_delay.0;
        }
        if !self.linux() {
            self.pto = Some(since + pto);
            return;
        }
        if !self.single {
            pto += 2_000_000;
        }
        // Not after the timeout: of new data tcp_rto_delta_us, of an ACK icsk_rto.
        let timeout = if data { (self.oldest_sent + cx.rto.0).saturating_sub(since) } else { cx.rto.0 };
        if timeout > 0 && timeout < pto {
            pto = timeout;
        }
        self.pto = Some(self.on_the_wheel(since, pto));
    }

    fn arm(&mut self, cx: &Ctx) {
        if self.may_arm() {
            self.armed_at = cx.now.0;
            self.set_pto(cx.now.0, true, cx);
        }
    }

    fn probes(&self) -> bool {
        self.spec.tlp && !self.any_sacked
    }

    /// §7.4.2: whether the probe replaced a lost segment.
    fn probe_answered(&mut self, ack: &AckEvent) -> bool {
        let Some((end, copy)) = self.probe.filter(|p| ack.ack.0 >= p.0) else { return false };
        let both = ack.dsack.is_some_and(|d| d.1 .0 == end);
        let repaired = copy && !both && ack.ack.0 > end;
        let duplicate = !advances(ack) && !ack.has_sack && ack.dsack.is_none();
        if !copy || both || repaired || duplicate {
            self.probe = None;
        }
        repaired
    }

    /// Linux: the timer stands in for a timeout that is due.
    fn for_the_timeout(&self, cx: &Ctx) -> bool {
        self.linux() && self.reorder_at.is_none() && cx.rto_at.is_some_and(|at| at <= cx.now)
    }
}

impl Detector for RackTlp {
    fn on_ack(&mut self, ack: &AckEvent, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if let Some(rtt) = ack.rtt {
            self.sample(rtt.0, cx.now.0);
            self.measured = true;
        }
        self.update(ack, board, cx.now.0);
        let mut dsack = ack.dsack.is_some();
        if self.linux() {
            let by_probe = ack.dsack.is_some_and(|d| self.probe.is_some_and(|p| p.0 == d.1 .0));
            dsack &= self.reordering_seen && !by_probe;
        }
        self.detect_reordering(ack, board, cx);
        let repaired = self.probe_answered(ack);
        let repairs = super::counting::repairs(cx);
        let ends = repairs && cx.recover.is_some_and(|r| cx.snd_una.0 >= r.0);
        self.update_window(dsack, ends, ack.newest.map(|n| n.at.0), cx);
        let repairing = repairs && !ends;
        let mut lost = 0;
        if !self.linux() || (self.advanced && !self.waits) {
            lost = self.detect_loss(repairing, board, cx);
        } else {
            // tcp_rack_mark_lost returns at once, or tcp_try_undo_partial waits; FLAG_SET_XMIT_TIMER stays.
            self.waits = false;
            if advances(ack) {
                self.reorder_at = None;
            }
        }
        self.any_sacked = board::highest_sacked(board).is_some();
        if repairing || self.any_sacked || lost > 0 || flight(cx) == 0 {
            self.pto = None;
        } else if advances(ack) && self.probes() {
            if let (Some(head), true) = (board::oldest(board), self.linux()) {
                self.oldest_sent = head.at.0;
            }
            self.arm(cx);
        }
        if lost > 0 {
            Verdict::Lost(lost)
        } else if repaired && !repairs {
            Verdict::Repaired
        } else if self.any_sacked {
            Verdict::Suspect
        } else {
            Verdict::Clear
        }
    }
    fn dupthresh(&self, _: &Window, _: &Ctx) -> Option<u32> {
        self.linux().then_some(self.dupthresh)
    }
}

impl Timekeeper for RackTlp {
    fn keeps_time(&self) -> bool {
        true
    }
    fn deadline(&self) -> Option<Time> {
        [self.reorder_at, self.pto].into_iter().flatten().min().map(Time)
    }
    fn on_timer(&mut self, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        let now = cx.now.0;
        if self.reorder_at.is_some_and(|at| now >= at) {
            let lost = self.detect_loss(super::counting::repairs(cx), board, cx);
            if self.linux() {
                // tcp_rack_reo_timeout.
                self.reorder_at = None;
            }
            if lost > 0 {
                self.pto = None;
                return Verdict::Lost(lost);
            }
        }
        let instead = self.for_the_timeout(cx);
        // New data restarts the timer (§7.2), which is noticed only now.
        let last = board.iter().last().filter(|s| s.sends == 1).map(|s| s.at.0);
        if let (Some(last), false, true, Some(_)) =
            (last, instead, self.probes() && self.pto.is_some_and(|at| now >= at), cx.rto_at)
        {
            match (self.linux(), last < self.armed_at) {
                (true, true) => self.set_pto(self.armed_at, false, cx),
                (true, false) => self.set_pto(last, true, cx),
                (false, _) if self.may_arm() => self.set_pto(last, false, cx),
                (false, _) => {}
            }
        }
        let fires = self.pto.is_some_and(|at| now >= at || instead);
        if fires {
            self.pto = None;
        }
        self.firing = fires && self.probe.is_none();
        if self.firing {
            Verdict::Probe
        } else {
            Verdict::Clear
        }
    }
    fn watches_sends(&self) -> bool {
        let waits = self.may_arm() && (self.single || self.pto.is_none());
        self.probes() && (waits || self.firing)
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        if std::mem::replace(&mut self.firing, false) {
            self.probe = Some((cx.snd_max.0, x != Xmit::New));
            (self.measured, self.pto) = (false, None);
            return;
        }
        if sent.start.0 == cx.snd_una.0 {
            self.oldest_sent = sent.at.0;
        }
        let data = sent.sends == 1 && !sent.marks.any(Marks::PROBE);
        if data && !super::counting::repairs(cx) && cx.rto_at.is_some() && self.probes() {
            self.arm(cx);
        }
    }
    fn hold_until(&self) -> Option<Time> {
        None
    }
    fn owns_rto(&self) -> bool {
        false
    }
    fn stands_in_for_rto(&self) -> StandIn {
        if self.linux() && (self.pto.is_some() || self.reorder_at.is_some()) {
            StandIn::CountFromOldest
        } else {
            StandIn::No
        }
    }
    fn after_rto(&mut self, board: &mut Scoreboard, cx: &Ctx) -> bool {
        self.reorder_at = None;
        // tcp_enter_loss.
        let sacked = board::bytes(board, board::sacked) / u64::from(cx.mss);
        if std::mem::replace(&mut self.doubts, false) && sacked >= u64::from(self.dupthresh) {
            self.dupthresh = u32::min(self.dupthresh, 3);
        }
        if self.newest.is_none() {
            return false;
        }
        // §6.3; tcp_timeout_mark_lost adds no window.
        let wait = self.rtt + if self.linux() { 0 } else { self.reo_wnd(true, board, cx) };
        RackTlp::mark((u64::MAX, 0), wait, board, cx.now.0);
        true
    }
}

impl Learner for RackTlp {
    fn on_handshake(&mut self, rtt: Nanos, now: Time) {
        self.sample(rtt.0, now.0);
    }
    fn on_late_original(&mut self, from: Offset, waits: bool, board: &Scoreboard, cx: &Ctx) {
        // tcp_try_undo_partial.
        if self.linux() {
            let top = board::highest_sacked(board).unwrap_or(cx.snd_una.0);
            self.take_distance(from.0, top, cx);
            self.waits = waits;
        }
    }
    fn on_cut(&mut self, _: &Window, cx: &Ctx) {
        if super::counting::repairs(cx) {
            (self.probe, self.pto, self.firing) = (None, None, false);
        }
    }
    fn on_rto(&mut self, _: u32, _: &Window, cx: &Ctx) {
        self.doubts = self.linux() && !super::counting::repairs(cx);
    }
}
