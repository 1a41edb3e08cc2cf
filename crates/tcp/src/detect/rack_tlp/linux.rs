//! Where Linux's RACK and its probe depart from RFC 8985.
//!
//! Source: Linux 6.18 (`tcp_dsack_seen`, `tcp_check_sack_reordering` in `net/ipv4/tcp_input.c`, `tcp_rack_reo_timeout` and
//! `tcp_rack_update_reo_wnd` in `net/ipv4/tcp_recovery.c`, `tcp_schedule_loss_probe` in `net/ipv4/tcp_output.c`), in our words.
//!
//! Departures: the kernel learns from a late segment's timestamp at a partial ACK only; here the ACK that ends a repair teaches,
//! too. It counts the distance from the left edge, here it is the duplicates and one.

use super::RackTlp;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::reorder::ReorderSample;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where RFC 8985 and Linux differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rules {
    /// Every DSACK widens the window; the threshold stays; timers fire when they are due.
    #[default]
    Rfc8985,
    /// A DSACK widens the window only after reordering was seen, and not if a probe caused it (`tcp_dsack_seen`); the threshold is
    /// the furthest that a segment was overtaken (`tcp_check_sack_reordering`); timers fire on a tick, 2 ms later.
    Linux,
}

impl Rules {
    pub(super) fn is_rfc8985(&self) -> bool {
        *self == Rules::Rfc8985
    }
}

/// Ticks a second by default.
pub(super) const HZ: u32 = 250;

pub(super) fn is_default_hz(hz: &u32) -> bool {
    *hz == HZ
}

/// The most that the threshold becomes by default.
pub(super) const MAX_REORDERING: u32 = 300;

pub(super) fn is_default_max(max: &u32) -> bool {
    *max == MAX_REORDERING
}

/// The least that Linux's timers of reordering and of the probe run longer (`TCP_TIMEOUT_MIN`).
pub(super) const TIMEOUT_MIN: Nanos = Nanos::from_millis(2);
impl RackTlp {
    /// Linux's `tcp_check_sack_reordering`: how far the lowest of what is new was overtaken.
    #[inline(never)]
    pub(super) fn measure_reordering(&mut self, board: &Scoreboard, cx: &Ctx) {
        let overtaken = |s: &&Sent| s.sends == 1 && s.end() < self.fack;
        if let Some(low) = board.newly().filter(overtaken).map(|s| s.start).min() {
            let segments = (self.fack - low).div_ceil(u64::from(cx.mss));
            self.dupthresh = self.dupthresh.max(u32::try_from(segments).unwrap_or(u32::MAX).min(self.max_reordering));
            self.reordering_seen = true;
        }
    }

    /// Linux's `tcp_try_undo_partial`: what was resent had only been late, as its timestamp shows.
    pub(super) fn learn_from_delay(&mut self, sample: &ReorderSample) {
        if self.linux.is_some() {
            self.dupthresh = self.dupthresh.max(sample.dupacks.saturating_add(1).min(self.max_reordering));
            self.reordering_seen = true;
        }
    }

    /// When a timer of `span` set at `since` fires.
    pub(super) fn fires(&self, since: Time, span: Nanos) -> Time {
        match self.linux {
            None => since + span,
            Some(jiffies) => jiffies.deadline(since, span + TIMEOUT_MIN),
        }
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
    use crate::detect::Learner;
    use crate::testing::{context, spurious, wide};

    #[test]
    fn by_linuxs_rules_a_segment_that_was_late_and_resent_shows_reordering() {
        for (rules, want) in [(Rules::Rfc8985, (3, false)), (Rules::Linux, (8, true))] {
            let mut d = RackTlp::new(&RackTlpSpec { rules, ..RackTlpSpec::default() });
            d.on_reorder(&spurious(7), &wide(), &context());
            assert_eq!((d.dupthresh, d.reordering_seen), want, "{rules:?}");
        }
    }
}
