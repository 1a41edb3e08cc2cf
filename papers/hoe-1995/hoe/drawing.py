"""The thesis's two kinds of graphs (§4.3): segments against time, and the congestion window against time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from ackclock import colours
from ackclock.plot import time_sequence
from ackclock.plot.series import KB
from ackclock.plot.sheet import time_axis

from .runs import View
from .sender_trace import SEGMENT, SenderTrace

Corner = Literal["upper left", "lower right", ""]
MOST_TICKS = 8
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


@dataclass(frozen=True)
class Mark:
    """A remark at a point of a graph."""

    at: float
    """Time in seconds."""
    height: float
    """Height in segments, or in kB for a window."""
    text: str
    offset: tuple[float, float]
    """The text's offset from the point, in points of the page."""


def segments(
    axes: Axes,
    events: pl.DataFrame,
    start: float,
    stop: float,
    stack: str = "net2",
    legend: Corner = "upper left",
    top: int | None = None,
) -> None:
    """Draw a time-segment-number graph: segments sent, lost and acknowledged, and the sender's limit.

    Args:
        axes: the axes to draw on.
        events: the run's trace.
        start: start of the graph, in seconds.
        stop: end of the graph, in seconds.
        stack: the stack whose colour marks first transmissions.
        legend: the place of the legend, or ``None``.
        top: the highest segment number. Default: the highest one sent.
    """
    time_sequence(events, stack=stack, start=start, stop=stop, ax=axes)
    if top is not None:
        axes.set_ylim(0, height(top))
    low, high = (value * KB / SEGMENT for value in axes.get_ylim())
    step = next((s for s in STEPS if (high - low) / s <= MOST_TICKS), STEPS[-1])
    numbers = np.arange(np.ceil(low / step) * step, high, step)
    axes.yaxis.set_major_locator(FixedLocator(list(numbers * SEGMENT / KB)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda kb, _: f"{round(kb * KB / SEGMENT):,}"))
    axes.set_ylabel("segment number")
    drawn = axes.get_legend()
    if drawn is not None:
        drawn.remove()
    if legend:
        pairs = zip(*axes.get_legend_handles_labels(), strict=True)
        there = [(handle, label) for handle, label in pairs if not label.endswith(" (0)")]
        handles, labels = zip(*there, strict=True)
        axes.legend(
            handles,
            labels,
            loc=legend,
            ncols=2,
            columnspacing=1.2,
            handlelength=1.6,
            frameon=True,
            framealpha=0.85,
            edgecolor="none",
        )


def window(axes: Axes, run: SenderTrace, start: float, stop: float, stack: str = "net2") -> None:
    """Draw the congestion window of Net/2, with the inflation of fast recovery; crosses mark changes of ssthresh."""
    listed = [w for w in run.windows if w.at <= stop]
    at, cwnd = [w.at for w in listed], [w.cwnd / KB for w in listed]
    axes.plot(
        [*at, min(stop, run.acks[-1].at)],
        [*cwnd, cwnd[-1]],
        drawstyle="steps-post",
        color=colours.of(stack),
        linewidth=0.9,
        label="cwnd",
    )
    changed = [b for a, b in pairwise(listed) if a.ssthresh != b.ssthresh and b.at >= start]
    axes.plot(
        [w.at for w in changed],
        [w.ssthresh / KB for w in changed],
        linestyle="none",
        marker="x",
        markersize=5,
        color=colours.EVENTS["needed"],
        label="ssthresh changes",
    )
    fired = [t for t in run.timeouts if start <= t <= stop]
    if fired:
        axes.plot(
            fired,
            [0.0] * len(fired),
            linestyle="none",
            marker="^",
            markersize=6,
            clip_on=False,
            color=colours.REFERENCE,
            label="timeout",
            zorder=4,
        )
    seen = [w.cwnd for w in listed if w.at >= start] or [listed[-1].cwnd]
    axes.set_ylim(0, 1.18 * max(*seen, run.cwnd(start + 1e-9).cwnd) / KB)
    axes.set_ylabel("window (kB)")
    time_axis(axes, start, stop)


def remark(axes: Axes, marks: list[Mark]) -> None:
    """Write remarks at their points."""
    for mark in marks:
        note = axes.annotate(
            mark.text,
            (mark.at, mark.height),
            textcoords="offset points",
            xytext=mark.offset,
            fontsize=6.5,
            ha="left" if mark.offset[0] >= 0 else "right",
            va="center",
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
            arrowprops={"arrowstyle": "-", "linewidth": 0.6, "color": "#444444"},
            zorder=20,
        )
        # The remark is inside the graph, and its box must not move the graph's edges.
        note.set_in_layout(False)


def height(segment: float) -> float:
    """The height of a segment's end in a time-segment-number graph."""
    return segment * SEGMENT / KB


@dataclass(frozen=True)
class Plan:
    """A figure of the thesis."""

    name: str
    title: str
    runs: tuple[str, ...]
    """Names of the runs shown; the figure's command runs the point of the first one."""
    caption: str
    draw: Callable[[Figure, View], None]
    inches: tuple[float, float]


def outcome(run: SenderTrace) -> str:
    """Time, timeouts and drops in words."""
    fired, lost = len(run.timeouts), len(run.drops)
    return f"{run.acks[-1].at:.2f} s, {fired} timeout{'s' * (fired != 1)}, {lost} dropped"
