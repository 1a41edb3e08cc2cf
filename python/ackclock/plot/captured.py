"""A captured flow on one sheet: time-sequence graph with verdicts and stalls, outstanding data."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ackclock import colours
from ackclock.plot import style
from ackclock.plot.frames import ArrowTable, polars
from ackclock.plot.series import KB, Series, bars, limits, series
from ackclock.plot.sheet import dense, time_axis
from ackclock.plot.time_sequence import Course, draw

SIZE_INCHES = (7.2, 5.6)
SYN, FIN, ACK = 2, 1, 16
NAMED_STALLS = 12
"""The largest number of visible stalls whose causes are written."""
NAMED_SHARE = 0.015
"""The smallest share of the width for a stall's cause, so that no two are written over each other."""


def blocks(packets: pl.DataFrame) -> pl.DataFrame:
    """Extract the SACK blocks of acknowledgments, one per row: ``time_ns``, ``at_ns``, ``left``, ``right``, ``dsack``.

    The first block is a DSACK if it is at or below the ACK, or inside the second block (RFC 2883 §4).
    """
    edge = pl.col("block").str.split(":").list
    rows = (
        packets.filter(pl.col("sack") != "")
        .with_columns(block=pl.col("sack").str.split(" "))
        .with_columns(nth=pl.int_ranges(pl.col("block").list.len()))
        .explode("block", "nth")
        .with_columns(left=edge.get(0).cast(pl.Int64), right=edge.get(1).cast(pl.Int64))
        .with_columns(left2=pl.col("left").shift(-1).over("frame"), right2=pl.col("right").shift(-1).over("frame"))
    )
    inside = ((pl.col("left") >= pl.col("left2")) & (pl.col("right") <= pl.col("right2"))).fill_null(value=False)
    dsack = (pl.col("nth") == 0) & ((pl.col("right") <= pl.col("ack")) | inside)
    return rows.select("time_ns", "at_ns", "left", "right", dsack=dsack)


def read(packets: pl.DataFrame, retransmissions: pl.DataFrame) -> Course:
    """Build the course of the flow's own data, with the verdicts on its retransmissions."""
    sent = packets.filter(pl.col("own") & (pl.col("len") > 0)).join(
        retransmissions.select("frame", "verdict"), on="frame", how="left", maintain_order="left"
    )
    acks = packets.filter(~pl.col("own") & pl.col("ack").is_not_null())
    reached = pl.col("ack").cum_max()
    bare = (pl.col("len") == 0) & (pl.col("flags") & (SYN | FIN) == 0)
    # A duplicate ACK as in RFC 5681 §2; with SACK, an ACK that brings only blocks.
    same = (pl.col("ack") == pl.col("ack").shift(1)) & (
        (pl.col("window") == pl.col("window").shift(1)) | (pl.col("sack") != "")
    )
    reported = blocks(acks)
    low, high = pl.col("offset"), pl.col("offset") + pl.col("len")

    def of(verdict: str) -> pl.DataFrame:
        return sent.filter(pl.col("verdict") == verdict)

    return Course(
        first=bars(sent.filter(pl.col("verdict").is_null()), low, high),
        needed=bars(of("needed"), low, high),
        refused=bars(of("refused"), low, high),
        needless=bars(of("needless"), low, high),
        undecided=bars(of("undecided"), low, high),
        dropped=None,
        acked=series(acks, reached / KB),
        duplicate=series(acks.filter(bare & same), pl.col("ack") / KB),
        sack=bars(reported.filter(~pl.col("dsack")), pl.col("left"), pl.col("right")),
        dsack=bars(reported.filter(pl.col("dsack")), pl.col("left"), pl.col("right")),
        rwnd=series(acks, (pl.col("ack") + pl.col("window")).cum_max() / KB),
        cwnd=None,
    )


def captured(
    packets: ArrowTable,
    retransmissions: ArrowTable,
    stalls: ArrowTable,
    *,
    title: str = "",
    start: float | None = None,
    stop: float | None = None,
) -> Figure:
    """Draw the time-sequence graph of captured data above the amount outstanding; stalls are shaded.

    The marks are those of :func:`ackclock.plot.time_sequence`. A capture shows neither the sender's congestion window
    nor the packets that the path dropped, and it leaves some verdicts open.

    Args:
        packets: the result of ``Capture.packets``.
        retransmissions: the verdicts on its retransmissions, by frame.
        stalls: its stalls.
        title: title above the graph.
        start: start of the graph, in seconds since the capture's first packet. Default: the beginning.
        stop: end of the graph, likewise. Default: the end.

    Raises:
        ValueError: ``start`` is not before ``stop``, or not before the last packet.
    """
    every, again, still = polars(packets), polars(retransmissions), polars(stalls)
    begin, end = limits(every, start, stop)
    course = read(every, again)
    with style.paper():
        figure = Figure(figsize=SIZE_INCHES, layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3.2, 1.3))
    draw(course, begin, end, colours.REFERENCE, above)
    with style.paper():
        _outstanding(below, every, begin, end)
        _stalls(above, below, still, begin, end)
        above.set_xlabel("")
        # A file may have any name, also one that looks like mathematics.
        above.set_title(title, parse_math=False)
    return figure


def _outstanding(axes: Axes, packets: pl.DataFrame, begin: float, end: float) -> None:
    """Draw data sent and not yet acknowledged, as seen at the point of capture."""
    sent = pl.when(pl.col("own")).then(pl.col("offset") + pl.col("len")).cum_max().forward_fill()
    acked = pl.when(~pl.col("own")).then(pl.col("ack")).cum_max().forward_fill().fill_null(0)
    held: Series = series(packets, (sent - acked).clip(lower_bound=0) / KB).around(begin, end)
    axes.step(
        held.at,
        held.value,
        where="post",
        color=colours.REFERENCE,
        linewidth=0.9,
        label="outstanding",
        gid="outstanding",
        rasterized=dense(len(held.at)),
    )
    axes.set_ylim(0, 1.15 * max(float(np.nanmax(held.value)) if len(held.value) else 0.0, 1.0))
    axes.set_ylabel("outstanding (kB)")
    time_axis(axes, begin, end)


def _stalls(above: Axes, below: Axes, stalls: pl.DataFrame, begin: float, end: float) -> None:
    """Shade the stalls and label each with its cause."""
    seen = stalls.filter((pl.col("start_s") < end) & (pl.col("start_s") + pl.col("duration_s") > begin))
    for row in seen.to_dicts():
        edges = (row["start_s"], row["start_s"] + row["duration_s"])
        for axes in (above, below):
            axes.axvspan(*edges, color=colours.EVENTS["stall"], linewidth=0, zorder=0, gid=f"stall: {row['cause']}")
        if seen.height <= NAMED_STALLS and row["duration_s"] >= NAMED_SHARE * (end - begin):
            below.text(
                max(sum(edges) / 2, begin),
                0.95,
                row["cause"],
                transform=below.get_xaxis_transform(),
                rotation=90,
                ha="center",
                va="top",
                fontsize=6,
                clip_on=True,
            )
