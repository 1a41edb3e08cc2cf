//! Segments that arrive before the connection is established, and the answers to them.
//!
//! Source: RFC 9293 §3.10.7.1 to §3.10.7.4, RFC 5961 §3 and §4, RFC 7323 §5.3; RFC 9293 §3.5 (figure 8, simultaneous open).
//!
//! Departures: in SYN-RECEIVED a repeated SYN of the peer makes us resend ours, as Linux does (`tcp_check_req`), where
//! §3.10.7.4 answers with an ACK. This replaces a lost SYN-ACK at once. A RST in that state always ends the connection; the
//! listener makes a new one. Data and FIN on a SYN without ACK are not accepted, as §3.10.7.2 allows (the peer sees them
//! unacknowledged and resends); those on a SYN-ACK are accepted.

use super::Handshake;
use crate::connection::{CloseReason, Connection, Outcome, Refusal, State};
use crate::event::Observer;
use crate::segment::{is_older, Segment};
use crate::seq::Offset;
use crate::stack::WindowEdge;
use crate::time::Time;

/// The effect of a segment on a handshake.
enum Step {
    /// It continues unchanged or with a SYN due.
    Stays(Outcome),
    /// Both SYNs are acknowledged.
    Established,
    /// The peer refused.
    Reset,
    /// The peer's segment ends it, and the peer gets a RST.
    Abort,
}

impl Step {
    const WENT_ON: Step = Step::Stays(Outcome::NOTHING);

    fn refused(why: Refusal) -> Step {
        Step::Stays(Outcome::refused(why))
    }
}

impl Handshake {
    fn on_segment(&mut self, now: Time, seg: &Segment) -> Step {
        match self.state {
            State::Listen => self.in_listen(seg),
            State::SynSent => self.in_syn_sent(seg),
            _ => self.in_syn_received(now, seg),
        }
    }

    /// §3.10.7.2.
    fn in_listen(&mut self, seg: &Segment) -> Step {
        if seg.has(Segment::RST) {
            return Step::refused(Refusal::Flags);
        }
        if seg.has(Segment::ACK) {
            return self.refuse_ack(seg);
        }
        if !seg.has(Segment::SYN) {
            return Step::refused(Refusal::Flags);
        }
        self.note_syn(seg);
        self.enter(State::SynReceived);
        Step::WENT_ON
    }

    /// §3.10.7.3. Our SYN is at offset 0, so the only valid acknowledgment is 1.
    fn in_syn_sent(&mut self, seg: &Segment) -> Step {
        let (ack, rst) = (seg.has(Segment::ACK), seg.has(Segment::RST));
        match (ack && seg.ack != Offset::DATA, rst) {
            (true, true) => return Step::refused(Refusal::Ack),
            (true, false) => return self.refuse_ack(seg),
            (false, true) if ack => return Step::Reset,
            (false, true) => return Step::refused(Refusal::Flags),
            (false, false) => {}
        }
        if !seg.has(Segment::SYN) {
            return Step::refused(Refusal::Flags);
        }
        self.note_syn(seg);
        if ack {
            return Step::Established;
        }
        self.enter(State::SynReceived);
        Step::WENT_ON
    }

    /// §3.10.7.4, in its order.
    fn in_syn_received(&mut self, now: Time, seg: &Segment) -> Step {
        let (syn, ack, rst) = (seg.has(Segment::SYN), seg.has(Segment::ACK), seg.has(Segment::RST));
        // The peer's SYN, repeated; or, with an ACK in a simultaneous open, its answer to ours.
        if syn && !rst && seg.seq == Offset(0) {
            if ack && seg.ack == Offset::DATA {
                return Step::Established;
            }
            self.due |= !ack && !self.is_last() && self.challenged.admits(now);
            return if ack { self.refuse_ack(seg) } else { Step::WENT_ON };
        }
        // First.
        if let (Some(recent), false) = (self.agreed_timestamps(), rst) {
            let stamped = seg.opts & Segment::TIMESTAMPS != 0;
            if !stamped || is_older(seg.tsval, recent) {
                self.answer |= stamped && self.challenged.admits(now);
                return Step::refused(Refusal::Paws);
            }
        }
        if !self.is_in_window(seg) {
            self.answer |= !rst && self.challenged.admits(now);
            return Step::refused(Refusal::Window);
        }
        // Second, and fourth: RFC 5961 §3.2 and §4.2.
        if rst && (seg.seq == Offset::DATA || self.insecure.rst) {
            return Step::Reset;
        }
        if syn && self.insecure.syn {
            return Step::Abort;
        }
        if rst || syn {
            self.answer |= self.challenged.admits(now);
            return Step::refused(Refusal::Flags);
        }
        // Fifth.
        match ack {
            false => Step::refused(Refusal::Flags),
            true if seg.ack != Offset::DATA => self.refuse_ack(seg),
            true if self.defers(seg) => Step::refused(Refusal::Flags),
            true => Step::Established,
        }
    }

    /// The acknowledgment belongs to an old connection of the peer. A RST clears it.
    fn refuse_ack(&mut self, seg: &Segment) -> Step {
        self.refuse = Some(seg.ack);
        Step::refused(Refusal::Ack)
    }

