"""The numbers of a flow, in the order in which tables have them."""

from __future__ import annotations

FLOW_NUMBERS: dict[str, type[int] | type[float]] = {
    "start_s": float,
    "finish_s": float,
    "acked_bytes": int,
    "throughput_bytes_per_s": float,
    "goodput_bytes_per_s": float,
    "data_packets_sent": int,
    "retransmissions": int,
    "needed_retransmissions": int,
    "refused_retransmissions": int,
    "needless_retransmissions": int,
    "needless_fast_retransmissions": int,
    "data_drops": int,
    "ack_drops": int,
    "timeouts": int,
    "fast_recoveries": int,
    "dupthresh_max": int,
    "dupthresh_mean": float,
    "dupthresh_after_timeout_max": int,
    "dupthresh_of_ceiling_max": float,
    "transfers": int,
    "transfer_median_s": float,
    "transfer_p95_s": float,
}
"""Names and types; what a run does not have is null."""

TRANSFERS = ("transfers", "transfer_median_s", "transfer_p95_s")
"""Only of flows that make transfers in a row."""

MEANS = tuple(name for name in FLOW_NUMBERS if name != "start_s")
"""Of which a summary gives means, and a stop rule may speak."""
