//! One direction of one flow: the copies of each byte that were sent, and their fates.

use super::Standing;
use ackclock_sim::fate::Verdict;
use ackclock_tcp::seq::Offset;
use std::collections::VecDeque;
use std::ops::Range;

/// One direction of one flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    /// Consecutive pieces of sequence space, split where any segment began or ended.
    pieces: VecDeque<Piece>,
    open: Vec<Open>,
    /// One entry for each time that the network duplicated a copy (its data and number). For each, one more fate must be
    /// awaited.
    twins: Vec<(Range<u64>, u8)>,
    /// Everything before it is acknowledged at the sender.
    una: u64,
    /// The position of the piece behind the last one that changed, unless others were inserted: usually the next one to change.
    next: usize,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u64,
    end: u64,
    under_way: Copies,
    /// The lowest number of a copy that the receiver took; 0 if it took none.
    taken: u8,
    /// The lowest number of a copy that it threw away; 0 if there is none.
    refused: u8,
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
    /// Whether another piece of the retransmission is known to be refused.
    refused: bool,
}

impl Stream {
    pub(super) fn send(&mut self, range: Range<u64>, sends: u8, token: u64) -> Standing {
        let again = sends > 1;
        // Acknowledged data has been taken.
        let Range { start, end } = range;
        let start = start.max(self.una);
        let (mut worst, mut open) = (Verdict::Needless, false);
        for i in self.tile(start..end) {
            let p = &mut self.pieces[i];
            p.under_way.add(sends);
            if again {
                match p.judge(sends) {
                    Some(verdict) => worst = worst.max(verdict),
                    None => {
                        open = true;
                        self.open.push(Open { token, start: p.start, copy: sends, refused: false });
                    }
                }
            }
        }
        if !again {
            return Standing::First;
        }
        if open {
            self.heard(token, worst);
        }
        if open && worst != Verdict::Needed {
            Standing::Open
        } else {
            Standing::Known(worst)
        }
    }

    /// One piece of the retransmission `token` has this verdict; others may have none yet.
    #[cold]
    fn heard(&mut self, token: u64, verdict: Verdict) {
        match verdict {
            Verdict::Needed => self.open.retain(|o| o.token != token),
            Verdict::Refused => self.open.iter_mut().filter(|o| o.token == token).for_each(|o| o.refused = true),
            Verdict::Needless => {}
        }
    }

    pub(super) fn doubled(&mut self, range: Range<u64>, sends: u8) {
        self.twins.push((range, sends));
    }

    /// Whether other packets of the same copy are still in flight.
    fn has_twin(&mut self, range: &Range<u64>, sends: u8) -> bool {
        let twin = self.twins.iter().position(|t| t.0 == *range && t.1 == sends);
        twin.map(|i| self.twins.swap_remove(i)).is_some()
    }

    pub(super) fn dropped(&mut self, range: Range<u64>, sends: u8, settled: &mut Vec<(u64, Verdict)>) {
        if !self.has_twin(&range, sends) {
            self.each(range, settled, |p| p.under_way.remove(sends));
        }
    }

    pub(super) fn arrived(
        &mut self,
        range: Range<u64>,
        sends: u8,
        missing: &[(Offset, Offset)],
        settled: &mut Vec<(u64, Verdict)>,
    ) {
        let twin = self.has_twin(&range, sends);
        for (left, right) in missing {
            self.cut(left.0);
            self.cut(right.0);
        }
        self.each(range, settled, |p| {
            let taken = !missing.iter().any(|(left, right)| left.0 <= p.start && p.start < right.0);
            if taken || !twin {
                p.under_way.remove(sends);
            }
            let lowest = if taken { &mut p.taken } else { &mut p.refused };
            if *lowest == 0 || sends < *lowest {
                *lowest = sends;
            }
        });
    }

    /// Changes the pieces of a segment, and derives verdicts on open retransmissions.
    fn each(&mut self, range: Range<u64>, settled: &mut Vec<(u64, Verdict)>, change: impl Fn(&mut Piece)) {
        let mut i = self.first_from(range.start);
        while let Some(p) = self.pieces.get_mut(i).filter(|p| p.end <= range.end) {
            change(p);
            if !self.open.is_empty() {
                let p = *p;
                self.judge_open(&p, settled);
            }
            i += 1;
        }
        self.next = i;
        self.prune();
    }

    /// The first piece that begins at or after `start`.
    fn first_from(&self, start: u64) -> usize {
        if self.pieces.get(self.next).is_some_and(|p| p.start == start) {
            return self.next;
        }
        self.pieces.partition_point(|p| p.start < start)
    }

    pub(super) fn acked(&mut self, ack: u64) {
        self.una = self.una.max(ack);
        self.prune();
    }

    /// Forgets acknowledged pieces without open verdicts: any further copy of them is needless.
    fn prune(&mut self) {
        while let Some(p) = self.pieces.front().filter(|p| p.end <= self.una) {
            if self.open.iter().any(|o| o.start == p.start) {
                break;
            }
            self.pieces.pop_front();
            self.next = self.next.saturating_sub(1);
        }
    }

    fn judge_open(&mut self, p: &Piece, settled: &mut Vec<(u64, Verdict)>) {
        let mut i = 0;
        while i < self.open.len() {
            let o = self.open[i];
            let Some(verdict) = p.judge(o.copy).filter(|_| o.start == p.start) else {
                i += 1;
                continue;
            };
            self.open.swap_remove(i);
            self.heard(o.token, verdict);
            if verdict == Verdict::Needed {
                i = 0;
            } else if self.open.iter().any(|x| x.token == o.token) {
                continue;
            }
            settled.push((o.token, if o.refused { verdict.max(Verdict::Refused) } else { verdict }));
        }
    }

    pub(super) fn finish(&mut self, settled: &mut Vec<(u64, Verdict)>) {
        let mut last: Vec<(u64, bool)> = self.open.drain(..).map(|o| (o.token, o.refused)).collect();
        last.sort_unstable();
        last.dedup();
        let verdict = |refused| if refused { Verdict::Refused } else { Verdict::Needless };
        settled.extend(last.into_iter().map(|(token, refused)| (token, verdict(refused))));
    }

    /// Splits and adds pieces until some of them cover exactly `range`; returns their positions.
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
        Piece { start, end, under_way: Copies::default(), taken: 0, refused: 0 }
    }

    /// The verdict on `copy`; `None` while it depends on a copy in flight.
    fn judge(&self, copy: u8) -> Option<Verdict> {
        let before = |lowest: u8| lowest != 0 && lowest < copy;
        if before(self.taken) {
            Some(Verdict::Needless)
        } else if self.under_way.any_before(copy) {
            None
        } else if before(self.refused) {
            Some(Verdict::Refused)
        } else {
            Some(Verdict::Needed)
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
