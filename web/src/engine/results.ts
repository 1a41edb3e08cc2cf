// Generated: tools/dev generate web/src/engine/results.ts

/** How a number is shown. */
export interface Column {
  readonly label: string;
  /** The displayed unit; empty for counts and shares. */
  readonly unit: string;
  /** The factor from the value to the displayed one. */
  readonly scale: number;
  /** Digits after the decimal point. */
  readonly digits: number;
  readonly moreIsBetter: boolean;
}

/** One flow of a run. */
export interface FlowSummary {
  /** The flow's name. */
  readonly name: string;
  /** Its stack's name. */
  readonly stack: string;
  /** When its application began. Unit: s. */
  readonly start_s: number;
  /** Payload acknowledged cumulatively at the sender. Unit: bytes. */
  readonly acked_bytes: number;
  /** `acked_bytes` over the duration of the whole run (ns-2's acked × mss / duration). Unit: bytes/s. */
  readonly throughput_bytes_per_s: number;
  /** `acked_bytes` over the flow's own time: from its start to its finish, or to the end of the run. Unit: bytes/s. */
  readonly goodput_bytes_per_s: number;
  /** Segments with data sent, retransmissions included. */
  readonly data_packets_sent: number;
  /** Segments whose data had been sent before. */
  readonly retransmissions: number;
  /** Retransmissions with at least one byte that no earlier copy had delivered. */
  readonly needed_retransmissions: number;
  /** Retransmissions whose bytes had all arrived in earlier copies, some of which the receiver threw away (PAWS, window). */
  readonly refused_retransmissions: number;
  /** The other retransmissions: the receiver had taken an earlier copy of each byte, or was about to when the run ended. */
  readonly needless_retransmissions: number;
  /** The needless retransmissions that began a fast recovery. */
  readonly needless_fast_retransmissions: number;
  /** The other needless retransmissions that fast recoveries caused. */
  readonly needless_recovery_retransmissions: number;
  /** The needless probes of the tail, or of a closed window. */
  readonly needless_probe_retransmissions: number;
  /** The needless retransmissions after timeouts. With those three it adds up to all; those of a kernel are in none. */
  readonly needless_timeout_retransmissions: number;
  /** Segments with data that were dropped anywhere on the path. */
  readonly data_drops: number;
  /** Pure ACKs that were dropped anywhere on the path back. */
  readonly ack_drops: number;
  /** Retransmission timeouts. */
  readonly timeouts: number;
  /** Entries into the Recovery phase. */
  readonly fast_recoveries: number;
  /** When the last byte of a transfer of fixed size was acknowledged. Unit: s. */
  readonly finish_s: number | null;
  /** The largest duplicate ACK threshold in force; missing before the first ACK, or if duplicates are not counted. Unit: segments. */
  readonly dupthresh_max: number | null;
  /** The threshold's mean over the time from the first ACK to the end of the run. Unit: segments. */
  readonly dupthresh_mean: number | null;
  /** The largest threshold in force after the handling of a timeout; missing without timeouts. Unit: segments. */
  readonly dupthresh_after_timeout_max: number | null;
  /** The threshold's largest value as a share of Blanton & Allman's ceiling (2002, §6.6): min (0.9 cwnd, cwnd − 1) segments, and at least three. Only values at the end of an instant count. */
  readonly dupthresh_of_ceiling_max: number | null;
  /** For consecutive transfers: how many finished. Those on several connections are one flow here, with the sums of its counts, the largest of its thresholds, and neither their mean nor its reordering. */
  readonly transfers?: number;
  /** The median duration of these transfers: from its beginning (its SYN, if it has one) to the acknowledgment of its last byte. Unit: s. */
  readonly transfer_median_s?: number;
  /** The 95th percentile of the durations of these transfers. Unit: s. */
  readonly transfer_p95_s?: number;
  /** The duration of each transfer. Unit: s. */
  readonly transfer_times_s?: readonly number[];
  /** The path's reordering of packets to the receiver, if the scenario requests it (`run.reordering`). */
  readonly reordering?: ReorderingSummary;
  /** The same for packets back to the sender. */
  readonly ack_reordering?: ReorderingSummary;
}

