//! Nothing special is sent while unsure: the plain window decides.
//!
//! Source: RFC 5681 §3.2 without limited transmit; ns-2 with `singledup_` off.
//!
//! Idea: duplicate ACKs do not open the window, so a full window stays full until the verdict.

use super::Disorder;
use crate::detect::Xmit;
use crate::event::Window;
use crate::sender::ack::AckEvent;
use crate::sender::ctx::Ctx;
use crate::sender::gate;
use crate::sender::scoreboard::Scoreboard;

/// It has no state.
pub struct Nothing;

impl Disorder for Nothing {
    fn on_dup(&mut self, _: &AckEvent, _: &Window, _: &Ctx) {}
    fn next(&self, w: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        gate::window(w, 0, cx).then_some(Xmit::New)
    }
}
