"""The claims of Blanton & Allman 2002 as functions of our runs; ``claims.csv`` has the accepted values.

Figures 2 to 4 and 6 show means, 5 and 7 to 9 medians over the seeds (README.md lists what the paper leaves open).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from ackclock.statistics import above, rank_correlation, ratio

from .points import GAPS_S, STOCK, SWEEP_A_GAPS_S, SWEEP_B_SWAPS, Point, Scheme, Setting
from .points import SWAPS as SWEEP_A_SWAPS
from .schemes import (
    ADAPTIVE,
    ALPHAS,
    AS_TAKEN,
    AVG,
    COUNTERS,
    DEL,
    EWMA,
    FIXED,
    GAP_S,
    INC,
    SWAPS,
    UNDO,
    XS,
    Look,
    at,
    ewma,
)

MANY = 12
NEEDLESS = "needless_retransmissions"
BETTER = (AVG, DEL)
"""§7 on Figure 8: "the algorithms that prevented more unnecessary fast retransmits"."""


class View:
    """The runs on which a claim is measured."""

    def __init__(
        self, points: Mapping[Setting, Point], draw: Sequence[int] | None = None, look: Look = AS_TAKEN
    ) -> None:
        """``draw`` lists the runs of each point to use; ``None``: all."""
        self.points, self.draw, self.look = points, draw, look
        self._known: dict[tuple[object, ...], float] = {}

    @property
    def swaps(self) -> tuple[int, ...]:
        """The axis of Figures 4 to 8."""
        return self.look.along(SWAPS)

    @property
    def some(self) -> tuple[int, ...]:
        """The same without zero."""
        return self.swaps[1:]

    @property
    def heavy(self) -> tuple[int, ...]:
        """§7: "when the reordering was heavy"; the lower limit of the count is ours."""
        return tuple(swaps for swaps in self.swaps if swaps >= MANY)

    @property
    def sweep_a(self) -> tuple[int, ...]:
        """The axis of Figures 2(a) and 3(a)."""
        return self.look.along(SWEEP_A_SWAPS)

    def values(self, key: str, scheme: Scheme, swaps: int, gap_s: float = GAP_S) -> list[float]:
        """A number of each run."""
        every = self.points[at(scheme, swaps, gap_s)].values(key)
        return every if self.draw is None else [every[i] for i in self.draw]

    def throughput(self, scheme: Scheme, swaps: int, gap_s: float = GAP_S) -> float:
        """Mean throughput, in bytes per second."""
        return self._once(_mean, "throughput_bytes_per_s", scheme, swaps, gap_s)

    def needless(self, scheme: Scheme, swaps: int, gap_s: float = GAP_S) -> float:
        """Mean number of needless retransmissions."""
        return self._once(_mean, NEEDLESS, scheme, swaps, gap_s)

    def timeouts(self, scheme: Scheme, swaps: int) -> float:
        """Mean number of timeouts."""
        return self._once(_mean, "timeouts", scheme, swaps)

    def count(self, scheme: Scheme, swaps: int | None = None) -> float:
        """Needless retransmissions of Figures 5 and 9; without ``swaps``, at Figure 9's number of swaps."""
        return self._once(self.look.middle, NEEDLESS, scheme, self.look.fig9_swaps if swaps is None else swaps)

    def median(self, scheme: Scheme, swaps: int) -> float:
        """Median of needless retransmissions."""
        return self._once(statistics.median, NEEDLESS, scheme, swaps)

    def deviation(self, scheme: Scheme, swaps: int) -> float:
        """Median distance of needless retransmissions from their median."""
        return self._once(_deviation, NEEDLESS, scheme, swaps)

    def _once(
        self, of: Callable[[Sequence[float]], float], key: str, scheme: Scheme, swaps: int, gap_s: float = GAP_S
    ) -> float:
        """Apply ``of`` to a number of each run; claims share the result."""
        name = (of, key, scheme.label, scheme.stack, swaps, gap_s)
        if name not in self._known:
            self._known[name] = of(self.values(key, scheme, swaps, gap_s))
        return self._known[name]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _deviation(values: Sequence[float]) -> float:
    middle = statistics.median(values)
    return statistics.median(abs(value - middle) for value in values)


def levels_off(v: View) -> tuple[float, float]:
    """Figure 2(a): rank correlation with the swaps, and the fall in their last third in % of the fall in the first."""
    y = {swaps: v.throughput(STOCK, swaps) for swaps in v.sweep_a}
    third, end = round(v.sweep_a[-1] / 3), v.sweep_a[-1]
    first, last = y[0] - _between(y, third), _between(y, end - third) - y[end]
    return rank_correlation(v.sweep_a, list(y.values())), 100 * ratio(last, first)


def _between(y: Mapping[int, float], x: int) -> float:
    """The height of the curve between two of its points, by linear interpolation."""
    low, high = max(n for n in y if n <= x), min(n for n in y if n >= x)
    return y[low] if low == high else y[low] + (y[high] - y[low]) * (x - low) / (high - low)


def apart(values: Iterable[float]) -> float:
    """The difference between the least and the greatest value, in % of the greatest."""
    listed = list(values)
    return 100 * (1 - ratio(min(listed), max(listed)))


def ends(values: Iterable[float]) -> tuple[float, float]:
    """The smallest and the largest value: a statement true of both is true at every point of a curve."""
    listed = list(values)
    return min(listed), max(listed)


