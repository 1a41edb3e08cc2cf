//! The state of RFC 9293 §3.3.2, derived from what the halves know; and how a connection ends.

use super::{Connection, TIME_WAIT};
use crate::time::Time;

/// RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection (any more); see [`Connection::close_reason`].
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received, SYN and ACK sent.
    SynReceived,
    /// Open both ways.
    Established,
    /// We closed; our FIN is not acknowledged.
    FinWait1,
    /// We closed, our FIN is acknowledged; the peer still sends.
    FinWait2,
    /// The peer closed, we have not.
    CloseWait,
    /// Both closed at once; our FIN is not acknowledged.
    Closing,
    /// The peer closed first, then we; our FIN is not acknowledged.
    LastAck,
    /// All is said; waiting for stragglers to die.
    TimeWait,
}

/// Why there is no connection any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Both sides closed and all was acknowledged.
    Finished,
    /// The peer reset it.
    Reset,
    /// We gave it up.
    Aborted,
    /// Nobody answered the handshake, or the network says that nobody can.
    Unreachable,
    /// What was sent stayed unacknowledged for the user timeout, or a zero window's probes unanswered (RFC 9293 §3.8.3, §3.10.8).
    TimedOut,
    /// No keep-alive probe was answered (RFC 9293 §3.8.4).
    KeepAlive,
    /// The application had gone, and the peer did not close within the limit of FIN-WAIT-2.
    FinWait2,
}

impl Connection {
    /// Where the connection stands.
    pub fn state(&self) -> State {
        if self.closed.is_some() {
            return State::Closed;
        }
        if let Some(h) = &self.handshake {
            return h.state();
        }
        if self.time_wait.is_some() {
            return State::TimeWait;
        }
        let closed = self.tx.as_ref().is_some_and(|tx| tx.is_closed());
        let acked = self.tx.as_ref().is_some_and(|tx| tx.fin_acked());
        let peer_closed = self.rx.as_ref().is_some_and(|rx| rx.fin_received());
        match (closed, acked, peer_closed) {
            (false, _, false) => State::Established,
            (false, _, true) => State::CloseWait,
            (true, false, false) => State::FinWait1,
            (true, true, false) => State::FinWait2,
            (true, false, true) if self.passive => State::LastAck,
            (true, false, true) => State::Closing,
            (true, true, true) => State::TimeWait,
        }
    }

    /// Why there is no connection any more; `None` while there is one.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.closed
    }

    /// The network says that nobody is there, and that this will not pass. A connection that is not yet open is given up,
    /// [`CloseReason::Unreachable`] (RFC 1122 §4.2.3.9). An open one is not (RFC 5927 §5.2).
    pub fn on_unreachable(&mut self) {
        if matches!(self.state(), State::SynSent | State::SynReceived) {
            self.end(CloseReason::Unreachable);
        }
    }

    /// The connection is over, or waits for stragglers, when both FINs are acknowledged. A one-sided one knows only its
    /// own.
    pub(super) fn maybe_finished(&mut self, now: Time) {
        if self.time_wait.is_some() {
            return;
        }
        let sent = self.tx.as_ref().is_none_or(|tx| tx.fin_acked());
        let received = self.rx.as_ref().is_none_or(|rx| rx.fin_received());
        match (sent && received, &self.tx, &self.rx) {
            (true, Some(_), Some(_)) if self.passive => self.end(CloseReason::Finished),
            (true, Some(_), Some(_)) => (self.time_wait, self.usual) = (Some(now + TIME_WAIT), false),
            _ => {}
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn end(&mut self, why: CloseReason) {
        (self.closed, self.usual) = (Some(why), false);
        (self.handshake, self.live) = (None, None);
        self.time_wait = None;
        if why != CloseReason::Finished {
            (self.tx, self.rx) = (None, None);
        }
    }
}
