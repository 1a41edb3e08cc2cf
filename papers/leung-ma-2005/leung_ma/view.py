"""Runs of Leung & Ma 2005 by method and place, as claims and figures use them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ackclock.papers.reading import Reading
from ackclock.runs.trial import Ran, Trial
from ackclock.statistics import Mean

from .points import FS, MIXED, Method, Place, trial

Number = Callable[[Mapping[str, Any]], float]


def kilobytes(run: Mapping[str, Any]) -> float:
    """Acknowledged payload, in kB/s."""
    return float(run["flows"][0]["throughput_bytes_per_s"]) / 1e3


def unnecessary(count: str) -> Number:
    """The unnecessary retransmission rate of §IV-A, in per cent of the packets sent.

    Args:
        count: the name of a flow's number of unnecessary retransmissions.
    """

    def rate(run: Mapping[str, Any]) -> float:
        flow = run["flows"][0]
        return 100 * float(flow[count]) / max(1, int(flow["data_packets_sent"]))

    return rate


class Runs:
    """The runs of many trials; numbers extracted from them are cached."""

    def __init__(self, ran: Mapping[Trial, Ran]) -> None:
        self.ran = ran
        self._taken: dict[tuple[Trial, str], list[float]] = {}

    def values(self, at: Trial, name: str, number: Number) -> list[float]:
        """A number of each run of a trial; ``name`` is its key in the cache."""
        key = (at, name)
        if key not in self._taken:
            self._taken[key] = self.ran[at].values(number)
        return self._taken[key]


@dataclass(frozen=True)
class Read:
    """Measurement choices that the paper leaves open."""

    count: str = "needless_fast_retransmissions"
    """The number of a flow that the unnecessary retransmission rate counts."""
    of_means: bool = True
    """Whether a gain "on the average" is the gain of the mean throughputs; otherwise it is the mean of the gains."""

    @classmethod
    def of(cls, reading: Reading) -> Read:
        """Take the choices from a reading of the paper."""
        return cls(COUNTS[reading["needless"]], reading["average"] == "of-means")


COUNTS = {"one-a-recovery": "needless_fast_retransmissions", "each-segment": "needless_retransmissions"}
"""The number of a flow to count for each option of the choice ``needless``."""


class View:
    """The runs on which a claim is measured."""

    def __init__(self, runs: Runs, read: Read = Read(), draw: Sequence[int] | None = None) -> None:
        """``draw`` lists the runs of each point to use; ``None``: all."""
        self.runs, self.read, self.draw = runs, read, draw
        self.fs, self.shares = FS, MIXED

    def _values(self, name: str, number: Number, method: Method, place: Place) -> list[float]:
        values = self.runs.values(trial(method, place), name, number)
        # A point without randomness has one run, which every draw uses.
        return values if self.draw is None or len(values) == 1 else [values[i] for i in self.draw]

    def throughputs(self, method: Method, place: Place) -> list[float]:
        """Throughput of each run, in kB/s."""
        return self._values("throughput", kilobytes, method, place)

    def rates(self, method: Method, place: Place) -> list[float]:
        """The unnecessary retransmission rate of each run, in per cent."""
        return self._values(self.read.count, unnecessary(self.read.count), method, place)

    def throughput(self, method: Method, place: Place) -> float:
        """The mean throughput, in kB/s."""
        return fmean(self.throughputs(method, place))

    def rate(self, method: Method, place: Place) -> float:
        """The mean unnecessary retransmission rate, in per cent."""
        return fmean(self.rates(method, place))

    def mean(self, values: Callable[[View, Method, Place], list[float]], method: Method, place: Place) -> Mean:
        """A mean with its interval, as in ``mean(View.rates, DSACK, Single(1.0))``."""
        return Mean.of(values(self, method, place))
