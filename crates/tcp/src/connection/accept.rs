//! Decides whether a segment is acceptable once the connection is established. Only this file does so, before any state
//! changes.
//!
//! Source: RFC 9293 §3.10.7.4; RFC 5961 §3 to §5 and §7; RFC 7323 §5.3.
//!
//! | RFC 9293 §3.10.7.4 | here |
//! | --- | --- |
//! | first: sequence number (and PAWS before it) | `Receiver::refuse` |
//! | second: RST | `on_reset` |
//! | fourth: SYN | `refuse`: answered, never accepted |
//! | fifth: ACK | `refuse`, `Sender::is_acceptable_ack` |
//! | the rest of it: acknowledged data; seventh and eighth: data, FIN | `take` |
//!
//! Third (security) and sixth (urgent data) are not implemented. The usual segment fails none of these tests, so their order
//! does not matter to it. A connection with one half accepts it in `on_expected`. With two halves, `on_plain` checks its ACK,
//! and the receiver checks its sequence number as it accepts the data. All other segments go through the tests one by one.

use super::{CloseReason, Connection, Extras, Insecure, Outcome, Refusal, TIME_WAIT};
use crate::event::Observer;
use crate::receiver::Accept;
use crate::segment::Segment;
use crate::time::Time;

impl Connection {
    /// Handles segments before the connection is established and after its end, SYN, FIN and RST, and anything in TIME-WAIT.
    #[inline(never)]
    pub(super) fn on_rare<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        let outcome = if self.handshake.is_some() || self.closed.is_some() {
            self.on_segment_unestablished(now, seg, obs)
        } else {
            self.on_doubtful(now, seg, obs)
        };
        if outcome.refused.is_none() || outcome.bytes > 0 {
            self.heard(now, outcome.bytes);
        } else {
            // The ACK of a segment counts even if its data was refused, and it may be that of our FIN.
            self.watch_fin_wait_2(now);
        }
        outcome
    }

    /// Data and ACKs of an established connection.
    #[inline(never)]
    pub(super) fn on_plain<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        match &self.tx {
            Some(tx) if !seg.has(Segment::ACK) || !tx.is_acceptable_ack(seg.ack) => self.on_doubtful(now, seg, obs),
            _ => self.take(now, seg, obs),
        }
    }

    #[inline(never)]
    fn on_doubtful<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        match self.refuse(now, seg) {
            Some(refused) => refused,
            None => self.take(now, seg, obs),
        }
    }

    /// Runs the tests in order. Returns `None` if the segment is acceptable; a refused segment has been answered.
    fn refuse(&mut self, now: Time, seg: &Segment) -> Option<Outcome> {
        // First.
        if let Some(refused) = self.rx.as_mut().and_then(|rx| rx.refuse(now, seg)) {
            if refused.refused != Some(Refusal::Paws) {
                self.wait_anew(now, seg);
            }
            return Some(refused);
        }
        // Second.
        if seg.has(Segment::RST) {
            return Some(self.on_reset(now, seg));
        }
        // Fourth, as in RFC 5961 §4.2.
        if seg.has(Segment::SYN) {
            if self.insecure().syn && self.time_wait.is_none() {
                self.reset_by_syn();
            } else {
                self.challenge(now);
            }
            return Some(Outcome::refused(Refusal::Flags));
        }
        // Fifth.
        let tx = self.tx.as_ref()?;
        if !seg.has(Segment::ACK) {
            return Some(Outcome::refused(Refusal::Flags));
        }
        if !tx.is_acceptable_ack(seg.ack) {
            self.challenge(now);
            return Some(Outcome::refused(Refusal::Ack));
        }
        self.wait_anew(now, seg);
        None
    }

    /// Processes the acknowledgment, data and FIN of a segment that passed the tests. (In a connection with one half, and in
    /// the usual case, the receiver still tests the sequence number.)
    #[inline(always)]
    fn take<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        let mut outcome = Outcome::NOTHING;
        if let Some(rx) = &mut self.rx {
            // The usual answers are not read back from memory, where they would have to be first.
            if rx.on_expected(now, seg) {
                outcome = Outcome::whole(seg);
            } else if !rx.on_bare_ack(now, seg) {
                let (accept, taken) = rx.on_unexpected(now, seg);
                match accept {
                    Accept::No => return taken,
                    Accept::Finished => self.passive = !self.tx.as_ref().is_some_and(|tx| tx.is_closed()),
                    Accept::Same | Accept::Advanced => {}
                }
                outcome = taken;
            }
            if self.extras.has(Extras::ECN) {
                self.extras.hear(seg);
            }
        }
        self.take_ack(now, seg, obs);
        if let (Some(tx), Some(rx)) = (&self.tx, &mut self.rx) {
            rx.hear_sender(|| tx.round_trip());
        }
        outcome
    }

    #[inline]
    pub(super) fn take_ack<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) {
        let (Some(tx), true) = (&mut self.tx, seg.has(Segment::ACK)) else { return };
        tx.on_ack(now, seg, obs);
        if tx.is_closed() {
            self.maybe_finished(now);
        }
    }

    /// RFC 5961 §3.2: a RST counts only at exactly `rcv_nxt`; elsewhere in the window it is answered with an ACK.
    fn on_reset(&mut self, now: Time, seg: &Segment) -> Outcome {
        let insecure = self.insecure();
        match &mut self.rx {
            Some(rx) if seg.seq != rx.rcv_nxt() && !insecure.rst => {
                rx.challenge(now);
                Outcome::refused(Refusal::Flags)
            }
            _ => {
                self.end(CloseReason::Reset);
                Outcome::NOTHING
            }
        }
    }

    fn insecure(&self) -> Insecure {
        self.live.as_ref().map_or_else(Insecure::default, |live| live.insecure)
    }

    /// RFC 793 §3.9: a SYN in the window ends the connection. The peer gets a RST, and the application sees a reset, too.
    pub(super) fn reset_by_syn(&mut self) {
        self.abort();
        self.closed = Some(CloseReason::Reset);
    }

    /// Eighth, TIME-WAIT: the peer's FIN, received again, restarts the wait. It is the same FIN if it ends at the same offset
    /// and its acknowledgment is plausible. (It is left of the window, so the first test answers it.)
    fn wait_anew(&mut self, now: Time, seg: &Segment) {
        let (Some(_), Some(tx), Some(rx)) = (self.time_wait, &self.tx, &self.rx) else { return };
        let again = seg.has(Segment::FIN | Segment::ACK) && seg.end() == rx.rcv_nxt();
        if again && tx.is_acceptable_ack(seg.ack) {
            self.time_wait = Some(now + TIME_WAIT);
        }
    }

    fn challenge(&mut self, now: Time) {
        if let Some(rx) = &mut self.rx {
            rx.challenge(now);
        }
    }
}
