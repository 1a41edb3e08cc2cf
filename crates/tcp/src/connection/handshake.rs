//! Opening a connection: RFC 9293 §3.5, with the options that a SYN may carry.

mod arrives;

use super::{Extras, Insecure, State};
use crate::detect::Timekeeper;
use crate::receiver::{ChallengeLimit, Consume, Receiver, ReceiverConfig};
use crate::rto::{Rto, RtoSpec};
use crate::segment::Segment;
use crate::sender::Sender;
use crate::seq::Offset;
use crate::stack::Stack;
use crate::time::{Nanos, Time};
use crate::units::Bytes;
pub use arrives::reset_for;

/// The longest time between two SYNs, unless the first timeout is longer.
const LONGEST_WAIT: Nanos = Nanos::from_secs(64);
/// RFC 6298 §5.7: the timeout of data after a SYN had to be repeated.
const AFTER_LOST_SYN: Nanos = Nanos::from_secs(3);
/// RFC 9293 §3.7.1: the MSS of a peer that sends no MSS option.
const DEFAULT_MSS: u32 = 536;
/// The smallest MSS accepted, as in Linux (`net.ipv4.tcp_min_snd_mss`): an MSS of a few bytes, less the options, would turn each
/// byte into a packet (CVE-2019-11479).
const MIN_MSS: u32 = 48;
/// RFC 6691 §2: the MSS option does not count options, so timestamps come off the payload.
const TIMESTAMPS_BYTES: u32 = 12;

/// How often a SYN is repeated, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SynRules {
    /// Repetitions of a SYN after which the connection is given up (Linux's `tcp_syn_retries`). Default: 7, which with a first
    /// timeout of a second is 1 + 2 + 4 + … + 64 + 64 s, more than the three minutes of RFC 9293 §3.8.3 (R2 for a SYN).
    pub retries: u32,
    /// The same for the answer to a SYN (`tcp_synack_retries`). Default: 7.
    pub answer_retries: u32,
    /// Repetitions of a SYN before its timeout doubles (`tcp_syn_linear_timeouts`). Default: 0 (RFC 6298 §5.5).
    pub linear: u32,
}

impl Default for SynRules {
    fn default() -> Self {
        SynRules { retries: 7, answer_retries: 7, linear: 0 }
    }
}

/// A connection that is not yet established.
pub(super) struct Handshake {
    stack: Stack,
    mss: u32,
    buffer: Bytes,
    pub(super) consume: Consume,
    peer: Option<Peer>,
    state: State,
    /// We opened it.
    active: bool,
    /// A SYN (with or without ACK) is due now.
    due: bool,
    /// A RST with this sequence number is due now.
    refuse: Option<Offset>,
    /// An ACK is due now: a segment was refused in SYN-RECEIVED.
    answer: bool,
    challenged: ChallengeLimit,
    pub(super) insecure: Insecure,
    pub(super) rules: SynRules,
    /// Repetitions of the SYN-ACK during which an ACK without data does not complete a passive open.
    pub(super) defers: u32,
    /// Such an ACK has arrived.
    acked: bool,
    /// The user timeout that the application chose.
    pub(super) user_timeout: Option<Nanos>,
    /// The window that our SYN advertised.
    announced: u32,
    sends: u32,
    /// When the SYN was sent first, and last.
    first_sent: Time,
    sent_at: Time,
    deadline: Option<Time>,
    written: Bytes,
    closed: bool,
}

/// The contents of the peer's SYN.
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

/// The smallest window scale that lets `window` fit into the header (RFC 7323 §2.2).
pub(super) fn scale_for(window: Bytes) -> u8 {
    (0..14).find(|s| window >> s <= 0xffff).unwrap_or(14)
}

impl Handshake {
    pub(super) fn active(stack: &Stack, mss: u32, buffer: Bytes) -> Self {
        Handshake { state: State::SynSent, active: true, due: true, ..Self::passive(stack, mss, buffer) }
    }

    /// Whether its sender will have to be told about drops on the path.
    pub(super) fn hears_drops(&self) -> bool {
        self.stack.detect.build(self.mss).hears_drops()
    }

