"""The claims of Leung & Ma 2005 as functions of our runs; ``claims.csv`` has the accepted values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from ackclock.statistics import ratio

from .points import (
    AVG,
    AVG_DEV,
    DEL,
    DSACK,
    EWMA,
    FA,
    FIGURES,
    INC,
    LOSSES,
    METHODS,
    OTHERS,
    SENSITIVE_FS,
    Method,
    Place,
    Single,
    Split,
    tuned,
)
from .view import View

FIG3, FIG4, FIG5 = FIGURES
Series = Sequence[tuple[str, Sequence[float]]]
"""Named series of values along an axis."""
NAMED = (DEL, INC, AVG, EWMA)
"""Methods in the order in which §IV names them."""


@dataclass(frozen=True)
class Measure:
    """The calculation of a claim's number."""

    what: str
    """A name for the series, at the start of a sentence."""
    series: Callable[[View], Series]
    combine: Callable[[Series], tuple[float, ...]]
    axis: str = ""
    """``f``, ``share``, or empty: one value for each name."""

    def __call__(self, v: View) -> tuple[float, ...]:
        """The claim's numbers."""
        return self.combine(self.series(v))


def gain(v: View, over: Method, place: Place) -> float:
    """The gain of AVG-DEV's throughput over another method's, in per cent."""
    return 100 * (ratio(v.throughput(AVG_DEV, place), v.throughput(over, place)) - 1)


def at(v: View, figure: str) -> list[Single]:
    """The places of a figure of the single path."""
    return [Single(f, *FIGURES[figure]) for f in v.fs]


def split(v: View, loss: float) -> list[Split]:
    """The places of Figure 10 or 11 with reordering."""
    return [Split(share, loss) for share in v.shares]


def gains(v: View, figure: str, over: Sequence[Method]) -> Series:
    """The gains over other methods at each f, in per cent."""
    return [(m.label, [gain(v, m, p) for p in at(v, figure)]) for m in over]


def to_fa(v: View, figures: Sequence[str]) -> Series:
    """The ratio of AVG-DEV's throughput to FA's at each f."""
    return [(name, [ratio(v.throughput(AVG_DEV, p), v.throughput(FA, p)) for p in at(v, name)]) for name in figures]


def shares_of(v: View, figure: str, other: Method) -> list[float]:
    """The ratio of AVG-DEV's unnecessary retransmission rate to another method's at each f."""
    return [ratio(v.rate(AVG_DEV, p), v.rate(other, p)) for p in at(v, figure)]


def per_cent(v: View, figure: str, other: Method) -> Series:
    """The same in per cent."""
    return [(other.label, [100 * share for share in shares_of(v, figure, other)])]


def to_best(v: View, figure: str) -> Series:
    """The ratio of AVG-DEV's unnecessary retransmission rate to the smallest of the others at each f."""
    return [("AVG-DEV", [ratio(v.rate(AVG_DEV, p), min(v.rate(m, p) for m in OTHERS)) for p in at(v, figure)])]


def lossy(v: View, number: Callable[[View, Method, Place], float]) -> Series:
    """The ratio of a number with 0.2 % loss to the number without loss at each f."""
    pairs = list(zip(at(v, FIG5), at(v, FIG3), strict=True))
    return [(m.label, [ratio(number(v, m, a), number(v, m, b)) for a, b in pairs]) for m in METHODS]


def mean_rate(v: View, method: Method, loss: float) -> float:
    """Table 2: the unnecessary retransmission rate in per cent, mean over the shares."""
    return fmean(v.rate(method, p) for p in split(v, loss))


def rates(v: View, loss: float) -> Series:
    """The same for every method."""
    return [(m.label, [mean_rate(v, m, loss)]) for m in METHODS]


def split_gains(v: View, loss: float, over: Sequence[Method]) -> Series:
    """The gains over other methods at each share, in per cent."""
    return [(m.label, [gain(v, m, p) for p in split(v, loss)]) for m in over]


def average_gains(v: View, loss: float, over: Method) -> tuple[float, float]:
    """Figures 10 and 11, in per cent: the mean of the gains over the shares, and the gain of the mean throughputs."""
    places = split(v, loss)
    ours, theirs = (fmean(v.throughput(m, p) for p in places) for m in (AVG_DEV, over))
    return fmean(gain(v, over, p) for p in places), 100 * (ratio(ours, theirs) - 1)


def on_the_average(v: View, loss: float, over: Sequence[Method]) -> Series:
    """The gain of AVG-DEV over other methods in per cent, averaged over the shares as the reading says."""
    return [(m.label, [average_gains(v, loss, m)[v.read.of_means]]) for m in over]


def spread(v: View) -> Series:
    """The range of mean throughputs over alpha, beta and lambda, in per cent of their mean, at each f."""
    values = [[v.throughput(m, Single(f)) for m in tuned()] for f in SENSITIVE_FS]
    return [("", [100 * (ratio(max(each), fmean(each)) - ratio(min(each), fmean(each))) for each in values])]


def means(series: Series) -> tuple[float, ...]:
    """The mean of each series."""
    return tuple(fmean(values) for _, values in series)


def least(series: Series) -> tuple[float, ...]:
    """The smallest value of each series."""
    return tuple(min(values) for _, values in series)


def largest(series: Series) -> tuple[float, ...]:
    """The largest value of all series."""
    return (max(max(values) for _, values in series),)


