"""The points of Leung & Ma 2005: methods, places on the figures' axes, and choices that the paper leaves open."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

from ackclock.runs.trial import Trial, Value

KEY = "leung-ma-2005"
SINGLE, BOTH_WAYS, MULTIPATH = "scenario-single.toml", "scenario-both-ways.toml", "scenario-multipath.toml"
FS = (1.0, 1.4, 1.8, 2.2, 2.6, 3.0, 3.4, 3.8)
"""Packet delay factors; §IV-A: from 1.0 to 3.8. The steps are ours."""
SHARES = tuple(range(0, 101, 10))
"""Of the packets over R1-R3-R4, per cent; §IV-B: from 0 to 100. The steps are ours."""
MIXED = SHARES[1:-1]
"""Those that reorder."""
Changes = tuple[tuple[str, Value], ...]
Parameters = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Method:
    """A method of the paper's figures."""

    label: str
    """As the paper calls it."""
    stack: str
    set: Parameters = ()


DSACK = Method("DSACK", "dsack")
INC, AVG, EWMA = Method("INC", "dsack-inc"), Method("AVG", "dsack-avg"), Method("EWMA", "dsack-ewma")
# Blanton & Allman 2002 §6.4: "the amount of time … to obtain enough duplicate ACKs", not until the hole is filled.
DEL = Method("DEL", "dsack-del", (("detect.target", "last-dup"),))
AVG_DEV = Method("AVG-DEV", "avg-dev")
FA = Method("FA", "rr-tcp")
METHODS = (DSACK, INC, AVG, DEL, EWMA, AVG_DEV, FA)
OTHERS = (DSACK, INC, AVG, DEL, EWMA)
"""What §IV compares AVG-DEV with, but for FA."""
COUNTERS = tuple(method.stack for method in (INC, AVG, EWMA))
"""The stacks whose threshold has Blanton & Allman's ceiling."""


@dataclass(frozen=True)
class Single:
    """A place on the axes of Figures 3 to 8."""

    f: float
    every_ms: int = 50
    """Time between two changes of the delay."""
    loss: float = 0.0


@dataclass(frozen=True)
class Split:
    """A place on the axes of Figures 10 and 11."""

    share: int
    """Of the packets over R1-R3-R4, per cent."""
    loss: float = 0.0


Place = Single | Split
FIGURES: dict[str, tuple[int, float]] = {"50 ms": (50, 0.0), "100 ms": (100, 0.0), "50 ms, 0.2 % loss": (50, 0.002)}
"""Figures 3 and 6, 4 and 7, 5 and 8: time between changes of the delay, ms, and loss."""
LOSSES = (0.0, 0.003)
"""Figures 10 and 11."""


@dataclass(frozen=True)
class Choice:
    """What the paper leaves open, chosen otherwise."""

    label: str
    changes: Changes = ()
    """Of the scenario."""
    set: Parameters = ()
    stacks: tuple[str, ...] = ()
    """Those that ``set`` is for; none: every one."""
    file: str = SINGLE
    """Instead of ``scenario-single.toml``."""
    count: str = field(default="needless_fast_retransmissions")
    """What the unnecessary retransmission rate counts: a number of each flow."""


OURS = Choice("as we took it")


