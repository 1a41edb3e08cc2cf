"""Common parts of all plots: axes, limits, and when points become an image."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ackclock.plot import style

MANY_POINTS = 5_000
"""From this number on, an SVG file holds points and lines as an image; otherwise it would be slow to open."""
SIZE_INCHES = (7.0, 3.4)
MANY_NAMES = 6
LIGHT = 0.9
"""Width of a thin line, in points."""


@contextmanager
def sheet(ax: Axes | None, height: float = SIZE_INCHES[1]) -> Iterator[Axes]:
    """The given axes, or those of a new figure in the project's style; the style applies inside the context."""
    with style.paper():
        if ax is None:
            ax = Figure(figsize=(SIZE_INCHES[0], height), layout="constrained").subplots()
        yield ax


def dense(points: int) -> bool:
    """Whether this number of points is drawn as an image."""
    return points > MANY_POINTS


def legend_above(ax: Axes, handles: list[Artist], labels: list[str]) -> None:
    """Add a legend on one line above the axes, where it covers nothing."""
    ax.legend(
        handles,
        labels,
        loc="lower right",
        bbox_to_anchor=(1, 1),
        ncols=max(len(labels), 1),
        borderpad=0,
        borderaxespad=0.2,
        columnspacing=1.2,
        handlelength=1.6,
    )


def name_points(ax: Axes) -> None:
    """Add a legend of the points with error bars: inside the axes, or beside them if it is long."""
    named = len(ax.containers)
    if named > MANY_NAMES:
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), ncols=1 + named // 20)
    elif named:
        ax.legend()


def time_axis(ax: Axes, start: float, stop: float) -> None:
    """Set the limits and the label of a time axis."""
    ax.set_xlim(start, stop)
    ax.set_xlabel("time (s)")
