"""Places names beside points so that they cover neither points nor each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

REACH = (5.0, 9.0, 13.0, 18.0, 24.0, 31.0, 39.0, 48.0)
"""Distances from a point at which its name is tried, in points (1/72 inch)."""
DIRECTIONS = 16
CLEAR = 2.6
"""Half the size of the area around each point that no name may cover, in points."""
LEADER = 12.0
"""At this distance or more, a line leads from the name to its point."""


def place(axes: Axes, names: Sequence[tuple[str, float, float]], points: Sequence[tuple[float, float]]) -> None:
    """Write each name as near to its point as possible without covering anything.

    Call it when the layout of the figure is final (after ``figure.draw_without_rendering()``). A name without a free
    place is written beside its point anyway.

    Args:
        axes: where the points are drawn.
        names: each name with the coordinates of its point.
        points: the coordinates of all points.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    dot = figure.dpi / 72
    taken = [Bbox([[x, y], [x, y]]).padded(CLEAR * dot) for x, y in axes.transData.transform(list(points))]
    for name, x, y in names:
        note = axes.annotate(
            name,
            (x, y),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=6,
            ha="center",
            va="center",
            arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": "#777777", "shrinkA": 0, "shrinkB": 2.5},
        )
        here = note.get_window_extent()
        tries = list(_offsets(here.width / dot, here.height / dot))
        free = (each for each in tries if _fits(here.translated(each[1] * dot, each[2] * dot), axes, taken))
        reach, right, up = next(free, tries[0])
        taken.append(here.translated(right * dot, up * dot).padded(2 * dot))
        note.set_position((right, up))
        if reach < LEADER and note.arrow_patch is not None:
            note.arrow_patch.set_visible(False)


def _fits(box: Bbox, axes: Axes, taken: Sequence[Bbox]) -> bool:
    """Whether a box lies within the axes and covers nothing."""
    inside = axes.get_window_extent()
    within = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
    return within and not any(box.overlaps(other) for other in taken)


def _offsets(width: float, height: float) -> Iterator[tuple[float, float, float]]:
    """Positions of the centre of a text of this size, by its edge's distance from the point: (distance, right, up)."""
    for reach in REACH:
        for i in range(DIRECTIONS):
            angle = 2 * math.pi * i / DIRECTIONS
            across, up = math.cos(angle), math.sin(angle)
            yield reach, across * (reach + width / 2), up * (reach + height / 2)
