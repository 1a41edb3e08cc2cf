"""Figures 3 and 4: throughput and fast recoveries against RI, for several slightly different round trips."""

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
"""The scenarios of NewReno and Cubic."""
RIS = tuple(range(4, 101))
"""§III, Table I: 4 to 100."""
LARGEST = RIS[-1]
BELOW = tuple(ri for ri in RIS if ri < LARGEST)
"""The RI for which the paper reports fast recoveries."""
GRID = (4, 6, 8, 10, 15, 20, 25, 30, 35, 40, 50, 60, 70, 80, 90, 95, 100)
"""The values on the axes are lost; text and figures name 4, 8, 30, 80 and 100."""
NONE = 0
"""Used as RI: no reordering."""
ONE = Effort(1)
"""Runs have no randomness, so one run per point suffices."""
ELEMENTS = "link[1].elements"
MOVER = f"{ELEMENTS}[0]"
DELAY = "link[1].delay"
DELAY_US = 5000
"""§III: one-way delay of the bottleneck."""
STEP_US = 100
"""Step of the bottleneck's delay; the round trip changes by twice this. Transmission of a packet takes 1200 us."""
SYN = 1
"""The SYN, which is counted among the arriving packets."""
PACKET_BYTES = 1500
"""§III."""


@dataclass(frozen=True)
class Sender:
    """One of the paper's two senders."""

    label: str
    file: str
    """Its scenario."""
    set: Set = ()
    """Parameters in addition to the scenario's ``[flow.set]``."""


NEWRENO = Sender("NewReno", FILES[0])
CUBIC = Sender("Cubic", FILES[1])
SENDERS = (NEWRENO, CUBIC)


def delays(n: int) -> list[str]:
    """``n`` delays of the bottleneck: the paper's first, then values around it."""
    offsets = [(k + 1) // 2 * STEP_US * (1 if k % 2 else -1) for k in range(n)]
    return [f"{DELAY_US + offset} us" for offset in offsets]


def point(sender: Sender, ri: int, delay: str | None = None, changes: Changes = ()) -> Trial:
    """One run of a sender.

    Args:
        sender: the sender.
        ri: the RI in packets, or NONE.
        delay: delay of the bottleneck. Default: the paper's.
        changes: further changes to the scenario, applied last.
    """
    delayed: Changes = ((DELAY, delay),) if delay is not None else ()
    moved: Changes = ((ELEMENTS, ()),) if ri == NONE else ((f"{MOVER}.interval", ri),)
    return Trial(sender.file, (*moved, *delayed, *changes), None, sender.set)


@dataclass(frozen=True)
class Family:
    """A sender's runs over several RI, each with every delay."""

    sender: Sender
    ris: Sequence[int]
    delays: Sequence[str]
    changes: Changes = ()

    @property
    def points(self) -> list[list[Trial]]:
        """A row for each RI, the last without reordering; a column for each delay."""
        ris = (*self.ris, NONE)
        return [[point(self.sender, ri, delay, self.changes) for delay in self.delays] for ri in ris]

    @property
    def trials(self) -> list[Trial]:
        """All trials."""
        return [trial for line in self.points for trial in line]


@dataclass(frozen=True)
class Curve:
    """The results of a family: arrays with a row for each RI and a column for each delay."""

    family: Family
    payload: Array
    """Acknowledged payload, in bytes."""
    without: Array
    """The same without reordering, one value for each delay."""
    normalised: Array
    """Payload as a share of the payload without reordering over the same round trip."""
    arriving: Array
    """The same for all packets that reach the receiver, including needless retransmissions."""
    recoveries: Array
    """Fast recoveries in 10 s."""
    timeouts: int
    """The total over all runs."""

    @classmethod
    def of(cls, family: Family, ran: dict[Trial, Ran]) -> Curve:
        """Arrange the runs in arrays."""
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
        """The row of this RI."""
        return list(self.family.ris).index(ri)

    def lines(self, ris: Sequence[int]) -> list[int]:
        """The rows of these RI."""
        return [self.at(ri) for ri in ris]


def arrived(run: dict[str, Any]) -> float:
    """Packets that reached the receiver, every copy counted, and a SYN if there was one."""
    flow = run["flows"][0]["reordering"]
    return float(flow["packets"] + flow["duplicates"])


def _array(table: Sequence[Sequence[dict[str, Any]]], number: Callable[[dict[str, Any]], float]) -> Array:
    return np.array([[float(number(run)) for run in line] for line in table])


def run(lab: Laboratory, what: str, folder: Path, families: Sequence[Family]) -> tuple[list[Curve], list[Ran]]:
    """Run these families; return their curves, and all runs once each.

    Raises:
        OSError, ScenarioError, ValueError: see ``trial.run``.
    """
    ran = trial.run(lab, what, folder, [one for family in families for one in family.trials], ONE)
    return [Curve.of(family, ran) for family in families], list(ran.values())
