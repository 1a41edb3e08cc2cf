"""Hoe 1995, "Start-up Dynamics of TCP's Congestion Control and Avoidance Schemes": its figures, table and claims."""

from __future__ import annotations

from ackclock import files
from ackclock.papers.hoe import figures, ns2, spread, tables
from ackclock.papers.hoe.findings import findings
from ackclock.papers.hoe.runs import KEY, View
from ackclock.papers.paper import Outcome, Paper, Work
from ackclock.runs.trial import Effort, run, runs_of


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
    runs = ran[every[0]].runs
    return Outcome(
        findings(work, view, ran),
        figures.draw(view, ran, work.out),
        [*tables.tables(view), *spread.tables(ran)],
        # Choices made otherwise meet at points of the grid.
        len({run["identity"] for one in ran.values() for run in one.runs}),
        (runs[0]["seed"], runs[-1]["seed"]),
        (runs[0]["duration_s"], runs[0]["duration_s"]),
        runs_of(ran.values()),
        [ns2.summary(compared)],
    )


PAPER = Paper(
    KEY,
    "Hoe 1995",
    "J. C. Hoe, \"Start-up Dynamics of TCP's Congestion Control and Avoidance Schemes\", Master's thesis, "
    "Massachusetts Institute of Technology, June 1995",
    "What does BSD Net/2's TCP do while a transfer starts? Why do losses of one window end in a timeout, and can a "
    "measured threshold and a recovery that goes on over partial ACKs avoid it?",
    Effort(1),
    Effort(1),
    reproduce,
)
