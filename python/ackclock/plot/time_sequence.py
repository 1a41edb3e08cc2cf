"""The time-sequence graph (Shepard 1991), which shows losses and their repair (Hoe 1995)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from ackclock import colours
from ackclock.plot.frames import ArrowTable, polars
from ackclock.plot.series import KB, Bars, Reals, Series, at_sender, bars, limits, series
from ackclock.plot.sheet import LIGHT, dense, sheet, time_axis

CROWD = 40
"""From this number on, marks of one kind are drawn smaller."""
WIDE, HIGH = 0.6, 0.25
"""The legend's share of the axes' width and height."""
PEERS = "peer's window (ack + rwnd)"
MARGIN = 0.05
"""Margin above and below the drawing, as a share of the height."""


@dataclass(frozen=True)
class Course:
    """The data of a flow over time: bars cover segments, lines are offsets; kB over seconds."""

    first: Bars
    needed: Bars
    refused: Bars
    needless: Bars
    undecided: Bars | None
    """Retransmissions that a capture cannot classify; ``None`` for a run."""
    dropped: Bars | None
    """Dropped segments; ``None`` for a capture, which does not show them."""
    acked: Series
    duplicate: Series
    sack: Bars
    dsack: Bars
    rwnd: Series
    """Limit set by the peer: ack + window."""
    cwnd: Series | None
    """Limit set by the sender: snd_una + cwnd, with Reno's inflation; ``None`` for captures, which do not show it."""


def read(events: pl.DataFrame, flow: int = 0) -> Course:
    """Build the course of a flow, which is given by its position in the scenario.

    SACK blocks are placed at the arrival of their ACK at the sender. The first block is a DSACK if it is at or below
    the ACK, or inside the second block (RFC 2883 §4).
    """
    here = at_sender(events, flow)
    sent = here.filter((pl.col("event") == "sent") & (pl.col("len") > 0))
    dropped = events.filter(
        (pl.col("flow") == flow) & (pl.col("event") == "dropped") & (pl.col("side") == "receiver") & (pl.col("len") > 0)
    )
    acked = here.filter(pl.col("event") == "acked")
    repeats = (pl.col("dup_run") > 0) & (pl.col("ack") == pl.col("ack").shift(1, fill_value=1))
    arrived = here.filter((pl.col("event") == "delivered") & pl.col("ack").is_not_null())
    blocks, seq, end = _blocks(arrived), pl.col("seq"), pl.col("seq") + pl.col("len")
    again = pl.col("sends") > 1
    return Course(
        first=bars(sent.filter(~again), seq, end),
        needed=bars(sent.filter(again & ~pl.col("needless") & ~pl.col("refused")), seq, end),
        refused=bars(sent.filter(again & pl.col("refused")), seq, end),
        needless=bars(sent.filter(again & pl.col("needless")), seq, end),
        undecided=None,
        dropped=bars(dropped, seq, end),
        acked=series(acked, pl.col("ack") / KB),
        duplicate=series(acked.filter(repeats), pl.col("ack") / KB),
        sack=bars(blocks.filter(~pl.col("dsack")), pl.col("left"), pl.col("right")),
        dsack=bars(blocks.filter(pl.col("dsack")), pl.col("left"), pl.col("right")),
        rwnd=series(arrived, (pl.col("ack") + pl.col("rwnd")) / KB),
        cwnd=_allowed(here),
    )


def _blocks(arrived: pl.DataFrame) -> pl.DataFrame:
    """Extract SACK blocks, one per row: ``time_ns``, ``left``, ``right``, ``dsack``."""
    edge = pl.col("block").str.split("-").list
    second = pl.col("sack").str.split(" ").list.get(1, null_on_oob=True).str.split("-").list
    rows = (
        arrived.filter(pl.col("sack").is_not_null() & (pl.col("sack") != ""))
        .with_columns(
            left2=second.get(0, null_on_oob=True).cast(pl.Int64), right2=second.get(1, null_on_oob=True).cast(pl.Int64)
        )
        .with_columns(block=pl.col("sack").str.split(" "))
        .with_columns(nth=pl.int_ranges(pl.col("block").list.len()))
        .explode("block", "nth")
        .with_columns(left=edge.get(0).cast(pl.Int64), right=edge.get(1).cast(pl.Int64))
    )
    inside = (pl.col("left") >= pl.col("left2")) & (pl.col("right") <= pl.col("right2"))
    dsack = (pl.col("nth") == 0) & ((pl.col("right") <= pl.col("ack")) | inside.fill_null(value=False))
    return rows.select("time_ns", "left", "right", dsack=dsack)


