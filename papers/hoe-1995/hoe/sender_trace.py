"""The events of a run in the thesis's terms: segments by number, as seen by the sender (§4.3)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

SEGMENT = 1024
"""§4.1.4, in bytes."""
NAN = math.nan


@dataclass(frozen=True)
class Send:
    """A transmitted segment."""

    at: float
    """Time in seconds."""
    segment: int
    nth: int
    """1 for the first transmission."""


@dataclass(frozen=True)
class Ack:
    """An ACK received by the sender."""

    at: float
    """Time in seconds."""
    segment: int
    """All segments up to this one have arrived."""
    duplicate: bool
    newly: int
    """Segments that it newly acknowledges."""


@dataclass(frozen=True)
class Window:
    """The congestion window after it changed, in bytes."""

    at: float
    """Time in seconds."""
    cwnd: float
    """The window with the inflation of fast recovery; one segment in each deep dip (Figure 5.2)."""
    bare: float
    """The window without the inflation."""
    ssthresh: float


@dataclass(frozen=True)
class SenderTrace:
    """The events of a run."""

    sends: Sequence[Send]
    arrivals: Sequence[Send]
    """Arrivals of segments at the receiver; ``nth`` is 0."""
    acks: Sequence[Ack]
    drops: Sequence[Send]
    """Dropped segments; ``nth`` is 0."""
    timeouts: Sequence[float]
    fast_retransmits: Sequence[float]
    windows: Sequence[Window]
    """The first entry is the window before any change."""
    begins: float
    """Time of the first data, in seconds."""
    round_trip: float
    """Time from the first data to their ACK, in seconds."""

    @classmethod
    def of(cls, events: pl.DataFrame) -> SenderTrace:
        """Build it from a run's trace."""
        data = pl.col("len") > 0
        here = events.filter(pl.col("side") == "sender")
        sends = [Send(at, n, nth) for at, n, nth in _rows(here.filter((pl.col("event") == "sent") & data), "sends")]
        lost = events.filter((pl.col("event") == "dropped") & data)
        got = events.filter((pl.col("event") == "delivered") & (pl.col("side") == "receiver") & data)
        acks = _acks(here.filter(pl.col("event") == "acked"))
        recovery = (pl.col("event") == "phase") & (pl.col("phase_to") == "recovery")
        begins = sends[0].at
        return cls(
            sends,
            [Send(at, n, 0) for at, n, _ in _rows(got)],
            acks,
            [Send(at, n, 0) for at, n, _ in _rows(lost)],
            _times(here.filter(pl.col("event") == "timeout")),
            _times(here.filter(recovery)),
            _windows(here),
            begins,
            next(a.at for a in acks if a.newly) - begins,
        )

    def after(self, at: float) -> Iterable[Ack]:
        """ACKs after a time."""
        return (a for a in self.acks if a.at > at)

    def advance(self, at: float) -> Ack | None:
        """The first ACK of new data after a time."""
        return next((a for a in self.after(at) if a.newly), None)

    def cwnd(self, at: float) -> Window:
        """The window just before a time."""
        return [w for w in self.windows if w.at < at][-1]

    def sent(self, start: float, stop: float) -> list[Send]:
        """Segments sent from ``start`` until before ``stop``."""
        return [s for s in self.sends if start <= s.at < stop]

    def alone(self, drop: Send, within: float) -> bool:
        """Whether no other segment was lost within this time of the drop."""
        return sum(abs(other.at - drop.at) < within for other in self.drops) == 1


def first(values: Sequence[float], n: int) -> tuple[float, ...]:
    """The first ``n`` values; NaN if there are fewer."""
    return (*values[:n], *[NAN] * (n - len(values)))


def at(found: Send | Ack | Window | None) -> float:
    """The time of the event; NaN if it did not occur."""
    return NAN if found is None else found.at


def _rows(rows: pl.DataFrame, more: str = "len") -> Iterable[tuple[float, int, int]]:
    # Segment numbers as in the thesis (§4.3): the highest sequence number divided by the size.
    for time, seq, size, value in rows.select("time_ns", "seq", "len", extra=pl.col(more)).iter_rows():
        yield time / 1e9, round((seq + size - 1) / SEGMENT), value


def _times(rows: pl.DataFrame) -> list[float]:
    return [time / 1e9 for time in rows["time_ns"]]


def _acks(rows: pl.DataFrame) -> list[Ack]:
    listed, before = [], 0
    for time, ack, run in rows.select("time_ns", "ack", "dup_run").iter_rows():
        segment = (ack - 1) // SEGMENT
        listed.append(Ack(time / 1e9, segment, run > 0 and segment == before, segment - before))
        before = segment
    return listed


def _windows(here: pl.DataFrame) -> list[Window]:
    left = (pl.col("event") == "phase") & (pl.col("phase_from") == "recovery")
    changes = here.filter(pl.col("event").is_in(["window", "inflation"]) | left)
    first_one = changes.filter(pl.col("event") == "window").row(0, named=True)
    bare, ssthresh, more = first_one["cwnd_from"], first_one["ssthresh_from"], 0.0
    listed = [Window(0.0, bare, bare, ssthresh)]
    for time, cwnd, threshold, inflation in changes.select("time_ns", "cwnd", "ssthresh", "inflation").iter_rows():
        if cwnd is None:
            # After a recovery there is no inflation; at a timeout no separate event says so.
            more = inflation or 0.0
        else:
            bare, ssthresh = cwnd, threshold
        listed.append(Window(time / 1e9, bare + more, bare, ssthresh))
    return listed
