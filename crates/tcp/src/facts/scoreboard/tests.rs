//! The scoreboard against a naive one: a list of records, with every number counted afresh and SACKed bytes as a bit
//! vector.

mod every;

use super::send_order::SendOrder;
use super::*;
use crate::facts::ack::AckEvent;
use crate::time::Nanos;
use proptest::prelude::*;

const MSS: u32 = 4;
const DUPTHRESH: u32 = 3;

/// `n` segments of four bytes from offset 1 on, sent at times 1, 2, 3 …
fn sent(n: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    for i in 0..n {
        board.push(Offset(1 + 4 * i), MSS, Time(1 + i), 1.0, false);
    }
    board
}

/// One ACK with its SACK blocks.
fn ack(board: &mut Scoreboard, ack: u64, blocks: &[(u64, u64)]) -> Delivered {
    let mut d = Delivered::default();
    board.begin_ack();
    board.acknowledge(Offset(ack), &mut d);
    blocks.iter().for_each(|b| board.apply_sack((Offset(b.0), Offset(b.1)), &mut d));
    board.check();
    d
}

#[test]
fn an_echo_tells_copies_apart_only_of_data_that_the_ack_covers() {
    // RFC 8985 §6.2 step 2 with RFC 7323 §4.3: a receiver echoes the segment that moved its cumulative point.
    let ms = |n: u64| Time(n * 1_000_000);
    for (covers, echo, believed) in
        [(true, Some(0), false), (true, Some(300), true), (true, None, true), (false, Some(0), true)]
    {
        let mut board = Scoreboard::default();
        (0..2).for_each(|i| _ = board.push(Offset(1 + 4 * i), MSS, ms(0), 1.0, false));
        let resent = if covers { 1 } else { 5 };
        board.resend(Offset(resent), ms(300), 1.0);
        let (cumulative, blocks) = if covers { (5, vec![]) } else { (1, vec![(5, 9)]) };
        let event = ack(&mut board, cumulative, &blocks).ack_event(Offset(1), Offset(cumulative), ms(450));
        let event = AckEvent { tsecr: echo, ..event };
        let found = board.newest_delivered(&event, Some(Nanos(100_000_000)), ms(450));
        assert_eq!(found.is_some_and(|n| n.at == ms(300)), believed, "covers {covers}, echo {echo:?}");
        let sooner = board.newest_delivered(&event, Some(Nanos(200_000_000)), ms(450));
        assert_eq!(sooner, None, "faster than a round trip");
    }
}

#[test]
fn what_overlapping_blocks_report_is_newly_delivered_once() {
    let mut board = sent(6);
    ack(&mut board, 1, &[(9, 17), (5, 21)]);
    let newly: Vec<_> = board.newly().map(|s| s.start.0).collect();
    assert_eq!(newly, [9, 13, 5, 17]);
}

#[test]
fn after_a_rewind_that_keeps_sacks_the_first_hole_is_not_sacked() {
    let mut board = sent(4);
    ack(&mut board, 1, &[(1, 5), (9, 13)]);
    board.rewind();
    assert_eq!(board.first_hole().map(|s| s.start), Some(Offset(5)));
}

#[test]
fn a_block_that_reported_only_part_of_a_segment_is_read_again() {
    let mut board = sent(4);
    assert_eq!(ack(&mut board, 1, &[(7, 13)]).sacked, 4);
    assert_eq!(ack(&mut board, 1, &[(5, 13)]).sacked, 4, "the rest of the segment came");
    let mut board = sent(4);
    assert_eq!(ack(&mut board, 1, &[(7, 9)]).sacked, 0);
    assert_eq!(ack(&mut board, 7, &[(7, 9)]).sacked, 2, "the segment was cut to the part that is held");
}

#[test]
fn a_hole_that_was_resent_before_is_lost_applies_is_not_sent_again() {
    let mut board = sent(6);
    ack(&mut board, 1, &[(5, 9)]);
    board.resend(Offset(1), Time(9), 1.0);
    assert_eq!(board.pipe(), 4 * 4 + 2 * 4, "the original and its copy");
    ack(&mut board, 1, &[(5, 17)]);
    assert_eq!(board.mark_is_lost(DUPTHRESH, MSS), 4);
    assert_eq!((board.first_lost(), board.pipe()), (None, 2 * 4 + 4), "the copy alone");
}