def ends_of_means(series: Series) -> tuple[float, ...]:
    """The smallest and the largest mean."""
    return min(means(series)), max(means(series))


def ends(series: Series) -> tuple[float, ...]:
    """The smallest and the largest value."""
    return min(min(values) for _, values in series), max(max(values) for _, values in series)


def inner(series: Series) -> tuple[float, ...]:
    """The smallest value of each series, without its first and last value."""
    return tuple(min(values[1:-1]) for _, values in series)


def order(*methods: Method) -> Callable[[Series], tuple[float, ...]]:
    """The ratio of each method to the next."""

    def chain(series: Series) -> tuple[float, ...]:
        rate = {label: values[0] for label, values in series}
        return tuple(ratio(rate[a.label], rate[b.label]) for a, b in pairwise(methods))

    return chain


def _single(v: View, share: int) -> Series:
    """Throughputs if all packets take one path, divided by their mean."""
    values = [v.throughput(m, Split(share)) for m in METHODS]
    return [(f"{share} %", [ratio(value, fmean(values)) for value in values])]


def _table_2() -> dict[str, Measure]:
    """The measures of S001-19 to 32."""
    pairs = [(method, loss) for method in METHODS for loss in LOSSES]

    def one(method: Method, loss: float) -> Measure:
        return Measure(
            "Rates, %,",
            lambda v: [(method.label, [v.rate(method, p) for p in split(v, loss)])],
            means,
            "share",
        )

    return {f"S001-{n}": one(*pair) for n, pair in enumerate(pairs, 19)}


GAINS, RATES = "Gains, %,", "Ratios"
MEASURES: dict[str, Measure] = {
    "S001-04": Measure(GAINS, lambda v: gains(v, FIG3, (DEL, INC, AVG)), means, "f"),
    "S001-05": Measure(GAINS, lambda v: gains(v, FIG3, (EWMA,)), means, "f"),
    "S001-06": Measure(RATES, lambda v: to_fa(v, (FIG3,)), means, "f"),
    "S001-07": Measure(GAINS, lambda v: gains(v, FIG4, (DEL,)), means, "f"),
    "S001-08": Measure(GAINS, lambda v: gains(v, FIG4, (AVG,)), means, "f"),
    "S001-09": Measure(GAINS, lambda v: gains(v, FIG4, (EWMA,)), means, "f"),
    "S001-10": Measure(
        "Differences, %,",
        lambda v: [
            (slow[0], [a - b for a, b in zip(slow[1], fast[1], strict=True)])
            for slow, fast in zip(gains(v, FIG4, NAMED), gains(v, FIG3, NAMED), strict=True)
        ],
        means,
        "f",
    ),
    "S001-11": Measure(GAINS, lambda v: gains(v, FIG5, (DEL,)), means, "f"),
    "S001-12": Measure(GAINS, lambda v: gains(v, FIG5, (EWMA,)), means, "f"),
    "S001-13": Measure(RATES, lambda v: to_fa(v, (FIG4, FIG5)), means, "f"),
    "S001-14": Measure("Shares, %,", lambda v: per_cent(v, FIG3, DEL), means, "f"),
    "S001-15": Measure("Shares, %,", lambda v: per_cent(v, FIG3, EWMA), means, "f"),
    "S001-16": Measure(RATES, lambda v: to_best(v, FIG4), largest, "f"),
    "S001-17": Measure(RATES, lambda v: lossy(v, View.rate), ends_of_means, "f"),
    "S001-18": Measure(RATES, lambda v: lossy(v, View.throughput), largest, "f"),
    **_table_2(),
    "S001-33": Measure(
        "Rates, %",
        lambda v: rates(v, LOSSES[0]),
        order(FA, AVG_DEV, AVG, DEL, INC, EWMA, DSACK),
    ),
    "S001-34": Measure(
        "Rates, %",
        lambda v: rates(v, LOSSES[1]),
        order(FA, AVG_DEV, DEL, AVG, INC, EWMA, DSACK),
    ),
    "S001-35": Measure(GAINS, lambda v: on_the_average(v, LOSSES[0], (DEL, INC, AVG)), means),
    "S001-36": Measure(GAINS, lambda v: on_the_average(v, LOSSES[0], (EWMA,)), means),
    "S001-37": Measure(GAINS, lambda v: split_gains(v, LOSSES[1], NAMED), inner, "share"),
    "S001-38": Measure(
        "Ratios of DSACK, INC, AVG, DEL, EWMA, AVG-DEV, FA over R2 (0 %) and R3 (100 %)",
        lambda v: [*_single(v, 0), *_single(v, 100)],
        ends,
        "one path",
    ),
    "S001-47": Measure(GAINS, lambda v: gains(v, FIG5, (INC, AVG)), least, "f"),
    "S001-48": Measure(
        "Differences",
        lambda v: [("", [a - b for a, b in zip(shares_of(v, FIG4, DEL), shares_of(v, FIG3, DEL), strict=True)])],
        means,
        "f",
    ),
    "S001-49": Measure(RATES, lambda v: to_best(v, FIG5), largest, "f"),
    "S001-50": Measure("Spreads, %,", spread, largest, "tuned"),
    "S001-51": Measure(
        RATES,
        lambda v: [
            (f"{100 * loss:g} %", [ratio(mean_rate(v, AVG_DEV, loss), mean_rate(v, FA, loss))]) for loss in LOSSES
        ],
        means,
    ),
}
"""Measures by claim."""
