"""How much the choices matter that the thesis leaves open: each alone, and many of them together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median, quantiles

from ackclock.papers.claims import Claim
from ackclock.papers.paper import Table
from ackclock.runs.trial import Ran, Trial

from .measures import MEASURES
from .runs import CHOICES, DELAYED, FOUR, RUNS, WAITING, Choice, View, access, service

Numbers = Mapping[Trial, Ran]
AXES: tuple[tuple[Choice, ...], ...] = (
    (Choice(""), Choice("", service("1.8 Mbps")), Choice("", service("1.6 Mbps"))),
    (Choice(""), Choice("", WAITING)),
    (Choice(""), Choice("", access("1 ms"))),
    tuple(Choice("", set=(("rto.phase", f"{ms} ms"),)) for ms in (0, 200, 400)),
    tuple(Choice("", (("flow[0].receiver.phase", f"{ms} ms"),), file=DELAYED) for ms in (0, 80, 160)),
    (Choice(""), Choice("", set=(("recovery.inflate_segs", "1"),))),
    (Choice(""), Choice("", set=(("startup.initial_window_segs", "2"),))),
)
"""Service time, buffer, access links, both clocks, inflation, initial window: every combination is a point."""
TITLES = {
    "delayed": ("delayed ACKs, with the eighth", "12 s, 3, 19"),
    "delayed plain": ("delayed ACKs, without", "8.85 s, 1, 13"),
    "every eighth": ("an ACK for every packet, with the eighth", "12.8 s, 5, 40"),
    "every": ("an ACK for every packet, without", "not printed"),
}
"""The four runs, and what the thesis prints of each."""


def completion(run: Mapping[str, object]) -> float:
    """When the last ACK was at the sender, seconds; infinite where the transfer did not end."""
    finish = _flow(run)["finish_s"]
    return float("inf") if finish is None else float(finish)


def timeouts(run: Mapping[str, object]) -> float:
    """How often the slow timer fired."""
    return float(_flow(run)["timeouts"])


def drops(run: Mapping[str, object]) -> float:
    """Data packets dropped."""
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
"""Claims whose number every run has, traced or not."""


TRACED = {
    "delayed": ("S002-12", "S002-13", "S002-14"),
    "every": tuple(f"S002-{n}" for n in (*range(16, 27), 39)),
}
"""Claims about the events of one run."""


def grid(name: str) -> list[Trial]:
    """Every point of a run's grid."""
    points = []
    for combination in product(*AXES):
        trial = RUNS[name]
        for choice in combination:
            trial = choice.of(trial)
        points.append(trial)
    return list(dict.fromkeys(points))


def trials() -> list[Trial]:
    """All that these tables are made of."""
    alone = [choice.of(trial) for trial in RUNS.values() for choice in CHOICES]
    return list(dict.fromkeys([*RUNS.values(), *alone, *(point for name in FOUR for point in grid(name))]))


@dataclass(frozen=True)
class Spread:
    """A number over many points."""

    n: int
    low: float
    """5 % of the points are below."""
    middle: float
    high: float
    """5 % are above."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Over at least two values."""
        ends = quantiles(values, n=20, method="inclusive")
        return cls(len(values), ends[0], median(values), ends[-1])

    def __str__(self) -> str:
        return " - ".join(f"{value:.3g}" for value in (self.low, self.middle, self.high))


def over(numbers: Numbers, name: str, number: Callable[[Mapping[str, object]], float]) -> list[float]:
    """The number at each point of the run's grid."""
    return [numbers[point].values(number)[0] for point in grid(name)]


def printed(claim: Claim, numbers: Numbers) -> list[tuple[float, ...]]:
    """The number of a claim of ``PRINTED`` at each point of its run's grid; nothing for another claim."""
    return [(value,) for value in over(numbers, *PRINTED[claim.id])] if claim.id in PRINTED else []


def traced(folder: Path) -> dict[str, list[tuple[float, ...]]]:
    """The values of each claim of ``TRACED`` at each point of its run's grid.

    Raises:
        OSError: a scenario is missing in ``folder``.
    """
    values: dict[str, list[tuple[float, ...]]] = {}
    for name, keys in TRACED.items():
        for point in grid(name):
            view = View(folder, instead={name: point})
            for key in keys:
                values.setdefault(key, []).append(MEASURES[key](view))
    return values


def sentence(claim: Claim, values: Sequence[tuple[float, ...]]) -> str:
    """How a claim's values spread over a grid; empty without any. What a point does not have is left out."""
    if not values:
        return ""
    held = sum(claim.accepts(value) for value in values) / len(values)
    columns = [[v for v in column if math.isfinite(v)] for column in zip(*values, strict=True)]
    spreads = "; ".join(str(Spread.of(column)) for column in columns if len(column) > 1)
    return f"Over the {len(values)} points of the grid 5, 50 and 95 % are {spreads}; it holds in {100 * held:.0f} %."


def tables(numbers: Numbers) -> Iterable[Table]:
    """The grid, and each choice alone."""
    head = ("run", "thesis", "ours", "points", *(f"{what}: 5 - 50 - 95 %" for what in ("s", "timeouts", "drops")))
    rows = [_row(name, numbers) for name in FOUR]
    yield Table("The four runs: time, timeouts, drops, and how they spread over the open choices together", head, rows)
    each: list[tuple[str, Choice | None]] = [("as in the scenarios", None), *((c.label, c) for c in CHOICES)]
    alone = [[label, *(_cell(name, choice, numbers) for name in FOUR)] for label, choice in each]
    yield Table(
        "One open choice made otherwise: s / timeouts / drops", ("choice", *(TITLES[n][0] for n in FOUR)), alone
    )


def _row(name: str, numbers: Numbers) -> list[str]:
    title, printed = TITLES[name]
    spreads = [Spread.of(over(numbers, name, number)) for number in THREE]
    return [title, printed, _three(numbers[RUNS[name]]), str(spreads[0].n), *map(str, spreads)]


def _cell(name: str, choice: Choice | None, numbers: Numbers) -> str:
    trial = RUNS[name]
    if choice is not None and not choice.touches(trial):
        return "the same"
    return _three(numbers[trial if choice is None else choice.of(trial)])


def _three(ran: Ran) -> str:
    time, fired, lost = (ran.values(number)[0] for number in THREE)
    return f"{time:.2f} / {fired:g} / {lost:g}"
