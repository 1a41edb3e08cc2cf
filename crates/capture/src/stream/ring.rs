//! First copies in the order of their numbers, 16 bytes each: data in flight needs most of a connection's memory.
//!
//! Idea: copies are kept in blocks. Within a block each copy begins where the previous one ends, and times, frames, places in
//! the order of transmission and timestamps are kept as distances from those of its first copy. A copy that does not fit begins
//! another block.

use super::Sent;
use ackclock_sim::fetch::fetch;
use std::collections::VecDeque;

/// Copies in a block.
const FULL: usize = 32;
/// Memory is prefetched this many copies ahead of the one that is acknowledged.
const AHEAD: usize = 8;
/// A block begins with room for this many segments, unless the previous one was full.
const FEW: usize = 4;
/// The largest distance by which places in the order of transmission and timestamps may precede those of the first copy.
const BEFORE: u16 = 1 << 15;

#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Ring {
    /// The block to which copies are added.
    last: Block,
    /// The end of its last copy.
    edge: u64,
    /// The number of the first copy, counted from the first one ever.
    first: u64,
    older: VecDeque<Block>,
    /// The number of the first copy in the older blocks; if there are none, in the last block.
    begin: u64,
    /// The number of the copy last found by [`Ring::reaching`].
    found: u64,
    /// The memory of a block that was forgotten, for the next one.
    spare: Vec<Packed>,
}

#[derive(Clone, Debug, Default)]
#[repr(C)]
struct Block {
    packed: Vec<Packed>,
    /// The origin of the distances.
    seq: u64,
    at: i64,
    frame: u64,
    order: u64,
    tsval: u32,
    /// The number of its first copy.
    start: u64,
}

#[derive(Clone, Copy, Debug)]
struct Packed {
    at: u32,
    /// The end of its last sequence number, as a distance.
    end: u32,
    frame: u32,
    /// 0 if unknown.
    order: u16,
    tsval: u16,
}

impl Block {
    /// A new block that begins with this copy, in empty memory.
    fn of(start: u64, s: &Sent, memory: Vec<Packed>) -> Block {
        let mut block = Block {
            start,
            seq: s.seq,
            at: s.at,
            frame: s.frame,
            order: s.order.saturating_sub(BEFORE.into()),
            tsval: s.tsval.wrapping_sub(BEFORE.into()),
            packed: memory,
        };
        block.packed.extend(block.pack(s));
        block
    }

    /// The number after its last copy's.
    #[inline]
    fn end(&self) -> u64 {
        self.start + self.packed.len() as u64
    }

    /// The end of its last copy.
    fn edge(&self) -> Option<u64> {
        self.packed.last().map(|p| self.seq + u64::from(p.end))
    }

