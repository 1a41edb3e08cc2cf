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
from .names import place
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
COLUMN_INCHES = (3.4, 3.5)
"""One column of a conference page."""
KNOWN = ("reno", "newreno", "sack-ff96", "dsack", "cubic", "rack-tlp", "rfc-today", TODAY, "late")
"""Stacks that readers look for."""
WASTE = ((0.1, "#0072B2", "o"), (2.0, "#E69F00", "s"), (100.0, "#B2182B", "X"))
"""Upper limits of needless retransmissions for each mark, % of packets sent."""


def headline(c: Comparison, out: Path) -> Picture:
    """Well-known stacks, and the surest of each kind, on all paths: a row for each stack.

    Raises:
        OSError: the folder is missing or not writable.
    """
    with style.paper():
        figure = Figure(figsize=COLUMN_INCHES, layout="constrained")
        axes = figure.subplots()
        rows = _rows(c)
        for row, stack in enumerate(rows):
            shares = [100 * c.share(path, stack) for path in PATHS]
            axes.plot([min(shares), max(shares)], [row, row], color="#bbbbbb", linewidth=0.8, zorder=1)
            for path, share in zip(PATHS, shares, strict=True):
                _, colour, marker = next(each for each in WASTE if c.needless(path, stack) <= each[0])
                axes.plot(share, row, marker, color=colour, markersize=4, markeredgecolor="white", markeredgewidth=0.3)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.set_xlim(0, 103)
        axes.set_xlabel("goodput, % of the best on the path")
        worst = axes.secondary_yaxis("right")
        worst.set_yticks(range(len(rows)), [c.worst(stack)[1].title for stack in rows], fontsize=6.5)
        worst.tick_params(length=0)
        worst.spines["right"].set_visible(False)
        axes.set_title("worst on", loc="right", fontsize=6.5, color="#555555")
        figure.legend(
            handles=_waste(), loc="outside upper left", ncols=3, columnspacing=0.8, handletextpad=0.1, fontsize=6.5
        )
        runs = digest([cell.identity for cell in c.cells.values()])
        title = "How senders do on the paths of five papers"
        svg = style.save(figure, out / "everywhere", _about(title, runs))
    caption = (
        f"Each row is a sender and each mark one of {len(PATHS)} paths: its goodput as a share of the best of "
        f"{len(c.families)} stacks. Colour and shape show the share of its packets that are needless retransmissions. "
        "On the right: the path on which the sender does worst. The senders are well known, or the surest of their "
        "kind: the ones whose worst path is the least bad."
    )
    files = list(dict.fromkeys(path.scenario for path in PATHS))
    return Picture("everywhere", title, caption, svg, files, runs, f"ackclock run papers/{files[0]} --stack {TODAY}")


def _rows(c: Comparison) -> list[str]:
    """The stacks of the headline, the surest last, which is on top."""
    surest = [
        max((stack for stack, of in c.families.items() if of == kind), key=lambda stack: c.worst(stack)[0])
        for kind in FAMILIES
        if kind in c.families.values()
    ]
    return sorted(dict.fromkeys((*KNOWN, *surest)), key=lambda stack: c.worst(stack)[0])


def _waste() -> list[Line2D]:
    limits = [f"up to {limit:g} %" for limit, *_ in WASTE[:-1]] + [f"over {WASTE[-2][0]:g} % needless"]
    return [
        Line2D([], [], color=colour, marker=marker, markersize=4, linestyle="", label=label)
        for label, (_, colour, marker) in zip(limits, WASTE, strict=True)
    ]


def of_path(c: Comparison, path: PaperPath, out: Path) -> Picture:
    """Draw one path, with the names of the stacks on the front and of some well-known ones.

    Raises:
        OSError: the folder is missing or not writable.
    """
    with style.paper():
        figure = Figure(figsize=style.SINGLE_INCHES, layout="constrained")
        axes = figure.subplots()
        _scatter(axes, c, path, 5)
        axes.set_xlabel("needless retransmissions, % of packets sent")
        axes.set_ylabel("goodput, % of the best")
        figure.legend(handles=_legend(), loc="outside upper center", ncols=5, columnspacing=1.0, handletextpad=0.2)
        figure.draw_without_rendering()
        _name(axes, c, path, [*c.frontier(path), TODAY, "rfc-today", "newreno", "sack-ff96", "dsack", "rack-tlp"])
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
            axes.set_title(path.title, loc="left", fontweight="bold")
        figure.supxlabel("needless retransmissions, % of packets sent", fontsize=8)
        figure.supylabel("goodput, % of the best", fontsize=8)
        figure.legend(handles=_legend(), loc="outside upper center", ncols=5, columnspacing=1.2, handletextpad=0.2)
        figure.draw_without_rendering()
        for axes, path in zip(grid.flat, PATHS, strict=True):
            _name(axes, c, path, [c.frontier(path)[-1], TODAY, "newreno"])
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
    """Names near their points, the best goodput first."""
    listed = sorted(dict.fromkeys(stacks), key=lambda stack: -c.share(path, stack))
    at = {stack: (c.needless(path, stack), 100 * c.share(path, stack)) for stack in c.families}
    place(axes, [(stack, *at[stack]) for stack in listed], list(at.values()))


def _legend() -> list[Line2D]:
    looks = [(family, *LOOKS[family]) for family in FAMILIES]
    return [Line2D([], [], color=colour, marker=marker, linestyle="", label=label) for label, colour, marker in looks]
