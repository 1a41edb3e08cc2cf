//! First copies in the order of their numbers, 16 bytes each: what is in flight is most of what a connection needs of memory.
//!
//! Idea: copies lie in blocks. Within a block each begins where the one before it ends, and times, frames, places in the order of sending
//! and timestamps are kept as distances from those of its first copy. What does not fit begins another block.

use super::Sent;
use std::collections::VecDeque;

/// Copies in a block.
const FULL: usize = 32;
/// Segments that a block begins with room for, unless the one before it was full.
const FEW: usize = 4;
/// Places in the order of sending and timestamps may be so far before those of the first copy.
const BEFORE: u16 = 1 << 15;

#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    /// The block that grows.
    last: Block,
    older: VecDeque<Block>,
    /// The number of the first copy, counted from the first that there was.
    first: u64,
}

#[derive(Clone, Debug, Default)]
struct Block {
    /// The number of its first copy.
    start: u64,
    /// Where the distances begin.
    seq: u64,
    at: i64,
    frame: u64,
    order: u64,
    tsval: u32,
    packed: Vec<Packed>,
}

#[derive(Clone, Copy, Debug)]
struct Packed {
    at: u32,
    /// Behind its last sequence number.
    end: u32,
    frame: u32,
    /// 0 where it is unknown.
    order: u16,
    tsval: u16,
}

impl Block {
    /// Begins with this copy.
    fn of(start: u64, s: &Sent, room: usize) -> Block {
        let mut block = Block {
            start,
            seq: s.seq,
            at: s.at,
            frame: s.frame,
            order: s.order.saturating_sub(BEFORE.into()),
            tsval: s.tsval.wrapping_sub(BEFORE.into()),
            packed: Vec::with_capacity(room),
        };
        block.packed.extend(block.pack(s));
        block
    }

    /// The number of the copy behind its last.
    #[inline]
    fn end(&self) -> u64 {
        self.start + self.packed.len() as u64
    }

    /// Adds a copy behind the others, if it fits.
    #[inline(always)]
    fn push(&mut self, s: &Sent) -> bool {
        let follows = self.packed.last().is_some_and(|p| self.seq + u64::from(p.end) == s.seq);
        let Some(packed) = self.pack(s).filter(|_| follows && self.packed.len() < FULL) else { return false };
        if self.packed.len() == self.packed.capacity() {
            self.grow();
        }
        self.packed.push(packed);
        true
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.packed.reserve_exact(self.packed.len().clamp(FEW, FULL / 2));
    }

    #[inline(always)]
    fn pack(&self, s: &Sent) -> Option<Packed> {
        let at = s.at.wrapping_sub(self.at) as u64;
        let (end, frame) = (s.end().wrapping_sub(self.seq), s.frame.wrapping_sub(self.frame));
        let order = if s.order == 0 { 0 } else { s.order.wrapping_sub(self.order) };
        let tsval = s.tsval.wrapping_sub(self.tsval);
        let fits = (at | end | frame) >> 32 == 0 && (order | u64::from(tsval)) >> 16 == 0;
        let packed =
            Packed { at: at as u32, end: end as u32, frame: frame as u32, order: order as u16, tsval: tsval as u16 };
        (fits && (order != 0 || s.order == 0)).then_some(packed)
    }

    #[inline]
    fn get(&self, i: usize) -> Option<Sent> {
        let p = self.packed.get(i)?;
        let begin = i.checked_sub(1).map_or(0, |before| self.packed[before].end);
        Some(Sent {
            seq: self.seq + u64::from(begin),
            at: self.at + i64::from(p.at),
            frame: self.frame + u64::from(p.frame),
            order: if p.order == 0 { 0 } else { self.order + u64::from(p.order) },
            len: p.end - begin,
            tsval: self.tsval.wrapping_add(p.tsval.into()),
        })
    }
}

impl Ring {
    #[inline]
    pub(super) fn len(&self) -> usize {
        (self.last.end() - self.first) as usize
    }

    /// Adds one behind all others.
    #[inline(always)]
    pub(super) fn push(&mut self, sent: &Sent) {
        if !self.last.push(sent) {
            self.open(sent);
        }
    }

    #[cold]
    #[inline(never)]
    fn open(&mut self, sent: &Sent) {
        let room = if self.last.packed.len() == FULL { FULL } else { FEW };
        let block = Block::of(self.last.end(), sent, room);
        let mut before = std::mem::replace(&mut self.last, block);
        if before.packed.is_empty() {
            return;
        }
        before.packed.shrink_to_fit();
        // A ring that doubles would be half empty.
        if self.older.len() == self.older.capacity() {
            self.older.reserve_exact(2 + self.older.len() / 8);
        }
        self.older.push_back(before);
    }

