//! SACK blocks on the scoreboard: applying them, skipping known ones, and RFC 6675's `IsLost`.

use super::{Delivered, Marks, Scoreboard, Sent};
use crate::seq::Offset;
use crate::units::Bytes;

/// The state kept about SACK blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct SackState {
    /// End of the highest SACKed record, and the index after it.
    pub(super) top: Offset,
    top_index: u32,
    /// `IsLost` has judged everything below this index (its boundary only moves right).
    judged: u32,
    judged_any: bool,
    /// Blocks already applied: a receiver repeats them (RFC 2018 §4).
    seen: [(Offset, Offset); 4],
    seen_next: u8,
    /// Index ranges (first, count) touched by the last ACK's blocks.
    fresh: [(u32, u32); 4],
    fresh_count: u8,
}

impl SackState {
    /// Indices that the last ACK's blocks touched, each once even if blocks overlap.
    pub(super) fn fresh(&self) -> impl Iterator<Item = u32> + '_ {
        let ranges = &self.fresh[..usize::from(self.fresh_count)];
        ranges.iter().enumerate().flat_map(move |(k, &(from, n))| {
            let earlier = move |i: u32| ranges[..k].iter().any(|&(f, m)| i.wrapping_sub(f) < m);
            (0..n).map(move |i| from.wrapping_add(i)).filter(move |&i| !earlier(i))
        })
    }

    /// Whether the last ACK's blocks touched anything.
    #[inline]
    pub(super) fn has_fresh(&self) -> bool {
        self.fresh_count > 0
    }

    /// Nothing SACKed is outstanding: forgets the top.
    #[inline]
    pub(super) fn nothing_left(&mut self) {
        self.top = Offset(0);
        self.judged_any = false;
    }

    /// The records have new indices; the highest SACKed one is just before `top_index`.
    pub(super) fn moved(&mut self, top_index: u32) {
        (self.top_index, self.judged_any) = (top_index, false);
    }

    /// `IsLost` must judge every record again.
    pub(super) fn judge_anew(&mut self) {
        self.judged_any = false;
    }

    /// The part of a block that no earlier block covered, if any (a known part in the middle is included again).
    fn unseen(&self, (mut left, mut right): (Offset, Offset)) -> Option<(Offset, Offset)> {
        for &(l, r) in &self.seen {
            if l <= left {
                if right <= r {
                    return None;
                }
                left = left.max(r);
            } else if l < right && right <= r {
                right = l;
            }
        }
        Some((left, right))
    }

    /// Whether an earlier block covers all of this one.
    #[inline]
    fn knows(&self, block: (Offset, Offset)) -> bool {
        self.seen.iter().any(|&(l, r)| l <= block.0 && block.1 <= r)
    }

    /// Remembers a block in place of one that it covers, else in place of the oldest.
    fn remember(&mut self, block: (Offset, Offset)) {
        let covered = self.seen.iter().position(|&(l, r)| block.0 <= l && r <= block.1 && l < r);
        let place = covered.unwrap_or_else(|| {
            self.seen_next = (self.seen_next + 1) % 4;
            usize::from(self.seen_next)
        });
        self.seen[place] = block;
    }
}

impl Scoreboard {
    /// Forgets which records the previous ACK delivered; called before an ACK is read.
    #[inline]
    pub fn begin_ack(&mut self) {
        self.released = self.head;
        if self.sack.has_fresh() {
            self.forget_fresh();
        }
    }

    /// The start of the lowest segment that was sent once, was newly delivered by the last ACK, and ends below `fack`: it was
    /// overtaken.
    #[inline]
    pub fn lowest_overtaken(&self, fack: Offset) -> Option<Offset> {
        let sacked = &self.sack.fresh[..usize::from(self.sack.fresh_count)];
        let mut lowest = None;
        for &(from, n) in sacked {
            if let Some(at) = self.first_overtaken(from, n, fack, |s| s.marks.any(Marks::FRESH)) {
                lowest = Some(lowest.map_or(at, |l: Offset| l.min(at)));
            }
        }
        if self.released == self.head {
            return lowest;
        }
        let acked = self.head.wrapping_sub(self.released);
        self.first_overtaken(self.released, acked, fack, |s| !s.marks.any(Marks::SACKED)).or(lowest)
    }

