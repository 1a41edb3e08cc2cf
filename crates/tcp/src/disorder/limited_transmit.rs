//! Limited transmit: new data on the first two duplicates.
//!
//! Source: RFC 3042 §2; RFC 5681 §3.2 (1), (2).
//!
//! Idea: with a small window three duplicates may never arrive; a new segment on each of the first two keeps the
//! ACK clock going. The window stays as it is, and the extra segments do not count when it is halved.
//!
//! | source | here |
//! | --- | --- |
//! | FlightSize ≤ cwnd + 2 · SMSS | `allowance` (one segment a duplicate, at most two) |
//!
//! With SACK a duplicate counts only if it brings new SACK information: that is the stack's `dup_rule`.

use super::Disorder;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::gate;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::units::Bytes;

/// RFC 3042 at work.
#[derive(Default)]
pub struct LimitedTransmit {
    allowance: Bytes,
    beyond: Bytes,
}

impl Disorder for LimitedTransmit {
    fn on_enter(&mut self, _: &Window, _: &Ctx) {
        *self = LimitedTransmit::default();
    }
    fn on_dup(&mut self, ack: &AckEvent, _: &Window, cx: &Ctx) {
        self.allowance = u64::from(ack.dup_run.min(2)) * u64::from(cx.mss);
    }
    fn next(&self, w: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        gate::window(w, self.allowance, cx).then_some(Xmit::New)
    }
    fn on_sent(&mut self, _: Xmit, sent: &Sent, w: &Window, cx: &Ctx) {
        if cx.flight() > gate::whole_segments(w.cwnd, cx.mss) {
            self.beyond += u64::from(sent.len);
        }
    }
    fn sent_beyond(&self) -> Bytes {
        self.beyond
    }
    fn on_resolved(&mut self, _: &mut Window, _: &Ctx) {
        *self = LimitedTransmit::default();
    }
}
