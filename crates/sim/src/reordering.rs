//! How much a path reorders: the metrics of RFC 4737 and RFC 5236, from the order of arrivals.
//!
//! Source: RFC 4737 §3 (reordered or not), §4.1 to §4.6 (ratio, extent, late time, byte offset, gaps, free runs), §5 (n-reordering);
//! RFC 5236 is in [`density`].
//!
//! Idea: packets are numbered as they are sent; a packet is reordered if one with a higher number arrived before it. Only missing
//! numbers must be remembered, so a transfer of millions of packets needs no more memory than one of thousands.
//!
//! | source | here |
//! | --- | --- |
//! | `s`, NextExp | `number`, `next` |
//! | extent e = i − j, j the first arrival with a higher number | [`Late::extent`] |
//! | LateTime, ByteOffset | [`Late::time`], [`Late::bytes`] |
//! | n-reordered: all of the n arrivals before it have higher numbers | [`Late::n`], the largest such n |
//! | reordering discontinuity, Gap | [`Reordering::gaps`] |
//! | runs: r, a, q, x | [`FreeRuns`] |
//!
//! Departures: none. A second arrival of a number is only counted as a duplicate.
//!
//! Every transmission has its own number here, a retransmission too: the metrics describe the path, not the repair.

pub mod density;
mod holes;
pub mod summary;

use crate::watch::{Side, Watch};
use ackclock_tcp::event::Frequent;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::{Nanos, Time};
use density::Density;
use holes::{Found, Holes};
use std::collections::BTreeMap;

/// The number of different values for which counts are kept. The counted values may come from files, so their number needs a
/// bound.
const MOST_VALUES: usize = 1 << 14;

/// The arrivals of one direction of a flow so far. Only missing numbers are remembered. The default computes no densities (RFC
/// 5236): they cost more than all the rest. The fields that change with every arrival come first, close together.
#[derive(Clone, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Reordering {
    packets: u64,
    bytes: u64,
    next: u64,
    runs: FreeRuns,
    density: Option<Box<Density>>,
    holes: Holes,
    duplicates: u64,
    forgotten: u64,
    late: Lateness,
}

/// One reordered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// Arrivals since the first packet that it should have preceded (RFC 4737 §4.2).
    pub extent: u64,
    /// Time since that arrival (§4.3).
    pub time: Nanos,
    /// Bytes of packets with higher numbers that arrived since then (§4.4): the amount that a receiver must store.
    pub bytes: u64,
    /// The number of arrivals directly before it that have higher numbers (§5); 0 if it is not n-reordered for any n.
    pub n: u64,
}

/// All reordered packets together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Reordered packets.
    pub packets: u64,
    /// Count of packets by extent. Beyond 16,384 different extents, a new one counts as the next smaller one in the table.
    pub extents: BTreeMap<u64, u64>,
    /// Count of packets by largest n; packets with n = 0 are left out.
    pub n: BTreeMap<u64, u64>,
    /// Sum of their late times.
    pub time: Nanos,
    /// The longest late time.
    pub longest: Nanos,
    /// Sum of their byte offsets.
    pub bytes: u64,
    /// The largest byte offset.
    pub most_bytes: u64,
}

/// Runs of packets in order between reordered ones (RFC 4737 §4.6). The last run, which no reordered packet closes, is not
/// counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeRuns {
    /// Length of the current run.
    pub r: u64,
    /// Runs (x).
    pub runs: u64,
    /// Packets in them (a).
    pub packets: u64,
    /// Sum of the squares of their lengths (q).
    pub squares: u64,
}

impl Reordering {
    /// The packet that its sender sent as number `number` has arrived with `bytes` of payload. Returns its lateness if it is
    /// reordered.
    #[inline]
    pub fn arrive(&mut self, at: Time, number: u64, bytes: u32) -> Option<Late> {
        let late = self.place(at, number, number.saturating_add(1), bytes);
        if let Some(density) = self.density.as_deref_mut().filter(|_| late != Place::Known) {
            density.arrive(number);
        }
        late.late()
    }

    /// Like [`Self::arrive`] where numbers count bytes: the packet holds the numbers from `from` up to `to`. RFC 5236 defines no
    /// densities for such numbers.
    #[inline]
    pub fn arrive_span(&mut self, at: Time, from: u64, to: u64, bytes: u32) -> Option<Late> {
        self.place(at, from, to.max(from.saturating_add(1)), bytes).late()
    }

