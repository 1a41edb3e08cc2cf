"""Blanton & Allman 2002, §5 to §7: the senders of Figures 4 to 9 and their points, in the paper's reading."""

from __future__ import annotations

from fractions import Fraction

from .points import STOCK, Scheme, Setting, setting

READING = "paper"
SWAPS = (0, 1, 2, 4, 8, 12, 20, 30)
"""Figures 4 to 8: the axes' values are lost, the grid is ours, part of that of Figures 2(a) and 3(a)."""
GAP_S = 1.0
"""§5, §7: an event about every second."""
FIG9_SWAPS = 12
"""Unsaid: what §4 has for Figures 2(b) and 3(b)."""
ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
XS = (1.0, 0.25, 0.0625)
"""§7 names 1 and 1/16 of Figure 9's "various values"."""

# §6.1: adaptive thresholds go with extended limited transmit; the scenario has RFC 3042's for the stock sender.
EXTENDED = ("disorder", "extended")
UNDO = Scheme("DSACK, no mitigation", "dsack")
INC = Scheme("increase by 1", "dsack-inc", (EXTENDED,))
AVG = Scheme("increase by N", "dsack-avg", (EXTENDED,))
DEL = Scheme("time-delayed", "dsack-del", (EXTENDED,))
FIXED = Scheme("threshold fixed at 3", "dsack", (EXTENDED,))


def fraction(x: float) -> str:
    """As the paper writes it: 1/16 for 0.0625."""
    return str(Fraction(x))


def ewma(alpha: float, x: float) -> Scheme:
    """The running average with gain ``alpha`` up and ``alpha`` · ``x`` down (§6.5); without gain ``x`` is 1."""
    x = x if alpha else 1.0
    gains = (("detect.threshold.alpha", f"{alpha:g}"), ("detect.threshold.x", f"{x:g}"))
    return Scheme(f"EWMA({alpha:g}, {fraction(x)})", "dsack-ewma", (EXTENDED, *gains))


EWMA = ewma(1.0, 0.0625)
"""Figures 6 to 8 (§7)."""
COUNTERS = (INC, AVG, DEL)
"""What §7 sets against the running average."""
ADAPTIVE = (*COUNTERS, EWMA)
ALL = (STOCK, UNDO, *ADAPTIVE)


def at(scheme: Scheme, swaps: int, gap_s: float = GAP_S) -> Setting:
    """The point of a scheme."""
    return setting(READING, swaps, gap_s, scheme)


def settings() -> list[Setting]:
    """Every point of Figures 4 to 9 and of the claims, once, in the order in which they are run."""
    schemes = [at(scheme, swaps) for scheme in ALL for swaps in SWAPS]
    gains = [at(ewma(alpha, x), FIG9_SWAPS) for x in XS for alpha in ALPHAS]
    return list(dict.fromkeys([*schemes, *gains, at(FIXED, FIG9_SWAPS)]))
