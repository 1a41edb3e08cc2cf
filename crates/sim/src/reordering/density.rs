//! Reorder density and reorder buffer-occupancy density.
//!
//! Source: RFC 5236 §3 (definitions), §6 (lost and duplicate packets), §7.1 and §7.2 (algorithms), §8 (examples).
//!
//! Idea: RD is the number of places by which each packet arrived too early or too late. RBD is the number of packets that a
//! receiver would have to hold after each arrival to restore the order. Both count a packet that is later than a threshold as
//! lost.
//!
//! | source | here |
//! | --- | --- |
//! | RI, S, D | `index`, `number`, `displacement` |
//! | DT, BT | [`Density::new`] |
//! | window, buffer | `window`, `early` |
//! | FD, FB | [`Density::displacements`], [`Density::occupancies`] |
//! | E, B | `expected`, `held` |
//!
//! Departures: if the buffer is full, the arriving packet is held after the lost packets were given up, as §3.8 defines the
//! occupancy; the algorithm of §7.2 drops it there.

use std::collections::{BTreeMap, VecDeque};

/// Linux's `tcp_max_reordering`: the displacement up to which its TCP may consider a packet late rather than lost.
pub const THRESHOLD: u64 = 300;

/// The displacements of packets and the occupancy of the buffer, so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    displacement: Displacement,
    occupancy: Occupancy,
}

impl Default for Density {
    fn default() -> Self {
        Density::new(THRESHOLD, THRESHOLD)
    }
}

impl Density {
    /// Returns empty densities with the displacement threshold DT and the buffer-occupancy threshold BT, in packets. Packet
    /// numbers begin with 0.
    pub fn new(displacement: u64, occupancy: u64) -> Self {
        let displacement = Displacement { threshold: displacement, ..Displacement::default() };
        Density { displacement, occupancy: Occupancy { threshold: occupancy, ..Occupancy::default() } }
    }

    /// Returns empty densities with the usual thresholds; packet numbers begin with `number`.
    pub fn beginning_with(number: u64) -> Self {
        let mut density = Density::default();
        density.displacement.index = number;
        density.occupancy.expected = number;
        density
    }

    /// A packet arrived for the first time. The largest possible number means no packet.
    #[inline]
    pub fn arrive(&mut self, number: u64) {
        if number == u64::MAX {
            return;
        }
        self.displacement.arrive(number);
        self.occupancy.arrive(number);
    }

    /// FD: count of packets by displacement in places: positive if late, negative if early. Packets displaced beyond the
    /// threshold are left out.
    pub fn displacements(&self) -> BTreeMap<i64, u64> {
        let mut all = self.displacement.clone();
        while !all.window.is_empty() {
            all.step();
        }
        let mut frequencies = all.frequencies;
        if all.in_place > 0 {
            frequencies.insert(0, all.in_place);
        }
        frequencies
    }

    /// FB: count of arrivals by the number of packets in the buffer afterwards.
    pub fn occupancies(&self) -> BTreeMap<u64, u64> {
        let mut frequencies = self.occupancy.frequencies.clone();
        if self.occupancy.empty > 0 {
            frequencies.insert(0, self.occupancy.empty);
        }
        frequencies
    }

    /// RD: the share of packets with each displacement.
    pub fn reorder_density(&self) -> BTreeMap<i64, f64> {
        normalised(self.displacements())
    }

    /// RBD: the share of arrivals by the number of packets in the buffer afterwards.
    pub fn buffer_occupancy_density(&self) -> BTreeMap<u64, f64> {
        normalised(self.occupancies())
    }
}

fn normalised<K: Ord>(frequencies: BTreeMap<K, u64>) -> BTreeMap<K, f64> {
    let all = frequencies.values().sum::<u64>().max(1) as f64;
    frequencies.into_iter().map(|(k, n)| (k, n as f64 / all)).collect()
}

