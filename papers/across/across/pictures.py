"""Draws goodput against needless retransmissions: a picture for each path, and one for all paths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

import ackclock
from ackclock.papers.paper import Picture
from ackclock.plot import style
from ackclock.runs.trial import digest

from .compare import TODAY, Comparison
from .paths import FAMILIES, PATHS, PaperPath

LOOKS = {
    "no SACK": ("#999999", "o"),
    "SACK": ("#0072B2", "s"),
    "undo": ("#CC79A7", "D"),
    "adaptive": ("#009E73", "^"),
    "time": ("#D55E00", "v"),
}
"""The colour of each kind of stack, from Okabe & Ito's palette."""
LEAST = 0.01
"""In per cent; below this value the axis is linear, so that it can show zero."""
GRID_INCHES = (7.2, 6.6)
HOW = (
    "Right is more needless retransmissions, up is more goodput. Bars are 95 % intervals of goodput over the seeds; a "
    "black edge marks today's Linux."
)
NAME_WIDTH, NAME_HEIGHT = 0.45, 6.0
"""The approximate size of a name: a share of the axis, and per cent of goodput."""
RIGHT = 0.55
"""To the right of this share of the axis, a name is placed left of its point."""


def of_path(c: Comparison, path: PaperPath, out: Path) -> Picture:
    """Draw one path, with the names of the stacks on the front and of some well-known ones.

    Raises:
        OSError: the folder is missing or not writable.
    """
    with style.paper():
        figure = Figure(figsize=style.SINGLE_INCHES, layout="constrained")
        axes = figure.subplots()
        _scatter(axes, c, path, 5)
        _name(axes, c, path, [*c.frontier(path), TODAY, "rfc-today", "newreno", "sack-ff96", "dsack", "rack-tlp"])
        axes.set_xlabel("needless retransmissions, % of packets sent")
        axes.set_ylabel("goodput, % of the best")
        figure.legend(handles=_legend(), loc="outside upper center", ncols=5, columnspacing=1.0, handletextpad=0.2)
        runs = digest([c.cells[path.key, stack].identity for stack in c.families])
        title = f"{path.title}: goodput and needless retransmissions"
        svg = style.save(figure, out / path.key, _about(title, runs))
    best = c.best(path) * 8 / 1e6
    caption = f"{path.about[0].upper()}{path.about[1:]}. 100 % is {best:.3g} Mb/s. {HOW}"
    point = f"ackclock run papers/{path.scenario} --stack {TODAY}"
    return Picture(path.key, title, caption, svg, [path.scenario], runs, point)


def of_all(c: Comparison, out: Path) -> Picture:
    """Draw all paths as small panels.

    Raises:
        OSError: the folder is missing or not writable.
    """
    with style.paper():
        figure = Figure(figsize=GRID_INCHES, layout="constrained")
        grid = figure.subplots(3, 3, sharex=True, sharey=True)
        for axes, path in zip(grid.flat, PATHS, strict=True):
            _scatter(axes, c, path, 4)
            _name(axes, c, path, [c.frontier(path)[-1], TODAY, "newreno"])
            axes.set_title(path.title, loc="left", fontweight="bold")
        figure.supxlabel("needless retransmissions, % of packets sent", fontsize=8)
        figure.supylabel("goodput, % of the best", fontsize=8)
        figure.legend(handles=_legend(), loc="outside upper center", ncols=5, columnspacing=1.2, handletextpad=0.2)
        runs = digest([cell.identity for cell in c.cells.values()])
        title = f"{len(c.families)} stacks on the paths of five papers"
        svg = style.save(figure, out / "paths", _about(title, runs))
    caption = f"Each point is a stack. Named: the best, {TODAY}, newreno. {HOW}"
    files = list(dict.fromkeys(path.scenario for path in PATHS))
    return Picture("paths", title, caption, svg, files, runs, f"ackclock run papers/{files[0]} --stack {TODAY}")


def _about(title: str, runs: str) -> dict[str, str]:
    return {"Title": title, "Description": f"{title}. Ackclock {ackclock.__version__}, runs {runs}."}


def _scatter(axes: Axes, c: Comparison, path: PaperPath, size: float) -> None:
    best = c.best(path)
    for stack, family in c.families.items():
        cell, (colour, marker) = c.cells[path.key, stack], LOOKS[family]
        axes.errorbar(
            cell.needless.value,
            100 * cell.goodput.value / best,
            yerr=100 * cell.goodput.half / best,
            fmt=marker,
            color=colour,
            markersize=size,
            markeredgecolor="black" if stack == TODAY else "white",
            markeredgewidth=1.0 if stack == TODAY else 0.4,
            elinewidth=0.6,
            capsize=0,
            zorder=3 if stack == TODAY else 2,
        )
    axes.set_xscale("symlog", linthresh=LEAST, linscale=0.5)
    axes.set_xlim(-0.003, 60)
    axes.set_xticks([0, 0.01, 0.1, 1, 10])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.minorticks_off()
    axes.set_ylim(0, 108)


def _name(axes: Axes, c: Comparison, path: PaperPath, stacks: Sequence[str]) -> None:
    """Write names beside their points, one below the other where points are close."""
    listed = sorted(dict.fromkeys(stacks), key=lambda stack: -c.share(path, stack))
    taken: list[tuple[float, float]] = []
    for stack in listed:
        x, y = c.needless(path, stack), 100 * c.share(path, stack)
        place = _place(x)
        below = y
        while any(abs(place - x0) < NAME_WIDTH and abs(below - y0) < NAME_HEIGHT for x0, y0 in taken):
            below -= 2
        taken.append((place, below))
        right = place > RIGHT
        axes.annotate(
            stack,
            (x, y),
            xytext=(-6 if right else 6, (below - y) * 1.7),
            textcoords="offset points",
            fontsize=6,
            ha="right" if right else "left",
            va="center",
            arrowprops={"arrowstyle": "-", "linewidth": 0.3, "color": "#888888", "shrinkA": 0, "shrinkB": 2}
            if below != y
            else None,
        )


def _place(x: float) -> float:
    """The approximate position on the axis, from 0 to 1."""
    scale = (0, 0.01, 0.1, 1, 10)
    return sum(x > tick for tick in scale) / len(scale)


def _legend() -> list[Line2D]:
    looks = [(family, *LOOKS[family]) for family in FAMILIES]
    return [Line2D([], [], color=colour, marker=marker, linestyle="", label=label) for label, colour, marker in looks]
