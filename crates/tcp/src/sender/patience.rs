//! When to give up: outstanding data has not been acknowledged for too long.
//!
//! Source: RFC 9293 §3.8.3 (R2) and §3.9.1.1 (the user timeout of OPEN), RFC 5482 §3 (what a user timeout means), RFC 1122
//! §4.2.2.17 (not for a zero window, as long as probes are answered).
//!
//! It costs nothing while the peer answers: only a retransmission timeout, a zero-window probe, and the timer of a detector that
//! replaces the timeout check it.

use super::Sender;
use crate::seq::Offset;
use crate::time::{earliest, Nanos, Time};

/// How long to wait for an acknowledgment, and since when we have waited.
#[derive(Default)]
pub(super) struct Patience {
    /// The user timeout; `None`: for ever.
    limit: Option<Nanos>,
    /// `snd_una` when a timer last checked, and since when its acknowledgment has been awaited.
    stuck: Option<(Offset, Time)>,
    /// The application has gone, so nothing waits for a window that stays closed.
    orphan: bool,
    gave_up: bool,
}

impl Patience {
    /// The peer answers, although its window is closed.
    pub(super) fn answered(&mut self) {
        if !self.orphan {
            self.stuck = None;
        }
    }
}

impl Sender {
    /// Sets how long sent data may stay unacknowledged; `None`: for ever.
    pub(crate) fn set_user_timeout(&mut self, limit: Option<Nanos>) {
        self.cold.patience.limit = limit;
    }

    /// The application has gone: a peer that answers but keeps its window closed gets no more time than a silent one.
    pub(crate) fn orphan(&mut self) {
        self.cold.patience.orphan = true;
    }

    /// Whether the user timeout has expired. If so, nothing more is sent.
    pub(crate) fn gave_up(&self) -> bool {
        self.cold.patience.gave_up
    }

    /// A timer found nothing new acknowledged: returns whether this has lasted too long. The wait began when the segment that was
    /// oldest at the first such timer was sent.
    pub(super) fn out_of_patience(&mut self, now: Time) -> bool {
        let Some(limit) = self.cold.patience.limit else { return false };
        let since = match self.cold.patience.stuck {
            Some((una, since)) if una == self.snd_una => since,
            _ => self.board.iter().next().map_or(now, |s| s.at),
        };
        self.cold.patience.stuck = Some((self.snd_una, since));
        self.cold.patience.gave_up = now.since(since) >= limit;
        if self.cold.patience.gave_up {
            (self.timers.rto, self.timers.persist) = (None, None);
        }
        self.cold.patience.gave_up
    }

    /// When a timer that would fire at `at` must check, so that the user timeout is not missed.
    pub(super) fn no_later_than_giving_up(&self, at: Time) -> Option<Time> {
        let end = self.cold.patience.limit.zip(self.cold.patience.stuck).map(|(limit, (_, since))| since + limit);
        earliest(Some(at), end)
    }
}