/// Numbers in the order of arrival, consecutive numbers as one entry.
#[derive(Clone, Debug, Default, PartialEq)]
struct Window {
    runs: VecDeque<(u64, u64)>,
    packets: u64,
}

impl Window {
    fn is_empty(&self) -> bool {
        self.packets == 0
    }

    #[inline]
    fn push(&mut self, number: u64) {
        self.packets += 1;
        match self.runs.back_mut() {
            Some((_, end)) if *end == number => *end = number.saturating_add(1),
            Some(_) | None => self.runs.push_back((number, number.saturating_add(1))),
        }
    }

    #[inline]
    fn first(&self) -> Option<u64> {
        self.runs.front().map(|r| r.0)
    }

    #[inline]
    fn pop(&mut self) {
        let Some(run) = self.runs.front_mut() else { return };
        self.packets -= 1;
        run.0 = run.0.saturating_add(1);
        if run.0 >= run.1 {
            self.runs.pop_front();
        }
    }

    fn contains(&self, number: u64) -> bool {
        self.runs.iter().any(|r| (r.0..r.1).contains(&number))
    }

    fn least(&self) -> Option<u64> {
        self.runs.iter().map(|r| r.0).min()
    }
}

/// RFC 5236 §7.1, with the stay-back method.
#[derive(Clone, Debug, Default, PartialEq)]
struct Displacement {
    threshold: u64,
    index: u64,
    window: Window,
    /// Numbers above the index that have left the window, at most DT.
    early: Vec<u64>,
    in_place: u64,
    frequencies: BTreeMap<i64, u64>,
}

impl Displacement {
    #[inline]
    fn arrive(&mut self, number: u64) {
        // The window has DT + 1 places.
        if self.window.packets > self.threshold {
            self.step();
        }
        // A packet whose place has been given up is a duplicate, or too late.
        if number >= self.index {
            self.window.push(number);
        }
    }

    /// One packet leaves the window; the index may have to skip lost packets before it.
    #[inline]
    fn step(&mut self) {
        if self.early.is_empty() && self.window.first() == Some(self.index) {
            self.window.pop();
            self.in_place += 1;
            self.index = self.index.saturating_add(1);
        } else {
            self.disordered();
        }
    }

    fn disordered(&mut self) {
        let Some(number) = self.window.first() else { return };
        let known = |d: &Self| d.early.contains(&d.index) || d.window.contains(d.index);
        while !known(self) {
            let least = self.early.iter().copied().min().into_iter().chain(self.window.least()).min();
            self.index = least.filter(|m| *m > self.index).unwrap_or(self.index.saturating_add(1));
        }
        self.window.pop();
        // Numbers come from outside: a distance beyond 64 bits is beyond every threshold.
        let far = self.index.abs_diff(number) > self.threshold;
        if far {
            return;
        }
        let displacement = if number > self.index {
            -i64::try_from(number - self.index).unwrap_or(i64::MAX)
        } else {
            i64::try_from(self.index - number).unwrap_or(i64::MAX)
        };
        if displacement == 0 {
            self.in_place += 1;
        } else {
            *self.frequencies.entry(displacement).or_default() += 1;
        }
        self.early.retain(|e| *e != self.index);
        if displacement < 0 {
            self.early.push(number);
        }
        self.index = self.index.saturating_add(1);
    }
}

/// RFC 5236 §7.2.
#[derive(Clone, Debug, Default, PartialEq)]
struct Occupancy {
    threshold: u64,
    expected: u64,
    /// Runs of numbers above the expected one, in order.
    runs: Vec<(u64, u64)>,
    held: u64,
    empty: u64,
    frequencies: BTreeMap<u64, u64>,
}

impl Occupancy {
    #[inline]
    fn arrive(&mut self, number: u64) {
        if number == self.expected && self.runs.is_empty() {
            self.expected = self.expected.saturating_add(1);
            self.empty += 1;
        } else if number >= self.expected {
            self.disordered(number);
        }
    }

