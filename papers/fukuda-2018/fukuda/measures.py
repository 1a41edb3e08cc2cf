"""The measure of each claim of Fukuda et al. in a family of runs, one for each round trip."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ackclock.statistics import rank_correlation

from .curves import BELOW, CUBIC, GRID, NEWRENO, PACKET_BYTES, SENDERS, Array, Curve, Sender
from .window_trace import WindowTrace

SENDING_S = 10.0
"""§III: from 0.2 to 10.2 s."""
EXCEPTION = 30
"""§IV-A: the RI at which Cubic is not below NewReno."""
SHORT, LONG = 8, 80
"""§IV-B, §IV-C."""
CLOSE_S = (2.0, 2.3)
"""Figures 7 and 8."""
EARLY_S = 2.0
"""Figure 9 ends at this time."""
SLOW_S = (2.0, 8.0)
"""§IV-C."""
HALF_SECONDS = 12
FLAT_SEGS = 1.0
LEAST_SEGS = 2.0


@dataclass(frozen=True)
class View:
    """Some of the round trips; a claim is measured in each of them, and their mean counts."""

    curves: Mapping[Sender, Curve]
    traces: Mapping[tuple[Sender, int], Sequence[WindowTrace]]
    """Traces by sender and RI, one for each delay."""
    arrivals: Mapping[Sender, Sequence[float]]
    """Packets that reached R2 in 10 s without reordering, one number for each delay."""
    draw: Sequence[int]

    def normalised(self, sender: Sender, ris: Sequence[int] = BELOW) -> Array:
        """Normalised throughput: a row for each RI, a column for each round trip."""
        return self._columns(self.curves[sender].normalised, sender, ris)

    def arriving(self, sender: Sender, ris: Sequence[int] = BELOW) -> Array:
        """The same for all packets that reach the receiver."""
        return self._columns(self.curves[sender].arriving, sender, ris)

    def recoveries(self, sender: Sender, ris: Sequence[int] = BELOW) -> Array:
        """Fast recoveries."""
        return self._columns(self.curves[sender].recoveries, sender, ris)

    def _columns(self, table: Array, sender: Sender, ris: Sequence[int]) -> Array:
        lines = self.curves[sender].lines(ris)
        return table[np.ix_(lines, list(self.draw))]

    def over_traces(self, sender: Sender, ri: int, number: Callable[[WindowTrace], float]) -> float:
        """The mean of a function of each trace; NaN if a trace has no value."""
        every = self.traces[sender, ri]
        return statistics.fmean(number(every[i]) for i in self.draw)


def megabits(packets: float) -> float:
    """Convert packets in 10 s to Mb/s."""
    return packets * PACKET_BYTES * 8 / SENDING_S / 1e6


def throughput(v: View, sender: Sender) -> tuple[float, ...]:
    """Throughput at R2 without reordering, in Mb/s."""
    return (megabits(statistics.fmean(v.arrivals[sender][i] for i in v.draw)),)


def largest_fall(share: Array) -> float:
    """The largest fall of each curve, in %; the mean over the round trips."""
    return float(np.mean(100 * (1 - share.min(axis=0))))


def below(v: View, ris: Sequence[int]) -> float:
    """The share of RI at which Cubic is below NewReno, in %."""
    return float(np.mean(100 * (v.normalised(CUBIC, ris) < v.normalised(NEWRENO, ris))))


def difference(v: View, ri: int) -> float:
    """Cubic's throughput minus NewReno's, in percentage points."""
    return float(np.mean(100 * (v.normalised(CUBIC, [ri]) - v.normalised(NEWRENO, [ri]))))


def fewest(v: View, sender: Sender) -> float:
    """Fast recoveries at the RI below 100 with the fewest; the mean over the round trips."""
    return float(np.mean(v.recoveries(sender).min(axis=0)))


def along_ri(v: View, sender: Sender) -> float:
    """Rank correlation of fast recoveries and RI in each curve; the mean over the round trips."""
    table = v.recoveries(sender)
    return statistics.fmean(rank_correlation(BELOW, list(column)) for column in table.T)


def local_fall(v: View, sender: Sender) -> float:
    """The largest fall between neighbouring grid points of a curve, in percentage points; mean over the round trips."""
    return float(np.mean(-100 * np.diff(v.normalised(sender, GRID), axis=0).min(axis=0)))


def at_100(v: View) -> tuple[float, ...]:
    """Without moved packets: normalised throughput, fast recoveries."""
    shares = [float(v.normalised(sender, [100]).mean()) for sender in SENDERS]
    return (*shares, sum(float(v.recoveries(sender, [100]).mean()) for sender in SENDERS))


def close_up(v: View) -> tuple[float, ...]:
    """Cubic at RI = 8 in Figure 8: the smallest window, and the number of cuts to two segments."""

    def cuts(c: WindowTrace) -> float:
        return sum(CLOSE_S[0] <= at <= CLOSE_S[1] and after <= LEAST_SEGS for at, _, after in c.cuts)

    return v.over_traces(CUBIC, SHORT, lambda c: c.smallest(*CLOSE_S)), v.over_traces(CUBIC, SHORT, cuts)


def early(c: WindowTrace) -> float:
    """The smallest window from the first fast retransmit until 2 s, in segments; NaN if there is none by then."""
    first = min((at for at, _, _ in c.cuts), default=math.inf)
    return c.smallest(first, EARLY_S) if first <= EARLY_S else math.nan


def kept(c: WindowTrace) -> list[float]:
    """The share of the window left by each fast retransmit from 2 s on; NaN without any."""
    return [after / before for at, before, after in c.cuts if at >= EARLY_S] or [math.nan]


def flat(c: WindowTrace) -> float:
    """The number of half-second intervals in which the window grows by less than a segment."""
    long = (SLOW_S[1] - SLOW_S[0]) / HALF_SECONDS
    starts = (SLOW_S[0] + i * long for i in range(HALF_SECONDS))
    return sum(c.growth(start, start + long) < FLAT_SEGS for start in starts)


MEASURES: dict[str, Callable[[View], tuple[float, ...]]] = {
    "S003-01": lambda v: throughput(v, NEWRENO),
    "S003-02": lambda v: throughput(v, CUBIC),
    "S003-06": lambda v: (largest_fall(v.normalised(NEWRENO)),),
    "S003-07": lambda v: (largest_fall(v.normalised(CUBIC)),),
    "S003-08": lambda v: (below(v, [ri for ri in BELOW if ri != EXCEPTION]), difference(v, EXCEPTION)),
    "S003-09": lambda v: (fewest(v, NEWRENO), fewest(v, CUBIC)),
    "S003-10": lambda v: (along_ri(v, NEWRENO), along_ri(v, CUBIC)),
    "S003-11": at_100,
    "S003-12": lambda v: (local_fall(v, NEWRENO), local_fall(v, CUBIC)),
    "S003-14": close_up,
    "S003-15": lambda v: (v.over_traces(CUBIC, SHORT, early),),
    "S003-16": lambda v: (
        v.over_traces(NEWRENO, SHORT, lambda c: min(kept(c))),
        v.over_traces(NEWRENO, SHORT, lambda c: max(kept(c))),
        v.over_traces(NEWRENO, SHORT, lambda c: c.smallest(EARLY_S, EARLY_S + SENDING_S)),
    ),
    "S003-19": lambda v: (
        v.over_traces(CUBIC, LONG, flat),
        v.over_traces(CUBIC, LONG, lambda c: c.growth(*SLOW_S)),
    ),
    "S003-20": lambda v: (v.over_traces(NEWRENO, LONG, WindowTrace.growth_in_a_round_trip),),
    "S003-23": lambda v: (difference(v, LONG), float(np.mean(v.normalised(CUBIC, [LONG])))),
}
"""Measures by claim; the other claims are parameters (``setup``)."""
