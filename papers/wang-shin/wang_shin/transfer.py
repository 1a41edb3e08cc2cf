"""Table 5: the transfer of 100 kB among nineteen flows."""

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
"""Its place among the flows."""
START_S = 4.8
SIZE_KBIT = 800
RATE_KBPS = 800
PUBLISHED: dict[str, tuple[float, float]] = {"I": (33.3, 15), "II": (30.1, 12), "III": (25.6, 13), "IV": (18.0, 11)}
"""Transfer delay, s, and loss rate, %."""


def trials() -> list[Trial]:
    """All runs: each case, and the beginning of it that lasts as long as the paper's transfer."""
    return [t for case in CASES for t in (whole(case), beginning(case))]


def whole(case: str) -> Trial:
    """Until the target is done."""
    return fairness(*CASES[case])


def beginning(case: str) -> Trial:
    """Until the paper's target was done, in whole seconds: what all flows carried by then is the total."""
    return fairness(*CASES[case], round(START_S + PUBLISHED[case][0]))


@dataclass(frozen=True)
class Transfer:
    """Delays, losses and totals by case."""

    ran: Mapping[Trial, Ran]
    draw: Sequence[int] | None = None
    """These runs; None: all."""
    kept: dict[object, list[float]] = field(default_factory=dict, compare=False, repr=False)
    """What was computed from all runs."""

    def _drawn(self, what: str, of: Callable[[Ran], list[float]], at: Trial) -> list[float]:
        key = (what, at)
        if key not in self.kept:
            self.kept[key] = of(self.ran[at])
        values = self.kept[key]
        return values if self.draw is None else [values[i] for i in self.draw]

    def delays(self, case: str) -> list[float]:
        """From the start to the last ACK, s; infinite where the run ended before."""
        return self._drawn("delay", delays, whole(case))

    def losses(self, case: str) -> list[float]:
        """Packets dropped of those sent, %."""
        return self._drawn("loss", losses, whole(case))

    def rates(self, case: str) -> list[float]:
        """The target's bandwidth, kb/s."""
        return [SIZE_KBIT / delay for delay in self.delays(case)]

    def totals(self, case: str) -> list[float]:
        """What all flows carry by the time of the paper's delay, kb/s."""
        return self._drawn("total", totals, beginning(case))

    def mean(self, values: Sequence[float]) -> float:
        """The mean of those that are finite."""
        there = [value for value in values if math.isfinite(value)]
        return statistics.fmean(there)

    def steps(self, order: Sequence[str], of: str) -> tuple[list[float], ...]:
        """From each case to the next in this order, how much larger a seed's value is, where both are finite."""
        columns = [getattr(self, of)(case) for case in order]
        return tuple(
            [b - a for a, b in zip(one, other, strict=True) if math.isfinite(a) and math.isfinite(b)]
            for one, other in itertools.pairwise(columns)
        )

    def in_order(self, order: Sequence[str]) -> tuple[int, int]:
        """In how many seeds the delays of the four cases have this order, and how many seeds there are."""
        rows = list(zip(*(self.delays(case) for case in order), strict=True))
        return sum(list(row) == sorted(row) for row in rows), len(rows)


def delays(ran: Ran) -> list[float]:
    """The target's transfer delays, s."""
    ends = [run["flows"][TARGET]["finish_s"] for run in ran.runs]
    return [math.inf if end is None else end - START_S for end in ends]


def losses(ran: Ran) -> list[float]:
    """The target's loss rates, %."""
    return ran.values(lambda run: 100 * _target(run)["data_drops"] / _target(run)["data_packets_sent"])


def totals(ran: Ran) -> list[float]:
    """What all flows carry, kb/s."""
    return ran.values(lambda run: float(sum(f["acked_bytes"] for f in run["flows"]) * 8 / 1000 / run["duration_s"]))


def _target(run: Mapping[str, Any]) -> Mapping[str, Any]:
    flow: Mapping[str, Any] = run["flows"][TARGET]
    return flow


RENO_AMONG_RENO = fairness(RENO, RENO)
