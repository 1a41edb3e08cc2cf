"""Draws Figures 3 to 11 of Fukuda et al. 2018."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ackclock import colours
from ackclock.papers.paper import Picture
from ackclock.plot import style
from ackclock.runs.trial import Ran, Trial, provenance, runs_of

from .curves import (
    CUBIC,
    FILES,
    GRID,
    KEY,
    NEWRENO,
    RIS,
    SENDERS,
    Array,
    Curve,
    Sender,
    delays,
    point,
)
from .measures import CLOSE_S, LONG, SHORT, View
from .reference import Row
from .window_trace import WindowTrace

COLOURS = {NEWRENO: colours.of("newreno"), CUBIC: "#0072B2"}
MARKERS = {NEWRENO: "h", CUBIC: "s"}
PAPER = "Fukuda et al. 2018"
END_S = 10.2
MODEL = "model of ns-3's old rules"
BAND = (
    "Lines are means over round trips that differ by less than a packet's transmission time; bands reach from the "
    "smallest to the largest value; marks are the grid. Crosses: the model of ns-3's old recovery rules, whose Cubic "
    "has two other conventions (README.md)."
)
INFLATED = "The thin line is cwnd plus the inflation of fast recovery, which ns-3 keeps in one variable."


@dataclass(frozen=True)
class Span:
    """A figure of the window over a range of time."""

    name: str
    sender: Sender
    ri: int
    start: float
    stop: float
    says: str
    """The paper's statement about it."""


SPANS = (
    Span("fig5", NEWRENO, SHORT, 0, END_S, "In the paper cwnd increases even after fast recoveries."),
    Span("fig6", CUBIC, SHORT, 0, END_S, "In the paper cwnd fluctuates at a low range."),
    Span("fig7", NEWRENO, SHORT, *CLOSE_S, "In the paper cwnd is halved and congestion avoidance continues."),
    Span("fig8", CUBIC, SHORT, *CLOSE_S, "In the paper cwnd repeatedly falls to 2 segments; ours does not."),
    Span(
        "fig9",
        CUBIC,
        SHORT,
        0,
        2,
        "In the paper cwnd falls stepwise to 2 segments within 2 s; ours settles.",
    ),
    Span(
        "fig10",
        NEWRENO,
        LONG,
        0,
        END_S,
        "In the paper congestion avoidance continues with one more segment per round trip.",
    ),
    Span("fig11", CUBIC, LONG, 0, END_S, "In the paper cwnd rises intermittently between 2 and 8 s."),
)


def draw(view: View, model: Sequence[Row], ran: Mapping[Trial, Ran], out: Path) -> list[Picture]:
    """Draw all nine figures into the folder ``out``.

    Args:
        view: the results to draw.
        model: the model's values beside ours.
        ran: at least the runs of the view.
        out: the folder.

    Raises:
        OSError: the folder is missing or not writable.
    """
    with style.paper():
        return [_throughput(view, model, ran, out), _recoveries(view, model, ran, out), *_windows(view, ran, out)]


def _throughput(view: View, model: Sequence[Row], ran: Mapping[Trial, Ran], out: Path) -> Picture:
    figure, panels = _panels("normalised throughput")
    whole = next(row.throughput.model for row in model if row.ri == 0)
    for axes, sender in zip(panels, SENDERS, strict=True):
        _band(axes, sender, view.curves[sender].normalised)
        crosses = {r.ri: r.throughput.model / whole for r in _of(model, sender)}
        _crosses(axes, crosses)
    panels[0].set_ylim(0, 1.04)
    _legends(panels)
    says = "In the paper NewReno loses at most about 50 %, Cubic 65 %, and Cubic is below NewReno except at RI = 30."
    return _save(figure, "fig3", "normalised throughput against RI", f"{BAND} {says}", _all(view, ran), out)


def _recoveries(view: View, model: Sequence[Row], ran: Mapping[Trial, Ran], out: Path) -> Picture:
    figure, panels = _panels("fast recoveries in 10 s")
    for axes, sender in zip(panels, SENDERS, strict=True):
        _band(axes, sender, view.curves[sender].recoveries)
        crosses = {r.ri: r.recoveries.model for r in _of(model, sender)}
        _crosses(axes, crosses)
    panels[0].set_ylim(bottom=0)
    _legends(panels)
    says = "In the paper their number falls with RI, and there are none at RI = 100."
    return _save(figure, "fig4", "number of fast recoveries against RI", f"{BAND} {says}", _all(view, ran), out)


def _panels(axis: str) -> tuple[Figure, Sequence[Axes]]:
    figure = Figure(figsize=style.WIDE_INCHES, layout="constrained")
    panels: Sequence[Axes] = list(figure.subplots(1, 2, sharey=True))
    for axes, sender in zip(panels, SENDERS, strict=True):
        axes.set_title(sender.label, loc="left")
        axes.set_xlabel("reorder interval RI, packets")
        axes.set_xlim(0, RIS[-1] + 2)
    panels[0].set_ylabel(axis)
    return figure, panels


def _legends(panels: Sequence[Axes]) -> None:
    for axes in panels:
        axes.legend(loc="best", handlelength=1.2)


