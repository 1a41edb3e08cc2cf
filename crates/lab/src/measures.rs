//! A run's measures for network engineers, as numbers with their units: see `docs/measures.md`.

use crate::results::{BackgroundSummary, FlowSummary};
use crate::stats::nearest_rank;
use ackclock_sim::histogram::Histogram;
use ackclock_sim::measures::{FlowMeter, LinkMeter};
use ackclock_table::{row, Flat};
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Bytes;
use grouping::{Directed, Group};
use serde::Serialize;

pub(crate) mod grouping;

/// The measures of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measures {
    /// All flows together, then those with the same stack, then those with the same name apart from its number.
    pub groups: Vec<GroupMeasures>,
    /// In the order of the summary's flows.
    pub flows: Vec<FlowMeasures>,
    /// In the order of the summary's background traffic.
    pub background: Vec<BackgroundMeasures>,
    /// Each direction of a link; a direction with a split is followed by its paths.
    pub links: Vec<LinkMeasures>,
    /// The length of the requested bins, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bin_s: Option<f64>,
    /// Consecutive periods of this length; the last may be shorter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bins: Vec<BinMeasures>,
}

row! {
    /// Several flows together.
    #[derive(Clone, Debug, PartialEq)]
    pub struct GroupMeasures pub(crate) of g: &Group<'_> {
        /// Their common property: `all`, `stack` or `name` (names that differ only in a number, as `web-1` and `web-2`).
        by: &'static str = g.by;
        /// The stack, or the name without its number; empty for all.
        group: String = g.name.to_owned();
        /// The number of flows.
        flows: usize = g.flows.len();
        /// Payload acknowledged.
        acked_bytes: u64 [unit("bytes")] = g.acked_bytes();
        /// `acked_bytes` over the duration of the run.
        throughput_bytes_per_s: f64 [unit("bytes/s"), averaged] = g.acked_bytes() as f64 / g.duration_s;
        /// `acked_bytes` over the time from the first start to the last finish, or else to the end of the run.
        goodput_bytes_per_s: Option<f64> [unit("bytes/s"), averaged, shown("goodput"), scaled("kB/s", 1e-3, 1)] =
            g.length_s().map(|length_s| g.acked_bytes() as f64 / length_s);
        /// Share of the payload acknowledged in the run.
        share: Option<f64> [shown("share"), scaled("%", 1e2, 1)] = ratio(g.acked_bytes(), g.all_acked_bytes);
        /// Jain's index of the flows' goodput (Jain, Chiu & Hawe 1984): 1 if all got the same, 1/n if one of n got
        /// everything. Flows that never began do not count.
        jain: Option<f64> [averaged, shown("Jain"), scaled("", 1.0, 3)] = jain(g.begun().map(|f| f.goodput_bytes_per_s));
        /// The durations of finished transfers, from the start of each (its SYN, if it has one) to the acknowledgment of
        /// its last byte.
        completion: Flat<Spread> [prefixed, parts(&[("p50_s", "done p50", "s", 1.0, 3), ("p95_s", "p95", "s", 1.0, 3)])] =
            Flat(Spread::exact(g.flows.iter().flat_map(|(f, _)| f.completion_times_s()).collect()));
        /// Round-trip times: for each ACK, from the transmission of a data packet to the arrival of the ACK. Among the
        /// packets that arrived since the previous ACK, the one sent first counts.
        rtt: Flat<Spread> [prefixed, parts(&[("p50_s", "RTT p50", "ms", 1e3, 1), ("p95_s", "p95", "ms", 1e3, 1)])] =
            Flat(g.spread(|meter| &meter.rtt));
        /// One-way delays: from the transmission of each data packet to its arrival, retransmissions included.
        delay: Flat<Spread> [prefixed, parts(&[("p95_s", "delay p95", "ms", 1e3, 1)])] = Flat(g.spread(|meter| &meter.delay));
        /// Counts of packets.
        packets: Flat<PacketMeasures> = Flat(PacketMeasures::of(&g.flows));
    }
}

