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
    unit: str
    """The displayed unit; empty for counts."""
    scale: float
    """Factor from the value to the displayed one."""
    more_is_better: bool
    relative: bool
    """Whether two stacks are compared by their ratio; otherwise by their difference in the displayed unit."""
    matters: float
    """Default of ``within``: a share for relative measures, otherwise in units of the value."""
    of: Callable[[Run], float | None]
    """Returns its value in SI units; ``None`` if the run has none, as for a transfer that did not end."""
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


MEASURES = {
    one.key: one
    for one in (
        Measure("goodput", "goodput", "kB/s", 1e-3, True, True, 0.02, _sum("goodput_bytes_per_s")),
        Measure("completion", "completion time", "s", 1, False, True, 0.02, _completion),
        Measure("transfer_median", "median transfer", "s", 1, False, True, 0.02, _mean("transfer_median_s")),
        Measure("transfer_p95", "95 % of transfers within", "s", 1, False, True, 0.02, _mean("transfer_p95_s")),
        Measure(
            "needless", "needless retransmissions", "%", 100, False, False, 0.001, _share("needless_retransmissions")
        ),
        *(
            Measure(
                f"needless_{key}",
                f"needless, {label}",
                "%",
                100,
                False,
                False,
                0.001,
                _share(f"needless_{key}_retransmissions"),
            )
            for key, label in {
                "fast": "first of a fast recovery",
                "recovery": "later in one",
                "probe": "probes",
                "timeout": "after timeouts",
            }.items()
        ),
        Measure("retransmissions", "retransmissions", "%", 100, False, False, 0.001, _share("retransmissions")),
        Measure("timeouts", "timeouts", "", 1, False, False, 0.5, _sum("timeouts")),
        *(
            Measure(key, label, "s", 1, False, True, 0.02, _of_all(f"{key}_s"), True)
            for key, label in {
                "completion_p95": "95 % complete within",
                "completion_p99": "99 % complete within",
                "rtt_p50": "median round trip",
                "rtt_p95": "95 % of round trips within",
                "delay_p50": "median one-way delay",
                "delay_p95": "95 % of one-way delays within",
                "delay_p99": "99 % of one-way delays within",
            }.items()
        ),
        Measure(
            "queue_p95",
            "95 % wait in the longest queue within",
            "s",
            1,
            False,
            True,
            0.02,
            _longest_queue("queue_delay_p95_s"),
            True,
        ),
        Measure("jain", "Jain's index", "", 1, True, False, 0.01, _of_all("jain"), True),
        Measure("loss", "loss", "%", 100, False, False, 0.001, _of_all("loss_ratio"), True),
    )
}
"""The measures by key.

Goodput and timeouts cover all flows together. Completion and transfer times are means over the flows, or the flow's
own value if there is one flow. Needless retransmissions, all retransmissions and losses are shares of the data packets
sent. The others are the measures of docs/measures.md over all flows; ``queue_p95`` is taken at the link where it is
largest.
"""
