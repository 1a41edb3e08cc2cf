//! Rule 21. Pacing holds back what a window would let go.
//!
//! A paced sender takes the way of a watched send, so that the usual way has nothing more to look at. A probe and the first
//! retransmission after a timeout go whatever the pace is (Linux: `tcp_retransmit_timer`, `tcp_send_loss_probe`); what they take is booked.

use super::{Rto, Sender, Timekeeper};
use crate::congestion::Congestion;
use crate::event::Observer;
use crate::facts::pace::Pace;
use crate::facts::scoreboard::Sent;
use crate::pacing::Pacer;
use crate::time::{Nanos, Time};

/// What a paced sender keeps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacing {
    pacer: Pacer,
    /// Something might go if it were time.
    waits: bool,
    /// The next segment goes at any pace.
    at_once: bool,
}

impl Sender {
    /// Whether a send takes the way on which everybody looks.
    #[inline]
    pub(super) fn watches_sends(&self) -> bool {
        self.paced || self.slots.detect.watches_sends()
    }

    /// When something that waits for its time may go.
    pub(super) fn paced_until(&self) -> Option<Time> {
        let Pacing { pacer, waits, .. } = self.cold.pacing;
        (self.paced && waits).then(|| pacer.next())
    }

    /// A timeout: what it resends does not wait.
    pub(super) fn pace_timeout(&mut self) {
        self.cold.pacing.at_once = true;
    }

    /// Whether new data that nothing else holds back have to wait.
    pub(super) fn new_data_wait(&mut self, now: Time) -> bool {
        self.cold.pacing.waits = false;
        let len = self.next_len();
        let wait = len > 0 && self.open_admits(len) && self.pace_holds(now);
        if wait {
            self.cwnd_limited = false;
        }
        wait
    }

    /// Whether what was chosen has to wait.
    pub(super) fn pace_holds(&mut self, now: Time) -> bool {
        let Pacing { pacer, waits, at_once } = &mut self.cold.pacing;
        *waits = !(self.urgent || *at_once || pacer.admits(now));
        *waits
    }

    /// Nothing may go, at any pace.
    pub(super) fn nothing_waits(&mut self) {
        self.cold.pacing.waits = false;
    }

    /// A segment was sent.
    pub(super) fn pace_sent<O: Observer>(&mut self, now: Time, sent: &Sent, obs: &mut O) {
        self.rate_sent(now, sent, obs);
        let pace = self.pace();
        let burst = pace.map_or(u32::MAX, |p| p.burst(self.w.cwnd, self.mss, self.min_rtt.get()));
        self.cold.pacing.at_once = false;
        self.cold.pacing.pacer.on_sent(now, sent.len.min(self.mss), pace, burst);
    }

    /// How far ahead the next segment may leave.
    pub(super) fn pace_ahead(&self, now: Time) -> Nanos {
        self.cold.pacing.pacer.next().since(now)
    }

    /// The congestion control's pace or else the window's; before the first round trip is known that has none.
    fn pace(&self) -> Option<Pace> {
        if let Some(pace) = self.slots.congestion.pace() {
            return Some(pace);
        }
        let srtt = self.slots.rto.srtt()?;
        Some(Pace::of_window(self.w.cwnd, self.w.ssthresh, self.snd_max - self.snd_una, self.mss, srtt))
    }
}
