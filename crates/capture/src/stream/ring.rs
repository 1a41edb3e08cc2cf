//! First copies in the order of their numbers, 28 bytes each: what is in flight is most of what a connection needs of memory.
//!
//! Idea: numbers, frames and places in the order of sending are kept as distances of 32 bits from a common beginning. It moves when a
//! distance no longer fits; if the distances still do not fit then, the oldest copies are forgotten.

use super::Sent;
use std::collections::VecDeque;

/// How many more there is room for at once, or a quarter of all: a ring that doubles would be half empty.
const MORE: usize = 4;
/// Room that may be idle. Beyond that, and beyond half of what is in use, it is given back.
const IDLE: usize = 64;
/// Places in the order of sending may come from so far before the first.
const BEFORE: u64 = 1 << 31;

#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    /// Where the distances begin.
    seq: u64,
    frame: u64,
    order: u64,
    packed: VecDeque<Packed>,
}

/// A time in two words, so that none of the 28 bytes is padding.
#[derive(Clone, Copy, Debug)]
struct Packed {
    at: [u32; 2],
    seq: u32,
    len: u32,
    frame: u32,
    /// 0 where it is unknown.
    order: u32,
    tsval: u32,
}

impl Packed {
    #[inline]
    fn at(&self) -> i64 {
        (u64::from(self.at[1]) << 32 | u64::from(self.at[0])) as i64
    }
}

