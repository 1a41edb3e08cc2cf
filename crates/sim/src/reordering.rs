//! How much a path reorders: the metrics of RFC 4737, from the order of arrivals.
//!
//! Source: RFC 4737 §3 (reordered or not), §4.1 to §4.6 (ratio, extent, late time, byte offset, gaps, free runs), §5 (n-reordering).
//!
//! Idea: packets are numbered as they are sent; a packet is reordered if one with a higher number came before it.
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
//! Here every transmission has its own number, a retransmission too: what is measured is the path, not the repair.

use crate::watch::{DropWhy, Side, Watch};
use ackclock_tcp::event::Event;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::{Nanos, Time};
use std::collections::{BTreeMap, BTreeSet};

/// The arrivals of one direction of a flow so far. It remembers each of them (16 bytes).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reordering {
    arrivals: Vec<Arrival>,
    /// Positions of the arrivals with a higher number than all before them.
    records: Vec<u32>,
    /// One bit for each number.
    seen: Vec<u64>,
    next: u32,
    duplicates: u64,
    late: Lateness,
    runs: FreeRuns,
    discontinuities: BTreeSet<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Arrival {
    at: Time,
    number: u32,
    bytes: u32,
}

/// One reordered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// How many arrivals ago the first packet came that it should have preceded (RFC 4737 §4.2).
    pub extent: u64,
    /// How long ago that was (§4.3).
    pub time: Nanos,
    /// Bytes of packets with higher numbers that came since then (§4.4): what a receiver must store.
    pub bytes: u64,
    /// How many arrivals directly before it have higher numbers (§5); 0 if it is not n-reordered for any n.
    pub n: u64,
}

/// All reordered packets together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Reordered packets.
    pub packets: u64,
    /// How many have which extent.
    pub extents: BTreeMap<u64, u64>,
    /// How many have which largest n; those with n = 0 are left out.
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

/// Runs of packets in order between reordered ones (RFC 4737 §4.6); the run at the end, which no reordered packet closes, is not
/// counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeRuns {
    /// Length of the run that is going on.
    pub r: u64,
    /// Runs (x).
    pub runs: u64,
    /// Packets in them (a).
    pub packets: u64,
    /// Sum of the squares of their lengths (q).
    pub squares: u64,
}

impl Reordering {
    /// The packet that its sender sent as number `number` has arrived with `bytes` of payload. Answers how late it is if it is
    /// reordered.
    pub fn arrive(&mut self, at: Time, number: u32, bytes: u32) -> Option<Late> {
        if !self.first_time(number) {
            self.duplicates += 1;
            return None;
        }
        let late = if number >= self.next {
            self.next = number.saturating_add(1);
            self.records.push(self.arrivals.len() as u32);
            self.runs.r += 1;
            None
        } else {
            let late = self.lateness(at, number);
            self.late.add(&late);
            self.runs.close();
            Some(late)
        };
        self.arrivals.push(Arrival { at, number, bytes });
        late
    }

    fn first_time(&mut self, number: u32) -> bool {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        if self.seen.len() <= word {
            self.seen.resize(word + 1, 0);
        }
        let new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        new
    }

    fn lateness(&mut self, at: Time, number: u32) -> Late {
        let i = self.arrivals.len();
        // The first arrival with a higher number was the highest of its time.
        let first = self.records.partition_point(|r| self.arrivals[*r as usize].number < number);
        let j = self.records.get(first).map_or(i, |r| *r as usize);
        self.discontinuities.insert(j as u32);
        let since = &self.arrivals[j..];
        let higher = since.iter().filter(|a| a.number > number);
        Late {
            extent: (i - j) as u64,
            time: since.first().map_or(Nanos::ZERO, |a| Nanos(at.0 - a.at.0)),
            bytes: higher.map(|a| u64::from(a.bytes)).sum(),
            n: since.iter().rev().take_while(|a| a.number > number).count() as u64,
        }
    }

    /// Packets that arrived, each number once.
    pub fn packets(&self) -> u64 {
        self.arrivals.len() as u64
    }

    /// Arrivals of a number that had arrived before.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Reordered packets over packets (RFC 4737 §4.1); 0 without packets.
    pub fn ratio(&self) -> f64 {
        self.late.packets as f64 / self.packets().max(1) as f64
    }

    /// The reordered packets.
    pub fn late(&self) -> &Lateness {
        &self.late
    }

    /// Packets that are n-reordered over packets (RFC 4737 §5); 0 without packets.
    pub fn degree(&self, n: u64) -> f64 {
        self.late.n.range(n..).map(|(_, count)| *count).sum::<u64>() as f64 / self.packets().max(1) as f64
    }

    /// Arrivals between one reordering discontinuity and the next (RFC 4737 §4.5), 0 for the first.
    pub fn gaps(&self) -> Vec<u64> {
        let places = self.discontinuities.iter();
        let mut before = self.discontinuities.first().copied();
        places.map(|j| u64::from(j - before.replace(*j).unwrap_or(*j))).collect()
    }

    /// Runs of packets in order.
    pub fn runs(&self) -> FreeRuns {
        self.runs
    }
}

impl Lateness {
    fn add(&mut self, l: &Late) {
        self.packets += 1;
        *self.extents.entry(l.extent).or_default() += 1;
        if l.n > 0 {
            *self.n.entry(l.n).or_default() += 1;
        }
        self.time.0 += l.time.0;
        self.longest = self.longest.max(l.time);
        self.bytes += l.bytes;
        self.most_bytes = self.most_bytes.max(l.bytes);
    }
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

/// Listens to a run and keeps both directions of each flow apart.
#[derive(Clone, Debug, Default)]
pub struct Order(Vec<[Reordering; 2]>);

impl Order {
    /// What arrived at this end of a flow.
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
    fn tcp(&mut self, _: Time, _: u32, _: Side, _: Event) {}
    fn sent(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u32, _: u8) {}
    fn dropped(&mut self, _: Time, _: u32, _: Side, _: u32, _: u64, _: DropWhy, _: &Segment, _: u8) {}
    fn delivered(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u32, _: u8) {}
    fn queue(&mut self, _: Time, _: u32, _: u32, _: u64) {}

    fn arrived(&mut self, at: Time, flow: u32, to: Side, number: u32, seg: &Segment) {
        let flow = flow as usize;
        if self.0.len() <= flow {
            self.0.resize_with(flow + 1, Default::default);
        }
        self.0[flow][end(to)].arrive(at, number, seg.len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Packets of 100 bytes with these numbers, arriving at these milliseconds; what each reordered one was.
    fn arrivals(of: &[(u32, u64)]) -> (Reordering, Vec<(u32, Late)>) {
        let mut r = Reordering::default();
        let arrive = |&(number, ms): &(u32, u64)| Some((number, r.arrive(Time(ms * MS), number, 100)?));
        let late = of.iter().filter_map(arrive).collect();
        (r, late)
    }

    fn numbers(of: &[u32]) -> (Reordering, Vec<(u32, Late)>) {
        arrivals(&of.iter().zip(0..).map(|(n, i)| (*n, i)).collect::<Vec<_>>())
    }

    fn late(extent: u64, ms: u64, bytes: u64, n: u64) -> Late {
        Late { extent, time: Nanos(ms * MS), bytes, n }
    }

    #[test]
    fn rfc_4737_7_1_one_packet_four_late() {
        // RFC 4737 §7.1, Table 1: sent every 20 ms, 68 ms on the way; packet 4 comes at 210 ms.
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
        assert_eq!(r.gaps(), [0]);
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
        assert_eq!(r.gaps(), [0, 7]);
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
}