def _band(axes: Axes, sender: Sender, table: Array) -> None:
    """Draw a sender's curve over every RI: mean, smallest and largest value over the round trips."""
    mean = table.mean(axis=1)
    axes.fill_between(RIS, table.min(axis=1), table.max(axis=1), color=COLOURS[sender], alpha=0.25, linewidth=0)
    axes.plot(RIS, mean, color=COLOURS[sender], linewidth=0.9)
    grid = [RIS.index(ri) for ri in GRID]
    axes.plot(GRID, mean[grid], MARKERS[sender], color=COLOURS[sender], label=f"{sender.label}, grid")


def _crosses(axes: Axes, values: Mapping[int, float]) -> None:
    axes.plot(list(values), list(values.values()), "x", color=colours.REFERENCE, markersize=4, label=MODEL)


def _of(model: Sequence[Row], sender: Sender) -> list[Row]:
    return [r for r in model if r.sender == sender.label.lower() and not r.delayed and r.ri]


def _all(view: View, ran: Mapping[Trial, Ran]) -> list[Ran]:
    return [ran[trial] for curve in view.curves.values() for trial in curve.family.trials]


def _windows(view: View, ran: Mapping[Trial, Ran], out: Path) -> list[Picture]:
    return [_window(span, view.traces[span.sender, span.ri][0], ran, out) for span in SPANS]


def _window(span: Span, trace: WindowTrace, ran: Mapping[Trial, Ran], out: Path) -> Picture:
    figure = Figure(figsize=style.SINGLE_INCHES, layout="constrained")
    axes = figure.subplots()
    shown = _until(trace.inflated, span.stop)
    bare = _until(list(zip(trace.at, trace.cwnd, strict=True)), span.stop)
    axes.step(*zip(*shown, strict=True), where="post", color="#999999", linewidth=0.6, label="with inflation")
    axes.step(*zip(*bare, strict=True), where="post", color=COLOURS[span.sender], linewidth=1.2, label="cwnd")
    cuts = [(at, before) for at, before, _ in trace.cuts if span.start <= at <= span.stop]
    axes.plot(
        [at for at, _ in cuts],
        [cwnd for _, cwnd in cuts],
        "v",
        color=colours.REFERENCE,
        markersize=3,
        label="fast retransmit",
    )
    inside = [value for at, value in shown if span.start <= at <= span.stop]
    axes.set_ylim(0, 1.08 * max(inside, default=1.0))
    axes.set_xlim(span.start, span.stop)
    axes.set_xlabel("time, s")
    axes.set_ylabel("congestion window, segments")
    figure.legend(loc="outside upper center", ncols=3)
    first = ran[point(span.sender, span.ri, delays(1)[0])]
    title = f"cwnd of {span.sender.label}, RI = {span.ri}" + (
        f", {span.start:g} to {span.stop:g} s" if span.stop < END_S else ""
    )
    return _save(figure, span.name, title, f"{INFLATED} {span.says}", [first], out, span.sender, span.ri)


def _until(series: list[tuple[float, float]], stop: float) -> list[tuple[float, float]]:
    """Cut a series at a time, and extend its last value to that time."""
    before = [(at, value) for at, value in series if at <= stop]
    return [*before, (stop, before[-1][1])]


def _save(
    figure: Figure,
    name: str,
    title: str,
    caption: str,
    used: Sequence[Ran],
    out: Path,
    sender: Sender = CUBIC,
    ri: int = SHORT,
) -> Picture:
    about = provenance(list(used), f"{len(used)} runs" if len(used) > 1 else "")
    figure.supxlabel(about, fontsize=4.5, color="#666666", x=0.995, ha="right")
    titled = f"Figure {name[3:]}: {title}"
    full = f"{PAPER}, {titled}"
    svg = style.save(figure, out / name, {"Title": full, "Description": f"{full}. {about}."})
    return Picture(name, titled, caption, svg, FILES, runs_of(used), command(sender, ri))


def command(sender: Sender, ri: int) -> str:
    """The command that runs a sender at this RI, with the scenario's RI replaced if necessary."""
    file = f"papers/{KEY}/{sender.file}"
    return (
        f"ackclock run {file}"
        if ri == SHORT
        else f"sed 's/interval = {SHORT}/interval = {ri}/' {file} | ackclock run -"
    )


def curve_rows(curves: Mapping[Sender, Curve]) -> list[dict[str, object]]:
    """Every point of both curves as lines of points.csv."""
    return [
        {
            "sender": sender.label,
            "ri": ri,
            "round_trips": len(curve.family.delays),
            **_spread("normalised", curve.normalised[i], "{:.6f}"),
            **_spread("normalised_arriving", curve.arriving[i], "{:.6f}"),
            **_spread("fast_recoveries", curve.recoveries[i], "{:g}"),
        }
        for sender, curve in curves.items()
        for i, ri in enumerate(RIS)
    ]


def _spread(name: str, values: Array, form: str) -> dict[str, object]:
    numbers = {"": np.mean(values), "_exact": values[0], "_smallest": np.min(values), "_largest": np.max(values)}
    return {f"{name}{ending}": form.format(number) for ending, number in numbers.items()}
