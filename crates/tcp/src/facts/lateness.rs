//! How long segments have been overtaken, and how late the late ones were.
//!
//! A segment is overtaken when one sent after it is reported as delivered. Such a report overtakes everything sent before that
//! segment, so the time since which a segment is overtaken is a step function of its place in the order of sending. Few steps
//! are kept. If there are too many, two become one at the later time: a segment is then waited for longer, never shorter.
//!
//! A late segment is a sample only if the report leaves no doubt. The ACK must report nothing but late segments sent once: an
//! ACK that also reports a retransmission or the newest segment may tell of data that arrived long before (the ACKs in between
//! were lost, or had no room for another SACK block). The overtaking segment must have been sent once: the ACK of a resent
//! segment may be for an earlier copy. And for a late segment that was resent, a timestamp or a DSACK must show that the original
//! arrived. So a path that keeps the order gives no sample.

use super::ack::AckEvent;
use super::ctx::Ctx;
use super::scoreboard::send_order::SendOrder;
use super::scoreboard::{Scoreboard, Sent};
use crate::segment::{is_older, timestamp};
use crate::seq::Offset;
use crate::time::{Nanos, Time};

/// Steps kept.
const STEPS: usize = 8;
/// Segments kept that were declared lost and may still arrive.
const LOST: usize = 4;

/// A place in the order of sending ([`Sent::key`]).
type Key = (Time, Offset);

/// A segment declared lost.
#[derive(Clone, Copy, Debug)]
struct Lost {
    end: Offset,
    story: Story,
}

/// What became of it.
#[derive(Clone, Copy, Debug)]
enum Story {
    /// Not reported yet; overtaken since then.
    Missing(Time),
    /// Reported once, that long after it had been overtaken.
    Reported(Nanos),
}

/// The effect of an ACK on the segments that are overtaken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overtaken {
    /// The same ones, since the same times.
    AsBefore,
    /// Others, or they must be examined.
    Anew,
}

/// How long the segments outstanding have been overtaken.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    /// The newest segment reported.
    newest: Option<Key>,
    /// The time from sending to the report, of that segment or of one reported later.
    round_trip: Nanos,
    /// Segments sent before `keys[i]`, and not before `keys[i − 1]`, are overtaken since `since[i]`. Both ascend.
    keys: [Key; STEPS],
    since: [Time; STEPS],
    count: u8,
    /// Bit i: the overtaking segment was sent once.
    sure: u8,
    next_lost: u8,
    lost: [Option<Lost>; LOST],
}

impl Lateness {
    /// The newest segment reported, in the order of sending.
    #[inline]
    pub fn newest(&self) -> Option<Key> {
        self.newest
    }

    /// The last time from sending to the report (RFC 8985 §6.2, RACK.rtt); 0 before the first.
    #[inline]
    pub fn round_trip(&self) -> Nanos {
        self.round_trip
    }