    fn disordered(&mut self, number: u64) {
        let k = self.runs.partition_point(|r| r.1 < number);
        if self.runs.get(k).is_some_and(|r| (r.0..r.1).contains(&number)) {
            return;
        }
        let full = self.held >= self.threshold;
        self.hold(k, number);
        if full {
            self.expected = self.runs.first().map_or(self.expected, |r| r.0);
        }
        if let Some(&(from, to)) = self.runs.first().filter(|r| r.0 == self.expected) {
            self.runs.remove(0);
            self.held -= to - from;
            self.expected = to;
        }
        if self.held == 0 {
            self.empty += 1;
        } else {
            *self.frequencies.entry(self.held).or_default() += 1;
        }
    }

    /// Run `k` is the first that ends at or above the number.
    fn hold(&mut self, k: usize, number: u64) {
        self.held += 1;
        let joins_below = self.runs.get(k).is_some_and(|r| r.1 == number);
        let above = k + usize::from(joins_below);
        let joins_above = self.runs.get(above).is_some_and(|r| r.0 == number.saturating_add(1));
        match (joins_below, joins_above) {
            (true, true) => self.runs[k].1 = self.runs.remove(above).1,
            (true, false) => self.runs[k].1 = number.saturating_add(1),
            (false, true) => self.runs[above].0 = number,
            (false, false) => self.runs.insert(k, (number, number.saturating_add(1))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The RFC numbers packets from 1, and so do its tables.
    fn of(threshold: u64, arrivals: &[u64]) -> Density {
        let mut d = Density::new(threshold, threshold);
        let mut seen = Vec::new();
        d.displacement.index = 1;
        d.occupancy.expected = 1;
        for number in arrivals {
            if !seen.contains(number) {
                d.arrive(*number);
                seen.push(*number);
            }
        }
        d
    }

    fn counts<K: Ord + Copy>(of: &[(K, u64)]) -> BTreeMap<K, u64> {
        of.iter().copied().collect()
    }

    #[test]
    fn rfc_5236_8_a_without_loss() {
        let d = of(4, &[1, 4, 2, 5, 3, 6, 7, 8]);
        assert_eq!(d.displacements(), counts(&[(-2, 1), (-1, 1), (0, 4), (1, 1), (2, 1)]));
        let rd = [(-2, 0.125), (-1, 0.125), (0, 0.5), (1, 0.125), (2, 0.125)];
        assert_eq!(d.reorder_density(), rd.into_iter().collect());
        assert_eq!(d.occupancies(), counts(&[(0, 5), (1, 2), (2, 1)]));
        assert_eq!(d.buffer_occupancy_density(), [(0, 0.625), (1, 0.25), (2, 0.125)].into_iter().collect());
    }

    #[test]
    fn rfc_5236_8_b_with_loss() {
        let d = of(3, &[1, 2, 4, 5, 6, 7]);
        assert_eq!(d.displacements(), counts(&[(0, 6)]));
        assert_eq!(d.occupancies(), counts(&[(0, 3), (1, 1), (2, 1), (3, 1)]));
    }

    #[test]
    fn rfc_5236_8_c_with_duplicates() {
        let d = of(2, &[1, 3, 2, 3, 4, 5]);
        assert_eq!(d.displacements(), counts(&[(-1, 1), (0, 3), (1, 1)]));
        assert_eq!(d.reorder_density(), [(-1, 0.2), (0, 0.6), (1, 0.2)].into_iter().collect());
        assert_eq!(d.occupancies(), counts(&[(0, 4), (1, 1)]));
    }

    #[test]
    fn the_examples_of_rfc_5236_3_and_4() {
        // Examples 1 to 5; the third has lost its packet 2, the fifth its packet 4.
        assert_eq!(of(4, &[2, 1, 4, 5, 3]).displacements(), counts(&[(-1, 3), (1, 1), (2, 1)]));
        assert_eq!(of(4, &[1, 4, 3, 5, 3]).displacements(), counts(&[(-1, 1), (0, 2), (1, 1)]));
        assert_eq!(
            of(4, &[1, 4, 3, 5, 3, 8, 7, 6]).displacements(),
            counts(&[(-2, 1), (-1, 1), (0, 3), (1, 1), (2, 1)])
        );
        assert_eq!(of(4, &[1, 2, 3, 5, 4, 6]).displacements(), counts(&[(-1, 1), (0, 4), (1, 1)]));
        assert_eq!(of(4, &[1, 2, 5, 3, 6, 2]).displacements(), counts(&[(-2, 1), (0, 3), (2, 1)]));
    }

    #[test]
    fn a_rogue_number_is_discarded_and_moves_no_more_than_the_threshold() {
        // RFC 5236 §6: (1, 5430, 2, 3, 4, 5, …).
        let arrivals: Vec<u64> = [1, 5430].into_iter().chain(2..=40).collect();
        assert_eq!(of(4, &arrivals).displacements(), counts(&[(0, 40)]));
        assert_eq!(of(4, &[1, u64::MAX, 2, 3, 4, 5, 6, 7, 8]).displacements(), counts(&[(0, 8)]));
    }

    #[test]
    fn a_packet_later_than_the_threshold_is_lost() {
        let mut arrivals: Vec<u64> = (1..=30).filter(|n| *n != 3).collect();
        arrivals.insert(20, 3);
        assert_eq!(of(4, &arrivals).displacements(), counts(&[(0, 29)]));
        assert_eq!(of(20, &arrivals).displacements().get(&18), Some(&1));
    }

    #[test]
    fn what_comes_to_a_full_buffer_is_held_after_the_lost_packet_was_given_up() {
        // 2 and 4 are lost: with two places, 7 releases 3, then 5.
        let d = of(2, &[1, 3, 5, 7, 6, 8, 9]);
        assert_eq!(d.occupancies(), counts(&[(0, 4), (1, 1), (2, 2)]));
    }

    /// §7.1 step by step, with lists.
    fn literal(threshold: usize, arrivals: &[u64]) -> BTreeMap<i64, u64> {
        let mut incoming = arrivals.iter().copied();
        let (mut window, mut buffer, mut index) = (VecDeque::new(), Vec::new(), 1u64);
        let mut fd = BTreeMap::new();
        window.extend(incoming.by_ref().take(threshold + 1));
        while !window.is_empty() {
            if !window.contains(&index) && !buffer.contains(&index) {
                let least = window.iter().chain(&buffer).copied().min().unwrap();
                index = if index < least { least } else { index + 1 };
                continue;
            }
            let number = window.pop_front().unwrap();
            let displacement = index as i64 - number as i64;
            if displacement.unsigned_abs() as usize <= threshold {
                *fd.entry(displacement).or_default() += 1;
                buffer.retain(|b| *b != index);
                if displacement < 0 {
                    buffer.push(number);
                }
                index += 1;
            }
            window.extend(incoming.by_ref().find(|n| *n >= index));
        }
        fd
    }

    #[test]
    fn runs_of_packets_count_as_the_algorithm_of_7_1_does() {
        let mut state = 9u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for threshold in [1, 2, 4, 9, 30] {
            for _ in 0..40 {
                let mut keyed: Vec<(u64, u64)> = Vec::new();
                for number in 1..=200 {
                    let moved = if draw(5) == 0 { draw(14) } else { 0 };
                    if draw(12) > 0 {
                        keyed.push((number + moved, number));
                    }
                }
                keyed.sort_by_key(|k| k.0);
                let arrivals: Vec<u64> = keyed.into_iter().map(|k| k.1).collect();
                assert_eq!(of(threshold, &arrivals).displacements(), literal(threshold as usize, &arrivals));
            }
        }
    }
}