def _allowed(here: pl.DataFrame) -> Series:
    """The right edge of the congestion window after each event that moves it."""
    moves = here.filter(pl.col("event").is_in(["acked", "window", "inflation"]))
    held = moves.select(
        "time_ns",
        una=pl.when(pl.col("event") == "acked").then(pl.col("ack")).forward_fill().fill_null(1),
        cwnd=pl.col("cwnd").forward_fill().fill_null(pl.col("cwnd_from").drop_nulls().first()),
        inflation=pl.col("inflation").forward_fill().fill_null(0.0),
    )
    edge = series(held, (pl.col("una") + pl.col("cwnd") + pl.col("inflation")) / KB)
    # Of several events at one instant the last one counts.
    last = np.append(edge.at[1:] != edge.at[:-1], [True]) if len(edge.at) else np.zeros(0, dtype=bool)
    return Series(edge.at[last], edge.value[last])


def time_sequence(
    events: ArrowTable,
    *,
    flow: int = 0,
    stack: str | None = None,
    start: float | None = None,
    stop: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw when a flow sent which data, what happened to them, and the feedback to the sender.

    A bar is a segment: a first transmission, or a needed, refused or needless retransmission. (The classification uses
    the fate of every copy, not DSACKs.) A cross is a segment dropped on the path. The stairs show acknowledged data,
    with a tick for each duplicate ACK; SACK and DSACK blocks are placed at the arrival of their ACK. Two lines show
    the limits on the sender: the peer's window (``ack + rwnd``) and its own (``snd_una + cwnd``).

    Args:
        events: a trace.
        flow: the flow's position in the scenario.
        stack: name of its stack, which selects the colour. Default: black.
        start: start of the graph, in seconds. Default: the beginning.
        stop: end of the graph, in seconds. Default: the end.
        ax: the axes to draw on. Default: a new figure.

    Raises:
        ValueError: ``start`` is not before ``stop``, or not before the last event.
    """
    events = polars(events)
    begin, end = limits(events, start, stop)
    return draw(read(events, flow), begin, end, colours.REFERENCE if stack is None else colours.of(stack), ax)


def draw(course: Course, begin: float, end: float, colour: str, ax: Axes | None = None) -> Axes:
    """Draw a course from ``begin`` to ``end``, with first transmissions in ``colour``."""
    with sheet(ax) as axes:
        seen = _lines(axes, course, begin, end)
        seen += _marks(axes, course, begin, end, colour)
        _height(axes, seen, course.rwnd.around(begin, end))
        time_axis(axes, begin, end)
        axes.set_ylabel("sequence (kB)")
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.legend(
            loc=_emptier_corner(axes, course),
            ncols=2,
            markerscale=1.3,
            columnspacing=1.2,
            handlelength=1.6,
            frameon=True,
            framealpha=0.85,
            edgecolor="none",
        )
    return axes


def _lines(axes: Axes, course: Course, begin: float, end: float) -> list[Reals]:
    """Draw stairs: the sending limits and acknowledgments. Returns the offsets that must be visible."""
    colour = colours.EVENTS
    stairs: tuple[tuple[str, Series | None, str, str | tuple[int, tuple[float, ...]], float], ...] = (
        (PEERS, course.rwnd, colour["rwnd"], "-", LIGHT),
        ("own window (snd_una + cwnd)", course.cwnd, colour["cwnd"], (0, (4, 1.5)), LIGHT),
        ("acknowledged up to", course.acked, colour["ack"], "-", LIGHT),
    )
    for label, line, shade, dashes, width in stairs:
        if line is None:
            continue
        part = line.around(begin, end)
        axes.step(
            part.at,
            part.value,
            where="post",
            color=shade,
            linestyle=dashes,
            linewidth=width,
            label=label,
            gid=label,
            rasterized=dense(len(part.at)),
            zorder=2,
        )
    ticks = course.duplicate.during(begin, end)
    axes.plot(
        ticks.at,
        ticks.value,
        linestyle="none",
        marker="|",
        markersize=4,
        markeredgewidth=0.7,
        color=colour["ack"],
        label=f"duplicate ACK ({len(ticks.at):,})",
        gid="duplicate ACK",
        rasterized=dense(len(ticks.at)),
        zorder=3,
    )
    limits = [course.acked] if course.cwnd is None else [course.acked, course.cwnd]
    return [line.around(begin, end).value for line in limits]


def _marks(axes: Axes, course: Course, begin: float, end: float, stack: str) -> list[Reals]:
    """Draw bars, and markers on the important ones. Returns the offsets that must be visible."""
    colour = colours.EVENTS
    kinds: tuple[tuple[str, Bars | None, str, float, str, float], ...] = (
        ("SACK block", course.sack, colour["sack"], LIGHT, "", 0),
        ("DSACK block", course.dsack, colour["dsack"], 2.2, "_", 14),
        ("first transmission", course.first, stack, 1.5, "", 0),
        ("retransmission, needed", course.needed, colour["needed"], 1.5, "^", 20),
        ("retransmission, refused", course.refused, colour["refused"], 1.5, "s", 16),
        ("retransmission, needless", course.needless, colour["needless"], 1.5, "D", 16),
        ("retransmission, undecided", course.undecided, colour["undecided"], 1.5, "o", 16),
        ("dropped on the way", course.dropped, colour["dropped"], 0, "x", 16),
    )
    seen = []
    for order, (name, every, shade, width, marker, size) in enumerate(kinds, start=4):
        if every is None:
            continue
        part = every.during(begin, end)
        if not len(part.at) and any(word in name for word in ("block", "refused", "undecided")):
            continue
        label, image = f"{name} ({len(part.at):,})", dense(len(part.at))
        if width:
            # Projecting caps keep a bar visible where the axis makes it shorter than a point.
            axes.vlines(
                part.at,
                part.low,
                part.high,
                colors=shade,
                linewidth=width,
                capstyle="projecting",
                label="_" if marker else label,
                gid=name,
                rasterized=image,
                zorder=order,
            )
        if marker:
            axes.scatter(
                part.at,
                (part.low + part.high) / 2,
                s=size if len(part.at) < CROWD else size / 2,
                marker=marker,
                c=shade,
                edgecolors=None if marker in {"x", "_"} else "black",
                linewidths=0.9 if marker in {"x", "_"} else 0.4,
                label=label,
                gid=f"{name}, marks",
                rasterized=image,
                zorder=order + 6,
            )
        seen += [part.low, part.high]
    return seen


def _emptier_corner(axes: Axes, course: Course) -> Literal["upper left", "lower right"]:
    """The corner where a legend hides less: sequence numbers rise, but not evenly."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    lines = [course.acked] if course.cwnd is None else [course.acked, course.cwnd]
    at = np.concatenate([course.first.at, *(line.at for line in lines)])
    kb = np.concatenate([course.first.high, *(line.value for line in lines)])
    x, y = (at - left) / (right - left), (kb - bottom) / (top - bottom)
    upper = np.count_nonzero((x >= 0) & (x < WIDE) & (y > 1 - HIGH) & (y <= 1))
    lower = np.count_nonzero((x > 1 - WIDE) & (x <= 1) & (y < HIGH) & (y >= 0))
    return "lower right" if lower < upper else "upper left"


def _height(axes: Axes, seen: list[Reals], rwnd: Series) -> None:
    """Fit the height to the data; the peer's window is left out if it is far above."""
    offsets = np.concatenate([np.asarray([0.0]) if not any(map(len, seen)) else np.zeros(0), *seen])
    low, high = float(np.nanmin(offsets)), float(np.nanmax(offsets))
    reach = max(high - low, 1.0)
    if len(rwnd.value) and np.nanmax(rwnd.value) < high + reach / 5:
        high = max(high, float(np.nanmax(rwnd.value)))
    elif len(rwnd.value) and np.nanmin(rwnd.value) > high + MARGIN * reach:
        (line,) = (one for one in axes.get_lines() if one.get_gid() == PEERS)
        line.set_label(f"{PEERS}: above")
    axes.set_ylim(max(low - MARGIN * reach, 0), high + MARGIN * reach)
