//! The results of a run: numbers for each flow and each link.

use crate::measures::Measures;
use crate::stats::Interval;
pub use ackclock_sim::reordering::summary::ReorderingSummary;
use ackclock_sim::results::{BackgroundResult, LinkResult};
use ackclock_sim::scenario::{BackgroundKind, BackgroundSpec, Scenario};
use ackclock_table::row;
use serde::Serialize;

/// One run in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The run's seed.
    pub seed: u64,
    /// The run's identity: see [`crate::identity`].
    pub identity: String,
    /// The hash of its events: see `ackclock-trace`.
    pub trace_hash: String,
    /// Simulated time, seconds.
    pub duration_s: f64,
    /// In the scenario's order.
    pub flows: Vec<FlowSummary>,
    /// Background traffic, in the scenario's order.
    pub background: Vec<BackgroundSummary>,
    /// Two for each link of the scenario: its own direction, then `back`.
    pub links: Vec<LinkSummary>,
    /// Parameters that the scenario sets for its own stack, and that the stack chosen instead lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused_parameters: Vec<String>,
    /// Totals, delays, completion times and the links' loads, if the scenario requests them (`run.measures`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measures: Option<Measures>,
}

/// One flow in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowSummary {
    /// The flow's name.
    pub name: String,
    /// Its stack's name.
    pub stack: String,
    /// When its application began, seconds.
    pub start_s: f64,
    /// When the last byte of a transfer of fixed size was acknowledged, seconds.
    pub finish_s: Option<f64>,
    /// Payload acknowledged cumulatively at the sender, bytes.
    pub acked_bytes: u64,
    /// `acked_bytes` over the duration of the whole run (ns-2's acked × mss / duration).
    pub throughput_bytes_per_s: f64,
    /// `acked_bytes` over the flow's own time: from its start to its finish, or to the end of the run.
    pub goodput_bytes_per_s: f64,
    /// Segments with data sent, retransmissions included.
    pub data_packets_sent: u64,
    /// Segments whose data had been sent before.
    pub retransmissions: u64,
    /// Retransmissions with at least one byte that no earlier copy had delivered.
    pub needed_retransmissions: u64,
    /// Retransmissions whose bytes had all arrived in earlier copies, some of which the receiver threw away (PAWS, window).
    pub refused_retransmissions: u64,
    /// The other retransmissions: the receiver had taken an earlier copy of each byte, or was about to when the run ended.
    pub needless_retransmissions: u64,
    /// The needless retransmissions that began a fast recovery.
    pub needless_fast_retransmissions: u64,
    /// The other needless retransmissions that fast recoveries caused.
    pub needless_recovery_retransmissions: u64,
    /// The needless probes of the tail, or of a closed window.
    pub needless_probe_retransmissions: u64,
    /// The needless retransmissions after timeouts. With those three it adds up to all; those of a kernel are in none.
    pub needless_timeout_retransmissions: u64,
    /// Segments with data that were dropped anywhere on the path.
    pub data_drops: u64,
    /// Pure ACKs that were dropped anywhere on the path back.
    pub ack_drops: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Entries into the Recovery phase.
    pub fast_recoveries: u64,
    /// The largest duplicate ACK threshold in force, segments; `None` before the first ACK, or if duplicates are not counted.
    pub dupthresh_max: Option<u32>,
    /// The threshold's mean over the time from the first ACK to the end of the run, segments.
    pub dupthresh_mean: Option<f64>,
    /// The largest threshold in force after the handling of a timeout, segments; `None` without timeouts.
    pub dupthresh_after_timeout_max: Option<u32>,
    /// The threshold's largest value as a share of Blanton & Allman's ceiling (2002, §6.6): min (0.9 cwnd, cwnd − 1) segments,
    /// and at least three. Only values at the end of an instant count.
    pub dupthresh_of_ceiling_max: Option<f64>,
    /// For transfers in a row: the number of finished transfers. A row on several connections is one flow here, with the sums
    /// of its counts, the largest of its thresholds, and neither their mean nor its reordering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfers: Option<u32>,
    /// The median duration of these transfers, seconds: from its beginning (its SYN, if it has one) to the acknowledgment of
    /// its last byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_median_s: Option<f64>,
    /// The 95th percentile of the durations of these transfers, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_p95_s: Option<f64>,
    /// The duration of each transfer, seconds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transfer_times_s: Vec<f64>,
    /// The path's reordering of packets to the receiver, if the scenario requests it (`run.reordering`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordering: Option<ReorderingSummary>,
    /// The same for packets back to the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_reordering: Option<ReorderingSummary>,
}

