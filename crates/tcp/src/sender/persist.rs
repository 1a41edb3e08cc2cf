//! Zero windows: probing until the peer opens again (RFC 9293 §3.8.6.1; RFC 1122 §4.2.2.17, §4.2.3.4).
//!
//! With nothing outstanding and data waiting, no ACK will ever arrive to report that the window has opened. So one byte
//! beyond the window is sent as a probe. The probe is on the scoreboard like any segment. While it is, the retransmission
//! timer is off, so a closed window is never taken for a loss.

use super::{Rto, Sender, Timekeeper};
use crate::event::{Event, Observer};
use crate::time::{Nanos, Time};

/// Longest time between two probes.
const MAX_INTERVAL: Nanos = Nanos::from_secs(60);

/// State of zero-window probing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Persist {
    backoff: u32,
    running: bool,
    probing: bool,
}

impl Persist {
    /// Whether the sender waits for the window.
    #[inline]
    pub(super) fn is_running(&self) -> bool {
        self.running
    }

    /// Whether an unacknowledged probe is on the scoreboard.
    #[inline]
    pub(super) fn is_probing(&self) -> bool {
        self.probing
    }

    /// How often the window was probed since it closed.
    pub(super) fn probes(&self) -> u32 {
        self.backoff
    }

    pub(super) fn probe_sent(&mut self) {
        self.probing = true;
    }
}

impl Sender {
    /// Nothing can be sent: if only the peer's window is the reason, starts probing.
    #[inline]
    pub(super) fn wait_for_window(&mut self, now: Time) {
        if !self.persist.running && self.board.is_empty() && self.stream_end > self.snd_max {
            self.persist = Persist { backoff: 0, running: true, probing: false };
            self.timers.persist = Some(now + self.persist_interval());
        }
    }

    /// An ACK arrived while waiting.
    pub(super) fn window_may_have_opened(&mut self, now: Time) {
        self.cold.patience.answered();
        if self.board.is_empty() {
            self.persist.probing = false;
        }
        if self.persist.probing {
            if self.edge < self.snd_max {
                return;
            }
            // The probe is now inside the window and was not accepted: resend it like any lost segment.
            self.board.mark_head_lost();
        } else if self.board.is_empty() && self.next_len() == 0 && self.stream_end > self.snd_max {
            return;
        }
        self.stop_waiting();
        self.urgent = false;
        self.may_have_paused();
        if !self.board.is_empty() && !self.slots.detect.owns_rto() {
            self.timers.rto = Some(self.slots.rto.deadline(now));
        }
    }

    /// Bytes to send when the wait for the window is over: all that it allows (RFC 1122 §4.2.3.4 (4)), else a probe of one
    /// byte.
    #[cold]
    pub(super) fn waited_for(&mut self) -> u32 {
        let room = self.room().min(u64::from(self.mss)) as u32;
        if room > 0 {
            self.stop_waiting();
        }
        room.max(1)
    }

    pub(super) fn stop_waiting(&mut self) {
        self.persist = Persist::default();
        self.timers.persist = None;
    }

    pub(super) fn on_persist<O: Observer>(&mut self, now: Time, obs: &mut O) {
        if self.out_of_patience(now) {
            return;
        }
        self.urgent = true;
        self.burst_left = self.maxburst;
        self.persist.backoff += 1;
        self.timers.persist = self.no_later_than_giving_up(now + self.persist_interval());
        if O::ENABLED {
            obs.event(now, Event::Persist { at: self.snd_una });
        }
    }

    /// RFC 1122 §4.2.2.17: the first probe after an RTO, then at exponentially growing intervals.
    fn persist_interval(&self) -> Nanos {
        self.slots.rto.base().times(1 << self.persist.backoff.min(16)).min(MAX_INTERVAL)
    }
}