    pub(super) fn passive(stack: &Stack, mss: u32, buffer: Bytes) -> Self {
        Handshake {
            stack: stack.clone(),
            mss,
            buffer,
            consume: Consume::AtOnce,
            peer: None,
            state: State::Listen,
            active: false,
            due: false,
            refuse: None,
            answer: false,
            challenged: ChallengeLimit::default(),
            insecure: Insecure::default(),
            rules: SynRules::default(),
            defers: 0,
            acked: false,
            user_timeout: None,
            announced: 0,
            sends: 0,
            first_sent: Time::ZERO,
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

    pub(super) fn limit_mss(&mut self, mss: u32) {
        self.mss = self.mss.min(mss.max(MIN_MSS));
    }

    /// The window scale that our SYN offers.
    fn scale(&self) -> u8 {
        let asked = self.stack.options.rcv_wscale.unwrap_or(0).min(14);
        asked.max(scale_for(self.buffer))
    }

    fn note_syn(&mut self, seg: &Segment) {
        self.peer = Some(Peer {
            wnd: seg.wnd,
            mss: if seg.mss == 0 { DEFAULT_MSS } else { u32::from(seg.mss).max(MIN_MSS) },
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

    /// An option is in use if both ends offered it. Our SYN offers the stack's options; our SYN-ACK offers only options that the
    /// peer offered.
    fn offers(&self, ours: bool, theirs: fn(&Peer) -> bool) -> bool {
        ours && self.peer.as_ref().is_none_or(theirs)
    }

    fn write_syn(&mut self, now: Time, out: &mut Segment) {
        let o = self.stack.options;
        *out = Segment { flags: Segment::SYN, mss: self.mss.min(0xffff) as u16, ..Segment::EMPTY };
        // RFC 7323 §2.2: the window of a SYN is never scaled.
        out.wnd = self.stack.receive_window.at_first(self.mss, self.buffer).min(0xffff) as u32;
        if self.offers(o.window_scale, |p| p.wscale.is_some()) {
            out.wscale = self.scale();
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
        self.announced = out.wnd;
        self.sends += 1;
        self.sent_at = now;
        if self.sends == 1 {
            self.first_sent = now;
        }
        self.wait(now);
    }

    /// Waits for the answer to a SYN that was just sent, or is not repeated because its ACK has arrived. The first wait is the
    /// stack's timeout before its first sample (RFC 6298 §2.1).
    fn wait(&mut self, now: Time) {
        self.due = false;
        let linear = if self.active { self.rules.linear } else { 0 };
        let doublings = (self.sends - 1).saturating_sub(linear).min(6);
        let first = self.stack.rto.build(self.mss).base();
        let next = now + first.times(1 << doublings).min(first.max(LONGEST_WAIT));
        self.deadline = Some(self.gives_up_at().map_or(next, |at| next.min(at)));
    }

    /// Whether the SYN must not be repeated again.
    fn is_last(&self) -> bool {
        let SynRules { retries, answer_retries, linear: _ } = self.rules;
        self.sends > if self.active { retries } else { answer_retries }
    }

    /// The timer of the SYN has fired: it is due again, unless the peer has it and only owes its data. Linux sends it again at the
    /// last of these timeouts (`syn_ack_recalc`).
    fn on_timeout(&mut self, now: Time) {
        if self.acked && self.sends < self.defers {
            self.sends += 1;
            self.wait(now);
        } else {
            self.due = true;
        }
    }

    /// Whether `seg`, an ACK of our SYN-ACK, must wait for data.
    fn defers(&mut self, seg: &Segment) -> bool {
        let bare = seg.seq_len() == 0 && !self.active && self.sends <= self.defers;
        self.acked |= bare;
        bare
    }

    /// When the user timeout ends it (RFC 9293 §3.8.3: it is the same limit for a SYN).
    fn gives_up_at(&self) -> Option<Time> {
        self.user_timeout.map(|limit| self.first_sent + limit)
    }

    /// The peer's timestamp, if both ends offered the option.
    fn agreed_timestamps(&self) -> Option<u32> {
        self.peer.filter(|p| p.timestamps && self.stack.options.timestamps).map(|p| p.tsval)
    }

    /// An ACK without data, in SYN-RECEIVED.
    fn write_answer(&mut self, now: Time, out: &mut Segment) {
        let (seq, ack, wnd) = (Offset::DATA, Offset::DATA, self.announced);
        *out = Segment { flags: Segment::ACK, seq, ack, wnd, ..Segment::EMPTY };
        if let Some(tsval) = self.agreed_timestamps() {
            super::stamp(now, out);
            out.tsecr = tsval;
        }
        self.answer = false;
    }

    /// Builds the two halves of the connection once both SYNs are acknowledged.
    fn finish(&self, now: Time, seg: &Segment, peer: Peer) -> (Sender, Receiver, Extras) {
        let o = self.stack.options;
        let (scaled, timestamps) = (o.window_scale && peer.wscale.is_some(), self.agreed_timestamps().is_some());
        let mut stack = if peer.sack { self.stack.clone() } else { self.stack.without_sack() };
        if self.sends > 1
            && let RtoSpec::Rfc6298(r) = &mut stack.rto
        {
            r.initial = r.initial.max(AFTER_LOST_SYN);
        }
        let mss = self.mss.min(peer.mss).saturating_sub(if timestamps { TIMESTAMPS_BYTES } else { 0 });
        let rwnd = if seg.has(Segment::SYN) { peer.wnd } else { seg.wnd };
        // The window of a SYN is not scaled and does not show how large the real window can become; the scale does.
        let shift = peer.wscale.filter(|_| scaled).unwrap_or(0);
        let could_be = if shift > 0 { 0xffff << shift } else { peer.wnd };
        let largest = u64::from(rwnd.max(could_be));
        let mut tx = Sender::opened(&stack, mss.max(1), u64::from(rwnd), largest);
        if self.sends == 1 {
            tx.on_handshake(now.since(self.sent_at), now);
        }
        if self.sends > 1 + stack.limits.syn_repeats {
            tx.after_lost_syns();
        }
        let ecn = o.ecn && peer.ecn;
        tx.use_ecn(ecn);
        tx.write(self.written);
        if self.closed {
            tx.close();
        }
        let rx = Receiver::new(&ReceiverConfig {
            rcv_nxt: Offset::DATA,
            buffer: self.buffer,
            mss: self.mss,
            wscale: if scaled { self.scale() } else { 0 },
            sack: o.sack && peer.sack,
            dsack: o.dsack,
            sack_blocks: o.sack_blocks,
            timestamps,
            ts_recent: timestamps.then_some(peer.tsval),
            ack: self.stack.ack.clone(),
            consume: self.consume,
            receive_window: self.stack.receive_window.clone(),
            edge: self.stack.limits.window_edge,
        });
        (tx, rx, Extras::agreed(timestamps, ecn))
    }
}
