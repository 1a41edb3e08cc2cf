"""How the four runs depend on what the thesis leaves open: each choice alone, and all lost numbers together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import median, quantiles

from ackclock.papers.claims import Claim
from ackclock.papers.paper import Table, Work
from ackclock.papers.reading import Reading
from ackclock.runs.trial import Ran, Trial

from .measures import MEASURES
from .runs import FOUR, RUNS, View

Numbers = Mapping[Trial, Ran]
AXES = ("bottleneck", "buffer", "access", "slow-clock", "receiver-clock", "inflation")
"""The choices of readings.toml about lost numbers; every combination of their values is a point."""
TITLES = {
    "delayed": ("delayed ACKs, with the eighth", "12 s, 3, 19"),
    "delayed plain": ("delayed ACKs, without", "8.85 s, 1, 13"),
    "every eighth": ("an ACK for every packet, with the eighth", "12.8 s, 5, 40"),
    "every": ("an ACK for every packet, without", "not printed"),
}
"""The four runs, and the thesis's figures for each."""


def completion(run: Mapping[str, object]) -> float:
    """Arrival of the last ACK at the sender, in seconds; infinite if the transfer did not end."""
    finish = _flow(run)["finish_s"]
    return float("inf") if finish is None else float(finish)


def timeouts(run: Mapping[str, object]) -> float:
    """The number of times the slow timer fired."""
    return float(_flow(run)["timeouts"])


def drops(run: Mapping[str, object]) -> float:
    """The number of data packets dropped."""
    return float(_flow(run)["data_drops"])


def _flow(run: Mapping[str, object]) -> Mapping[str, float]:
    flows = run["flows"]
    assert isinstance(flows, list)
    flow: Mapping[str, float] = flows[0]
    return flow


THREE = (completion, timeouts, drops)
PRINTED = {
    "S002-01": ("delayed", completion),
    "S002-02": ("delayed", timeouts),
    "S002-03": ("delayed", drops),
    "S002-04": ("delayed plain", completion),
    "S002-05": ("delayed plain", timeouts),
    "S002-06": ("delayed plain", drops),
    "S002-08": ("every eighth", completion),
    "S002-09": ("every eighth", timeouts),
    "S002-10": ("every eighth", drops),
}
"""Claims whose number exists for every run, with or without a trace."""


TRACED = {
    "delayed": ("S002-12", "S002-13", "S002-14"),
    "every": tuple(f"S002-{n}" for n in (*range(16, 27), 39)),
}
"""Claims about the events of one run."""


def grid(work: Work, name: str) -> dict[Trial, Reading]:
    """Every point of a run's grid, with a reading that gives it."""
    choices = [choice for choice in work.reading.choices if choice.key in AXES]
    points: dict[Trial, Reading] = {}
    for options in product(*(choice.options for choice in choices)):
        made = {c.key: o.key for c, o in zip(choices, options, strict=True) if o.key != c.taken}
        reading = Reading(work.reading.choices, made)
        points.setdefault(reading.of(RUNS[name], work.folder), reading)
    return points


def alone(work: Work) -> dict[str, Reading]:
    """Readings with one alternative each, by description."""
    choices = work.reading.choices
    return {f"{c.key}: {o.key}": Reading(choices, {c.key: o.key}) for c in choices for o in c.others}


def trials(work: Work) -> list[Trial]:
    """All trials behind these tables."""
    single = [reading.of(RUNS[name], work.folder) for name in FOUR for reading in alone(work).values()]
    return list(dict.fromkeys([*RUNS.values(), *single, *(point for name in FOUR for point in grid(work, name))]))


@dataclass(frozen=True)
class Spread:
    """A number over many points."""

    n: int
    low: float
    """The 5th percentile over the points."""
    middle: float
    high: float
    """The 95th percentile over the points."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Compute the spread of two or more values."""
        ends = quantiles(values, n=20, method="inclusive")
        return cls(len(values), ends[0], median(values), ends[-1])

    def __str__(self) -> str:
        return " - ".join(f"{value:.3g}" for value in (self.low, self.middle, self.high))


def over(work: Work, numbers: Numbers, name: str, number: Callable[[Mapping[str, object]], float]) -> list[float]:
    """The number at each point of the run's grid."""
    return [numbers[point].values(number)[0] for point in grid(work, name)]


def spreads(work: Work, numbers: Numbers) -> dict[str, list[tuple[float, ...]]]:
    """The values of claims at each point of their run's grid.

    Raises:
        OSError: a scenario is missing.
    """
    values: dict[str, list[tuple[float, ...]]] = {}
    for key, of in PRINTED.items():
        values[key] = [(value,) for value in over(work, numbers, *of)]
    for name, keys in TRACED.items():
        for reading in grid(work, name).values():
            view = View(replace(work, reading=reading))
            for key in keys:
                values.setdefault(key, []).append(MEASURES[key](view))
    return values


def sentence(claim: Claim, values: Sequence[tuple[float, ...]]) -> str:
    """Describe the spread of a claim's values over a grid; empty without values. Missing values are left out."""
    if not values:
        return ""
    columns = [[v for v in column if math.isfinite(v)] for column in zip(*values, strict=True)]
    spreads = "; ".join(str(Spread.of(column)) for column in columns if len(column) > 1)
    held = 100 * sum(claim.accepts(value) for value in values) / len(values)
    grid = f"Over the {len(values)} points of the grid"
    return f"{grid} the 5, 50 and 95 % values are {spreads}; the claim holds at {held:.0f} % of the points."


def tables(work: Work, numbers: Numbers) -> Iterable[Table]:
    """Yield the table of the grid, and the table of single choices."""
    head = ("run", "thesis", "ours", "points", *(f"{what}: 5 - 50 - 95 %" for what in ("s", "timeouts", "drops")))
    rows = [_row(work, name, numbers) for name in FOUR]
    yield Table(
        "The four runs: time, timeouts and drops, and their spread if all lost numbers vary together", head, rows
    )
    each = [(label, [reading.of(RUNS[name], work.folder) for name in FOUR]) for label, reading in alone(work).items()]
    changing = [(label, points) for label, points in each if points != [RUNS[name] for name in FOUR]]
    lines = [["as taken", *(_three(numbers[RUNS[name]]) for name in FOUR)]]
    lines += [
        [label, *(_cell(RUNS[n], p, numbers) for n, p in zip(FOUR, points, strict=True))] for label, points in changing
    ]
    yield Table(
        "Each open choice made differently: s / timeouts / drops", ("choice", *(TITLES[n][0] for n in FOUR)), lines
    )


def _row(work: Work, name: str, numbers: Numbers) -> list[str]:
    title, printed = TITLES[name]
    each = [Spread.of(over(work, numbers, name, number)) for number in THREE]
    return [title, printed, _three(numbers[RUNS[name]]), str(each[0].n), *map(str, each)]


def _cell(taken: Trial, point: Trial, numbers: Numbers) -> str:
    return "the same" if point == taken else _three(numbers[point])


def _three(ran: Ran) -> str:
    time, fired, lost = (ran.values(number)[0] for number in THREE)
    return f"{time:.2f} / {fired:g} / {lost:g}"
