"""Draws Wang & Shin's figures from our runs."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Mapping, Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

import ackclock
from ackclock import colours, plot
from ackclock.papers.paper import Picture, Work
from ackclock.plot import style
from ackclock.runs import trial
from ackclock.runs.trial import Ran, Trial
from ackclock.statistics import Mean

from . import first_recovery, ns2, states
from .first_recovery import FirstRecovery
from .measures import View
from .model import bound
from .points import (
    CASES,
    COMPARED,
    LOSSES,
    NETWORKS,
    PEER_WINDOWS,
    PS,
    RR,
    SACK,
    red,
)
from .transfer import PUBLISHED

SEED = 1
"""Seed of the runs that Figure 6 shows; it was chosen before any run was inspected."""
PAPER = "#D55E00"
"""Colour of the paper's values in figures."""
RUN = "ackclock run papers/wang-shin/"


def draw(view: View, beside: Mapping[Trial, Ran], work: Work) -> list[Picture]:
    """Draw all figures into the folder ``work.out``.

    Raises:
        OSError: the folder is missing or not writable.
    """
    with style.paper():
        return [
            states.draw(work.out),
            _figure_5(view, work),
            _figure_6(view, work),
            _events(view, work),
            _figure_7(view, beside, work),
            _table_5(view, work),
        ]


def _picture(figure: Figure, work: Work, about: str, picture: Picture) -> Picture:
    """Save a figure with its provenance below it and in its metadata."""
    figure.supxlabel(about, fontsize=5, color="#666666", x=0.995, ha="right")
    full = f"Wang & Shin, {picture.title}"
    style.save(figure, work.out / picture.name, {"Title": full, "Description": f"{full}. {about}."})
    return picture


def _about(what: str, identity: str) -> str:
    return f"Ackclock {ackclock.__version__}, {what}, runs {identity}"


