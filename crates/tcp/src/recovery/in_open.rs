//! No phase of its own: the window is cut, and segments marked lost are resent in Open.
//!
//! Source: Bohacek, Hespanha, Lee, Lim & Obraczka 2003 (TCP-PR has no recovery phase: lost data is sent first, as the
//! window allows).
//!
//! Idea: if the detector marks each lost segment, nothing else needs to choose the segments to repair: marked segments are sent
//! first, under `pipe` (rule 28).

use super::Recovery;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::Episode;
use crate::facts::gate::Gate;
use crate::facts::scoreboard::Scoreboard;
use crate::units::Bytes;

/// It has no state.
pub struct InOpen;

impl Recovery for InOpen {
    fn enter(&mut self, _: Option<&AckEvent>, ep: &mut Episode, w: &mut Window, _: &mut Scoreboard, _: &Ctx) -> Flow {
        w.cwnd = ep.target;
        Flow::Done { grow: false }
    }
    fn on_ack(&mut self, _: &AckEvent, _: Bytes, _: &mut Episode, _: &mut Window, _: &mut Scoreboard, _: &Ctx) -> Flow {
        Flow::Continue(Rearm::OnNewData)
    }
    fn next(&self, _: &Window, _: &Scoreboard, _: &Ctx) -> Option<Xmit> {
        None
    }
    fn open_gate(&self) -> Gate {
        Gate::Pipe
    }
}
