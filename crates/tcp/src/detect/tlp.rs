//! The tail loss probe (RFC 8985 §7), a part of the detectors that judge by time.

use super::Verdict;
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::{Marks, Scoreboard, Sent};
use crate::seq::Offset;
use crate::time::{Jiffies, Nanos, Time};
use crate::units::Bytes;

/// The least extra time of Linux's reordering timer and probe timer (`TCP_TIMEOUT_MIN`).
pub(super) const TIMEOUT_MIN: Nanos = Nanos::from_millis(2);

/// The information that an ACK gives about the probe.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Outcome {
    /// Nothing yet, or no loss.
    NoLoss,
    /// The probe replaced a segment that had been lost.
    RepairedLoss,
}

impl Outcome {
    /// The verdict on an ACK by which `lost` bytes are lost.
    pub(super) fn verdict(self, lost: Bytes, sacked: bool, cx: &Ctx) -> Verdict {
        match (lost, self) {
            (1.., _) => Verdict::Lost(lost),
            (0, Outcome::RepairedLoss) if !cx.phase.repairs() => Verdict::Repaired,
            (0, _) if sacked => Verdict::Suspect,
            (0, _) => Verdict::Clear,
        }
    }
}

/// An outstanding probe.
#[derive(Clone, Copy)]
struct Probe {
    /// TLP.end_seq.
    end: Offset,
    /// TLP.is_retrans: it is a copy of the last segment, not new data.
    copy: bool,
}

/// The probe and its timer.
pub(super) struct Tlp {
    max_ack_delay: Nanos,
    /// The clock of Linux's timers.
    linux: Option<Jiffies>,
    out: Option<Probe>,
    /// An RTT was measured since the last probe.
    measured: bool,
    pto: Option<Time>,
    /// The timer was set for a single outstanding segment.
    single: bool,
    /// The timer fired, and the next segment is the probe.
    firing: bool,
    /// When the timer was set, by an ACK or by new data.
    since: Time,
    /// When the oldest segment was sent.
    oldest: Time,
}

impl Tlp {
    pub(super) fn new(max_ack_delay: Nanos, linux: Option<Jiffies>) -> Self {
        Tlp {
            max_ack_delay,
            linux,
            out: None,
            measured: true,
            pto: None,
            single: false,
            firing: false,
            since: Time::ZERO,
            oldest: Time::ZERO,
        }
    }

    /// An RTT was measured.
    pub(super) fn measured(&mut self) {
        self.measured = true;
    }

    /// Sets the time when the segment that is now the oldest was sent.
    #[inline(always)]
    pub(super) fn oldest_sent(&mut self, at: Time) {
        self.oldest = at;
    }

    /// §7.2: (re)starts the timer at `since`. "If Now() + PTO > TCP_RTO_expiration()" is not tested: the RTO is handled first in
    /// any case.
    #[inline(always)]
    pub(super) fn arm(&mut self, since: Time, cx: &Ctx) {
        if self.may_wait() {
            self.since = since;
            self.set(since, true, cx);
        }
    }

    /// The timer is due, and new data was last sent at `last`: sets it again. New data restarts it, but is not watched while it
    /// runs.
    ///
    /// Linux sets it for ACKs and for new data. It caps it at an RTO after the ACK, but for data at an RTO after the oldest
    /// segment was sent (`tcp_schedule_loss_probe`). Data usually follows an ACK, so the timer was set as for data; if none
    /// followed, there is more time.
    #[cold]
    fn look_again(&mut self, last: Time, cx: &Ctx) {
        match self.linux {
            Some(_) if last < self.since => self.set(self.since, false, cx),
            Some(_) => self.set(last, true, cx),
            None if self.may_wait() => self.set(last, false, cx),
            None => {}
        }
    }