    /// Whether nothing outstanding was overtaken.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.count == 0
    }

    /// `newest` was reported at `now`, and nothing outstanding was sent before it.
    #[inline]
    pub fn advance(&mut self, newest: Key, now: Time) {
        (self.newest, self.round_trip) = (Some(newest), now.since(newest.0));
    }

    /// Reads an ACK that was applied to `board`. Calls `learn` with the lateness of each late segment. `order` has the segments
    /// that were resent.
    pub fn on_ack(
        &mut self,
        ack: &AckEvent,
        board: &Scoreboard,
        order: &SendOrder,
        cx: &Ctx,
        mut learn: impl FnMut(Nanos),
    ) -> Overtaken {
        if let Some(by) = ack.dsack.and_then(|d| self.reported_twice(d.1)) {
            learn(by);
        }
        if ack.covers_retransmit {
            board.newly().filter(|s| s.sends > 1).for_each(|s| {
                if let Some(by) = self.resent_arrived(s, ack, cx) {
                    learn(by);
                }
            });
        } else if let Some(n) = ack.newest {
            // The least lateness of all that it reports.
            let since = self.missing_since(n.end).or_else(|| self.surely_since((n.at, n.end)));
            if let Some(since) = since {
                learn(cx.now.since(since));
            }
        }
        let Some(n) = board.newest_delivered(ack, cx.min_rtt, cx.now) else { return Overtaken::Anew };
        let (known, newest) = (self.newest, (n.at, n.end));
        self.round_trip = cx.now.since(n.at);
        if known.is_some_and(|known| known >= newest) {
            return Overtaken::Anew;
        }
        self.newest = Some(newest);
        // It only adds to the run that ends at the newest known one: nothing between them can be overtaken.
        let plain = !ack.advances() && !ack.covers_retransmit && order.is_plain();
        if plain && known.is_some_and(|known| board.skip_sacked(known.1) >= n.end) {
            return Overtaken::AsBefore;
        }
        self.add(newest, cx.now, !n.retransmitted);
        Overtaken::Anew
    }

    /// Everything sent before the result has been overtaken since `by` or before.
    pub fn overtaken_by(&self, by: Time) -> Key {
        let nothing = (Time::ZERO, Offset(0));
        if self.since[0] > by {
            return nothing;
        }
        let n = self.since[..self.len()].partition_point(|since| *since <= by);
        n.checked_sub(1).map_or(nothing, |last| self.keys[last])
    }

    /// `sent` is declared lost. Only the first copy can be late.
    pub fn marked(&mut self, sent: &Sent) {
        let since = if sent.sends == 1 { self.surely_since(sent.key()) } else { None };
        if let Some(since) = since {
            self.lost[usize::from(self.next_lost)] = Some(Lost { end: sent.end(), story: Story::Missing(since) });
            self.next_lost = (self.next_lost + 1) % LOST as u8;
        }
    }

    /// `oldest` is now the oldest segment that is overtaken and may still arrive. Returns when it was overtaken.
    pub fn settle(&mut self, oldest: Option<Key>) -> Option<Time> {
        let done = oldest.map_or(self.len(), |key| match self.keys[0] > key {
            true => 0,
            false => self.keys[..self.len()].partition_point(|k| *k <= key),
        });
        if done > 0 {
            self.keys.copy_within(done.., 0);
            self.since.copy_within(done.., 0);
            self.sure = self.sure.checked_shr(done as u32).unwrap_or(0);
            self.count -= done as u8;
        }
        // Everything before the first key that is left.
        oldest.filter(|_| self.count > 0).map(|_| self.since[0])
    }

    fn len(&self) -> usize {
        usize::from(self.count)
    }

    fn step(&self, key: Key) -> Option<usize> {
        let i = self.keys[..self.len()].partition_point(|k| *k <= key);
        (i < self.len()).then_some(i)
    }

    fn surely_since(&self, key: Key) -> Option<Time> {
        self.step(key).filter(|i| self.sure & (1 << i) != 0).map(|i| self.since[i])
    }

    /// `key`, higher than any before, was reported at `now`.
    fn add(&mut self, key: Key, now: Time, sure: bool) {
        if self.len() == STEPS {
            self.join();
        }
        let i = self.len();
        (self.keys[i], self.since[i]) = (key, now);
        self.sure = self.sure & !(1 << i) | u8::from(sure) << i;
        self.count += 1;
    }

    /// Makes one step of the two that are nearest in time.
    fn join(&mut self) {
        let gap = |i: &usize| self.since[i + 1].since(self.since[*i]);
        let Some(i) = (0..STEPS - 1).min_by_key(gap) else { return };
        self.keys.copy_within(i + 1.., i);
        self.since.copy_within(i + 1.., i);
        let (below, above) = (self.sure & ((1 << i) - 1), self.sure >> (i + 1) << i);
        // In doubt if either was.
        let both = self.sure & (self.sure >> 1) & (1 << i);
        self.sure = below | above & !(1 << i) | both;
        self.count -= 1;
    }

    fn find(&mut self, end: Offset) -> Option<&mut Option<Lost>> {
        self.lost.iter_mut().find(|l| l.is_some_and(|l| l.end == end))
    }

    /// A segment sent once that ends at `end` has arrived. Since when it was overtaken, if it had been declared lost.
    fn missing_since(&mut self, end: Offset) -> Option<Time> {
        let entry = self.find(end)?;
        match entry.take()?.story {
            Story::Missing(since) => Some(since),
            Story::Reported(_) => None,
        }
    }

    /// A resent segment was reported. Its lateness, if the echo shows that the original arrived. How soon the answer came proves
    /// nothing: the smallest round trip seen may be longer than the path's.
    fn resent_arrived(&mut self, sent: &Sent, ack: &AckEvent, cx: &Ctx) -> Option<Nanos> {
        let entry = self.find(sent.end())?;
        let Story::Missing(since) = (*entry)?.story else { return None };
        let by = cx.now.since(since);
        // The echo is of the segment that moved the cumulative point (RFC 7323 §4.3).
        let filled = ack.advances() && sent.start == ack.prior_una;
        if filled && ack.tsecr.is_some_and(|echo| is_older(echo, timestamp(sent.at))) {
            *entry = None;
            return Some(by);
        }
        *entry = Some(Lost { end: sent.end(), story: Story::Reported(by) });
        None
    }

    /// A DSACK shows that both copies of the segment that ends at `end` arrived. The lateness of the first one to arrive.
    fn reported_twice(&mut self, end: Offset) -> Option<Nanos> {
        let entry = self.find(end)?;
        match (*entry)?.story {
            Story::Reported(by) => {
                *entry = None;
                Some(by)
            }
            Story::Missing(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::scoreboard::Delivered;
    use crate::testing::{context, ms};

    const NOTHING: [u64; 0] = [];

    /// Segments of 1000 bytes, one sent in each millisecond.
    struct Path {
        board: Scoreboard,
        lateness: Lateness,
        got: Vec<u64>,
        echo: Option<u32>,
        order: SendOrder,
        last: Option<Overtaken>,
    }

    impl Path {
        fn of(segments: u64) -> Path {
            let (mut board, order) = (Scoreboard::default(), SendOrder::default());
            (0..segments).for_each(|i| _ = board.push(start(i), 1000, ms(i), 1e9, false));
            Path { board, lateness: Lateness::default(), got: vec![], echo: None, order, last: None }
        }

        /// One ACK up to segment `ack` that SACKs `blocks`, with a DSACK of segment `twice`. Samples in milliseconds.
        fn hears(&mut self, now: u64, ack: u64, blocks: &[(u64, u64)], twice: Option<u64>) -> Vec<u64> {
            let prior = self.board.iter().next().map_or(start(ack), |s| s.start);
            self.board.begin_ack();
            let mut out = Delivered::default();
            self.board.acknowledge(start(ack), &mut out);
            blocks.iter().for_each(|b| self.board.apply_sack((start(b.0), start(b.1)), &mut out));
            let dsack = twice.map(|i| (start(i), start(i + 1)));
            let ack = AckEvent { dsack, tsecr: self.echo, ..out.ack_event(prior, start(ack), ms(now)) };
            let cx = Ctx { now: ms(now), min_rtt: Some(Nanos::from_millis(100)), ..context() };
            let got = &mut self.got;
            self.last =
                Some(self.lateness.on_ack(&ack, &self.board, &self.order, &cx, |by| got.push(by.0 / 1_000_000)));
            std::mem::take(got)
        }

        /// Segment `i` is declared lost, and resent at `at`.
        fn resend(&mut self, i: u64, at: u64) {
            let s = *self.board.get(start(i)).expect("outstanding");
            self.lateness.marked(&s);
            self.board.mark_lost(start(i));
            self.order.resent(self.board.resend(start(i), ms(at), 1e9).expect("outstanding"));
        }

        fn since(&self, i: u64) -> Option<Time> {
            self.lateness.step((ms(i), start(i + 1))).map(|at| self.lateness.since[at])
        }
    }

    fn start(i: u64) -> Offset {
        Offset(1 + 1000 * i)
    }

    #[test]
    fn a_segment_is_late_by_the_time_since_the_first_report_that_overtook_it() {
        let mut p = Path::of(10);
        assert_eq!(p.hears(110, 0, &[(5, 6)], None), NOTHING);
        assert_eq!(p.hears(130, 0, &[(8, 9), (5, 6)], None), NOTHING);
        assert_eq!([0, 4, 6, 8, 9].map(|i| p.since(i)), [Some(ms(110)), Some(ms(110)), Some(ms(130)), None, None]);
        assert_eq!(p.hears(137, 0, &[(6, 7), (8, 9), (5, 6)], None), [7]);
        assert_eq!(p.hears(150, 0, &[(3, 4)], None), [40]);
        assert_eq!(p.hears(151, 1, &[], None), [41]);
    }

    #[test]
    fn a_run_that_only_grows_overtakes_nothing_anew() {
        let mut p = Path::of(20);
        let mut after = |now, blocks: &[(u64, u64)]| {
            p.hears(now, 0, blocks, None);
            (p.last, p.since(0), p.since(2), p.since(7))
        };
        let (new, old) = (Some(Overtaken::Anew), Some(Overtaken::AsBefore));
        let first = Some(ms(110));
        assert_eq!(after(110, &[(5, 6)]), (new, first, first, None));
        assert_eq!(after(111, &[(5, 7)]), (old, first, first, None));
        assert_eq!(after(112, &[(8, 9), (5, 7)]), (new, first, first, Some(ms(112))));
        assert_eq!(after(113, &[(8, 12), (5, 7)]), (old, first, first, Some(ms(112))));
        assert_eq!(after(114, &[(2, 3), (8, 12), (5, 7)]), (new, first, first, Some(ms(112))), "a late one");
    }

    #[test]
    fn an_ack_that_also_reports_the_newest_segment_gives_no_sample() {
        // The ACK for segment 6 was lost, which had arrived before segment 8.
        let mut p = Path::of(10);
        p.hears(110, 0, &[(5, 6)], None);
        assert_eq!(p.hears(140, 0, &[(1, 2), (9, 10)], None), NOTHING);
    }

    #[test]
    fn an_ack_that_also_reports_a_retransmission_gives_no_sample() {
        // Segments 1 and 3 were lost, and the ACKs for segment 2. Its arrival is reported with the repair of segment 1.
        let mut p = Path::of(10);
        p.hears(104, 1, &[(4, 5)], None);
        p.resend(1, 105);
        assert_eq!(p.hears(206, 3, &[(4, 5)], None), NOTHING);
    }

    #[test]
    fn of_several_late_segments_in_one_report_the_least_late_counts() {
        let mut p = Path::of(10);
        p.hears(110, 0, &[(5, 6)], None);
        p.hears(120, 0, &[(8, 9)], None);
        assert_eq!(p.hears(125, 0, &[(1, 3), (6, 8)], None), [5]);
    }

    #[test]
    fn an_original_that_arrives_after_it_was_resent_is_late() {
        let mut p = Path::of(10);
        p.hears(110, 0, &[(5, 6)], None);
        p.resend(2, 120);
        p.resend(3, 121);
        // However soon it is answered, only the DSACK of the copy shows that it was the original.
        assert_eq!(p.hears(160, 0, &[(2, 3)], None), NOTHING);
        assert_eq!(p.hears(225, 0, &[(2, 3)], Some(2)), [50]);
        assert_eq!(p.hears(226, 0, &[(2, 3)], Some(2)), NOTHING, "once");
        assert_eq!(p.hears(227, 0, &[(3, 4)], None), NOTHING);
    }

    #[test]
    fn an_older_echo_on_the_ack_that_it_moved_shows_that_the_original_arrived() {
        for (echo, want) in [(119, vec![50]), (120, vec![])] {
            let mut p = Path::of(10);
            p.hears(110, 0, &[(5, 6)], None);
            p.resend(0, 120);
            p.echo = Some(timestamp(ms(echo)));
            assert_eq!(p.hears(160, 1, &[], None), want, "{echo}");
        }
    }

    #[test]
    fn the_report_of_a_resent_segment_overtakes_but_is_too_doubtful_for_samples() {
        let mut p = Path::of(10);
        p.hears(105, 0, &[(1, 2)], None);
        p.resend(0, 106);
        p.hears(210, 2, &[], None);
        assert_eq!(p.since(5), Some(ms(210)));
        assert_eq!(p.hears(211, 3, &[], None), NOTHING);
    }

    #[test]
    fn with_too_many_steps_a_segment_is_never_overtaken_earlier_than_it_was() {
        let mut p = Path::of(40);
        let mut exact = vec![];
        for (k, i) in (1..40).step_by(2).enumerate() {
            let now = 100 + (k * k) as u64;
            p.hears(now, 0, &[(i, i + 1)], None);
            exact.push((i - 1, ms(now)));
        }
        let kept: Vec<Time> = exact.iter().map(|e| p.since(e.0).expect("overtaken")).collect();
        assert!(exact.iter().zip(&kept).all(|(e, k)| e.1 <= *k), "{exact:?} {kept:?}");
        assert!(kept.is_sorted());
        let mut steps = kept.clone();
        steps.dedup();
        assert_eq!((steps.len(), kept.last()), (STEPS, exact.last().map(|e| &e.1)));
    }

    #[test]
    fn steps_that_concern_no_segment_any_more_are_dropped() {
        let mut p = Path::of(10);
        p.hears(110, 0, &[(3, 4)], None);
        p.hears(120, 0, &[(6, 7)], None);
        p.lateness.settle(Some((ms(4), start(5))));
        assert_eq!([p.since(4), p.since(5)], [Some(ms(120)); 2]);
        assert!(!p.lateness.is_quiet());
        p.lateness.settle(None);
        assert!(p.lateness.is_quiet());
    }
}
