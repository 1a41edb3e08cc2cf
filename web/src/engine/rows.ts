/** The rows of captures. Generated: make generated */

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

/** A captured connection, with or without data. Its client is the end that opened it, or whose packet was captured first. */
export interface CapturedConnection {
  /** The capture, as named on the command line. */
  readonly file: string;
  /** The connection's number in the file. */
  readonly connection: number;
  /** Its client. */
  readonly client: string;
  /** Its server. */
  readonly server: string;
  /** The VLANs of its first packet, the outer one first (`10`, `10.20`); missing without a tag. */
  readonly vlan: string | null;
  /** When its first packet was captured, since the file's first packet. Unit: s. */
  readonly start_s: number;
  /** From its first to its last packet. Unit: s. */
  readonly lasted_s: number;
  /** `opened`; `half open`: the server answered, and nothing acknowledged the answer; `refused`: a RST answered the SYN; `unanswered`; `not captured`: the capture has no SYN. */
  readonly opening: string;
  /** SYNs of the client. */
  readonly syns: number;
  /** SYNs of the server, which answer them. */
  readonly syn_acks: number;
  /** From the first SYN to the acknowledgment of its answer. Unit: s. */
  readonly setup_s: number | null;
  /** The same if neither SYN was sent twice: a round trip, wherever it was captured. Unit: s. */
  readonly initial_rtt_s: number | null;
  /** Who sent the first FIN or RST, and which: `FIN of the client` and the like; missing if none was captured. */
  readonly closed_by: string | null;
  /** The frame of that FIN or RST. */
  readonly closed_frame: number | null;
  /** Requests that were answered. */
  readonly exchanges: number;
  /** Whether the last request had no answer. */
  readonly unanswered: boolean;
  /** The total time from the last segments of requests to the first segments of their answers, as seen where it was captured. Unit: s. */
  readonly first_byte_s: number;
  /** The part of it that the server took: without a round trip for each exchange, if it was captured at the client. Missing if it was captured elsewhere than at an end, or if the round trip is unknown. Unit: s. */
  readonly server_s: number | null;
  /** The rest of it, for the network; missing as `server_s` is. Unit: s. */
  readonly network_s: number | null;
  /** The total time from the first to the last segments of answers. Unit: s. */
  readonly answers_s: number;
  /** The total time from the last segments of answers to the next requests. Unit: s. */
  readonly client_s: number;
}

