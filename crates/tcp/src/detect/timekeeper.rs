//! The timer of a detector.

use super::Verdict;
use crate::event::Window;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::time::Time;

/// Whether a detector's timer runs in place of the retransmission timer, and what follows when it has fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandIn {
    /// It does not.
    No,
    /// The RTO then counts from when the oldest segment was sent (Linux has one timer for all).
    CountFromOldest,
    /// If the RTO was due, it starts anew.
    Restart,
}

/// The extra part of a detector that judges by send times. A counting detector leaves it empty.
pub trait Timekeeper {
    /// Whether it ever has a deadline. Default: no, which is the fast path without calls of [`Timekeeper::deadline`].
    fn keeps_time(&self) -> bool {
        false
    }
    /// The time at which it should be called again.
    fn deadline(&self) -> Option<Time> {
        None
    }
    /// Its deadline has passed; marks the segments that it considers lost.
    fn on_timer(&mut self, _w: &Window, _board: &mut Scoreboard, _cx: &Ctx) -> Verdict {
        Verdict::Clear
    }
    /// Whether `on_sent` is to be called for new data; `false` is the fast path. Called at the start. For a detector that keeps
    /// time, also called after every ACK, after its own timer and after each send that it was told about (decision 0094).
    fn watches_sends(&self) -> bool {
        false
    }
    /// Whether the sender must be told about drops on the path ([`crate::connection::Connection::drop_copy`]).
    fn hears_drops(&self) -> bool {
        false
    }
    /// A segment was sent. Every detector is told about retransmissions.
    fn on_sent(&mut self, _x: Xmit, _sent: &Sent, _cx: &Ctx) {}
    /// Nothing may be sent before this time; called only if it watches sends.
    fn hold_until(&self) -> Option<Time> {
        None
    }
    /// Whether it replaces the retransmission timer.
    fn owns_rto(&self) -> bool {
        false
    }
    /// Whether its own timer now runs in place of the retransmission timer. If the RTO comes due, this timer counts as due.
    fn stands_in_for_rto(&self) -> StandIn {
        StandIn::No
    }
    /// The owner of Loss has marked the segments that it considers lost; a detector that judges by time may mark more. Returns
    /// whether the timer is restarted.
    fn after_rto(&mut self, _board: &mut Scoreboard, _cx: &Ctx) -> bool {
        false
    }
}