    /// The same for packets that arrived together, in order: the numbers from `from` up to `to`, each packet of `size` except
    /// perhaps the last.
    #[inline]
    pub fn arrive_spans(&mut self, at: Time, from: u64, to: u64, size: u32) {
        if from < self.next || from >= to || size == 0 {
            let mut from = from;
            while from < to {
                let end = if size == 0 { to } else { from.saturating_add(size.into()).min(to) };
                self.arrive_span(at, from, end, (end - from) as u32);
                from = end;
            }
            return;
        }
        if from > self.next {
            self.holes.open(self.next..from, self.packets, at, self.bytes);
            self.next = from;
        }
        self.arrive_next((to - from).div_ceil(size.into()), to - from, to - from);
    }

    /// The same for packets directly behind the highest number, in order: `count` packets, which take `numbers` numbers.
    #[inline]
    pub fn arrive_next(&mut self, count: u64, numbers: u64, bytes: u64) {
        self.next += numbers;
        self.runs.r += count;
        self.packets += count;
        self.bytes += bytes;
    }

    /// The number after the highest.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Numbers below this one will never arrive: the missing ones need not be remembered.
    #[inline]
    pub fn forget_below(&mut self, number: u64) {
        self.holes.forget_below(number);
    }

    /// The same where a missing number may arrive as a retransmission: an arrival more than `patience` after it was overtaken
    /// counts as one. It is no longer missing, and counts neither as a packet nor as reordered.
    #[inline]
    pub fn arrive_original(&mut self, at: Time, from: u64, to: u64, bytes: u32, patience: Nanos) -> Option<Late> {
        let to = to.max(from.saturating_add(1));
        if from >= self.next {
            return self.place(at, from, to, bytes).late();
        }
        match self.holes.at(from) {
            Some(gap) if at.since(gap.at) > patience => {
                self.holes.fill_unseen(from, to);
                None
            }
            Some(_) | None => self.below(at, from, to, bytes).late(),
        }
    }

    /// Returns empty metrics with densities (RFC 5236), which begin with this number: 0, or the first number of a capture.
    pub fn with_densities(first: u64) -> Self {
        Reordering { density: Some(Box::new(Density::beginning_with(first))), ..Reordering::default() }
    }

    #[inline]
    fn place(&mut self, at: Time, from: u64, to: u64, bytes: u32) -> Place {
        if from < self.next {
            return self.below(at, from, to, bytes);
        }
        if from > self.next {
            self.holes.open(self.next..from, self.packets, at, self.bytes);
        }
        self.next = to;
        self.runs.r += 1;
        self.count(bytes);
        Place::InOrder
    }

    fn count(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    #[cold]
    fn below(&mut self, at: Time, from: u64, to: u64, bytes: u32) -> Place {
        match self.holes.fill(from, to, self.packets, bytes) {
            Found::Here => {
                self.duplicates += 1;
                Place::Known
            }
            Found::Forgotten => {
                self.forgotten += 1;
                Place::Known
            }
            Found::Missing(gap) => {
                let late = Late {
                    extent: self.packets - gap.position,
                    time: at.since(gap.at),
                    bytes: self.bytes - gap.bytes,
                    n: self.packets - gap.lower,
                };
                self.late.add(&late);
                self.runs.close();
                self.count(bytes);
                Place::Late(late)
            }
        }
    }

    /// Packets that arrived, each number once.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Arrivals of a number that had arrived before.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Arrivals known only to be very late: since they were overtaken, 16,384 other gaps in the numbers were left open. They
    /// count as neither packets nor duplicates.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Reordered packets as a share of all packets (RFC 4737 §4.1); 0 without packets.
    pub fn ratio(&self) -> f64 {
        self.late.packets as f64 / self.packets().max(1) as f64
    }

    /// The reordered packets.
    pub fn late(&self) -> &Lateness {
        &self.late
    }

    /// n-reordered packets as a share of all packets (RFC 4737 §5); 0 without packets.
    pub fn degree(&self, n: u64) -> f64 {
        self.late.n.range(n..).map(|(_, count)| *count).sum::<u64>() as f64 / self.packets().max(1) as f64
    }

    /// Counts of reordering discontinuities by the number of arrivals since the previous one (RFC 4737 §4.5); 0 is for the
    /// first.
    pub fn gaps(&self) -> &BTreeMap<u64, u64> {
        self.holes.gaps()
    }

    /// Reordering discontinuities (RFC 4737 §4.5).
    pub fn discontinuities(&self) -> u64 {
        self.holes.gaps().values().sum()
    }

    /// Runs of packets in order.
    pub fn runs(&self) -> FreeRuns {
        self.runs
    }

    /// Its densities (RFC 5236), if requested.
    pub fn density(&self) -> Option<&Density> {
        self.density.as_deref()
    }
}

/// The kind of an arrival.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    InOrder,
    Late(Late),
    /// It arrived before, or is too old to be known.
    Known,
}

