"""The points of Leung & Ma 2005: methods, and places on the figures' axes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

from ackclock.runs.trial import Trial, Value

KEY = "leung-ma-2005"
SINGLE, MULTIPATH = "scenario-single.toml", "scenario-multipath.toml"
FS = (1.0, 1.4, 1.8, 2.2, 2.6, 3.0, 3.4, 3.8)
"""Packet delay factors; §IV-A: from 1.0 to 3.8. The steps are ours."""
SHARES = tuple(range(0, 101, 10))
"""Shares of the packets that take R1-R3-R4, in per cent; §IV-B: from 0 to 100. The steps are ours."""
MIXED = SHARES[1:-1]
"""The shares with reordering."""
Changes = tuple[tuple[str, Value], ...]
Parameters = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Method:
    """A method of the paper's figures."""

    label: str
    """The paper's name for it."""
    stack: str
    set: Parameters = ()


DSACK = Method("DSACK", "dsack")
INC, AVG, EWMA = Method("INC", "dsack-inc"), Method("AVG", "dsack-avg"), Method("EWMA", "dsack-ewma")
# Blanton & Allman 2002 §6.4: "the amount of time … to obtain enough duplicate ACKs", not until the hole is filled. §II
# here: all four suffer from the bound of 0.9 cwnd, so false fast retransmissions happen when cwnd is small.
DEL = Method("DEL", "dsack-del", (("detect.target", "last-dup"), ("detect.ceiling", "before-the-cut")))
AVG_DEV = Method("AVG-DEV", "avg-dev")
FA = Method("FA", "rr-tcp")
METHODS = (DSACK, INC, AVG, DEL, EWMA, AVG_DEV, FA)
OTHERS = (DSACK, INC, AVG, DEL, EWMA)
"""The methods that §IV compares with AVG-DEV, except FA."""


@dataclass(frozen=True)
class Single:
    """A place on the axes of Figures 3 to 8."""

    f: float
    every_ms: int = 50
    """Time between two changes of the delay, in ms."""
    loss: float = 0.0


@dataclass(frozen=True)
class Split:
    """A place on the axes of Figures 10 and 11."""

    share: int
    """Share of the packets that take R1-R3-R4, in per cent."""
    loss: float = 0.0


Place = Single | Split
FIGURES: dict[str, tuple[int, float]] = {"50 ms": (50, 0.0), "100 ms": (100, 0.0), "50 ms, 0.2 % loss": (50, 0.002)}
"""Figures 3 and 6, 4 and 7, 5 and 8: time between changes of the delay in ms, and loss."""
LOSSES = (0.0, 0.003)
"""Loss in Figures 10 and 11."""


@cache
def trial(method: Method, place: Place) -> Trial:
    """The trial for a method at a place, as taken."""
    loss = ("link[0].elements[0].p", place.loss)
    if isinstance(place, Split):
        paths = "link[1].elements[0].paths"
        weights = (
            (f"{paths}[0].weight", (100 - place.share) // 10),
            (f"{paths}[1].weight", place.share // 10),
        )
        return Trial(MULTIPATH, (loss, *weights), method.stack, method.set)
    mean = f"{200 * place.f:.3f} ms"
    path = "link[1].elements[0]"
    changes: Changes = (
        loss,
        (f"{path}.mean", mean),
        (f"{path}.deviation", f"{200 * place.f / 3:.3f} ms"),
        (f"{path}.every", f"{place.every_ms} ms"),
        ("link[1].back.delay", mean),
    )
    return Trial(SINGLE, changes, method.stack, method.set)


ALPHAS, BETAS, LAMBDAS = (0.3, 0.4), (0.2, 0.4), (0.2, 0.4)
"""The end points of §III-B's ranges."""
SENSITIVE_FS = (1.0, 1.8, 2.6, 3.8)


def tuned() -> list[Method]:
    """AVG-DEV with every combination of the end points for alpha, beta and lambda, and with Table 1's values."""
    names = [f"detect.threshold.{name}" for name in ("alpha", "beta", "lambda")]
    each = product(*([f"{x:g}" for x in values] for values in (ALPHAS, BETAS, LAMBDAS)))
    return [AVG_DEV, *(Method(AVG_DEV.label, AVG_DEV.stack, tuple(zip(names, v, strict=True))) for v in each)]


def singles() -> list[Single]:
    """The places of Figures 3 to 8."""
    return [Single(f, *figure) for figure in FIGURES.values() for f in FS]


def splits(loss: float, shares: tuple[int, ...] = SHARES) -> list[Split]:
    """The places of Figure 10 or 11."""
    return [Split(share, loss) for share in shares]