    /// Adds one in front of number `at`.
    pub(super) fn insert(&mut self, at: usize, sent: &Sent) {
        if at >= self.len() {
            return self.push(sent);
        }
        let number = self.first + at as u64;
        let mut k = self.find(number);
        self.older.push_back(std::mem::take(&mut self.last));
        let begin = self.older[0].start;
        let block = &mut self.older[k];
        let within = (number - block.start) as usize;
        let rest: Vec<Sent> = (within..).map_while(|i| block.get(i)).collect();
        block.packed.truncate(within);
        if within == 0 {
            self.older.remove(k);
            k = k.wrapping_sub(1);
        }
        for s in [*sent].iter().chain(&rest) {
            if !self.older.get_mut(k).is_some_and(|block| block.push(s)) {
                k = k.wrapping_add(1);
                self.older.insert(k, Block::of(0, s, FEW));
            }
        }
        let mut start = begin;
        for block in &mut self.older {
            block.start = start;
            start = block.end();
        }
        self.last = self.older.pop_back().unwrap_or_default();
    }

    /// In which block a number lies; the last comes behind the older ones.
    #[inline(always)]
    fn find(&self, number: u64) -> usize {
        let Some(front) = self.older.front().filter(|_| number < self.last.start) else { return self.older.len() };
        // Nearly all are full.
        let guess = (number.saturating_sub(front.start) / FULL as u64) as usize;
        match self.older.get(guess) {
            Some(block) if block.start <= number && number < block.end() => guess,
            Some(_) | None => self.search(number),
        }
    }

    #[cold]
    #[inline(never)]
    fn search(&self, number: u64) -> usize {
        self.older.partition_point(|b| b.start <= number).saturating_sub(1)
    }

    #[inline]
    fn block(&self, k: usize) -> &Block {
        self.older.get(k).unwrap_or(&self.last)
    }

    #[inline]
    pub(super) fn get(&self, i: usize) -> Option<Sent> {
        let number = self.first + i as u64;
        let block = self.block(self.find(number));
        block.get((number - block.start) as usize)
    }

    /// When number `i` was sent, if it ends at `ack`: then all before it end below, and all behind it above.
    #[inline(always)]
    pub(super) fn sent_to(&self, i: usize, ack: u64) -> Option<i64> {
        let number = self.first + i as u64;
        let block = self.block(self.find(number));
        let p = block.packed.get((number - block.start) as usize)?;
        (block.seq + u64::from(p.end) == ack).then(|| block.at + i64::from(p.at))
    }

    /// How many from number `i` on end at `ack` or below, and when the last of these was sent.
    pub(super) fn pass(&self, i: usize, ack: u64) -> (usize, Option<i64>) {
        let number = self.first + i as u64;
        let mut k = self.find(number);
        let mut within = (number - self.block(k).start) as usize;
        let (mut count, mut last) = (0, None);
        loop {
            let block = self.block(k);
            let rest = block.packed.get(within..).unwrap_or_default();
            let passed = rest.iter().take_while(|p| block.seq + u64::from(p.end) <= ack);
            let before = count;
            for p in passed {
                count += 1;
                last = Some(block.at + i64::from(p.at));
            }
            if count - before < rest.len() || k >= self.older.len() {
                return (count, last);
            }
            (k, within) = (k + 1, 0);
        }
    }

    /// How many come before the first that is not `below`.
    pub(super) fn partition_point(&self, below: impl Fn(&Sent) -> bool) -> usize {
        let is_below = |block: &Block, i: usize| block.get(i).is_some_and(|s| below(&s));
        let block = if is_below(&self.last, 0) {
            &self.last
        } else {
            let k = self.older.partition_point(|block| is_below(block, 0));
            let Some(k) = k.checked_sub(1) else { return 0 };
            &self.older[k]
        };
        let (mut from, mut to) = (0, block.packed.len());
        while from < to {
            let middle = (from + to) / 2;
            if is_below(block, middle) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        (block.start + from as u64).saturating_sub(self.first) as usize
    }

    /// Those from number `i` on.
    pub(super) fn from(&self, i: usize) -> impl Iterator<Item = Sent> + '_ {
        let number = self.first + i as u64;
        let k = self.find(number);
        let blocks = self.older.iter().chain([&self.last]).skip(k);
        blocks.flat_map(move |block| {
            let within = number.saturating_sub(block.start) as usize;
            (within..).map_while(|i| block.get(i))
        })
    }

