"""Draws Leung & Ma's Figures 3 to 8, 10 and 11, and Table 2 compared with our runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ackclock import colours
from ackclock.papers.paper import Picture
from ackclock.plot import style
from ackclock.runs.trial import Ran, provenance, runs_of

from .points import (
    AVG_DEV,
    FIGURES,
    FS,
    KEY,
    LOSSES,
    METHODS,
    MIXED,
    MULTIPATH,
    SHARES,
    SINGLE,
    Method,
    Place,
    Single,
    Split,
    trial,
)
from .view import View

LINES_ARE = "Marks are means over the seeds; bars are 95 % intervals."
COMMAND = f"ackclock run papers/{KEY}/"


@dataclass(frozen=True)
class Row:
    """Figures of one kind side by side, such as without and with loss."""

    name: str
    title: str
    caption: str
    axis: str
    label: str
    panels: Sequence[tuple[str, Sequence[tuple[float, Place]]]]
    """The title of each panel, and its places along the axis."""
    values: Callable[[View, Method, Place], list[float]]
    scenario: str
    log: bool = True
    ticks: Sequence[float] = (1.0,)
    """Ticks of each decade, if the axis is logarithmic."""


def _f(figure: str) -> Sequence[tuple[float, Place]]:
    return [(f, Single(f, *FIGURES[figure])) for f in FS]


def _share(loss: float, shares: Sequence[int] = SHARES) -> Sequence[tuple[float, Place]]:
    return [(share, Split(share, loss)) for share in shares]


FACTOR, OVER_R3 = "packet delay factor f", "packets over R1-R3-R4, %"
RATE = "unnecessary fast retransmissions, %"
WITH = ("no loss", "0.3 % loss")
ROWS = (
    Row(
        "fig3-5",
        "Figures 3 to 5: throughput against the packet delay factor",
        f"{LINES_ARE} In the paper AVG-DEV is 40 to 80 % above DEL, INC and AVG (left), 7 to 35 % above DEL and AVG "
        "(middle) and 50 to 70 % above DEL (right), and everywhere close to FA. The vertical axis is logarithmic.",
        FACTOR,
        "throughput, kB/s",
        [(f"Figure {n}: {name}", _f(name)) for n, name in enumerate(FIGURES, 3)],
        View.throughputs,
        SINGLE,
        ticks=(1.0, 2.0, 5.0),
    ),
    Row(
        "fig6-8",
        "Figures 6 to 8: unnecessary retransmission rate against the packet delay factor",
        f"The rate is needless fast retransmissions in per cent of the packets sent. {LINES_ARE} The vertical axis "
        "is logarithmic. "
        "In the paper AVG-DEV has 15 to 40 % of DEL's rate and 6 to 15 % of EWMA's (left), and the rates with loss "
        "(right) are about those without.",
        FACTOR,
        RATE,
        [(f"Figure {n}: {name}", _f(name)) for n, name in enumerate(FIGURES, 6)],
        View.rates,
        SINGLE,
    ),
    Row(
        "fig10-11",
        "Figures 10 and 11: throughput against the share of packets over R1-R3-R4",
        f"{LINES_ARE} Nothing is random without loss. INC and AVG nearly coincide, and so do DSACK and "
        "EWMA. Dotted: a straight line between the ends, which the paper regards as ideal. In the paper AVG-DEV "
        "is on average 35 to 45 % above DEL, INC and AVG, and 65 % above EWMA.",
        OVER_R3,
        "throughput, kB/s",
        [(f"Figure {n}: {name}", _share(loss)) for n, name, loss in zip((10, 11), WITH, LOSSES, strict=True)],
        View.throughputs,
        MULTIPATH,
        log=False,
    ),
    Row(
        "table2-shares",
        "Table 2: unnecessary retransmission rate against the share of packets over R1-R3-R4",
        "These are the rates whose means over the shares are in Table 2: needless fast retransmissions in per cent "
        f"of the packets sent; a rate of zero is shown at 0.001. {LINES_ARE}",
        OVER_R3,
        RATE,
        [(name, _share(loss, MIXED)) for name, loss in zip(WITH, LOSSES, strict=True)],
        View.rates,
        MULTIPATH,
    ),
)
LEAST_SHOWN = 0.001
"""In per cent; a logarithmic axis cannot show zero."""


def draw(v: View, out: Path) -> list[Picture]:
    """Draw all figures into the folder ``out``.

    Raises:
        OSError: the folder is missing or not writable.
    """
    with style.paper():
        return [_row(row, v, out) for row in ROWS]


def _row(row: Row, v: View, out: Path) -> Picture:
    figure = Figure(figsize=(style.WIDE_INCHES[0], style.WIDE_INCHES[1] + 0.2), layout="constrained")
    panels = figure.subplots(1, len(row.panels), sharey=row.log)
    shown: dict[str, Ran] = {}
    for axes, (title, places) in zip(panels, row.panels, strict=True):
        for method in METHODS:
            _curve(axes, row, method, places, v)
            shown |= {one.identity: one for _, p in places for one in [v.runs.ran[trial(method, p)]]}
        if row.name == "fig10-11":
            _ideal(axes, places, v)
        axes.set_title(title, loc="left")
        axes.set_xlabel(row.axis)
        _scale(axes, row)
    panels[0].set_ylabel(row.label)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(METHODS), handlelength=2.2, columnspacing=1.2)
    # Points without randomness have one run; provenance uses the first entry.
    ran = sorted(shown.values(), key=lambda one: -len(one.runs))
    about = provenance(ran, "bars are 95 % intervals")
    figure.supxlabel(about, fontsize=5, color="#666666", x=0.995, ha="right")
    full = f"Leung & Ma 2005, {row.title}"
    svg = style.save(figure, out / row.name, {"Title": full, "Description": f"{full}. {about}."})
    return Picture(
        row.name,
        row.title,
        row.caption,
        svg,
        [row.scenario],
        runs_of(ran),
        f"{COMMAND}{row.scenario} --stack {AVG_DEV.stack}",
    )


def _scale(axes: Axes, row: Row) -> None:
    if row.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_locator(LogLocator(subs=row.ticks))
    else:
        axes.set_ylim(bottom=0)


def _curve(axes: Axes, row: Row, method: Method, places: Sequence[tuple[float, Place]], v: View) -> None:
    look = colours.look(method.stack)
    means = [v.mean(row.values, method, p) for _, p in places]
    y = [max(m.value, LEAST_SHOWN) for m in means]
    # Bars that would extend below the axis end at it.
    low = [value - max(value - m.half, LEAST_SHOWN) for value, m in zip(y, means, strict=True)]
    axes.errorbar(
        [x for x, _ in places],
        y,
        [low, [m.half for m in means]],
        color=look.colour,
        marker=look.marker,
        linestyle=look.line,
        elinewidth=0.6,
        capthick=0.6,
        label=method.label,
    )


def _ideal(axes: Axes, places: Sequence[tuple[float, Place]], v: View) -> None:
    xs = [x for x, _ in places]
    ends = [v.throughput(AVG_DEV, places[i][1]) for i in (0, -1)]
    line = [ends[0] + (ends[1] - ends[0]) * x / xs[-1] for x in xs]
    axes.plot(xs, line, linestyle=":", color=colours.REFERENCE, linewidth=0.9, zorder=1)