    #[inline(always)]
    fn set(&mut self, since: Time, data: bool, cx: &Ctx) {
        self.single = cx.flight() <= u64::from(cx.mss);
        let pto = match cx.srtt {
            Some(srtt) if self.single => srtt.times(2) + self.max_ack_delay,
            Some(srtt) => srtt.times(2),
            None => Nanos::from_secs(1),
        };
        self.pto = Some(match self.linux {
            None => since + pto,
            Some(jiffies) => {
                let wait = if self.single { pto } else { pto + TIMEOUT_MIN };
                // `icsk_rto`; for data `tcp_rto_delta_us`.
                let timeout = if data { (self.oldest + cx.rto).since(since) } else { cx.rto };
                let sooner = timeout.0 > 0 && timeout < wait;
                jiffies.deadline(since, if sooner { timeout } else { wait })
            }
        });
    }

    /// §7.3: one probe at a time, and an RTT measured between two. Linux lets the timer run in any case and checks when it fires
    /// whether a probe is outstanding (`tcp_send_loss_probe`).
    fn may_wait(&self) -> bool {
        self.linux.is_some() || (self.out.is_none() && self.measured)
    }

    /// Whether an outstanding probe ends at `end`.
    pub(super) fn probed(&self, end: Offset) -> bool {
        self.out.is_some_and(|p| p.end == end)
    }

    /// Whether no probe is outstanding.
    pub(super) fn is_idle(&self) -> bool {
        self.out.is_none()
    }

    /// Whether the next segment sent matters: it is the probe, starts the timer, or removes the delayed-ACK allowance.
    pub(super) fn waits_for_a_send(&self) -> bool {
        self.firing || (self.may_wait() && (self.pto.is_none() || self.single))
    }

    pub(super) fn disarm(&mut self) {
        self.pto = None;
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.pto
    }

    /// Whether the timer has expired.
    fn is_due(&self, now: Time) -> bool {
        self.pto.is_some_and(|at| at <= now)
    }

    /// Returns whether the timer fires now, or must fire because the timeout does. If so, one segment is to be sent.
    pub(super) fn fire(&mut self, now: Time, instead_of_rto: bool) -> bool {
        let fires = self.is_due(now) || (instead_of_rto && self.pto.is_some());
        if fires {
            self.pto = None;
        }
        self.firing = fires && self.out.is_none();
        self.firing
    }

    /// A timer of the detector is due, and nothing was found lost. `may_probe`: the tail is probed now.
    pub(super) fn on_timer(&mut self, may_probe: bool, instead_of_rto: bool, board: &Scoreboard, cx: &Ctx) -> Verdict {
        // New data restarts the timer (§7.2). Sends are not watched while it runs, so the restart happens here.
        let last = board.iter().next_back().filter(|s| s.sends == 1 && !instead_of_rto);
        if let (Some(last), Some(_), true) = (last, cx.rto_at, may_probe && self.is_due(cx.now)) {
            self.look_again(last.at, cx);
        }
        match self.fire(cx.now, instead_of_rto) {
            true => Verdict::Probe,
            false => Verdict::Clear,
        }
    }

    /// A segment was sent. §7.2: new data starts the timer, but not in a recovery.
    pub(super) fn on_sent(&mut self, may_probe: bool, x: Xmit, sent: &Sent, cx: &Ctx) {
        if self.probe_sent(x, cx) {
            return;
        }
        if sent.start == cx.snd_una {
            self.oldest_sent(sent.at);
        }
        let new = sent.sends == 1 && !sent.marks.any(Marks::PROBE);
        if new && !cx.phase.repairs() && cx.rto_at.is_some() && may_probe {
            self.arm(cx.now, cx);
        }
    }

    /// A segment was sent; returns whether it was the probe (§7.3).
    pub(super) fn probe_sent(&mut self, x: Xmit, cx: &Ctx) -> bool {
        let probe = std::mem::take(&mut self.firing);
        if probe {
            self.out = Some(Probe { end: cx.snd_max, copy: x != Xmit::New });
            (self.measured, self.pto) = (false, None);
        }
        probe
    }