def medians(v: View, over: Iterable[Scheme], under: Scheme) -> list[float]:
    """Figure 7: ratios of median needless retransmissions at every swap count."""
    schemes = list(over)
    return [ratio(v.median(scheme, s), v.median(under, s)) for s in v.some for scheme in schemes]


def price(v: View) -> list[float]:
    """Figure 5: ratios of needless retransmissions with the undo to those without, at every swap count."""
    return [ratio(v.count(UNDO, s), v.count(STOCK, s)) for s in v.some]


def gains(v: View, over: Iterable[Scheme], under: Scheme, swaps: Iterable[int]) -> list[float]:
    """Differences of throughput at every swap count, in %."""
    schemes = list(over)
    return [above(v.throughput(scheme, s), v.throughput(under, s)) for s in swaps for scheme in schemes]


def often_over_seldom(v: View) -> list[float]:
    """Figure 2(a): throughput with events every 1 s relative to every 8 s, at every swap count, in %."""
    return [above(v.throughput(STOCK, s, OFTEN), v.throughput(STOCK, s, SELDOM)) for s in v.sweep_a[1:]]


def del_over_best(v: View) -> list[float]:
    """Figure 7: the ratio of DEL to the best of the others at every swap count."""
    others = [scheme for scheme in (UNDO, *ADAPTIVE) if scheme is not DEL]
    return [ratio(v.median(DEL, s), min(v.median(other, s) for other in others)) for s in v.some]


def ewma_over_widest(v: View) -> list[float]:
    """Figure 8: the ratio of EWMA's median deviation to the widest of the others at every swap count."""
    return [ratio(v.deviation(EWMA, s), max(v.deviation(other, s) for other in COUNTERS)) for s in v.some]


def deviations(v: View, scheme: Scheme) -> list[float]:
    """Figure 8: the ratio of median deviation to median at every swap count."""
    return [ratio(v.deviation(scheme, s), v.median(scheme, s)) for s in v.some]


def effect_of_alpha(v: View, x: float) -> float:
    """Figure 9: the range over the gains for one x."""
    return apart(v.count(ewma(alpha, x)) for alpha in ALPHAS if alpha)


def along_gaps(v: View, number: Callable[[Scheme, int, float], float]) -> float:
    """Figures 2(b), 3(b): rank correlation with the time between events."""
    return rank_correlation(GAPS_S, [number(STOCK, SWEEP_B_SWAPS, gap) for gap in GAPS_S])


OFTEN, SELDOM = SWEEP_A_GAPS_S
EWMA_EVEN = ewma(1.0, 1.0)

MEASURES: dict[str, Callable[[View], tuple[float, ...]]] = {
    "S000-06": lambda v: (statistics.fmean(v.values("data_drops", STOCK, 0)),),
    "S000-07": levels_off,
    "S000-08": lambda v: ends(often_over_seldom(v)),
    "S000-09": lambda v: (along_gaps(v, v.throughput),),
    "S000-10": lambda v: (rank_correlation(v.sweep_a, [v.needless(STOCK, s) for s in v.sweep_a]),),
    "S000-11": lambda v: ends(ratio(v.needless(STOCK, s, OFTEN), v.needless(STOCK, s, SELDOM)) for s in v.sweep_a[1:]),
    "S000-12": lambda v: (along_gaps(v, v.needless),),
    "S000-13": lambda v: (-min(above(v.throughput(UNDO, s), v.throughput(UNDO, 0)) for s in v.some),),
    "S000-14": lambda v: (statistics.fmean(price(v)),),
    "S000-21": lambda v: (max(apart(v.throughput(scheme, s) for scheme in (UNDO, *ADAPTIVE)) for s in v.swaps),),
    "S000-22": lambda v: ends(gains(v, COUNTERS, UNDO, v.some)),
    "S000-23": lambda v: ends(gains(v, [EWMA], UNDO, v.heavy)),
    "S000-24": lambda v: ends(medians(v, ADAPTIVE, UNDO)),
    "S000-25": lambda v: ends(medians(v, COUNTERS, STOCK)),
    "S000-26": lambda v: ends(medians(v, [EWMA], STOCK)),
    "S000-27": lambda v: ends(del_over_best(v)),
    "S000-28": lambda v: ends(medians(v, [AVG], INC)),
    "S000-29": lambda v: (statistics.fmean(value for scheme in BETTER for value in deviations(v, scheme)),),
    "S000-30": lambda v: ends(ewma_over_widest(v)),
    "S000-31": lambda v: (v.count(EWMA_EVEN),),
    "S000-32": lambda v: (v.count(EWMA),),
    "S000-33": lambda v: (ratio(v.count(EWMA_EVEN), v.count(EWMA)),),
    "S000-34": lambda v: tuple(effect_of_alpha(v, x) for x in XS),
    "S000-35": lambda v: tuple(v.count(scheme) for scheme in COUNTERS),
    "S000-37": lambda v: ends(gains(v, [UNDO], STOCK, v.some)),
    "S000-38": lambda v: tuple(ratio(v.count(EWMA), v.count(other)) for other in COUNTERS),
}
"""The measure of each claim that depends on chance."""


def as_fixed(points: Mapping[Setting, Point], look: Look) -> float:
    """§6.5: the share of EWMA's runs without a gain that equal runs with a fixed threshold of 3, event for event."""
    pairs = [points[at(scheme, look.fig9_swaps)].runs for scheme in (ewma(0.0, 1.0), FIXED)]
    return statistics.fmean(a["trace_hash"] == b["trace_hash"] for a, b in zip(*pairs, strict=True))
