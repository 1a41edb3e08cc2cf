//! Which retransmissions were needless.
//!
//! A retransmission is needless when an earlier transmission of all its bytes was not lost: it has reached the receiver or
//! still will. That is decided by the fate of every copy, never by DSACKs. The verdict may come later than the
//! retransmission, when the last earlier copy has arrived or been dropped.
//!
//! Copies are told apart by their number (`sends`, 1 is the first), so a path may deliver them in any order. A number stays
//! at 255, so copies from the 255th on are taken as one; what was sent before them is still known. Packets that the network
//! made of one are together one copy: it is lost when all of them are.

use ackclock_sim::watch::Side;
use ackclock_tcp::segment::Segment;
use std::collections::VecDeque;
use std::ops::Range;

/// Follows every copy of every segment of a run.
#[derive(Clone, Debug, Default)]
pub struct Fates {
    /// Two streams a flow: what the sender sends, what the receiver sends.
    streams: Vec<[Stream; 2]>,
    settled: Vec<(u64, bool)>,
}

/// What is known about a segment at the moment when it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Not a retransmission.
    First,
    /// A retransmission whose case is clear.
    Known {
        /// Whether an earlier copy of all its bytes was not lost.
        needless: bool,
    },
    /// A retransmission while earlier copies are under way: the verdict comes out of [`Fates::settled`].
    Open,
}

/// One direction of one flow.
#[derive(Clone, Debug, Default)]
struct Stream {
    /// Consecutive pieces of sequence space, cut where any segment began or ended.
    pieces: VecDeque<Piece>,
    open: Vec<Open>,
    /// One for each time the network doubled a copy (its data and number): so many of its fates leave others to wait for.
    twins: Vec<(Range<u64>, u8)>,
    /// Everything before it is acknowledged at the sender.
    una: u64,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u64,
    end: u64,
    under_way: Copies,
    /// The lowest number of a copy that arrived; 0 while none has.
    arrived: u8,
}

/// A set of copies: a bit for each number.
#[derive(Clone, Copy, Debug, Default)]
struct Copies([u64; 4]);

/// A piece of a retransmission without a verdict.
#[derive(Clone, Copy, Debug)]
struct Open {
    token: u64,
    start: u64,
    /// Its number.
    copy: u8,
}

impl Fates {
    /// For a run of `flows` flows.
    pub fn new(flows: u32) -> Self {
        let mut f = Fates::default();
        f.streams.resize_with(flows as usize, Default::default);
        f
    }

    /// A segment was sent; `token` comes back with the verdict if that is open.
    pub fn on_sent(&mut self, flow: u32, from: Side, seg: &Segment, sends: u8, token: u64) -> Verdict {
        // SYNs are not numbered.
        if seg.seq_len() == 0 || sends == 0 {
            return Verdict::First;
        }
        self.stream(flow, from).send(seg.seq.0..seg.end().0, sends, token)
    }

    /// The `sends`-th copy of a segment was dropped (`arrived` false) or reached the host `to`.
    pub fn on_fate(&mut self, flow: u32, to: Side, seg: &Segment, sends: u8, arrived: bool) {
        if seg.seq_len() > 0 {
            let i = self.reach(flow);
            self.streams[i][index(peer(to))].fate(seg.seq.0..seg.end().0, sends, arrived, &mut self.settled);
        }
        if arrived && seg.has(Segment::ACK) {
            self.stream(flow, to).acked(seg.ack.0);
        }
    }

    /// The network doubled the `sends`-th copy of a segment on its way to the host `to`.
    pub fn on_doubled(&mut self, flow: u32, to: Side, seg: &Segment, sends: u8) {
        if seg.seq_len() > 0 {
            self.stream(flow, peer(to)).twins.push((seg.seq.0..seg.end().0, sends));
        }
    }

    /// The end of the run: a copy that is still under way was dropped nowhere.
    pub fn finish(&mut self) {
        for s in self.streams.iter_mut().flatten() {
            s.finish(&mut self.settled);
        }
    }

    /// Whether any verdicts have come in.
    #[inline]
    pub fn has_settled(&self) -> bool {
        !self.settled.is_empty()
    }

    /// Takes the verdicts that have come in: token, and whether the retransmission was needless.
    pub fn settled(&mut self) -> std::vec::Drain<'_, (u64, bool)> {
        self.settled.drain(..)
    }

    #[inline]
    fn reach(&mut self, flow: u32) -> usize {
        let i = flow as usize;
        if i >= self.streams.len() {
            self.streams.resize_with(i + 1, Default::default);
        }
        i
    }

    #[inline]
    fn stream(&mut self, flow: u32, from: Side) -> &mut Stream {
        let i = self.reach(flow);
        &mut self.streams[i][index(from)]
    }
}

fn index(side: Side) -> usize {
    match side {
        Side::Sender => 0,
        Side::Receiver => 1,
    }
}

fn peer(side: Side) -> Side {
    match side {
        Side::Sender => Side::Receiver,
        Side::Receiver => Side::Sender,
    }
}

