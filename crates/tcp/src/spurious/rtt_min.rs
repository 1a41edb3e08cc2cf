//! RTT too short to be true: the ACK after a retransmission arrives sooner than any ACK of it could.
//!
//! Source: Allman & Paxson 1999 §3; Blanton & Allman 2002 §3; RFC 3708 §4 quotes it with f = 1/2.
//!
//! Idea: the first ACK of new data after a retransmission was triggered by the original if less time has passed since
//! then than f times the smallest RTT ever seen.
//!
//! | source | here |
//! | --- | --- |
//! | f = 3/4 | `share` |
//! | RTT_min | `cx.min_rtt`, of segments sent once |
//!
//! Departures: none. Unsaid: of several retransmissions in a repair, the first is timed; fast retransmits, for which
//! Blanton & Allman say that the method was never shown to work (`judge_fast_retransmits`).

use super::Spurious;
use crate::error::StackError;
use crate::event::Cause;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Episode, Ledger, Mistake};
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::time::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RttMinSpec {
    /// f, the share of the smallest RTT, more than 0 and at most 1. Default: 0.75.
    pub share: f64,
    /// Whether fast retransmits are also judged. Default: no.
    pub judge_fast_retransmits: bool,
}

impl Default for RttMinSpec {
    fn default() -> Self {
        RttMinSpec { share: 0.75, judge_fast_retransmits: false }
    }
}

impl RttMinSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let ok = self.share > 0.0 && self.share <= 1.0;
        StackError::unless(ok, "spurious.share", &self.share, "more than 0 and at most 1")
    }
}

/// The judge at work.
pub struct RttMin {
    spec: RttMinSpec,
    /// The episode whose first retransmission is timed, and when that was sent.
    timed: Option<(u32, Time)>,
}

impl RttMin {
    pub(super) fn new(spec: &RttMinSpec) -> Self {
        RttMin { spec: spec.clone(), timed: None }
    }
}

impl Spurious for RttMin {
    fn on_retransmit(&mut self, _: &Sent, _: Time, ep: &mut Episode, cx: &Ctx) {
        if ep.retransmits == 1 {
            self.timed = Some((ep.id, cx.now));
        }
    }
    fn passes_over(&self, _: &AckEvent, _: &Ctx) -> bool {
        self.timed.is_none()
    }
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, _: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        if !ack.advances() {
            return None;
        }
        let (id, sent) = self.timed.take()?;
        let plausible = cx.now.since(sent).0 as f64 >= self.spec.share * cx.min_rtt?.0 as f64;
        let ep = ledger.get(id).filter(|ep| !ep.void && !plausible)?;
        let judged = ep.cause == Cause::Rto || self.spec.judge_fast_retransmits;
        judged.then_some(Mistake { episode: ep.id, cause: ep.cause, sample: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::{blank, context, episode, ms};
    use crate::time::Nanos;

    #[test]
    fn of_several_retransmissions_in_a_repair_the_first_is_timed() {
        // The smallest RTT is 100 ms; segments are resent at 0 and at 90 ms.
        for (at, needless) in [(74, true), (75, false), (100, false)] {
            let (mut judge, mut ledger, mut board) =
                (RttMin::new(&RttMinSpec::default()), Ledger::default(), Scoreboard::default());
            let sent = board.push(Offset::DATA, 1000, Time::ZERO, 1e9, false);
            let view = |at| Ctx { now: ms(at), min_rtt: Some(Nanos::from_millis(100)), ..context() };
            let ep = ledger.begin(Episode { cause: Cause::Rto, ..episode() });
            for (retransmits, at) in [(1, 0), (2, 90)] {
                ep.retransmits = retransmits;
                judge.on_retransmit(&sent, Time::ZERO, ep, &view(at));
            }
            let ack = AckEvent { ack: Offset::DATA + 1000, prior_una: Offset::DATA, ..blank() };
            assert_eq!(judge.on_ack(&ack, &mut ledger, &board, &view(at)).is_some(), needless, "after {at} ms");
        }
    }
}
