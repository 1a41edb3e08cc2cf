"""The findings of a study: the stacks on each path, and over all paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ackclock.runs.laboratory import Runs
from ackclock.study.measure import Measure
from ackclock.study.paired import Difference, Place, Values, compare, together
from ackclock.study.plan import Question

ALL = "all paths"


@dataclass(frozen=True)
class OnPath:
    """The stacks on one path, or over all paths."""

    name: str
    seeds: int
    values: Mapping[str, Mapping[str, Values]]
    """Values by measure and stack, one for each seed."""
    places: tuple[Place, ...]
    """The stacks, best first, by the measure that decides."""
    differences: tuple[Difference, ...]
    """All pairs of stacks."""
    unused: Mapping[str, tuple[str, ...]]
    """Parameters that the scenario sets and a stack does not have, by stack."""

    @classmethod
    def of(cls, asked: Question, name: str, runs: Mapping[str, Runs], level: float) -> OnPath:
        """Measure the runs on a path, by stack, and rank the stacks."""
        measures = (asked.measure, *asked.beside)
        values = {m.key: {stack: [m.of(run) for run in each] for stack, each in runs.items()} for m in measures}
        unused = {stack: tuple(each[0].get("unused_parameters", ())) for stack, each in runs.items()}
        return cls.ranked(asked, name, values, level, {stack: keys for stack, keys in unused.items() if keys})

    @classmethod
    def ranked(
        cls,
        asked: Question,
        name: str,
        values: Mapping[str, Mapping[str, Values]],
        level: float,
        unused: Mapping[str, tuple[str, ...]],
    ) -> OnPath:
        """Rank the stacks by the measured values."""
        places, differences = compare(values[asked.measure.key], asked.measure, asked.within, level)
        seeds = len(next(iter(values[asked.measure.key].values())))
        return cls(name, seeds, values, tuple(places), tuple(differences), unused)

    @property
    def best(self) -> tuple[str, ...]:
        """The stacks that are not known to do worse than another; a single one if it is told apart from all others."""
        return tuple(place.stack for place in self.places if place.first == 1)

    def beside(self, stack: str, other: str, measure: Measure) -> Difference:
        """Compare two of the stacks by the measure that decides."""
        found = next(d for d in self.differences if {d.one, d.other} == {stack, other})
        return found if found.one == stack else found.turned(measure)


class Found:
    """The findings of a study.

    Attributes:
        question: the question.
        level: the confidence of each interval; all statements together have 95 %.
        paths: the results on each path.
    """

    def __init__(self, question: Question, level: float, paths: tuple[OnPath, ...]) -> None:
        """Keep the findings."""
        self.question, self.level, self.paths = question, level, paths

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measure that decides, and the additional ones."""
        return (self.question.measure, *self.question.beside)

    @cached_property
    def overall(self) -> OnPath:
        """All paths together with equal weights; a single path is returned unchanged."""
        if len(self.paths) == 1:
            return self.paths[0]
        values = {m.key: together([path.values[m.key] for path in self.paths], m) for m in self.measures}
        return OnPath.ranked(self.question, ALL, values, self.level, {})

    @property
    def parts(self) -> tuple[OnPath, ...]:
        """All paths together, if there are several, and each path."""
        return self.paths if len(self.paths) == 1 else (self.overall, *self.paths)
