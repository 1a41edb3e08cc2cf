"""What every plot has in common: its axes, its limits, and when points become an image."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ackclock.plot import style

MANY_POINTS = 5_000
"""From here on points and lines are drawn as an image inside an SVG file, which would else take long to open."""
SIZE_INCHES = (7.0, 3.4)
MANY_NAMES = 6
LIGHT = 0.9
"""Width of a thin line, points."""


@contextmanager
def sheet(ax: Axes | None, height: float = SIZE_INCHES[1]) -> Iterator[Axes]:
    """The axes given, or those of a new figure in the project's style; what is drawn inside gets that style."""
    with style.paper():
        if ax is None:
            ax = Figure(figsize=(SIZE_INCHES[0], height), layout="constrained").subplots()
        yield ax


def dense(points: int) -> bool:
    """Whether so many points are to be an image."""
    return points > MANY_POINTS


def legend_above(ax: Axes, handles: list[Artist], labels: list[str]) -> None:
    """A legend on one line above the axes, where it hides nothing."""
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
    """A legend of what has error bars: inside the axes, or beside them if it is long."""
    named = len(ax.containers)
    if named > MANY_NAMES:
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), ncols=1 + named // 20)
    elif named:
        ax.legend()


def time_axis(ax: Axes, start: float, stop: float) -> None:
    """Limits and label of an axis of time."""
    ax.set_xlim(start, stop)
    ax.set_xlabel("time (s)")
