//! Differences of Linux's RACK and its probe from RFC 8985.
//!
//! Source: Linux 6.18 (`tcp_dsack_seen`, `tcp_check_sack_reordering`, `tcp_try_undo_partial`, `tcp_enter_loss`,
//! `tcp_timeout_mark_lost`, `tcp_rearm_rto` in `net/ipv4/tcp_input.c`, `tcp_rack_reo_timeout` and `tcp_rack_update_reo_wnd` in
//! `net/ipv4/tcp_recovery.c`, `tcp_schedule_loss_probe`, `tcp_send_loss_probe` in `net/ipv4/tcp_output.c`), in our words.
//!
//! The kernel has one timer for the timeout, the probe and reordering. While it is set for the probe or for reordering, there is
//! no timeout; a probe that would be later than the timeout takes its place.

use super::RackTlp;
use crate::detect::tlp::TIMEOUT_MIN;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::Scoreboard;
use crate::seq::Offset;
use crate::time::{Jiffies, Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where RFC 8985 and Linux differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rules {
    /// Every DSACK widens the window; the threshold is fixed; timers fire when they are due.
    #[default]
    Rfc8985,
    /// A DSACK widens the window only after reordering was seen, and not if a probe caused it (`tcp_dsack_seen`); the threshold
    /// is the largest distance by which a segment was overtaken (`tcp_check_sack_reordering`); timers fire on a tick, 2 ms
    /// late.
    Linux,
}

impl Rules {
    pub(super) fn is_rfc8985(&self) -> bool {
        *self == Rules::Rfc8985
    }
}

/// Default number of ticks per second.
pub(super) const HZ: u32 = 250;

pub(super) fn is_default_hz(hz: &u32) -> bool {
    *hz == HZ
}

/// Default upper limit of the threshold.
pub(super) const MAX_REORDERING: u32 = 300;

pub(super) fn is_default_max(max: &u32) -> bool {
    *max == MAX_REORDERING
}

/// The value to which the threshold returns (sysctl `tcp_reordering`).
const REORDERING: u32 = 3;

/// When the timer for segments that may be lost after `span` fires: 2 ms later, but after an RTO (here without back-off) at the
/// latest, since the timeout cannot fire before it (`tcp_rack_mark_lost`).
pub(super) fn fires(jiffies: Jiffies, span: Nanos, cx: &Ctx) -> Time {
    jiffies.deadline(cx.now, (span + TIMEOUT_MIN).min(cx.rto))
}

impl RackTlp {
    /// Linux's `tcp_check_sack_reordering`: measures how far the lowest newly delivered segment was overtaken; `highest` is the
    /// end of the data that has arrived.
    #[inline(never)]
    pub(super) fn measure_reordering(&mut self, highest: Offset, board: &Scoreboard, cx: &Ctx) {
        if let Some(low) = board.lowest_overtaken(self.fack) {
            self.take_distance(low, highest, cx);
        }
    }

    fn take_distance(&mut self, low: Offset, highest: Offset, cx: &Ctx) {
        if low < highest {
            let segments = (highest - low).div_ceil(u64::from(cx.mss));
            self.dupthresh = self.dupthresh.max(u32::try_from(segments).unwrap_or(u32::MAX).min(self.max_reordering));
            self.reordering_seen = true;
        }
    }

    /// Linux's `tcp_try_undo_partial`: the timestamp shows that the resent data had only been late.
    pub(super) fn learn_from_late_original(&mut self, from: Offset, waits: bool, board: &Scoreboard, cx: &Ctx) {
        if self.linux.is_some() {
            self.take_distance(from, board.highest_sacked().unwrap_or(cx.snd_una), cx);
            self.waits = waits;
        }
    }

    /// Updates the window after an ACK, by the rules in force.
    pub(super) fn widen(&mut self, dsack: bool, ends: bool, newest: Option<Time>, cx: &Ctx) {
        match self.linux {
            None => self.window.on_ack(dsack, ends, cx),
            Some(_) => self.window.on_ack_by_linux(dsack, ends, newest, cx.now),
        }
    }

    /// Linux's `tcp_enter_loss`: a timeout during many duplicates means that too much reordering was assumed.
    pub(super) fn doubt_reordering(&mut self, board: &Scoreboard, cx: &Ctx) {
        if std::mem::take(&mut self.doubts_reordering)
            && board.sacked() / u64::from(cx.mss) >= u64::from(self.dupthresh)
        {
            self.dupthresh = self.dupthresh.min(REORDERING);
        }
    }

    /// Whether the probe is sent now because the timeout that its timer replaces is due.
    pub(super) fn goes_instead_of_rto(&self, cx: &Ctx) -> bool {
        self.linux.is_some() && self.reorder_at.is_none() && cx.rto_at.is_some_and(|at| at <= cx.now)
    }

    /// By Linux's rules: whether this ACK is not searched for losses, because it delivered nothing that tells how long a segment
    /// takes (`tcp_rack_mark_lost`), or because it waits (`tcp_try_undo_partial`). If it advances, the timeout then replaces the
    /// timer for reordered segments (`FLAG_SET_XMIT_TIMER`).
    pub(super) fn leaves_it_at_that(&mut self, ack: &AckEvent) -> bool {
        let leaves = self.linux.is_some() && (self.waits || !self.advanced);
        if leaves {
            self.waits = false;
            self.reorder_at = self.reorder_at.filter(|_| !ack.advances());
        }
        leaves
    }

    /// Whether the DSACK of this ACK widens the window.
    pub(super) fn dsack_counts(&self, ack: &AckEvent, reordering_seen: bool) -> bool {
        let by_probe = |d: (Offset, Offset)| self.tlp.probed(d.1);
        ack.dsack.is_some_and(|d| self.linux.is_none() || (reordering_seen && !by_probe(d)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::rack_tlp::RackTlpSpec;
    use crate::detect::{Learner, Timekeeper};
    use crate::event::Phase;
    use crate::facts::answer::Xmit;
    use crate::facts::scoreboard::Delivered;
    use crate::testing::{context, wide};

    fn of(rules: Rules) -> RackTlp {
        RackTlp::new(&RackTlpSpec { rules, ..RackTlpSpec::default() })
    }

    /// Ten segments of 1000 bytes, the last one SACKed.
    fn board() -> Scoreboard {
        let mut board = Scoreboard::default();
        (0..10).for_each(|i| _ = board.push(Offset(1 + 1000 * i), 1000, Time(i), 1e9, false));
        board.apply_sack((Offset(9001), Offset(10_001)), &mut Default::default());
        board
    }

    #[test]
    fn by_linuxs_rules_a_segment_that_was_late_and_resent_shows_reordering() {
        for (rules, want) in [(Rules::Rfc8985, (3, false)), (Rules::Linux, (8, true))] {
            let mut d = of(rules);
            d.on_late_original(Offset(2001), false, &board(), &context());
            assert_eq!((d.dupthresh, d.reordering_seen), want, "{rules:?}");
        }
    }

    #[test]
    fn by_linuxs_rules_a_dsack_counts_once_reordering_was_seen_and_not_if_it_answers_a_probe() {
        // Linux: tcp_dsack_seen. RFC 8985 §6.2 step 4 counts each.
        let ack = AckEvent { dsack: Some((Offset(1001), Offset(2001))), ..crate::testing::blank() };
        let cx = Ctx { srtt: Some(Nanos::from_millis(10)), snd_max: Offset(2001), ..context() };
        for (rules, want) in [(Rules::Rfc8985, [true, true, true]), (Rules::Linux, [false, true, false])] {
            let mut d = of(rules);
            let before = [d.dsack_counts(&ack, false), d.dsack_counts(&ack, true)];
            d.tlp.arm(Time(0), &cx);
            assert!(d.tlp.fire(d.tlp.deadline().unwrap(), false) && d.tlp.probe_sent(Xmit::New, &cx));
            assert_eq!([before[0], before[1], d.dsack_counts(&ack, true)], want, "{rules:?}");
            assert!(!d.dsack_counts(&crate::testing::blank(), true), "no DSACK");
        }
    }

    #[test]
    fn by_linuxs_rules_a_timeout_amid_many_duplicates_brings_the_threshold_back() {
        // Ten SACKed segments are at least eight, but not twelve; and in Recovery the threshold is not doubted.
        for (phase, dupthresh, want) in [(Phase::Disorder, 8, 3), (Phase::Disorder, 12, 12), (Phase::Recovery, 8, 8)] {
            let (mut d, mut board) = (of(Rules::Linux), Scoreboard::default());
            d.dupthresh = dupthresh;
            (0..11).for_each(|i| _ = board.push(Offset(1 + 1000 * i), 1000, Time(i), 1e9, false));
            board.apply_sack((Offset(1001), Offset(11_001)), &mut Default::default());
            d.on_rto(0, &wide(), &Ctx { phase, ..context() });
            d.after_rto(&mut board, &Ctx { phase: Phase::Loss, ..context() });
            assert_eq!(d.dupthresh, want, "{phase:?}");
        }
    }

    #[test]
    fn by_linuxs_rules_the_timer_for_reordering_runs_no_longer_than_the_timeout_and_then_gives_way_to_it() {
        // Linux: tcp_rack_mark_lost limits its timer to icsk_rto, and tcp_rack_reo_timeout sets the retransmission timer.
        let secs = Nanos::from_secs;
        for (longer, want) in [(3600, 120), (50, 50)] {
            let (mut d, mut board) = (of(Rules::Linux), board());
            let cx = Ctx { now: Time::ZERO + secs(3600), rto: secs(120), snd_max: Offset(10_001), ..context() };
            (d.newest, d.rtt, d.tlp_on) = (Some((Time(9), Offset(10_001))), secs(3600 + longer), false);
            assert_eq!(d.detect(false, &mut board, &cx), 0);
            let at = d.deadline().expect("some are not lost yet");
            // The wheel adds up to an eighth.
            assert!((want..=want + want / 8).contains(&(at.since(cx.now).0 / 1_000_000_000)), "{at:?}");
            d.on_timer(&wide(), &mut board, &Ctx { now: at, ..cx });
            assert_eq!(d.deadline(), None);
        }
    }

    #[test]
    fn by_linuxs_rules_an_ack_without_a_delivery_that_tells_is_not_searched_for_losses() {
        // tcp_rack_mark_lost: "if (!tp->rack.advanced) return". An ACK that advances then sets the timeout instead of the timer.
        let ms = |n: u64| Time(n * 1_000_000);
        for (rules, advances, want) in [
            (Rules::Linux, false, (0, true)),
            (Rules::Linux, true, (0, false)),
            (Rules::Rfc8985, false, (9000, false)),
            (Rules::Rfc8985, true, (8000, false)),
        ] {
            let (mut d, mut board) = (of(rules), board());
            let sent = board.get(Offset(9001)).map(|s| (s.at, s.end()));
            (d.newest, d.rtt, d.reorder_at, d.fack) = (sent, Nanos::from_millis(100), Some(ms(126)), Offset(10_001));
            let mut out = Delivered::default();
            board.begin_ack();
            if advances {
                board.acknowledge(Offset(1001), &mut out);
            }
            let una = Offset(if advances { 1001 } else { 1 });
            let ack = AckEvent { newest: None, rtt: None, ..out.ack_event(Offset(1), una, ms(130)) };
            let cx = Ctx { now: ms(130), snd_una: una, snd_max: Offset(10_001), phase: Phase::Disorder, ..context() };
            d.on_telling_ack(&ack, &mut board, &cx);
            assert_eq!((board.lost(), d.reorder_at.is_some()), want, "{rules:?}, advances {advances}");
        }
    }
}
