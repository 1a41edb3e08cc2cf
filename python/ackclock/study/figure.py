"""The picture of a study: each stack compared with the baseline on each path, with the interval of the difference."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ackclock.plot import style
from ackclock.study.measure import Measure
from ackclock.study.paired import Difference, Outcome
from ackclock.study.words import sentences

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ackclock.study.found import Found, OnPath

COLOURS = {Outcome.BETTER: "#0072B2", Outcome.WORSE: "#D55E00", Outcome.SAME: "#444444", Outcome.OPEN: "#888888"}
MARKERS = {Outcome.BETTER: "^", Outcome.WORSE: "v", Outcome.SAME: "s", Outcome.OPEN: "o"}
WORDS = {
    Outcome.BETTER: "better",
    Outcome.WORSE: "worse",
    Outcome.SAME: "no relevant difference",
    Outcome.OPEN: "cannot tell",
}
ROW_INCHES, FRAME_INCHES, WIDE_INCHES = 0.19, 0.62, 7.0
COLUMNS = 3
"""The largest number of panels side by side."""


def draw(found: Found) -> Figure:
    """Draw a panel for all paths together and one for each path; rows are stacks, the best over all paths on top."""
    parts = found.paths if len(found.paths) == 1 else (found.overall, *found.paths)
    stacks = [place.stack for place in found.overall.places]
    wide = min(len(parts), COLUMNS)
    high = -(-len(parts) // wide)
    with style.paper():
        size = (WIDE_INCHES, high * (FRAME_INCHES + ROW_INCHES * len(stacks)) + 0.3)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(high, wide, sharey=True, squeeze=False).flatten()
        for panel, part in zip(panels, parts, strict=False):
            _panel(panel, found, part, stacks)
        for panel in panels[len(parts) :]:
            panel.set_visible(False)
        _legend(figure, found)
    return figure


def _panel(axes: Axes, found: Found, part: OnPath, stacks: list[str]) -> None:
    asked = found.question
    scale = _scale(asked.measure)
    axes.axvspan(-asked.within * scale, asked.within * scale, color="#eeeeee", zorder=0)
    axes.axvline(0, color="#000000", linewidth=0.6, zorder=1)
    for row, stack in enumerate(reversed(stacks)):
        if stack == asked.baseline:
            axes.plot(0, row, marker="|", color="#000000", markersize=8)
        else:
            _row(axes, part.beside(stack, asked.baseline, asked.measure), row, scale)
    axes.set_yticks(range(len(stacks)), labels=[_short(stack) for stack in reversed(stacks)])
    axes.set_ylim(-0.6, len(stacks) - 0.4)
    axes.set_title(f"{part.name}, {part.seeds} seeds", loc="left")


def _row(axes: Axes, beside: Difference, row: int, scale: float) -> None:
    colour = COLOURS[beside.outcome]
    if beside.change is None or beside.low is None or beside.high is None:
        text = {Outcome.BETTER: "better, by signs", Outcome.WORSE: "worse, by signs"}.get(beside.outcome, "cannot tell")
        axes.text(0, row, f" {text}", color=colour, va="center", fontsize=6.5)
        return
    change, low, high = (scale * x for x in (beside.change, beside.low, beside.high))
    axes.errorbar(
        change, row, xerr=[[change - low], [high - change]], color=colour, marker=MARKERS[beside.outcome], markersize=4
    )


def _scale(measure: Measure) -> float:
    return 100.0 if measure.relative else measure.scale


def _axis(measure: Measure, baseline: str) -> str:
    unit = "%" if measure.relative else f"% points of {measure.label}" if measure.unit == "%" else measure.label
    better = "right" if measure.more_is_better else "left"
    what = f"{measure.label}, {unit}" if measure.relative else unit
    return f"{what} relative to {_short(baseline)}; {better} is better"


def _short(stack: str) -> str:
    return stack if len(stack) <= 24 else f"{stack[:23]}…"  # noqa: PLR2004 - the space in a panel


def _legend(figure: Figure, found: Found) -> None:

    drawn = [
        Line2D([], [], color=COLOURS[outcome], marker=MARKERS[outcome], markersize=4, label=WORDS[outcome])
        for outcome in Outcome
    ]
    # The axis is named here: a label of the figure's own would be drawn over a legend outside the panels.
    named = _axis(found.question.measure, found.question.baseline)
    figure.legend(handles=drawn, loc="outside lower center", ncols=len(drawn), title=named, title_fontsize=8)
    figure.suptitle(found.question.question, x=0.01, ha="left", fontsize=9)


def svg(found: Found) -> bytes:
    """Return the picture as SVG; equal numbers give equal bytes."""
    image = io.BytesIO()
    with style.paper():
        about = {"Title": found.question.question, "Description": " ".join(sentences(found)), "Date": None}
        draw(found).savefig(image, format="svg", metadata=about)
    return style.lean(image.getvalue().decode()).encode()
