"""The values behind a claim's number, point by point, and the points outside the bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ackclock.papers.claims import Claim

from .measures import BETTER, View, del_over_best, deviations, effect_of_alpha, ewma_over_widest, gains, medians, price
from .points import STOCK, Scheme
from .schemes import ADAPTIVE, AVG, COUNTERS, DEL, EWMA, INC, UNDO, XS, ewma, fraction

Series = Sequence[tuple[str, Sequence[float]]]
"""Named series of values."""


@dataclass(frozen=True)
class Detail:
    """The values behind a claim's number."""

    what: str
    """The beginning of a sentence."""
    series: Callable[[View], Series]
    swaps: Callable[[View], Sequence[int]] = lambda v: v.some
    """The swap counts, with one value for each; empty: one value for each name."""
    bound: bool = False
    """Whether the claim's bound applies to each value."""
    decimals: int = 2

    def sentences(self, claim: Claim, v: View) -> str:
        """The values, and which of them are outside the bound."""
        series = self.series(v)
        swaps = self.swaps(v)
        where = f" at {_listed([str(n) for n in swaps])} swaps" if swaps else ""
        text = "; ".join(f"{label} {', '.join(self._number(value) for value in values)}" for label, values in series)
        said = [f"{self.what}{where}: {text}."]
        if self.bound:
            beyond = [self._beyond(claim, label, values, swaps) for label, values in series]
            listed = "; ".join(part for part in beyond if part)
            said += [f"Beyond the bound: {listed}."] if listed else []
        return " ".join(said)

    def _number(self, value: float) -> str:
        return f"{value:.{self.decimals}f}"

    def _beyond(self, claim: Claim, label: str, values: Sequence[float], swaps: Sequence[int]) -> str:
        bounds = [rule.bound for rule in claim.rules]
        outside = [i for i, value in enumerate(values) if not all(bound.accepts(value) for bound in bounds)]
        if not outside or not swaps:
            return label if outside else ""
        if len(outside) == len(values):
            return f"{label} everywhere"
        at = [swaps[i] for i in outside]
        return f"{label} at {_listed([str(n) for n in at])} swap{'' if at == [1] else 's'}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _each(schemes: Iterable[Scheme], values: Callable[[Scheme], Sequence[float]]) -> Series:
    return [(scheme.label, values(scheme)) for scheme in schemes]


def _counts(v: View, schemes: Iterable[Scheme]) -> Series:
    return _each(schemes, lambda scheme: [v.count(scheme)])


def _nowhere(_: View) -> Sequence[int]:
    return ()


OF_X = Detail("Numbers", lambda v: _counts(v, [ewma(1.0, x) for x in XS]), _nowhere, decimals=1)
DETAILS: dict[str, Detail] = {
    "S000-10": Detail("Means", lambda v: _each([STOCK], lambda s: [v.needless(s, n) for n in v.some]), decimals=1),
    "S000-14": Detail("Ratios", lambda v: [(UNDO.label, price(v))]),
    "S000-22": Detail("Differences, %,", lambda v: _each(COUNTERS, lambda s: gains(v, [s], UNDO, v.some)), bound=True),
    "S000-23": Detail(
        "Differences, %,",
        lambda v: _each([EWMA], lambda s: gains(v, [s], UNDO, v.heavy)),
        lambda v: v.heavy,
        bound=True,
    ),
    "S000-24": Detail("Ratios", lambda v: _each(ADAPTIVE, lambda s: medians(v, [s], UNDO)), bound=True),
    "S000-25": Detail("Ratios", lambda v: _each(COUNTERS, lambda s: medians(v, [s], STOCK)), bound=True),
    "S000-26": Detail("Ratios", lambda v: _each([EWMA], lambda s: medians(v, [s], STOCK)), bound=True),
    "S000-27": Detail("Ratios", lambda v: [(DEL.label, del_over_best(v))], bound=True),
    "S000-28": Detail("Ratios", lambda v: _each([AVG], lambda s: medians(v, [s], INC)), bound=True),
    "S000-29": Detail("Ratios", lambda v: _each(BETTER, lambda s: deviations(v, s)), bound=True),
    "S000-30": Detail("Ratios", lambda v: [(EWMA.label, ewma_over_widest(v))], bound=True),
    "S000-31": OF_X,
    "S000-32": OF_X,
    "S000-33": OF_X,
    "S000-34": Detail(
        "Spreads, %",
        lambda v: [(f"x = {fraction(x)}", [effect_of_alpha(v, x)]) for x in XS],
        _nowhere,
        bound=True,
        decimals=1,
    ),
    "S000-35": Detail("Numbers", lambda v: _counts(v, COUNTERS), _nowhere, bound=True, decimals=1),
    "S000-37": Detail("Differences, %,", lambda v: _each([UNDO], lambda s: gains(v, [s], STOCK, v.some)), bound=True),
    "S000-38": Detail("Numbers", lambda v: _counts(v, (EWMA, *COUNTERS)), _nowhere, decimals=1),
}
"""Details by claim."""
