//! Nothing extra is sent in Disorder: the plain window decides.
//!
//! Source: RFC 5681 §3.2 without limited transmit; ns-2 with `singledup_` off.
//!
//! Idea: duplicate ACKs do not open the window, so a full window stays full until the verdict.

use super::Disorder;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::gate;
use crate::facts::scoreboard::Scoreboard;

/// It has no state.
pub struct Nothing;

impl Disorder for Nothing {
    fn on_dup(&mut self, _: &AckEvent, _: &Window, _: &Ctx) {}
    fn next(&self, w: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        gate::window(w, 0, cx).then_some(Xmit::New)
    }
}
