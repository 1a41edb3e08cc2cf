//! FACK: the window limits the data outstanding beyond the forward-most byte, plus the data resent.
//!
//! Source: Mathis & Mahdavi 1996 (with Rampdown).
//!
//! Idea: without reordering, `awnd` is exactly the data in the network, so recovery keeps it at the new window: holes
//! first, then new data.
//!
//! | source | here |
//! | --- | --- |
//! | awnd = snd.nxt − snd.fack + retran_data | `board.pipe()` with every hole below `snd.fack` marked lost |
//! | wintrim (Rampdown) | `trim` |
//!
//! Departures: Overdamping (halving the window of a round trip ago) would belong to the congestion slot and is not
//! implemented. ns-2.35's `Fack` is another algorithm in this phase: it restarts from a window of one segment.
//! Unsaid: a resent segment that is lost again waits for the timer (ns-2). Rampdown: the trim starts as the data
//! outstanding beyond the new window, and each segment delivered takes half a segment off it.

use super::Recovery;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::Episode;
use crate::facts::gate;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::needs::{Need, Requirement};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FackSpec {
    /// Reduce the window over a round trip instead of at once (Rampdown). Default: no.
    pub rampdown: bool,
}

impl FackSpec {
    pub(super) fn needs(&self) -> Vec<Requirement> {
        let marks = Requirement {
            need: Need::MarksInRecovery,
            key: "recovery",
            found: "\"fack\"",
            allowed: "only with a detector that marks holes during recovery (\"fack\", \"sack\", \"rack-tlp\")",
        };
        vec![Requirement::sack("recovery", "\"fack\""), marks]
    }
}

/// FACK at work.
pub struct Fack {
    rampdown: bool,
    /// The first retransmission is due, regardless of `awnd`.
    first: bool,
    target: f64,
    trim: f64,
}

impl Fack {
    pub(super) fn new(spec: &FackSpec) -> Self {
        Fack { rampdown: spec.rampdown, first: false, target: 0.0, trim: 0.0 }
    }
}

impl Recovery for Fack {
    fn enter(
        &mut self,
        _: Option<&AckEvent>,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        _: &Ctx,
    ) -> Flow {
        let beyond = (board.pipe() as f64 - ep.target).max(0.0);
        (self.first, self.target) = (true, ep.target);
        self.trim = if self.rampdown { beyond } else { 0.0 };
        w.cwnd = self.target + self.trim;
        Flow::Continue(Rearm::Restart)
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        _: Bytes,
        ep: &mut Episode,
        w: &mut Window,
        _: &mut Scoreboard,
        _: &Ctx,
    ) -> Flow {
        self.trim = (self.trim - ack.delivered as f64 / 2.0).max(0.0);
        if ack.ack >= ep.recover {
            w.cwnd = self.target;
            return Flow::Done { grow: false };
        }
        w.cwnd = self.target + self.trim;
        Flow::Continue(Rearm::OnNewData)
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if self.first {
            return Some(Xmit::Again(cx.snd_una));
        }
        if !gate::pipe(w, board, cx) {
            return None;
        }
        board.first_lost().map(Xmit::Again).or((cx.next_len > 0).then_some(Xmit::New))
    }
    fn on_sent(&mut self, _: Xmit, _: &Sent, _: &Ctx) {
        self.first = false;
    }
}
