"""Figures 3 and 4: throughput and fast recoveries against RI, for several round trips that hardly differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ackclock.runs import trial
from ackclock.runs.laboratory import Laboratory
from ackclock.runs.trial import Effort, Ran, Trial, Value

Changes = tuple[tuple[str, Value], ...]
Set = tuple[tuple[str, str], ...]
Array = NDArray[np.float64]

KEY = "fukuda-2018"
FILES = ("scenario.toml", "scenario-cubic.toml")
"""NewReno's and Cubic's."""
RIS = tuple(range(4, 101))
"""§III, Table I: 4 to 100."""
LARGEST = RIS[-1]
BELOW = tuple(ri for ri in RIS if ri < LARGEST)
"""Those for which the paper reports fast recoveries."""
GRID = (4, 6, 8, 10, 15, 20, 25, 30, 35, 40, 50, 60, 70, 80, 90, 95, 100)
"""The values on the axes are lost; text and figures name 4, 8, 30, 80, 100."""
NONE = 0
"""As RI: no reordering."""
ONE = Effort(1)
"""Nothing in a run is drawn, so a point is one run."""
ELEMENTS = "link[1].elements"
MOVER = f"{ELEMENTS}[0]"
DELAY = "link[1].delay"
DELAY_US = 5000
"""§III: of the bottleneck, one way."""
STEP_US = 100
"""By so much the bottleneck's delay differs, and a round trip by twice that; a packet's transmission takes 1200."""
SYN = 1
"""Counted among the packets that arrive."""
PACKET_BYTES = 1500
"""§III."""


@dataclass(frozen=True)
class Sender:
    """One of the paper's two."""

    label: str
    file: str
    """Its scenario."""
    set: Set = ()
    """What it has beyond the scenario's ``[flow.set]``."""


NEWRENO = Sender("NewReno", FILES[0])
CUBIC = Sender("Cubic", FILES[1])
SENDERS = (NEWRENO, CUBIC)


def delays(n: int) -> list[str]:
    """So many delays of the bottleneck, the paper's first, then around it."""
    offsets = [(k + 1) // 2 * STEP_US * (1 if k % 2 else -1) for k in range(n)]
    return [f"{DELAY_US + offset} us" for offset in offsets]


def point(sender: Sender, ri: int, delay: str | None = None, changes: Changes = ()) -> Trial:
    """One run of a sender.

    Args:
        sender: which.
        ri: packets, or NONE.
        delay: of the bottleneck; None: the paper's.
        changes: other values of the scenario, after these.
    """
    delayed: Changes = ((DELAY, delay),) if delay is not None else ()
    moved: Changes = ((ELEMENTS, ()),) if ri == NONE else ((f"{MOVER}.interval", ri),)
    return Trial(sender.file, (*moved, *delayed, *changes), None, sender.set)


@dataclass(frozen=True)
class Family:
    """A sender's runs over some RI, each with every delay."""

    sender: Sender
    ris: Sequence[int]
    delays: Sequence[str]
    changes: Changes = ()

    @property
    def points(self) -> list[list[Trial]]:
        """A line for each RI, the last without reordering; a column for each delay."""
        ris = (*self.ris, NONE)
        return [[point(self.sender, ri, delay, self.changes) for delay in self.delays] for ri in ris]

    @property
    def trials(self) -> list[Trial]:
        """All of them."""
        return [trial for line in self.points for trial in line]


@dataclass(frozen=True)
class Curve:
    """What a family came to: arrays with a line for each RI and a column for each delay."""

    family: Family
    payload: Array
    """Acknowledged payload, bytes."""
    without: Array
    """The same without reordering, one value for each delay."""
    normalised: Array
    """It as a share of that without reordering over the same round trip."""
    arriving: Array
    """The same of all packets that reach the receiver, those sent needlessly included."""
    recoveries: Array
    """Fast recoveries in 10 s."""
    timeouts: int
    """Of all runs together."""

    @classmethod
    def of(cls, family: Family, ran: dict[Trial, Ran]) -> Curve:
        """Put the runs in order."""
        table = [[ran[trial].runs[0] for trial in line] for line in family.points]
        payload = _array(table, lambda run: run["flows"][0]["acked_bytes"])
        packets = _array(table, arrived) - SYN
        recoveries = _array(table[:-1], lambda run: run["flows"][0]["fast_recoveries"])
        timeouts = sum(run["flows"][0]["timeouts"] for line in table for run in line)
        return cls(
            family,
            payload[:-1],
            payload[-1],
            payload[:-1] / payload[-1],
            packets[:-1] / packets[-1],
            recoveries,
            timeouts,
        )

    def at(self, ri: int) -> int:
        """The line of this RI."""
        return list(self.family.ris).index(ri)

    def lines(self, ris: Sequence[int]) -> list[int]:
        """The lines of these."""
        return [self.at(ri) for ri in ris]


def arrived(run: dict[str, Any]) -> float:
    """Packets that reached the receiver, every copy counted, and a SYN if there was one."""
    flow = run["flows"][0]["reordering"]
    return float(flow["packets"] + flow["duplicates"])


def _array(table: Sequence[Sequence[dict[str, Any]]], number: Callable[[dict[str, Any]], float]) -> Array:
    return np.array([[float(number(run)) for run in line] for line in table])


def run(lab: Laboratory, what: str, folder: Path, families: Sequence[Family]) -> tuple[list[Curve], list[Ran]]:
    """Run these families; answers their curves, and all runs once each.

    Raises:
        OSError, ScenarioError, ValueError: see ``trial.run``.
    """
    ran = trial.run(lab, what, folder, [one for family in families for one in family.trials], ONE)
    return [Curve.of(family, ran) for family in families], list(ran.values())
