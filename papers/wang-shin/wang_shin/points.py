"""The senders and the points of Wang & Shin's experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.runs.trial import Trial, Value

KEY = "wang-shin"
MSS = 1000
"""Packet size in bytes (§3.1)."""
Settings = tuple[tuple[str, str], ...]

# Behaviour of ns-2's senders that current senders do not have (docs/decisions/0033).
COUNTING: Settings = (("dup_rule", "ns2"),)
PARTIAL_ACKS: Settings = (
    *COUNTING,
    ("recovery.full_ack", "keep"),
    ("recovery.grow_on_exit", "true"),
    ("recovery.burst_segs", "2"),
)


@dataclass(frozen=True)
class Scheme:
    """A sender of the paper, or a variant."""

    name: str
    """The paper's name for it."""
    stack: str
    set: Settings = ()


TAHOE = Scheme("Tahoe", "tahoe", COUNTING)
NEW_RENO = Scheme("New-Reno", "newreno-slow-but-steady", (("recovery", "hoe"), *COUNTING))
"""§1: "one new data packet is sent out upon receipt of two duplicate ACKs" """
SACK = Scheme("SACK", "sack-ff96")
PHASES: Settings = (("recovery.exit_ssthresh", "min"), ("recovery.cap", "ignored"))
"""§2.2.3: congestion avoidance follows immediately; actnum, and no window, limits a recovery."""
RR = Scheme("RR", "robust", (*COUNTING, *PHASES))
RENO = Scheme("Reno", "reno", COUNTING)
COMPARED = (TAHOE, NEW_RENO, SACK, RR)
"""The senders compared in §3."""
TO_THE_LETTER = Scheme("RR", RR.stack, (*RR.set, ("recovery.count", "act"), ("recovery.order", "extra")))
"""§2.2.3, taken literally: ndup is compared with actnum."""

OWN_LIMIT: Settings = (("limits.cwnd_cap_segs", "30"), ("congestion.only_if_limited", "true"))
"""Table 3's "maximum window size" as the sender's own limit on ``cwnd`` (docs/decisions/0180)."""
OWN_START: Settings = (("startup.ssthresh_segs", "30"),)
OPEN = "1000 packets"
"""A window that never limits the sender."""


def own_limit(scheme: Scheme, flows: int) -> tuple[tuple[tuple[str, Value], ...], Settings]:
    """Settings that apply Table 3's window to the sender instead of the peer, for Robust Recovery only.

    Args:
        scheme: the sender of all flows.
        flows: the number of tables of flows in the scenario.

    Returns:
        Changes of the scenario, and parameters of the sender.
    """
    if scheme.stack != RR.stack:
        return (), ()
    return tuple((f"dumbbell.flow[{at}].window", OPEN) for at in range(flows)), (*OWN_LIMIT, *OWN_START)


PEER_WINDOWS = (30, 1000)
"""In packets: Table 3's window, and one that never limits."""
LOSSES = (3, 6)
"""§3.2: numbers of packets lost from one window."""
HIT = tuple(range(12, 29))
"""Packets outstanding at the losses: from just over half of Table 3's pipe to the whole pipe and the buffer."""
GAPS = (1, 2)
"""Distances of lost packets: adjacent, or every other packet."""


def forced(scheme: Scheme, hit: int, lost: Sequence[int], window: int) -> Trial:
    """Figure 5: the ``lost`` packets of the window of ``hit`` packets after the first window are dropped."""
    flow = "dumbbell.flow[0]"
    own = scheme.stack == RR.stack and window == PEER_WINDOWS[0]
    changes: list[tuple[str, Value]] = [
        ("dumbbell.bottleneck.elements[0].drop", tuple(hit + n for n in lost)),
        (f"{flow}.window", OPEN if own else f"{window} packets"),
        (f"{flow}.set.startup.initial_window_segs", hit),
        (f"{flow}.set.startup.ssthresh_segs", hit),
    ]
    return Trial("scenario-losses.toml", tuple(changes), scheme.stack, (*scheme.set, *(OWN_LIMIT if own else ())))


def patterns(losses: int) -> list[tuple[int, tuple[int, ...]]]:
    """The window sizes, and the packets lost from each; the last packets arrive and reveal the losses."""
    return [(hit, tuple(range(0, losses * gap, gap))) for hit in HIT for gap in GAPS if losses * gap < hit]


def droptail(scheme: Scheme) -> Trial:
    """Table 3: three flows over a queue of 8 packets."""
    changes, own = own_limit(scheme, 3)
    return Trial("scenario-droptail.toml", changes, scheme.stack, (*scheme.set, *own))


def red(scheme: Scheme) -> Trial:
    """Figure 6: ten flows over RED."""
    changes, own = own_limit(scheme, 2)
    return Trial("scenario-red.toml", changes, scheme.stack, (*scheme.set, *own))


PS = (0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
"""Figure 7's loss rates; the values on the axis are lost."""
CLAIMED_PS = (0.001, 0.003, 0.01, 0.03, 0.1)
WARM_S = 10
"""§4 ignores the start-up phase."""
RTT_S = 0.2
"""§4, without transmission and queueing, in seconds."""
TABLE_3: tuple[tuple[str, Value], ...] = (
    ("dumbbell.access.rate", "10 Mbps"),
    ("dumbbell.bottleneck.rate", "0.8 Mbps"),
    ("dumbbell.bottleneck.queue.limit", "8 packets"),
    ("dumbbell.flow[0].window", "30 packets"),
)
NETWORKS: dict[str, tuple[tuple[str, Value], ...]] = {"open": (), "Table 3": TABLE_3}


def model(scheme: Scheme, p: float, network: str = "open", seconds: int | None = None) -> Trial:
    """Figure 7: one flow under loss; with ``seconds``, only the start of the same run."""
    limited, own = own_limit(scheme, 1) if network != "open" else ((), ())
    changes = [*NETWORKS[network], *limited, ("dumbbell.bottleneck.elements[0].p", p)]
    if seconds is not None:
        changes.append(("run.duration", f"{seconds} s"))
    return Trial("scenario-model.toml", tuple(changes), scheme.stack, (*scheme.set, *own))


CASES: dict[str, tuple[Scheme, Scheme]] = {"I": (RENO, RENO), "II": (RENO, RR), "III": (RR, RR), "IV": (RR, RENO)}
"""Table 5: the sender of the target, and the sender of the other flows."""


def fairness(target: Scheme, background: Scheme, seconds: int | None = None) -> Trial:
    """Table 5: a transfer among nineteen other flows; with ``seconds``, only the start of the same run."""
    changes: list[tuple[str, Value]] = []
    for at, scheme in enumerate((background, target)):
        changes.append((f"dumbbell.flow[{at}].stack", scheme.stack))
        limited, own = own_limit(scheme, 1)
        changes += [(f"dumbbell.flow[{at}].window", window) for _, window in limited]
        changes += [(f"dumbbell.flow[{at}].set.{path}", _value(value)) for path, value in (*scheme.set, *own)]
    if seconds is not None:
        changes.append(("run.duration", f"{seconds} s"))
    return Trial("scenario-fairness.toml", tuple(changes))


def _value(said: str) -> Value:
    """Convert a parameter to a value of the scenario."""
    return {"true": True}.get(said, int(said) if said.isdigit() else said)
