//! A TCP connection without I/O: a handshake, then a sender, a receiver or both, driven from outside.
//!
//! Source: RFC 9293 §3.5 (opening), §3.6 (closing), §3.10 (events); RFC 7323 §2 (window scale), RFC 2018 §2.
//!
//! The driver owns the clock, the network and the payload. It passes in arriving segments (`on_segment`), calls `on_timer` at
//! `next_timer`, and takes segments to send (`poll_transmit`, until it returns `false`).

mod accept;
mod extras;
mod handshake;
mod info;
mod live;
mod reuse;
mod state;
#[cfg(test)]
mod tests;

use crate::event::Observer;
pub use crate::outcome::{Outcome, Refusal};
use crate::receive_window::ReceiveWindowSpec;
use crate::receiver::{Consume, Receiver, ReceiverConfig};
use crate::segment::Segment;
use crate::sender::Sender;
pub use crate::sender::TooBig;
use crate::seq::Offset;
use crate::stack::Stack;
use crate::time::{earliest, Nanos, Time};
use crate::units::Bytes;
use extras::{stamp, Extras};
use handshake::Handshake;
pub use handshake::{reset_for, SynRules};
pub use info::{Agreed, Info};
use live::Live;
pub use live::{Insecure, KeepAlive};
pub use reuse::{is_newer, Reuse};
pub use state::{CloseReason, State};

/// Which halves a connection has. If data flows one way, a host needs only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// Sends data, receives ACKs.
    Sender,
    /// Receives data, sends ACKs.
    Receiver,
    /// Both.
    Both,
}

/// How long TIME-WAIT lasts: twice the maximum segment lifetime, here 2 × 30 s (RFC 9293 §3.4.2 leaves the value open).
const TIME_WAIT: Nanos = Nanos::from_secs(60);

/// One end of a connection.
pub struct Connection {
    tx: Option<Box<Sender>>,
    rx: Option<Box<Receiver>>,
    /// Before the connection is established.
    handshake: Option<Box<Handshake>>,
    /// Set when the connection is gone.
    closed: Option<CloseReason>,
    time_wait: Option<Time>,
    /// State that only a connection over a real network needs.
    live: Option<Box<Live>>,
    /// A RST is due.
    reset_due: bool,
    /// Established, and neither in TIME-WAIT nor closed: this one check rules out every rare case.
    usual: bool,
    /// The peer's FIN arrived before the application closed.
    passive: bool,
    extras: Extras,
    last_sends: u8,
}

impl Connection {
    /// A connection established from the start, for simulations of the older papers: full segments carry `mss` bytes, and each
    /// side's window is `rwnd` bytes (rounded up to a value that the header can carry).
    pub fn established(stack: &Stack, sides: Sides, mss: u32, rwnd: Bytes) -> Self {
        let wscale = handshake::scale_for(rwnd);
        let unit = 1u64 << wscale;
        let rwnd = rwnd.div_ceil(unit) * unit;
        let cfg = ReceiverConfig {
            rcv_nxt: Offset::DATA,
            buffer: rwnd,
            mss,
            wscale,
            sack: stack.options.sack,
            dsack: stack.options.dsack,
            sack_blocks: stack.options.sack_blocks,
            timestamps: stack.options.timestamps,
            ts_recent: None,
            ack: stack.ack.clone(),
            consume: Consume::AtOnce,
            // No smaller window was advertised.
            receive_window: ReceiveWindowSpec::Fixed,
            edge: stack.limits.window_edge,
        };
        let tx = (sides != Sides::Receiver).then(|| Box::new(Sender::new(stack, mss, rwnd)));
        let rx = (sides != Sides::Sender).then(|| Box::new(Receiver::new(&cfg)));
        let extras = Extras::agreed(stack.options.timestamps, stack.options.ecn);
        Connection { tx, rx, extras, usual: true, ..Self::closed_end() }
    }

    /// An active open: the first `poll_transmit` writes a SYN. `mss` is the MSS option, `rwnd` our receive buffer.
    pub fn connect(stack: &Stack, mss: u32, rwnd: Bytes) -> Self {
        let handshake = Some(Box::new(Handshake::active(stack, mss, rwnd)));
        Connection { handshake, live: Some(Box::default()), ..Self::closed_end() }
    }

    /// A passive open: waits for a SYN.
    pub fn listen(stack: &Stack, mss: u32, rwnd: Bytes) -> Self {
        let handshake = Some(Box::new(Handshake::passive(stack, mss, rwnd)));
        Connection { handshake, live: Some(Box::default()), ..Self::closed_end() }
    }