impl Place {
    #[inline]
    fn late(self) -> Option<Late> {
        match self {
            Place::Late(late) => Some(late),
            Place::InOrder | Place::Known => None,
        }
    }
}

impl Lateness {
    fn add(&mut self, l: &Late) {
        self.packets += 1;
        bump(&mut self.extents, l.extent);
        if l.n > 0 {
            bump(&mut self.n, l.n);
        }
        self.time.0 = self.time.0.saturating_add(l.time.0);
        self.longest = self.longest.max(l.time);
        self.bytes += l.bytes;
        self.most_bytes = self.most_bytes.max(l.bytes);
    }

    /// The extent that half of the reordered packets do not exceed; `None` without any.
    pub fn median_extent(&self) -> Option<u64> {
        let mut seen = 0;
        self.extents.iter().find_map(|(extent, count)| {
            seen += count;
            (2 * seen >= self.packets).then_some(*extent)
        })
    }
}

/// Counts one more of `value`, or of the next smaller one if there are too many different values.
fn bump(counts: &mut BTreeMap<u64, u64>, value: u64) {
    let full = counts.len() >= MOST_VALUES;
    let kept = if full { counts.range(..=value).next_back().map(|(v, _)| *v) } else { None };
    *counts.entry(kept.unwrap_or(value)).or_default() += 1;
}

impl FreeRuns {
    fn close(&mut self) {
        self.runs += 1;
        self.packets += self.r;
        self.squares += self.r * self.r;
        self.r = 0;
    }

    /// Mean length of a run; `None` without runs.
    pub fn mean(&self) -> Option<f64> {
        (self.runs > 0).then(|| self.packets as f64 / self.runs as f64)
    }

    /// (q/a) / (a/x): 1 if all runs are equally long; `None` without packets in runs.
    pub fn variability(&self) -> Option<f64> {
        let (q, a, x) = (self.squares as f64, self.packets as f64, self.runs as f64);
        (self.packets > 0).then(|| (q / a) / (a / x))
    }
}

/// Listens to a run and keeps the two directions of each flow apart.
#[derive(Clone, Debug, Default)]
pub struct Order(Vec<[Reordering; 2]>);

impl Order {
    /// The arrivals at this end of a flow.
    pub fn at(&self, flow: u32, to: Side) -> Option<&Reordering> {
        self.0.get(flow as usize).map(|ends| &ends[end(to)])
    }
}

fn end(side: Side) -> usize {
    match side {
        Side::Sender => 0,
        Side::Receiver => 1,
    }
}

impl Watch for Order {
    const HEARS: Frequent = Frequent::NONE;