row! {
    /// One kind of background traffic of a run.
    #[derive(Clone, Debug, PartialEq)]
    pub struct BackgroundSummary of (scenario, spec, result): (&Scenario, &BackgroundSpec, &BackgroundResult) {
        /// `transfers` or `source`.
        kind: &'static str = match spec.kind {
            BackgroundKind::Transfers(_) => "transfers",
            BackgroundKind::Source(_) => "source",
        };
        /// The node that sends.
        from: String = scenario.nodes[spec.from as usize].clone();
        /// The destination node.
        to: String = scenario.nodes[spec.to as usize].clone();
        /// Transfers that began.
        started: u64 = result.started;
        /// Transfers whose data was acknowledged completely.
        finished: u64 = result.finished;
        /// Arrivals that found the maximum number of transfers in progress.
        refused: u64 = result.turned_away;
        /// Mean duration of a finished transfer; missing if none finished.
        mean_time_s: Option<f64> [unit("s")] =
            (result.finished > 0).then(|| result.time.as_secs_f64() / result.finished as f64);
        /// Packets with data sent, retransmissions included.
        packets_sent: u64 = result.packets_sent;
        /// Of a source: packets that arrived.
        packets_delivered: u64 = result.packets_delivered;
        /// Of transfers: packets whose data had been sent before.
        retransmissions: u64 = result.retransmitted;
        /// The needed retransmissions, as of a flow.
        needed_retransmissions: u64 = result.needed;
        /// The refused retransmissions, as of a flow.
        refused_retransmissions: u64 = result.refused;
        /// The needless retransmissions, as of a flow.
        needless_retransmissions: u64 = result.needless;
        /// Of transfers: payload acknowledged; of a source: bytes on the wire that arrived.
        delivered_bytes: u64 [unit("bytes")] = result.delivered;
    }
}

row! {
    /// One direction of a link of a run.
    #[derive(Clone, Debug, PartialEq)]
    pub struct LinkSummary of (scenario, (from, to), result): (&Scenario, (u32, u32), &LinkResult) {
        /// The node at its entry.
        from: String = scenario.nodes[from as usize].clone();
        /// The node at its exit.
        to: String = scenario.nodes[to as usize].clone();
        /// Packets that found the queue full.
        queue_drops: u64 = result.drops.queue;
        /// Packets dropped by a loss model or an interruption.
        loss_drops: u64 = result.drops.loss;
        /// Packets that RED dropped before the queue was full.
        early_drops: u64 = result.drops.early;
        /// Packets that RED marked instead of dropping them.
        marks: u64 = result.marks;
        /// Packets that the scenario's script dropped.
        script_drops: u64 = result.drops.script;
        /// The longest queue, waiting and in service; missing if the queue can never be full.
        max_queue_packets: Option<u32> [unit("packets")] = result.max_queue;
        /// Events of swap processes.
        swap_events: u64 = result.swap_events;
        /// Swap events that found too few packets waiting.
        swap_skipped: u64 = result.swap_skipped;
    }
}