    fn closed_end() -> Self {
        Connection {
            tx: None,
            rx: None,
            handshake: None,
            closed: None,
            time_wait: None,
            live: None,
            reset_due: false,
            usual: false,
            passive: false,
            extras: Extras::default(),
            last_sends: 0,
        }
    }

    /// Processes an arriving segment and returns which part of it was accepted. A driver that keeps no payload can ignore the
    /// result.
    #[inline]
    pub fn on_segment<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        if self.on_expected(now, seg, obs) {
            Outcome::whole(seg)
        } else {
            self.on_unexpected(now, seg, obs)
        }
    }

    /// Header prediction: accepts the segment that a connection with one half expects, an ACK or the next data, and skips the
    /// checks that only other segments need. Returns `false` if it did nothing; the segment then goes to
    /// [`Connection::on_unexpected`].
    #[inline(always)]
    pub fn on_expected<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> bool {
        debug_assert_eq!(self.usual, self.is_usual());
        if !self.usual || seg.flags & (Segment::SYN | Segment::RST | Segment::FIN) != 0 {
            return false;
        }
        match (&mut self.tx, &mut self.rx) {
            (Some(_), None) if seg.len == 0 => {
                self.take_ack(now, seg, obs);
                true
            }
            (None, Some(rx)) if !self.extras.has(Extras::ECN) => rx.on_expected(now, seg),
            _ => false,
        }
    }

    /// Processes an arriving segment for which [`Connection::on_expected`] returned `false`.
    #[inline]
    pub fn on_unexpected<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        if !self.usual || seg.flags & (Segment::SYN | Segment::RST | Segment::FIN) != 0 {
            return self.on_rare(now, seg, obs);
        }
        match (&mut self.tx, &mut self.rx) {
            (Some(_), None) => {
                self.take_ack(now, seg, obs);
                Outcome::NOTHING
            }
            (None, Some(rx)) if !self.extras.has(Extras::ECN) => rx.on_unexpected(now, seg).1,
            _ => self.on_plain(now, seg, obs),
        }
    }

    /// Runs the timers that are due at `now`.
    #[inline]
    pub fn on_timer<O: Observer>(&mut self, now: Time, obs: &mut O) {
        if self.handshake.is_some() {
            return self.on_handshake_timer(now);
        }
        if let Some(tx) = &mut self.tx {
            tx.on_timer(now, obs);
            if tx.gave_up() {
                return self.end(CloseReason::TimedOut);
            }
        }
        if let Some(rx) = &mut self.rx {
            rx.on_timer(now);
        }
        if !self.usual {
            self.on_rare_timer(now);
        }
    }

    /// The latest time at which the driver should call again. A time in the past means now: an ACK may show a detector that it
    /// should have acted earlier. Once [`Connection::on_timer`] has been called for that time and everything is sent, the next
    /// time is in the future.
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        match (&self.tx, &self.rx) {
            (Some(tx), None) if self.usual => tx.next_timer(),
            (None, Some(rx)) if self.usual => rx.next_timer(),
            _ => self.next_of_all(),
        }
    }

    #[inline(never)]
    fn next_of_all(&self) -> Option<Time> {
        if let (Some(tx), Some(rx), None, true) = (&self.tx, &self.rx, &self.live, self.usual) {
            return earliest(tx.next_timer(), rx.next_timer());
        }
        // Keep-alive would otherwise be due for ever.
        if self.closed.is_some() {
            return None;
        }
        if let Some(h) = &self.handshake {
            return h.deadline();
        }
        let tx = self.tx.as_ref().and_then(|tx| tx.next_timer());
        let rx = self.rx.as_ref().and_then(|rx| rx.next_timer());
        let live = self.live.as_ref().and_then(|live| live.deadline());
        earliest(earliest(tx, rx), earliest(self.time_wait, live))
    }

    /// Writes the next segment into `out`; returns `false` if there is nothing to send now.
    #[inline(always)]
    pub fn poll_transmit<O: Observer>(&mut self, now: Time, out: &mut Segment, obs: &mut O) -> bool {
        if !self.usual
            && let Some(wrote) = self.poll_rare(now, out)
        {
            return wrote;
        }
        if let Some(tx) = &mut self.tx
            && tx.poll_transmit(now, out, obs)
        {
            self.last_sends = tx.last_sends();
            match &mut self.rx {
                Some(rx) => rx.fill_ack(now, out, tx.mss().saturating_sub(out.len)),
                None => (out.ack, out.wnd) = (Offset::DATA, 0),
            }
            if !self.extras.is_empty() {
                if self.extras.has(Extras::ECN) {
                    tx.mark_sent(out);
                }
                self.extras.tell(now, out);
            }
            return true;
        }
        match &mut self.rx {
            Some(rx) if rx.ack_due() => {
                out.seq = self.tx.as_ref().map_or(Offset::DATA, |tx| tx.ack_seq());
                (out.len, out.train, out.flags, out.opts) = (0, 1, Segment::ACK, 0);
                (out.mss, out.wscale) = (0, Segment::NO_SCALE);
                rx.fill_ack(now, out, u32::MAX);
                if !self.extras.is_empty() {
                    self.extras.tell(now, out);
                }
                self.last_sends = 0;
                true
            }
            _ => false,
        }
    }

    /// Writes segments sent before the connection is established and at its end, and probes of a silent peer; `None` if none of
    /// these applies.
    #[cold]
    #[inline(never)]
    fn poll_rare(&mut self, now: Time, out: &mut Segment) -> Option<bool> {
        if self.handshake.is_some() || self.reset_due {
            return Some(self.poll_unestablished(now, out));
        }
        self.keep_alive_due().then(|| {
            self.write_keep_alive(now, out);
            true
        })
    }

    /// Adds `bytes` to send; the driver keeps the payload. They wait until the handshake is complete.
    pub fn write(&mut self, bytes: Bytes) {
        match (&mut self.tx, &mut self.handshake) {
            (Some(tx), _) => tx.write(bytes),
            (None, Some(h)) => h.write(bytes),
            (None, None) => {}
        }
    }

    /// Closes the stream: a FIN follows the last byte. In LISTEN and SYN-SENT, where the peer knows of no connection, the
    /// connection ends and written data is discarded (RFC 9293 §3.10.4).
    pub fn close(&mut self) {
        match (&mut self.tx, &mut self.handshake) {
            (Some(tx), _) => tx.close(),
            (None, Some(h)) if h.state() == State::SynReceived => h.close(),
            (None, Some(_)) => self.end(CloseReason::Aborted),
            (None, None) => {}
        }
    }

    /// Aborts the connection: all state is discarded, and a RST is sent, except in LISTEN and SYN-SENT, where the peer knows of
    /// no connection (RFC 9293 §3.10.5).
    pub fn abort(&mut self) {
        if self.closed.is_none() {
            self.reset_due = self.handshake.as_ref().is_none_or(|h| h.state() == State::SynReceived);
            (self.closed, self.usual) = (Some(CloseReason::Aborted), false);
            if !self.reset_due {
                self.end(CloseReason::Aborted);
            }
        }
    }

    /// From now on the application reads by [`Connection::consume`] instead of at once.
    pub fn read_by_hand(&mut self) {
        if let Some(h) = &mut self.handshake {
            h.consume = Consume::ByHand;
        }
        if let Some(rx) = &mut self.rx {
            rx.read_by_hand();
        }
    }

    /// The application has read `bytes`; an ACK that advertises the new window may now be due.
    pub fn consume(&mut self, bytes: Bytes) {
        if let Some(rx) = &mut self.rx {
            rx.consume(bytes);
        }
    }

    /// Payload bytes acknowledged cumulatively.
    #[inline]
    pub fn acked(&self) -> Bytes {
        self.tx.as_ref().map_or(0, |tx| tx.acked())
    }

    /// Payload bytes received in order.
    pub fn received(&self) -> Bytes {
        self.rx.as_ref().map_or(0, |rx| rx.received())
    }

    /// How often the data of the segment just polled has been sent: 1 for a first transmission, 0 for a pure ACK.
    #[inline]
    pub fn last_sends(&self) -> u8 {
        self.last_sends
    }

    /// Whether the sending half must be told about drops on the path, which only a simulator can do.
    pub fn hears_drops(&self) -> bool {
        match (&self.tx, &self.handshake) {
            (Some(tx), _) => tx.hears_drops(),
            (None, Some(h)) => h.hears_drops(),
            (None, None) => false,
        }
    }

    /// The path dropped copy number `sends` (1 = the first) of the data at `start`.
    pub fn drop_copy(&mut self, start: Offset, sends: u8) {
        if let Some(tx) = &mut self.tx {
            tx.drop_copy(start, sends);
        }
    }

    /// The sending half, once there is one.
    pub fn sender(&self) -> Option<&Sender> {
        self.tx.as_deref()
    }

    /// The receiving half, once there is one.
    pub fn receiver(&self) -> Option<&Receiver> {
        self.rx.as_deref()
    }
}
