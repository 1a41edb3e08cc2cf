"""Table 5: the transfer of 100 kB among nineteen other flows."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ackclock.runs.trial import Ran, Trial

from .points import CASES, RENO, fairness

TARGET = 19
"""The index of its flow."""
START_S = 4.8
SIZE_KBIT = 800
RATE_KBPS = 800
PUBLISHED: dict[str, tuple[float, float]] = {"I": (33.3, 15), "II": (30.1, 12), "III": (25.6, 13), "IV": (18.0, 11)}
"""Transfer delay in s, and loss rate in %."""


def trials() -> list[Trial]:
    """All runs: each case, and its beginning with the duration of the paper's transfer."""
    return [t for case in CASES for t in (whole(case), beginning(case))]


def whole(case: str) -> Trial:
    """A run until the target's transfer is complete."""
    return fairness(*CASES[case])


def beginning(case: str) -> Trial:
    """A run until the paper's target had finished, in whole seconds; it gives the throughput of all flows by then."""
    return fairness(*CASES[case], round(START_S + PUBLISHED[case][0]))


@dataclass(frozen=True)
class Transfer:
    """Delays, losses and totals by case."""

    ran: Mapping[Trial, Ran]
    draw: Sequence[int] | None = None
    """The runs to use. Default: all."""
    kept: dict[object, list[float]] = field(default_factory=dict, compare=False, repr=False)
    """Results computed from all runs."""

    def _drawn(self, what: str, of: Callable[[Ran], list[float]], at: Trial) -> list[float]:
        key = (what, at)
        if key not in self.kept:
            self.kept[key] = of(self.ran[at])
        values = self.kept[key]
        return values if self.draw is None else [values[i] for i in self.draw]

    def delays(self, case: str) -> list[float]:
        """Time from the start to the last ACK, in s; infinite if the run ended before it."""
        return self._drawn("delay", delays, whole(case))

    def losses(self, case: str) -> list[float]:
        """Dropped packets as a share of the packets sent, in %."""
        return self._drawn("loss", losses, whole(case))

    def rates(self, case: str) -> list[float]:
        """The target's bandwidth, in kb/s."""
        return [SIZE_KBIT / delay for delay in self.delays(case)]

    def totals(self, case: str) -> list[float]:
        """The throughput of all flows by the end of the paper's transfer, in kb/s."""
        return self._drawn("total", totals, beginning(case))

    def mean(self, values: Sequence[float]) -> float:
        """The mean of the finite values."""
        there = [value for value in values if math.isfinite(value)]
        return statistics.fmean(there)

    def steps(self, order: Sequence[str], of: str) -> tuple[list[float], ...]:
        """The increase from each case to the next in this order, for each seed with finite values in both."""
        columns = [getattr(self, of)(case) for case in order]
        return tuple(
            [b - a for a, b in zip(one, other, strict=True) if math.isfinite(a) and math.isfinite(b)]
            for one, other in itertools.pairwise(columns)
        )

    def in_order(self, order: Sequence[str]) -> tuple[int, int]:
        """The number of seeds in which the delays of the four cases have this order, and the number of seeds."""
        rows = list(zip(*(self.delays(case) for case in order), strict=True))
        return sum(list(row) == sorted(row) for row in rows), len(rows)


def delays(ran: Ran) -> list[float]:
    """The target's transfer delays, in s."""
    ends = [run["flows"][TARGET]["finish_s"] for run in ran.runs]
    return [math.inf if end is None else end - START_S for end in ends]


def losses(ran: Ran) -> list[float]:
    """The target's loss rates, in %."""
    return ran.values(lambda run: 100 * _target(run)["data_drops"] / _target(run)["data_packets_sent"])


def totals(ran: Ran) -> list[float]:
    """The throughput of all flows, in kb/s."""
    return ran.values(lambda run: float(sum(f["acked_bytes"] for f in run["flows"]) * 8 / 1000 / run["duration_s"]))


def _target(run: Mapping[str, Any]) -> Mapping[str, Any]:
    flow: Mapping[str, Any] = run["flows"][TARGET]
    return flow


RENO_AMONG_RENO = fairness(RENO, RENO)