#[test]
fn segments_unmarked_by_a_mistake_are_judged_again() {
    let mut board = sent(6);
    ack(&mut board, 1, &[(5, 17)]);
    assert_eq!(board.mark_is_lost(DUPTHRESH, MSS), 4);
    board.unmark_lost();
    assert_eq!(board.mark_is_lost(DUPTHRESH, MSS), 4);
}

#[derive(Clone, Debug)]
enum Op {
    Push(u32),
    /// Acknowledges a number of whole records, then a number of bytes; SACK blocks as (record, bytes into it, bytes long).
    Ack(usize, u64, Vec<(usize, u64, u64)>),
    Resend(usize),
    ResendLost,
    MarkLost(usize),
    MarkHead,
    MarkRest,
    MarkIsLost,
    /// Marks holes with at least this number of SACKed segments above them.
    MarkHolesUnder(u32),
    /// Marks holes below a position: the record, and the bytes into it.
    MarkHolesBelow(usize, u64),
    /// Among the first records: marks those sent at least this much before the one sent last.
    MarkSentBefore(usize, u64),
    Unmark,
    ClearSacks,
    Rewind,
    /// No record may stay larger than this; whether the last record ends with the FIN.
    Split(u32, bool),
}

fn op() -> impl Strategy<Value = Op> {
    // Mostly whole records (4 bytes), as real receivers report them; else anything.
    let block = prop_oneof![
        4 => (0usize..24, Just(0u64), (1u64..6).prop_map(|n| n * u64::from(MSS))),
        1 => (0usize..30, 0u64..6, 0u64..40),
    ];
    let blocks = prop::collection::vec(block, 0..=4);
    let some = prop_oneof![3 => Just(0usize), 2 => 1usize..4, 1 => 4usize..30];
    let partly = prop_oneof![4 => Just(0u64), 1 => 1u64..4];
    prop_oneof![
        12 => prop_oneof![5 => Just(MSS), 1 => 1..=MSS + 1].prop_map(Op::Push),
        10 => (some, partly, blocks).prop_map(|(n, b, s)| Op::Ack(n, b, s)),
        2 => (0usize..30).prop_map(Op::Resend),
        4 => Just(Op::ResendLost),
        1 => (0usize..30).prop_map(Op::MarkLost),
        1 => Just(Op::MarkHead),
        1 => Just(Op::MarkRest),
        4 => Just(Op::MarkIsLost),
        3 => (1u32..8).prop_map(Op::MarkHolesUnder),
        1 => (0usize..30, 0u64..4).prop_map(|(i, into)| Op::MarkHolesBelow(i, into)),
        6 => (0usize..8, 0u64..40).prop_map(|(i, ago)| Op::MarkSentBefore(i, ago)),
        1 => Just(Op::Unmark),
        1 => Just(Op::ClearSacks),
        1 => Just(Op::Rewind),
        1 => (1..=MSS, any::<bool>()).prop_map(|(mss, fin)| Op::Split(mss, fin)),
    ]
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Rec {
    start: u64,
    end: u64,
    at: u64,
    sends: u8,
    sacked: bool,
    lost: bool,
    /// Resent since it was last marked lost.
    resent: bool,
    /// To be resent in order, because `snd_nxt` went back.
    rewound: bool,
}

impl Rec {
    fn len(&self) -> u64 {
        self.end - self.start
    }
    fn waits(&self) -> bool {
        self.lost && !self.sacked && !self.resent && !self.rewound
    }
    fn lose(&mut self) -> u64 {
        if self.sacked || (self.lost && !self.resent) {
            return 0;
        }
        (self.lost, self.resent) = (true, false);
        self.len()
    }
}

#[derive(Clone, Debug, Default)]
struct Naive {
    recs: Vec<Rec>,
    /// (start, end) of the records that the last ACK delivered.
    newly: Vec<(u64, u64)>,
    delivered: u64,
    fresh_sacked: u64,
    /// (last send time, end, sent more than once) of the record among them that was sent last.
    newest: Option<(u64, u64, bool)>,
}

impl Naive {
    fn sum(&self, f: impl Fn(&Rec) -> bool) -> u64 {
        self.recs.iter().filter(|r| f(r)).map(Rec::len).sum()
    }

    fn deliver(&mut self, r: &Rec, bytes: u64) {
        self.delivered += bytes;
        self.newest = self.newest.max(Some((r.at, r.end, r.sends > 1)));
    }

    fn ack(&mut self, ack: u64, blocks: &[(u64, u64)]) {
        (self.newly, self.newest) = (vec![], None);
        (self.delivered, self.fresh_sacked) = (0, 0);
        for r in self.recs.clone() {
            if r.start < ack && !r.sacked {
                self.deliver(&r, r.end.min(ack) - r.start);
                if r.end <= ack {
                    self.newly.push((r.start, r.end));
                }
            }
        }
        self.recs.retain(|r| r.end > ack);
        let Some(first) = self.recs.first_mut() else { return };
        first.start = first.start.max(ack);
        let (low, high) = (first.start, self.recs[self.recs.len() - 1].end);
        for &(left, right) in blocks {
            if right > high {
                continue;
            }
            for i in 0..self.recs.len() {
                let r = self.recs[i];
                if !r.sacked && left.max(low) <= r.start && r.end <= right {
                    self.deliver(&r, r.len());
                    self.fresh_sacked += r.len();
                    self.newly.push((r.start, r.end));
                    self.recs[i] = Rec { sacked: true, lost: false, rewound: false, ..r };
                }
            }
        }
    }

    /// RFC 6675 §4, octet by octet: DupThresh discontiguous SACKed runs above it, or more than (DupThresh − 1) · SMSS
    /// SACKed octets above it.
    fn is_lost(&self, r: &Rec) -> bool {
        let bits: Vec<bool> = self.recs.iter().flat_map(|s| vec![s.sacked; s.len() as usize]).collect();
        let above = &bits[(r.end - self.recs[0].start) as usize..];
        let octets = above.iter().filter(|b| **b).count();
        let runs = (0..above.len()).filter(|&i| above[i] && (i == 0 || !above[i - 1])).count();
        runs >= DUPTHRESH as usize || octets > ((DUPTHRESH - 1) * MSS) as usize
    }

    fn mark_is_lost(&mut self) -> u64 {
        let lost: Vec<bool> = self.recs.iter().map(|r| !r.sacked && !r.lost && self.is_lost(r)).collect();
        let hit = |(r, lost): (&mut Rec, bool)| {
            r.lost |= lost;
            u64::from(lost) * r.len()
        };
        self.recs.iter_mut().zip(lost).map(hit).sum()
    }

    /// The start of the `n`th SACKed record from above.
    fn holes_end(&self, n: u32) -> Option<u64> {
        self.recs.iter().rev().filter(|r| r.sacked).nth(n as usize - 1).map(|r| r.start)
    }

    /// Does not change records that reach beyond `end`, or any record if `end` is not outstanding.
    fn mark_holes_below(&mut self, end: u64) -> u64 {
        if self.recs.last().is_none_or(|r| r.end <= end) {
            return 0;
        }
        let holes = self.recs.iter_mut().filter(|r| r.end <= end && !r.sacked && !r.lost);
        holes.map(|r| (r.lost = true, r.len()).1).sum()
    }

    /// Returns the bytes newly marked, and the send time of the newest record still waiting.
    fn mark_sent_before(&mut self, newest: (u64, u64), by: u64) -> (u64, Option<u64>) {
        let (mut marked, mut waits) = (0, None);
        let open = |r: &&mut Rec| (r.at, r.end) < newest && !r.sacked && (!r.lost || r.resent);
        for r in self.recs.iter_mut().filter(open) {
            if r.at <= by {
                marked += r.lose();
            } else {
                waits = waits.max(Some(r.at));
            }
        }
        (marked, waits)
    }

    fn highest_sacked(&self) -> Option<u64> {
        self.recs.iter().filter(|r| r.sacked).map(|r| r.end).max()
    }

    fn first_hole(&self) -> Option<u64> {
        let r = self.recs.iter().find(|r| !r.sacked && !r.resent)?;
        (Some(r.end) <= self.highest_sacked()).then_some(r.start)
    }

    /// RFC 6675 §4 `SetPipe`: data not marked lost, plus data resent.
    fn pipe(&self) -> u64 {
        self.sum(|r| !r.sacked && !r.lost) + self.sum(|r| !r.sacked && r.resent)
    }

    /// Adds byte after byte to the current piece until it is full; a FIN always fits.
    fn split(&mut self, mss: u64, fin: Option<u64>) -> u64 {
        let large = |r: &Rec| r.len() - u64::from(Some(r.end) == fin) > mss;
        if !self.recs.iter().any(large) {
            return 0;
        }
        self.newly = vec![];
        let mut marked = 0;
        for r in std::mem::take(&mut self.recs) {
            if !large(&r) {
                self.recs.push(r);
                continue;
            }
            let mut piece = Rec { end: r.start, ..r };
            for byte in r.start..r.end {
                if piece.len() == mss && Some(byte + 1) != fin {
                    marked += piece.lose();
                    self.recs.push(piece);
                    piece = Rec { start: byte, end: byte, ..r };
                }
                piece.end += 1;
            }
            marked += piece.lose();
            self.recs.push(piece);
        }
        marked
    }

    fn resend(&mut self, i: usize, now: u64) {
        let r = &mut self.recs[i];
        (r.resent, r.rewound, r.at, r.sends) = (true, false, now, r.sends.saturating_add(1));
    }
}

#[derive(Clone)]
struct Both {
    board: Scoreboard,
    naive: Naive,
    order: SendOrder,
    newest: (u64, u64),
    snd_max: u64,
    now: u64,
}

impl Both {
    fn start_of(&self, i: usize) -> Option<u64> {
        self.naive.recs.get(i).map(|r| r.start)
    }

    fn apply(&mut self, op: &Op) {
        self.now += 1;
        let now = Time(self.now);
        match op {
            Op::Push(len) => {
                self.board.push(Offset(self.snd_max), *len, now, 1.0, false);
                let (start, end) = (self.snd_max, self.snd_max + u64::from(*len));
                self.naive.recs.push(Rec { start, end, at: self.now, sends: 1, ..Rec::default() });
                self.snd_max = end;
            }
            Op::Ack(n, bytes, blocks) => self.ack(*n, *bytes, blocks),
            Op::Resend(i) => {
                if let Some(at) = self.start_of(*i) {
                    let sent = self.board.resend(Offset(at), now, 1.0).unwrap();
                    assert_eq!(sent.end(), Offset(self.naive.recs[*i].end));
                    self.order.resent(sent);
                    self.naive.resend(*i, self.now);
                }
            }
            Op::ResendLost => {
                if let Some(at) = self.board.first_lost() {
                    self.order.resent(self.board.resend(at, now, 1.0).unwrap());
                    let i = self.naive.recs.iter().position(Rec::waits).unwrap();
                    self.naive.resend(i, self.now);
                }
            }
            Op::Unmark => {
                self.board.unmark_lost();
                self.order.forget();
                self.naive.recs.iter_mut().for_each(|r| (r.lost, r.rewound) = (false, false));
            }
            Op::ClearSacks => {
                self.board.clear_sacks();
                self.order.forget();
                self.naive.recs.iter_mut().for_each(|r| r.sacked = false);
                self.naive.newly.retain(|n| self.naive.recs.first().is_none_or(|r| n.1 <= r.start));
            }
            Op::Rewind => {
                self.board.rewind();
                self.order.forget();
                for r in self.naive.recs.iter_mut().filter(|r| !r.sacked) {
                    (r.lost, r.rewound, r.resent) = (true, true, false);
                }
            }
            Op::Split(mss, fin) => {
                let end = self.naive.recs.last().filter(|_| *fin).map(|r| r.end);
                let want = self.naive.split(u64::from(*mss), end);
                assert_eq!(self.board.split(*mss, end.map(Offset)), want, "newly lost");
            }
            mark => self.mark(mark),
        }
    }

    fn mark(&mut self, op: &Op) {
        match op {
            Op::MarkLost(i) => {
                if let Some(at) = self.start_of(*i) {
                    assert_eq!(self.board.mark_lost(Offset(at)), self.naive.recs[*i].lose());
                }
            }
            Op::MarkHead => {
                assert_eq!(self.board.mark_head_lost(), self.naive.recs.first_mut().map_or(0, Rec::lose));
            }
            Op::MarkRest => {
                let want: u64 = self.naive.recs.iter_mut().map(Rec::lose).sum();
                assert_eq!(self.board.mark_rest_lost(), want);
            }
            Op::MarkIsLost => {
                assert_eq!(self.board.mark_is_lost(DUPTHRESH, MSS), self.naive.mark_is_lost());
            }
            Op::MarkSentBefore(i, ago) => {
                let Some(&Rec { at, end, .. }) = self.naive.recs.get(*i) else { return };
                let by = self.now.saturating_sub(*ago);
                self.newest = self.newest.max((at, end));
                let newest = (Time(self.newest.0), Offset(self.newest.1));
                let got = self.board.mark_sent_before(&mut self.order, newest, Some(Time(by)), |_| {});
                assert_eq!((got.0, got.1.map(|t| t.0)), self.naive.mark_sent_before(self.newest, by));
            }
            Op::MarkHolesUnder(n) => {
                let want = self.naive.holes_end(*n).map_or(0, |end| self.naive.mark_holes_below(end));
                assert_eq!(self.board.mark_holes_under(*n), want);
            }
            Op::MarkHolesBelow(i, into) => {
                let end = self.start_of(*i).unwrap_or(self.snd_max) + into;
                assert_eq!(self.board.mark_holes_below(Offset(end)), self.naive.mark_holes_below(end));
            }
            other => unreachable!("{other:?} marks nothing"),
        }
    }

    fn ack(&mut self, n: usize, bytes: u64, blocks: &[(usize, u64, u64)]) {
        let una = self.start_of(0).unwrap_or(self.snd_max);
        let ack = self.start_of(n).map_or(self.snd_max, |at| at + bytes).min(self.snd_max).max(una);
        let near = |i: usize| self.start_of(i).unwrap_or(self.snd_max);
        let blocks: Vec<_> = blocks.iter().map(|&(i, into, len)| (near(i) + into, near(i) + into + len)).collect();
        if let Some(at) = blocks.is_empty().then(|| self.board.acknowledge_plain(Offset(ack))).flatten() {
            self.naive.ack(ack, &[]);
            let found = (self.naive.delivered, self.naive.fresh_sacked, self.naive.newest);
            assert_eq!(found, (ack - una, 0, Some((at.0, ack, false))), "the short way");
            return;
        }
        let mut d = Delivered::default();
        self.board.begin_ack();
        self.board.acknowledge(Offset(ack), &mut d);
        for b in &blocks {
            self.board.apply_sack((Offset(b.0), Offset(b.1)), &mut d);
        }
        self.naive.ack(ack, &blocks);
        assert_eq!((d.bytes, d.sacked), (self.naive.delivered, self.naive.fresh_sacked), "delivered");
        assert_eq!(d.newest.map(|n| (n.at.0, n.end.0, n.retransmitted)), self.naive.newest, "newest");
    }

    fn compare(&self) {
        let (b, n) = (&self.board, &self.naive);
        b.check();
        let counts = (b.pipe(), b.sacked(), b.lost(), b.lost_to_send() as usize, b.len());
        let waiting = n.recs.iter().filter(|r| r.waits()).count();
        assert_eq!(counts, (n.pipe(), n.sum(|r| r.sacked), n.sum(|r| r.lost), waiting, n.recs.len()), "counts of {b}");
        assert_eq!(
            b.first_lost().map(|o| o.0),
            n.recs.iter().find(|r| r.waits()).map(|r| r.start),
            "first lost of {b}"
        );
        assert_eq!(b.first_hole().map(|s| s.start.0), n.first_hole(), "first hole of {b}");
        assert_eq!(b.highest_sacked().map(|o| o.0), n.highest_sacked(), "highest SACKed of {b}");
        for k in 1..8 {
            assert_eq!(b.holes_end(k).map(|o| o.0), n.holes_end(k), "{k} SACKed segments above, of {b}");
        }
        let mut newly: Vec<_> = b.newly().map(|s| (s.start.0, s.end().0)).collect();
        let mut want = n.newly.clone();
        newly.sort_unstable();
        want.sort_unstable();
        assert_eq!(newly, want, "newly of {b}");
        for (s, r) in b.iter().zip(&n.recs) {
            let got = (s.start.0, s.end().0, s.at.0, s.sends, s.marks.any(Marks::SACKED), s.marks.any(Marks::LOST));
            assert_eq!(got, (r.start, r.end, r.at, r.sends, r.sacked, r.lost), "record of {b}");
            assert_eq!(b.get(s.start), Some(s));
            let after = n.recs.iter().skip_while(|x| x.start < r.start).take_while(|x| x.sacked).last();
            assert_eq!(b.skip_sacked(s.start).0, after.map_or(r.start, |x| x.end), "run of SACKs from {}", r.start);
        }
    }
}

impl Default for Both {
    fn default() -> Both {
        let (board, naive, order) = (Scoreboard::default(), Naive::default(), SendOrder::default());
        Both { board, naive, order, newest: (0, 0), snd_max: 1, now: 0 }
    }
}

fn replay(ops: &[Op]) {
    let mut both = Both::default();
    for op in ops {
        both.apply(op);
        both.compare();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_scoreboard_counts_what_a_naive_one_counts(ops in prop::collection::vec(op(), 1..80)) {
        replay(&ops);
    }
}
