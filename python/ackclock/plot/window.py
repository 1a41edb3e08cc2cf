"""The congestion window over time, with phases and thresholds."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ackclock import colours
from ackclock.plot.frames import ArrowTable, polars
from ackclock.plot.series import KB, Series, at_sender, limits, series
from ackclock.plot.sheet import LIGHT, dense, legend_above, sheet, time_axis

HEADROOM = 1.15


def window(
    events: ArrowTable,
    *,
    flow: int = 0,
    stack: str | None = None,
    start: float | None = None,
    stop: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw ``cwnd`` and ``ssthresh`` (kB), and the duplicate ACK threshold (segments) on a second axis.

    Phases other than Open are shaded. If the trace has a threshold, the second axis is the last of ``ax.figure.axes``;
    otherwise there is none.

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
    here = at_sender(events, flow)
    changes = here.filter(pl.col("event") == "window")
    with sheet(ax, 2.2) as axes:
        _shade(axes, here, begin, end)
        cwnd = _from_zero(changes, "cwnd", end).around(begin, end)
        ssthresh = _from_zero(changes, "ssthresh", end).around(begin, end)
        colour = colours.REFERENCE if stack is None else colours.of(stack)
        image = dense(len(cwnd.at))
        axes.step(cwnd.at, cwnd.value, where="post", color=colour, label="cwnd", gid="cwnd", rasterized=image)
        axes.step(
            ssthresh.at,
            ssthresh.value,
            where="post",
            color=colours.EVENTS["ack"],
            linestyle=(0, (4, 1.5)),
            linewidth=LIGHT,
            label="ssthresh",
            gid="ssthresh",
            rasterized=image,
        )
        # The first ssthresh may be far above any window, so the axis follows cwnd.
        axes.set_ylim(0, HEADROOM * (float(np.nanmax(cwnd.value)) if len(cwnd.value) else 1.0))
        axes.set_ylabel("window (kB)")
        time_axis(axes, begin, end)
        handles, labels = axes.get_legend_handles_labels()
        if (right := _threshold(axes, here, begin, end)) is not None:
            more = right.get_legend_handles_labels()
            handles, labels = handles + more[0], labels + more[1]
        legend_above(axes, handles, labels)
    return axes


def _from_zero(changes: pl.DataFrame, name: str, end: float) -> Series:
    """A part of the window (kB) from time 0 to ``end``: the value before the first change, then each change."""
    after = series(changes, pl.col(name) / KB)
    before = changes[f"{name}_from"].head(1).to_numpy() / KB
    at = np.concatenate([np.zeros(len(before)), after.at])
    value = np.concatenate([np.where(np.isfinite(before), before, np.nan), after.value])
    return Series(np.append(at, [end] * len(before)), np.append(value, value[-1:]))


def _shade(axes: Axes, here: pl.DataFrame, begin: float, end: float) -> None:
    """Shade the phases, with one artist for each."""
    changes = here.filter(pl.col("event") == "phase")
    since = changes["time_ns"].to_numpy() / 1e9
    until = np.append(since[1:], [end])
    name = changes["phase_to"].cast(pl.String).to_numpy()
    for phase, colour in colours.PHASES.items():
        mine = (name == phase) & (until >= begin) & (since <= end)
        spans = np.column_stack([since[mine], until[mine] - since[mine]])
        if len(spans):
            axes.broken_barh(
                [(float(at), float(long)) for at, long in spans],
                (0, 1),
                transform=axes.get_xaxis_transform(),
                facecolor=colour,
                edgecolor="#9999BB" if phase == "loss" else colour,
                hatch="////" if phase == "loss" else None,
                linewidth=0.3,
                label=phase.capitalize(),
                gid=phase,
                rasterized=dense(len(spans)),
                zorder=0,
            )


def _threshold(axes: Axes, here: pl.DataFrame, begin: float, end: float) -> Axes | None:
    """Draw the duplicate ACK threshold on a second axis; returns ``None`` if the trace has none."""
    thresholds = series(here.filter(pl.col("event") == "threshold"), pl.col("dupthresh"))
    if not len(thresholds.at):
        return None
    line = Series(np.append(thresholds.at, end), np.append(thresholds.value, thresholds.value[-1])).around(begin, end)
    right = axes.twinx()
    right.set_gid("dupthresh")
    right.step(
        line.at,
        line.value,
        where="post",
        color=colours.EVENTS["needed"],
        linestyle=(0, (1.2, 1.2)),
        label="dupthresh (right)",
        gid="dupthresh",
        rasterized=dense(len(line.at)),
    )
    top = float(np.nanmax(line.value)) if len(line.value) else 3.0
    right.set_ylim(0, HEADROOM * max(top, 5))
    right.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    right.set_ylabel("dupthresh (segments)")
    right.spines["right"].set_visible(True)
    right.grid(visible=False)
    return right
