"""The scores of the arena."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING

from ackclock.arena.entries import CAUSES, kept
from ackclock.study.found import OnPath
from ackclock.study.paired import Values

if TYPE_CHECKING:
    from ackclock.arena.others import Others
    from ackclock.study.answer import Answer

NEARLY_BEST = 0.99


@dataclass(frozen=True)
class Score:
    """A stack's results over all paths. Shares are of the best stack's mean goodput on the same path."""

    stack: str
    mean: float
    """The mean share."""
    least: float
    """The smallest share."""
    least_on: str
    """The path of the smallest share."""
    nearly_best: int
    """The number of paths on which the share is at least 0.99."""
    needless: float
    """Needless retransmissions as a share of the packets sent, mean over the paths."""
    causes: Mapping[str, float]
    """By cause: ``fast`` (the first of a fast recovery), ``recovery`` (later in one), ``probe``, ``timeout``."""
    timeouts: float
    """Timeouts of a run, mean over the paths."""
    tail: float | None
    """The time within which 99 % of the transfers complete, relative to the baseline: the mean over the paths with
    transfers that end; ``None`` without such paths."""
    beside: tuple[float, float, float] | None
    """The goodput relative to the baseline on all paths together, less 1, and its simultaneous 95 % interval; ``None``
    for the baseline, or if a run has no goodput."""
    others: tuple[float, float, float] | None
    """The goodput of other stacks' flows beside it, relative to that beside the baseline, less 1, with its interval;
    ``None`` for the baseline, or without a shared path."""


class Scores:
    """The scores of the stacks.

    Attributes:
        half: ``"design"`` or ``"judgement"``.
        answer: the study behind it, with all values and comparisons.
        others: the goodput of other stacks' flows beside each entry; empty without a shared path.
    """

    def __init__(self, half: str, answer: Answer, others: Mapping[str, Others]) -> None:
        """Keep the study."""
        self.half, self.answer, self.others = half, answer, others

    @property
    def version(self) -> int:
        """The version of the set of paths and the field."""
        return int(kept()["version"])

    @cached_property
    def scores(self) -> list[Score]:
        """The scores, the largest mean share first."""
        found = [self._score(stack) for stack in self.answer.question.stacks]
        return sorted(found, key=lambda one: (-one.mean, -one.least, one.stack))

    def share(self, part: OnPath, stack: str) -> float:
        """The mean goodput of a stack on a path as a share of the best stack's."""
        best = max(mean(values) for values in part.values["goodput"].values())
        return mean(part.values["goodput"][stack]) / best if best > 0 else 1.0

    def _score(self, stack: str) -> Score:
        shares = {part.name: self.share(part, stack) for part in self.answer.paths}
        least_on = min(shares, key=lambda name: shares[name])
        tails = [tail for part in self.answer.paths if (tail := self._tail(part, stack)) is not None]
        return Score(
            stack,
            fmean(shares.values()),
            shares[least_on],
            least_on,
            sum(share >= NEARLY_BEST for share in shares.values()),
            self._mean("needless", stack),
            {cause: self._mean(f"needless_{cause}", stack) for cause in CAUSES},
            self._mean("timeouts", stack),
            fmean(tails) if tails else None,
            self._beside(stack),
            self.others[stack].baseline if stack in self.others else None,
        )

    def _mean(self, key: str, stack: str) -> float:
        return fmean(mean(part.values[key][stack]) for part in self.answer.paths)

    def _tail(self, part: OnPath, stack: str) -> float | None:
        times = part.values["completion_p99"]
        own, base = times[stack], times[self.answer.question.baseline]
        if None in own or None in base:
            return None
        return mean(own) / mean(base)

    def _beside(self, stack: str) -> tuple[float, float, float] | None:
        asked = self.answer.question
        if stack == asked.baseline:
            return None
        found = self.answer.overall.beside(stack, asked.baseline, asked.measure)
        if found.change is None or found.low is None or found.high is None:
            return None
        return found.change, found.low, found.high


def mean(values: Values) -> float:
    """The mean over the seeds; a run without a value counts as 0."""
    return fmean(0.0 if one is None else one for one in values)