export const CapturedConnectionColumns = {
  connection: { label: "connection", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  start_s: { label: "start", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  lasted_s: { label: "lasted", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  syns: { label: "syns", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  syn_acks: { label: "syn acks", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  setup_s: { label: "setup", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
  initial_rtt_s: { label: "initial rtt", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  closed_frame: { label: "closed frame", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  exchanges: { label: "exchanges", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  first_byte_s: { label: "first byte", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  server_s: { label: "server", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  network_s: { label: "network", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  answers_s: { label: "answers", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  client_s: { label: "client", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** A request and its answer. */
export interface CapturedExchange {
  /** The capture, as named on the command line. */
  readonly file: string;
  /** The connection's number in the file. */
  readonly connection: number;
  /** The frame of the request's first segment. */
  readonly frame: number;
  /** When the request began, since the file's first packet. Unit: s. */
  readonly time_s: number;
  /** From the request's first to its last segment. Unit: s. */
  readonly request_s: number;
  /** From the request's last segment to its acknowledgment; missing if the answer was faster. Unit: s. */
  readonly acked_s: number | null;
  /** From the request's last segment to the answer's first. Unit: s. */
  readonly first_byte_s: number | null;
  /** From the request's last segment to the answer's last. Unit: s. */
  readonly last_byte_s: number;
  /** The frame of the answer's first segment. */
  readonly answer_frame: number | null;
}

export const CapturedExchangeColumns = {
  connection: { label: "connection", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  frame: { label: "frame", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  time_s: { label: "time", unit: "s", scale: 1.0, digits: 6, moreIsBetter: false },
  request_s: { label: "request", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
  acked_s: { label: "acked", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
  first_byte_s: { label: "first byte", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
  last_byte_s: { label: "last byte", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
  answer_frame: { label: "answer frame", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** A captured flow: one direction of a connection, if it carries data. */
export interface CapturedFlow {
  /** The capture, as named on the command line; if both ends were captured, that of the sender's side. */
  readonly file: string;
  /** The capture of the receiver's side, if both ends were captured. */
  readonly receiver_file: string | null;
  /** The interface at which the sender's packets were captured, counted from 0, if the file holds both ends. */
  readonly interface: number | null;
  /** The connection's number in the file. */
  readonly connection: number;
  /** The direction of the data, as `A:p > B:p`. */
  readonly flow: string;
  /** The VLANs of the connection's first packet, the outer one first (`10`, `10.20`); missing without a tag. */
  readonly vlan: string | null;
  /** Whether this is the direction with more data. */
  readonly main: boolean;
  /** The frame of the connection's first packet. */
  readonly first_frame: number;
  /** When the connection's first packet was captured, since 1970. Unit: s. */
  readonly start_s: number;
  /** From the first packet with data to the last acknowledgment of new data. Unit: s. */
  readonly duration_s: number;
  /** Captured packets in this direction. */
  readonly packets: number;
  /** Captured packets with data. */
  readonly data_packets: number;
  /** Payload that was captured, each byte counted once. Unit: bytes. */
  readonly bytes: number;
  /** Payload of all captured packets, retransmissions included. Unit: bytes. */
  readonly carried_bytes: number;
  /** Payload from the first captured byte to the highest acknowledgment. Unit: bytes. */
  readonly acknowledged_bytes: number;
  /** Payload that was acknowledged but never captured. Unit: bytes. */
  readonly unseen_bytes: number;
  /** `bytes` over `duration_s`. Unit: bytes/s. */
  readonly goodput_bytes_per_s: number | null;
  /** The smallest round-trip time. Unit: s. */
  readonly rtt_min_s: number | null;
  /** The median round-trip time. Unit: s. */
  readonly rtt_p50_s: number | null;
  /** The 95th percentile of the round-trip times. Unit: s. */
  readonly rtt_p95_s: number | null;
  /** Packets whose data had been sent before, as the capture proves: the sum of the next five counts. */
  readonly retransmissions: number;
  /** Retransmissions of which the receiver lacked at least one byte. */
  readonly needed_retransmissions: number;
  /** Retransmissions of which the receiver had taken all bytes from earlier copies. */
  readonly needless_retransmissions: number;
  /** Retransmissions whose bytes had all arrived in earlier copies, some of which the receiver discarded (PAWS, RFC 7323 §5.3). */
  readonly refused_retransmissions: number;
  /** Retransmissions of which the capture does not show whether they were needed. */
  readonly undecided_retransmissions: number;
  /** Retransmissions whose verdict is likely, not certain. They count in none of the four verdicts. */
  readonly likely_retransmissions: number;
  /** Packets that may have been sent before, though nothing proves it: they filled a hole a round trip or more after later data. They are not retransmissions in the counts above. */
  readonly suspected_retransmissions: number;
  /** Packets with data, all of which had been captured before. */
  readonly repeats: number;
  /** Packets with data below the highest byte captured, some of which had not been captured before. */
  readonly fills: number;
  /** Probes of the receiver's closed window (RFC 9293 §3.8.6.1); they are not retransmissions. */
  readonly window_probes: number;
  /** Probes of a silent receiver (RFC 9293 §3.8.4); they are not retransmissions. */
  readonly keep_alives: number;
  /** The receiver's packets that announce a window of zero. */
  readonly zero_windows: number;
  /** SYNs of the sender. */
  readonly syns: number;
  /** FINs of the sender. */
  readonly fins: number;
  /** RSTs of the sender. */
  readonly resets: number;
  /** The share of packets that arrived after a packet sent later (RFC 4737 §4.1). */
  readonly reordered_ratio: number | null;
  /** The median of the extents of reordering (RFC 4737 §4.2). Unit: packets. */
  readonly median_extent: number | null;
  /** The number of stalls. */
  readonly stalls: number;
  /** The parts of `duration_s` that were spent waiting for each cause, and `sending`, the rest. They add up to it. Unit: s. */
  readonly time_by_cause_s: Readonly<Record<string, number>>;
  /** What most of its time went into, waits after its last ACK included: a cause, or `sending`. The causes that follow retransmissions are one, `loss recovery`; or `reordering`, if most of them were needless and followed duplicate ACKs. Missing without time. */
  readonly main_cause: string | null;
  /** Its share of that time. */
  readonly main_cause_share: number | null;
  /** A longer time without a data packet is a stall. Unit: s. */
  readonly stall_threshold_s: number;
  /** The length of the longest stall. Unit: s. */
  readonly longest_stall_s: number | null;
  /** The cause of the longest stall. */
  readonly longest_stall_cause: string | null;
  /** Whether SACK is in use. */
  readonly sack: boolean | null;
  /** ACKs with SACK blocks more than 64 MB from all data, as where a device on the path changes sequence numbers and not the blocks. */
  readonly sacks_outside: number;
  /** Whether the receiver reported a duplicate (DSACK, RFC 2883). */
  readonly dsack_seen: boolean;
  /** Whether the packets carry timestamps. */
  readonly timestamps: boolean;
  /** The scale of the receiver's windows; missing without both SYNs, or if scales are not in use. */
  readonly window_scale: number | null;
  /** The sender's MSS option; missing without its SYN. Unit: bytes. */
  readonly mss: number | null;
  /** Whether ECN was negotiated; missing without both SYNs. */
  readonly ecn: boolean | null;
  /** The options in use, in words. */
  readonly options: string;
  /** What most of its time went into, in sentences; missing without a duration. */
  readonly answer: string | null;
  /** Where it was captured: `at the sender`, `at the receiver`, `at both ends`, `on the way` or `unknown`. */
  readonly captured: string;
  /** Why the analysis assumes that place. */
  readonly captured_why: string;
  /** RFC 4737's and RFC 5236's metrics; missing if the capture does not show the order of sending. */
  readonly reordering: CapturedReordering | null;
  /** The stalls by their cause. */
  readonly stalls_by_cause: Readonly<Record<string, StallsOfCause>>;
  /** Each retransmission, if requested. */
  readonly each_retransmission?: readonly CapturedRetransmission[];
  /** Each stall that is kept, if requested: the longest. */
  readonly each_stall?: readonly CapturedStall[];
}

export const CapturedFlowColumns = {
  interface: { label: "interface", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  connection: { label: "connection", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  first_frame: { label: "first frame", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  start_s: { label: "start", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  duration_s: { label: "duration", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  packets: { label: "packets", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  data_packets: { label: "data packets", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  bytes: { label: "bytes", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  carried_bytes: { label: "carried", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
  acknowledged_bytes: { label: "acknowledged", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
  unseen_bytes: { label: "unseen", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
  goodput_bytes_per_s: { label: "goodput", unit: "kB/s", scale: 0.001, digits: 1, moreIsBetter: true },
  rtt_min_s: { label: "rtt min", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
  rtt_p50_s: { label: "rtt p50", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
  rtt_p95_s: { label: "rtt p95", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
  retransmissions: { label: "retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  needed_retransmissions: { label: "needed retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  needless_retransmissions: { label: "needless retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  refused_retransmissions: { label: "refused retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  undecided_retransmissions: { label: "undecided retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  likely_retransmissions: { label: "likely retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  suspected_retransmissions: { label: "suspected retransmissions", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  repeats: { label: "repeats", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  fills: { label: "fills", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  window_probes: { label: "window probes", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  keep_alives: { label: "keep alives", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  zero_windows: { label: "zero windows", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  syns: { label: "syns", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  fins: { label: "fins", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  resets: { label: "resets", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  reordered_ratio: { label: "reordered ratio", unit: "%", scale: 100.0, digits: 2, moreIsBetter: false },
  median_extent: { label: "median extent", unit: "packets", scale: 1.0, digits: 0, moreIsBetter: false },
  stalls: { label: "stalls", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  main_cause_share: { label: "main cause share", unit: "", scale: 1.0, digits: 3, moreIsBetter: false },
  stall_threshold_s: { label: "stall threshold", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  longest_stall_s: { label: "longest stall", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  sacks_outside: { label: "sacks outside", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  window_scale: { label: "window scale", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  mss: { label: "mss", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** A captured retransmission: a packet whose data had been sent before. */
export interface CapturedRetransmission {
  /** Its frame. */
  readonly frame: number;
  /** When it was captured, since the file's first packet. Unit: s. */
  readonly time_s: number;
  /** The place of its first byte in the stream; missing without a SYN. Unit: bytes. */
  readonly offset_bytes: number | null;
  /** Its length; a FIN counts one. Unit: bytes. */
  readonly len_bytes: number;
  /** Earlier copies of its bytes in the capture. */
  readonly copies_before: number;
  /** `needed`, `needless`, `refused` or `undecided`. */
  readonly verdict: string;
  /** Whether the verdict is a guess: the most probable explanation of the capture, but not the only one. */
  readonly likely: boolean;
  /** Whether nothing proves that its data had been sent before. */
  readonly suspected: boolean;
  /** The reason for the verdict, in words. */
  readonly evidence: string;
  /** The frame of the earlier copy to which the evidence refers. */
  readonly earlier_frame: number | null;
  /** The frame of the packet that proves the verdict. */
  readonly proof_frame: number | null;
}

export const CapturedRetransmissionColumns = {
  frame: { label: "frame", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  time_s: { label: "time", unit: "s", scale: 1.0, digits: 6, moreIsBetter: false },
  offset_bytes: { label: "offset", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  len_bytes: { label: "len", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  copies_before: { label: "copies before", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  earlier_frame: { label: "earlier frame", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  proof_frame: { label: "proof frame", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** A stall of a captured flow: a time without a data packet. */
export interface CapturedStall {
  /** When it began, since the file's first packet. Unit: s. */
  readonly start_s: number;
  /** How long it lasted. Unit: s. */
  readonly duration_s: number;
  /** Whether no data followed it: it lasts to the connection's last packet. */
  readonly at_end: boolean;
  /** Its cause. */
  readonly cause: string;
  /** The evidence of the cause, in words. */
  readonly evidence: string;
  /** The frame of the data packet before it. */
  readonly frame_before: number;
  /** The frame of the data packet that ended it; at the end, of the connection's last packet. */
  readonly frame_after: number;
}

export const CapturedStallColumns = {
  start_s: { label: "start", unit: "s", scale: 1.0, digits: 6, moreIsBetter: false },
  duration_s: { label: "duration", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  frame_before: { label: "frame before", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  frame_after: { label: "frame after", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** The part of a captured flow's time that was spent waiting for one cause, or sending. */
export interface TimeOfCause {
  /** The cause, or `sending`. */
  readonly cause: string;
  /** The time. Unit: s. */
  readonly time_s: number;
  /** Its share of the flow's `duration_s`. */
  readonly share: number;
}

export const TimeOfCauseColumns = {
  time_s: { label: "time", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  share: { label: "share", unit: "", scale: 1.0, digits: 3, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** The stalls of one cause. */
export interface StallsOfCause {
  /** Their number. */
  readonly stalls: number;
  /** Their total length. Unit: s. */
  readonly total_s: number;
}

export const StallsOfCauseColumns = {
  stalls: { label: "stalls", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  total_s: { label: "total", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** The reordering of a captured flow. */
export interface CapturedReordering {
  /** Where the order of sending comes from. */
  readonly order_source: string;
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
  /** The median of the extents (RFC 4737 §4.2). Unit: packets. */
  readonly median_extent: number | null;
  /** The largest extent. Unit: packets. */
  readonly max_extent: number | null;
  /** Packets that arrived too late to be classified. */
  readonly forgotten: number;
}

export const CapturedReorderingColumns = {
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
  median_extent: { label: "median extent", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  max_extent: { label: "max extent", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  forgotten: { label: "forgotten", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** The share of packets with one value of one of RFC 5236's densities. */
export interface DensityShare {
  /** `reorder` or `buffer_occupancy`. */
  readonly density: string;
  /** The displacement in packets, positive if late; or the packets that a receiver holds. Unit: packets. */
  readonly packets: number;
  /** The share of packets with this value. */
  readonly share: number;
}

export const DensityShareColumns = {
  packets: { label: "packets", unit: "packets", scale: 1.0, digits: 0, moreIsBetter: false },
  share: { label: "share", unit: "", scale: 1.0, digits: 3, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** A captured flow of UDP with sequence numbers: RTP, or iperf3's. */
export interface DatagramFlow {
  /** The capture, as named on the command line. */
  readonly file: string;
  /** The direction of the data, as `A:p > B:p`. */
  readonly flow: string;
  /** `RTP` or `iperf3`. */
  readonly format: string;
  /** RTP's source. */
  readonly ssrc: number | null;
  /** The frame of the first packet. */
  readonly first_frame: number;
  /** When the first packet was captured, since 1970. Unit: s. */
  readonly start_s: number;
  /** From the first packet to the last. Unit: s. */
  readonly duration_s: number;
  /** Packets, each number once. */
  readonly packets: number;
  /** Payload. Unit: bytes. */
  readonly bytes: number;
  /** Numbers between the lowest and the highest that never arrived. */
  readonly lost: number;
  /** Their share. */
  readonly lost_ratio: number;
  /** Jumps after which the numbering continued elsewhere. */
  readonly restarts: number;
  /** Second arrivals. */
  readonly duplicates: number;
  /** Packets that arrived after one that was sent later. */
  readonly reordered: number;
  /** Their share (RFC 4737 §4.1). */
  readonly reordered_ratio: number;
  /** The median of the extents (RFC 4737 §4.2). Unit: packets. */
  readonly median_extent: number | null;
  /** The largest extent. Unit: packets. */
  readonly max_extent: number | null;
  /** The longest late time. Unit: s. */
  readonly max_late_time_s: number;
  /** All metrics. */
  readonly reordering: CapturedReordering;
}

export const DatagramFlowColumns = {
  ssrc: { label: "ssrc", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  first_frame: { label: "first frame", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  start_s: { label: "start", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  duration_s: { label: "duration", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },
  packets: { label: "packets", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  bytes: { label: "bytes", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  lost: { label: "lost", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  lost_ratio: { label: "lost ratio", unit: "%", scale: 100.0, digits: 2, moreIsBetter: false },
  restarts: { label: "restarts", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  duplicates: { label: "duplicates", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  reordered: { label: "reordered", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  reordered_ratio: { label: "reordered ratio", unit: "%", scale: 100.0, digits: 2, moreIsBetter: false },
  median_extent: { label: "median extent", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  max_extent: { label: "max extent", unit: "packets", scale: 1.0, digits: 0, moreIsBetter: false },
  max_late_time_s: { label: "max late time", unit: "ms", scale: 1000.0, digits: 1, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** A captured file. */
export interface CapturedFile {
  /** The file, as named on the command line. */
  readonly file: string;
  /** `pcap`, `pcapng`, `snoop` or `erf`. */
  readonly format: string;
  /** All packets. */
  readonly packets: number;
  /** Their bytes, before truncation. Unit: bytes. */
  readonly bytes: number;
  /** TCP segments. */
  readonly segments: number;
  /** Connections. */
  readonly connections: number;
  /** Connections that `--flow` did not choose. */
  readonly not_chosen: number;
  /** Connections that `--limit` left out because they have fewer bytes. */
  readonly left_out: number;
  /** Connections that `--limit` ended early. */
  readonly cut_by_limit: number;
  /** Packets that were captured twice: they count once. */
  readonly repeats: number;
  /** Packets with an earlier time than the packet before them. */
  readonly times_back: number;
  /** Segments whose options are cut short by the snap length. */
  readonly options_cut: number;
  /** Connections that are part of a Multipath TCP connection (RFC 8684). */
  readonly mptcp_joins: number;
  /** Packets that the capturing machine dropped, according to the file. */
  readonly dropped_by_capture: number;
  /** Damaged places. */
  readonly damaged_places: number;
  /** The first damaged place. */
  readonly first_damage: string | null;
  /** Packets that were not analysed, by their kind. */
  readonly skipped: Readonly<Record<string, Skipped>>;
  /** What a reader should know about the file, in sentences. */
  readonly remarks: readonly string[];
}

export const CapturedFileColumns = {
  packets: { label: "packets", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  bytes: { label: "bytes", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
  segments: { label: "segments", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  connections: { label: "connections", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  not_chosen: { label: "not chosen", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  left_out: { label: "left out", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  cut_by_limit: { label: "cut by limit", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  repeats: { label: "repeats", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  times_back: { label: "times back", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  options_cut: { label: "options cut", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  mptcp_joins: { label: "mptcp joins", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  dropped_by_capture: { label: "dropped by capture", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  damaged_places: { label: "damaged places", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** Packets of one kind that were not analysed. */
export interface Skipped {
  /** Their number. */
  readonly packets: number;
  /** Their bytes, before truncation. Unit: bytes. */
  readonly bytes: number;
}

export const SkippedColumns = {
  packets: { label: "packets", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  bytes: { label: "bytes", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
} as const satisfies Record<string, Column>;

/** A packet of a captured connection. Offsets count the bytes of a direction from its first byte. */
export interface CapturedPacket {
  /** Its frame. */
  readonly frame: number;
  /** When it was captured, since the file's first packet. Unit: ns. */
  readonly time_ns: number;
  /** When it was captured, since 1970. Unit: ns. */
  readonly at_ns: number;
  /** Whether it goes in the flow's direction. */
  readonly own: boolean;
  /** The flags of the TCP header, as a number. */
  readonly flags: number;
  /** The sequence number in the packet. */
  readonly seq: number;
  /** The offset of its first byte. Unit: bytes. */
  readonly offset: number;
  /** Payload. Unit: bytes. */
  readonly len: number;
  /** The acknowledgment: an offset of the other direction. Unit: bytes. */
  readonly ack: number | null;
  /** The window that it announces, scale applied. Unit: bytes. */
  readonly window: number;
  /** The SACK blocks, as `left:right left:right`, in offsets of the other direction. */
  readonly sack: string;
}

export const CapturedPacketColumns = {
  frame: { label: "frame", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  time_ns: { label: "time ns", unit: "ns", scale: 1.0, digits: 0, moreIsBetter: false },
  at_ns: { label: "at ns", unit: "ns", scale: 1.0, digits: 0, moreIsBetter: false },
  flags: { label: "flags", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  seq: { label: "seq", unit: "", scale: 1.0, digits: 0, moreIsBetter: false },
  offset: { label: "offset", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
  len: { label: "len", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
  ack: { label: "ack", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
  window: { label: "window", unit: "bytes", scale: 1.0, digits: 0, moreIsBetter: false },
} as const satisfies Record<string, Column>;

export const SHOWN = {
  CapturedConnection: [{"name":"client","title":"client","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":false,"meaning":"Its client."},{"name":"server","title":"server","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":false,"meaning":"Its server."},{"name":"vlan","title":"VLAN","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":true,"meaning":"The VLANs of its first packet, the outer one first (`10`, `10.20`); missing without a tag."},{"name":"start_s","title":"start","unit":"s","scale":1.0,"digits":3,"brief":false,"seldom":false,"meaning":"When its first packet was captured, since the file's first packet."},{"name":"lasted_s","title":"lasted","unit":"s","scale":1.0,"digits":3,"brief":false,"seldom":false,"meaning":"From its first to its last packet."},{"name":"opening","title":"opening","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":false,"meaning":"`opened`; `half open`: the server answered, and nothing acknowledged the answer; `refused`: a RST answered the SYN; `unanswered`; `not captured`: the capture has no SYN."},{"name":"syns","title":"SYNs","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":false,"meaning":"SYNs of the client."},{"name":"syn_acks","title":"SYN-ACKs","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"SYNs of the server, which answer them."},{"name":"setup_s","title":"set-up","unit":"ms","scale":1000.0,"digits":1,"brief":true,"seldom":false,"meaning":"From the first SYN to the acknowledgment of its answer."},{"name":"closed_by","title":"closed by","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":false,"meaning":"Who sent the first FIN or RST, and which: `FIN of the client` and the like; missing if none was captured."},{"name":"exchanges","title":"exchanges","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":true,"meaning":"Requests that were answered."},{"name":"first_byte_s","title":"to first byte","unit":"s","scale":1.0,"digits":3,"brief":false,"seldom":true,"meaning":"The total time from the last segments of requests to the first segments of their answers, as seen where it was captured."},{"name":"server_s","title":"server","unit":"s","scale":1.0,"digits":3,"brief":true,"seldom":false,"meaning":"The part of it that the server took: without a round trip for each exchange, if it was captured at the client. Missing if it was captured elsewhere than at an end, or if the round trip is unknown."},{"name":"network_s","title":"network","unit":"s","scale":1.0,"digits":3,"brief":false,"seldom":true,"meaning":"The rest of it, for the network; missing as `server_s` is."},{"name":"answers_s","title":"answers","unit":"s","scale":1.0,"digits":3,"brief":true,"seldom":true,"meaning":"The total time from the first to the last segments of answers."},{"name":"client_s","title":"client","unit":"s","scale":1.0,"digits":3,"brief":true,"seldom":true,"meaning":"The total time from the last segments of answers to the next requests."}],
  CapturedExchange: [{"name":"frame","title":"frame","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"The frame of the request's first segment."},{"name":"time_s","title":"time","unit":"s","scale":1.0,"digits":6,"brief":false,"seldom":false,"meaning":"When the request began, since the file's first packet."},{"name":"request_s","title":"request","unit":"ms","scale":1000.0,"digits":1,"brief":false,"seldom":false,"meaning":"From the request's first to its last segment."},{"name":"acked_s","title":"acknowledged","unit":"ms","scale":1000.0,"digits":1,"brief":false,"seldom":false,"meaning":"From the request's last segment to its acknowledgment; missing if the answer was faster."},{"name":"first_byte_s","title":"first byte","unit":"ms","scale":1000.0,"digits":1,"brief":false,"seldom":false,"meaning":"From the request's last segment to the answer's first."},{"name":"last_byte_s","title":"last byte","unit":"ms","scale":1000.0,"digits":1,"brief":false,"seldom":false,"meaning":"From the request's last segment to the answer's last."},{"name":"answer_frame","title":"answer","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"The frame of the answer's first segment."}],
  CapturedFlow: [{"name":"flow","title":"flow","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":false,"meaning":"The direction of the data, as `A:p > B:p`."},{"name":"vlan","title":"VLAN","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":true,"meaning":"The VLANs of the connection's first packet, the outer one first (`10`, `10.20`); missing without a tag."},{"name":"bytes","title":"bytes","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":false,"meaning":"Payload that was captured, each byte counted once."},{"name":"goodput_bytes_per_s","title":"","unit":"kB/s","scale":0.001,"digits":1,"brief":true,"seldom":false,"meaning":"`bytes` over `duration_s`."},{"name":"rtt_min_s","title":"RTT min","unit":"ms","scale":1000.0,"digits":1,"brief":false,"seldom":false,"meaning":"The smallest round-trip time."},{"name":"rtt_p50_s","title":"RTT","unit":"ms","scale":1000.0,"digits":1,"brief":true,"seldom":false,"meaning":"The median round-trip time."},{"name":"rtt_p95_s","title":"RTT p95","unit":"ms","scale":1000.0,"digits":1,"brief":false,"seldom":false,"meaning":"The 95th percentile of the round-trip times."},{"name":"retransmissions","title":"resent","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":false,"meaning":"Packets whose data had been sent before, as the capture proves: the sum of the next five counts."},{"name":"needed_retransmissions","title":"needed","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":false,"meaning":"Retransmissions of which the receiver lacked at least one byte."},{"name":"needless_retransmissions","title":"needless","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":false,"meaning":"Retransmissions of which the receiver had taken all bytes from earlier copies."},{"name":"refused_retransmissions","title":"refused","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":true,"meaning":"Retransmissions whose bytes had all arrived in earlier copies, some of which the receiver discarded (PAWS, RFC 7323 §5.3)."},{"name":"undecided_retransmissions","title":"undecided","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":true,"meaning":"Retransmissions of which the capture does not show whether they were needed."},{"name":"likely_retransmissions","title":"likely","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":true,"meaning":"Retransmissions whose verdict is likely, not certain. They count in none of the four verdicts."},{"name":"suspected_retransmissions","title":"suspected","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":true,"meaning":"Packets that may have been sent before, though nothing proves it: they filled a hole a round trip or more after later data. They are not retransmissions in the counts above."},{"name":"reordered_ratio","title":"reordered","unit":"%","scale":100.0,"digits":2,"brief":true,"seldom":false,"meaning":"The share of packets that arrived after a packet sent later (RFC 4737 §4.1)."},{"name":"main_cause","title":"mostly","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"What most of its time went into, waits after its last ACK included: a cause, or `sending`. The causes that follow retransmissions are one, `loss recovery`; or `reordering`, if most of them were needless and followed duplicate ACKs. Missing without time."},{"name":"longest_stall_s","title":"longest stall","unit":"s","scale":1.0,"digits":3,"brief":true,"seldom":false,"meaning":"The length of the longest stall."},{"name":"longest_stall_cause","title":"cause","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":false,"meaning":"The cause of the longest stall."},{"name":"sacks_outside","title":"SACKs outside","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":true,"meaning":"ACKs with SACK blocks more than 64 MB from all data, as where a device on the path changes sequence numbers and not the blocks."},{"name":"options","title":"options","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"The options in use, in words."},{"name":"captured","title":"captured","unit":"","scale":1.0,"digits":0,"brief":true,"seldom":false,"meaning":"Where it was captured: `at the sender`, `at the receiver`, `at both ends`, `on the way` or `unknown`."}],
  CapturedRetransmission: [{"name":"frame","title":"frame","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"Its frame."},{"name":"time_s","title":"time","unit":"s","scale":1.0,"digits":6,"brief":false,"seldom":false,"meaning":"When it was captured, since the file's first packet."},{"name":"offset_bytes","title":"offset","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"The place of its first byte in the stream; missing without a SYN."},{"name":"len_bytes","title":"bytes","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"Its length; a FIN counts one."},{"name":"copies_before","title":"sent before","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"Earlier copies of its bytes in the capture."},{"name":"verdict","title":"verdict","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"`needed`, `needless`, `refused` or `undecided`."},{"name":"likely","title":"likely","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"Whether the verdict is a guess: the most probable explanation of the capture, but not the only one."},{"name":"evidence","title":"evidence","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"The reason for the verdict, in words."}],
  CapturedStall: [{"name":"start_s","title":"time","unit":"s","scale":1.0,"digits":6,"brief":false,"seldom":false,"meaning":"When it began, since the file's first packet."},{"name":"duration_s","title":"took","unit":"s","scale":1.0,"digits":3,"brief":false,"seldom":false,"meaning":"How long it lasted."},{"name":"cause","title":"cause","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"Its cause."},{"name":"evidence","title":"evidence","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"The evidence of the cause, in words."},{"name":"frame_before","title":"from frame","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"The frame of the data packet before it."},{"name":"frame_after","title":"to frame","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"The frame of the data packet that ended it; at the end, of the connection's last packet."}],
  CapturedReordering: [{"name":"order_source","title":"order by","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"Where the order of sending comes from."},{"name":"packets","title":"packets","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"Packets that arrived. A packet duplicated by the network counts once."},{"name":"reordered","title":"reordered","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"Packets that arrived after one that was sent later (§3)."},{"name":"reordered_ratio","title":"share","unit":"%","scale":100.0,"digits":3,"brief":false,"seldom":false,"meaning":"`reordered` over `packets` (§4.1)."},{"name":"max_late_time_s","title":"late max","unit":"ms","scale":1000.0,"digits":1,"brief":false,"seldom":false,"meaning":"The longest late time."},{"name":"max_byte_offset_bytes","title":"offset max","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"The largest byte offset."},{"name":"discontinuities","title":"discont.","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"Reordering discontinuities (§4.5)."},{"name":"median_extent","title":"extent","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"The median of the extents (RFC 4737 §4.2)."},{"name":"max_extent","title":"max","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"The largest extent."}],
  DatagramFlow: [{"name":"flow","title":"flow","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"The direction of the data, as `A:p > B:p`."},{"name":"format","title":"format","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"`RTP` or `iperf3`."},{"name":"ssrc","title":"SSRC","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"RTP's source."},{"name":"packets","title":"packets","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"Packets, each number once."},{"name":"bytes","title":"bytes","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"Payload."},{"name":"lost","title":"lost","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"Numbers between the lowest and the highest that never arrived."},{"name":"lost_ratio","title":"share lost","unit":"%","scale":100.0,"digits":2,"brief":false,"seldom":false,"meaning":"Their share."},{"name":"duplicates","title":"twice","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"Second arrivals."},{"name":"reordered_ratio","title":"reordered","unit":"%","scale":100.0,"digits":2,"brief":false,"seldom":false,"meaning":"Their share (RFC 4737 §4.1)."},{"name":"median_extent","title":"extent","unit":"","scale":1.0,"digits":0,"brief":false,"seldom":false,"meaning":"The median of the extents (RFC 4737 §4.2)."},{"name":"max_late_time_s","title":"late max","unit":"ms","scale":1000.0,"digits":1,"brief":false,"seldom":false,"meaning":"The longest late time."}],
} as const;
