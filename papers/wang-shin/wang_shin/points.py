"""The senders and the points of Wang & Shin's experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.runs.trial import Trial, Value

KEY = "wang-shin"
MSS = 1000
"""Bytes of a packet (§3.1)."""
Settings = tuple[tuple[str, str], ...]

# What ns-2's senders do and a present-day one does not (docs/decisions/0006).
COUNTING: Settings = (("dup_rule", "ns2"),)
PARTIAL_ACKS: Settings = (
    *COUNTING,
    ("recovery.full_ack", "keep"),
    ("recovery.grow_on_exit", "true"),
    ("recovery.burst_segs", "2"),
)


@dataclass(frozen=True)
class Scheme:
    """A sender of the paper's, or a variant."""

    name: str
    """As the paper calls it."""
    stack: str
    set: Settings = ()


TAHOE = Scheme("Tahoe", "tahoe", COUNTING)
NEW_RENO = Scheme("New-Reno", "newreno-slow-but-steady", PARTIAL_ACKS)
SACK = Scheme("SACK", "sack-ff96")
RR = Scheme("RR", "robust", COUNTING)
RENO = Scheme("Reno", "reno", COUNTING)
COMPARED = (TAHOE, NEW_RENO, SACK, RR)
"""§3."""
HOE = Scheme("New-Reno in Hoe's form", "newreno-slow-but-steady", (("recovery", "hoe"), *COUNTING))
RFC_6582 = Scheme("New-Reno by RFC 6582", "newreno", COUNTING)
LETTER: Settings = (("recovery.count", "act"), ("recovery.order", "extra"), ("recovery.exit_ssthresh", "min"))
VARIANTS: dict[str, Settings] = {
    "it follows the paper to the letter (count = act, order = extra, exit_ssthresh = min)": LETTER,
    "its threshold is not above the window at the exit (exit_ssthresh = min)": (("recovery.exit_ssthresh", "min"),),
    "actnum follows what was sent (count = sent)": (("recovery.count", "sent"),),
    "the additional segment leaves before the retransmission (order = extra)": (("recovery.order", "extra"),),
    "a further loss extends recovery to the start of the last round (extend = last-round)": (
        ("recovery.extend", "last-round"),
    ),
}
"""Robust Recovery read otherwise: what is different, and its parameters."""


def variant(settings: Settings) -> Scheme:
    """Robust Recovery with other parameters."""
    return Scheme("RR", RR.stack, (*RR.set, *settings))


TO_THE_LETTER = variant(LETTER)

PEER_WINDOWS = (30, 1000)
"""Packets: Table 3's, and one that never limits."""
LOSSES = (3, 6)
"""§3.2: packets lost out of one window."""
HIT = tuple(range(12, 29))
"""Packets outstanding when they are lost: from just over the half of Table 3's pipe to all of it and the buffer."""
GAPS = (1, 2)
"""The lost packets are neighbours, or every other."""


def forced(scheme: Scheme, hit: int, lost: Sequence[int], window: int) -> Trial:
    """Figure 5: the ``lost`` packets, counted in the window of ``hit`` after the first window, do not arrive."""
    flow = "dumbbell.flow[0]"
    changes: list[tuple[str, Value]] = [
        ("dumbbell.bottleneck.elements[0].drop", tuple(hit + n for n in lost)),
        (f"{flow}.window", f"{window} packets"),
        (f"{flow}.set.startup.initial_window_segs", hit),
        (f"{flow}.set.startup.ssthresh_segs", hit),
    ]
    return Trial("scenario-losses.toml", tuple(changes), scheme.stack, scheme.set)


def patterns(losses: int) -> list[tuple[int, tuple[int, ...]]]:
    """The windows that are hit, and which of their packets are lost; the last ones arrive, and tell of it."""
    return [(hit, tuple(range(0, losses * gap, gap))) for hit in HIT for gap in GAPS if losses * gap < hit]


def droptail(scheme: Scheme) -> Trial:
    """Table 3: three flows over a queue of 8 packets."""
    return Trial("scenario-droptail.toml", (), scheme.stack, scheme.set)


def red(scheme: Scheme, *changes: tuple[str, Value]) -> Trial:
    """Figure 6: ten flows over RED."""
    return Trial("scenario-red.toml", changes, scheme.stack, scheme.set)


PS = (0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
"""Figure 7's loss rates; the axis is lost."""
CLAIMED_PS = (0.001, 0.003, 0.01, 0.03, 0.1)
WARM_S = 10
"""§4 ignores the start-up phase."""
RTT_S = 0.2
"""§4; without transmission and queueing."""
TABLE_3: tuple[tuple[str, Value], ...] = (
    ("dumbbell.access.rate", "10 Mbps"),
    ("dumbbell.bottleneck.rate", "0.8 Mbps"),
    ("dumbbell.bottleneck.queue.limit", "8 packets"),
    ("dumbbell.flow[0].window", "30 packets"),
)
NETWORKS: dict[str, tuple[tuple[str, Value], ...]] = {"open": (), "Table 3": TABLE_3}


def model(scheme: Scheme, p: float, network: str = "open", seconds: int | None = None) -> Trial:
    """Figure 7: one flow under loss; with ``seconds`` the beginning of the same run."""
    changes = [*NETWORKS[network], ("dumbbell.bottleneck.elements[0].p", p)]
    if seconds is not None:
        changes.append(("run.duration", f"{seconds} s"))
    return Trial("scenario-model.toml", tuple(changes), scheme.stack, scheme.set)


CASES: dict[str, tuple[Scheme, Scheme]] = {"I": (RENO, RENO), "II": (RENO, RR), "III": (RR, RR), "IV": (RR, RENO)}
"""Table 5: the target, and those that it is among."""


Rules = tuple[tuple[str, Value], ...]
"""Values of a scenario by path."""
OTHERWISE: dict[str, Rules] = {
    "clocks tick every 10 ms and no timeout is below 1 s": tuple(
        (f"dumbbell.flow[{at}].set.rto.{key}", value)
        for at in (0, 1)
        for key, value in (("tick", "10 ms"), ("min", "1 s"), ("initial", "3 s"), ("max", "60 s"))
    ),
    "packets that come at the same instant go in the order of the file (no delay of ACKs)": (
        ("dumbbell.bottleneck.back.elements", ()),
    ),
    "the window of every flow is open (1000 packets)": tuple(
        (f"dumbbell.flow[{at}].window", "1000 packets") for at in (0, 1)
    ),
}
"""Table 5 set up otherwise: what is different."""


def fairness(target: Scheme, background: Scheme, seconds: int | None = None, rules: Rules = ()) -> Trial:
    """Table 5: a transfer among nineteen flows; with ``seconds`` the beginning of the same run."""
    changes: list[tuple[str, Value]] = [*rules]
    for at, scheme in enumerate((background, target)):
        changes.append((f"dumbbell.flow[{at}].stack", scheme.stack))
        changes += [(f"dumbbell.flow[{at}].set.{path}", value) for path, value in scheme.set]
    if seconds is not None:
        changes.append(("run.duration", f"{seconds} s"))
    return Trial("scenario-fairness.toml", tuple(changes))
