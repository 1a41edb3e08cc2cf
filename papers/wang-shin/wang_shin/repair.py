"""One sender's loss repair, extracted from the trace of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from .points import MSS

Row = dict[str, Any]
COLUMNS = ("time_ns", "event", "seq", "len", "ack", "sends", "phase_to", "cwnd", "dup_run")


@dataclass
class Round:
    """The period from one retransmission to the ACK for it."""

    dups: int = 0
    """ndup: duplicate ACKs."""
    new: int = 0
    """New segments sent between this retransmission and the next."""


@dataclass
class Repair:
    """One recovery of a sender, starting with its fast retransmit."""

    begun_s: float
    una: int
    """Offset acknowledged at the start."""
    recover: int
    """First unsent offset at the start."""
    ended_s: float | None = None
    """When ``recover`` was acknowledged; ``None`` if the run ended before that."""
    acked: int = 0
    """Offset acknowledged at that time."""
    left_s: float | None = None
    """When the sender left Recovery; Robust Recovery may continue past ``recover``."""
    left_ack: int = 0
    """Offset acknowledged at that time."""
    left_to: str = ""
    """The phase after it: ``open``, or ``loss`` after a timeout."""
    exit_cwnd: float = 0.0
    """The window at that time, in segments."""
    released: int = 0
    """Segments sent at that instant."""
    rounds: list[Round] = field(default_factory=list)
    """The rounds of Recovery."""

    @property
    def kbps(self) -> float | None:
        """The effective throughput in kb/s (§3.2): data acknowledged between fast retransmit and full ACK."""
        if self.ended_s is None:
            return None
        return 8 * (self.acked - self.una) / 1000 / (self.ended_s - self.begun_s)


def rows(events: pl.DataFrame, flow: int = 0) -> Iterator[Row]:
    """Yield the events at a flow's sender, in order."""
    here = events.filter((pl.col("flow") == flow) & (pl.col("side") == "sender"))
    kinds = ["sent", "acked", "phase", "window"]
    return here.filter(pl.col("event").is_in(kinds)).select(COLUMNS).iter_rows(named=True)


def repairs(events: pl.DataFrame, flow: int = 0) -> list[Repair]:
    """Every recovery of a flow that started with a fast retransmit."""
    found: list[Repair] = []
    now: Repair | None = None
    una, sent, cwnd, inside = 1, 1, 0.0, False
    for row in rows(events, flow):
        event, at = row["event"], row["time_ns"] / 1e9
        if event == "window":
            cwnd = row["cwnd"]
        elif event == "phase" and row["phase_to"] == "recovery":
            now, inside = Repair(at, una, sent), True
            found.append(now)
        elif event == "phase" and inside and now is not None:
            now.left_s, now.left_to, now.exit_cwnd, inside = at, row["phase_to"], cwnd / MSS, False
        elif event == "sent" and row["len"]:
            sent = max(sent, row["seq"] + row["len"])
            _sent(now, row, at, inside=inside)
        elif event == "acked":
            _acked(now, row, una, at, inside=inside)
            una = row["ack"]
            if now is not None and now.left_s == at:
                now.left_ack = una
    return found


def _sent(now: Repair | None, row: Row, at: float, *, inside: bool) -> None:
    if now is None:
        return
    if now.left_s == at:
        now.released += 1
    elif inside and row["sends"] > 1:
        now.rounds.append(Round())
    elif inside and now.rounds:
        now.rounds[-1].new += 1


def _acked(now: Repair | None, row: Row, una: int, at: float, *, inside: bool) -> None:
    if now is None:
        return
    if row["ack"] > una:
        if now.ended_s is None and row["ack"] >= now.recover:
            now.ended_s, now.acked = at, row["ack"]
    elif inside and now.rounds:
        now.rounds[-1].dups += 1
