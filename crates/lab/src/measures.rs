//! A run's measures for network engineers, as numbers with their units: see `docs/measures.md`.

use ackclock_sim::histogram::Histogram;
use ackclock_tcp::time::Nanos;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

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

/// Several flows together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupMeasures {
    /// Their common property: `all`, `stack` or `name`.
    pub by: &'static str,
    /// The stack, or the name without its number; empty for all.
    pub group: String,
    /// The number of flows.
    pub flows: usize,
    /// Payload acknowledged, bytes.
    pub acked_bytes: u64,
    /// `acked_bytes` over the duration of the run.
    pub throughput_bytes_per_s: f64,
    /// `acked_bytes` over the time from the first start to the last finish, or else to the end of the run.
    pub goodput_bytes_per_s: Option<f64>,
    /// Share of the payload acknowledged in the run.
    pub share: Option<f64>,
    /// Jain's index of the flows' goodput (Jain, Chiu & Hawe 1984): 1 if all are equal, 1/n if one flow has everything.
    pub jain: Option<f64>,
    /// Counts of packets.
    #[serde(flatten)]
    pub packets: PacketMeasures,
    /// Durations of transfers.
    #[serde(flatten, serialize_with = "completion")]
    pub completion: Spread,
    /// Round-trip times.
    #[serde(flatten, serialize_with = "rtt")]
    pub rtt: Spread,
    /// One-way delay of data.
    #[serde(flatten, serialize_with = "delay")]
    pub delay: Spread,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowMeasures {
    /// The flow's name.
    pub name: String,
    /// Its stack's name.
    pub stack: String,
    /// Share of the payload acknowledged in the run.
    pub share: Option<f64>,
    /// Counts of packets.
    #[serde(flatten)]
    pub packets: PacketMeasures,
    /// The durations of its transfers: from the start of each to the acknowledgment of its last byte.
    #[serde(flatten, serialize_with = "completion")]
    pub completion: Spread,
    /// From the transmission of a data packet to the arrival of the ACK that acknowledges it; one value for each ACK.
    #[serde(flatten, serialize_with = "rtt")]
    pub rtt: Spread,
    /// From the transmission of each data packet to its arrival.
    #[serde(flatten, serialize_with = "delay")]
    pub delay: Spread,
}

/// Loss and reordering experienced by packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PacketMeasures {
    /// Data packets that were sent, retransmissions included.
    pub data_packets_sent: u64,
    /// Data packets that arrived.
    pub data_packets_arrived: u64,
    /// Data packets dropped on the path, as a share of those sent.
    pub loss_ratio: Option<f64>,
    /// Packets that arrived after a packet sent later (RFC 4737), as a share of all arrivals.
    pub reordered_ratio: Option<f64>,
    /// Needless retransmissions, as a share of the packets sent.
    pub needless_ratio: Option<f64>,
}

/// One kind of background traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BackgroundMeasures {
    /// Its place among them.
    pub background: usize,
    /// The delivered data over the duration of the run.
    pub throughput_bytes_per_s: f64,
    /// The durations of its finished transfers.
    #[serde(flatten, serialize_with = "completion")]
    pub completion: Spread,
}

/// One direction of a link, or a path of its split.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkMeasures {
    /// Its number, as in the trace.
    pub link: usize,
    /// For a path: its position in the split.
    pub path: Option<usize>,
    /// The node at its entry.
    pub from: String,
    /// The node at its exit.
    pub to: String,
    /// Packets that left its transmitter.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Bytes sent, as a share of the bytes that its rate allows; `None` without a fixed rate. For a split: of all its
    /// paths together.
    pub utilisation: Option<f64>,
    /// The time that those packets waited before their transmission began.
    #[serde(flatten, serialize_with = "queue_delay")]
    pub queue_delay: Spread,
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

/// A flow in a period of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FlowBin {
    /// Payload acknowledged in it, over its length.
    pub goodput_bytes_per_s: f64,
    /// Round-trip times of round trips that ended in it.
    #[serde(flatten, serialize_with = "rtt")]
    pub rtt: Spread,
    /// One-way delay of data that arrived in it.
    #[serde(flatten, serialize_with = "delay")]
    pub delay: Spread,
}

/// A link in a period of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinkBin {
    /// Bytes that left its transmitter in it.
    pub bytes: u64,
    /// As for the whole run.
    pub utilisation: Option<f64>,
    /// The time that the packets that left in it had waited.
    #[serde(flatten, serialize_with = "queue_delay")]
    pub queue_delay: Spread,
}

/// The distribution of a quantity's values, seconds; all fields except `count` are `None` without values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The number of values.
    pub count: u64,
    /// Their mean.
    pub mean_s: Option<f64>,
    /// The smallest.
    pub min_s: Option<f64>,
    /// The smallest value that half of them do not exceed, and so on (nearest rank).
    pub p50_s: Option<f64>,
    /// The same for 95 %.
    pub p95_s: Option<f64>,
    /// The same for 99 %.
    pub p99_s: Option<f64>,
    /// The largest.
    pub max_s: Option<f64>,
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
        let at = |thousandths: usize| values.get((n * thousandths).div_ceil(1000).max(1) - 1).copied();
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

/// A serializer of a [`Spread`] whose keys begin with a quantity's name, for a row with other numbers.
macro_rules! named {
    ($($name:ident)*) => {
        $(fn $name<S: Serializer>(of: &Spread, to: S) -> Result<S::Ok, S::Error> {
            let Spread { count, mean_s, min_s, p50_s, p95_s, p99_s, max_s } = of;
            let mut map = to.serialize_map(Some(7))?;
            map.serialize_entry(concat!(stringify!($name), "_count"), count)?;
            map.serialize_entry(concat!(stringify!($name), "_mean_s"), mean_s)?;
            map.serialize_entry(concat!(stringify!($name), "_min_s"), min_s)?;
            map.serialize_entry(concat!(stringify!($name), "_p50_s"), p50_s)?;
            map.serialize_entry(concat!(stringify!($name), "_p95_s"), p95_s)?;
            map.serialize_entry(concat!(stringify!($name), "_p99_s"), p99_s)?;
            map.serialize_entry(concat!(stringify!($name), "_max_s"), max_s)?;
            map.end()
        })*
    };
}

named! { completion rtt delay queue_delay }

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
