//! Tahoe: a fast retransmit is a timeout without the wait.
//!
//! Source: Jacobson 1988; 4.3BSD-Tahoe as in ns-2.35's `Agent/TCP`.
//!
//! Idea: after the verdict ssthresh is halved, the window is one segment, and everything from `snd_una` on is
//! resent in slow start, whether or not the receiver holds it.
//!
//! Departures: none. The detector's guard decides whether a second fast retransmit may follow.

use super::Recovery;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::Episode;
use crate::facts::scoreboard::Scoreboard;
use crate::units::Bytes;

/// It has no state; the Loss phase does the work.
pub struct Tahoe;

impl Recovery for Tahoe {
    fn enter(&mut self, _: Option<&AckEvent>, _: &mut Episode, _: &mut Window, _: &mut Scoreboard, _: &Ctx) -> Flow {
        Flow::Restart
    }
    fn on_ack(&mut self, _: &AckEvent, _: Bytes, _: &mut Episode, _: &mut Window, _: &mut Scoreboard, _: &Ctx) -> Flow {
        Flow::Restart
    }
    fn next(&self, _: &Window, _: &Scoreboard, _: &Ctx) -> Option<Xmit> {
        None
    }
}
