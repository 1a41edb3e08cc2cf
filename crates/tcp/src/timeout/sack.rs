//! After a timeout with SACK: everything not SACKed is marked lost and resent, under `pipe`.
//!
//! Source: RFC 6675 §5.1; RFC 5681 §4.3; RFC 8985 §6.3 for `mark = "head"`.
//!
//! Idea: SACK information is kept, so data that the receiver holds is not resent; `cwnd` grows from one segment in
//! slow start and limits the retransmissions.
//!
//! The phase ends when the data outstanding at the timeout is acknowledged. No fast retransmit starts before that
//! (§5.1: until `HighACK ≥ RecoveryPoint`).
//!
//! Departures: none. Reneging (RFC 2018 §8) shows here: the segment at `snd_una` is never SACKed at a timeout unless
//! the receiver reneged, and then the marks are dropped.

use super::{Repair, Timeout};
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Episode, Mistake};
use crate::facts::gate;
use crate::facts::scoreboard::{Marks, Scoreboard, Sent};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The segments that a timeout marks lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Everything that is not SACKed (RFC 6675 §5.1).
    #[default]
    All,
    /// The oldest segment, which is resent at once; the detector marks the others when they are due (RFC 8985 §6.3).
    Head,
}

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SackSpec {
    /// The segments that a timeout marks lost. Default: "all".
    pub mark: Mark,
    /// Drop SACK information at the timeout (RFC 2018 §5.1; RFC 6675 §5.1 allows keeping it). Default: no.
    pub clear_sacks: bool,
}

/// Repair by marks at work.
pub struct Sack {
    clear_sacks: bool,
    mark: Mark,
    /// The oldest segment is due, regardless of the data in the network.
    head_due: bool,
}

impl Sack {
    pub(super) fn new(spec: &SackSpec) -> Self {
        Sack { clear_sacks: spec.clear_sacks, mark: spec.mark, head_due: false }
    }
}

impl Timeout for Sack {
    fn enter(&mut self, _: &mut Episode, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) -> Repair {
        w.cwnd = cx.smss();
        // Rule 19.
        if self.clear_sacks || board.iter().next().is_some_and(|s| s.marks.any(Marks::SACKED)) {
            board.clear_sacks();
        }
        match self.mark {
            Mark::All => board.mark_rest_lost(),
            Mark::Head => board.mark_head_lost(),
        };
        self.head_due = self.mark == Mark::Head;
        Repair::Marks
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        lost: Bytes,
        ep: &mut Episode,
        _: &mut Window,
        _: &mut Scoreboard,
        _: &Ctx,
    ) -> (Flow, Option<Mistake>) {
        let flow = match (ack.ack >= ep.recover, lost > 0 && self.mark == Mark::Head) {
            (false, _) => Flow::Continue(Rearm::OnNewData),
            (true, false) => Flow::Done { grow: false },
            // RFC 8985 §6.2: a loss above the end of a recovery begins another recovery.
            (true, true) => Flow::Begin,
        };
        (flow, None)
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if !gate::pipe(w, board, cx) && !self.head_due {
            return None;
        }
        let new = (cx.next_len > 0).then_some(Xmit::New);
        board.first_lost().map(Xmit::Again).or(new)
    }
    fn on_sent(&mut self, _: Xmit, _: &Sent, _: &Ctx) {
        self.head_due = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::{blank, context, episode};

    #[test]
    fn where_a_detector_marks_a_loss_above_the_end_of_a_repair_begins_the_next() {
        // RFC 8985 §6.2. With RFC 6675 everything was marked at the timeout.
        let flow = |mark, short: u64, lost| {
            let (mut timeout, mut ep) = (Sack::new(&SackSpec { mark, clear_sacks: false }), episode());
            let ack = AckEvent { ack: Offset(ep.recover.0 - short), ..blank() };
            let mut w = ep.prior;
            timeout.on_ack(&ack, lost, &mut ep, &mut w, &mut Scoreboard::default(), &context()).0
        };
        assert_eq!(flow(Mark::Head, 0, 1000), Flow::Begin);
        assert_eq!(flow(Mark::Head, 0, 0), Flow::Done { grow: false });
        assert_eq!(flow(Mark::All, 0, 1000), Flow::Done { grow: false });
        assert_eq!(flow(Mark::Head, 1, 1000), Flow::Continue(Rearm::OnNewData));
    }
}