    /// Forgets the first `n`.
    #[inline(never)]
    pub(super) fn forget(&mut self, n: usize) {
        self.first += n.min(self.len()) as u64;
        while self.older.front().is_some_and(|block| block.end() <= self.first) {
            self.older.pop_front();
        }
        if self.older.capacity() > self.older.len() + self.older.len() / 2 + FEW {
            self.older.shrink_to(self.older.len() + 2);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Ring::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(seq: u64, frame: u64, order: u64) -> Sent {
        Sent { seq, at: -5 - ((frame as i64) << 40), frame, order, len: 1460, tsval: frame as u32 ^ 0xffff_0000 }
    }

    #[test]
    fn what_is_kept_in_16_bytes_comes_out_as_it_went_in() {
        assert_eq!(size_of::<Packed>(), 16);
        let (mut ring, mut model) = (Ring::default(), Vec::new());
        for i in 0..500u64 {
            // Every 70th leaves a hole, every 90th comes after a long time, and one in five has no place in the order of sending.
            let seq = (1 << 62) + (i + i / 70) * 1460;
            let at = i as i64 * 120_000 + (i as i64 / 90) * 7_000_000_000;
            let order = if i % 5 == 0 { 0 } else { (1 << 32) + 900 - i };
            let one = Sent { at, ..sent(seq, 7 + 3 * i, order) };
            ring.push(&one);
            model.push(one);
        }
        let late = sent(model[70].seq - 1460, 5000, (1 << 32) - 4000);
        ring.insert(70, &late);
        model.insert(70, late);
        assert_eq!(ring.from(0).collect::<Vec<_>>(), model);
        ring.forget(100);
        model.drain(..100);
        assert_eq!((ring.get(3), ring.len()), (model.get(3).copied(), 401));
        assert_eq!(ring.from(37).collect::<Vec<_>>(), model[37..]);
        for frame in [0, 300, 600, 900, 1600] {
            assert_eq!(ring.partition_point(|s| s.frame < frame), model.partition_point(|s| s.frame < frame));
        }
        for passed in [0, 1, 5, 100, 401] {
            let ack = model.get(passed).map_or(u64::MAX >> 1, |s| s.seq);
            let last = passed.checked_sub(1).map(|i| model[i].at);
            assert_eq!(ring.pass(0, ack), (passed, last));
        }
        assert_eq!((ring.get(401), ring.pass(401, u64::MAX >> 1)), (None, (0, None)));
        ring.clear();
        assert_eq!((ring.len(), ring.get(0)), (0, None));
    }

    #[test]
    fn copies_far_apart_or_in_any_order_are_those_of_a_list() {
        // A linear congruence stands in for chance.
        let mut state = 1u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut ring, mut model) = (Ring::default(), Vec::<Sent>::new());
        for i in 0..20_000u64 {
            let (wild, bits) = (draw(40) == 0, draw(32));
            let seq = model.last().map_or(1 << 62, Sent::end) + if draw(20) == 0 { 1 + 4 * draw(1 << 31) } else { 0 };
            let one = Sent {
                seq,
                at: if wild { -((draw(1 << 31) << 19) as i64) } else { i as i64 * 1000 },
                frame: i + if wild { draw(1 << 31) << 19 } else { 0 },
                order: draw(3) * ((1 << 32) + draw(40_000)),
                len: 1 + draw(1 << bits) as u32,
                tsval: draw(1 << 17) as u32,
            };
            let gap = (1..model.len()).rev().take(60).find(|k| model[k - 1].end() < model[*k].seq);
            match (draw(8), gap) {
                (0, Some(k)) => {
                    let (from, room) = (model[k - 1].end(), model[k].seq - model[k - 1].end());
                    let len = (1 + draw(room.min(1 << 31))) as u32;
                    let filler = Sent { seq: from + draw(room - u64::from(len) + 1), len, ..one };
                    ring.insert(k, &filler);
                    model.insert(k, filler);
                }
                _ => {
                    ring.push(&one);
                    model.push(one);
                }
            }
            if draw(50) == 0 {
                let n = draw(model.len() as u64 + 1).min(60) as usize;
                ring.forget(n);
                model.drain(..n);
            }
            let at = draw(model.len() as u64 + 2) as usize;
            assert_eq!((ring.len(), ring.get(at)), (model.len(), model.get(at).copied()), "after {i}");
            if i % 100 == 0 {
                assert_eq!(ring.from(at).collect::<Vec<_>>(), model.get(at..).unwrap_or_default());
            }
            let Some(edge) = model.get(at).map(|s| s.seq + draw(3) * u64::from(s.len)) else { continue };
            assert_eq!(ring.partition_point(|s| s.seq < edge), model.partition_point(|s| s.seq < edge));
            let from = draw(at as u64 + 1) as usize;
            let passed: Vec<_> = model[from..].iter().take_while(|s| s.end() <= edge).map(|s| s.at).collect();
            assert_eq!(ring.pass(from, edge), (passed.len(), passed.last().copied()));
        }
    }
}