def _figure_5(view: View, work: Work) -> Picture:
    figure = Figure(figsize=style.WIDE_INCHES, layout="constrained")
    for axes, losses in zip(figure.subplots(1, 2, sharey=True), LOSSES, strict=True):
        _forced(axes, view, losses)
        axes.set_title(f"{losses} packets of a window lost", loc="left")
    figure.axes[0].set_ylabel("effective throughput, kb/s")
    figure.axes[0].set_ylim(bottom=0)
    handles = [
        Line2D([], [], linestyle="", marker="o", color="#555555", label="window 30 (Table 3)"),
        Line2D([], [], linestyle="", marker="o", color="#555555", markerfacecolor="white", label="open window"),
        Line2D([], [], color="black", linewidth=1.6, label="mean over the cases"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    name, title = "fig5", "Figure 5: effective throughput while losses are repaired"
    caption = (
        "Each mark is a case: a window of 12 to 28 packets of which 3 (left) or 6 (right) are lost, side by side or "
        "every other one. The measure counts data acknowledged between the fast retransmit and the ACK of everything "
        "outstanding at that time. In the paper RR is significantly above Tahoe and New-Reno and slightly above SACK, "
        "and with 6 losses Tahoe is above New-Reno. Nothing is random."
    )
    about = _about(f"{len(view.grid.of(RR))} cases", view.grid.digest)
    point = f"{RUN}scenario-losses.toml --trace losses.parquet"
    svg = (work.out / name).with_suffix(".svg")
    return _picture(
        figure, work, about, Picture(name, title, caption, svg, ["scenario-losses.toml"], view.grid.digest, point)
    )


def _forced(axes: Axes, view: View, losses: int) -> None:
    noise = random.Random(losses)
    for at, scheme in enumerate(COMPARED):
        for window, face, shift in zip(PEER_WINDOWS, (None, "white"), (-0.2, 0.2), strict=True):
            values = view.grid.kbps(scheme, losses, window)
            look = colours.look(scheme.stack)
            x = [at + shift + noise.uniform(-0.11, 0.11) for _ in values]
            axes.plot(
                x,
                values,
                linestyle="",
                marker=look.marker,
                color=look.colour,
                markerfacecolor=face or look.colour,
                markersize=3,
                markeredgewidth=0.6,
            )
            mean = view.grid.mean(scheme, losses, window)
            axes.plot([at + shift - 0.17, at + shift + 0.17], [mean, mean], color="black", linewidth=1.6)
    axes.set_xticks(range(len(COMPARED)), [scheme.name for scheme in COMPARED])
    axes.grid(visible=False, axis="x")


def _figure_6(view: View, work: Work) -> Picture:
    figure = Figure(figsize=(style.WIDE_INCHES[0], 6.4), layout="constrained")
    for axes, scheme, letter in zip(
        figure.subplots(2, 2, sharex=True, sharey=True).flat, COMPARED, "abcd", strict=True
    ):
        events = work.events(red(scheme), SEED)
        plot.time_sequence(events, stack=scheme.stack, ax=axes)
        axes.legend_ = None
        axes.set_title(f"({letter}) {scheme.name}: {_acked(events):.0f} packets acknowledged", loc="left")
    for axes in figure.axes:
        axes.set_ylim(0, 110)
        axes.label_outer()
    handles, labels = figure.axes[-1].get_legend_handles_labels()
    plain = {label.split(" (")[0]: handle for handle, label in zip(handles, labels, strict=True)}
    plain.pop("duplicate ACK", None)
    figure.legend(plain.values(), plain.keys(), loc="outside upper center", ncols=3)
    name, title = "fig6", f"Figure 6: the first of ten flows over RED, seed {SEED}"
    caption = (
        "A bar is a packet sent, in its sender's colour; triangles are retransmissions and crosses are drops; the "
        "staircase is the cumulative ACK. Each sender has one run, with a seed chosen beforehand; the next figure "
        "has the other seeds. In the paper RR acknowledges most, and New-Reno's new data fade away in its recovery."
    )
    ran = [view.ran[red(scheme)] for scheme in COMPARED]
    first = hashlib.sha256("".join(one.runs[0]["identity"] for one in ran).encode()).hexdigest()[:16]
    point = f"{RUN}scenario-red.toml --seed {SEED} --trace red.parquet"
    svg = (work.out / name).with_suffix(".svg")
    return _picture(
        figure,
        work,
        _about(f"seed {SEED}", first),
        Picture(name, title, caption, svg, ["scenario-red.toml"], first, point),
    )


def _acked(events: pl.DataFrame) -> float:
    mine = events.filter((pl.col("flow") == 0) & (pl.col("event") == "acked"))
    return float(mine["ack"][-1] - 1) / 1000


EVENTS: tuple[tuple[str, Callable[[FirstRecovery], float | None], float], ...] = (
    ("further loss", lambda one: one.further_s, 2.37),
    ("it is retransmitted", lambda one: one.resent_s, 3.33),
    ("first recovery ends", lambda one: one.exit_s, 3.65),
    ("next loss", lambda one: one.loss_s, 4.0),
    ("second recovery ends", lambda one: one.second_exit_s, 5.30),
)
"""§3.3, times in seconds."""


def _events(view: View, work: Work) -> Picture:
    every = view.of(RR)
    figure = Figure(figsize=(style.WIDE_INCHES[0], 2.6), layout="constrained")
    axes = figure.subplots()
    noise = random.Random(0)
    for at, (_, pick, published) in enumerate(reversed(EVENTS)):
        times = [time for one in every if (time := pick(one)) is not None]
        y = [at + noise.uniform(-0.22, 0.22) for _ in times]
        axes.plot(times, y, linestyle="", marker="o", markersize=2, alpha=0.5, color=colours.of(RR.stack))
        if times:
            middle = first_recovery.median(times)
            axes.plot([middle, middle], [at - 0.35, at + 0.35], color="black", linewidth=1.6)
        axes.plot([published], [at], marker="D", markersize=6, color=PAPER, markeredgecolor="black", linestyle="")
        axes.text(6.05, at, f"{len(times)} of {len(every)} runs", va="center", fontsize=7)
    axes.set_yticks(range(len(EVENTS)), [name for name, _, _ in reversed(EVENTS)])
    axes.set_xlim(2, 6)
    axes.set_xlabel("time, s")
    axes.grid(visible=False, axis="y")
    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=3, color=colours.of(RR.stack), label="a run"),
        Line2D([], [], color="black", linewidth=1.6, label="median"),
        Line2D([], [], linestyle="", marker="D", color=PAPER, markeredgecolor="black", label="the paper's run"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    ran = view.ran[red(RR)]
    name, title = "fig6-events", "Figure 6(d): when things happen to RR's first flow"
    caption = (
        "Each dot is a seed; in some the event does not happen within the 6 s, or a timeout happens first. The "
        "diamond is the paper's single run."
    )
    svg = (work.out / name).with_suffix(".svg")
    point = f"{RUN}scenario-red.toml --trace red.parquet"
    return _picture(
        figure,
        work,
        trial.provenance([ran]),
        Picture(name, title, caption, svg, ["scenario-red.toml"], ran.identity, point),
    )


def _figure_7(view: View, beside: Mapping[Trial, Ran], work: Work) -> Picture:
    figure = Figure(figsize=style.WIDE_INCHES, layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(PS, [bound(p) for p in PS], color="black", linewidth=1)
    right.axhline(1, color="black", linewidth=1)
    for scheme in (SACK, RR):
        for network, line in zip(NETWORKS, ("-", "--"), strict=True):
            means = [view.model.window(scheme, p, network) for p in PS]
            _curve(left, scheme.stack, line, means)
            shares = [Mean(m.n, m.value / bound(p), m.half / bound(p)) for m, p in zip(means, PS, strict=True)]
            _curve(right, scheme.stack, line, shares)
    crosses = _theirs(work)
    for axes, scale in ((left, lambda p: 1.0), (right, bound)):
        y = [m.value / scale(p) for p, m in crosses]
        half = [m.half / scale(p) for p, m in crosses]
        axes.errorbar([p for p, _ in crosses], y, half, fmt="x", color=colours.REFERENCE, elinewidth=0.7, zorder=3)
        axes.set_xscale("log")
        axes.set_xticks([0.001, 0.003, 0.01, 0.03, 0.1])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda p, _: f"{p:g}"))
        axes.set_xlabel("loss rate p (logarithmic)")
    _log(left, (2, 5, 10, 20, 40))
    left.set_ylabel("BW · RTT / MSS, segments")
    right.set_ylabel("share of the model's")
    right.set_ylim(bottom=0)
    figure.legend(handles=_legend_7(), loc="outside upper center", ncols=4)
    shown = [ran for at, ran in view.ran.items() if at.file == "scenario-model.toml"]
    name, title = "fig7", "Figure 7: the window under uniform loss, and the square-root model"
    caption = (
        "Left: the window; right: over the model's sqrt (1.5 / p). Solid: a network that never limits, as the model "
        "assumes. Dashed: Table 3's network, whose 30 packets and 0.8 Mb/s cap the window where losses are few. "
        "Curves are means over the seeds; bands and bars are 95 % intervals. In the paper both stay below the model, "
        "RR slightly closer to it."
    )
    svg = (work.out / name).with_suffix(".svg")
    picture = Picture(
        name, title, caption, svg, ["scenario-model.toml"], trial.runs_of(shown), f"{RUN}scenario-model.toml"
    )
    return _picture(figure, work, trial.provenance(shown, "bars and bands are 95 % intervals"), picture)


def _log(axes: Axes, ticks: Sequence[float]) -> None:
    axes.set_yscale("log")
    axes.set_yticks(ticks)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _curve(axes: Axes, stack: str, line: str, means: Sequence[Mean]) -> None:
    look = colours.look(stack)
    y = [m.value for m in means]
    axes.fill_between(
        PS,
        [m.value - m.half for m in means],
        [m.value + m.half for m in means],
        color=look.colour,
        alpha=0.2,
        linewidth=0,
    )
    face = look.colour if line == "-" else "white"
    axes.plot(PS, y, linestyle=line, marker=look.marker, color=look.colour, markerfacecolor=face)


def _theirs(work: Work) -> list[tuple[float, Mean]]:
    """ns-2's values for SACK in the open network."""
    rows = ns2.grouped(ns2.rows(work.folder, "model"), "network", "variant", "p")
    return [
        (float(p), Mean.of(ns2.column(group, "window")))
        for (network, variant, p), group in rows.items()
        if (network, variant) == ("open", "sack1")
    ]


def _legend_7() -> list[Line2D]:
    def entry(stack: str, label: str) -> Line2D:
        look = colours.look(stack)
        return Line2D([], [], marker=look.marker, color=look.colour, label=label)

    return [
        Line2D([], [], color="black", linewidth=1, label="model"),
        entry(RR.stack, "RR"),
        entry(SACK.stack, "SACK"),
        Line2D([], [], linestyle="", marker="x", color=colours.REFERENCE, label="ns-2.35, SACK, open network"),
    ]


def _table_5(view: View, work: Work) -> Picture:
    figure = Figure(figsize=style.WIDE_INCHES, layout="constrained")
    left, right = figure.subplots(1, 2)
    for at, case in enumerate(CASES):
        target = colours.of(CASES[case][0].stack)
        delays = [value for value in view.transfer.delays(case) if math.isfinite(value)]
        for axes, values, published in (
            (left, delays, PUBLISHED[case][0]),
            (right, view.transfer.losses(case), PUBLISHED[case][1]),
        ):
            axes.boxplot(
                [list(values)],
                positions=[at],
                widths=0.5,
                whis=(5, 95),
                patch_artist=True,
                boxprops={"facecolor": target, "alpha": 0.45, "linewidth": 0.7},
                medianprops={"color": "black", "linewidth": 1.4},
                flierprops={"marker": ".", "markersize": 2.5, "markeredgecolor": "#555555"},
            )
            axes.plot([at], [published], marker="D", markersize=5.5, color=PAPER, markeredgecolor="black", zorder=4)
    names = [f"{case}\n{target.name} among\n{background.name}" for case, (target, background) in CASES.items()]
    for axes in (left, right):
        axes.set_xticks(range(len(CASES)), names)
        axes.grid(visible=False, axis="x")
    _log(left, (5, 10, 20, 50, 100, 200))
    left.set_ylabel("transfer delay, s (logarithmic)")
    right.set_ylabel("loss rate, %")
    shown = [ran for at, ran in view.ran.items() if at.file == "scenario-fairness.toml"]
    name, title = "table5", "Table 5: a transfer of 100 kB among nineteen flows"
    caption = (
        "Boxes show the middle half of the runs, with the median; whiskers reach from 5 to 95 %, dots are the rest. "
        "Diamonds are the paper's values, each a single run."
    )
    svg = (work.out / name).with_suffix(".svg")
    point = f"{RUN}scenario-fairness.toml"
    picture = Picture(name, title, caption, svg, ["scenario-fairness.toml"], trial.runs_of(shown), point)
    return _picture(figure, work, trial.provenance(shown), picture)
