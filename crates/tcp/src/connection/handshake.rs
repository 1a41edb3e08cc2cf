//! Opening a connection: RFC 9293 §3.5, with the options that a SYN may carry.

use super::{CloseReason, Connection, Extras, Outcome, Refusal, State};
use crate::event::Observer;
use crate::receiver::{Consume, Receiver, ReceiverConfig};
use crate::rto::RtoSpec;
use crate::segment::Segment;
use crate::sender::Sender;
use crate::seq::Offset;
use crate::stack::Stack;
use crate::time::{Nanos, Time};
use crate::units::Bytes;

/// RFC 6298 §2.1, and §5.7 for data after a SYN had to be repeated.
const FIRST_TIMEOUT: Nanos = Nanos::from_secs(1);
const AFTER_LOST_SYN: Nanos = Nanos::from_secs(3);
/// 1 + 2 + 4 + … + 64 + 64 s: more than the three minutes of RFC 9293 §3.8.3 (R2 for a SYN).
const MAX_SENDS: u32 = 8;
/// RFC 9293 §3.7.1: what a peer that names no MSS can take.
const DEFAULT_MSS: u32 = 536;
/// RFC 6691 §2: the MSS option does not count options, so timestamps come off the payload.
const TIMESTAMPS_BYTES: u32 = 12;

/// A connection that is not yet established.
pub(super) struct Handshake {
    stack: Stack,
    mss: u32,
    buffer: Bytes,
    pub(super) consume: Consume,
    peer: Option<Peer>,
    state: State,
    /// A SYN (with or without ACK) is to be sent now.
    due: bool,
    /// A RST is to be sent now, with this sequence number.
    refuse: Option<Offset>,
    sends: u32,
    sent_at: Time,
    deadline: Option<Time>,
    written: Bytes,
    closed: bool,
}

/// What the peer's SYN said.
#[derive(Clone, Copy)]
struct Peer {
    wnd: u32,
    mss: u32,
    wscale: Option<u8>,
    sack: bool,
    timestamps: bool,
    /// RFC 3168 §6.1.1: an ECN-setup SYN has both flags, an ECN-setup SYN-ACK only ECE.
    ecn: bool,
    tsval: u32,
}

/// The smallest window scale with which `window` fits into the header (RFC 7323 §2.2).
pub(super) fn scale_for(window: Bytes) -> u8 {
    (0..14).find(|s| window >> s <= 0xffff).unwrap_or(14)
}

impl Handshake {
    pub(super) fn active(stack: &Stack, mss: u32, buffer: Bytes) -> Self {
        Handshake { state: State::SynSent, due: true, ..Self::passive(stack, mss, buffer) }
    }

