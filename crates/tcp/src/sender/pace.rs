//! Rule 21. Pacing holds back segments that the window allows.
//!
//! A paced sender uses the path of watched sends, so that the usual path has nothing more to check. A probe and the first
//! retransmission after a timeout are sent regardless of the pace (Linux: `tcp_retransmit_timer`, `tcp_send_loss_probe`); the
//! time that they take is reserved.

use super::{Rto, Sender, Timekeeper};
use crate::congestion::Congestion;
use crate::event::Observer;
use crate::facts::pace::Pace;
use crate::facts::scoreboard::Sent;
use crate::pacing::Pacer;
use crate::time::{Nanos, Time};

/// The state of a paced sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacing {
    pacer: Pacer,
    /// A segment could be sent if pacing allowed it.
    waits: bool,
    /// The next segment is sent regardless of the pace.
    at_once: bool,
}

impl Sender {
    /// Whether sends take the watched path.
    #[inline]
    pub(super) fn watches_sends(&self) -> bool {
        self.paced || self.slots.detect.watches_sends()
    }

    /// When a segment that waits for its pace may be sent.
    pub(super) fn paced_until(&self) -> Option<Time> {
        let Pacing { pacer, waits, .. } = self.cold.pacing;
        (self.paced && waits).then(|| pacer.next())
    }

    /// A timeout: its retransmission does not wait.
    pub(super) fn pace_timeout(&mut self) {
        self.cold.pacing.at_once = true;
    }

    /// Whether new data that nothing else holds back must wait.
    pub(super) fn new_data_wait(&mut self, now: Time) -> bool {
        self.cold.pacing.waits = false;
        let len = self.next_len();
        let wait = len > 0 && self.open_admits(len) && self.pace_holds(now);
        if wait {
            self.cwnd_limited = false;
        }
        wait
    }

    /// Whether the chosen segment must wait.
    pub(super) fn pace_holds(&mut self, now: Time) -> bool {
        let Pacing { pacer, waits, at_once } = &mut self.cold.pacing;
        *waits = !(self.urgent || *at_once || pacer.admits(now));
        *waits
    }

    /// Nothing may be sent, at any pace.
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

    /// How far in the future the next segment may be sent.
    pub(super) fn pace_ahead(&self, now: Time) -> Nanos {
        self.cold.pacing.pacer.next().since(now)
    }

    /// The congestion control's pace, or else the window's, which has none before the first RTT sample.
    fn pace(&self) -> Option<Pace> {
        if let Some(pace) = self.slots.congestion.pace() {
            return Some(pace);
        }
        let srtt = self.slots.rto.srtt()?;
        Some(Pace::of_window(self.w.cwnd, self.w.ssthresh, self.snd_max - self.snd_una, self.mss, srtt))
    }
}
