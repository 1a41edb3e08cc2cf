"""Draws the figures of Hoe's chapters 5 to 7 from our runs, with remarks on the events that the text describes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from ackclock.papers.paper import Picture
from ackclock.plot import style
from ackclock.runs.trial import Ran, Trial, provenance, runs_of

from . import chapter5, chapter67
from .drawing import Plan
from .runs import RUNS, View, command

PLANS = (*chapter5.PLANS, *chapter67.PLANS)
"""The figures in the thesis's order."""


def draw(view: View, numbers: Mapping[Trial, Ran], out: Path) -> list[Picture]:
    """Draw all figures into the folder ``out``.

    Args:
        view: the runs.
        numbers: their results, which identify the runs.
        out: the folder for the files.

    Raises:
        OSError: the folder is missing or not writable.
    """
    with style.paper():
        return [_figure(plan, view, numbers, out) for plan in PLANS]


def _figure(plan: Plan, view: View, numbers: Mapping[Trial, Ran], out: Path) -> Picture:
    figure = Figure(figsize=plan.inches, layout="constrained")
    plan.draw(figure, view)
    ran = [numbers[RUNS[name]] for name in plan.runs]
    about = provenance(ran)
    figure.supxlabel(about, fontsize=5, color="#666666", x=0.995, ha="right")
    full = f"Hoe 1995, {plan.title}"
    svg = style.save(figure, out / plan.name, {"Title": full, "Description": f"{full}. {about}."})
    files = list(dict.fromkeys(RUNS[name].file for name in plan.runs))
    return Picture(plan.name, plan.title, plan.caption, svg, files, runs_of(ran), command(plan.runs[0]))