impl Ring {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.packed.len()
    }

    /// Adds one behind all others. Answers how many it had to forget.
    #[inline]
    pub(super) fn push(&mut self, sent: &Sent) -> usize {
        if let (Some(packed), true) = (self.pack(sent), self.packed.len() < self.packed.capacity()) {
            self.packed.push_back(packed);
            return 0;
        }
        self.insert(self.len(), sent)
    }

    /// Adds one in front of number `at`. Answers how many it had to forget.
    pub(super) fn insert(&mut self, at: usize, sent: &Sent) -> usize {
        let forgotten = self.make_room(sent);
        if let Some(packed) = self.pack(sent) {
            self.packed.insert(at.saturating_sub(forgotten), packed);
        }
        forgotten
    }

    #[inline]
    pub(super) fn get(&self, i: usize) -> Option<Sent> {
        self.packed.get(i).map(|p| self.unpack(p))
    }

    /// If number `i` is there and ends at `ack` or below, when it was sent.
    #[inline]
    pub(super) fn sent_below(&self, i: usize, ack: u64) -> Option<i64> {
        let p = self.packed.get(i)?;
        (self.seq + u64::from(p.seq) + u64::from(p.len) <= ack).then(|| p.at())
    }

    /// How many come before the first that is not `below`.
    pub(super) fn partition_point(&self, below: impl Fn(&Sent) -> bool) -> usize {
        self.packed.partition_point(|p| below(&self.unpack(p)))
    }

    /// Those from number `i` on.
    pub(super) fn from(&self, i: usize) -> impl Iterator<Item = Sent> + '_ {
        self.packed.iter().skip(i).map(|p| self.unpack(p))
    }

    /// Forgets the first `n`.
    #[inline]
    pub(super) fn forget(&mut self, n: usize) {
        self.packed.drain(..n);
        let len = self.packed.len();
        if self.packed.capacity() > len + IDLE.max(len / 2) {
            self.packed.shrink_to(len + len / 4);
        }
    }

    pub(super) fn clear(&mut self) {
        self.packed.clear();
    }

    #[inline]
    fn pack(&self, s: &Sent) -> Option<Packed> {
        let (seq, frame) = (s.seq.wrapping_sub(self.seq), s.frame.wrapping_sub(self.frame));
        let order = if s.order == 0 { 0 } else { s.order.wrapping_sub(self.order) };
        let fits = (seq | frame | order) >> 32 == 0 && (order != 0 || s.order == 0);
        let at = [s.at as u32, (s.at >> 32) as u32];
        let packed =
            Packed { at, seq: seq as u32, len: s.len, frame: frame as u32, order: order as u32, tsval: s.tsval };
        fits.then_some(packed)
    }

    #[inline]
    fn unpack(&self, p: &Packed) -> Sent {
        Sent {
            seq: self.seq + u64::from(p.seq),
            at: p.at(),
            frame: self.frame + u64::from(p.frame),
            order: if p.order == 0 { 0 } else { self.order + u64::from(p.order) },
            len: p.len,
            tsval: p.tsval,
        }
    }

    /// Sees to it that one more can be packed. Answers how many it had to forget.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, sent: &Sent) -> usize {
        let before = self.len();
        if self.pack(sent).is_none() {
            let mut all: VecDeque<Sent> = self.from(0).collect();
            loop {
                let least =
                    |of: fn(&Sent) -> u64| all.iter().chain([sent]).map(of).filter(|n| *n > 0).min().unwrap_or(0);
                (self.seq, self.frame) = (least(|s| s.seq), least(|s| s.frame));
                self.order = least(|s| s.order).saturating_sub(BEFORE);
                if self.pack(sent).is_some() && all.iter().all(|s| self.pack(s).is_some()) {
                    break;
                }
                all.pop_front();
            }
            self.packed = all.iter().filter_map(|s| self.pack(s)).collect();
        }
        if self.packed.len() == self.packed.capacity() {
            self.packed.reserve_exact(MORE.max(self.packed.len() / 4));
        }
        before - self.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(seq: u64, frame: u64, order: u64) -> Sent {
        Sent { seq, at: -5 - ((frame as i64) << 40), frame, order, len: 1460, tsval: frame as u32 ^ 0xffff_0000 }
    }

    #[test]
    fn what_is_kept_in_28_bytes_comes_out_as_it_went_in() {
        assert_eq!(size_of::<Packed>(), 28);
        let (mut ring, mut model) = (Ring::default(), Vec::new());
        for i in 0..500u64 {
            let one = sent((1 << 62) + i * 1460, 7 + 3 * i, if i % 5 == 0 { 0 } else { (1 << 32) + 900 - i });
            assert_eq!(ring.push(&one), 0);
            model.push(one);
        }
        let late = sent((1 << 62) + 730, 5000, (1 << 32) - 4000);
        assert_eq!(ring.insert(1, &late), 0);
        model.insert(1, late);
        assert_eq!(ring.from(0).collect::<Vec<_>>(), model);
        ring.forget(100);
        model.drain(..100);
        assert_eq!((ring.get(3), ring.len()), (model.get(3).copied(), 401));
        assert_eq!(ring.partition_point(|s| s.frame < 600), model.partition_point(|s| s.frame < 600));
        let end = model[0].end();
        assert_eq!((ring.sent_below(0, end), ring.sent_below(0, end - 1)), (Some(model[0].at), None));
        assert_eq!(ring.sent_below(401, u64::MAX >> 1), None);
    }

    #[test]
    fn a_distance_beyond_32_bits_moves_the_beginning_and_forgets_only_what_no_longer_fits() {
        let mut ring = Ring::default();
        let all = [
            sent(1 << 62, 1, 1 << 32),
            sent((1 << 62) + 2000, 2, (1 << 32) + 1),
            sent((1 << 62) + (1 << 32) - 10, (1 << 32) + 1, (1 << 32) + (1 << 31) - 9),
        ];
        assert_eq!(all.map(|s| ring.push(&s)), [0, 0, 1]);
        assert_eq!(ring.from(0).collect::<Vec<_>>(), all[1..], "the first frame is too far away");
        let low = sent((1 << 62) + 100, 1 << 32, 0);
        assert_eq!(ring.insert(0, &low), 0);
        assert_eq!(ring.from(0).collect::<Vec<_>>(), [low, all[1], all[2]]);
        let far = sent((1 << 62) + (1 << 40), 1 << 50, 1 << 60);
        assert_eq!(ring.push(&far), 3);
        assert_eq!(ring.from(0).collect::<Vec<_>>(), [far]);
        ring.clear();
        assert_eq!((ring.len(), ring.get(0)), (0, None));
    }
}
