//! The segments of all flows in the order of transmission, each with its round-trip time.

use super::estimate::{quantile, sorted};
use super::log::Fate;
use super::observe::Observed;

/// A segment at its first transmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) at: i64,
    /// When an acknowledgment first covered it; 0 if none did.
    pub(crate) covered: i64,
    /// Its bytes with IP and TCP headers.
    pub(crate) wire: f64,
    pub(crate) flow: usize,
    pub(crate) fate: Fate,
    /// The excess of its round-trip time over its flow's smallest, seconds. Valid only for clean pairs.
    pub(crate) excess: f64,
}

impl Point {
    /// It was sent once and acknowledged, so its round-trip time is valid (Karn).
    pub(crate) fn is_clean(&self) -> bool {
        self.fate == Fate::Once && self.covered > 0
    }
}

pub(crate) struct Points {
    pub(crate) all: Vec<Point>,
    /// The positions of the clean pairs.
    clean: Vec<usize>,
    /// When retransmissions were sent.
    pub(crate) again: Vec<i64>,
    /// The median size of all segments, bytes with their headers.
    pub(crate) packet: f64,
    /// The smallest round-trip time of each flow and of others between its hosts, nanoseconds.
    pub(crate) smallest: Vec<i64>,
    /// The flow with the most segments.
    pub(crate) main: usize,
    /// Whether single segments are acknowledged immediately.
    pub(crate) prompt: bool,
}

/// Seconds between two times of a capture.
pub(crate) fn seconds(from: i64, to: i64) -> f64 {
    (to - from) as f64 / 1e9
}

/// The smallest round-trip time of each flow, nanoseconds. Flows between the same hosts share it: a flow that begins while others
/// fill the queue may never see it empty.
fn smallest(flows: &[&Observed]) -> Vec<i64> {
    let clean = |s: &&super::log::Sent| s.fate == Fate::Once && s.covered > 0;
    let own = |o: &Observed| o.log.sent.iter().filter(clean).map(|s| s.covered - s.at).min();
    let all: Vec<Option<i64>> = flows.iter().map(|o| own(o)).collect();
    let beside =
        |o: &Observed| flows.iter().zip(&all).filter(|(p, _)| p.hosts == o.hosts).filter_map(|(_, s)| *s).min();
    flows.iter().map(|o| beside(o).unwrap_or(0)).collect()
}

impl Points {
    pub(crate) fn of(flows: &[&Observed]) -> Self {
        let mut all = Vec::with_capacity(flows.iter().map(|f| f.log.sent.len()).sum());
        let smallest = smallest(flows);
        for (flow, o) in flows.iter().enumerate() {
            let headers = f64::from(o.headers);
            let most = f64::from(o.payload());
            all.extend(o.log.sent.iter().map(|s| {
                let len = f64::from(s.len);
                let wire = len + headers * (len / most).ceil().max(1.0);
                let excess = seconds(smallest[flow], s.covered - s.at);
                Point { at: s.at, covered: s.covered, wire, flow, fate: s.fate, excess }
            }));
        }
        all.sort_by_key(|p| p.at);
        let mut again: Vec<i64> = flows.iter().flat_map(|o| o.log.again.iter().copied()).collect();
        again.sort_unstable();
        let clean = (0..all.len()).filter(|i| all[*i].is_clean()).collect();
        let packet = quantile(&sorted(all.iter().map(|p| p.wire)), 0.5).max(1.0);
        let main = (0..flows.len()).max_by_key(|f| flows[*f].log.sent.len()).unwrap_or(0);
        let advances = |n: usize| flows.iter().map(|o| o.log.advances[n]).sum::<u64>();
        let all_advances = (advances(0) + advances(1) + advances(2)) as f64;
        let prompt = advances(0) as f64 > super::answers::EVERY * all_advances;
        Points { all, clean, again, packet, smallest, main, prompt }
    }

    pub(crate) fn clean(&self) -> impl Iterator<Item = &Point> {
        self.clean.iter().map(|i| &self.all[*i])
    }

    /// The excess of round-trip times over the smallest when this segment was sent, seconds: the median of three clean segments
    /// before it and two after it. Where delays vary (`spread` above zero), the smallest of five before it and five after it.
    pub(crate) fn local_excess(&self, point: usize, spread: f64) -> f64 {
        let k = self.clean.partition_point(|i| *i < point);
        if spread > 0.0 {
            let near = &self.clean[k.saturating_sub(5)..(k + 5).min(self.clean.len())];
            return near.iter().map(|i| self.all[*i].excess).fold(f64::INFINITY, f64::min).min(f64::MAX);
        }
        let near = &self.clean[k.saturating_sub(3)..(k + 2).min(self.clean.len())];
        quantile(&sorted(near.iter().map(|i| self.all[*i].excess)), 0.5)
    }

    /// From the first segment to the last acknowledgment, seconds.
    pub(crate) fn duration(&self) -> f64 {
        let first = self.all.first().map_or(0, |p| p.at);
        seconds(first, self.all.iter().map(|p| p.covered).max().unwrap_or(first).max(first))
    }

    /// The smallest round-trip time of the flow with the most segments, nanoseconds.
    pub(crate) fn base(&self) -> i64 {
        self.smallest.get(self.main).copied().unwrap_or(0)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A segment of 1500 bytes that was sent once, at a time in microseconds, and covered at another.
    pub(crate) fn once(at: i64, covered: i64) -> Point {
        Point { at: at * 1000, covered: covered * 1000, wire: 1500.0, flow: 0, fate: Fate::Once, excess: 0.0 }
    }

    /// The points of flows with these smallest round-trip times, in microseconds; the first flow is the main one.
    pub(crate) fn points(all: Vec<Point>, smallest: &[i64]) -> Points {
        let clean = (0..all.len()).filter(|i| all[*i].is_clean()).collect();
        let smallest = smallest.iter().map(|us| us * 1000).collect();
        Points { all, clean, again: Vec::new(), packet: 1500.0, smallest, main: 0, prompt: true }
    }

    #[test]
    fn the_wait_at_a_segment_is_the_median_of_three_before_it_and_two_after_it() {
        let excess = [9.0, 9.0, 1.0, 2.0, 5.0, 3.0, 4.0, 0.1, 0.1, 0.1];
        let all = (0..).zip(excess).map(|(i, excess)| Point { excess, ..once(i, i + 50) }).collect();
        assert_eq!(points(all, &[50]).local_excess(5, 0.0), 3.0);
    }
}
