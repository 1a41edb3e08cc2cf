"""Figure 7: the window under uniform random loss, compared with the square-root model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ackclock.runs.trial import Ran, Trial
from ackclock.statistics import Mean

from .points import CLAIMED_PS, MSS, NETWORKS, PS, RR, RTT_S, SACK, WARM_S, Scheme, model

C = math.sqrt(3 / 2)
"""§4: an ACK for every packet."""


def bound(p: float) -> float:
    """The model's window in segments: C / sqrt (p)."""
    return C / math.sqrt(p)


def trials(scheme: Scheme, p: float, network: str) -> tuple[Trial, Trial]:
    """The run, and the run of its start-up phase, which is excluded."""
    return model(scheme, p, network), model(scheme, p, network, WARM_S)


def points(schemes: Sequence[Scheme] = (RR, SACK), ps: Sequence[float] = PS) -> list[Trial]:
    """All runs of the figure."""
    return [t for scheme in schemes for network in NETWORKS for p in ps for t in trials(scheme, p, network)]


def windows(whole: Ran, beginning: Ran) -> list[float]:
    """BW · RTT / MSS of each run after its start-up phase (§4), in segments."""
    seconds = whole.runs[0]["duration_s"] - beginning.runs[0]["duration_s"]
    acked = zip(whole.values("acked_bytes"), beginning.values("acked_bytes"), strict=True)
    return [(after - before) / MSS / seconds * RTT_S for after, before in acked]


@dataclass(frozen=True)
class Model:
    """Windows by scheme, loss rate and network."""

    ran: Mapping[Trial, Ran]
    draw: Sequence[int] | None = None
    """The runs to use. Default: all."""
    kept: dict[object, list[float]] = field(default_factory=dict, compare=False, repr=False)
    """Results computed from all runs."""

    def windows(self, scheme: Scheme, p: float, network: str = "open") -> list[float]:
        """BW · RTT / MSS of each run after the start-up phase (§4), in segments."""
        key = ("window", scheme, p, network)
        if key not in self.kept:
            self.kept[key] = windows(*(self.ran[t] for t in trials(scheme, p, network)))
        every = self.kept[key]
        return every if self.draw is None else [every[i] for i in self.draw]

    def window(self, scheme: Scheme, p: float, network: str = "open") -> Mean:
        """The mean of the windows."""
        return Mean.of(self.windows(scheme, p, network))

    def share(self, scheme: Scheme, p: float, network: str = "open") -> float:
        """The ratio of the mean window to the model's."""
        values = self.windows(scheme, p, network)
        return sum(values) / len(values) / bound(p)

    def largest(self, scheme: Scheme, network: str) -> float:
        """The largest of these shares."""
        return max(self.share(scheme, p, network) for p in CLAIMED_PS)

    def lead(self, one: Scheme, other: Scheme, network: str = "open") -> float:
        """The ratio of the two schemes' mean shares over the loss rates; above 1 if ``one`` is closer to the model."""
        ours, theirs = (sum(self.share(scheme, p, network) for p in CLAIMED_PS) for scheme in (one, other))
        return ours / theirs

    def fall(self, scheme: Scheme, network: str = "open") -> float:
        """The ratio of the share at the largest loss rate to the share at the smallest."""
        return self.share(scheme, CLAIMED_PS[-1], network) / self.share(scheme, CLAIMED_PS[0], network)
