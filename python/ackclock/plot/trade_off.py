"""The price of goodput in needless retransmissions, a point for each stack."""

from __future__ import annotations

import polars as pl
from matplotlib.axes import Axes

from ackclock import colours
from ackclock.plot.frames import ArrowTable, need, polars
from ackclock.plot.sheet import name_points, sheet
from ackclock.statistics import interval


def trade_off(frame: ArrowTable, *, by: str = "stack", ax: Axes | None = None) -> Axes:
    """Draw goodput against needless retransmissions, a point for each value of ``by``, with 95 % confidence intervals.

    Up is more goodput, left is fewer needless retransmissions. A point is the mean over all its rows, so the frame
    should hold one flow with one setting.

    Args:
        frame: rows of runs, such as ``Result.frame`` or a sweep's ``frame``.
        by: the column that distinguishes the points; each stack has a fixed colour and marker.
        ax: the axes to draw on. Default: a new figure.

    Raises:
        KeyError: the frame lacks a column.
    """
    rows, sent, needless, goodput = (
        polars(frame),
        "data_packets_sent",
        "needless_retransmissions",
        "goodput_bytes_per_s",
    )
    need(rows, by, sent, needless, goodput)
    with sheet(ax) as axes:
        for (key,), same in rows.filter(pl.col(sent) > 0).group_by(by, maintain_order=True):
            name = str(key)
            x, dx = interval((100 * same[needless] / same[sent]).to_list())
            y, dy = interval((same[goodput] / 1e3).to_list())
            look = colours.look(name)
            axes.errorbar(
                [x],
                [y],
                xerr=[dx or 0.0],
                yerr=[dy or 0.0],
                color=look.colour,
                marker=look.marker,
                linestyle="none",
                label=name,
                gid=name,
            )
        axes.set_xlabel("needless retransmissions (% of packets sent)")
        axes.set_ylabel("goodput (kB/s)")
        axes.yaxis.set_major_formatter("{x:,g}")
        name_points(axes)
    return axes
