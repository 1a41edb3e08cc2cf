"""Figures 5 to 11: the congestion window over time, and the text's statements about it."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from ackclock.papers.paper import Work
from ackclock.runs.trial import Trial

SEGMENT_BYTES = 1448
"""The segment size of the scenario."""
NS = 1e9


@dataclass(frozen=True)
class WindowTrace:
    """One sender's congestion window in one run."""

    at: list[float]
    """The start, and the times of changes, in seconds."""
    cwnd: list[float]
    """The window from each time on, in segments, without the inflation of fast recovery."""
    inflated: list[tuple[float, float]]
    """Times at which ``cwnd`` or the inflation changed, in seconds, and the sum of both, in segments."""
    cuts: list[tuple[float, float, float]]
    """Each fast retransmit: its time in seconds, and ``cwnd`` before and after it in segments."""
    recovered: list[float]
    """Times at which fast recoveries ended, in seconds."""
    sent: list[tuple[float, int]]
    """New data: time in seconds, and end offset in bytes."""
    acked: list[tuple[float, int]]
    """ACKs that advanced: time in seconds, and the acknowledged offset in bytes."""

    @classmethod
    def of(cls, events: pl.DataFrame) -> WindowTrace:
        """Extract the window from a trace's events."""
        mine = events.filter(pl.col("side") == "sender")
        window = mine.filter((pl.col("event") == "window") & (pl.col("cwnd") != pl.col("cwnd_from")))
        phases = mine.filter(pl.col("event") == "phase")
        entered = phases.filter(pl.col("phase_to") == "recovery").select("time_ns")
        left = phases.filter(pl.col("phase_from") == "recovery")["time_ns"].to_list()
        first = window.join(entered, on="time_ns", how="semi").unique("time_ns", keep="first", maintain_order=True)
        new = mine.filter((pl.col("event") == "sent") & (pl.col("len") > 0) & (pl.col("sends") == 1))
        return cls(
            [new["time_ns"][0] / NS, *(ns / NS for ns in window["time_ns"])],
            [window["cwnd_from"][0] / SEGMENT_BYTES, *(b / SEGMENT_BYTES for b in window["cwnd"])],
            _inflated(mine),
            [
                (ns / NS, before / SEGMENT_BYTES, after / SEGMENT_BYTES)
                for ns, before, after in first.select("time_ns", "cwnd_from", "cwnd").iter_rows()
            ],
            [ns / NS for ns in left],
            [(ns / NS, seq + n) for ns, seq, n in new.select("time_ns", "seq", "len").iter_rows()],
            _advances(mine),
        )

    def value(self, at: float) -> float:
        """``cwnd`` at a time after the first change, in segments."""
        return self.cwnd[max(bisect_right(self.at, at) - 1, 0)]

    def smallest(self, start: float, stop: float) -> float:
        """The smallest ``cwnd`` within a range of time, in segments."""
        inside = self.cwnd[bisect_right(self.at, start) : bisect_right(self.at, stop)]
        return min([self.value(start), *inside])

    def growth(self, start: float, stop: float) -> float:
        """The growth of ``cwnd`` within a range of time, without cuts, in segments."""
        values = [self.value(start), *self.cwnd[bisect_right(self.at, start) : bisect_right(self.at, stop)]]
        return sum(max(after - before, 0.0) for before, after in pairwise(values))

    def growth_in_a_round_trip(self) -> float:
        """From the end of the last fast recovery on: growth of ``cwnd`` divided by the round trips until the last ACK.

        A round trip starts with the first new segment after the previous one, and ends with the ACK for it. NaN if
        there is no round trip.
        """
        if not self.recovered:
            return math.nan
        begin = now = max(self.recovered)
        sends, acks, trips = [at for at, _ in self.sent], [to for _, to in self.acked], 0
        while (n := bisect_left(sends, now)) < len(sends):
            answer = bisect_left(acks, self.sent[n][1])
            if answer == len(acks):
                break
            now, trips = self.acked[answer][0], trips + 1
        return (self.value(now) - self.value(begin)) / trips if trips else math.nan


def _inflated(mine: pl.DataFrame) -> list[tuple[float, float]]:
    """The window reported by a sender with a single variable for both, such as ns-3.18's."""
    changes = mine.filter(pl.col("event").is_in(["window", "inflation"]))
    trace = changes.with_columns(
        pl.col("cwnd").forward_fill(),
        pl.when(pl.col("event") == "inflation").then(pl.col("inflation")).forward_fill().fill_null(0.0).alias("more"),
    ).filter(pl.col("cwnd").is_not_null())
    total = trace.select("time_ns", (pl.col("cwnd") + pl.col("more")) / SEGMENT_BYTES)
    # Events at one instant count as one change.
    return [(ns / NS, value) for ns, value in total.unique("time_ns", keep="last", maintain_order=True).iter_rows()]


def _advances(mine: pl.DataFrame) -> list[tuple[float, int]]:
    acked = mine.filter((pl.col("event") == "acked") & (pl.col("ack") > pl.col("ack").shift(1).cum_max().fill_null(0)))
    return [(ns / NS, to) for ns, to in acked.select("time_ns", "ack").iter_rows()]


def window_trace(work: Work, one: Trial) -> WindowTrace:
    """Return the window in the run of a trial.

    Raises:
        OSError, ScenarioError, ValueError: see ``Work.events``.
    """
    return WindowTrace.of(work.events(one))
