"""The two objectives: goodput relative to the defaults, and the share of packets that were sent needlessly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ackclock.runs.laboratory import Runs


class Score(NamedTuple):
    """The value of a setting of the parameters."""

    goodput: float
    """Geometric mean over the paths of goodput relative to the defaults on the same path and seeds; 1: equal."""
    needless: float
    """Mean over the paths of needless retransmissions as a share of the data packets sent."""

    def dominates(self, other: Score) -> bool:
        """Whether it is at least as good in both objectives and better in one."""
        return self.goodput >= other.goodput and self.needless <= other.needless and self != other


@dataclass(frozen=True)
class OnPath:
    """The runs of a setting on one path, with one value for each seed; flows are summed."""

    goodput: tuple[float, ...]
    """Bytes/s delivered to the receivers' applications, all flows together."""
    needless: tuple[float, ...]
    """Needless retransmissions over data packets sent."""

    @classmethod
    def of(cls, runs: Runs) -> OnPath:
        """Measure a task's runs."""
        flows = [run["flows"] for run in runs]
        return cls(
            tuple(sum(f["goodput_bytes_per_s"] for f in each) for each in flows),
            tuple(
                sum(f["needless_retransmissions"] for f in each) / max(sum(f["data_packets_sent"] for f in each), 1)
                for each in flows
            ),
        )

    @property
    def mean_goodput(self) -> float:
        """Mean over the seeds, in bytes/s."""
        return mean(self.goodput)

    @property
    def mean_needless(self) -> float:
        """Mean share over the seeds."""
        return mean(self.needless)


def score(measured: Sequence[OnPath], defaults: Sequence[OnPath]) -> Score:
    """The objectives of a setting, measured on the same paths and seeds as the defaults."""
    ratios = [one.mean_goodput / base.mean_goodput for one, base in zip(measured, defaults, strict=True)]
    return Score(geometric_mean(ratios), mean([one.mean_needless for one in measured]))


def geometric_mean(ratios: Sequence[float]) -> float:
    """The geometric mean; 0 if a ratio is 0."""
    return math.exp(mean([math.log(r) for r in ratios])) if all(ratios) else 0.0


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean."""
    return math.fsum(values) / len(values)


def front(scores: Sequence[Score]) -> list[int]:
    """The Pareto front: positions of the scores that no other dominates, by needless retransmissions.

    Of equal scores the first is used.
    """
    order = sorted(range(len(scores)), key=lambda i: (scores[i].needless, -scores[i].goodput, i))
    found: list[int] = []
    for i in order:
        if not found or scores[i].goodput > scores[found[-1]].goodput:
            found.append(i)
    return found


def knee(scores: Sequence[Score]) -> int:
    """Find the knee of a front: the point farthest above the line between its ends, both objectives scaled to 1.

    Args:
        scores: a front, by needless retransmissions.

    Returns:
        The position of the knee. If no point is above the line, it is the first one, which has the fewest needless
        retransmissions.
    """
    first, last = scores[0], scores[-1]
    wide, high = last.needless - first.needless, last.goodput - first.goodput
    if not (wide > 0 and high > 0):
        return 0
    above = [(s.goodput - first.goodput) / high - (s.needless - first.needless) / wide for s in scores]
    return max(range(len(scores)), key=lambda i: (above[i], -i))
