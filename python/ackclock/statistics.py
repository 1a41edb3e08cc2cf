"""Means with 95 % confidence intervals (Student's t), their agreement, and medians."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from ackclock import _native


def interval(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean of one or more values and half the width of its 95 % interval, ``None`` for a single value."""
    return _native.interval(values)


def known_interval(values: Iterable[float | None]) -> tuple[float | None, float | None]:
    """Return the same for the known values; ``None`` twice if there are none."""
    known = [float(value) for value in values if value is not None]
    return interval(known) if known else (None, None)


@dataclass(frozen=True)
class Mean:
    """A mean over runs."""

    n: int
    value: float
    half: float
    """Half the width of its 95 % confidence interval; 0 for one run."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """Compute the mean of at least one value."""
        mean, half = interval(values)
        return cls(len(values), mean, half or 0.0)

    def __str__(self) -> str:
        return f"{self.value:.1f} ± {self.half:.1f}"


@dataclass(frozen=True)
class Median:
    """A median over runs."""

    n: int
    value: float
    low: float
    """The lower quartile."""
    high: float
    """The upper quartile."""
    deviation: float
    """The median distance from the median."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Median:
        """Compute the median of at least one value."""
        middle = statistics.median(values)
        quartiles = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [middle] * 3
        return cls(len(values), middle, quartiles[0], quartiles[2], statistics.median(abs(v - middle) for v in values))


class Verdict(Enum):
    """The agreement of two means, from best to worst."""

    WITHIN = "within tolerance"
    IN_BOTH = "in both intervals"
    OVERLAP = "intervals overlap"
    OUTSIDE = "OUTSIDE"

    @property
    def reproduced(self) -> bool:
        """Whether the point counts as reproduced; merely overlapping intervals are not enough."""
        return self in (Verdict.WITHIN, Verdict.IN_BOTH)

    @property
    def good(self) -> bool:
        """Whether the two may be equal; a run fails only if they cannot be."""
        return self is not Verdict.OUTSIDE


@dataclass(frozen=True)
class Comparison:
    """One of our means compared with a reference's."""

    ours: Mean
    reference: Mean
    tolerance: float
    """Allowed difference, as a share of the reference."""

    @property
    def difference(self) -> float:
        """Difference of the means as a share of the reference; 0 if both are 0."""
        apart = self.ours.value - self.reference.value
        if apart == 0:
            return 0.0
        return apart / self.reference.value if self.reference.value else float("inf")

    @property
    def verdict(self) -> Verdict:
        """The best verdict that applies.

        IN_BOTH: each mean is in the other's interval. OVERLAP: the intervals have a point in common.
        """
        apart, halves = abs(self.ours.value - self.reference.value), (self.ours.half, self.reference.half)
        if abs(self.difference) <= self.tolerance:
            return Verdict.WITHIN
        if apart <= min(halves):
            return Verdict.IN_BOTH
        return Verdict.OVERLAP if apart <= sum(halves) else Verdict.OUTSIDE


def ratio(a: float, b: float) -> float:
    """``a`` / ``b``; 1 if both are zero."""
    if b:
        return a / b
    return math.inf if a else 1.0


def above(a: float, b: float) -> float:
    """The difference of ``a`` from ``b`` in per cent of ``b``."""
    return 100 * (ratio(a, b) - 1)


def ranks(values: Sequence[float]) -> list[float]:
    """Rank values from 1; equal values share the mean of their ranks."""
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values), start=1):
        places.setdefault(value, []).append(place)
    return [(places[value][0] + places[value][-1]) / 2 for value in values]


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Spearman's rank correlation; 0 if one of the inputs is constant."""
    try:
        return statistics.correlation(ranks(x), ranks(y))
    except statistics.StatisticsError:
        return 0.0
