//! Which retransmissions were needless.
//!
//! A retransmission is needless when an earlier transmission of all its bytes was not lost: it has reached the receiver or
//! still will. That is decided by the fate of every copy, never by DSACKs. The verdict may come later than the
//! retransmission, when the last earlier copy has arrived or been dropped.
//!
//! Listeners see which data a dropped or delivered packet carried, not which copy it was. Where several copies are under
//! way at once, a fate is taken to be the oldest's, as on a path that keeps order. Copies that the network made are not
//! counted.

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
    /// Everything before it is acknowledged at the sender.
    una: u64,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u64,
    end: u64,
    /// Copies sent.
    sent: u32,
    /// Copies whose fate is known, oldest first.
    fates: u32,
    /// The first copy that arrived; 0 while none has.
    arrived: u32,
}

/// A piece of a retransmission without a verdict.
#[derive(Clone, Copy, Debug)]
struct Open {
    token: u64,
    start: u64,
    /// Which copy of the piece it is: 1 is the first.
    copy: u32,
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
        if seg.seq_len() == 0 {
            return Verdict::First;
        }
        self.stream(flow, from).send(seg.seq.0..seg.end().0, sends, token)
    }

    /// A segment was dropped (`arrived` false) or reached the host `to`.
    pub fn on_fate(&mut self, flow: u32, to: Side, seg: &Segment, arrived: bool) {
        if seg.seq_len() > 0 {
            let from = if to == Side::Sender { Side::Receiver } else { Side::Sender };
            let i = self.reach(flow);
            self.streams[i][index(from)].fate(seg.seq.0..seg.end().0, arrived, &mut self.settled);
        }
        if arrived && seg.has(Segment::ACK) {
            self.stream(flow, to).acked(seg.ack.0);
        }
    }

    /// The end of the run: a copy that is still under way was dropped nowhere.
    pub fn finish(&mut self) {
        for s in self.streams.iter_mut().flatten() {
            s.finish(&mut self.settled);
        }
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

impl Stream {
    fn send(&mut self, range: Range<u64>, sends: u8, token: u64) -> Verdict {
        let again = sends > 1;
        // What is acknowledged has arrived.
        let Range { start, end } = range;
        let start = start.max(self.una);
        let (mut needed, mut open) = (false, false);
        for i in self.tile(start..end) {
            let p = &mut self.pieces[i];
            p.sent += 1;
            if again {
                match p.judge(p.sent) {
                    Some(needless) => needed |= !needless,
                    None => {
                        open = true;
                        self.open.push(Open { token, start: p.start, copy: p.sent });
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

    fn fate(&mut self, range: Range<u64>, arrived: bool, settled: &mut Vec<(u64, bool)>) {
        let mut i = self.pieces.partition_point(|p| p.start < range.start);
        while let Some(p) = self.pieces.get_mut(i).filter(|p| p.end <= range.end) {
            // More fates than copies: the network made one of them.
            let made = p.fates == p.sent;
            p.fates += u32::from(!made);
            if arrived && p.arrived == 0 {
                p.arrived = p.fates;
            }
            if !made && !self.open.is_empty() {
                let p = *p;
                self.judge_open(&p, settled);
            }
            i += 1;
        }
        self.prune();
    }

    fn acked(&mut self, ack: u64) {
        self.una = self.una.max(ack);
        self.prune();
    }

    /// Forgets what is acknowledged and has no copy under way: nobody will send it again or wait for it.
    fn prune(&mut self) {
        while self.pieces.front().is_some_and(|p| p.end <= self.una && p.fates == p.sent) {
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
        Piece { start, end, sent: 0, fates: 0, arrived: 0 }
    }

    /// Whether `copy` was needless; `None` while that depends on a copy under way.
    fn judge(&self, copy: u32) -> Option<bool> {
        if self.arrived != 0 && self.arrived < copy {
            Some(true)
        } else if self.fates + 1 >= copy {
            Some(false)
        } else {
            None
        }
    }
}
