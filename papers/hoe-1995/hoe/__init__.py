"""Hoe 1995, "Start-up Dynamics of TCP's Congestion Control and Avoidance Schemes": its figures, table and claims."""

from __future__ import annotations

from ackclock import files
from ackclock.papers.paper import Outcome, Work
from ackclock.runs.trial import run

from . import figures, ns2, spread, tables
from .findings import findings
from .runs import View


def reproduce(work: Work) -> Outcome:
    """Run everything, draw, judge, compare with ns-2.

    Raises:
        OSError: a file of the paper's folder is missing, or one could not be written.
        ValueError: a file there makes no sense.
    """
    every = list(dict.fromkeys([*spread.trials(), *(row.trial for row in ns2.rows(work.folder))]))
    ran = run(work.lab, "runs, and what the thesis leaves open", work.folder, every, work.effort)
    view = View(work.folder)
    compared = ns2.compare(work.folder, ran)
    files.write_csv(work.out / "comparison.csv", (one.line() for one in compared))
    # Choices made otherwise meet at points of the grid: each run counts once.
    return Outcome.of(
        ran.values(),
        findings(work, view, ran),
        figures.draw(view, ran, work.out),
        [*tables.tables(view), *spread.tables(ran)],
        [ns2.summary(compared)],
    )
