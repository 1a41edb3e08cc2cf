"""The factorial of the arena: every detector with every combination of the parts of a response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from os import PathLike
from pathlib import Path
from statistics import fmean

from ackclock import files
from ackclock.arena.entries import kept
from ackclock.late import pl
from ackclock.progress import Show
from ackclock.runs.executor import Executor, executor
from ackclock.runs.laboratory import Laboratory, Runs
from ackclock.runs.network import Seeds
from ackclock.runs.store import Store
from ackclock.study.measure import MEASURES
from ackclock.study.plan import Question

DETECTOR = "detector"
NAME = "factorial.csv"


@dataclass(frozen=True)
class Cell:
    """A detector with a response."""

    levels: tuple[str, ...]
    """The detector's name, and the level of each factor."""
    shares: tuple[float, ...]
    """On each path, the mean goodput as a share of the best cell's."""
    needless: float
    """Needless retransmissions as a share of the packets sent, mean over the paths."""
    timeouts: float
    """Timeouts of a run, mean over the paths."""

    @property
    def mean(self) -> float:
        """The mean share."""
        return fmean(self.shares)


class Factorial:
    """The cells of the factorial.

    Attributes:
        half: ``"design"`` or ``"judgement"``.
        factors: the factors, the detector first.
        cells: all combinations.
    """

    def __init__(self, half: str, factors: Sequence[str], cells: Sequence[Cell]) -> None:
        """Keep the cells."""
        self.half, self.factors, self.cells = half, tuple(factors), tuple(cells)

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row for each cell: the level of each factor, ``mean``, ``least``, ``needless`` and ``timeouts``."""
        rows = [
            dict(zip(self.factors, one.levels, strict=True))
            | {"mean": one.mean, "least": min(one.shares), "needless": one.needless, "timeouts": one.timeouts}
            for one in self.cells
        ]
        return pl.DataFrame(rows)

    def means(self, factor: str) -> dict[str, float]:
        """The mean share for each level of a factor, over all levels of the others."""
        at = self.factors.index(factor)
        levels = dict.fromkeys(one.levels[at] for one in self.cells)
        return {level: fmean(one.mean for one in self.cells if one.levels[at] == level) for level in levels}

    def part(self, factor: str) -> float:
        """The share of the cells' variance that the levels of one factor alone explain."""
        over = fmean(one.mean for one in self.cells)
        total = fmean((one.mean - over) ** 2 for one in self.cells)
        return fmean((mean - over) ** 2 for mean in self.means(factor).values()) / total if total > 0 else 0.0

    @cached_property
    def response(self) -> tuple[str, ...]:
        """The levels of the best response: the one with the largest mean share over all detectors."""
        responses = dict.fromkeys(one.levels[1:] for one in self.cells)
        return max(responses, key=lambda levels: fmean(one.mean for one in self.under(levels)))

    def under(self, response: tuple[str, ...]) -> list[Cell]:
        """The detectors under one response, the largest mean share first."""
        return sorted((one for one in self.cells if one.levels[1:] == response), key=lambda one: -one.mean)

    def write(self, folder: str | PathLike[str]) -> Path:
        """Write factorial.csv.

        Raises:
            OSError: the file could not be written.
        """
        to = Path(folder)
        to.mkdir(parents=True, exist_ok=True)
        files.write(to / NAME, self.table.write_csv().encode())
        return to / NAME


def run(
    asked: Question,
    half: str,
    store: str | PathLike[str] | None,
    on: str | AbstractContextManager[Executor] | None,
    threads: int | None,
    show: Show,
) -> Factorial:
    """Run the detectors of the question with every response, with its seeds.

    Raises:
        ScenarioError: a stack is invalid.
        OSError: a run could not be stored.
    """
    factors: Mapping[str, Sequence[str]] = kept()["factorial"]
    responses = list(product(*factors.values()))
    levels = [(name, *response) for name in asked.stacks for response in responses]
    seeds = Seeds(asked.seeds.first, asked.seeds.at_most)
    texts = [",".join([asked.stacks[one[0]], *map("=".join, zip(factors, one[1:], strict=True))]) for one in levels]
    tasks = [path.task(text, (), seeds) for path in asked.paths for text in texts]
    with Store(store) as opened, executor(on, threads) as workers:
        found = iter(Laboratory(opened, workers, show).run(f"factorial, {half}", tasks))
        by_path = [[_values(next(found)) for _ in levels] for _ in asked.paths]
    best = [max(goodput for goodput, _, _ in cells) for cells in by_path]
    return Factorial(half, (DETECTOR, *factors), [_cell(one, i, by_path, best) for i, one in enumerate(levels)])


Measured = tuple[float, float, float]


def _values(runs: Runs) -> Measured:
    """Means over the runs: goodput, needless retransmissions, timeouts."""
    goodput, needless, timeouts = (
        fmean(MEASURES[key].of(one) or 0.0 for one in runs) for key in ("goodput", "needless", "timeouts")
    )
    return goodput, needless, timeouts


def _cell(levels: tuple[str, ...], at: int, by_path: Sequence[Sequence[Measured]], best: Sequence[float]) -> Cell:
    own = [cells[at] for cells in by_path]
    shares = tuple(goodput / most if most > 0 else 1.0 for (goodput, _, _), most in zip(own, best, strict=True))
    return Cell(levels, shares, fmean(one[1] for one in own), fmean(one[2] for one in own))
