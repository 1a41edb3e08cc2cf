"""The measures of a study: numbers of a run that rate its senders."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Run = Mapping[str, Any]
"""A run as in ``runs`` of ``ackclock run --json``."""


@dataclass(frozen=True)
class Measure:
    """A number of a run."""

    key: str
    """Its name in the file of a study."""
    label: str
    """Its name in tables and pictures."""
    of: Callable[[Run], float | None]
    """Returns its value in SI units; ``None`` if the run has none, as for a transfer that did not end."""
    meaning: str
    """What it is, in a sentence."""
    unit: str
    """The displayed unit; empty for counts."""
    scale: float
    """Factor from the value to the displayed one."""
    more_is_better: bool
    relative: bool
    """Whether two stacks are compared by their ratio; otherwise by their difference in the displayed unit."""
    matters: float
    """Default of ``within``: a share for relative measures, otherwise in units of the value."""
    detailed: bool = False
    """Whether the run must have measures (``[run] measures = true``)."""

    def shown(self, value: float) -> str:
        """A value with three significant digits, without its unit."""
        scaled = value * self.scale
        if scaled == 0 or not math.isfinite(scaled):
            return f"{scaled:.0f}"
        digits = max(0, 2 - math.floor(math.log10(abs(scaled))))
        return f"{scaled:,.{min(digits, 4)}f}"

    @property
    def title(self) -> str:
        """The label with its unit."""
        return f"{self.label}, {self.unit}" if self.unit else self.label


def _sum(key: str) -> Callable[[Run], float | None]:
    return lambda run: math.fsum(flow[key] for flow in run["flows"])


def _mean(key: str) -> Callable[[Run], float | None]:
    """The mean over all flows; ``None`` if one of them lacks the value."""

    def of(run: Run) -> float | None:
        values = [flow.get(key) for flow in run["flows"]]
        return None if None in values else math.fsum(values) / len(values)

    return of


def _of_all(key: str) -> Callable[[Run], float | None]:
    """A measure of all flows together."""
    return lambda run: run["measures"]["groups"][0][key]


def _longest_queue(key: str) -> Callable[[Run], float | None]:
    """The value for the link or path where it is largest."""

    def of(run: Run) -> float | None:
        known = [link[key] for link in run["measures"]["links"] if link[key] is not None]
        return max(known, default=None)

    return of


def _completion(run: Run) -> float | None:
    times = [None if flow["finish_s"] is None else flow["finish_s"] - flow["start_s"] for flow in run["flows"]]
    known = [time for time in times if time is not None]
    return math.fsum(known) / len(known) if len(known) == len(times) else None


def _share(key: str) -> Callable[[Run], float | None]:
    def of(run: Run) -> float | None:
        sent = sum(flow["data_packets_sent"] for flow in run["flows"])
        return float(sum(flow[key] for flow in run["flows"]) / max(sent, 1))

    return of


_TIME: dict[str, Any] = {"unit": "s", "scale": 1, "more_is_better": False, "relative": True, "matters": 0.02}
_SHARE: dict[str, Any] = {"unit": "%", "scale": 100, "more_is_better": False, "relative": False, "matters": 0.001}


def _needless(cause: str, label: str, meaning: str) -> Measure:
    of = _share(f"needless_{cause}_retransmissions")
    return Measure(
        f"needless_{cause}",
        f"needless, {label}",
        of,
        f"Needless retransmissions {meaning}, as a share of the data packets sent.",
        **_SHARE,
    )


def _of_group(key: str, label: str, meaning: str) -> Measure:
    return Measure(key, label, _of_all(f"{key}_s"), meaning, detailed=True, **_TIME)


MEASURES = {
    one.key: one
    for one in (
        Measure(
            "goodput",
            "goodput",
            _sum("goodput_bytes_per_s"),
            "The sum of the flows' payload, each divided by its own duration.",
            "kB/s",
            1e-3,
            True,
            True,
            0.02,
        ),
        Measure(
            "completion",
            "completion time",
            _completion,
            "From a flow's start to its last acknowledged byte, mean over the flows.",
            **_TIME,
        ),
        Measure(
            "transfer_median",
            "median transfer",
            _mean("transfer_median_s"),
            "The median duration of successive transfers, mean over the flows.",
            **_TIME,
        ),
        Measure(
            "transfer_p95",
            "95 % of transfers within",
            _mean("transfer_p95_s"),
            "The 95th percentile of these durations, mean over the flows.",
            **_TIME,
        ),
        Measure(
            "needless",
            "needless retransmissions",
            _share("needless_retransmissions"),
            "Needless retransmissions as a share of the data packets sent.",
            **_SHARE,
        ),
        _needless("fast", "first of a fast recovery", "that were the first of a fast recovery"),
        _needless("recovery", "later in one", "later in a fast recovery"),
        _needless("probe", "probes", "that were probes"),
        _needless("timeout", "after timeouts", "after timeouts"),
        Measure(
            "retransmissions",
            "retransmissions",
            _share("retransmissions"),
            "All retransmissions as a share of the data packets sent.",
            **_SHARE,
        ),
        Measure(
            "timeouts",
            "timeouts",
            _sum("timeouts"),
            "Retransmission timeouts of all flows.",
            "",
            1,
            False,
            False,
            0.5,
        ),
        _of_group("completion_p95", "95 % complete within", "The 95th percentile over all finished transfers."),
        _of_group("completion_p99", "99 % complete within", "The 99th percentile over all finished transfers."),
        _of_group("rtt_p50", "median round trip", "The median of all flows' round-trip times."),
        _of_group("rtt_p95", "95 % of round trips within", "The 95th percentile of all flows' round-trip times."),
        _of_group("delay_p50", "median one-way delay", "The median of the data packets' one-way delays."),
        _of_group("delay_p95", "95 % of one-way delays within", "The 95th percentile of these delays."),
        _of_group("delay_p99", "99 % of one-way delays within", "The 99th percentile of these delays."),
        Measure(
            "queue_p95",
            "95 % wait in the longest queue within",
            _longest_queue("queue_delay_p95_s"),
            "The 95th percentile of the queueing delay at the link where it is largest.",
            detailed=True,
            **_TIME,
        ),
        Measure(
            "jain",
            "Jain's index",
            _of_all("jain"),
            "Jain's index of the flows' goodput: 1 if all get the same.",
            "",
            1,
            True,
            False,
            0.01,
            True,
        ),
        Measure(
            "loss",
            "loss",
            _of_all("loss_ratio"),
            "Data packets dropped on the path, as a share of those sent.",
            detailed=True,
            **_SHARE,
        ),
    )
}
"""The measures by key; docs/results.md lists them."""
