"""Figure 6: the events of the first of ten flows over RED, run by run."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from ackclock.papers.paper import Work

from .points import MSS, Scheme, red
from .repair import Repair, repairs


@dataclass(frozen=True)
class FirstRecovery:
    """The events that §3.3 describes for Figure 6(d), in one run; ``None`` for an event that does not occur."""

    cwnd: float | None
    """The window at the first fast retransmit, in segments; Robust Recovery does not cut it there."""
    cwnd_at_drop: float | None
    """The window when the flow's first packet is dropped."""
    further_s: float | None
    """When the first packet sent during the first recovery is dropped."""
    resent_s: float | None
    """When that packet is retransmitted."""
    exit_s: float | None
    exit_packet: int | None
    """End of the first recovery, and the packet acknowledged at that time, counted from 0."""
    loss_s: float | None
    """The first drop after it."""
    second_exit_s: float | None
    second_exit_packet: int | None
    halved: tuple[bool, ...]
    """For each round trip of the first recovery except the first: whether it has at most half the new packets of the
    previous one, rounded up."""
    last_new: int | None
    """New packets in the last round trip of the first recovery."""
    timeouts: int


def first_recovery(events: pl.DataFrame) -> FirstRecovery:
    """Extract the first recovery of the first flow."""
    mine = events.filter(pl.col("flow") == 0)
    found = repairs(events)
    dropped = mine.filter((pl.col("event") == "dropped") & (pl.col("side") == "receiver"))
    drops = [(row["time_ns"] / 1e9, row["seq"]) for row in dropped.iter_rows(named=True)]
    first = found[0] if found else None
    exits = [r for r in found if r.left_to == "open" and r.left_s is not None]
    regular = exits[0] if first is not None and first.left_to == "open" else None
    further = _further(first, drops)
    second = next((r for r in found if regular and r.begun_s > (regular.left_s or 0)), None)
    rounds = [one.new for one in first.rounds] if first and regular else []
    return FirstRecovery(
        cwnd=_window(mine, first.begun_s) if first else None,
        cwnd_at_drop=_window(mine, drops[0][0]) if drops else None,
        further_s=further[0] if further else None,
        resent_s=_resent(mine, *further) if further else None,
        exit_s=regular.left_s if regular else None,
        exit_packet=regular.left_ack // MSS - 1 if regular else None,
        loss_s=next((at for at, _ in drops if regular and at > (regular.left_s or 0)), None),
        second_exit_s=second.left_s if second and second.left_to == "open" else None,
        second_exit_packet=second.left_ack // MSS - 1 if second and second.left_to == "open" else None,
        halved=tuple(b <= math.ceil(a / 2) for a, b in itertools.pairwise(rounds)),
        last_new=rounds[-1] if len(rounds) > 1 else None,
        timeouts=mine.filter(pl.col("event") == "timeout").height,
    )


def _further(first: Repair | None, drops: Iterable[tuple[float, int]]) -> tuple[float, int] | None:
    if first is None:
        return None
    ends = first.left_s if first.left_s is not None else math.inf
    return next(((at, seq) for at, seq in drops if first.begun_s < at < ends and seq >= first.recover), None)


def _resent(mine: pl.DataFrame, lost_s: float, seq: int) -> float | None:
    later = mine.filter(
        (pl.col("event") == "sent")
        & (pl.col("side") == "sender")
        & (pl.col("seq") == seq)
        & (pl.col("time_ns") > round(lost_s * 1e9))
    )
    return later["time_ns"][0] / 1e9 if later.height else None


def _window(mine: pl.DataFrame, at: float) -> float:
    before = mine.filter((pl.col("event") == "window") & (pl.col("time_ns") <= round(at * 1e9)))
    return float(before["cwnd"][-1]) / MSS


def first_recoveries(work: Work, scheme: Scheme) -> list[FirstRecovery]:
    """Return the first recovery for each seed, from 1.

    Raises:
        OSError, ValueError: the scenario is missing or invalid.
    """
    return [first_recovery(work.events(red(scheme), seed)) for seed in range(1, work.effort.seeds + 1)]


def there(values: Sequence[float | None]) -> list[float]:
    """The values that are known."""
    return [value for value in values if value is not None]


def median(values: Sequence[float | None]) -> float:
    """The median of the known values; NaN without any."""
    return statistics.median(there(values)) if there(values) else math.nan