    /// The same among the new records of the `n` from `from` on.
    #[inline]
    fn first_overtaken(&self, from: u32, n: u32, fack: Offset, is_new: impl Fn(&Sent) -> bool) -> Option<Offset> {
        let below = (0..n).map(|i| self.at(from.wrapping_add(i))).take_while(|s| s.end() < fack);
        below.filter(|s| s.sends == 1 && is_new(s)).map(|s| s.start).next()
    }

    fn forget_fresh(&mut self) {
        for k in 0..usize::from(self.sack.fresh_count) {
            let (from, n) = self.sack.fresh[k];
            for i in 0..n {
                let slot = self.slot(from.wrapping_add(i));
                self.ring[slot].marks.0 &= !Marks::FRESH;
            }
        }
        self.sack.fresh_count = 0;
    }

    /// Applies one SACK block above the cumulative ACK. Blocks beyond the data sent are ignored.
    #[inline]
    pub fn apply_sack(&mut self, block: (Offset, Offset), out: &mut Delivered) {
        // Most blocks are repeats.
        if !self.sack.knows(block) {
            self.apply_news(block, out);
        }
    }

    #[inline(never)]
    fn apply_news(&mut self, block: (Offset, Offset), out: &mut Delivered) {
        if self.is_empty() {
            return;
        }
        let block = (block.0.max(self.at(self.head).start), block.1);
        let end = self.at(self.tail.wrapping_sub(1)).end();
        if block.0 >= block.1 || block.1 > end {
            return;
        }
        let Some((left, right)) = self.sack.unseen(block) else { return };
        let on_top = self.sacked > 0 && left == self.sack.top;
        // A record that begins before the block is only partly covered and does not count.
        let from = match if on_top { Some(self.sack.top_index) } else { self.find(left) } {
            Some(i) if self.at(i).start < left => i.wrapping_add(1),
            Some(i) => i,
            None => return,
        };
        let mut i = from;
        while i != self.tail && self.at(i).end() <= right {
            self.mark_sacked(i, out);
            i = i.wrapping_add(1);
        }
        if i != from && usize::from(self.sack.fresh_count) < self.sack.fresh.len() {
            self.sack.fresh[usize::from(self.sack.fresh_count)] = (from, i.wrapping_sub(from));
            self.sack.fresh_count += 1;
        }
        // Only applied parts may be skipped next time: a partly covered segment may later be cut down to that part.
        if i != from {
            let (first, last) = (self.at(from).start, self.at(i.wrapping_sub(1)).end());
            let known = |applied, asked, reported| if applied == asked { reported } else { applied };
            self.sack.remember((known(first, left, block.0), known(last, right, block.1)));
        }
        self.settle_hole();
    }

    fn mark_sacked(&mut self, i: u32, out: &mut Delivered) {
        let s = *self.at(i);
        if s.marks.any(Marks::SACKED) {
            return;
        }
        let n = u64::from(s.len);
        if s.marks.0 == 0 {
            // Does the same as `edit`.
            let slot = self.slot(i);
            self.ring[slot].marks.0 = Marks::SACKED | Marks::FRESH;
            (self.pipe, self.sacked) = (self.pipe - n, self.sacked + n);
        } else {
            self.sack_marked(i);
        }
        (out.bytes, out.sacked) = (out.bytes + n, out.sacked + n);
        out.note(&s);
        if s.end() > self.sack.top {
            (self.sack.top, self.sack.top_index) = (s.end(), i.wrapping_add(1));
        }
    }

