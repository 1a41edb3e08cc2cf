"""What Blanton & Allman 2002 claim, each as a function of our runs; ``claims.csv`` has what counts as reproduced.

Figures 2 to 4 and 6 are of means, 5 and 7 to 9 of medians over the seeds (README.md says what the paper leaves open).
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ackclock.statistics import above, rank_correlation, ratio

from .points import GAPS_S, STOCK, SWEEP_A_GAPS_S, SWEEP_B_SWAPS, Point, Scheme, Setting
from .points import SWAPS as SWEEP_A_SWAPS
from .schemes import (
    ADAPTIVE,
    ALPHAS,
    AVG,
    COUNTERS,
    DEL,
    EWMA,
    FIG9_SWAPS,
    FIXED,
    GAP_S,
    INC,
    READING,
    SWAPS,
    UNDO,
    XS,
    ewma,
)

SOME = tuple(swaps for swaps in SWAPS if swaps)
FEW, MANY = 4, 12
FOUR_AND_MORE, HEAVY = (tuple(swaps for swaps in SWAPS if swaps >= least) for least in (FEW, MANY))
BETTER = (AVG, DEL)
"""§7 on Figure 8: "the algorithms that prevented more unnecessary fast retransmits"."""


@dataclass(frozen=True)
class Switch:
    """A choice of ours made otherwise, to see whether a claim hangs on it."""

    label: str
    stacks: Sequence[str] = ()
    """Those that ``set`` is for."""
    set: tuple[tuple[str, str], ...] = ()
    reading: str = READING


NO_SWITCH = Switch("as published")


class View:
    """The runs that a claim is measured on."""

    def __init__(
        self, points: Mapping[Setting, Point], draw: Sequence[int] | None = None, switch: Switch = NO_SWITCH
    ) -> None:
        """``draw``: which runs of each point; all, if None."""
        self.points, self.draw, self.switch = points, draw, switch
        self.asked: dict[Setting, None] = {}
        """Every point that was looked at, in order."""

    def setting(self, scheme: Scheme, swaps: int, gap_s: float = GAP_S) -> Setting:
        """The point, under the switch."""
        more = self.switch.set if scheme.stack in self.switch.stacks else ()
        changed = Scheme(scheme.label, scheme.stack, (*scheme.set, *more)) if more else scheme
        return Setting(self.switch.reading, swaps, gap_s if swaps else 0.0, changed)

    def values(self, key: str, scheme: Scheme, swaps: int, gap_s: float) -> list[float]:
        """A number of each run."""
        at = self.setting(scheme, swaps, gap_s)
        self.asked[at] = None
        runs = self.points[at].runs
        return [float(runs[i]["flows"][0][key]) for i in (range(len(runs)) if self.draw is None else self.draw)]

    def throughput(self, scheme: Scheme, swaps: int, gap_s: float = GAP_S) -> float:
        """Mean, bytes a second."""
        return statistics.fmean(self.values("throughput_bytes_per_s", scheme, swaps, gap_s))

    def needless(self, scheme: Scheme, swaps: int, gap_s: float = GAP_S) -> float:
        """Mean of needless retransmissions."""
        return statistics.fmean(self.values("needless_retransmissions", scheme, swaps, gap_s))

    def timeouts(self, scheme: Scheme, swaps: int) -> float:
        """Mean number."""
        return statistics.fmean(self.values("timeouts", scheme, swaps, GAP_S))

    def median(self, scheme: Scheme, swaps: int) -> float:
        """Of needless retransmissions."""
        return statistics.median(self.values("needless_retransmissions", scheme, swaps, GAP_S))

    def deviation(self, scheme: Scheme, swaps: int) -> float:
        """Median distance of needless retransmissions from their median."""
        values = self.values("needless_retransmissions", scheme, swaps, GAP_S)
        middle = statistics.median(values)
        return statistics.median(abs(value - middle) for value in values)


def levels_off(v: View) -> tuple[float, float]:
    """Figure 2(a): fall in the last third of the axis as a share of that in the first, and the largest rise, both %."""
    y = {swaps: v.throughput(STOCK, swaps) for swaps in SWEEP_A_SWAPS}
    end = SWEEP_A_SWAPS[-1]
    first, last = y[0] - y[end // 3], y[end - end // 3] - y[end]
    rises = [above(y[b], y[a]) for a, b in itertools.pairwise(SWEEP_A_SWAPS)]
    return 100 * ratio(last, first), max(rises)


def apart(values: Iterable[float]) -> float:
    """How far the least is below the greatest, in % of the greatest."""
    listed = list(values)
    return 100 * (1 - ratio(min(listed), max(listed)))


def medians(v: View, over: Iterable[Scheme], under: Scheme, swaps: Iterable[int] = SOME) -> list[float]:
    """Ratios of median needless retransmissions at every swap count."""
    schemes = list(over)
    return [ratio(v.median(scheme, s), v.median(under, s)) for s in swaps for scheme in schemes]


def gains(v: View, over: Iterable[Scheme], under: Scheme, swaps: Iterable[int]) -> list[float]:
    """Differences of throughput at every swap count, %."""
    schemes = list(over)
    return [above(v.throughput(scheme, s), v.throughput(under, s)) for s in swaps for scheme in schemes]


def del_over_best(v: View) -> list[float]:
    """Figure 7: DEL over the best of the others at every swap count."""
    others = [scheme for scheme in (UNDO, *ADAPTIVE) if scheme is not DEL]
    return [ratio(v.median(DEL, s), min(v.median(other, s) for other in others)) for s in SOME]


def ewma_over_widest(v: View) -> list[float]:
    """Figure 8: EWMA's median deviation over the widest of the others at every swap count."""
    return [ratio(v.deviation(EWMA, s), max(v.deviation(other, s) for other in COUNTERS)) for s in SOME]


