//! Segments sent and not yet acknowledged, and their states. It holds facts and no policy.
//!
//! A ring of 32-byte records in sequence order. `pipe`, `sacked` and `lost` are kept incrementally; a recount under
//! `debug_assert!` checks them in every test build. The records that the last ACK delivered stay readable until the next one.

mod acknowledge;
mod copies;
mod sack;
pub mod send_order;
mod show;
mod split;
#[cfg(test)]
mod tests;

pub use acknowledge::Delivered;

use crate::seq::Offset;
use crate::time::Time;
use crate::units::Bytes;

/// Records for which memory is first asked. A million short windows need little more than their segments.
const SMALLEST: usize = 4;

/// One segment on the scoreboard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// First offset.
    pub start: Offset,
    /// When it was last sent.
    pub at: Time,
    /// The congestion window when it was last sent, bytes (TCP-PR's cut uses it).
    pub cwnd: f64,
    /// Sequence space: payload, and one for a FIN.
    pub len: u32,
    /// Its state.
    pub marks: Marks,
    /// How often it was sent; saturates.
    pub sends: u8,
}

/// The state of a segment.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks(u8);

/// Records of segments sent and not acknowledged, oldest first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Scoreboard {
    sack: sack::SackState,
    ring: Box<[Sent]>,
    /// Indices only count up (modulo 2³²); a slot is index & mask. The last ACK delivered `released..head`.
    released: u32,
    head: u32,
    tail: u32,
    /// Every record below has been SACKed or resent.
    hole: u32,
    /// Segments marked lost, to be resent because of the mark.
    lost_to_send: u32,
    /// Bytes that have arrived according to duplicates without SACK; it is unknown which bytes these are. Counted in `pipe`.
    presumed: u32,
    pipe: Bytes,
    sacked: Bytes,
    lost: Bytes,
}

impl Marks {
    /// Reported by a SACK block.
    pub const SACKED: u8 = 1;
    /// A judge considers it lost.
    pub const LOST: u8 = 2;
    /// Resent since it was last marked lost.
    pub const REXMIT: u8 = 4;
    /// A zero-window probe or a tail loss probe.
    pub const PROBE: u8 = 8;
    /// The path dropped its last copy; only a simulator can tell.
    pub const DROPPED: u8 = 64;
    /// SACKed by the last ACK.
    const FRESH: u8 = 16;
    /// Lost, and to be resent because `snd_nxt` went back, not because of the mark.
    const REWOUND: u8 = 32;

    /// Whether any of `bits` is set.
    #[inline]
    pub fn any(self, bits: u8) -> bool {
        self.0 & bits != 0
    }

    /// How many copies of it are considered to be in the network (RFC 6675 §4 SetPipe).
    #[inline]
    fn weight(self) -> u64 {
        if self.any(Self::SACKED) {
            0
        } else {
            u64::from(!self.any(Self::LOST)) + u64::from(self.any(Self::REXMIT))
        }
    }

    #[inline]
    fn waits_to_be_sent(self) -> bool {
        self.0 & (Self::SACKED | Self::LOST | Self::REXMIT | Self::REWOUND) == Self::LOST
    }
}

impl Sent {
    /// The offset after its last byte.
    #[inline]
    pub fn end(&self) -> Offset {
        self.start + u64::from(self.len)
    }
}

impl Scoreboard {
    /// Bytes estimated to be in the network (RFC 6675 §4).
    #[inline]
    pub fn pipe(&self) -> Bytes {
        self.pipe.saturating_sub(self.presumed.into())
    }

    /// Bytes that have arrived according to duplicates, without SACK to tell which ([`super::ack::DupRule::EmulatedSack`]).
    #[inline]
    pub fn presumed(&self) -> Bytes {
        self.presumed.into()
    }

    /// Bytes SACKed and not yet acknowledged cumulatively.
    #[inline]
    pub fn sacked(&self) -> Bytes {
        self.sacked
    }

    /// Bytes marked lost, resent or not.
    #[inline]
    pub fn lost(&self) -> Bytes {
        self.lost
    }

    /// Segments marked lost and not resent: 0 is the fast path.
    #[inline]
    pub fn lost_to_send(&self) -> u32 {
        self.lost_to_send
    }

    /// Whether nothing is outstanding.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// When the newest segment was last sent, even if acknowledged since; `None` if there never was one.
    pub(crate) fn last_sent_at(&self) -> Option<Time> {
        (!self.ring.is_empty()).then(|| self.at(self.tail.wrapping_sub(1)).at)
    }

