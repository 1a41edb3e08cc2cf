"""Draws Blanton & Allman's Figures 4 to 9: the gain of DSACK's undo, its cost, and the mitigation of the cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter

from ackclock import colours
from ackclock.papers.paper import Picture
from ackclock.plot import style
from ackclock.statistics import Median

from .points import SCENARIOS, STOCK, Point, Scheme, Setting, command, provenance, runs_of
from .schemes import (
    ADAPTIVE,
    ALL,
    ALPHAS,
    COUNTERS,
    FIG9_SWAPS,
    PAPER,
    SWAPS,
    UNDO,
    XS,
    at,
    ewma,
    fraction,
)

Points = Mapping[Setting, Point]
Spread = tuple[float, float, float]
"""A value, and the low and high ends of its bar."""

DASHES = dict(zip(XS, ("-", "--", ":"), strict=True))


def throughput(point: Point) -> Spread:
    """Mean and 95 % interval, in kB/s."""
    m = point.throughput
    return m.value / 1e3, (m.value - m.half) / 1e3, (m.value + m.half) / 1e3


def needless(point: Point) -> Spread:
    """Median and quartiles."""
    m = Median.of(point.values("needless_retransmissions"))
    return m.value, m.low, m.high


def deviation(point: Point) -> Spread:
    """The median distance from the median, without a bar."""
    m = Median.of(point.values("needless_retransmissions"))
    return (m.deviation,) * 3


@dataclass(frozen=True)
class Sweep:
    """A figure over the number of swaps."""

    name: str
    title: str
    axis: str
    bars: str
    schemes: Sequence[Scheme]
    spread: Callable[[Point], Spread]
    caption: str
    log: bool = False


NEEDLESS = "needless retransmissions, median"
SWEEPS = (
    Sweep(
        "fig4",
        "throughput with DSACK's undo",
        "throughput, kB/s",
        "95 % intervals",
        (STOCK, UNDO),
        throughput,
        "Curves are means. In the paper undoing every needless cut keeps throughput within about 1 % of that "
        "without reordering.",
    ),
    Sweep(
        "fig5",
        "needless retransmissions with undo",
        NEEDLESS,
        "quartiles",
        (STOCK, UNDO),
        needless,
        "This is the price of the undo. Curves are medians; bars are quartiles. In the paper needless "
        "retransmissions are about six times as "
        "many with the undo.",
    ),
    Sweep(
        "fig6",
        "throughput of every scheme",
        "throughput, kB/s",
        "95 % intervals",
        (UNDO, *ADAPTIVE),
        throughput,
        "Curves are means; the axis does not begin at 0. In the paper all are within about 1 % of each other.",
    ),
    Sweep(
        "fig7",
        "needless retransmissions of every scheme",
        NEEDLESS,
        "quartiles",
        ALL,
        needless,
        "Curves are medians; bars are quartiles. The vertical axis is logarithmic; without swaps there are no "
        "needless retransmissions. In the paper "
        "every adaptive threshold has fewer than the undo alone, the time-delayed retransmission fewest, the running "
        "average most.",
        log=True,
    ),
    Sweep(
        "fig8",
        "how they vary",
        "median deviation from the median",
        "",
        ALL,
        deviation,
        "Median distance of a run's needless retransmissions from their median. In the paper it approaches half of the "
        "median for the better schemes, and the running average varies most.",
    ),
)
GAINS = (
    "Curves are medians with 12 swaps at each event; bars are quartiles. Solid, dashed, dotted: EWMA for three "
    "values of x; "
    "horizontal: the other schemes. In the paper EWMA(1, 1) has over 550, EWMA(1, 1/16) roughly 275, the others "
    "under 100."
)


def draw(points: Points, out: Path) -> list[Picture]:
    """Draw the six figures into the folder ``out``.

    Raises:
        OSError: the folder is missing or not writable.
    """
    with style.paper():
        return [*(_sweep(sweep, points, out) for sweep in SWEEPS), _gains(points, out)]


def _sweep(s: Sweep, points: Points, out: Path) -> Picture:
    figure = Figure(figsize=style.SINGLE_INCHES, layout="constrained")
    axes = figure.subplots()
    shown = [swaps for swaps in SWAPS if swaps] if s.log else list(SWAPS)
    used = {at(scheme, swaps): points[at(scheme, swaps)] for scheme in s.schemes for swaps in shown}
    for scheme in s.schemes:
        _line(axes, scheme, list(shown), [s.spread(points[at(scheme, swaps)]) for swaps in shown])
    if s.log and any(s.spread(point)[0] > 0 for point in used.values()):
        _logarithmic(axes)
    elif s.spread is not throughput:
        axes.set_ylim(bottom=0)
    axes.set_xlabel("random swaps at each event, an event every 1 s")
    axes.set_ylabel(s.axis + (" (logarithmic)" if s.log else ""))
    return _save(figure, s.name, s.title, s.caption, s.bars, used, out)


def _gains(points: Points, out: Path) -> Picture:
    """Draw Figure 9: the running average's gains, and the other schemes as lines."""
    figure = Figure(figsize=style.SINGLE_INCHES, layout="constrained")
    axes = figure.subplots()
    used: dict[Setting, Point] = {}
    for x in XS:
        chosen = [at(ewma(alpha, x), FIG9_SWAPS) for alpha in ALPHAS]
        used |= {s: points[s] for s in chosen}
        line = [needless(points[s]) for s in chosen]
        _line(axes, ewma(1.0, x), list(ALPHAS), line, dash=DASHES[x], label=f"EWMA, x = {fraction(x)}")
    for scheme in COUNTERS:
        point = points[at(scheme, FIG9_SWAPS)]
        used[point.setting] = point
        value, colour = needless(point)[0], colours.STACKS[scheme.stack]
        axes.axhline(value, color=colour, linestyle="-.", linewidth=1, label=f"{scheme.label}: {value:g}")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"gain alpha; {FIG9_SWAPS} swaps at each event, an event every 1 s")
    axes.set_ylabel(NEEDLESS)
    return _save(figure, "fig9", "needless retransmissions against EWMA's gain", GAINS, "quartiles", used, out)


def _line(
    axes: Axes, scheme: Scheme, x: Sequence[float], spreads: Sequence[Spread], dash: str = "-", label: str = ""
) -> None:
    """Draw one scheme, with bars where low and high differ."""
    y = [value for value, _, _ in spreads]
    bars = [[value - low for value, low, _ in spreads], [high - value for value, _, high in spreads]]
    axes.errorbar(
        x,
        y,
        bars if any(map(any, bars)) else None,
        linestyle=dash,
        color=colours.STACKS[scheme.stack],
        marker=colours.MARKERS[scheme.stack],
        elinewidth=0.6,
        label=label or scheme.label,
    )


def _logarithmic(axes: Axes) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_formatter(NullFormatter())


def _save(figure: Figure, name: str, title: str, caption: str, bars: str, used: Points, out: Path) -> Picture:
    figure.legend(loc="outside upper center", ncols=3, handlelength=2.6)
    about = provenance(list(used.values()), f"bars are {bars}" if bars else "")
    figure.supxlabel(about, fontsize=4.5, color="#666666", x=0.995, ha="right")
    titled = f"Figure {name[3:]}: {title}"
    full = f"Blanton & Allman 2002, {titled}"
    svg = style.save(figure, out / name, {"Title": full, "Description": f"{full}. {about}."})
    *_, last = used
    return Picture(name, titled, caption, svg, [SCENARIOS[PAPER]], runs_of(used.values()), command(PAPER, last.scheme))
