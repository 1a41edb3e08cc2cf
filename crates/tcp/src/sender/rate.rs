//! Samples of the delivery rate, for a congestion control that sets the window on every ACK (Linux's `cong_control`).

use super::Sender;
use crate::congestion::Congestion;
use crate::detect::Verdict;
use crate::event::{Observer, Slot};
use crate::facts::ack::AckEvent;
use crate::facts::rate::AckFacts;
use crate::facts::scoreboard::Sent;
use crate::time::Time;
use crate::units::Bytes;

impl Sender {
    fn in_segments(&self, bytes: Bytes) -> u32 {
        u32::try_from(bytes.div_ceil(u64::from(self.mss))).unwrap_or(u32::MAX)
    }

    /// The work on every ACK for detectors that keep time and congestion controls that want samples.
    #[inline]
    pub(super) fn after_judging<O: Observer>(&mut self, now: Time, ack: &AckEvent, verdict: Verdict, obs: &mut O) {
        self.watched = self.watches_sends();
        if self.rated {
            self.rate_ack(now, ack, verdict.lost(), obs);
        }
    }

    /// An ACK has been read, judged and acted on; `lost` bytes were newly marked.
    #[inline(never)]
    fn rate_ack<O: Observer>(&mut self, now: Time, ack: &AckEvent, lost: Bytes, obs: &mut O) {
        let Some(mut rates) = self.cold.rates.take() else { return };
        let facts = AckFacts {
            now,
            snd_una: self.snd_una,
            acked_bytes: ack.acked(),
            losses: self.in_segments(lost),
            in_flight: self.in_segments(self.board.pipe()),
            rtt: ack.rtt,
            min_rtt: self.min_rtt.get(),
            mss: self.mss,
            ahead: self.pace_ahead(now),
        };
        let (rs, cx) = (rates.on_ack(&self.board, &facts), self.ctx(now));
        self.write_window(now, Slot::Congestion, obs, |s| {
            s.slots.congestion.on_rate(&rs, &mut rates, &mut s.w, &cx);
        });
        self.cold.rates = Some(rates);
    }

    /// A segment was sent.
    pub(super) fn rate_sent<O: Observer>(&mut self, now: Time, sent: &Sent, obs: &mut O) {
        let Some(mut rates) = self.cold.rates.take() else { return };
        if self.board.pipe() <= u64::from(sent.len) {
            let cx = self.ctx(now);
            self.write_window(now, Slot::Congestion, obs, |s| {
                s.slots.congestion.on_tx_start(&rates, &mut s.w, &cx);
            });
        }
        let alone = self.board.len() == 1 && sent.sends == 1;
        rates.on_sent(now, sent, alone, self.in_segments(self.board.pipe()));
        self.cold.rates = Some(rates);
    }

    /// A timer fired; until then, `lost_before` bytes were marked lost.
    pub(super) fn rate_timer(&mut self, lost_before: Bytes) {
        let newly = self.in_segments(self.board.lost().saturating_sub(lost_before));
        let in_flight = self.in_segments(self.board.pipe());
        if let Some(rates) = &mut self.cold.rates {
            rates.on_timer(newly, in_flight);
        }
    }

    /// The application writes: if nothing but a lack of data delayed sending, the application was the limit
    /// (`tcp_rate_check_app_limited`).
    pub(super) fn rate_write(&mut self) {
        let waits = self.stream_end - self.snd_nxt;
        let free = self.w.cwnd - self.board.pipe() as f64 >= f64::from(self.mss);
        if let Some(rates) = &mut self.cold.rates
            && waits < u64::from(self.mss)
            && free
            && self.board.lost_to_send() == 0
        {
            rates.limit_by_application();
        }
    }
}