    fn arrived(&mut self, at: Time, flow: u32, to: Side, number: u32, seg: &Segment) {
        let flow = flow as usize;
        if self.0.len() <= flow {
            self.0.resize_with(flow + 1, || [Reordering::with_densities(0), Reordering::with_densities(0)]);
        }
        self.0[flow][end(to)].arrive(at, u64::from(number), seg.len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Packets of 100 bytes with these numbers, arriving at these milliseconds; returns the lateness of each reordered one.
    fn arrivals(of: &[(u64, u64)]) -> (Reordering, Vec<(u64, Late)>) {
        let mut r = Reordering::default();
        let arrive = |&(number, ms): &(u64, u64)| Some((number, r.arrive(Time(ms * MS), number, 100)?));
        let late = of.iter().filter_map(arrive).collect();
        (r, late)
    }

    fn numbers(of: &[u64]) -> (Reordering, Vec<(u64, Late)>) {
        arrivals(&of.iter().zip(0..).map(|(n, i)| (*n, i)).collect::<Vec<_>>())
    }

    fn late(extent: u64, ms: u64, bytes: u64, n: u64) -> Late {
        Late { extent, time: Nanos(ms * MS), bytes, n }
    }

    #[test]
    fn rfc_4737_7_1_one_packet_four_late() {
        // RFC 4737 §7.1, Table 1: sent every 20 ms, with a delay of 68 ms; packet 4 arrives at 210 ms.
        let at = [68, 88, 108, 148, 168, 188, 208, 210, 228, 248];
        let of: Vec<_> = [1, 2, 3, 5, 6, 7, 8, 4, 9, 10].into_iter().zip(at).collect();
        let (r, all) = arrivals(&of);
        assert_eq!(all, [(4, late(4, 62, 400, 4))]);
        assert_eq!((r.packets(), r.ratio(), r.degree(4), r.degree(5)), (10, 0.1, 0.1, 0.0));
    }

    #[test]
    fn rfc_4737_7_2_two_packets_after_the_same_one() {
        let at = [68, 88, 108, 128, 188, 189, 190, 208, 228, 248];
        let of: Vec<_> = [1, 2, 3, 4, 7, 5, 6, 8, 9, 10].into_iter().zip(at).collect();
        let (r, all) = arrivals(&of);
        assert_eq!(all, [(5, late(1, 1, 100, 1)), (6, late(2, 2, 100, 0))]);
        assert_eq!((r.gaps(), r.discontinuities()), (&BTreeMap::from([(0, 1)]), 1));
    }

    #[test]
    fn rfc_4737_7_3_a_block_of_three_late() {
        let at = [68, 88, 108, 188, 208, 228, 248, 250, 252, 256, 268];
        let of: Vec<_> = [1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11].into_iter().zip(at).collect();
        let (r, all) = arrivals(&of);
        assert_eq!(all, [(4, late(4, 62, 400, 4)), (5, late(5, 64, 400, 0)), (6, late(6, 68, 400, 0))]);
        assert_eq!(r.late().extents, BTreeMap::from([(4, 1), (5, 1), (6, 1)]));
        assert_eq!((r.late().longest, r.late().most_bytes, r.late().bytes), (Nanos(68 * MS), 400, 1200));
    }

    #[test]
    fn gaps_and_runs_are_those_of_rfc_4737_4_5_and_4_6() {
        let (r, all) = numbers(&[1, 2, 3, 6, 7, 4, 5, 8, 9, 10, 12, 13, 11, 14, 15, 16]);
        assert_eq!(all.iter().map(|l| (l.0, l.1.extent)).collect::<Vec<_>>(), [(4, 2), (5, 3), (11, 2)]);
        assert_eq!((r.gaps(), r.discontinuities()), (&BTreeMap::from([(0, 1), (7, 1)]), 2));
        assert_eq!(r.runs(), FreeRuns { r: 3, runs: 3, packets: 10, squares: 50 });
    }

    #[test]
    fn the_variability_of_runs_is_that_of_rfc_4737_4_6() {
        let of = |lengths: [u64; 3]| {
            let mut runs = FreeRuns::default();
            for r in lengths {
                runs.r = r;
                runs.close();
            }
            runs
        };
        let even = of([11, 11, 11]);
        assert_eq!((even.packets, even.squares, even.mean(), even.variability()), (33, 363, Some(11.0), Some(1.0)));
        let uneven = of([1, 1, 31]);
        assert_eq!((uneven.squares, uneven.mean()), (963, Some(11.0)));
        assert!(uneven.variability().is_some_and(|v| (v - 2.65).abs() < 0.005));
        assert_eq!((FreeRuns::default().mean(), FreeRuns::default().variability()), (None, None));
    }

    #[test]
    fn only_the_first_of_a_late_block_is_n_reordered() {
        let (r, all) = numbers(&[1, 2, 3, 7, 8, 9, 4, 5, 6]);
        assert_eq!(all.iter().map(|l| (l.0, l.1.n)).collect::<Vec<_>>(), [(4, 3), (5, 0), (6, 0)]);
        assert_eq!(r.late().n, BTreeMap::from([(3, 1)]));
        assert_eq!((r.degree(1), r.degree(3), r.degree(4)), (1.0 / 9.0, 1.0 / 9.0, 0.0));
    }

    #[test]
    fn a_lost_or_doubled_packet_is_not_reordered() {
        let (r, all) = numbers(&[1, 2, 2, 5, 6, 1, 130, 131]);
        assert_eq!((all.len(), r.packets(), r.duplicates(), r.ratio()), (0, 6, 2, 0.0));
        assert_eq!(numbers(&[]).0.ratio(), 0.0);
    }

    /// RFC 4737 to the letter: it remembers every arrival and searches all of them for each answer.
    #[derive(Default)]
    struct Naive {
        arrivals: Vec<(Time, u64, u32)>,
        late: Lateness,
        discontinuities: std::collections::BTreeSet<usize>,
        duplicates: u64,
    }

    impl Naive {
        fn arrive(&mut self, at: Time, number: u64, bytes: u32) -> Option<Late> {
            if self.arrivals.iter().any(|a| a.1 == number) {
                self.duplicates += 1;
                return None;
            }
            let i = self.arrivals.len();
            self.arrivals.push((at, number, bytes));
            let j = self.arrivals.iter().position(|a| a.1 > number)?;
            self.discontinuities.insert(j);
            let since = &self.arrivals[j..i];
            let late = Late {
                extent: (i - j) as u64,
                time: at.since(since[0].0),
                bytes: since.iter().filter(|a| a.1 > number).map(|a| u64::from(a.2)).sum(),
                n: since.iter().rev().take_while(|a| a.1 > number).count() as u64,
            };
            self.late.add(&late);
            Some(late)
        }

        fn gaps(&self) -> BTreeMap<u64, u64> {
            let mut gaps = BTreeMap::new();
            let mut before = self.discontinuities.first().copied();
            for j in &self.discontinuities {
                bump(&mut gaps, (j - before.replace(*j).unwrap_or(*j)) as u64);
            }
            gaps
        }
    }

    /// Numbers of packets that are lost, duplicated and displaced at random.
    fn shuffled(seed: u64, count: u64, reach: u64) -> Vec<u64> {
        let mut state = seed;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut keyed: Vec<(u64, u64)> = Vec::new();
        for number in 0..count {
            let moved = if draw(4) == 0 { draw(reach) } else { 0 };
            let copies = match draw(20) {
                0 | 1 => 0,
                2 => 2,
                _ => 1,
            };
            keyed.extend((0..copies).map(|copy| (number + moved + copy * draw(reach), number)));
        }
        keyed.sort_by_key(|k| k.0);
        keyed.into_iter().map(|k| k.1).collect()
    }

    #[test]
    fn the_missing_numbers_give_the_same_metrics_as_all_arrivals() {
        for (seed, reach) in (0..60).zip([3, 5, 40, 700].into_iter().cycle()) {
            let (mut r, mut naive) = (Reordering::default(), Naive::default());
            for (i, number) in shuffled(seed, 800, reach).into_iter().enumerate() {
                let (at, bytes) = (Time(i as u64 * 1000), (number * 7 % 1461) as u32);
                assert_eq!(r.arrive(at, number, bytes), naive.arrive(at, number, bytes), "seed {seed}, arrival {i}");
            }
            assert!(naive.late.packets > 20, "seed {seed}");
            assert_eq!((r.late(), r.gaps(), r.duplicates()), (&naive.late, &naive.gaps(), naive.duplicates));
            assert_eq!((r.packets(), r.forgotten()), (naive.arrivals.len() as u64, 0));
        }
    }

    #[test]
    fn numbers_of_bytes_tell_the_same_as_numbers_of_packets() {
        let order = shuffled(1, 500, 30);
        let (mut packets, mut bytes) = (Reordering::default(), Reordering::default());
        for (i, number) in order.into_iter().enumerate() {
            let at = Time(i as u64);
            let by_bytes = bytes.arrive_span(at, number * 1448, (number + 1) * 1448, 1448);
            assert_eq!(packets.arrive(at, number, 1448), by_bytes);
        }
        assert_eq!((packets.late(), packets.gaps(), packets.runs()), (bytes.late(), bytes.gaps(), bytes.runs()));
        assert!(packets.late().packets > 50);
    }

    #[test]
    fn an_arrival_long_after_it_was_overtaken_counts_as_a_retransmission() {
        let mut r = Reordering::default();
        let mut arrive = |ms: u64, n: u64| r.arrive_original(Time(ms * MS), n * 10, n * 10 + 10, 10, Nanos(5 * MS));
        assert_eq!([arrive(0, 0), arrive(1, 3), arrive(2, 4)], [None; 3]);
        assert_eq!(arrive(5, 1), Some(late(2, 4, 20, 2)));
        assert_eq!(arrive(7, 2), None, "6 ms after it was overtaken");
        assert_eq!((r.packets(), r.duplicates(), r.late().packets), (4, 0, 1));
        assert_eq!((r.arrive_span(Time(9 * MS), 20, 30, 10), r.duplicates()), (None, 1));
    }

    #[test]
    fn a_transfer_that_loses_every_second_packet_needs_bounded_memory() {
        let mut r = Reordering::default();
        (0..200_000).for_each(|i| _ = r.arrive(Time(i), 2 * i, 1));
        assert!(r.holes.len() <= 16_384);
        // The newest gaps are remembered, the oldest are not.
        assert_eq!(r.arrive(Time(200_000), 399_901, 1).map(|l| l.extent), Some(49));
        assert_eq!((r.arrive(Time(200_001), 1, 1), r.forgotten(), r.duplicates()), (None, 1, 0));
        assert_eq!((r.arrive(Time(200_002), 399_901, 1), r.duplicates()), (None, 1));
    }

    #[test]
    fn the_median_extent_is_one_that_occurs() {
        assert_eq!(numbers(&[1, 2]).0.late().median_extent(), None);
        let (r, _) = numbers(&[1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11]);
        assert_eq!(r.late().median_extent(), Some(5));
    }
}