    /// The first test of §3.10.7.4 against the window that our SYN advertised. BSD judges a RST by the whole buffer, except in
    /// a passive open, for which it keeps only the window.
    fn is_in_window(&self, seg: &Segment) -> bool {
        let control = self.active && (seg.has(Segment::RST) || seg.has(Segment::SYN));
        let window = match self.stack.limits.window_edge {
            WindowEdge::Exact if control => self.buffer,
            WindowEdge::Exact | WindowEdge::Segment => u64::from(self.announced),
        };
        let edge = Offset::DATA + window;
        match seg.seq.0.checked_add(seg.seq_len()).map(Offset) {
            None => false,
            // An ACK may be at the edge of a full window; a RST must be within it.
            Some(end) if end == seg.seq => Offset::DATA <= end && (end < edge || end == edge && !seg.has(Segment::RST)),
            Some(end) => seg.seq < edge && Offset::DATA < end,
        }
    }
}

impl Connection {
    #[cold]
    pub(in crate::connection) fn on_segment_unestablished<O: Observer>(
        &mut self,
        now: Time,
        seg: &Segment,
        obs: &mut O,
    ) -> Outcome {
        let Some(h) = &mut self.handshake else { return Outcome::refused(Refusal::Closed) };
        match h.on_segment(now, seg) {
            Step::Stays(outcome) => outcome,
            Step::Established => self.establish(now, seg, obs),
            Step::Reset => {
                self.end(CloseReason::Reset);
                Outcome::NOTHING
            }
            Step::Abort => {
                self.reset_by_syn();
                Outcome::refused(Refusal::Flags)
            }
        }
    }

    fn establish<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        let Some(h) = self.handshake.take() else { return Outcome::refused(Refusal::Closed) };
        let Some(peer) = h.peer else { return Outcome::refused(Refusal::Flags) };
        let (mut tx, mut rx, extras) = h.finish(now, seg, peer);
        if let Some(live) = &self.live {
            live.apply(&mut tx);
        }
        if seg.has(Segment::SYN) {
            rx.answer();
        }
        rx.hear_sender(|| tx.round_trip());
        (self.tx, self.rx, self.extras) = (Some(Box::new(tx)), Some(Box::new(rx)), extras);
        self.note_usual();
        // The ACK that completes the handshake may carry data or a FIN; so may a SYN-ACK.
        match (seg.has(Segment::SYN), seg.seq_len()) {
            (true, 1) => Outcome::NOTHING,
            (true, _) => {
                let flags = seg.flags & !(Segment::SYN | Segment::ECE | Segment::CWR);
                self.on_segment(now, &Segment { seq: seg.seq + 1, flags, ..*seg }, obs)
            }
            (false, _) => self.on_segment(now, seg, obs),
        }
    }

    #[cold]
    pub(in crate::connection) fn on_handshake_timer(&mut self, now: Time) {
        let Some(h) = &mut self.handshake else { return };
        if h.deadline.is_some_and(|t| t <= now) {
            h.deadline = None;
            if h.gives_up_at().is_some_and(|at| at <= now) {
                self.end(CloseReason::TimedOut);
            } else if h.is_last() {
                self.end(CloseReason::Unreachable);
            } else {
                h.on_timeout(now);
            }
        }
    }

    #[cold]
    pub(in crate::connection) fn poll_unestablished(&mut self, now: Time, out: &mut Segment) -> bool {
        self.last_sends = 0;
        if self.reset_due {
            self.write_reset(now, out);
            return true;
        }
        let Some(h) = &mut self.handshake else { return false };
        if let Some(seq) = h.refuse.take() {
            *out = Segment { flags: Segment::RST, seq, ..Segment::EMPTY };
        } else if h.due {
            h.write_syn(now, out);
        } else if h.answer {
            h.write_answer(now, out);
        } else {
            return false;
        }
        true
    }

    /// The RST of [`Connection::abort`]. It carries timestamps if they are in use (as RFC 7323 §3.2 recommends; by §5.2 no
    /// receiver may judge a RST by them).
    fn write_reset(&mut self, now: Time, out: &mut Segment) {
        let seq = self.tx.as_ref().map_or(Offset::DATA, |tx| tx.positions().2);
        let ack = self.rx.as_ref().map_or(Offset::DATA, |rx| rx.rcv_nxt());
        *out = Segment { flags: Segment::RST | Segment::ACK, seq, ack, ..Segment::EMPTY };
        if let (Some(tx), true) = (&self.tx, self.live.as_ref().is_some_and(|live| live.late_data)) {
            // The form of an answer (§3.10.7.1). The peer may lack our last data or FIN: a RST behind them would be challenged.
            *out = Segment { flags: Segment::RST, seq: tx.positions().0, ..Segment::EMPTY };
        }
        let opening = self.handshake.as_ref().and_then(|h| h.agreed_timestamps());
        let open = self.rx.as_ref().and_then(|rx| rx.ts_recent());
        if let Some(recent) = opening.or(open) {
            crate::connection::stamp(now, out);
            // RFC 7323 §3.2: without an ACK it echoes nothing.
            out.tsecr = if out.has(Segment::ACK) { recent } else { 0 };
        }
        self.reset_due = false;
        // A SYN of the peer may have been the cause.
        self.end(self.closed.unwrap_or(CloseReason::Aborted));
    }
}

/// The RST sent in reply to a segment without a connection (RFC 9293 §3.10.7.1); `None` for a RST.
pub fn reset_for(seg: &Segment) -> Option<Segment> {
    if seg.has(Segment::RST) {
        return None;
    }
    Some(if seg.has(Segment::ACK) {
        Segment { flags: Segment::RST, seq: seg.ack, ..Segment::EMPTY }
    } else {
        Segment { flags: Segment::RST | Segment::ACK, ack: seg.end(), ..Segment::EMPTY }
    })
}
