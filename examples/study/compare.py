"""The stacks on every path, as one table and one figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

import ackclock as ak
from study.paths import swapping
from study.rules import ShareOfWindow

STACKS = ("sack-ff96", "rfc-6675", "dsack-avg", "rack-tlp")
GAPS_MS = (2000, 500, 125)


def runs(stacks: Sequence[str], seeds: int, seconds: int) -> pl.DataFrame:
    """A row for each gap between swaps (``gap_ms``), stack and seed; the last stack uses a rule in Python."""
    frames = []
    for gap in GAPS_MS:
        path = swapping(f"{gap} ms", seconds)
        frames.append(ak.compare(path, stacks, seeds=seeds).frame.with_columns(gap_ms=pl.lit(gap)))
        rule = ak.slots.given(ShareOfWindow, share=0.4)
        ours = ak.run(path, stack="dsack-avg", set={"detect.threshold": rule}, seeds=seeds).frame
        frames.append(ours.with_columns(gap_ms=pl.lit(gap), stack=pl.lit("share-of-window")))
    return pl.concat(frames)


def table(frame: pl.DataFrame) -> pl.DataFrame:
    """Mean goodput and needless retransmissions of each stack at each gap."""
    return frame.group_by("gap_ms", "stack", maintain_order=True).agg(
        goodput_kb_per_s=(pl.col("goodput_bytes_per_s").mean() / 1e3).round(1),
        needless=pl.col("needless_retransmissions").mean().round(1),
    )


def draw(frame: pl.DataFrame, path: Path) -> None:
    """Goodput against the gap, and its price in needless retransmissions where swaps are most frequent."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    ak.plot.metric(frame, x="gap_ms", y="goodput_bytes_per_s", ax=left)
    ak.plot.trade_off(frame.filter(pl.col("gap_ms") == min(GAPS_MS)), ax=right)
    ak.plot.save(figure, path)
