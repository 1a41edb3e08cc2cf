"""Draws a tuning: every trial, the front, the defaults and the choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ackclock.tuning.best import Best, pareto
from ackclock.tuning.study import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = {"most-goodput": "^", "fewest-needless": "<", "knee": "D"}
COLOURS = {"most-goodput": "#009E73", "fewest-needless": "#0072B2", "knee": "#CC79A7"}
TRIAL, FRONT, DEFAULTS = "#BBBBBB", "#444444", "#000000"
TICKS = 5
"""The largest number of ticks for needless retransmissions: close values have many digits."""


def front(trials: Sequence[Trial], best: Mapping[str, Best], ax: Axes | None = None, near: bool = False) -> Axes:
    """Draw goodput over needless retransmissions, both in per cent; ``near`` shows only the front."""
    axes = ax if ax is not None else Figure(figsize=(4.6, 3.4), layout="constrained").subplots()
    points = {t.number: (100 * t.score.needless, 100 * (t.score.goodput - 1)) for t in trials if t.score is not None}
    every = list(points.values())
    axes.plot(*zip(*every, strict=True), ".", color=TRIAL, markersize=3, zorder=1, label="trials")
    edge = [points[t.number] for t in pareto(trials)]
    axes.plot(
        *zip(*edge, strict=True),
        color=FRONT,
        drawstyle="steps-post",
        linewidth=1,
        marker="o",
        markersize=2.5,
        label="front",
        zorder=2,
    )
    for choice, one in best.items():
        axes.plot(
            *points[one.trial],
            marker=MARKERS[choice],
            color=COLOURS[choice],
            linestyle="",
            markersize=7,
            zorder=3,
            label=choice.replace("-", " "),
        )
    axes.plot(*points[0], marker="*", color=DEFAULTS, linestyle="", markersize=9, zorder=4, label="defaults")
    axes.set_xlabel("needless retransmissions, % of packets sent")
    axes.set_ylabel("goodput relative to the defaults, %")
    axes.xaxis.set_major_locator(MaxNLocator(TICKS))
    # Distant trials would compress the front, which is the main content.
    _limits(axes, edge if near else [*edge, points[0]], every, 0.15 if near else 1.0)
    if not near:
        axes.legend(fontsize="small")
    return axes


def _limits(
    axes: Axes, wanted: Sequence[tuple[float, float]], every: Sequence[tuple[float, float]], around: float
) -> None:
    """Set limits that show the wanted points, and a margin of up to ``around`` times their extent if it has trials."""
    xs, ys = zip(*wanted, strict=True)
    wide, high = max(max(xs) - min(xs), 1e-3), max(max(ys) - min(ys), 1e-3)
    right, low = max(xs) + around * wide, min(ys) - around * high
    axes.set_xlim(min(xs) - 0.15 * wide, min(right, max(x for x, _ in every) + 0.15 * wide))
    axes.set_ylim(max(low, min(y for _, y in every) - 0.15 * high), max(ys) + 0.15 * high)
