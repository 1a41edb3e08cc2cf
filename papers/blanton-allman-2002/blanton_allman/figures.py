"""Draws Blanton & Allman's Figures 2 and 3: both set-ups, and ns-2's values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from ackclock import colours
from ackclock.papers.paper import Picture
from ackclock.plot import style
from ackclock.statistics import Mean

from .ns2 import Reference
from .points import (
    GAPS_S,
    SCENARIOS,
    STACK,
    SWAPS,
    SWEEP_A_GAPS_S,
    SWEEP_B_SWAPS,
    Point,
    Setting,
    command,
    provenance,
    runs_of,
    setting,
)

LINES: dict[str, Literal["-", "--"]] = {"ns2": "-", "paper": "--"}
MARKERS = dict(zip(SWEEP_A_GAPS_S, "os", strict=True))
COLOUR = colours.STACKS[STACK]


LINES_ARE = (
    "Solid: two waiting packets swap, as in our ns-2 runs (crosses, in the full run). "
    "Dashed: two of the queue's 65 places swap, as we read the paper. "
    "Curves are means over the seeds; bands and bars are 95 % intervals."
)


@dataclass(frozen=True)
class Quantity:
    """The quantity shown in one figure."""

    name: str
    title: str
    axis: str
    caption: str
    scale: float
    ours: Callable[[Point], Mean]
    references: Callable[[Reference], Mean]


FIGURES = (
    Quantity(
        "fig2",
        "throughput of SACK TCP under queue swaps",
        "throughput, kB/s",
        "Left: against the number of random swaps at each event. Right: against the mean time between events. "
        f"{LINES_ARE} "
        "In the paper throughput falls with the swaps and then levels off, and falls as events become more frequent.",
        1e-3,
        lambda point: point.throughput,
        lambda reference: reference.throughput,
    ),
    Quantity(
        "fig3",
        "needless retransmissions of SACK TCP under queue swaps",
        "needless retransmissions per run",
        f"These are the same runs. {LINES_ARE} In the paper both curves rise with the number of swaps and of events.",
        1.0,
        lambda point: point.needless,
        lambda reference: reference.needless,
    ),
)


def draw(points: Mapping[Setting, Point], references: list[Reference], out: Path) -> list[Picture]:
    """Draw both figures into the folder ``out``.

    Raises:
        OSError: the folder is missing or not writable.
    """
    with style.paper():
        return [_figure(q, points, references, out) for q in FIGURES]


def _figure(q: Quantity, points: Mapping[Setting, Point], references: list[Reference], out: Path) -> Picture:
    figure = Figure(figsize=style.WIDE_INCHES, layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _sweep_a(left, q, points, references)
    _sweep_b(right, q, points, references)
    left.set_ylabel(q.axis)
    if q.name == "fig3":
        left.set_ylim(bottom=0)
    figure.legend(handles=_legend(), loc="outside upper center", ncols=4, handlelength=2.6)
    about = provenance(list(points.values()), "bars and bands are 95 % intervals")
    figure.supxlabel(about, fontsize=5, color="#666666", x=0.995, ha="right")
    title = f"Figure {q.name[3:]}: {q.title}"
    full = f"Blanton & Allman 2002, {title}"
    svg = style.save(figure, out / q.name, {"Title": full, "Description": f"{full}. {about}."})
    return Picture(
        q.name, title, q.caption, svg, list(SCENARIOS.values()), runs_of(points.values()), command(next(iter(LINES)))
    )


def _sweep_a(axes: Axes, q: Quantity, points: Mapping[Setting, Point], references: list[Reference]) -> None:
    for gap in SWEEP_A_GAPS_S:
        for scenario in LINES:
            means = [q.ours(points[setting(scenario, swaps, gap)]) for swaps in SWAPS]
            _curve(axes, q, scenario, MARKERS[gap], list(SWAPS), means)
        chosen = [r for r in references if r.sweep == "fig2a" and r.gap_s == gap]
        _crosses(axes, q, [r.swaps for r in chosen], [q.references(r) for r in chosen])
    axes.set_xlabel("random swaps at each event")
    axes.set_title("(a) events every 1 s (circles), 8 s (squares)", loc="left")


def _sweep_b(axes: Axes, q: Quantity, points: Mapping[Setting, Point], references: list[Reference]) -> None:
    for scenario in LINES:
        means = [q.ours(points[setting(scenario, SWEEP_B_SWAPS, gap)]) for gap in GAPS_S]
        _curve(axes, q, scenario, "D", list(GAPS_S), means)
    chosen = [r for r in references if r.sweep == "fig2b"]
    _crosses(axes, q, [r.gap_s for r in chosen], [q.references(r) for r in chosen])
    axes.set_xscale("log", base=2)
    axes.set_xticks(GAPS_S)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda gap, _: f"{gap:g}"))
    axes.set_xlabel("mean time between events, s (logarithmic)")
    axes.set_title(f"(b) {SWEEP_B_SWAPS} swaps at each event", loc="left")


def _curve(axes: Axes, q: Quantity, scenario: str, marker: str, x: list[float] | list[int], means: list[Mean]) -> None:
    """Draw one of our curves with its interval as a band."""
    y = [q.scale * m.value for m in means]
    low, high = ([q.scale * (m.value + sign * m.half) for m in means] for sign in (-1, 1))
    axes.fill_between(x, low, high, color=COLOUR, alpha=0.18, linewidth=0)
    axes.plot(x, y, linestyle=LINES[scenario], marker=marker, color=COLOUR, markerfacecolor=_face(scenario))


def _crosses(axes: Axes, q: Quantity, x: list[float] | list[int], means: list[Mean]) -> None:
    """Draw ns-2's values with their intervals as bars."""
    y, half = [q.scale * m.value for m in means], [q.scale * m.half for m in means]
    axes.errorbar(x, y, half, fmt="x", color=colours.REFERENCE, elinewidth=0.7, capthick=0.7, markersize=5, zorder=3)


def _face(scenario: str) -> str:
    return COLOUR if scenario == "ns2" else "white"


def _legend() -> list[Line2D]:
    def entry(scenario: str, label: str) -> Line2D:
        return Line2D(
            [], [], linestyle=LINES[scenario], marker="o", color=COLOUR, markerfacecolor=_face(scenario), label=label
        )

    return [
        entry("ns2", f"{STACK}, two waiting packets swapped"),
        Line2D([], [], linestyle="", marker="x", markersize=5, color=colours.REFERENCE, label="ns-2.35, likewise"),
        entry("paper", f"{STACK}, two of the queue's 65 places swapped"),
    ]