    /// Segments outstanding.
    pub fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head) as usize
    }

    /// End of the highest SACKed segment; `None` if nothing above `snd_una` is SACKed.
    #[inline]
    pub fn highest_sacked(&self) -> Option<Offset> {
        (self.sacked > 0).then_some(self.sack.top)
    }

    /// The outstanding records, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Sent> {
        (0..self.len() as u32).map(|i| self.at(self.head.wrapping_add(i)))
    }

    /// The records that the last ACK newly delivered. A record SACKed earlier and acknowledged now is not among them.
    pub fn newly(&self) -> impl Iterator<Item = &Sent> {
        let gone = self.head.wrapping_sub(self.released);
        let acked = (0..gone).map(|i| self.at(self.released.wrapping_add(i)));
        let fresh = self.sack.fresh().map(|i| self.at(i));
        acked.filter(|s| !s.marks.any(Marks::SACKED)).chain(fresh.filter(|s| s.marks.any(Marks::FRESH)))
    }

    /// The lowest segment marked lost and not resent.
    pub fn first_lost(&self) -> Option<Offset> {
        if self.lost_to_send == 0 {
            return None;
        }
        let from = self.hole.wrapping_sub(self.head);
        let mut rest = (from..self.len() as u32).map(|i| self.at(self.head.wrapping_add(i)));
        rest.find(|s| s.marks.waits_to_be_sent()).map(|s| s.start)
    }

    /// The lowest segment below the highest SACKed one that was neither SACKed nor resent.
    pub fn first_hole(&self) -> Option<&Sent> {
        let s = (self.sacked > 0 && self.hole != self.tail).then(|| self.at(self.hole))?;
        (s.end() <= self.sack.top).then_some(s)
    }

    /// The record that contains `at`.
    pub fn get(&self, at: Offset) -> Option<&Sent> {
        self.find(at).map(|i| self.at(i))
    }

    /// Marks the oldest segment lost, unless it is SACKed; returns the bytes newly marked.
    pub fn mark_head_lost(&mut self) -> Bytes {
        if self.is_empty() {
            0
        } else {
            self.mark_index_lost(self.head)
        }
    }

    /// Marks the segment that contains `at` lost; if it was resent, the retransmission counts as lost.
    pub fn mark_lost(&mut self, at: Offset) -> Bytes {
        self.find(at).map_or(0, |i| self.mark_index_lost(i))
    }

    /// Marks everything not SACKed as lost and to be resent because of the mark (after a timeout).
    pub fn mark_rest_lost(&mut self) -> Bytes {
        self.each_index(|board, i| board.mark_index_lost(i))
    }

    /// Removes every loss mark, after a mistake.
    pub fn unmark_lost(&mut self) {
        self.each_index(|board, i| {
            board.edit(i, |m| m.0 &= !(Marks::LOST | Marks::REWOUND));
            0
        });
        self.sack.judge_anew();
    }

    /// Forgets all SACK information (RFC 2018 §5.1: the receiver may renege).
    pub fn clear_sacks(&mut self) {
        self.each_index(|board, i| {
            board.edit(i, |m| m.0 &= !(Marks::SACKED | Marks::FRESH));
            0
        });
        self.sack = sack::SackState::default();
        self.hole = self.head;
    }

    // ---- for the code that sends and processes ACKs

    /// Adds `bytes` that have arrived according to duplicates.
    pub(crate) fn presume(&mut self, bytes: Bytes) {
        self.presumed = u32::try_from(bytes).unwrap_or(u32::MAX);
    }

    /// `snd_nxt` goes back to `snd_una`: everything not SACKed is lost and will be resent in order.
    pub(crate) fn rewind(&mut self) {
        self.each_index(|board, i| {
            board.edit(i, |m| {
                if !m.any(Marks::SACKED) {
                    m.0 = Marks::LOST | Marks::REWOUND;
                }
            });
            0
        });
        self.hole = self.head;
        self.settle_hole();
    }

    /// Records a new segment and returns its record. It begins where the last one ended, and was sent no earlier.
    ///
    /// Built field by field, not read back: a processor that loads data just stored in smaller pieces stalls until the stores
    /// reach the cache (decision 0073).
    #[inline]
    pub fn push(&mut self, start: Offset, len: u32, at: Time, cwnd: f64, probe: bool) -> Sent {
        if self.tail.wrapping_sub(self.released) as usize >= self.ring.len() {
            self.grow();
        }
        let slot = self.slot(self.tail);
        self.tail = self.tail.wrapping_add(1);
        self.pipe += u64::from(len);
        let marks = Marks(if probe { Marks::PROBE } else { 0 });
        let s = &mut self.ring[slot];
        (s.start, s.at, s.cwnd, s.len, s.marks, s.sends) = (start, at, cwnd, len, marks, 1);
        Sent { start, at, cwnd, len, marks, sends: 1 }
    }

    /// Records that the segment containing `seq` was resent.
    pub(crate) fn resend(&mut self, seq: Offset, at: Time, cwnd: f64) -> Option<&Sent> {
        let i = self.find(seq)?;
        self.edit(i, |m| m.0 = (m.0 | Marks::REXMIT) & !(Marks::REWOUND | Marks::DROPPED));
        self.settle_hole();
        let slot = self.slot(i);
        let s = &mut self.ring[slot];
        (s.at, s.cwnd, s.sends) = (at, cwnd, s.sends.saturating_add(1));
        Some(&self.ring[slot])
    }

    /// The end of the run of SACKed segments that begins at `from` (`from` itself if that one is not SACKed).
    pub(crate) fn skip_sacked(&self, from: Offset) -> Offset {
        let Some(mut i) = self.find(from).filter(|_| self.sacked > 0) else { return from };
        let mut end = from;
        while i != self.tail && self.at(i).marks.any(Marks::SACKED) {
            end = self.at(i).end();
            i = i.wrapping_add(1);
        }
        end
    }

    // ---- inside

    #[inline]
    fn slot(&self, i: u32) -> usize {
        i as usize & (self.ring.len() - 1)
    }

    #[inline]
    fn at(&self, i: u32) -> &Sent {
        &self.ring[self.slot(i)]
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.ring.len() * 2).max(SMALLEST);
        let blank = Sent { start: Offset(0), at: Time(0), cwnd: 0.0, len: 0, marks: Marks(0), sends: 0 };
        let mut ring = vec![blank; size].into_boxed_slice();
        let mut i = self.released;
        while i != self.tail {
            ring[i as usize & (size - 1)] = *self.at(i);
            i = i.wrapping_add(1);
        }
        self.ring = ring;
    }

    /// Index of the record that contains `at`. Most segments are equal, so guess first, then bisect.
    fn find(&self, at: Offset) -> Option<u32> {
        let n = self.len() as u32;
        if n == 0 || at < self.at(self.head).start || at >= self.at(self.tail.wrapping_sub(1)).end() {
            return None;
        }
        let first = self.at(self.head);
        let guess = ((at - first.start) / u64::from(first.len.max(1))).min(u64::from(n - 1)) as u32;
        let holds = |k: u32| {
            let s = self.at(self.head.wrapping_add(k));
            s.start <= at && at < s.end()
        };
        if holds(guess) {
            return Some(self.head.wrapping_add(guess));
        }
        let (mut lo, mut hi) = (0, n);
        while hi - lo > 1 {
            let mid = lo + (hi - lo) / 2;
            if self.at(self.head.wrapping_add(mid)).start <= at {
                lo = mid;
            } else {
                hi = mid;
            }
        }
        Some(self.head.wrapping_add(lo))
    }

    /// Changes a record's marks and keeps every count correct.
    fn edit(&mut self, i: u32, change: impl FnOnce(&mut Marks)) {
        let slot = self.slot(i);
        let s = &mut self.ring[slot];
        let (old, n) = (s.marks, u64::from(s.len));
        change(&mut s.marks);
        let new = s.marks;
        self.pipe = self.pipe - old.weight() * n + new.weight() * n;
        for (count, bit) in [(&mut self.sacked, Marks::SACKED), (&mut self.lost, Marks::LOST)] {
            *count = *count - u64::from(old.any(bit)) * n + u64::from(new.any(bit)) * n;
        }
        self.lost_to_send = self.lost_to_send - u32::from(old.waits_to_be_sent()) + u32::from(new.waits_to_be_sent());
        // Lower than the first hole: it becomes the first hole.
        if !new.any(Marks::SACKED | Marks::REXMIT) && i.wrapping_sub(self.head) < self.hole.wrapping_sub(self.head) {
            self.hole = i;
        }
    }

    /// Rule 20. If the segment was resent, the retransmission is lost.
    fn mark_index_lost(&mut self, i: u32) -> Bytes {
        let s = self.at(i);
        let (m, len) = (s.marks, u64::from(s.len));
        if m.any(Marks::SACKED) || (m.any(Marks::LOST) && !m.any(Marks::REXMIT)) {
            return 0;
        }
        self.edit(i, |m| m.0 = (m.0 | Marks::LOST) & !Marks::REXMIT);
        len
    }

    fn each_index(&mut self, mut f: impl FnMut(&mut Self, u32) -> Bytes) -> Bytes {
        let mut sum = 0;
        let mut i = self.head;
        while i != self.tail {
            sum += f(self, i);
            i = i.wrapping_add(1);
        }
        sum
    }

    fn settle_hole(&mut self) {
        while self.hole != self.tail && self.at(self.hole).marks.any(Marks::SACKED | Marks::REXMIT) {
            self.hole = self.hole.wrapping_add(1);
        }
    }
}
