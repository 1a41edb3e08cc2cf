"""Figure 5: three and six losses forced in one window, and Robust Recovery's counters during the repair."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.papers.paper import Work
from ackclock.statistics import Mean

from .points import LOSSES, PEER_WINDOWS, Scheme, forced, patterns
from .repair import Repair, repairs

FIGURE_3 = (12, (4, 5, 7, 8))
"""§2.2.2: packets 4, 5, 7 and 8 are lost from a window whose size the paper does not state."""


@dataclass(frozen=True)
class Grid:
    """The first recovery of each scheme in each case."""

    found: dict[tuple[Scheme, int, int], list[Repair]]
    """By scheme, number of losses and the peer's window: a recovery for each of ``patterns``."""

    def kbps(self, scheme: Scheme, losses: int, window: int) -> list[float]:
        """The effective throughput of each case, in kb/s."""
        return [repair.kbps or 0.0 for repair in self.found[scheme, losses, window]]

    def mean(self, scheme: Scheme, losses: int, window: int) -> float:
        """The mean over the cases."""
        return Mean.of(self.kbps(scheme, losses, window)).value

    def ratio(self, one: Scheme, other: Scheme, losses: int, window: int) -> float:
        """The ratio of the two means."""
        return self.mean(one, losses, window) / self.mean(other, losses, window)

    def wins(self, one: Scheme, other: Scheme, losses: int, window: int) -> tuple[int, int]:
        """The number of cases in which ``one`` is faster, and the number of cases."""
        pairs = list(zip(self.kbps(one, losses, window), self.kbps(other, losses, window), strict=True))
        return sum(a > b for a, b in pairs), len(pairs)

    def of(self, scheme: Scheme) -> list[Repair]:
        """All of a scheme's recoveries."""
        return [repair for (one, _, _), every in self.found.items() if one == scheme for repair in every]

    @property
    def digest(self) -> str:
        """A hash over the results."""
        return hashlib.sha256(repr(sorted((repr(k), repr(v)) for k, v in self.found.items())).encode()).hexdigest()[:16]


def grid(work: Work, schemes: Sequence[Scheme], every: int) -> Grid:
    """Run each scheme in every ``every``-th case.

    Raises:
        OSError, ValueError: the scenario is missing or invalid.
    """
    found = {
        (scheme, losses, window): [first(work, scheme, *case, window) for case in patterns(losses)[::every]]
        for scheme in schemes
        for losses in LOSSES
        for window in PEER_WINDOWS
    }
    return Grid(found)


def first(work: Work, scheme: Scheme, hit: int, lost: Sequence[int], window: int) -> Repair:
    """The recovery from the losses in one case."""
    return repairs(work.events(forced(scheme, hit, lost, window)))[0]


def ndup_unequal_to_actnum(found: Sequence[Repair]) -> tuple[int, int, int]:
    """Count by the text's rules: rounds with ndup unequal to actnum, all rounds, exits with an unequal window."""
    unequal = rounds = exits = 0
    for repair in found:
        actnum = repair.rounds[0].dups // 2
        for one in repair.rounds[1:]:
            unequal += one.dups != actnum
            rounds += 1
            actnum = actnum + 1 if one.dups >= actnum else one.dups
        exits += repair.exit_cwnd != max(actnum, 1)
    return unequal, rounds, exits


def ndup_unequal_to_sent(found: Sequence[Repair]) -> int:
    """Count rounds in which ndup differs from the number of new segments between the two preceding retransmissions."""
    pairs = [(a, b) for repair in found for a, b in zip(repair.rounds, repair.rounds[1:], strict=False)]
    return sum(before.new != after.dups for before, after in pairs)
