//! Rule 15. The components' view of the sender, rebuilt whenever it may have changed; and its invariants.

use super::Sender;
use crate::detect::Timekeeper;
use crate::event::{Phase, Resend, Window};
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::Scoreboard;
use crate::rto::Rto;
use crate::seq::Offset;
use crate::time::Time;

impl Sender {
    /// The components' view. Not inlined; only the hottest paths inline it.
    #[inline(never)]
    pub(super) fn ctx(&self, now: Time) -> Ctx {
        self.context(now)
    }

    /// The same, inlined. `room` and `next_len` limit a new segment.
    #[inline(always)]
    pub(super) fn context(&self, now: Time) -> Ctx {
        let room = self.room();
        Ctx {
            now,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            snd_max: self.snd_max,
            room,
            recover: self.recover,
            timed_out: self.timed_out,
            srtt: self.slots.rto.srtt(),
            min_rtt: self.min_rtt.get(),
            rto: self.slots.rto.base(),
            rto_at: self.timers.rto,
            mss: self.mss,
            next_len: self.next_len_in(room),
            phase: self.phase,
            cwnd_limited: self.cwnd_limited,
        }
    }

    /// The number of episodes begun. Only observers count retransmission timeouts.
    pub fn episodes(&self) -> u32 {
        self.cold.ledger.count()
    }

    /// The rule by which the segment just polled was sent again; meaningful only if it was sent before.
    pub fn resend(&self) -> Resend {
        if self.probed {
            return Resend::Probe;
        }
        match self.phase {
            Phase::Recovery => Resend::Recovery(self.cold.ledger.count()),
            Phase::Loss => Resend::Timeout,
            Phase::Open | Phase::Disorder if self.timed_out => Resend::Timeout,
            Phase::Open | Phase::Disorder => Resend::Later,
        }
    }

    /// The phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// First unacknowledged offset, next offset, and one past the highest sent.
    pub fn positions(&self) -> (Offset, Offset, Offset) {
        (self.snd_una, self.snd_nxt, self.snd_max)
    }

    /// The congestion window and slow start threshold, bytes.
    pub fn window(&self) -> Window {
        self.w
    }

    /// Whether the detector must be told about drops on the path.
    pub(crate) fn hears_drops(&self) -> bool {
        self.slots.detect.hears_drops()
    }

    /// The path dropped copy number `sends` of the data at `start`.
    pub(crate) fn drop_copy(&mut self, start: Offset, sends: u8) {
        self.board.drop_copy(start, sends);
    }

    /// The scoreboard.
    pub fn board(&self) -> &Scoreboard {
        &self.board
    }

    /// Invariants, checked in every test build.
    #[inline]
    pub(super) fn check(&self) {
        #[cfg(debug_assertions)]
        {
            assert!(self.asks_for_deadlines(), "a deadline of a detector that keeps no time");
            assert!(self.snd_una <= self.snd_nxt && self.snd_nxt <= self.snd_max, "una, nxt, max out of order");
            assert_eq!(self.limit, self.find_limit(), "how far new data may go");
            assert!(self.w.cwnd >= f64::from(self.mss), "cwnd below one segment: {}", self.w.cwnd);
            self.board.check();
        }
    }
}
