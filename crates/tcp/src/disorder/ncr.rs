//! TCP-NCR's extended limited transmit: new data for a whole round trip of doubt, and no burst at its end.
//!
//! Source: RFC 4653 §3.1, §3.2, §3.3.
//!
//! Idea: SACKed data has left the network, so new segments may replace half of it (Careful) or all of it (Aggressive). If
//! the hole closes, it was reordering: the window becomes the outstanding data, and slow start restores it.
//!
//! | source | here |
//! | --- | --- |
//! | FlightSizePrev, Skipped | `flight_prev`, `skipped`, bytes |
//! | (E.2) FlightSizePrev − pipe − Skipped ≥ SMSS | `next` |
//! | (T.2), (T.3) | `on_resolved`, one segment short: the same ACK then opens the window by one, in slow start |
//! | ssthresh = cwnd = FlightSizePrev / 2 at a loss | `beyond` is left out of the flight that is halved |
//!
//! Departures: if the cumulative ACK point moved during the doubt and less than FlightSizePrev is outstanding, a loss halves
//! the outstanding data. Recovery is the stack's own (RFC 4653 uses RFC 3517's). Without ECN.

use super::Disorder;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::ncr::NcrMode;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NcrSpec {
    /// How much new data the duplicates release. Default: "careful".
    pub mode: NcrMode,
}

/// Extended limited transmit at work.
pub struct Ncr {
    mode: NcrMode,
    flight_prev: Bytes,
    skipped: Bytes,
    beyond: Bytes,
}

impl Ncr {
    pub(super) fn new(spec: &NcrSpec) -> Self {
        Ncr { mode: spec.mode, flight_prev: 0, skipped: 0, beyond: 0 }
    }
}

impl Disorder for Ncr {
    fn on_enter(&mut self, _: &Window, cx: &Ctx) {
        (self.flight_prev, self.skipped, self.beyond) = (cx.flight(), 0, 0);
    }
    fn on_dup(&mut self, _: &AckEvent, _: &Window, _: &Ctx) {}
    fn next(&self, _: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        let room = board.pipe() + self.skipped + u64::from(cx.mss) <= self.flight_prev;
        (room && cx.next_len > 0).then_some(Xmit::New)
    }
    fn on_sent(&mut self, _: Xmit, sent: &Sent, _: &Window, cx: &Ctx) {
        if self.mode == NcrMode::Careful {
            self.skipped += u64::from(sent.len);
        }
        self.beyond = cx.flight().saturating_sub(self.flight_prev);
    }
    fn sent_beyond(&self) -> Bytes {
        self.beyond
    }
    fn on_resolved(&mut self, w: &mut Window, cx: &Ctx) {
        let most = (self.flight_prev as f64 - cx.smss()).min(cx.flight() as f64);
        w.cwnd = most.max(cx.smss());
        w.ssthresh = (self.flight_prev as f64).max(2.0 * cx.smss());
        // §3.3: if other holes are still open, it restarts with the same FlightSizePrev.
        (self.skipped, self.beyond) = (0, cx.flight().saturating_sub(self.flight_prev));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::{context, wide};

    #[test]
    fn after_reordering_the_window_is_what_is_outstanding_and_no_more_than_before() {
        // RFC 4653 §3.3: min (FlightSize + SMSS, FlightSizePrev); the ACK itself opens the window by the last segment.
        for (left, cwnd) in [(14, 9000.0), (6, 6000.0), (0, 1000.0)] {
            let mut ncr = Ncr::new(&NcrSpec::default());
            let mut w = wide();
            ncr.on_enter(&w, &Ctx { snd_una: Offset(1), snd_max: Offset(10_001), ..context() });
            ncr.on_resolved(&mut w, &Ctx { snd_una: Offset(5001), snd_max: Offset(5001 + left * 1000), ..context() });
            assert_eq!((w.cwnd, w.ssthresh), (cwnd, 10_000.0), "{left} segments are outstanding");
            assert_eq!(ncr.sent_beyond(), left.saturating_sub(10) * 1000);
        }
    }
}