impl Stream {
    fn send(&mut self, range: Range<u64>, sends: u8, token: u64) -> Verdict {
        let again = sends > 1;
        // What is acknowledged has arrived.
        let Range { start, end } = range;
        let start = start.max(self.una);
        let (mut needed, mut open) = (false, false);
        for i in self.tile(start..end) {
            let p = &mut self.pieces[i];
            p.under_way.add(sends);
            if again {
                match p.judge(sends) {
                    Some(needless) => needed |= !needless,
                    None => {
                        open = true;
                        self.open.push(Open { token, start: p.start, copy: sends });
                    }
                }
            }
        }
        match (again, needed, open) {
            (false, ..) => Verdict::First,
            (true, false, true) => Verdict::Open,
            (true, needed, _) => {
                if open {
                    self.open.retain(|o| o.token != token);
                }
                Verdict::Known { needless: !needed }
            }
        }
    }

    fn fate(&mut self, range: Range<u64>, sends: u8, arrived: bool, settled: &mut Vec<(u64, bool)>) {
        if let Some(i) = self.twins.iter().position(|t| t.0 == range && t.1 == sends) {
            self.twins.swap_remove(i);
            if !arrived {
                return;
            }
        }
        let mut i = self.first_from(range.start);
        while let Some(p) = self.pieces.get_mut(i).filter(|p| p.end <= range.end) {
            p.under_way.remove(sends);
            if arrived && (p.arrived == 0 || sends < p.arrived) {
                p.arrived = sends;
            }
            if !self.open.is_empty() {
                let p = *p;
                self.judge_open(&p, settled);
            }
            i += 1;
        }
        self.prune();
    }

    /// The first piece that begins at `start` or later.
    #[inline]
    fn first_from(&self, start: u64) -> usize {
        // Most pieces are as long as the first one.
        if let Some(first) = self.pieces.front().filter(|p| p.start <= start) {
            let guess = ((start - first.start) / (first.end - first.start)) as usize;
            if self.pieces.get(guess).is_some_and(|p| p.start == start) {
                return guess;
            }
        }
        self.pieces.partition_point(|p| p.start < start)
    }

    fn acked(&mut self, ack: u64) {
        self.una = self.una.max(ack);
        self.prune();
    }

    /// Forgets what is acknowledged and has no verdict to wait for: whatever is sent of it again is needless.
    fn prune(&mut self) {
        while let Some(p) = self.pieces.front().filter(|p| p.end <= self.una) {
            if self.open.iter().any(|o| o.start == p.start) {
                break;
            }
            self.pieces.pop_front();
        }
    }

    fn judge_open(&mut self, p: &Piece, settled: &mut Vec<(u64, bool)>) {
        let mut i = 0;
        while i < self.open.len() {
            let o = self.open[i];
            let verdict = if o.start == p.start { p.judge(o.copy) } else { None };
            let Some(needless) = verdict else {
                i += 1;
                continue;
            };
            self.open.swap_remove(i);
            if !needless {
                self.open.retain(|x| x.token != o.token);
                i = 0;
            } else if self.open.iter().any(|x| x.token == o.token) {
                continue;
            }
            settled.push((o.token, needless));
        }
    }

    fn finish(&mut self, settled: &mut Vec<(u64, bool)>) {
        let mut tokens: Vec<u64> = self.open.drain(..).map(|o| o.token).collect();
        tokens.sort_unstable();
        tokens.dedup();
        settled.extend(tokens.into_iter().map(|t| (t, true)));
    }

    /// Cuts and adds pieces until some of them cover exactly `range`; returns which.
    fn tile(&mut self, range: Range<u64>) -> Range<usize> {
        let Range { start, end } = range;
        if start >= end {
            return 0..0;
        }
        if self.pieces.back().is_none_or(|p| p.end <= start) {
            self.pieces.push_back(Piece::new(start, end));
            return self.pieces.len() - 1..self.pieces.len();
        }
        self.cut(start);
        self.cut(end);
        let first = self.pieces.partition_point(|p| p.end <= start);
        let (mut i, mut at) = (first, start);
        while at < end {
            let next = self.pieces.get(i).map_or(end, |p| p.start.min(end));
            if at < next {
                self.pieces.insert(i, Piece::new(at, next));
            }
            at = self.pieces[i].end;
            i += 1;
        }
        first..i
    }

    fn cut(&mut self, at: u64) {
        let i = self.pieces.partition_point(|p| p.end <= at);
        let Some(p) = self.pieces.get_mut(i).filter(|p| p.start < at) else { return };
        let right = Piece { start: at, ..*p };
        let left = p.start;
        p.end = at;
        self.pieces.insert(i + 1, right);
        for k in 0..self.open.len() {
            if self.open[k].start == left {
                self.open.push(Open { start: at, ..self.open[k] });
            }
        }
    }
}

impl Piece {
    fn new(start: u64, end: u64) -> Self {
        Piece { start, end, under_way: Copies::default(), arrived: 0 }
    }

    /// Whether `copy` was needless; `None` while that depends on a copy under way.
    fn judge(&self, copy: u8) -> Option<bool> {
        if self.arrived != 0 && self.arrived < copy {
            Some(true)
        } else if self.under_way.any_before(copy) {
            None
        } else {
            Some(false)
        }
    }
}

impl Copies {
    fn add(&mut self, copy: u8) {
        self.0[word(copy)] |= bit(copy);
    }

    fn remove(&mut self, copy: u8) {
        self.0[word(copy)] &= !bit(copy);
    }

    fn any_before(&self, copy: u8) -> bool {
        self.0[..word(copy)].iter().any(|w| *w != 0) || self.0[word(copy)] & (bit(copy) - 1) != 0
    }
}

fn word(copy: u8) -> usize {
    usize::from(copy / 64)
}

fn bit(copy: u8) -> u64 {
    1 << (copy % 64)
}
