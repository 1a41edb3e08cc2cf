//! Reno: fast recovery that ends at the first ACK of new data.
//!
//! Source: RFC 5681 §3.2; 4.3BSD-Reno as ns-2.35's `Agent/TCP/Reno` has it; Hoe 1995 §3.2.4.
//!
//! Idea: resend the segment at `snd_una`; each duplicate means that a segment has left the network, so the window is
//! inflated by one for it; the first ACK that advances takes the inflation away.
//!
//! | source | here |
//! | --- | --- |
//! | dupwnd (ns-2) | `inflation`, bytes; never written into `cwnd` |
//! | ssthresh + 3 (RFC 5681 §3.2 (3)), ssthresh + 1 (Hoe) | `inflate_segs` |
//!
//! Departures: the inflation is private, so that it cannot leak into a later halving or into what an undo restores.
//! Unsaid: whether the ACK that ends recovery grows the window. ns-2: yes (`grow_on_exit`); RFC 5681: no.

use super::{Flow, Rearm, Recovery};
use crate::detect::Xmit;
use crate::event::Window;
use crate::sender::ack::AckEvent;
use crate::sender::ctx::Ctx;
use crate::sender::episode::Episode;
use crate::sender::gate;
use crate::sender::scoreboard::{Scoreboard, Sent};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RenoSpec {
    /// Segments added to the window at entry. Default 3 (RFC 5681); Hoe's text says 1.
    pub inflate_segs: u32,
    /// Whether the ACK that ends recovery also grows the window. Default yes (Net/2, ns-2); RFC 5681 says no.
    pub grow_on_exit: bool,
}

impl Default for RenoSpec {
    fn default() -> Self {
        RenoSpec { inflate_segs: 3, grow_on_exit: true }
    }
}

/// Fast recovery at work.
pub struct Reno {
    spec: RenoSpec,
    inflation: Bytes,
    resend: bool,
}

impl Reno {
    pub(super) fn new(spec: &RenoSpec) -> Self {
        Reno { spec: spec.clone(), inflation: 0, resend: false }
    }
}

impl Recovery for Reno {
    fn enter(&mut self, _: Option<&AckEvent>, ep: &mut Episode, w: &mut Window, _: &mut Scoreboard, cx: &Ctx) -> Flow {
        w.cwnd = ep.target;
        self.inflation = u64::from(self.spec.inflate_segs) * u64::from(cx.mss);
        self.resend = true;
        Flow::Continue(Rearm::Restart)
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        _: Bytes,
        _: &mut Episode,
        _: &mut Window,
        _: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        if ack.advances() {
            (self.inflation, self.resend) = (0, false);
            return Flow::Done { grow: self.spec.grow_on_exit };
        }
        if ack.is_dup {
            self.inflation += u64::from(cx.mss);
        }
        Flow::Continue(Rearm::OnNewData)
    }
    fn next(&self, w: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if self.resend {
            return Some(Xmit::Again(cx.snd_una));
        }
        gate::window(w, self.inflation, cx).then_some(Xmit::New)
    }
    fn on_sent(&mut self, x: Xmit, _: &Sent, _: &Ctx) {
        if let Xmit::Again(_) = x {
            self.resend = false;
        }
    }
    fn inflation(&self) -> f64 {
        self.inflation as f64
    }
}