def trial(method: Method, place: Place, choice: Choice = OURS) -> Trial:
    """What is run for a method at a place."""
    more = choice.set if method.stack in choice.stacks or not choice.stacks else ()
    loss = ("link[0].elements[0].p", place.loss)
    if isinstance(place, Split):
        paths = "link[1].elements[0].paths"
        weights = (
            (f"{paths}[0].weight", (100 - place.share) // 10),
            (f"{paths}[1].weight", place.share // 10),
        )
        return Trial(MULTIPATH, (loss, *weights, *choice.changes), method.stack, (*method.set, *more))
    mean = f"{200 * place.f:.3f} ms"
    path = "link[1].elements[0]"
    changes: Changes = (
        loss,
        (f"{path}.mean", mean),
        (f"{path}.deviation", f"{200 * place.f / 3:.3f} ms"),
        (f"{path}.every", f"{place.every_ms} ms"),
    )
    if choice.file == SINGLE:
        changes += (("link[1].back.delay", mean),)
    return Trial(choice.file, (*changes, *choice.changes), method.stack, (*method.set, *more))


def every_link(key: str, value: Value) -> Changes:
    """A key of all three links."""
    return tuple((f"link[{i}].{key}", value) for i in range(3))


DELAYED: Changes = (("flow[0].receiver.ack", "delayed"), ("flow[0].receiver.delay", "100 ms"))
ALL = Choice("every needless retransmission counts, not the fast ones alone", count="needless_retransmissions")
IN_COMMON = (
    ALL,
    Choice("delayed ACKs (100 ms)", DELAYED),
    Choice("an ACK whose only news is a DSACK counts as a duplicate (ns-2.35)", set=(("dup_rule", "ns2"),)),
    Choice(
        "every hole waits for the threshold (recovery.hole_rule = dupthresh)",
        set=(("recovery.hole_rule", "dupthresh"), ("detect.judge_in_recovery", "true")),
    ),
    Choice("no time for late DSACKs (spurious.pending_srtts = 0)", set=(("spurious.pending_srtts", "0"),)),
    Choice("RFC 3042's limited transmit", set=(("disorder", "limited-transmit"),)),
    Choice(
        "the ceiling of 0.9 cwnd is asked, not stored (cap.store = test)",
        set=(("detect.threshold.cap.store", "test"),),
        stacks=COUNTERS,
    ),
    Choice(
        "INC adds 1 for each segment resent needlessly (update_per = segment)",
        set=(("detect.threshold.update_per", "segment"),),
        stacks=(INC.stack,),
    ),
    Choice(
        "DEL waits until the hole was filled (detect.target = fill)",
        set=(("detect.target", "fill"),),
        stacks=(DEL.stack,),
    ),
    Choice(
        "AVG-DEV: r = D, without the ACK that fills the hole",
        set=(("detect.threshold.count_filling_ack", "false"),),
        stacks=(AVG_DEV.stack,),
    ),
    Choice(
        "AVG-DEV: eq. 11 to the letter (time_bound = clamp)",
        set=(("detect.threshold.time_bound", "clamp"),),
        stacks=(AVG_DEV.stack,),
    ),
    Choice(
        "AVG-DEV: the first event is the average (start_at_first)",
        set=(("detect.threshold.start_at_first", "true"),),
        stacks=(AVG_DEV.stack,),
    ),
    Choice("FA: all lengths, at the ratio 0.9", set=(("detect.threshold.events", "all"),), stacks=(FA.stack,)),
    Choice("500-byte segments", (("flow[0].segment", "500 B"),)),
    Choice("1460-byte segments", (("flow[0].segment", "1460 B"),)),
)
ON_THE_SINGLE_PATH = (
    *IN_COMMON,
    Choice("the way back has the same delays", file=BOTH_WAYS),
    Choice("the way back has delays of its own", (("link[1].elements[0].draws", "own"),), file=BOTH_WAYS),
    Choice("1 Mb/s everywhere", every_link("rate", "1 Mbps")),
    Choice("100 Mb/s everywhere", every_link("rate", "100 Mbps")),
    Choice("queues of 50 packets", every_link("queue.limit", "50 packets")),
    Choice("a round trip sampled from every ACK (rto.every_ack)", set=(("rto.every_ack", "true"),)),
    Choice("no undo", set=(("undo", "nothing"),)),
)
"""What is open for Figures 3 to 8."""
BETWEEN_MS = (25, 50, 75, 125, 150, 175, 200)
"""Other delays of R1-R2."""
ON_TWO_PATHS = (
    *(Choice(f"R1-R2 has {delay} ms", (("link[1].delay", f"{delay} ms"),)) for delay in BETWEEN_MS),
    Choice("R1-R2 has 1 Mb/s", (("link[1].rate", "1 Mbps"),)),
    Choice("R1-R2 has 5 Mb/s", (("link[1].rate", "5 Mbps"),)),
    Choice("a path is drawn for each packet", (("link[1].elements[0].choice", "random"),)),
    Choice("queues of 20 packets at R1", (("link[1].queue.limit", "20 packets"),)),
    Choice("ACKs return over R3", (("link[1].back.delay", "250 ms"), ("link[1].back.rate", "1 Mbps"))),
    *IN_COMMON,
)
"""What is open for Figures 10 and 11 and Table 2."""

ALPHAS, BETAS, LAMBDAS = (0.3, 0.4), (0.2, 0.4), (0.2, 0.4)
"""The ends of §III-B's ranges."""
SENSITIVE_FS = (1.0, 1.8, 2.6, 3.8)


def tuned() -> list[Method]:
    """AVG-DEV with every combination of the ends of alpha's, beta's and lambda's ranges, and as in Table 1."""
    names = [f"detect.threshold.{name}" for name in ("alpha", "beta", "lambda")]
    each = product(*([f"{x:g}" for x in values] for values in (ALPHAS, BETAS, LAMBDAS)))
    return [AVG_DEV, *(Method(AVG_DEV.label, AVG_DEV.stack, tuple(zip(names, v, strict=True))) for v in each)]


def singles(fs: tuple[float, ...] = FS) -> list[Single]:
    """The places of Figures 3 to 8."""
    return [Single(f, *figure) for figure in FIGURES.values() for f in fs]


def splits(loss: float, shares: tuple[int, ...] = SHARES) -> list[Split]:
    """The places of Figure 10 or 11."""
    return [Split(share, loss) for share in shares]