    #[inline(never)]
    fn sack_marked(&mut self, i: u32) {
        self.edit(i, |m| m.0 = (m.0 | Marks::SACKED | Marks::FRESH) & !(Marks::LOST | Marks::REWOUND));
    }

    /// Marks lost every segment that RFC 6675 §4 `IsLost` considers lost: `dupthresh` discontiguous SACKed runs above it, or more
    /// than `(dupthresh − 1) · mss` bytes SACKed above it. Returns the bytes newly marked.
    pub fn mark_is_lost(&mut self, dupthresh: u32, mss: u32) -> Bytes {
        self.mark_lost_above(dupthresh, u64::from(dupthresh.saturating_sub(1)) * u64::from(mss))
    }

    /// Marks lost every segment with `runs` discontiguous SACKed runs above it, or more than `enough` bytes. Returns the bytes
    /// newly marked.
    pub fn mark_lost_above(&mut self, runs: u32, enough: Bytes) -> Bytes {
        if self.sacked == 0 {
            return 0;
        }
        match self.is_lost_boundary(runs, enough) {
            Some(boundary) => self.mark_lost_below(boundary),
            None => 0,
        }
    }

    /// Marks lost every hole that has at least `segments` SACKed segments above it (Blanton & Allman's holes under an
    /// adaptive threshold, which counts segments, not bytes or runs). Returns the bytes newly marked.
    pub fn mark_holes_under(&mut self, segments: u32) -> Bytes {
        self.holes_end(segments).map_or(0, |end| self.mark_holes_below(end))
    }

    /// Where [`Scoreboard::mark_holes_under`] would stop: holes below this offset have that many SACKed segments above.
    pub fn holes_end(&self, segments: u32) -> Option<Offset> {
        let (mut i, mut above) = (self.sack.top_index, 0);
        while self.sacked > 0 && i != self.head {
            i = i.wrapping_sub(1);
            above += u32::from(self.at(i).marks.any(Marks::SACKED));
            if above >= segments {
                return Some(self.at(i).start);
            }
        }
        None
    }

    /// Marks lost every hole below `end`, if `end` is outstanding. Returns the bytes newly marked.
    pub fn mark_holes_below(&mut self, end: Offset) -> Bytes {
        match self.find(end) {
            Some(boundary) => self.mark_lost_below(boundary),
            None => 0,
        }
    }

    fn mark_lost_below(&mut self, boundary: u32) -> Bytes {
        let judged = self.sack.judged.wrapping_sub(self.head);
        let known = self.sack.judged_any && judged <= self.tail.wrapping_sub(self.head);
        let mut i = if known { self.sack.judged } else { self.head };
        let mut marked = 0;
        while boundary.wrapping_sub(self.head) > i.wrapping_sub(self.head) {
            // §4 NextSeg (1.a): a segment already resent by rule (3) is not to be resent.
            if !self.at(i).marks.any(Marks::SACKED | Marks::LOST) {
                marked += u64::from(self.at(i).len);
                self.edit(i, |m| m.0 |= Marks::LOST);
            }
            i = i.wrapping_add(1);
        }
        (self.sack.judged, self.sack.judged_any) = (i, true);
        marked
    }

    /// The lowest index above which enough is SACKed: everything below it that is not SACKed is lost.
    fn is_lost_boundary(&self, dupthresh: u32, enough: Bytes) -> Option<u32> {
        let (mut bytes, mut runs, mut in_run) = (0, 0, false);
        let mut i = self.sack.top_index;
        while i != self.head {
            i = i.wrapping_sub(1);
            let s = self.at(i);
            let sacked = s.marks.any(Marks::SACKED);
            if sacked {
                bytes += u64::from(s.len);
                runs += u32::from(!in_run);
                if bytes > enough || runs >= dupthresh {
                    return Some(i);
                }
            }
            in_run = sacked;
        }
        None
    }
}