    pub(super) fn passive(stack: &Stack, mss: u32, buffer: Bytes) -> Self {
        Handshake {
            stack: stack.clone(),
            mss,
            buffer,
            consume: Consume::AtOnce,
            peer: None,
            state: State::Listen,
            due: false,
            refuse: None,
            sends: 0,
            sent_at: Time::ZERO,
            deadline: None,
            written: 0,
            closed: false,
        }
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    pub(super) fn write(&mut self, bytes: Bytes) {
        if !self.closed {
            self.written = self.written.saturating_add(bytes);
        }
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Whether a RST would mean anything to anybody.
    pub(super) fn has_met_peer(&self) -> bool {
        self.peer.is_some() || self.sends > 0
    }

    fn note_syn(&mut self, seg: &Segment) {
        self.peer = Some(Peer {
            wnd: seg.wnd,
            mss: if seg.mss == 0 { DEFAULT_MSS } else { u32::from(seg.mss) },
            wscale: (seg.wscale != Segment::NO_SCALE).then_some(seg.wscale.min(14)),
            sack: seg.opts & Segment::SACK_PERMITTED != 0,
            timestamps: seg.opts & Segment::TIMESTAMPS != 0,
            ecn: seg.has(Segment::ECE) && seg.has(Segment::CWR) != seg.has(Segment::ACK),
            tsval: seg.tsval,
        });
    }

    fn enter(&mut self, state: State) {
        (self.state, self.due, self.sends, self.deadline) = (state, true, 0, None);
    }

    /// An option is in use when both offered it; our SYN offers what the stack has, an answer only what was offered.
    fn offers(&self, ours: bool, theirs: fn(&Peer) -> bool) -> bool {
        ours && self.peer.as_ref().is_none_or(theirs)
    }

    fn write_syn(&mut self, now: Time, out: &mut Segment) {
        let o = self.stack.options;
        *out = Segment { flags: Segment::SYN, mss: self.mss.min(0xffff) as u16, ..Segment::EMPTY };
        // RFC 7323 §2.2: the window of a SYN is never scaled.
        out.wnd = self.buffer.min(0xffff) as u32;
        if self.offers(o.window_scale, |p| p.wscale.is_some()) {
            out.wscale = scale_for(self.buffer);
        }
        if self.offers(o.sack, |p| p.sack) {
            out.opts |= Segment::SACK_PERMITTED;
        }
        if self.offers(o.timestamps, |p| p.timestamps) {
            super::stamp(now, out);
            out.tsecr = self.peer.map_or(0, |p| p.tsval);
        }
        if self.state == State::SynReceived {
            (out.flags, out.ack) = (Segment::SYN | Segment::ACK, Offset::DATA);
        }
        if self.offers(o.ecn, |p| p.ecn) {
            out.flags |= if self.state == State::SynReceived { Segment::ECE } else { Segment::ECE | Segment::CWR };
        }
        self.sends += 1;
        self.sent_at = now;
        self.due = false;
        self.deadline = Some(now + FIRST_TIMEOUT.times(1 << (self.sends - 1).min(6)));
    }

    /// Both SYNs are acknowledged: the two halves of the connection.
    fn finish(&self, now: Time, seg: &Segment, peer: Peer) -> (Sender, Receiver, Extras) {
        let o = self.stack.options;
        let scaled = o.window_scale && peer.wscale.is_some();
        let timestamps = o.timestamps && peer.timestamps;
        let mut stack = if peer.sack { self.stack.clone() } else { self.stack.without_sack() };
        if self.sends > 1 {
            if let RtoSpec::Rfc6298(r) = &mut stack.rto {
                r.initial = r.initial.max(AFTER_LOST_SYN);
            }
        }
        let mss = self.mss.min(peer.mss).saturating_sub(if timestamps { TIMESTAMPS_BYTES } else { 0 });
        let rwnd = if seg.has(Segment::SYN) { peer.wnd } else { seg.wnd };
        // A SYN's window is not scaled: a full one says only that the real one is at least as large.
        let shift = peer.wscale.filter(|_| scaled && peer.wnd == 0xffff).unwrap_or(0);
        let largest = u64::from(rwnd).max(u64::from(peer.wnd) << shift);
        let mut tx = Sender::opened(&stack, mss.max(1), u64::from(rwnd), largest);
        if self.sends == 1 {
            tx.on_handshake(now.since(self.sent_at));
        }
        let ecn = o.ecn && peer.ecn;
        tx.use_ecn(ecn);
        tx.write(self.written);
        if self.closed {
            tx.close();
        }
        let rx = Receiver::new(&ReceiverConfig {
            rcv_nxt: Offset::DATA,
            buffer: if scaled { self.buffer } else { self.buffer.min(0xffff) },
            mss: self.mss,
            wscale: if scaled { scale_for(self.buffer) } else { 0 },
            sack: o.sack && peer.sack,
            dsack: o.dsack,
            sack_blocks: o.sack_blocks,
            timestamps,
            ts_recent: timestamps.then_some(peer.tsval),
            ack: self.stack.ack.clone(),
            consume: self.consume,
        });
        (tx, rx, Extras::agreed(timestamps, ecn))
    }
}

impl Connection {
    /// RFC 9293 §3.10.7.2 and §3.10.7.3, and SYN-RECEIVED of §3.10.7.4.
    #[cold]
    pub(super) fn on_segment_unestablished<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        let Some(h) = &mut self.handshake else { return Outcome::refused(Refusal::Closed) };
        let (syn, ack, rst) = (seg.has(Segment::SYN), seg.has(Segment::ACK), seg.has(Segment::RST));
        // Our SYN stands at offset 0, so the only acknowledgment that can be right is 1.
        let ours_acked = ack && seg.ack == Offset::DATA;
        match h.state {
            // §3.10.7.2 second, §3.10.7.3 first, §3.10.7.4 fifth: an old connection of the peer's; a RST clears it up.
            _ if ack && !rst && (!ours_acked || h.state == State::Listen) => {
                h.refuse = Some(seg.ack);
                return Outcome::refused(Refusal::Ack);
            }
            State::Listen if syn && !ack && !rst => {
                h.note_syn(seg);
                h.enter(State::SynReceived);
            }
            State::SynSent if rst && ours_acked => self.end(CloseReason::Reset),
            State::SynSent if syn && ours_acked && !rst => {
                h.note_syn(seg);
                return self.establish(now, seg, obs);
            }
            State::SynSent if syn && !rst => {
                h.note_syn(seg);
                h.enter(State::SynReceived);
            }
            State::SynReceived if rst && seg.seq == Offset::DATA => self.end(CloseReason::Reset),
            // RFC 9293 §3.5, figure 8: in a simultaneous open it is a SYN-ACK that acknowledges our SYN.
            State::SynReceived if ours_acked && !rst => return self.establish(now, seg, obs),
            State::SynReceived if syn && !rst => h.due = true,
            _ => return Outcome::refused(Refusal::Flags),
        }
        Outcome::NOTHING
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
        (self.tx, self.rx, self.extras) = (Some(Box::new(tx)), Some(Box::new(rx)), extras);
        self.note_usual();
        if seg.has(Segment::SYN) {
            return Outcome::NOTHING;
        }
        // The ACK that completes the handshake may bring data or a FIN.
        self.on_segment(now, seg, obs)
    }

    #[cold]
    pub(super) fn on_handshake_timer(&mut self, now: Time) {
        let Some(h) = &mut self.handshake else { return };
        if h.deadline.is_some_and(|t| t <= now) {
            h.deadline = None;
            if h.sends >= MAX_SENDS {
                self.end(CloseReason::Unreachable);
            } else {
                h.due = true;
            }
        }
    }

    #[cold]
    pub(super) fn poll_unestablished(&mut self, now: Time, out: &mut Segment) -> bool {
        if self.reset_due {
            let seq = self.tx.as_ref().map_or(Offset::DATA, |tx| tx.positions().2);
            let ack = self.rx.as_ref().map_or(Offset::DATA, |rx| rx.rcv_nxt());
            *out = Segment { flags: Segment::RST | Segment::ACK, seq, ack, ..Segment::EMPTY };
            self.reset_due = false;
            self.last_sends = 0;
            self.end(CloseReason::Aborted);
            return true;
        }
        self.last_sends = 0;
        let Some(h) = &mut self.handshake else { return false };
        if let Some(seq) = h.refuse.take() {
            *out = Segment { flags: Segment::RST, seq, ..Segment::EMPTY };
            return true;
        }
        if h.due {
            h.write_syn(now, out);
            return true;
        }
        false
    }
}

/// The RST that answers a segment for which there is no connection (RFC 9293 §3.10.7.1); none answers a RST.
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
