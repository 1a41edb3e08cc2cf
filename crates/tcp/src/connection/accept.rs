//! Whether a segment is acceptable, and what becomes of it, once the connection is established.
//!
//! Source: RFC 9293 §3.10.7.4.

use super::{CloseReason, Connection, Extras, Outcome, Refusal, TIME_WAIT};
use crate::event::Observer;
use crate::receiver::Accept;
use crate::segment::Segment;
use crate::time::Time;

impl Connection {
    /// Before the connection is established and after its end, SYN, FIN and RST, and anything in TIME-WAIT.
    #[inline(never)]
    pub(super) fn on_rare<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        let outcome = if self.handshake.is_some() || self.closed.is_some() {
            self.on_segment_unestablished(now, seg, obs)
        } else {
            self.on_flagged(now, seg, obs)
        };
        if outcome.refused.is_none() {
            self.heard(now, outcome.bytes);
        }
        outcome
    }

    /// Data and ACKs of an established connection.
    #[inline(never)]
    pub(super) fn on_plain<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        let mut outcome = Outcome::NOTHING;
        if let Some(rx) = &mut self.rx {
            if self.tx.is_none() || seg.len > 0 || seg.has(Segment::ACK) {
                let accept;
                (accept, outcome) = rx.on_segment(now, seg);
                if accept == Accept::No {
                    return outcome;
                }
            }
            if self.extras.has(Extras::ECN) {
                self.extras.hear(seg);
            }
        }
        self.take_ack(now, seg, obs);
        outcome
    }

    #[inline]
    pub(super) fn take_ack<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        if let (Some(tx), true) = (&mut self.tx, seg.has(Segment::ACK)) {
            // RFC 9293 §3.10.7.4: an ACK for what was never sent is answered with an ACK.
            if seg.ack > tx.positions().2 {
                if let Some(rx) = &mut self.rx {
                    rx.answer();
                }
                return Outcome::refused(Refusal::Ack);
            }
            tx.on_ack(now, seg, obs);
            if tx.is_closed() {
                self.maybe_finished(now);
            }
        }
        Outcome::NOTHING
    }

    fn on_flagged<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        let same = (Accept::Same, Outcome::NOTHING);
        let (accept, outcome) = self.rx.as_mut().map_or(same, |rx| rx.on_segment(now, seg));
        // RFC 9293 §3.10.7.4: the peer's FIN again; it has been answered, and the wait begins anew.
        if seg.has(Segment::FIN) && self.time_wait.is_some() {
            self.time_wait = Some(now + TIME_WAIT);
        }
        if accept == Accept::No {
            return outcome;
        }
        if seg.has(Segment::RST) {
            self.on_reset(seg);
            return outcome;
        }
        if accept == Accept::Finished {
            self.passive = !self.tx.as_ref().is_some_and(|tx| tx.is_closed());
        }
        if self.extras.has(Extras::ECN) {
            self.extras.hear(seg);
        }
        self.take_ack(now, seg, obs);
        self.maybe_finished(now);
        outcome
    }

    /// RFC 5961 §3.2: a RST counts only at exactly `rcv_nxt`; elsewhere in the window it is answered with an ACK.
    fn on_reset(&mut self, seg: &Segment) {
        match &mut self.rx {
            Some(rx) if seg.seq != rx.rcv_nxt() => rx.answer(),
            _ => self.end(CloseReason::Reset),
        }
    }
}