row! {
    /// One flow.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FlowMeasures pub(crate) of (f, meter, all_acked_bytes): (&FlowSummary, &FlowMeter, Bytes) {
        /// The flow's name.
        name: String = f.name.clone();
        /// Its stack's name.
        stack: String = f.stack.clone();
        /// Share of the payload acknowledged in the run.
        share: Option<f64> [averaged] = ratio(f.acked_bytes, all_acked_bytes);
        /// Counts of packets.
        packets: Flat<PacketMeasures> = Flat(PacketMeasures::of(&[(f, meter)]));
        /// The durations of its transfers. A flow of fixed size is one transfer.
        completion: Flat<Spread> [prefixed] = Flat(Spread::exact(f.completion_times_s()));
        /// Its round-trip times, as of several flows.
        rtt: Flat<Spread> [prefixed] = Flat(Spread::of(&meter.rtt));
        /// Its one-way delays, as of several flows.
        delay: Flat<Spread> [prefixed] = Flat(Spread::of(&meter.delay));
    }
}

row! {
    /// Loss and reordering experienced by packets.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct PacketMeasures pub(crate) of flows: &[(&FlowSummary, &FlowMeter)] {
        /// Data packets that were sent, retransmissions included.
        data_packets_sent: u64 = flows.iter().map(|(f, _)| f.data_packets_sent).sum();
        /// Data packets that arrived; one that the network duplicated counts once.
        data_packets_arrived: u64 [averaged] = flows.iter().map(|(_, meter)| meter.arrived()).sum();
        /// Data packets dropped on the path, as a share of those sent.
        loss_ratio: Option<f64> [averaged, shown("lost"), scaled("%", 1e2, 2)] =
            share(flows, |(f, _)| f.data_drops, |(f, _)| f.data_packets_sent);
        /// Packets that arrived after a packet sent later (RFC 4737), as a share of all arrivals.
        reordered_ratio: Option<f64> [averaged, shown("late"), scaled("%", 1e2, 2)] =
            share(flows, |(_, meter)| meter.reordered, |(_, meter)| meter.arrived());
        /// Needless retransmissions, as a share of the packets sent.
        needless_ratio: Option<f64> [averaged, shown("needless"), scaled("%", 1e2, 2)] =
            share(flows, |(f, _)| f.needless_retransmissions, |(f, _)| f.data_packets_sent);
    }
}

row! {
    /// One kind of background traffic.
    #[derive(Clone, Debug, PartialEq)]
    pub struct BackgroundMeasures pub(crate) of (background, of, took, duration_s): (usize, &BackgroundSummary, &Histogram, f64) {
        /// Its place among them.
        background: usize = background;
        /// The delivered data over the duration of the run.
        throughput_bytes_per_s: f64 [unit("bytes/s")] = of.delivered_bytes as f64 / duration_s;
        /// The durations of its finished transfers.
        completion: Flat<Spread> [prefixed] = Flat(Spread::of(took));
    }
}

row! {
    /// One direction of a link, or a path of its split. A link with a split comes before its paths and is their sum.
    #[derive(Clone, Debug, PartialEq)]
    pub struct LinkMeasures pub(crate) of (d, meter, duration_s): (&Directed<'_>, &LinkMeter, f64) {
        /// Its number, as in the trace.
        link: usize = d.link;
        /// For a path: its position in the split.
        path: Option<usize> = d.path;
        /// The node at its entry.
        from: String = d.from.to_owned();
        /// The node at its exit.
        to: String = d.to.to_owned();
        /// Packets that left its transmitter.
        packets: u64 = meter.packets;
        /// Their bytes on the wire.
        bytes: u64 [unit("bytes"), shown("bytes"), scaled("MB", 1e-6, 2)] = meter.bytes;
        /// Bytes sent, as a share of the bytes that its rate allows; missing without a fixed rate. For a split: of all its
        /// paths together.
        utilisation: Option<f64> [shown("used"), scaled("%", 1e2, 1)] = d.utilisation(meter.bytes, duration_s);
        /// The time that those packets waited before their transmission began.
        queue_delay: Flat<Spread> [prefixed, parts(&[
            ("p50_s", "waited p50", "ms", 1e3, 2),
            ("p95_s", "p95", "ms", 1e3, 2),
            ("p99_s", "p99", "ms", 1e3, 2),
        ])] = Flat(Spread::of(&meter.wait));
    }
}

/// A period of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BinMeasures {
    /// When it begins, seconds.
    pub start_s: f64,
    /// When it ends, seconds.
    pub end_s: f64,
    /// In the order of the summary's flows.
    pub flows: Vec<FlowBin>,
    /// In the order of the measures' links.
    pub links: Vec<LinkBin>,
}

