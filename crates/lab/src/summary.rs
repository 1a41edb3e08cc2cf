//! What a run comes to: numbers for each flow and each link.

use crate::stats::Interval;
use ackclock_sim::reordering::density::THRESHOLD;
use ackclock_sim::reordering::Reordering;
use serde::Serialize;
use std::collections::BTreeMap;

/// One run in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The run's seed.
    pub seed: u64,
    /// Which run this is: see [`crate::identity`].
    pub identity: String,
    /// What happened in it: see `ackclock-trace`.
    pub trace_hash: String,
    /// Simulated time, seconds.
    pub duration_s: f64,
    /// In the scenario's order.
    pub flows: Vec<FlowSummary>,
    /// Traffic beside the flows, in the scenario's order.
    pub background: Vec<BackgroundSummary>,
    /// Two for each link of the scenario: its own direction, then `back`.
    pub links: Vec<LinkSummary>,
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
    /// Segments with data that were sent, retransmissions included.
    pub data_packets_sent: u64,
    /// Of these, those whose data had been sent before.
    pub retransmissions: u64,
    /// Of these, those of which some byte had no earlier copy that arrived.
    pub needed_retransmissions: u64,
    /// Those of which an earlier copy of each byte arrived, but the receiver threw some away (PAWS, window).
    pub refused_retransmissions: u64,
    /// The others: the receiver had taken an earlier copy of each byte, or would have when the run ended.
    pub needless_retransmissions: u64,
    /// Of the needless ones, those with which a fast recovery began.
    pub needless_fast_retransmissions: u64,
    /// Segments with data that were dropped anywhere on the path.
    pub data_drops: u64,
    /// Pure ACKs that were dropped anywhere on the path back.
    pub ack_drops: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Entries into the Recovery phase.
    pub fast_recoveries: u64,
    /// The largest duplicate ACK threshold in force, segments; `None` before the first ACK, or where none is counted.
    pub dupthresh_max: Option<u32>,
    /// Its mean over time from the first ACK to the end of the run, segments.
    pub dupthresh_mean: Option<f64>,
    /// The largest in force when a timeout had been dealt with, segments; `None` without timeouts.
    pub dupthresh_after_timeout_max: Option<u32>,
    /// The largest share that it had of Blanton & Allman's ceiling (2002, §6.6): min (0.9 cwnd, cwnd − 1) segments, and three
    /// at least. What stands at the end of an instant counts.
    pub dupthresh_of_ceiling_max: Option<f64>,
    /// Of transfers in a row: how many ended. A row on several connections is one flow here, with the sums of its counts, the
    /// largest of its thresholds, and neither their mean nor its reordering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfers: Option<u32>,
    /// The median of how long they took, seconds: from the beginning of each (its SYN, where it has one) to the acknowledgment of its last byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_median_s: Option<f64>,
    /// How long 95 % of them took at most, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_p95_s: Option<f64>,
    /// How long each took, seconds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transfer_times_s: Vec<f64>,
    /// How much the path reordered what came to the receiver, where the scenario asks for it (`run.reordering`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordering: Option<ReorderingSummary>,
    /// The same of what came back to the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_reordering: Option<ReorderingSummary>,
}

/// One kind of background traffic in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BackgroundSummary {
    /// `transfers` or `source`.
    pub kind: &'static str,
    /// The node that sends.
    pub from: String,
    /// The node to which it is sent.
    pub to: String,
    /// Transfers that began.
    pub started: u64,
    /// Of these, those of which everything was acknowledged.
    pub finished: u64,
    /// Arrivals that found as many going on as may.
    pub refused: u64,
    /// Mean time that a finished transfer took, seconds; `None` if none finished.
    pub mean_time_s: Option<f64>,
    /// Packets with data that were sent, retransmissions included.
    pub packets_sent: u64,
    /// Of a source: packets that arrived.
    pub packets_delivered: u64,
    /// Of transfers: packets whose data had been sent before.
    pub retransmissions: u64,
    /// Retransmissions among these that were needed, as in [`FlowSummary::needed_retransmissions`].
    pub needed_retransmissions: u64,
    /// Those of which the receiver had thrown something away, as in [`FlowSummary::refused_retransmissions`].
    pub refused_retransmissions: u64,
    /// The others, as in [`FlowSummary::needless_retransmissions`].
    pub needless_retransmissions: u64,
    /// Of transfers: payload acknowledged; of a source: bytes on the wire that arrived.
    pub delivered_bytes: u64,
}

