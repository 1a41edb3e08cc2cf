//! Go back N: after a timeout everything from `snd_una` on is resent, in slow start.
//!
//! Source: RFC 5681 §3.1, §4.3; RFC 6298 §5.4; RFC 2018 §5.1 (SACK information is dropped); ns-2.35; Net/2.
//!
//! Idea: nothing is known about the data that was in flight, so `snd_nxt` goes back; An ACK that covers data held by the
//! receiver moves the pointer forward. Segments SACKed *after* the timeout are skipped (RFC 6675 §5.1) unless `skip_sacked` is
//! off (ns-2).
//!
//! The phase ends when `snd_nxt` has caught up with `snd_max`. Duplicates may trigger a fast retransmit from here
//! (Net/2's false ones, Hoe 1995 §5.3.3) if the detector's guard allows it.

use super::{Repair, Timeout};
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Episode, Mistake};
use crate::facts::gate;
use crate::facts::scoreboard::{Marks, Scoreboard};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GoBackNSpec {
    /// Whether segments SACKed since the timeout are skipped. Default: yes; no in ns-2.
    pub skip_sacked: bool,
    /// Keep SACK information at the timeout (RFC 6675 §5.1), so that data SACKed earlier is skipped, too. Default: no
    /// (RFC 2018 §5.1).
    pub keep_sacks: bool,
}

impl Default for GoBackNSpec {
    fn default() -> Self {
        GoBackNSpec { skip_sacked: true, keep_sacks: false }
    }
}

/// Going back at work.
pub struct GoBackN {
    skip_sacked: bool,
    keep_sacks: bool,
}

impl GoBackN {
    pub(super) fn new(spec: &GoBackNSpec) -> Self {
        GoBackN { skip_sacked: spec.skip_sacked, keep_sacks: spec.keep_sacks }
    }
}

impl Timeout for GoBackN {
    fn enter(&mut self, _: &mut Episode, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) -> Repair {
        w.cwnd = cx.smss();
        // Rule 19. RFC 2018 §8: a receiver that holds the oldest segment would have acknowledged it; it has reneged.
        if !self.keep_sacks || board.iter().next().is_some_and(|s| s.marks.any(Marks::SACKED)) {
            board.clear_sacks();
        }
        Repair::Rewind { skip_sacked: self.skip_sacked }
    }
    fn on_ack(
        &mut self,
        _: &AckEvent,
        lost: Bytes,
        _: &mut Episode,
        _: &mut Window,
        _: &mut Scoreboard,
        cx: &Ctx,
    ) -> (Flow, Option<Mistake>) {
        // Rules 16 and 18.
        let flow = match (lost > 0, cx.snd_nxt == cx.snd_max) {
            (true, _) => Flow::Begin,
            (false, true) => Flow::Done { grow: false },
            (false, false) => Flow::Continue(Rearm::OnNewData),
        };
        (flow, None)
    }
    fn next(&self, w: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        gate::window(w, 0, cx).then_some(Xmit::New)
    }
}
