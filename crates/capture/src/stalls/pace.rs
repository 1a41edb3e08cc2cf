//! How much a transfer carries in a round trip, and whether it has carried less since a retransmission.
//!
//! A round trip here is the smallest one, so that a queue, which lengthens round trips, does not count as a larger window.

/// The state of the congestion window, as far as data and acknowledgments show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// No retransmission has made it smaller.
    #[default]
    Grows,
    /// Not everything is acknowledged that was outstanding at a retransmission.
    Repairs,
    /// The transfer carries less in a round trip than before a retransmission.
    Reduced,
}

/// Bytes by round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// When the current round trip began, nanoseconds.
    pub(super) from: i64,
    /// The highest byte sent, and acknowledged, when it began.
    sent: u64,
    acked: u64,
    /// Bytes of all segments in it, counted from a retransmission on.
    carried: u64,
    /// Whether the round trip before it carried less than before the retransmission.
    slow: bool,
    /// Bytes acknowledged in each of the two round trips before it.
    last: [u64; 2],
    /// Bytes acknowledged in a round trip before the retransmission; 0: none made it less.
    before: u64,
    /// The highest byte sent at the last retransmission.
    recover: u64,
}

impl Pace {
    /// The first data.
    pub(super) fn begin(&mut self, at: i64, seq: u64) {
        (self.from, self.sent, self.acked) = (at, seq, seq);
    }

    /// A round trip is over; `max` and `una` are the highest bytes sent and acknowledged.
    #[cold]
    pub(super) fn turn(&mut self, at: i64, max: u64, una: u64) {
        let sent = max.saturating_sub(self.sent);
        self.slow = self.carried < self.before;
        self.carried = 0;
        if una >= self.recover && sent >= self.before {
            self.before = 0;
        }
        self.last = [una.saturating_sub(self.acked), self.last[0]];
        (self.from, self.sent, self.acked) = (at, max, una);
    }

    /// Data from below the highest byte was sent.
    pub(super) fn repair(&mut self, max: u64, una: u64) {
        if una < self.recover && self.before > 0 {
            return;
        }
        let [last, older] = self.last;
        let now = una.saturating_sub(self.acked);
        self.before = self.before.max(last).max(older).max(now).max(1);
        self.recover = max;
    }

    /// A segment followed another after a short wait: the wait counts for the state of the window if that makes the transfer slower.
    #[inline(always)]
    pub(super) fn short(&mut self, len: u32, wait: i64, una: u64, of: &mut [i64; 2]) {
        if self.before > 0 {
            self.carried += u64::from(len);
            if self.slow {
                of[usize::from(una >= self.recover)] += wait;
            }
        }
    }

    /// The state of the window.
    pub(super) fn window(&self, una: u64) -> Window {
        match self.before {
            0 => Window::Grows,
            _ if una < self.recover => Window::Repairs,
            _ => Window::Reduced,
        }
    }
}
