"""Compares two stacks by runs with the same seeds, with confidence intervals.

All statements of a study hold together with 95 % confidence: each interval has the confidence
``1 - 0.05 / (comparisons · looks)`` (Bonferroni). A comparison covers two stacks on one path, or on all paths
together. A look is a point at which the study may stop adding seeds; because looks are counted, looking early does not
reduce the confidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

from ackclock import _native
from ackclock.study.measure import Measure

ERROR = 0.05
"""The largest probability that any statement of a study is wrong."""
FEWEST = 2
"""The fewest values that give an interval."""
LARGEST = 700.0
"""Logarithm of the largest ratio: with two seeds and many stacks the end of an interval may be larger."""
Values = Sequence[float | None]
"""A measure of one stack, with one value for each seed."""


class Outcome(Enum):
    """The result of comparing two stacks."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    """They differ by less than the margin that matters."""
    OPEN = "cannot tell"

    @property
    def reversed(self) -> Outcome:
        """The same result, seen from the other stack."""
        return {Outcome.BETTER: Outcome.WORSE, Outcome.WORSE: Outcome.BETTER}.get(self, self)


@dataclass(frozen=True)
class Difference:
    """A comparison of two stacks on the same seeds."""

    one: str
    other: str
    seeds: int
    change: float | None
    """Difference of ``one`` from ``other``: a share for relative measures, otherwise absolute; ``None`` if runs lack a
    value."""
    low: float | None
    high: float | None
    """The ends of its interval."""
    outcome: Outcome
    """The result for ``one``."""

    def turned(self, measure: Measure) -> Difference:
        """The same comparison with the stacks exchanged."""

        def turn(value: float | None) -> float | None:
            least = math.exp(-LARGEST)
            return None if value is None else 1 / max(1 + value, least) - 1 if measure.relative else -value

        ends = turn(self.change), turn(self.high), turn(self.low)
        return Difference(self.other, self.one, self.seeds, *ends, self.outcome.reversed)


def difference(one: str, other: str, a: Values, b: Values, measure: Measure, within: float, level: float) -> Difference:
    """Compare two stacks.

    Relative measures are compared by the mean of the logarithms of their ratios, seed by seed; others by the mean of
    their differences. The interval is Student's t. If runs lack a value or a ratio, such as for a transfer that did
    not end, the exact sign test is used: it counts how often one did better than the other.

    Args:
        one: a stack.
        other: the stack with which it is compared.
        a: values of ``one``, seed by seed.
        b: values of ``other`` with the same seeds.
        measure: their measure.
        within: the largest difference that does not matter: a share for relative measures, otherwise in units of the
            value.
        level: the interval's confidence.
    """
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    whole = len(pairs) == len(a) >= FEWEST
    if not whole or (measure.relative and not all(x > 0 and y > 0 for x, y in pairs)):
        return Difference(one, other, len(a), None, None, None, _by_signs(a, b, measure, level))
    if measure.relative:
        mean, half = _native.interval([math.log(x / y) for x, y in pairs], level)
        ends = [math.exp(min(mean + d, LARGEST)) - 1 for d in (0.0, -(half or 0.0), half or 0.0)]
    else:
        mean, half = _native.interval([x - y for x, y in pairs], level)
        ends = [mean, mean - (half or 0.0), mean + (half or 0.0)]
    change, low, high = ends
    return Difference(one, other, len(a), change, low, high, _by_interval(low, high, within, measure))


def _by_interval(low: float, high: float, within: float, measure: Measure) -> Outcome:
    if -within <= low and high <= within:
        return Outcome.SAME
    if low > 0 or high < 0:
        return Outcome.BETTER if (low > 0) == measure.more_is_better else Outcome.WORSE
    return Outcome.OPEN


def _by_signs(a: Values, b: Values, measure: Measure, level: float) -> Outcome:
    """The exact two-sided sign test; a missing value is worse than any other."""
    worst = -math.inf if measure.more_is_better else math.inf
    signs = [_sign(worst if x is None else x, worst if y is None else y) for x, y in zip(a, b, strict=True)]
    up, down = signs.count(1), signs.count(-1)
    n, most = up + down, max(up, down)
    tail = sum(math.comb(n, k) for k in range(most, n + 1)) / 2**n
    if n == 0 or 2 * tail > 1 - level:
        return Outcome.OPEN
    return Outcome.BETTER if (up > down) == measure.more_is_better else Outcome.WORSE


def _sign(x: float, y: float) -> int:
    return (x > y) - (x < y)


@dataclass(frozen=True)
class Place:
    """The rank of a stack among the others."""

    stack: str
    first: int
    """Its best possible rank: directly after all stacks that do better."""
    last: int
    """Its worst possible rank: directly before all stacks that do worse."""
    missing: int
    """Runs without a value."""
    mean: float | None
    """Mean over the seeds with a value, geometric for relative measures; ``None`` if there are none."""


def compare(
    values: Mapping[str, Values], measure: Measure, within: float, level: float
) -> tuple[list[Place], list[Difference]]:
    """Rank stacks by their values with the same seeds.

    Args:
        values: the values of each stack.
        measure: their measure.
        within: see :func:`difference`.
        level: the confidence of each interval.

    Returns:
        The stacks, best first, and the comparison of each pair, with the better-ranked stack first.
    """
    order = sorted(values, key=lambda stack: _merit(values[stack], measure))
    found = [difference(a, b, values[a], values[b], measure, within, level) for a, b in combinations(order, 2)]
    places = []
    for stack in order:
        outcome = [d.outcome for d in found if d.one == stack] + [d.outcome.reversed for d in found if d.other == stack]
        first, last = 1 + outcome.count(Outcome.WORSE), len(order) - outcome.count(Outcome.BETTER)
        places.append(Place(stack, first, last, _missing(values[stack]), average(values[stack], measure)))
    return places, found


def average(values: Values, measure: Measure) -> float | None:
    """The mean of the known values: geometric for relative measures, unless a value is 0."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    if measure.relative and all(value > 0 for value in known):
        return math.exp(math.fsum(map(math.log, known)) / len(known))
    return math.fsum(known) / len(known)


def _missing(values: Values) -> int:
    return sum(value is None for value in values)


def _merit(values: Values, measure: Measure) -> tuple[int, float]:
    """Sort key of a stack; smaller is better."""
    mean = average(values, measure)
    return _missing(values), math.inf if mean is None else -mean if measure.more_is_better else mean


def settled(values: Mapping[str, Values], found: Sequence[Difference]) -> bool:
    """Whether more seeds would give no more information.

    This is so if every pair of stacks is told apart or the same, or neither of a pair ever has a value.
    """
    never = {stack for stack, each in values.items() if _missing(each) == len(each)}
    return all(one.outcome is not Outcome.OPEN or {one.one, one.other} <= never for one in found)


def together(paths: Sequence[Mapping[str, Values]], measure: Measure) -> dict[str, Values]:
    """Each stack's mean over the paths, seed by seed: geometric for relative measures.

    Seeds that one of the paths lacks are left out. A stack without a value on one of the paths has none here.
    """
    seeds = min(len(values) for path in paths for values in path.values())

    def over(stack: str, seed: int) -> float | None:
        values = [path[stack][seed] for path in paths]
        return None if None in values else average(values, measure)

    return {stack: [over(stack, seed) for seed in range(seeds)] for stack in paths[0]}