/// One flow over several runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowMeans {
    /// The flow's name.
    pub name: String,
    /// Its stack's name.
    pub stack: String,
    /// See [`FlowSummary::throughput_bytes_per_s`].
    pub throughput_bytes_per_s: Interval,
    /// See [`FlowSummary::goodput_bytes_per_s`].
    pub goodput_bytes_per_s: Interval,
    /// See [`FlowSummary::data_packets_sent`].
    pub data_packets_sent: Interval,
    /// See [`FlowSummary::retransmissions`].
    pub retransmissions: Interval,
    /// See [`FlowSummary::needed_retransmissions`].
    pub needed_retransmissions: Interval,
    /// See [`FlowSummary::refused_retransmissions`].
    pub refused_retransmissions: Interval,
    /// See [`FlowSummary::needless_retransmissions`].
    pub needless_retransmissions: Interval,
    /// See [`FlowSummary::needless_fast_retransmissions`].
    pub needless_fast_retransmissions: Interval,
    /// See [`FlowSummary::needless_recovery_retransmissions`].
    pub needless_recovery_retransmissions: Interval,
    /// See [`FlowSummary::needless_probe_retransmissions`].
    pub needless_probe_retransmissions: Interval,
    /// See [`FlowSummary::needless_timeout_retransmissions`].
    pub needless_timeout_retransmissions: Interval,
    /// See [`FlowSummary::data_drops`].
    pub data_drops: Interval,
    /// See [`FlowSummary::timeouts`].
    pub timeouts: Interval,
    /// See [`FlowSummary::fast_recoveries`].
    pub fast_recoveries: Interval,
    /// See [`FlowSummary::finish_s`]; over the runs in which the flow finished, `None` if there are none.
    pub finish_s: Option<Interval>,
    /// See [`FlowSummary::transfers`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfers: Option<Interval>,
    /// See [`FlowSummary::transfer_median_s`]: the mean over the runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_median_s: Option<Interval>,
    /// See [`FlowSummary::transfer_p95_s`]: the mean over the runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_p95_s: Option<Interval>,
}

/// The means of each flow over runs of one scenario; empty without runs.
pub fn means(runs: &[Summary]) -> Vec<FlowMeans> {
    let flows = runs.first().map_or(0, |r| r.flows.len());
    (0..flows).filter_map(|i| flow_means(&runs.iter().filter_map(|r| r.flows.get(i)).collect::<Vec<_>>())).collect()
}

fn flow_means(flow: &[&FlowSummary]) -> Option<FlowMeans> {
    let first = flow.first()?;
    let of = |f: fn(&FlowSummary) -> f64| Interval::of(&flow.iter().map(|s| f(s)).collect::<Vec<_>>());
    let some = |f: fn(&FlowSummary) -> Option<f64>| Interval::of(&flow.iter().filter_map(|s| f(s)).collect::<Vec<_>>());
    Some(FlowMeans {
        name: first.name.clone(),
        stack: first.stack.clone(),
        throughput_bytes_per_s: of(|s| s.throughput_bytes_per_s)?,
        goodput_bytes_per_s: of(|s| s.goodput_bytes_per_s)?,
        data_packets_sent: of(|s| s.data_packets_sent as f64)?,
        retransmissions: of(|s| s.retransmissions as f64)?,
        needed_retransmissions: of(|s| s.needed_retransmissions as f64)?,
        refused_retransmissions: of(|s| s.refused_retransmissions as f64)?,
        needless_retransmissions: of(|s| s.needless_retransmissions as f64)?,
        needless_fast_retransmissions: of(|s| s.needless_fast_retransmissions as f64)?,
        needless_recovery_retransmissions: of(|s| s.needless_recovery_retransmissions as f64)?,
        needless_probe_retransmissions: of(|s| s.needless_probe_retransmissions as f64)?,
        needless_timeout_retransmissions: of(|s| s.needless_timeout_retransmissions as f64)?,
        data_drops: of(|s| s.data_drops as f64)?,
        timeouts: of(|s| s.timeouts as f64)?,
        fast_recoveries: of(|s| s.fast_recoveries as f64)?,
        finish_s: some(|s| s.finish_s),
        transfers: some(|s| s.transfers.map(f64::from)),
        transfer_median_s: some(|s| s.transfer_median_s),
        transfer_p95_s: some(|s| s.transfer_p95_s),
    })
}
