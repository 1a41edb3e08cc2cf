"""A number against a parameter, a line for each stack."""

from __future__ import annotations

import polars as pl
from matplotlib.axes import Axes

from ackclock import _native, colours
from ackclock.plot.sheet import sheet
from ackclock.result import HALF

_UNITS = (("_bytes_per_s", "kB/s", 1e3), ("_bytes", "kB", 1e3), ("_packets", "packets", 1.0), ("_ms", "ms", 1.0))
_UNITS_OF_TIME = ("_s", "s", 1.0)
MANY_LINES = 6


def metric(frame: pl.DataFrame, *, x: str, y: str, by: str = "stack", ax: Axes | None = None) -> Axes:
    """Draw the mean of ``y`` against ``x``, a line for each value of ``by``, with 95 % confidence intervals.

    Args:
        frame: rows of runs (``Result.frame`` with a column for the parameter), whose mean and interval (Student's t)
            are taken here; or of means (``Result.summary``), which bring theirs in a column ``…_ci95``.
        x: the column of the parameter.
        y: the column of the number; its ending names the unit, bytes are drawn as kB (1000 B).
        by: the column that tells the lines apart; a stack has its own colour, marker and line.
        ax: where to draw.

    Raises:
        KeyError: the frame lacks a column.
        ValueError: the means of one stack at one ``x`` stand in several rows.
    """
    for column in (x, y, by):
        if column not in frame.columns:
            raise KeyError(f"the frame has no column {column!r}; it has {', '.join(frame.columns)}")
    label, scale = _unit(y)
    with sheet(ax) as axes:
        for (key,), rows in frame.filter(pl.col(y).is_not_null()).group_by(by, maintain_order=True):
            name = str(key)
            look, points = colours.look(name), _points(rows, x, y)
            axes.errorbar(
                [at for at, _, _ in points],
                [mean / scale for _, mean, _ in points],
                yerr=[half / scale for _, _, half in points],
                color=look.colour,
                marker=look.marker,
                linestyle=look.line,
                label=name,
                gid=name,
            )
        axes.set_xlabel(_unit(x)[0] if x.endswith(tuple(u[0] for u in (*_UNITS, _UNITS_OF_TIME))) else _words(x))
        axes.set_ylabel(label)
        axes.yaxis.set_major_formatter("{x:,g}")
        lines = len(axes.containers)
        if lines > MANY_LINES:
            axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), ncols=1 + lines // 20)
        elif lines:
            axes.legend()
    return axes


def _points(rows: pl.DataFrame, x: str, y: str) -> list[tuple[float, float, float]]:
    """Each ``x`` with the mean of ``y`` and half its interval, 0 where there is none."""
    points = []
    for (at,), same in rows.sort(x).group_by(x, maintain_order=True):
        if y + HALF in rows.columns:
            if len(same) > 1:
                raise ValueError(f"{len(same)} rows of means with {x} = {at}: choose one flow")
            mean, half = same[y][0], same[y + HALF][0]
        else:
            mean, half = _native.interval([float(value) for value in same[y]])
        points.append((float(str(at)), float(mean), half or 0.0))
    return points


def _unit(name: str) -> tuple[str, float]:
    """A column as the label of an axis, and what its values are to be divided by."""
    for ending, unit, scale in (*_UNITS, _UNITS_OF_TIME):
        if name.endswith(ending):
            return f"{_words(name.removesuffix(ending))} ({unit})", scale
    return f"{_words(name)} (segments)" if name.startswith("dupthresh") else _words(name), 1.0


def _words(name: str) -> str:
    return name.replace("_", " ")
