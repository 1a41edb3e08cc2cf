"""The results of each stack on each path: goodput and needless retransmissions."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ackclock.runs.trial import digest
from ackclock.statistics import Mean

from .paths import FAMILIES, PATHS, PaperPath, Run

NEAR = 0.9
"""A goodput of at least this share of the best on a path counts as near it."""


@dataclass(frozen=True)
class Cell:
    """One stack on one path."""

    goodput: Mean
    """Payload acknowledged for all flows together, in bytes per second of the flows' duration."""
    needless: Mean
    """Retransmissions of data of which no earlier copy was dropped, in % of the packets sent."""
    timeouts: Mean
    """Timeouts per run, all flows together."""
    identity: str

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Cell:
        """Compute the cell from the runs of a point."""
        return cls(
            Mean.of([sum(flow["goodput_bytes_per_s"] for flow in run["flows"]) for run in runs]),
            Mean.of([100 * _total(run, "needless_retransmissions") / _total(run, "data_packets_sent") for run in runs]),
            Mean.of([_total(run, "timeouts") for run in runs]),
            digest([run["identity"] for run in runs]),
        )


def _total(run: Run, key: str) -> float:
    return float(sum(flow[key] for flow in run["flows"]))


Cells = Mapping[tuple[str, str], Cell]
"""By path and stack."""


@dataclass(frozen=True)
class Comparison:
    """All stacks on all paths."""

    cells: Cells
    families: Mapping[str, str]
    """The family of each stack, in the stacks' order."""

    def best(self, path: PaperPath) -> float:
        """The highest goodput on a path."""
        return max(self.cells[path.key, stack].goodput.value for stack in self.families)

    def share(self, path: PaperPath, stack: str) -> float:
        """A stack's goodput as a share of the best."""
        return self.cells[path.key, stack].goodput.value / self.best(path)

    def needless(self, path: PaperPath, stack: str) -> float:
        """A stack's needless retransmissions, in % of the packets it sent."""
        return self.cells[path.key, stack].needless.value

    def worst(self, stack: str, paths: Sequence[PaperPath] = PATHS) -> tuple[float, PaperPath]:
        """A stack's smallest share of the best goodput, and the path."""
        return min(((self.share(path, stack), path) for path in paths), key=lambda pair: pair[0])

    def near(self, stack: str, paths: Sequence[PaperPath] = PATHS) -> list[PaperPath]:
        """The paths on which a stack is near the best."""
        return [path for path in paths if self.share(path, stack) >= NEAR]

    def frontier(self, path: PaperPath) -> list[str]:
        """The stacks that no other beats in goodput without more needless retransmissions, the most thrifty first."""
        ordered = sorted(self.families, key=lambda s: (self.needless(path, s), -self.share(path, s)))
        front: list[str] = []
        for stack in ordered:
            if not front or self.share(path, stack) > self.share(path, front[-1]):
                front.append(stack)
        return front


REORDERING = tuple(path for path in PATHS if path.reorders)
TODAY = "linux-2025"
LOSING = tuple(path for path in PATHS if not path.reorders)


def conclusions(c: Comparison) -> list[str]:
    """Three sentences; the numbers decide which stacks they name."""
    return [_everywhere(c), _kinds(c), _today(c)]


def _everywhere(c: Comparison) -> str:
    most = max(len(c.near(stack)) for stack in c.families)
    stacks = [stack for stack in c.families if len(c.near(stack)) == most]
    surest = max(c.families, key=lambda stack: c.worst(stack)[0])
    share, path = c.worst(surest)
    where = f"all {len(PATHS)} paths" if most == len(PATHS) else f"{most} of the {len(PATHS)} paths, and none on more"
    return (
        f"{_listed(stacks)} {'comes' if len(stacks) == 1 else 'come'} within {100 * (1 - NEAR):.0f} % of the best "
        f"goodput on {where}; the stack whose worst path is the least bad is {surest}, with {100 * share:.0f} % of the "
        f"best ({path.title})."
    )


def _kinds(c: Comparison) -> str:
    """On paths with reordering: goodput and needless retransmissions of each kind of stack."""

    def mean(kind: str, number: Callable[[PaperPath, str], float]) -> float:
        stacks = [stack for stack, family in c.families.items() if family == kind]
        return statistics.fmean(number(path, stack) for stack in stacks for path in REORDERING)

    words = [
        f"{kind} {100 * mean(kind, c.share):.0f} % and {mean(kind, c.needless):.1f} %"
        for kind in FAMILIES
        if kind in c.families.values()
    ]
    return (
        f"Over the {len(REORDERING)} paths that reorder packets, each kind of stack has on average this share of the "
        f"best goodput and retransmits this share of its packets needlessly: {', '.join(words)}."
    )


def _today(c: Comparison) -> str:
    reorder, lose = (statistics.fmean(c.share(path, TODAY) for path in paths) for paths in (REORDERING, LOSING))
    share, where = c.worst(TODAY)
    most = max(PATHS, key=lambda path: c.needless(path, TODAY))
    return (
        f"Today's Linux as built here ({TODAY}) has {100 * reorder:.0f} % of the best goodput on average where packets "
        f"are reordered and {100 * lose:.0f} % where they are only lost, never less than {100 * share:.0f} % "
        f"({where.title}), and retransmits up to {c.needless(most, TODAY):.1f} % of its packets needlessly "
        f"({most.title})."
    )


def _listed(names: Sequence[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last