    /// Appends a copy that begins where the last one ends, if it fits.
    #[inline(always)]
    fn push(&mut self, s: &Sent) -> bool {
        let Some(packed) = self.pack(s).filter(|_| self.packed.len() < FULL) else { return false };
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

    /// Appends a copy.
    #[inline(always)]
    pub(super) fn push(&mut self, sent: &Sent) {
        // The last copy itself may have left the processor's cache.
        let follows = self.edge == sent.seq && !self.last.packed.is_empty();
        if !(follows && self.last.push(sent)) {
            self.open(*sent);
        }
        self.edge = sent.end();
    }

    #[cold]
    #[inline(never)]
    fn open(&mut self, sent: Sent) {
        let memory = match self.last.packed.len() {
            FULL if self.spare.capacity() > 0 => std::mem::take(&mut self.spare),
            FULL => Vec::with_capacity(FULL),
            _ => Vec::with_capacity(FEW),
        };
        let block = Block::of(self.last.end(), &sent, memory);
        let mut before = std::mem::replace(&mut self.last, block);
        if before.packed.is_empty() {
            return;
        }
        before.packed.shrink_to_fit();
        // A ring that doubles its room would be half empty.
        if self.older.len() == self.older.capacity() {
            self.older.reserve_exact(2 + self.older.len() / 8);
        }
        self.older.push_back(before);
        self.note_begin();
    }

    fn note_begin(&mut self) {
        self.begin = self.older.front().unwrap_or(&self.last).start;
    }

    /// Inserts a copy before number `at`.
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
            if !self.older.get_mut(k).is_some_and(|block| block.edge() == Some(s.seq) && block.push(s)) {
                k = k.wrapping_add(1);
                self.older.insert(k, Block::of(0, s, Vec::with_capacity(FEW)));
            }
        }
        let mut start = begin;
        for block in &mut self.older {
            block.start = start;
            start = block.end();
        }
        self.last = self.older.pop_back().unwrap_or_default();
        self.edge = self.last.edge().unwrap_or(0);
        self.note_begin();
    }

    /// The block that contains a number; the last block follows the older ones.
    #[inline(always)]
    fn find(&self, number: u64) -> usize {
        if number >= self.last.start {
            return self.older.len();
        }
        let guess = self.guess(number);
        match self.older.get(guess) {
            Some(block) if block.start <= number && number < block.end() => guess,
            Some(_) | None => self.search(number),
        }
    }

    /// The older block that contains a number if all are full, as nearly all are.
    #[inline(always)]
    fn guess(&self, number: u64) -> usize {
        (number.saturating_sub(self.begin) / FULL as u64) as usize
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

    /// When number `i` was sent, if it is found immediately and ends at `ack`: then all before it end below, and all after it
    /// above.
    #[inline(always)]
    pub(super) fn sent_to(&self, i: usize, ack: u64) -> Option<i64> {
        let number = self.first + i as u64;
        let block = if number >= self.last.start { &self.last } else { self.older.get(self.guess(number))? };
        let within = number.wrapping_sub(block.start) as usize;
        let p = block.packed.get(within)?;
        // A copy sent a round trip ago has long left the processor's cache.
        fetch(block.packed.as_ptr().wrapping_add(within + AHEAD).cast());
        (block.seq + u64::from(p.end) == ack).then(|| block.at + i64::from(p.at))
    }

    /// The number of copies from number `i` on that end at or below `ack`, and when the last of them was sent.
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

    /// The number of copies before the first that is not `below`.
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

    /// The first copy that ends at or after `edge`. It usually follows the last result, so this is tried first.
    pub(super) fn reaching(&mut self, edge: u64) -> Option<Sent> {
        let block = self.block(self.find(self.found));
        let within = self.found.wrapping_sub(block.start) as usize;
        if let Some([last, next]) = block.packed.get(within..).and_then(|rest| rest.first_chunk())
            && block.seq + u64::from(last.end) < edge
            && edge <= block.seq + u64::from(next.end)
        {
            let sent = block.get(within + 1);
            self.found += 1;
            return sent;
        }
        // The last block that begins below `edge`: all copies before it end below, and all behind it end above.
        let k = match self.older.partition_point(|block| block.seq < edge) {
            all if all == self.older.len() && self.last.seq < edge => all,
            below => below.saturating_sub(1),
        };
        let block = self.block(k);
        let below = block.packed.partition_point(|p| block.seq + u64::from(p.end) < edge);
        self.found = (block.start + below as u64).max(self.first);
        self.get((self.found - self.first) as usize)
    }

    /// The copies from number `i` on.
    pub(super) fn from(&self, i: usize) -> impl Iterator<Item = Sent> + '_ {
        let number = self.first + i as u64;
        let k = self.find(number);
        let blocks = self.older.iter().chain([&self.last]).skip(k);
        blocks.flat_map(move |block| {
            let within = number.saturating_sub(block.start) as usize;
            (within..).map_while(|i| block.get(i))
        })
    }

    /// Forgets the first `n` copies.
    #[inline(never)]
    pub(super) fn forget(&mut self, n: usize) {
        self.first += n.min(self.len()) as u64;
        while self.older.front().is_some_and(|block| block.end() <= self.first) {
            if let Some(block) = self.older.pop_front().filter(|block| block.packed.len() == FULL) {
                self.spare = block.packed;
                self.spare.clear();
            }
        }
        self.note_begin();
        if self.older.capacity() > self.older.len() + self.older.len() / 4 + FEW {
            self.older.shrink_to(self.older.len() + 2);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Ring::default();
    }
}

#[cfg(test)]
mod tests;