export const FlowSummaryColumns = {
  start_s: { label: "start", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  acked_bytes: { label: "acked", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
  throughput_bytes_per_s: { label: "throughput", unit: "kB/s", scale: 0.001, digits: 1, moreIsBetter: true },
  goodput_bytes_per_s: { label: "goodput", unit: "kB/s", scale: 0.001, digits: 1, moreIsBetter: true },
  data_packets_sent: { label: "data packets sent", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  retransmissions: { label: "retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  needed_retransmissions: { label: "needed retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  refused_retransmissions: { label: "refused retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  needless_retransmissions: { label: "needless retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  needless_fast_retransmissions: { label: "needless fast retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  needless_recovery_retransmissions: { label: "needless recovery retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  needless_probe_retransmissions: { label: "needless probe retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  needless_timeout_retransmissions: { label: "needless timeout retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  data_drops: { label: "data drops", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  ack_drops: { label: "ack drops", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  timeouts: { label: "timeouts", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  fast_recoveries: { label: "fast recoveries", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  finish_s: { label: "finish", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  dupthresh_max: { label: "dupthresh max", unit: "segments", scale: 1.0, digits: 0, moreIsBetter: false },
  dupthresh_mean: { label: "dupthresh mean", unit: "segments", scale: 1.0, digits: 3, moreIsBetter: false },
  dupthresh_after_timeout_max: { label: "dupthresh after timeout max", unit: "segments", scale: 1.0, digits: 0, moreIsBetter: false },
  dupthresh_of_ceiling_max: { label: "dupthresh of ceiling max", unit: "", scale: 1.0, digits: 3, moreIsBetter: false },
  transfers: { label: "transfers", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  transfer_median_s: { label: "transfer median", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
  transfer_p95_s: { label: "transfer p95", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** RFC 4737's metrics of one direction of a flow, and RFC 5236's densities. Each transmission is a packet of its own. */
export interface ReorderingSummary {
  /** Packets that arrived. A packet duplicated by the network counts once. */
  readonly packets: number;
  /** Second arrivals of duplicated packets. */
  readonly duplicates: number;
  /** Packets that arrived after one that was sent later (§3). */
  readonly reordered: number;
  /** `reordered` over `packets` (§4.1). */
  readonly reordered_ratio: number;
  /** Count of packets by extent: arrivals since the first packet that was sent later (§4.2). */
  readonly extents: Readonly<Record<string, number>>;
  /** Count of packets by the largest n for which they are n-reordered (§5): where it is 3 or more, a TCP with a threshold of 3 retransmits needlessly. */
  readonly n_reordered: Readonly<Record<string, number>>;
  /** Sum of the late times (§4.3). Unit: s. */
  readonly late_time_s: number;
  /** The longest late time. Unit: s. */
  readonly max_late_time_s: number;
  /** Sum of the byte offsets: payload to be stored until the late packet arrived (§4.4). Unit: bytes. */
  readonly byte_offset_bytes: number;
  /** The largest byte offset. Unit: bytes. */
  readonly max_byte_offset_bytes: number;
  /** Reordering discontinuities (§4.5). */
  readonly discontinuities: number;
  /** Runs of packets in order that a reordered one ended (§4.6). */
  readonly free_runs: number;
  /** Packets in them. */
  readonly free_run_packets: number;
  /** The displacement and the buffer occupancy above which a packet counts as lost for the densities (DT and BT of RFC 5236 §3.4 and §3.9): Linux's `tcp_max_reordering`. Missing without densities. Unit: packets. */
  readonly density_threshold?: number;
  /** Reorder density (RFC 5236 §3.6): the share of packets by their displacement in places, positive if late, negative if early. */
  readonly reorder_density?: Readonly<Record<string, number>>;
  /** Reorder buffer-occupancy density (§3.11): the share of arrivals by the packets that a receiver then holds to restore the order. */
  readonly buffer_occupancy_density?: Readonly<Record<string, number>>;
}

export const ReorderingSummaryColumns = {
  packets: { label: "packets", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  duplicates: { label: "duplicates", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  reordered: { label: "reordered", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  reordered_ratio: { label: "reordered ratio", unit: "%", scale: 100.0, digits: 3, moreIsBetter: false },
  late_time_s: { label: "late time", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  max_late_time_s: { label: "max late time", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
  byte_offset_bytes: { label: "byte offset", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
  max_byte_offset_bytes: { label: "max byte offset", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  discontinuities: { label: "discontinuities", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  free_runs: { label: "free runs", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  free_run_packets: { label: "free run packets", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  density_threshold: { label: "density threshold", unit: "packets", scale: 1.0, digits: 0, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** One kind of background traffic of a run. */
export interface BackgroundSummary {
  /** `transfers` or `source`. */
  readonly kind: string;
  /** The node that sends. */
  readonly from: string;
  /** The destination node. */
  readonly to: string;
  /** Transfers that began. */
  readonly started: number;
  /** Transfers whose data was acknowledged completely. */
  readonly finished: number;
  /** Arrivals that found the maximum number of transfers in progress. */
  readonly refused: number;
  /** Mean duration of a finished transfer; missing if none finished. Unit: s. */
  readonly mean_time_s: number | null;
  /** Packets with data sent, retransmissions included. */
  readonly packets_sent: number;
  /** Of a source: packets that arrived. */
  readonly packets_delivered: number;
  /** Of transfers: packets whose data had been sent before. */
  readonly retransmissions: number;
  /** The needed retransmissions, as of a flow. */
  readonly needed_retransmissions: number;
  /** The refused retransmissions, as of a flow. */
  readonly refused_retransmissions: number;
  /** The needless retransmissions, as of a flow. */
  readonly needless_retransmissions: number;
  /** Of transfers: payload acknowledged; of a source: bytes on the wire that arrived. Unit: bytes. */
  readonly delivered_bytes: number;
}

export const BackgroundSummaryColumns = {
  started: { label: "started", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  finished: { label: "finished", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  refused: { label: "refused", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  mean_time_s: { label: "mean time", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  packets_sent: { label: "packets sent", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  packets_delivered: { label: "packets delivered", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  retransmissions: { label: "retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  needed_retransmissions: { label: "needed retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  refused_retransmissions: { label: "refused retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  needless_retransmissions: { label: "needless retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  delivered_bytes: { label: "delivered", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** One direction of a link of a run. */
export interface LinkSummary {
  /** The node at its entry. */
  readonly from: string;
  /** The node at its exit. */
  readonly to: string;
  /** Packets that found the queue full. */
  readonly queue_drops: number;
  /** Packets dropped by a loss model or an interruption. */
  readonly loss_drops: number;
  /** Packets that RED dropped before the queue was full. */
  readonly early_drops: number;
  /** Packets that RED marked instead of dropping them. */
  readonly marks: number;
  /** Packets that the scenario's script dropped. */
  readonly script_drops: number;
  /** The longest queue, waiting and in service; missing if the queue can never be full. Unit: packets. */
  readonly max_queue_packets: number | null;
  /** Events of swap processes. */
  readonly swap_events: number;
  /** Swap events that found too few packets waiting. */
  readonly swap_skipped: number;
}

export const LinkSummaryColumns = {
  queue_drops: { label: "queue drops", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  loss_drops: { label: "loss drops", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  early_drops: { label: "early drops", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  marks: { label: "marks", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  script_drops: { label: "script drops", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  max_queue_packets: { label: "max queue packets", unit: "packets", scale: 1.0, digits: 0, moreIsBetter: false },
  swap_events: { label: "swap events", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  swap_skipped: { label: "swap skipped", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** A stall of a flow: no ACK of new data arrived for more than two of its shortest round-trip times, though data was outstanding. */
export interface StallSummary {
  /** The stack's name. */
  readonly stack: string;
  /** The flow's name. */
  readonly flow: string;
  /** When the last ACK of new data arrived, or when data was sent after an idle time. Unit: s. */
  readonly start_s: number;
  /** The time until the next one, or until the end of the run. Unit: s. */
  readonly duration_s: number;
  /** The cause, as a stall of a capture has it. */
  readonly cause: string;
  /** Length and cause in a line. */
  readonly title: string;
  /** What happened, in sentences. */
  readonly evidence: string;
  /** Each sentence with its time. */
  readonly sentences: readonly StallSentence[];
}

export const StallSummaryColumns = {
  start_s: { label: "start", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  duration_s: { label: "duration", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** A sentence about a stall. */
export interface StallSentence {
  /** The time of its event. Unit: s. */
  readonly time_s: number;
  /** The sentence. */
  readonly text: string;
}

export const StallSentenceColumns = {
  time_s: { label: "time", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** Several flows together. */
export interface GroupMeasures {
  /** Their common property: `all`, `stack` or `name` (names that differ only in a number, as `web-1` and `web-2`). */
  readonly by: string;
  /** The stack, or the name without its number; empty for all. */
  readonly group: string;
  /** The number of flows. */
  readonly flows: number;
  /** Payload acknowledged. Unit: bytes. */
  readonly acked_bytes: number;
  /** `acked_bytes` over the duration of the run. Unit: bytes/s. */
  readonly throughput_bytes_per_s: number;
  /** `acked_bytes` over the time from the first start to the last finish, or else to the end of the run. Unit: bytes/s. */
  readonly goodput_bytes_per_s: number | null;
  /** Share of the payload acknowledged in the run. */
  readonly share: number | null;
  /** Jain's index of the flows' goodput (Jain, Chiu & Hawe 1984): 1 if all got the same, 1/n if one of n got everything. Flows that never began do not count. */
  readonly jain: number | null;
  /** The durations of finished transfers, from the start of each (its SYN, if it has one) to the acknowledgment of its last byte. The number of values. */
  readonly completion_count: number;
  /** The durations of finished transfers, from the start of each (its SYN, if it has one) to the acknowledgment of its last byte. Their mean. Unit: s. */
  readonly completion_mean_s: number | null;
  /** The durations of finished transfers, from the start of each (its SYN, if it has one) to the acknowledgment of its last byte. The smallest. Unit: s. */
  readonly completion_min_s: number | null;
  /** The durations of finished transfers, from the start of each (its SYN, if it has one) to the acknowledgment of its last byte. The smallest value that half of them do not exceed (nearest rank). Unit: s. */
  readonly completion_p50_s: number | null;
  /** The durations of finished transfers, from the start of each (its SYN, if it has one) to the acknowledgment of its last byte. The same for 95 %. Unit: s. */
  readonly completion_p95_s: number | null;
  /** The durations of finished transfers, from the start of each (its SYN, if it has one) to the acknowledgment of its last byte. The same for 99 %. Unit: s. */
  readonly completion_p99_s: number | null;
  /** The durations of finished transfers, from the start of each (its SYN, if it has one) to the acknowledgment of its last byte. The largest. Unit: s. */
  readonly completion_max_s: number | null;
  /** Round-trip times: for each ACK, from the transmission of a data packet to the arrival of the ACK. Among the packets that arrived since the previous ACK, the one sent first counts. The number of values. */
  readonly rtt_count: number;
  /** Round-trip times: for each ACK, from the transmission of a data packet to the arrival of the ACK. Among the packets that arrived since the previous ACK, the one sent first counts. Their mean. Unit: s. */
  readonly rtt_mean_s: number | null;
  /** Round-trip times: for each ACK, from the transmission of a data packet to the arrival of the ACK. Among the packets that arrived since the previous ACK, the one sent first counts. The smallest. Unit: s. */
  readonly rtt_min_s: number | null;
  /** Round-trip times: for each ACK, from the transmission of a data packet to the arrival of the ACK. Among the packets that arrived since the previous ACK, the one sent first counts. The smallest value that half of them do not exceed (nearest rank). Unit: s. */
  readonly rtt_p50_s: number | null;
  /** Round-trip times: for each ACK, from the transmission of a data packet to the arrival of the ACK. Among the packets that arrived since the previous ACK, the one sent first counts. The same for 95 %. Unit: s. */
  readonly rtt_p95_s: number | null;
  /** Round-trip times: for each ACK, from the transmission of a data packet to the arrival of the ACK. Among the packets that arrived since the previous ACK, the one sent first counts. The same for 99 %. Unit: s. */
  readonly rtt_p99_s: number | null;
  /** Round-trip times: for each ACK, from the transmission of a data packet to the arrival of the ACK. Among the packets that arrived since the previous ACK, the one sent first counts. The largest. Unit: s. */
  readonly rtt_max_s: number | null;
  /** One-way delays: from the transmission of each data packet to its arrival, retransmissions included. The number of values. */
  readonly delay_count: number;
  /** One-way delays: from the transmission of each data packet to its arrival, retransmissions included. Their mean. Unit: s. */
  readonly delay_mean_s: number | null;
  /** One-way delays: from the transmission of each data packet to its arrival, retransmissions included. The smallest. Unit: s. */
  readonly delay_min_s: number | null;
  /** One-way delays: from the transmission of each data packet to its arrival, retransmissions included. The smallest value that half of them do not exceed (nearest rank). Unit: s. */
  readonly delay_p50_s: number | null;
  /** One-way delays: from the transmission of each data packet to its arrival, retransmissions included. The same for 95 %. Unit: s. */
  readonly delay_p95_s: number | null;
  /** One-way delays: from the transmission of each data packet to its arrival, retransmissions included. The same for 99 %. Unit: s. */
  readonly delay_p99_s: number | null;
  /** One-way delays: from the transmission of each data packet to its arrival, retransmissions included. The largest. Unit: s. */
  readonly delay_max_s: number | null;
  /** Data packets that were sent, retransmissions included. */
  readonly data_packets_sent: number;
  /** Data packets that arrived; one that the network duplicated counts once. */
  readonly data_packets_arrived: number;
  /** Data packets dropped on the path, as a share of those sent. */
  readonly loss_ratio: number | null;
  /** Packets that arrived after a packet sent later (RFC 4737), as a share of all arrivals. */
  readonly reordered_ratio: number | null;
  /** Needless retransmissions, as a share of the packets sent. */
  readonly needless_ratio: number | null;
}

export const GroupMeasuresColumns = {
  flows: { label: "flows", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  acked_bytes: { label: "acked", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
  throughput_bytes_per_s: { label: "throughput", unit: "bytes/s", scale: 1.0, digits: 3, moreIsBetter: false },
  goodput_bytes_per_s: { label: "goodput", unit: "kB/s", scale: 0.001, digits: 1, moreIsBetter: false },
  share: { label: "share", unit: "%", scale: 100.0, digits: 1, moreIsBetter: false },
  jain: { label: "jain", unit: "", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_count: { label: "completion count", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  completion_mean_s: { label: "completion mean", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_min_s: { label: "completion min", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_p50_s: { label: "completion p50", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_p95_s: { label: "completion p95", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_p99_s: { label: "completion p99", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_max_s: { label: "completion max", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_count: { label: "rtt count", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  rtt_mean_s: { label: "rtt mean", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_min_s: { label: "rtt min", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_p50_s: { label: "rtt p50", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
  rtt_p95_s: { label: "rtt p95", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
  rtt_p99_s: { label: "rtt p99", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_max_s: { label: "rtt max", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_count: { label: "delay count", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  delay_mean_s: { label: "delay mean", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_min_s: { label: "delay min", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_p50_s: { label: "delay p50", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_p95_s: { label: "delay p95", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
  delay_p99_s: { label: "delay p99", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_max_s: { label: "delay max", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  data_packets_sent: { label: "data packets sent", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  data_packets_arrived: { label: "data packets arrived", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  loss_ratio: { label: "loss ratio", unit: "%", scale: 100.0, digits: 2, moreIsBetter: false },
  reordered_ratio: { label: "reordered ratio", unit: "%", scale: 100.0, digits: 2, moreIsBetter: false },
  needless_ratio: { label: "needless ratio", unit: "%", scale: 100.0, digits: 2, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** One flow. */
export interface FlowMeasures {
  /** The flow's name. */
  readonly name: string;
  /** Its stack's name. */
  readonly stack: string;
  /** Share of the payload acknowledged in the run. */
  readonly share: number | null;
  /** Data packets that were sent, retransmissions included. */
  readonly data_packets_sent: number;
  /** Data packets that arrived; one that the network duplicated counts once. */
  readonly data_packets_arrived: number;
  /** Data packets dropped on the path, as a share of those sent. */
  readonly loss_ratio: number | null;
  /** Packets that arrived after a packet sent later (RFC 4737), as a share of all arrivals. */
  readonly reordered_ratio: number | null;
  /** Needless retransmissions, as a share of the packets sent. */
  readonly needless_ratio: number | null;
  /** The durations of its transfers. A flow of fixed size is one transfer. The number of values. */
  readonly completion_count: number;
  /** The durations of its transfers. A flow of fixed size is one transfer. Their mean. Unit: s. */
  readonly completion_mean_s: number | null;
  /** The durations of its transfers. A flow of fixed size is one transfer. The smallest. Unit: s. */
  readonly completion_min_s: number | null;
  /** The durations of its transfers. A flow of fixed size is one transfer. The smallest value that half of them do not exceed (nearest rank). Unit: s. */
  readonly completion_p50_s: number | null;
  /** The durations of its transfers. A flow of fixed size is one transfer. The same for 95 %. Unit: s. */
  readonly completion_p95_s: number | null;
  /** The durations of its transfers. A flow of fixed size is one transfer. The same for 99 %. Unit: s. */
  readonly completion_p99_s: number | null;
  /** The durations of its transfers. A flow of fixed size is one transfer. The largest. Unit: s. */
  readonly completion_max_s: number | null;
  /** Its round-trip times, as of several flows. The number of values. */
  readonly rtt_count: number;
  /** Its round-trip times, as of several flows. Their mean. Unit: s. */
  readonly rtt_mean_s: number | null;
  /** Its round-trip times, as of several flows. The smallest. Unit: s. */
  readonly rtt_min_s: number | null;
  /** Its round-trip times, as of several flows. The smallest value that half of them do not exceed (nearest rank). Unit: s. */
  readonly rtt_p50_s: number | null;
  /** Its round-trip times, as of several flows. The same for 95 %. Unit: s. */
  readonly rtt_p95_s: number | null;
  /** Its round-trip times, as of several flows. The same for 99 %. Unit: s. */
  readonly rtt_p99_s: number | null;
  /** Its round-trip times, as of several flows. The largest. Unit: s. */
  readonly rtt_max_s: number | null;
  /** Its one-way delays, as of several flows. The number of values. */
  readonly delay_count: number;
  /** Its one-way delays, as of several flows. Their mean. Unit: s. */
  readonly delay_mean_s: number | null;
  /** Its one-way delays, as of several flows. The smallest. Unit: s. */
  readonly delay_min_s: number | null;
  /** Its one-way delays, as of several flows. The smallest value that half of them do not exceed (nearest rank). Unit: s. */
  readonly delay_p50_s: number | null;
  /** Its one-way delays, as of several flows. The same for 95 %. Unit: s. */
  readonly delay_p95_s: number | null;
  /** Its one-way delays, as of several flows. The same for 99 %. Unit: s. */
  readonly delay_p99_s: number | null;
  /** Its one-way delays, as of several flows. The largest. Unit: s. */
  readonly delay_max_s: number | null;
}

export const FlowMeasuresColumns = {
  share: { label: "share", unit: "", scale: 1.0, digits: 3, moreIsBetter: false },
  data_packets_sent: { label: "data packets sent", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  data_packets_arrived: { label: "data packets arrived", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  loss_ratio: { label: "loss ratio", unit: "%", scale: 100.0, digits: 2, moreIsBetter: false },
  reordered_ratio: { label: "reordered ratio", unit: "%", scale: 100.0, digits: 2, moreIsBetter: false },
  needless_ratio: { label: "needless ratio", unit: "%", scale: 100.0, digits: 2, moreIsBetter: false },
  completion_count: { label: "completion count", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  completion_mean_s: { label: "completion mean", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_min_s: { label: "completion min", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_p50_s: { label: "completion p50", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_p95_s: { label: "completion p95", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_p99_s: { label: "completion p99", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_max_s: { label: "completion max", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_count: { label: "rtt count", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  rtt_mean_s: { label: "rtt mean", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_min_s: { label: "rtt min", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_p50_s: { label: "rtt p50", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_p95_s: { label: "rtt p95", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_p99_s: { label: "rtt p99", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_max_s: { label: "rtt max", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_count: { label: "delay count", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  delay_mean_s: { label: "delay mean", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_min_s: { label: "delay min", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_p50_s: { label: "delay p50", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_p95_s: { label: "delay p95", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_p99_s: { label: "delay p99", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_max_s: { label: "delay max", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** One kind of background traffic. */
export interface BackgroundMeasures {
  /** Its place among them. */
  readonly background: number;
  /** The delivered data over the duration of the run. Unit: bytes/s. */
  readonly throughput_bytes_per_s: number;
  /** The durations of its finished transfers. The number of values. */
  readonly completion_count: number;
  /** The durations of its finished transfers. Their mean. Unit: s. */
  readonly completion_mean_s: number | null;
  /** The durations of its finished transfers. The smallest. Unit: s. */
  readonly completion_min_s: number | null;
  /** The durations of its finished transfers. The smallest value that half of them do not exceed (nearest rank). Unit: s. */
  readonly completion_p50_s: number | null;
  /** The durations of its finished transfers. The same for 95 %. Unit: s. */
  readonly completion_p95_s: number | null;
  /** The durations of its finished transfers. The same for 99 %. Unit: s. */
  readonly completion_p99_s: number | null;
  /** The durations of its finished transfers. The largest. Unit: s. */
  readonly completion_max_s: number | null;
}

export const BackgroundMeasuresColumns = {
  background: { label: "background", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  throughput_bytes_per_s: { label: "throughput", unit: "bytes/s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_count: { label: "completion count", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  completion_mean_s: { label: "completion mean", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_min_s: { label: "completion min", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_p50_s: { label: "completion p50", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_p95_s: { label: "completion p95", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_p99_s: { label: "completion p99", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  completion_max_s: { label: "completion max", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** One direction of a link, or a path of its split. A link with a split comes before its paths and is their sum. */
export interface LinkMeasures {
  /** Its number, as in the trace. */
  readonly link: number;
  /** For a path: its position in the split. */
  readonly path: number | null;
  /** The node at its entry. */
  readonly from: string;
  /** The node at its exit. */
  readonly to: string;
  /** Packets that left its transmitter. */
  readonly packets: number;
  /** Their bytes on the wire. Unit: bytes. */
  readonly bytes: number;
  /** Bytes sent, as a share of the bytes that its rate allows; missing without a fixed rate. For a split: of all its paths together. */
  readonly utilisation: number | null;
  /** The time that those packets waited before their transmission began. The number of values. */
  readonly queue_delay_count: number;
  /** The time that those packets waited before their transmission began. Their mean. Unit: s. */
  readonly queue_delay_mean_s: number | null;
  /** The time that those packets waited before their transmission began. The smallest. Unit: s. */
  readonly queue_delay_min_s: number | null;
  /** The time that those packets waited before their transmission began. The smallest value that half of them do not exceed (nearest rank). Unit: s. */
  readonly queue_delay_p50_s: number | null;
  /** The time that those packets waited before their transmission began. The same for 95 %. Unit: s. */
  readonly queue_delay_p95_s: number | null;
  /** The time that those packets waited before their transmission began. The same for 99 %. Unit: s. */
  readonly queue_delay_p99_s: number | null;
  /** The time that those packets waited before their transmission began. The largest. Unit: s. */
  readonly queue_delay_max_s: number | null;
}

export const LinkMeasuresColumns = {
  link: { label: "link", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  path: { label: "path", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  packets: { label: "packets", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  bytes: { label: "bytes", unit: "MB", scale: 1e-6, digits: 2, moreIsBetter: false },
  utilisation: { label: "utilisation", unit: "%", scale: 100.0, digits: 1, moreIsBetter: false },
  queue_delay_count: { label: "queue delay count", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  queue_delay_mean_s: { label: "queue delay mean", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  queue_delay_min_s: { label: "queue delay min", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  queue_delay_p50_s: { label: "queue delay p50", unit: "ms", scale: 1000.0, digits: 2, moreIsBetter: false },
  queue_delay_p95_s: { label: "queue delay p95", unit: "ms", scale: 1000.0, digits: 2, moreIsBetter: false },
  queue_delay_p99_s: { label: "queue delay p99", unit: "ms", scale: 1000.0, digits: 2, moreIsBetter: false },
  queue_delay_max_s: { label: "queue delay max", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** A flow in a period of a run. */
export interface FlowBin {
  /** Payload acknowledged in it, over its length. Unit: bytes/s. */
  readonly goodput_bytes_per_s: number;
  /** Round-trip times of round trips that ended in it. The number of values. */
  readonly rtt_count: number;
  /** Round-trip times of round trips that ended in it. Their mean. Unit: s. */
  readonly rtt_mean_s: number | null;
  /** Round-trip times of round trips that ended in it. The smallest. Unit: s. */
  readonly rtt_min_s: number | null;
  /** Round-trip times of round trips that ended in it. The smallest value that half of them do not exceed (nearest rank). Unit: s. */
  readonly rtt_p50_s: number | null;
  /** Round-trip times of round trips that ended in it. The same for 95 %. Unit: s. */
  readonly rtt_p95_s: number | null;
  /** Round-trip times of round trips that ended in it. The same for 99 %. Unit: s. */
  readonly rtt_p99_s: number | null;
  /** Round-trip times of round trips that ended in it. The largest. Unit: s. */
  readonly rtt_max_s: number | null;
  /** One-way delay of data that arrived in it. The number of values. */
  readonly delay_count: number;
  /** One-way delay of data that arrived in it. Their mean. Unit: s. */
  readonly delay_mean_s: number | null;
  /** One-way delay of data that arrived in it. The smallest. Unit: s. */
  readonly delay_min_s: number | null;
  /** One-way delay of data that arrived in it. The smallest value that half of them do not exceed (nearest rank). Unit: s. */
  readonly delay_p50_s: number | null;
  /** One-way delay of data that arrived in it. The same for 95 %. Unit: s. */
  readonly delay_p95_s: number | null;
  /** One-way delay of data that arrived in it. The same for 99 %. Unit: s. */
  readonly delay_p99_s: number | null;
  /** One-way delay of data that arrived in it. The largest. Unit: s. */
  readonly delay_max_s: number | null;
}

export const FlowBinColumns = {
  goodput_bytes_per_s: { label: "goodput", unit: "bytes/s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_count: { label: "rtt count", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  rtt_mean_s: { label: "rtt mean", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_min_s: { label: "rtt min", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_p50_s: { label: "rtt p50", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_p95_s: { label: "rtt p95", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_p99_s: { label: "rtt p99", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  rtt_max_s: { label: "rtt max", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_count: { label: "delay count", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  delay_mean_s: { label: "delay mean", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_min_s: { label: "delay min", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_p50_s: { label: "delay p50", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_p95_s: { label: "delay p95", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_p99_s: { label: "delay p99", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  delay_max_s: { label: "delay max", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** A link in a period of a run. */
export interface LinkBin {
  /** Bytes that left its transmitter in it. Unit: bytes. */
  readonly bytes: number;
  /** As for the whole run. */
  readonly utilisation: number | null;
  /** The time that the packets that left in it had waited. The number of values. */
  readonly queue_delay_count: number;
  /** The time that the packets that left in it had waited. Their mean. Unit: s. */
  readonly queue_delay_mean_s: number | null;
  /** The time that the packets that left in it had waited. The smallest. Unit: s. */
  readonly queue_delay_min_s: number | null;
  /** The time that the packets that left in it had waited. The smallest value that half of them do not exceed (nearest rank). Unit: s. */
  readonly queue_delay_p50_s: number | null;
  /** The time that the packets that left in it had waited. The same for 95 %. Unit: s. */
  readonly queue_delay_p95_s: number | null;
  /** The time that the packets that left in it had waited. The same for 99 %. Unit: s. */
  readonly queue_delay_p99_s: number | null;
  /** The time that the packets that left in it had waited. The largest. Unit: s. */
  readonly queue_delay_max_s: number | null;
}

export const LinkBinColumns = {
  bytes: { label: "bytes", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
  utilisation: { label: "utilisation", unit: "", scale: 1.0, digits: 3, moreIsBetter: false },
  queue_delay_count: { label: "queue delay count", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  queue_delay_mean_s: { label: "queue delay mean", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  queue_delay_min_s: { label: "queue delay min", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  queue_delay_p50_s: { label: "queue delay p50", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  queue_delay_p95_s: { label: "queue delay p95", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  queue_delay_p99_s: { label: "queue delay p99", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  queue_delay_max_s: { label: "queue delay max", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** The slot that requested a segment or wrote the window. Columns have positions in it. */
export const SLOTS = ["sequencer", "startup", "congestion", "disorder", "recovery", "timeout", "undo"] as const;

/** The sender's phases. Columns have positions in it. */
export const PHASES = ["open", "disorder", "recovery", "loss"] as const;

/** The reason for the start or the end of a phase. Columns have positions in it. */
export const WHYS = ["suspected", "lost", "timeout", "resolved", "repaired", "restarted", "mistaken"] as const;

/** An instant that gets a sign. Columns have positions in it. */
export const KINDS = ["timeout", "mistake", "undone", "persist", "probe"] as const;

/** The verdict on a transmission, from the fate of every copy. Columns have positions in it. */
export const VERDICTS = ["first", "needed", "refused", "needless", "open", "undecided"] as const;

/** The fate of a transmission. Columns have positions in it. */
export const FATES = ["delivered", "dropped", "under way", "refused", "unknown"] as const;
