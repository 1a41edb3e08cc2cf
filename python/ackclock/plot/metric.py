"""A number against a parameter, with a line for each stack."""

from __future__ import annotations

import re
from typing import NamedTuple

import polars as pl
from matplotlib.axes import Axes

from ackclock import colours
from ackclock.plot.frames import ArrowTable, need, polars
from ackclock.plot.sheet import name_points, sheet
from ackclock.statistics import interval
from ackclock.tables.columns import HALF

_UNITS = (("_bytes_per_s", "kB/s", 1e3), ("_bytes", "kB", 1e3), ("_packets", "packets", 1.0), ("_ms", "ms", 1.0))
_UNITS_OF_TIME = ("_s", "s", 1.0)
_QUANTITY = re.compile(r"\s*([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)\s*([A-Za-zµ/]+)\s*")


def metric(frame: ArrowTable, *, x: str, y: str, by: str = "stack", ax: Axes | None = None) -> Axes:
    """Draw the mean of ``y`` against ``x``, a line for each value of ``by``, with 95 % confidence intervals.

    Args:
        frame: rows of single runs (a sweep's ``frame``, or ``Result.frame`` with a column for the parameter), from
            which means and intervals (Student's t) are computed; or rows of means (``summary``), which have the
            interval in a column ``…_ci95``.
        x: the column of the parameter: numbers; quantities with one unit, as in ``"20 ms"``; or words, which are placed
            side by side in the order of the frame.
        y: the column of the number. Its suffix names the unit; bytes are drawn as kB (1000 B).
        by: the column that distinguishes the lines; each stack has a fixed colour, marker and line.
        ax: the axes to draw on. Default: a new figure.

    Raises:
        KeyError: the frame lacks a column.
        ValueError: several rows hold means of one stack at one ``x``.
    """
    rows = polars(frame)
    need(rows, x, y, by)
    scale_x = _scale(rows[x])
    label, scale = _unit(y)
    with sheet(ax) as axes:
        for (key,), same in rows.filter(pl.col(y).is_not_null()).group_by(by, maintain_order=True):
            name = str(key)
            look, points = colours.look(name), _points(same, x, y, scale_x)
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
        axes.set_xlabel(f"{_words(x)} ({scale_x.unit})" if scale_x.unit else _axis(x))
        if scale_x.words:
            axes.set_xticks(range(len(scale_x.words)), scale_x.words)
        axes.set_ylabel(label)
        axes.yaxis.set_major_formatter("{x:,g}")
        name_points(axes)
    return axes


class _Scale(NamedTuple):
    """Positions of a column's values on an axis."""

    places: dict[object, float]
    unit: str = ""
    words: tuple[str, ...] = ()
    """The labels of values that are not numbers."""


def _scale(values: pl.Series) -> _Scale:
    """Numbers, and quantities with one unit, are placed by value."""
    every = values.drop_nulls().unique(maintain_order=True).to_list()
    if values.dtype.is_numeric():
        return _Scale({value: float(value) for value in every})
    parts = {value: _QUANTITY.fullmatch(str(value)) for value in every}
    units = {part[2] if part else "" for part in parts.values()}
    if len(units) == 1 and "" not in units:
        return _Scale({value: float(part[1]) for value, part in parts.items() if part}, units.pop())
    return _Scale({value: float(n) for n, value in enumerate(every)}, "", tuple(map(str, every)))


def _points(rows: pl.DataFrame, x: str, y: str, scale: _Scale) -> list[tuple[float, float, float]]:
    """Each ``x`` with the mean of ``y`` and half its interval, 0 if there is none; from left to right."""
    points = []
    for (at,), same in rows.filter(pl.col(x).is_not_null()).group_by(x, maintain_order=True):
        if y + HALF in rows.columns:
            if len(same) > 1:
                raise ValueError(f"{len(same)} rows of means with {x} = {at}: choose one flow")
            mean, half = same[y][0], same[y + HALF][0]
        else:
            mean, half = interval([float(value) for value in same[y]])
        points.append((scale.places[at], float(mean), half or 0.0))
    return sorted(points)


def _axis(name: str) -> str:
    """The axis label for a column of numbers."""
    return _unit(name)[0] if name.endswith(tuple(ending for ending, *_ in (*_UNITS, _UNITS_OF_TIME))) else _words(name)


def _unit(name: str) -> tuple[str, float]:
    """The axis label for a column, and the divisor of its values."""
    for ending, unit, scale in (*_UNITS, _UNITS_OF_TIME):
        if name.endswith(ending):
            return f"{_words(name.removesuffix(ending))} ({unit})", scale
    return f"{_words(name)} (segments)" if name.startswith("dupthresh") else _words(name), 1.0


def _words(name: str) -> str:
    return name.replace("_", " ")
