"""Blanton & Allman 2002, §5 to §7: the senders of Figures 4 to 9 and their points, as described in the paper."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ackclock.papers.reading import Reading

from .points import STOCK, Scheme, Setting, setting

PAPER = "paper"
SWAPS = (0, 1, 2, 4, 8, 12, 20, 30)
"""Figures 4 to 8: the values on the axes are lost; this grid is ours, part of the one for Figures 2(a) and 3(a)."""
GAP_S = 1.0
"""§5, §7: an event about every second."""
FIG9_SWAPS = 12
"""Not stated; this is the value that §4 gives for Figures 2(b) and 3(b)."""
ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
XS = (1.0, 0.25, 0.0625)
"""§7 names 1 and 1/16 of Figure 9's "various values"."""

# §6.1: adaptive thresholds use extended limited transmit; the scenario has RFC 3042's for the stock sender.
EXTENDED = ("disorder", "extended")
# §6.6 caps the threshold "at 90% of cwnd" without "any performance impact": it rises again with the window.
CAPPED = (EXTENDED, ("detect.threshold.cap.store", "test"))
UNDO = Scheme("DSACK, no mitigation", "dsack")
INC = Scheme("increase by 1", "dsack-inc", CAPPED)
AVG = Scheme("increase by N", "dsack-avg", CAPPED)
DEL = Scheme("time-delayed", "dsack-del", (EXTENDED,))
FIXED = Scheme("threshold fixed at 3", "dsack", (EXTENDED,))


def fraction(x: float) -> str:
    """The paper's notation: 1/16 for 0.0625."""
    return str(Fraction(x))


def ewma(alpha: float, x: float) -> Scheme:
    """The running average with gain ``alpha`` up and ``alpha`` · ``x`` down (§6.5); for a gain of 0, ``x`` is 1."""
    x = x if alpha else 1.0
    gains = (("detect.threshold.alpha", f"{alpha:g}"), ("detect.threshold.x", f"{x:g}"))
    return Scheme(f"EWMA({alpha:g}, {fraction(x)})", "dsack-ewma", (*CAPPED, *gains))


EWMA = ewma(1.0, 0.0625)
"""Figures 6 to 8 (§7)."""
COUNTERS = (INC, AVG, DEL)
"""The schemes that §7 compares with the running average."""
ADAPTIVE = (*COUNTERS, EWMA)
ALL = (STOCK, UNDO, *ADAPTIVE)


def at(scheme: Scheme, swaps: int, gap_s: float = GAP_S) -> Setting:
    """The point of a scheme."""
    return setting(PAPER, swaps, gap_s, scheme)


@dataclass(frozen=True)
class Look:
    """The choices of readings.toml that decide how claims are measured."""

    fig9_swaps: int = FIG9_SWAPS
    most_swaps: int = SWAPS[-1]
    """The upper end of the axes of the figures over swaps."""
    middle: Callable[[Sequence[float]], float] = statistics.median
    """The average over the runs of a point of Figures 5 and 9."""

    @classmethod
    def of(cls, reading: Reading) -> Look:
        """Take the choices from a reading of the paper."""
        middles: dict[str, Callable[[Sequence[float]], float]] = {"median": statistics.median, "mean": statistics.fmean}
        return cls(int(reading["figure-9"]), int(reading["axis"]), middles[reading["counts"]])

    def along(self, swaps: Sequence[int]) -> tuple[int, ...]:
        """The part of an axis within the figures."""
        return tuple(n for n in swaps if n <= self.most_swaps)


AS_TAKEN = Look()


def settings(look: Look = AS_TAKEN) -> list[Setting]:
    """Every point of Figures 4 to 9 and of the claims, once, in the order in which they are run."""
    schemes = [at(scheme, swaps) for scheme in ALL for swaps in look.along(SWAPS)]
    gains = [at(ewma(alpha, x), look.fig9_swaps) for x in XS for alpha in ALPHAS]
    others = [at(scheme, look.fig9_swaps) for scheme in (*COUNTERS, FIXED)]
    return list(dict.fromkeys([*schemes, *gains, *others]))
