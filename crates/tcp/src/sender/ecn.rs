//! Congestion that the network signals by marks instead of drops.
//!
//! Source: RFC 3168 §6.1.2 (sender), §6.1.4 to §6.1.6 (what may be marked); RFC 4015 §3.2 (9) (no undo).
//!
//! Idea: an echoed mark cuts the window as a loss does, at most once per window of data, and nothing is repaired.
//!
//! | RFC 3168 | here |
//! | --- | --- |
//! | "react at most once per window" | `ecn_recover`; no cut if a loss in the same window has already caused one |
//! | CWR | `cwr_due`: on the first new segment after any reduction |
//!
//! Departures: with a window of one segment the RFC lets the sender wait for the retransmission timer; here it stays at
//! one segment and sends. A mark voids the episodes before it: their cuts are not undone.

use super::Sender;
use crate::congestion::Congestion;
use crate::detect::Learner;
use crate::event::{Cause, Observer, Slot};
use crate::segment::Segment;
use crate::time::Time;

impl Sender {
    /// Rule 5. An ACK echoes a mark.
    #[cold]
    pub(super) fn on_ece<O: Observer>(&mut self, now: Time, obs: &mut O) {
        if let Some(ep) = self.cold.ledger.get(self.cold.ledger.count()) {
            ep.void = true;
        }
        // The ACK that reaches the end of the window still concerns a packet sent in it.
        let answered = self.cold.ecn_recover.is_some_and(|r| self.snd_una <= r);
        let in_same_window = self.recover.is_some_and(|r| self.snd_una <= r);
        if answered || in_same_window || self.phase.repairs() {
            return;
        }
        self.cold.ecn_recover = Some(self.snd_max);
        self.cwr_due = true;
        let cx = self.ctx(now);
        self.write_window(now, Slot::Congestion, obs, |s| {
            let cut = s.slots.congestion.on_loss(&s.loss_event(Cause::Ecn, false), &s.w, &cx);
            s.w.ssthresh = cut.ssthresh;
            s.w.cwnd = s.w.cwnd.min(cut.cwnd);
        });
        self.damped = false;
        self.slots.detect.on_cut(&self.w, &self.ctx(now));
    }

    /// Sets whether both ends use ECN; known after the handshake.
    pub(crate) fn use_ecn(&mut self, agreed: bool) {
        self.ece_flag = if agreed { Segment::ECE } else { 0 };
    }

    /// Sets the ECN bits of the segment just polled: new data may be marked; retransmissions, probes of a closed window
    /// and ACKs may not (RFC 3168 §6.1.4 to §6.1.6).
    pub(crate) fn mark_sent(&mut self, out: &mut Segment) {
        if self.last_sends == 1 && out.len > 0 && !self.persist.is_probing() {
            out.opts |= Segment::ECT;
            if std::mem::take(&mut self.cwr_due) {
                out.flags |= Segment::CWR;
            }
        }
    }
}