row! {
    /// A flow in a period of a run.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FlowBin pub(crate) of (acked, meter, length_s): (Bytes, &FlowMeter, f64) {
        /// Payload acknowledged in it, over its length.
        goodput_bytes_per_s: f64 [unit("bytes/s")] = acked as f64 / length_s;
        /// Round-trip times of round trips that ended in it.
        rtt: Flat<Spread> [prefixed] = Flat(Spread::of(&meter.rtt));
        /// One-way delay of data that arrived in it.
        delay: Flat<Spread> [prefixed] = Flat(Spread::of(&meter.delay));
    }
}

row! {
    /// A link in a period of a run.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct LinkBin pub(crate) of (d, meter, length_s): (&Directed<'_>, &LinkMeter, f64) {
        /// Bytes that left its transmitter in it.
        bytes: u64 [unit("bytes")] = meter.bytes;
        /// As for the whole run.
        utilisation: Option<f64> = d.utilisation(meter.bytes, length_s);
        /// The time that the packets that left in it had waited.
        queue_delay: Flat<Spread> [prefixed] = Flat(Spread::of(&meter.wait));
    }
}

row! {
    /// The distribution of a quantity's values; everything but the count is missing without values.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Spread {
        /// The number of values.
        count: u64 [averaged];
        /// Their mean.
        mean_s: Option<f64> [unit("s"), averaged];
        /// The smallest.
        min_s: Option<f64> [unit("s"), averaged];
        /// The smallest value that half of them do not exceed (nearest rank).
        p50_s: Option<f64> [unit("s"), averaged];
        /// The same for 95 %.
        p95_s: Option<f64> [unit("s"), averaged];
        /// The same for 99 %.
        p99_s: Option<f64> [unit("s"), averaged];
        /// The largest.
        max_s: Option<f64> [unit("s"), averaged];
    }
}

impl Spread {
    /// Returns the distribution in a histogram of nanoseconds; every number is within 1/256 of the exact one.
    pub fn of(h: &Histogram) -> Self {
        let seconds = |ns: u64| Nanos(ns).as_secs_f64();
        let [min_s, p50_s, p95_s, p99_s, max_s] = match h.quantiles([0, 500, 950, 990, 1000]) {
            Some(values) => values.map(|ns| Some(seconds(ns))),
            None => [None; 5],
        };
        Spread { count: h.len(), mean_s: h.mean().map(seconds), min_s, p50_s, p95_s, p99_s, max_s }
    }

    /// Returns the exact distribution of these values, in seconds.
    pub fn exact(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let at = |thousandths| nearest_rank(&values, thousandths);
        Spread {
            count: n as u64,
            mean_s: (n > 0).then(|| values.iter().sum::<f64>() / n as f64),
            min_s: at(0),
            p50_s: at(500),
            p95_s: at(950),
            p99_s: at(990),
            max_s: at(1000),
        }
    }
}

/// Jain's index of fairness (Jain, Chiu & Hawe 1984): (Σx)² / (n Σx²). `None` without values, or if all are 0.
pub fn jain(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum, squares) = values.fold((0.0, 0.0, 0.0), |(n, s, q), x| (n + 1.0, s + x, q + x * x));
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

/// `of` as a share of `all`; `None` if that is 0.
fn ratio(of: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| of as f64 / all as f64)
}

/// The sum of one count as a share of the sum of another.
fn share<T>(rows: &[T], of: impl Fn(&T) -> u64, all: impl Fn(&T) -> u64) -> Option<f64> {
    ratio(rows.iter().map(of).sum(), rows.iter().map(all).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_that_of_the_definition() {
        assert_eq!(jain([5.0, 5.0, 5.0].into_iter()), Some(1.0));
        assert_eq!(jain([8.0, 0.0, 0.0, 0.0].into_iter()), Some(0.25));
        // (1 + 2 + 3)² / (3 · (1 + 4 + 9)) = 36 / 42.
        assert_eq!(jain([1.0, 2.0, 3.0].into_iter()), Some(36.0 / 42.0));
        assert_eq!((jain(std::iter::empty()), jain([0.0].into_iter())), (None, None));
    }

    #[test]
    fn exact_percentiles_are_by_nearest_rank() {
        let s = Spread::exact((1..=200).rev().map(f64::from).collect());
        assert_eq!((s.min_s, s.p50_s, s.p95_s, s.p99_s), (Some(1.0), Some(100.0), Some(190.0), Some(198.0)));
        assert_eq!((s.count, s.mean_s, s.max_s), (200, Some(100.5), Some(200.0)));
        assert_eq!(Spread::exact(Vec::new()), Spread::default());
    }
}
