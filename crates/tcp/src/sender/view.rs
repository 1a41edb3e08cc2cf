//! Rule 15. The components' view of the sender, built anew whenever something in it may have changed.

use super::Sender;
use crate::facts::ctx::Ctx;
use crate::rto::Rto;
use crate::time::Time;

impl Sender {
    /// The components' view. Apart: only the hottest paths have it in place.
    #[inline(never)]
    pub(super) fn ctx(&self, now: Time) -> Ctx {
        self.context(now)
    }

    /// The same. `room` and `next_len` are what a new segment may use.
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
}
