//! The receiving end: the data that it holds, its honest answer, and its lies.

use crate::rng::Rng;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Time;

/// A peer's answer to an arriving segment: none, one or many ACKs.
pub(crate) type Lie = fn(&mut Peer, &Segment) -> Vec<Segment>;

pub(crate) struct Peer {
    pub(crate) now: Time,
    /// Everything below has arrived, or the peer claims so.
    pub(crate) next: u64,
    /// Ranges held above, ascending and disjoint.
    pub(crate) held: Vec<(u64, u64)>,
    /// End of the highest segment that ever arrived.
    pub(crate) max: u64,
    pub(crate) wnd: u64,
    /// The window's right edge; it never moves left while the peer is honest.
    pub(crate) edge: u64,
    /// Segments that arrived.
    pub(crate) arrivals: u64,
    /// The timestamp to echo (RFC 7323 §4.3: from the segment that moved `next`).
    pub(crate) echo: u32,
    pub(crate) rng: Rng,
}

impl Peer {
    pub(crate) fn new(wnd: u64, seed: u64) -> Peer {
        let (held, rng) = (vec![], Rng(seed ^ 0xbeef));
        Peer { now: Time::ZERO, next: 1, held, max: 1, wnd, edge: 1 + wnd, arrivals: 0, echo: 0, rng }
    }

    /// Accepts a segment; returns the part of it that was already held.
    pub(crate) fn take(&mut self, seg: &Segment) -> Option<(u64, u64)> {
        let (left, right) = (seg.seq.0, seg.end().0);
        self.max = self.max.max(right);
        if left <= self.next {
            self.echo = seg.tsval;
        }
        let known = |r: &(u64, u64)| r.0 <= left && right <= r.1;
        if right <= self.next || self.held.iter().any(known) {
            return Some((left, right));
        }
        self.held.push((left, right));
        self.settle();
        None
    }

    /// Joins ranges that touch, and advances over data in order.
    pub(crate) fn settle(&mut self) {
        self.held.sort_unstable();
        let mut apart: Vec<(u64, u64)> = vec![];
        for (l, r) in std::mem::take(&mut self.held) {
            match apart.last_mut() {
                _ if l <= self.next => self.next = self.next.max(r),
                Some(last) if l <= last.1 => last.1 = last.1.max(r),
                _ => apart.push((l, r)),
            }
        }
        self.held = apart;
    }

    /// A bare ACK of everything below `to`.
    pub(crate) fn ack_of(&mut self, to: u64) -> Segment {
        self.edge = self.edge.max(to.min(self.next) + self.wnd);
        let wnd = u32::try_from(self.edge.saturating_sub(to)).unwrap_or(u32::MAX);
        let (seq, ack, flags, opts) = (Offset::DATA, Offset(to), Segment::ACK, Segment::TIMESTAMPS);
        let tsval = (self.now.0 / 1_000_000) as u32;
        Segment { seq, ack, wnd, flags, opts, tsval, tsecr: self.echo, ..Segment::EMPTY }
    }

    /// The honest ACK: a duplicate (RFC 2883), then the held ranges (RFC 2018 §4, lowest first).
    pub(crate) fn truth(&mut self, doubled: Option<(u64, u64)>) -> Segment {
        let mut seg = self.ack_of(self.next);
        for (l, r) in doubled.into_iter().chain(self.held.iter().copied()) {
            seg.push_sack(Offset(l), Offset(r));
        }
        seg
    }

    /// The answer of an honest peer.
    pub(crate) fn honest(&mut self, seg: &Segment) -> Vec<Segment> {
        let doubled = self.take(seg);
        vec![self.truth(doubled)]
    }
}
