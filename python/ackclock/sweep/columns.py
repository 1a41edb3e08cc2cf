"""The numbers of a flow, in the order of the columns of tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    "needless_recovery_retransmissions": int,
    "needless_probe_retransmissions": int,
    "needless_timeout_retransmissions": int,
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
"""Names and types; a number that a run does not have is null."""

TRANSFERS = ("transfers", "transfer_median_s", "transfer_p95_s")
"""Only for flows that make consecutive transfers."""

MEANS = tuple(name for name in FLOW_NUMBERS if name != "start_s")
"""Numbers that a summary averages and a stop rule may use."""

_SPREAD = ("count", "mean_s", "min_s", "p50_s", "p95_s", "p99_s", "max_s")
_RATIOS = ("loss_ratio", "reordered_ratio", "needless_ratio")


def _spread(*quantities: str) -> dict[str, type[int] | type[float]]:
    return {f"{q}_{of}": int if of == "count" else float for q in quantities for of in _SPREAD}


OF_FLOW: dict[str, type[int] | type[float]] = {
    "share": float,
    "data_packets_arrived": int,
    **dict.fromkeys(_RATIOS, float),
    **_spread("completion", "rtt", "delay"),
}
TOTALS = ("throughput_bytes_per_s", "goodput_bytes_per_s", *_RATIOS, *_spread("completion", "rtt", "delay"))
WORST = ("worst_queue_delay_p50_s", "worst_queue_delay_p95_s", "worst_queue_delay_p99_s")
MEASURED: dict[str, type[int] | type[float]] = {
    **OF_FLOW,
    **{f"total_{name}": int if name.endswith("_count") else float for name in TOTALS},
    "jain": float,
    **dict.fromkeys(WORST, float),
}
"""For runs with measures: names and types of a flow's measures, of the measures over all flows (``total_…`` and
``jain``), and the largest percentile of the queueing delay of any link (``worst_queue_delay_…``)."""

Number = int | float | None


def number(run: Mapping[str, Any], at: int, name: str) -> Number:
    """Return a number of the flow at this position, by the name of its column; ``None`` if the run does not have it."""
    if name in FLOW_NUMBERS:
        found: Number = run["flows"][at].get(name)
        return found
    return measured(run, at).get(name)


def measured(run: Mapping[str, Any], at: int) -> dict[str, Number]:
    """Return the measures of a run for the row of the flow at this position; empty if the run has no measures."""
    if (said := run.get("measures")) is None:
        return {}
    flow, total = said["flows"][at], said["groups"][0]
    found: dict[str, Number] = {name: flow[name] for name in OF_FLOW}
    found |= {f"total_{name}": total[name] for name in TOTALS}
    for name in WORST:
        known = [link[key] for link in said["links"] if link[key := name.removeprefix("worst_")] is not None]
        found[name] = max(known, default=None)
    return found | {"jain": total["jain"]}