def deviations(v: View, scheme: Scheme) -> list[float]:
    """Figure 8: median deviation over median at every swap count."""
    return [ratio(v.deviation(scheme, s), v.median(scheme, s)) for s in SOME]


def effect_of_alpha(v: View, x: float) -> float:
    """Figure 9: the spread over the gains for one x."""
    return apart(v.median(ewma(alpha, x), FIG9_SWAPS) for alpha in ALPHAS if alpha >= ALPHAS[1])


def along_gaps(v: View, number: Callable[[Scheme, int, float], float]) -> float:
    """Figures 2(b), 3(b): rank correlation with the time between events."""
    return rank_correlation(GAPS_S, [number(STOCK, SWEEP_B_SWAPS, gap) for gap in GAPS_S])


OFTEN, SELDOM = SWEEP_A_GAPS_S
EWMA_EVEN = ewma(1.0, 1.0)

MEASURES: dict[str, Callable[[View], tuple[float, ...]]] = {
    "S000-06": lambda v: (statistics.fmean(v.values("data_drops", STOCK, 0, GAP_S)),),
    "S000-07": levels_off,
    "S000-08": lambda v: (
        max(above(v.throughput(STOCK, s, OFTEN), v.throughput(STOCK, s, SELDOM)) for s in SWEEP_A_SWAPS if s >= FEW),
    ),
    "S000-09": lambda v: (along_gaps(v, v.throughput),),
    "S000-10": lambda v: (rank_correlation(SWEEP_A_SWAPS, [v.needless(STOCK, s) for s in SWEEP_A_SWAPS]),),
    "S000-11": lambda v: (
        min(ratio(v.needless(STOCK, s, OFTEN), v.needless(STOCK, s, SELDOM)) for s in SWEEP_A_SWAPS if s),
    ),
    "S000-12": lambda v: (along_gaps(v, v.needless),),
    "S000-13": lambda v: (-min(above(v.throughput(UNDO, s), v.throughput(UNDO, 0)) for s in SOME),),
    "S000-14": lambda v: (statistics.fmean(medians(v, [UNDO], STOCK)),),
    "S000-21": lambda v: (max(apart(v.throughput(scheme, s) for scheme in (UNDO, *ADAPTIVE)) for s in SWAPS),),
    "S000-22": lambda v: (min(gains(v, COUNTERS, UNDO, SOME)),),
    "S000-23": lambda v: (max(gains(v, [EWMA], UNDO, HEAVY)), min(gains(v, [EWMA], UNDO, HEAVY))),
    "S000-24": lambda v: (max(medians(v, ADAPTIVE, UNDO)),),
    "S000-25": lambda v: (max(medians(v, COUNTERS, STOCK)),),
    "S000-26": lambda v: (min(medians(v, [EWMA], STOCK)),),
    "S000-27": lambda v: (max(del_over_best(v)),),
    "S000-28": lambda v: (max(medians(v, [AVG], INC)),),
    "S000-29": lambda v: (statistics.fmean(value for scheme in BETTER for value in deviations(v, scheme)),),
    "S000-30": lambda v: (min(ewma_over_widest(v)),),
    "S000-31": lambda v: (v.median(EWMA_EVEN, FIG9_SWAPS),),
    "S000-32": lambda v: (v.median(EWMA, FIG9_SWAPS),),
    "S000-33": lambda v: (ratio(v.median(EWMA_EVEN, FIG9_SWAPS), v.median(EWMA, FIG9_SWAPS)),),
    "S000-34": lambda v: (max(effect_of_alpha(v, x) for x in XS),),
    "S000-35": lambda v: (max(v.median(scheme, FIG9_SWAPS) for scheme in COUNTERS),),
    "S000-37": lambda v: (min(gains(v, [UNDO], STOCK, FOUR_AND_MORE)),),
    "S000-38": lambda v: (min(ratio(v.median(EWMA, FIG9_SWAPS), v.median(other, FIG9_SWAPS)) for other in COUNTERS),),
}
"""What is measured for each claim that depends on chance."""


def as_fixed(points: Mapping[Setting, Point]) -> float:
    """§6.5: the share of EWMA's runs without a gain that equal those of a fixed threshold of 3, event for event."""
    view = View(points)
    pairs = [points[view.setting(scheme, FIG9_SWAPS)].runs for scheme in (ewma(0.0, 1.0), FIXED)]
    return statistics.fmean(a["trace_hash"] == b["trace_hash"] for a, b in zip(*pairs, strict=True))
