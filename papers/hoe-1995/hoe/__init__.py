"""Hoe 1995, "Start-up Dynamics of TCP's Congestion Control and Avoidance Schemes": its figures, table and claims."""

from __future__ import annotations

from ackclock import files
from ackclock.papers.claims import Finding
from ackclock.papers.paper import Outcome, Work
from ackclock.runs.trial import run

from . import figures, findings, ns2, spread, tables
from .runs import View


def judged(work: Work) -> list[Finding]:
    """Judge every claim.

    Raises:
        OSError: a file of the paper's folder is missing.
        ValueError: a file there is invalid.
    """
    return findings.judged(View(work))


def reproduce(work: Work) -> Outcome:
    """Run everything, draw, judge, compare with ns-2.

    Raises:
        OSError: a file of the paper's folder is missing, or one could not be written.
        ValueError: a file there is invalid.
    """
    every = list(dict.fromkeys([*spread.trials(work), *(row.trial for row in ns2.rows(work.folder))]))
    # The points of the grid are readings themselves, and ns-2's runs do not depend on readings.
    ran = run(work.lab, "runs, and what the thesis leaves open", work.folder, every, work.effort)
    view = View(work)
    compared = ns2.compare(work.folder, ran)
    files.write_csv(work.out / "comparison.csv", (one.line() for one in compared))
    notes, points = findings.details(view), spread.spreads(work, ran)
    return Outcome.of(
        ran.values(),
        [findings.explained(found, notes, points) for found in findings.judged(view)],
        figures.draw(view, ran, work.out),
        [*tables.tables(view), *spread.tables(work, ran)],
        [ns2.summary(compared)],
    )
