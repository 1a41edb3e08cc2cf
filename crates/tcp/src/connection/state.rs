//! The state of RFC 9293 §3.3.2, derived from the state of the halves; and how a connection ends.

use super::{Connection, TIME_WAIT};
use crate::time::Time;

/// RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection, or none any more; see [`Connection::close_reason`].
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
    /// Both closed at the same time; our FIN is not acknowledged.
    Closing,
    /// The peer closed first, then we; our FIN is not acknowledged.
    LastAck,
    /// Both sides are done; waiting for old segments to expire.
    TimeWait,
}

/// Why there is no connection any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Both sides closed and everything was acknowledged.
    Finished,
    /// The peer reset it.
    Reset,
    /// We aborted it.
    Aborted,
    /// Nobody answered the handshake, or the network reports the peer as unreachable.
    Unreachable,
    /// Sent data stayed unacknowledged, or zero-window probes stayed unanswered, for the user timeout (RFC 9293 §3.8.3, §3.10.8).
    TimedOut,
    /// No keep-alive probe was answered (RFC 9293 §3.8.4).
    KeepAlive,
    /// The application had gone, and the peer did not close within FIN-WAIT-2's limit.
    FinWait2,
}

impl Connection {
    /// The connection's state.
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

    /// The network reports a hard error: the peer cannot be reached. A connection that is not yet open is given up with
    /// [`CloseReason::Unreachable`] (RFC 1122 §4.2.3.9). An open one is not (RFC 5927 §5.2).
    pub fn on_unreachable(&mut self) {
        if matches!(self.state(), State::SynSent | State::SynReceived) {
            self.end(CloseReason::Unreachable);
        }
    }

    /// Once both FINs are acknowledged, ends the connection or enters TIME-WAIT. A one-sided connection knows only its own FIN.
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
