"""Time series from a table of events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

Reals = NDArray[np.float64]
KB = 1e3
"""Bytes in the kilobyte used on axes."""


@dataclass(frozen=True)
class Series:
    """Values over time: ``at`` in seconds, ascending."""

    at: Reals
    value: Reals

    def during(self, start: float, stop: float) -> Series:
        """The points from ``start`` to ``stop``."""
        keep = (self.at >= start) & (self.at <= stop)
        return Series(self.at[keep], self.value[keep])

    def around(self, start: float, stop: float) -> Series:
        """The same, with the points just before and after, so that a line reaches the edges."""
        first = max(int(np.searchsorted(self.at, start, side="right")) - 1, 0)
        last = int(np.searchsorted(self.at, stop, side="right")) + 1
        return Series(self.at[first:last], self.value[first:last])


@dataclass(frozen=True)
class Bars:
    """Ranges of the sequence space at points in time: ``at`` in seconds, edges in kB."""

    at: Reals
    low: Reals
    high: Reals

    def during(self, start: float, stop: float) -> Bars:
        """The bars from ``start`` to ``stop``."""
        keep = (self.at >= start) & (self.at <= stop)
        return Bars(self.at[keep], self.low[keep], self.high[keep])


def at_sender(events: pl.DataFrame, flow: int) -> pl.DataFrame:
    """Events at the flow's sender."""
    return events.filter((pl.col("flow") == flow) & (pl.col("side") == "sender"))


def series(rows: pl.DataFrame, value: pl.Expr) -> Series:
    """``value`` of each row over time; rows without a value are left out, and infinity becomes NaN."""
    table = rows.select("time_ns", value=value.cast(pl.Float64)).drop_nulls()
    values = table["value"].to_numpy()
    return Series(_seconds(table), np.where(np.isfinite(values), values, np.nan))


def bars(rows: pl.DataFrame, low: pl.Expr, high: pl.Expr) -> Bars:
    """The range from ``low`` to ``high`` (bytes) of each row over time."""
    table = rows.select("time_ns", low=low / KB, high=high / KB).drop_nulls()
    return Bars(_seconds(table), table["low"].to_numpy(), table["high"].to_numpy())


def limits(events: pl.DataFrame, start: float | None, stop: float | None) -> tuple[float, float]:
    """The start and end of a graph, in seconds. Default: the whole trace.

    Raises:
        ValueError: the range is empty, or begins after the last event.
    """
    last = events["time_ns"].max() if len(events) else None
    ends = last / 1e9 if isinstance(last, int) else 1.0
    begin, end = 0.0 if start is None else start, ends if stop is None else stop
    if begin >= end:
        raise ValueError(
            f"a plot from {begin:g} s to {end:g} s: found no time in between; the trace ends at {ends:g} s"
        )
    return begin, end


def _seconds(table: pl.DataFrame) -> Reals:
    # Divided as in `limits`, for bit-identical results: Polars multiplies by the inverse.
    return np.asarray(table["time_ns"].to_numpy() / 1e9, dtype=np.float64)