    /// §7.4.2: was the probe needed?
    pub(super) fn on_ack(&mut self, ack: &AckEvent) -> Outcome {
        let Some(probe) = self.out.filter(|p| ack.ack >= p.end) else { return Outcome::NoLoss };
        let both_arrived = ack.dsack.is_some_and(|d| d.1 == probe.end);
        let repaired = probe.copy && !both_arrived && ack.ack > probe.end;
        // A receiver without DSACK sends a plain duplicate for the second copy.
        let plain = !ack.advances() && !ack.has_sack && ack.dsack.is_none();
        if !probe.copy || both_arrived || repaired || plain {
            self.out = None;
        }
        if repaired {
            Outcome::RepairedLoss
        } else {
            Outcome::NoLoss
        }
    }

    /// The window was cut. If a recovery begins with it, there is no probe any more.
    pub(super) fn on_cut(&mut self, cx: &Ctx) {
        if cx.phase.repairs() {
            (self.out, self.pto, self.firing) = (None, None, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{blank, context};

    #[test]
    fn a_probe_is_out_from_when_it_is_sent_and_known_by_its_end() {
        let cx = Ctx { srtt: Some(Nanos::from_millis(10)), snd_max: Offset(2001), ..context() };
        let mut t = Tlp::new(Nanos::from_millis(200), None);
        assert!(!t.probed(Offset(2001)));
        t.arm(Time(0), &cx);
        assert!(t.fire(t.deadline().unwrap(), false) && t.probe_sent(Xmit::New, &cx));
        assert!(t.probed(Offset(2001)) && !t.probed(Offset(1001)) && !t.is_idle());
    }

    #[test]
    fn between_two_probes_a_round_trip_is_measured() {
        // RFC 8985 §7.3.
        let cx = Ctx { srtt: Some(Nanos::from_millis(10)), snd_max: Offset(2001), ..context() };
        let mut t = Tlp::new(Nanos::from_millis(200), None);
        t.arm(Time(0), &cx);
        let at = t.deadline().unwrap();
        assert_eq!(at, Time(20_000_000));
        assert!(t.fire(at, false) && t.probe_sent(Xmit::New, &cx));
        t.arm(at, &cx);
        assert_eq!(t.deadline(), None, "the probe is out");
        t.on_ack(&AckEvent { ack: cx.snd_max, prior_una: cx.snd_una, ..blank() });
        t.arm(at, &cx);
        assert_eq!(t.deadline(), None, "the probe's ACK gave no sample");
        t.measured();
        t.arm(at, &cx);
        assert_eq!(t.deadline(), Some(Time(40_000_000)));
    }

    #[test]
    fn by_linuxs_rules_a_probe_after_an_ack_waits_for_two_round_trips_or_a_timeout_from_then_on() {
        // tcp_schedule_loss_probe: icsk_rto after an ACK, tcp_rto_delta_us after data.
        let (ms, at) = (Nanos::from_millis, |n: u64| Time(n * 1_000_000));
        for (rto, data, ack) in [(5000, 1202, 1202), (900, 600, 900)] {
            let cx = Ctx { srtt: Some(ms(600)), rto: ms(rto), snd_max: Offset(4001), ..context() };
            let mut t = Tlp::new(ms(200), Some(Jiffies::per_second(1000)));
            t.oldest_sent(at(300));
            t.arm(at(600), &cx);
            let waits = |t: &Tlp| t.deadline().map(|d| d.since(at(600)).0 / 1_000_000);
            // The wheel adds up to an eighth.
            let about = |want: u64| want..=want + want / 8;
            assert!(waits(&t).is_some_and(|w| about(data).contains(&w)), "{:?} {rto}", waits(&t));
            t.look_again(at(300), &cx);
            assert!(waits(&t).is_some_and(|w| about(ack).contains(&w)), "{:?} {rto}", waits(&t));
        }
    }
}
