//! The held ranges against hand-made cases, and against a list that is searched from end to end.

use super::*;
use proptest::prelude::*;

fn held(parts: &[(u64, u64)]) -> Reassembly {
    let mut r = Reassembly::new(1 << 16);
    for &(a, b) in parts {
        r.insert(Offset(a), Offset(b));
    }
    r
}

fn show(r: &Reassembly) -> Vec<(u64, u64)> {
    r.from(Offset(0)).map(|(l, r)| (l.0, r.0)).collect()
}

#[test]
fn ranges_that_touch_or_overlap_become_one() {
    for (parts, want) in [
        (&[(10, 20), (30, 40)][..], &[(10, 20), (30, 40)][..]),
        (&[(30, 40), (10, 20)], &[(10, 20), (30, 40)]),
        (&[(10, 20), (20, 30)], &[(10, 30)]),
        (&[(20, 30), (10, 20)], &[(10, 30)]),
        (&[(10, 20), (30, 40), (50, 60), (15, 50)], &[(10, 60)]),
        (&[(10, 20), (30, 40), (50, 60), (20, 30)], &[(10, 40), (50, 60)]),
        (&[(10, 20), (12, 15)], &[(10, 20)]),
        (&[(12, 15), (10, 20)], &[(10, 20)]),
    ] {
        assert_eq!(show(&held(parts)), want, "{parts:?}");
    }
}

#[test]
fn advancing_swallows_every_range_that_it_reaches() {
    for (upto, end, left) in [(5, 5, &[(10, 20), (30, 40)][..]), (10, 20, &[(30, 40)]), (35, 40, &[]), (50, 50, &[])] {
        let mut r = held(&[(10, 20), (30, 40)]);
        assert_eq!((r.advance(Offset(upto)), show(&r).as_slice()), (Offset(end), left), "{upto}");
    }
}

#[test]
fn what_is_lacking_lies_between_what_is_held() {
    let r = held(&[(10, 20), (30, 40)]);
    for (left, right, want) in
        [(5, 8, (5, 3)), (5, 45, (5, 20)), (12, 18, (0, 0)), (15, 35, (20, 10)), (10, 31, (20, 10))]
    {
        let got = r.lacking(Offset(left), Offset(right));
        assert_eq!((got.from.0, got.bytes), want, "{left}..{right}");
    }
}

#[test]
fn the_number_of_ranges_is_limited_by_the_window() {
    let mut r = Reassembly::new(1280);
    for i in 0..200 {
        r.insert(Offset(10 + 2 * i), Offset(11 + 2 * i));
    }
    assert_eq!(r.from(Offset(0)).count(), 74);
    r.insert(Offset(11), Offset(12));
    assert_eq!(r.from(Offset(0)).count(), 73, "what joins held ranges is always taken");
}

/// The naive model: every range, in no order, with the time of its last segment.
#[derive(Default)]
struct Plain {
    ranges: Vec<(u64, u64, u64)>,
    clock: u64,
}

impl Plain {
    fn insert(&mut self, left: u64, right: u64) {
        self.clock += 1;
        let (mut l, mut r) = (left, right);
        // Repeats until nothing more joins.
        while let Some(i) = self.ranges.iter().position(|o| o.0 <= r && l <= o.1) {
            let o = self.ranges.swap_remove(i);
            (l, r) = (l.min(o.0), r.max(o.1));
        }
        self.ranges.push((l, r, self.clock));
    }

    fn touch(&mut self, at: u64) {
        self.clock += 1;
        let clock = self.clock;
        self.ranges.iter_mut().filter(|o| o.0 <= at && at < o.1).for_each(|o| o.2 = clock);
    }

    fn advance(&mut self, upto: u64) -> u64 {
        let end = self.ranges.iter().filter(|o| o.0 <= upto).map(|o| o.1).fold(upto, u64::max);
        self.ranges.retain(|o| o.0 > upto);
        end
    }

    fn in_order(&self) -> Vec<(u64, u64)> {
        let mut all: Vec<_> = self.ranges.iter().map(|o| (o.0, o.1)).collect();
        all.sort_unstable();
        all
    }

    fn newest_first(&self) -> Vec<(u64, u64)> {
        let mut all = self.ranges.clone();
        all.sort_unstable_by_key(|o| std::cmp::Reverse(o.2));
        all.into_iter().map(|o| (o.0, o.1)).collect()
    }

    fn first_overlap(&self, left: u64, right: u64) -> Option<(u64, u64)> {
        self.in_order().into_iter().map(|(l, r)| (l.max(left), r.min(right))).find(|(l, r)| l < r)
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Insert(u64, u64),
    Touch(u64),
    Advance(u64),
}

/// Positions count from `rcv_nxt`. Mostly single bytes, so that hundreds of ranges are held; with little `space`, sometimes
/// a few and sometimes more.
fn newest(held: &Reassembly, room: usize) -> Vec<(u64, u64)> {
    let mut ranges = vec![];
    held.newest_first(room, |l, r| ranges.push((l.0, r.0)));
    ranges
}

fn ops(space: u64) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        40 => (0..space, 1u64..3).prop_map(|(at, len)| Op::Insert(at, at + len)),
        4 => (0..space, 1..space / 30 + 1).prop_map(|(at, len)| Op::Insert(at, at + len)),
        4 => (0..space).prop_map(Op::Touch),
        1 => (1u64..60).prop_map(Op::Advance),
    ];
    prop::collection::vec(op, 1..700)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn ranges_and_their_order_are_those_of_a_plain_list(ops in prop_oneof![ops(3000), ops(40)]) {
        let (mut held, mut plain) = (Reassembly::new(1 << 20), Plain::default());
        let mut next = 0;
        let pair = |(l, r): (Offset, Offset)| (l.0, r.0);
        for op in ops {
            match op {
                // As in the receiver: only data above `rcv_nxt`.
                Op::Insert(left, right) => {
                    held.insert(Offset(next + 1 + left), Offset(next + 1 + right));
                    plain.insert(next + 1 + left, next + 1 + right);
                }
                Op::Touch(at) => {
                    held.touch(Offset(next + at));
                    plain.touch(next + at);
                }
                Op::Advance(by) => {
                    let upto = next + by;
                    next = plain.advance(upto);
                    prop_assert_eq!(held.advance(Offset(upto)).0, next);
                }
            }
            prop_assert!(held.many.iter().all(|many| many.newest.len() == many.ranges.len()));
            prop_assert_eq!(held.is_empty(), plain.ranges.is_empty());
            let four: Vec<_> = plain.newest_first().into_iter().take(4).collect();
            prop_assert_eq!(newest(&held, 4), four);
            let (a, b) = (next + 20, next + 40);
            prop_assert_eq!(held.first_overlap(Offset(a), Offset(b)).map(pair), plain.first_overlap(a, b));
            let above: Vec<_> = plain.in_order().into_iter().filter(|o| o.1 > a).collect();
            prop_assert_eq!(held.from(Offset(a)).map(pair).collect::<Vec<_>>(), above);
            prop_assert_eq!(held.end().map(|e| e.0), plain.in_order().last().map(|o| o.1));
        }
        prop_assert_eq!(newest(&held, usize::MAX), plain.newest_first());
    }
}
