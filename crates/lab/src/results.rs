//! The rows of a run: flows, background traffic, links. To add a column, add it here; see CONTRIBUTING.md.

use crate::ended::{median, p95, Ended};
pub use ackclock_sim::reordering::summary::ReorderingSummary;
use ackclock_sim::results::{BackgroundResult, LinkResult};
use ackclock_sim::scenario::{BackgroundKind, BackgroundSpec, Scenario};
use ackclock_sim::watch::Side;
use ackclock_table::row;

row! {
    /// One flow of a run.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FlowSummary pub(crate) of f: &Ended<'_> {
        /// The flow's name.
        name: String = f.name.to_owned();
        /// Its stack's name.
        stack: String = f.plan.stacks[f.spec.stack as usize].name.clone();
        /// When its application began.
        start_s: f64 [unit("s")] = f.start_s;
        /// Payload acknowledged cumulatively at the sender.
        acked_bytes: u64 [unit("bytes"), averaged, summed] = f.result.acked;
        /// `acked_bytes` over the duration of the whole run (ns-2's acked × mss / duration).
        throughput_bytes_per_s: f64
            [unit("bytes/s"), averaged, shown("throughput"), scaled("kB/s", 1e-3, 1), more_is_better] =
            f.result.acked as f64 / f.duration_s;
        /// `acked_bytes` over the flow's own time: from its start to its finish, or to the end of the run.
        goodput_bytes_per_s: f64
            [unit("bytes/s"), averaged, shown("goodput"), brief, scaled("kB/s", 1e-3, 1), more_is_better] =
            f.result.acked as f64 / (f.finish_s.unwrap_or(f.duration_s) - f.start_s);
        /// Segments with data sent, retransmissions included.
        data_packets_sent: u64 [averaged, summed, shown("sent")] = f.result.data_sent;
        /// Segments whose data had been sent before.
        retransmissions: u64 [averaged, summed, shown("resent"), brief] = f.result.retransmitted;
        /// Retransmissions with at least one byte that no earlier copy had delivered.
        needed_retransmissions: u64 [averaged, summed] = f.result.needed;
        /// Retransmissions whose bytes had all arrived in earlier copies, some of which the receiver threw away (PAWS, window).
        refused_retransmissions: u64 [averaged, summed, shown("refused"), brief, seldom] = f.result.refused;
        /// The other retransmissions: the receiver had taken an earlier copy of each byte, or was about to when the run ended.
        needless_retransmissions: u64 [averaged, summed, shown("needless"), brief] = f.result.needless;
        /// The needless retransmissions that began a fast recovery.
        needless_fast_retransmissions: u64 [averaged, summed] = f.result.needless_by.fast;
        /// The other needless retransmissions that fast recoveries caused.
        needless_recovery_retransmissions: u64 [averaged, summed] = f.result.needless_by.recovery;
        /// The needless probes of the tail, or of a closed window.
        needless_probe_retransmissions: u64 [averaged, summed] = f.result.needless_by.probe;
        /// The needless retransmissions after timeouts. With those three it adds up to all; those of a kernel are in none.
        needless_timeout_retransmissions: u64 [averaged, summed] = f.result.needless_by.timeout;
        /// Segments with data that were dropped anywhere on the path.
        data_drops: u64 [averaged, summed, shown("dropped"), brief] = f.tally.data_drops;
        /// Pure ACKs that were dropped anywhere on the path back.
        ack_drops: u64 [averaged, summed] = f.tally.ack_drops;
        /// Retransmission timeouts.
        timeouts: u64 [averaged, summed, shown("timeouts"), brief] = f.tally.timeouts;
        /// Entries into the Recovery phase.
        fast_recoveries: u64 [averaged, summed, shown("fast rec.")] = f.tally.fast_recoveries;
        /// When the last byte of a transfer of fixed size was acknowledged.
        finish_s: Option<f64> [unit("s"), averaged, last, shown("finish"), scaled("s", 1.0, 3), brief, seldom] = f.finish_s;
        /// The largest duplicate ACK threshold in force; missing before the first ACK, or if duplicates are not counted.
        dupthresh_max: Option<u32> [unit("segments"), averaged, largest] = f.dupthresh.max;
        /// The threshold's mean over the time from the first ACK to the end of the run.
        dupthresh_mean: Option<f64> [unit("segments"), averaged, single] = f.dupthresh.mean(f.end);
        /// The largest threshold in force after the handling of a timeout; missing without timeouts.
        dupthresh_after_timeout_max: Option<u32> [unit("segments"), averaged, largest] = f.dupthresh.after_timeout_max;
        /// The threshold's largest value as a share of Blanton & Allman's ceiling (2002, §6.6): min (0.9 cwnd, cwnd − 1)
        /// segments, and at least three. Only values at the end of an instant count.
        dupthresh_of_ceiling_max: Option<f64> [averaged, largest] = f.dupthresh.of_ceiling_max();
        /// For consecutive transfers: how many finished. Those on several connections are one flow here, with the sums of its
        /// counts, the largest of its thresholds, and neither their mean nor its reordering.
        transfers: Option<u32> [sparse, averaged, shown("transfers"), seldom] = f.times.map(|t| t.len() as u32);
        /// The median duration of these transfers: from its beginning (its SYN, if it has one) to the acknowledgment of its
        /// last byte.
        transfer_median_s: Option<f64>
            [unit("s"), sparse, averaged, shown("median"), scaled("ms", 1e3, 1), seldom] = f.times.and_then(median);
        /// The 95th percentile of the durations of these transfers.
        transfer_p95_s: Option<f64>
            [unit("s"), sparse, averaged, shown("p95"), scaled("ms", 1e3, 1), seldom] = f.times.and_then(p95);
        /// The duration of each transfer.
        transfer_times_s: Vec<f64> [unit("s"), sparse] = f.times.unwrap_or_default().to_vec();
        /// The path's reordering of packets to the receiver, if the scenario requests it (`run.reordering`).
        reordering: Option<ReorderingSummary> [sparse, single] = f.order(Side::Receiver);
        /// The same for packets back to the sender.
        ack_reordering: Option<ReorderingSummary> [sparse, single] = f.order(Side::Sender);
    }
}

impl FlowSummary {
    /// The durations of its transfers, or of its only one.
    pub(crate) fn completion_times_s(&self) -> Vec<f64> {
        match self.transfers {
            Some(_) => self.transfer_times_s.clone(),
            None => self.finish_s.map(|finish_s| finish_s - self.start_s).into_iter().collect(),
        }
    }
}

row! {
    /// One kind of background traffic of a run.
    #[derive(Clone, Debug, PartialEq)]
    pub struct BackgroundSummary pub(crate) of (scenario, spec, result): (&Scenario, &BackgroundSpec, &BackgroundResult) {
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
    pub struct LinkSummary pub(crate) of (scenario, (from, to), result): (&Scenario, (u32, u32), &LinkResult) {
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
