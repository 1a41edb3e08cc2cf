"""The scores of the arena."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ackclock.arena.entries import kept
from ackclock.study.paired import Values

if TYPE_CHECKING:
    from ackclock.arena.others import Interval, Others
    from ackclock.study.answer import Answer
    from ackclock.study.found import OnPath

NEARLY_BEST = 0.99


@dataclass(frozen=True)
class Column:
    """A column of the board: JSON, the tables of the command and docs/results.md come from it."""

    meaning: str
    of: Callable[[Scores, str], Any]
    """Returns the value of a stack."""
    title: str
    digits: int = 0
    """Digits after the decimal point."""
    percent: bool = False
    """Whether tables show hundredths of the value."""
    detail: bool = False
    """Whether it is in the table of details."""

    @property
    def heading(self) -> str:
        """The title with its unit."""
        return f"{self.title}, %" if self.percent else self.title

    def cell(self, value: str | float | Interval | None) -> str:
        """A value as tables show it; empty if there is none."""
        match value:
            case None:
                return ""
            case float():
                return f"{100 * value if self.percent else value:.{self.digits}f}"
            case change, low, high:
                return f"{100 * change:+.1f} % ({100 * low:.1f} to {100 * high:.1f})"
            case _:
                return f"{value}"


def _column(
    meaning: str, of: Callable[[Scores, str], Any], title: str, digits: int = 0, **more: bool
) -> dict[str, Column]:
    return {"column": Column(meaning, of, title, digits, **more)}


def _needless(cause: str, meaning: str) -> dict[str, Column]:
    about = f"Needless retransmissions {meaning}, as a share of the packets sent, mean over the paths."
    return _column(about, lambda b, s: b.mean(f"needless_{cause}", s), cause, 3, percent=True, detail=True)


@dataclass(frozen=True)
class Score:
    """A stack's row on the board; docs/results.md explains its columns.

    Shares are of the best stack's mean goodput on the same path. An interval is a relative change, less 1, and its
    simultaneous 95 % interval.
    """

    stack: str = field(metadata=_column("The stack's name.", lambda _, s: s, "stack"))
    mean: float = field(
        metadata=_column(
            "The mean over the paths of its goodput, as a share of the best stack's on the same path.",
            lambda b, s: fmean(b.shares(s).values()),
            "mean",
            1,
            percent=True,
        )
    )
    least: float = field(
        metadata=_column(
            "The smallest of these shares.", lambda b, s: min(b.shares(s).values()), "least", 1, percent=True
        )
    )
    least_on: str = field(metadata=_column("The path of the smallest share.", lambda b, s: b.least_on(s), "on"))
    nearly_best: int = field(
        metadata=_column(
            "The number of paths on which the share is at least 0.99.",
            lambda b, s: sum(share >= NEARLY_BEST for share in b.shares(s).values()),
            "≥ 99 %",
        )
    )
    needless: float = field(
        metadata=_column(
            "Needless retransmissions as a share of the packets sent, mean over the paths.",
            lambda b, s: b.mean("needless", s),
            "needless",
            2,
            percent=True,
        )
    )
    timeouts: float = field(
        metadata=_column("Timeouts of a run, mean over the paths.", lambda b, s: b.mean("timeouts", s), "timeouts", 1)
    )
    tail: float | None = field(
        metadata=_column(
            "The time within which 99 % of the transfers complete, relative to the baseline: the mean over the paths "
            "on which all transfers end; missing without such paths.",
            lambda b, s: b.tail(s),
            "p99",
            2,
        )
    )
    beside: Interval | None = field(
        metadata=_column(
            "The goodput relative to the baseline on all paths together, less 1, and its simultaneous 95 % interval; "
            "missing for the baseline, or if a run has no goodput.",
            lambda b, s: b.beside(s),
            "goodput",
        )
    )
    needless_fast: float = field(metadata=_needless("fast", "that were the first of a fast recovery"))
    needless_recovery: float = field(metadata=_needless("recovery", "later in a fast recovery"))
    needless_probe: float = field(metadata=_needless("probe", "that were probes"))
    needless_timeout: float = field(metadata=_needless("timeout", "after timeouts"))
    others_own_kind: Interval | None = field(
        metadata=_column(
            "The goodput of other stacks' flows beside it, relative to that beside flows of their own kind, less 1, "
            "with its interval; missing without a shared path.",
            lambda b, s: b.others[s].own if s in b.others else None,
            "others: own kind",
            detail=True,
        )
    )
    others: Interval | None = field(
        metadata=_column(
            "The goodput of these flows relative to that beside the baseline, less 1, with its interval; missing for "
            "the baseline, or without a shared path.",
            lambda b, s: b.others[s].baseline if s in b.others else None,
            "others: baseline",
            detail=True,
        )
    )


COLUMNS: dict[str, Column] = {one.name: one.metadata["column"] for one in fields(Score)}
"""The columns of the board by name."""


class Scores:
    """The scores of the stacks.

    Attributes:
        half: ``"design"`` or ``"judgement"``.
        answer: the study behind it, with all values and comparisons.
        others: the goodput of other stacks' flows beside each entry; empty without a shared path.
    """

    def __init__(self, half: str, answer: Answer, others: Mapping[str, Others]) -> None:
        """Keep the study."""
        self.half, self.answer = half, answer
        self.others: Mapping[str, Others] = others

    @property
    def version(self) -> int:
        """The version of the set of paths and the field."""
        return int(kept()["version"])

    @cached_property
    def scores(self) -> list[Score]:
        """The scores, the largest mean share first."""
        stacks = self.answer.question.stacks
        found = [Score(**{name: one.of(self, stack) for name, one in COLUMNS.items()}) for stack in stacks]
        return sorted(found, key=lambda one: (-one.mean, -one.least, one.stack))

    def share(self, part: OnPath, stack: str) -> float:
        """The mean goodput of a stack on a path as a share of the best stack's."""
        best = max(mean(values) for values in part.values["goodput"].values())
        return mean(part.values["goodput"][stack]) / best if best > 0 else 1.0

    def shares(self, stack: str) -> dict[str, float]:
        """The same on each path."""
        return {part.name: self.share(part, stack) for part in self.answer.paths}

    def least_on(self, stack: str) -> str:
        """The path of a stack's smallest share."""
        shares = self.shares(stack)
        return min(shares, key=lambda name: shares[name])

    def mean(self, key: str, stack: str) -> float:
        """The mean of a measure over the paths."""
        return fmean(mean(part.values[key][stack]) for part in self.answer.paths)

    def tail(self, stack: str) -> float | None:
        """The tail of the completion times relative to the baseline's, on the paths on which all transfers end."""
        base = self.answer.question.baseline
        times = [part.values["completion_p99"] for part in self.answer.paths]
        tails = [mean(one[stack]) / mean(one[base]) for one in times if None not in (*one[stack], *one[base])]
        return fmean(tails) if tails else None

    def beside(self, stack: str) -> Interval | None:
        """The goodput relative to the baseline's."""
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