/// RFC 4737's metrics of one direction of a flow, and RFC 5236's densities, each transmission a packet of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReorderingSummary {
    /// Packets that arrived. One that the network doubled counts once.
    pub packets: u64,
    /// Second arrivals of doubled packets.
    pub duplicates: u64,
    /// Packets that came after one that was sent later.
    pub reordered: u64,
    /// `reordered` over `packets` (§4.1).
    pub ratio: f64,
    /// How many have which extent: arrivals since the first packet that was sent later (§4.2).
    pub extents: BTreeMap<u64, u64>,
    /// How many have which largest n, by which they are n-reordered (§5): where it is 3 or more, a TCP with a threshold of 3
    /// retransmits needlessly.
    pub n_reordered: BTreeMap<u64, u64>,
    /// Sum of the late times, seconds (§4.3).
    pub late_time_s: f64,
    /// The longest late time, seconds.
    pub max_late_time_s: f64,
    /// Sum of the byte offsets: payload to be stored until the late packet came (§4.4).
    pub byte_offset_bytes: u64,
    /// The largest byte offset.
    pub max_byte_offset_bytes: u64,
    /// Reordering discontinuities (§4.5).
    pub discontinuities: u64,
    /// Runs of packets in order that a reordered one ended (§4.6).
    pub free_runs: u64,
    /// Packets in them.
    pub free_run_packets: u64,
    /// The displacement, and the occupancy of the buffer, from which on a packet counts as lost for the densities (DT and BT of
    /// RFC 5236 §3.4 and §3.9), packets: Linux's `tcp_max_reordering`.
    pub density_threshold: u64,
    /// Reorder density (RFC 5236 §3.6): the share of packets that came so many places late, or early where that is negative.
    pub reorder_density: BTreeMap<i64, f64>,
    /// Reorder buffer-occupancy density (§3.11): the share of arrivals after which a receiver that puts packets in order holds
    /// so many.
    pub buffer_occupancy_density: BTreeMap<u64, f64>,
}

impl ReorderingSummary {
    /// What a path has done.
    pub fn of(r: &Reordering) -> Self {
        let (late, runs) = (r.late(), r.runs());
        ReorderingSummary {
            packets: r.packets(),
            duplicates: r.duplicates(),
            reordered: late.packets,
            ratio: r.ratio(),
            extents: late.extents.clone(),
            n_reordered: late.n.clone(),
            late_time_s: late.time.as_secs_f64(),
            max_late_time_s: late.longest.as_secs_f64(),
            byte_offset_bytes: late.bytes,
            max_byte_offset_bytes: late.most_bytes,
            discontinuities: r.discontinuities(),
            free_runs: runs.runs,
            free_run_packets: runs.packets,
            density_threshold: THRESHOLD,
            reorder_density: r.density().reorder_density(),
            buffer_occupancy_density: r.density().buffer_occupancy_density(),
        }
    }
}

/// One direction of a link in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkSummary {
    /// The node at its entry.
    pub from: String,
    /// The node at its exit.
    pub to: String,
    /// Packets that found the queue full.
    pub queue_drops: u64,
    /// Packets that a loss model or an interruption took.
    pub loss_drops: u64,
    /// Packets that RED dropped before the queue was full.
    pub early_drops: u64,
    /// Packets that RED marked in place of dropping them.
    pub marks: u64,
    /// Packets that the scenario's script dropped.
    pub script_drops: u64,
    /// The most packets at once, waiting and in service; `None` where the queue can never be full.
    pub max_queue_packets: Option<u32>,
    /// Events of swap processes.
    pub swap_events: u64,
    /// Packets that found too few others waiting.
    pub swap_skipped: u64,
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
    /// See [`FlowSummary::data_drops`].
    pub data_drops: Interval,
    /// See [`FlowSummary::timeouts`].
    pub timeouts: Interval,
    /// See [`FlowSummary::fast_recoveries`].
    pub fast_recoveries: Interval,
    /// See [`FlowSummary::finish_s`]; over the runs in which the flow finished, `None` if in none.
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
        data_drops: of(|s| s.data_drops as f64)?,
        timeouts: of(|s| s.timeouts as f64)?,
        fast_recoveries: of(|s| s.fast_recoveries as f64)?,
        finish_s: some(|s| s.finish_s),
        transfers: some(|s| s.transfers.map(f64::from)),
        transfer_median_s: some(|s| s.transfer_median_s),
        transfer_p95_s: some(|s| s.transfer_p95_s),
    })
}
