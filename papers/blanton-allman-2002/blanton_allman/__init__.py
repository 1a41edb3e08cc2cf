"""Blanton & Allman 2002, "On Making TCP More Robust to Packet Reordering": all of its figures and claims."""

from __future__ import annotations

from ackclock import files
from ackclock.papers.claims import Finding
from ackclock.papers.paper import Outcome, Work

from . import figures, findings, ns2, points, scheme_figures, schemes, tables
from .measures import View


def judged(work: Work) -> list[Finding]:
    """Run the points that the claims need, and judge each claim.

    Raises:
        OSError: a file of the paper's folder is missing.
        ValueError: a file there is invalid.
    """
    return findings.findings(points.run(work, findings.settings(work)), work)


def reproduce(work: Work) -> Outcome:
    """Run all points, draw, judge, compare with ns-2.

    Raises:
        OSError: a file of the paper's folder is missing, or one could not be written.
        ValueError: a file there is invalid.
    """
    early = points.settings()
    every = list(dict.fromkeys([*early, *schemes.settings(), *findings.settings(work)]))
    ran = points.run(work, every)
    files.write_csv(work.out / "points.csv", (point.row() for point in ran.values()))
    # ns-2's runs have the paper's duration.
    comparable = work.effort.duration_s is None
    references = ns2.references(work.folder) if comparable else []
    pictures = figures.draw({s: ran[s] for s in early}, references, work.out)
    pictures += scheme_figures.draw(ran, work.out)
    found = findings.findings(ran, work)
    compared = list(ns2.compare(ran, work.folder)) if comparable else []
    if compared:
        files.write_csv(work.out / "comparison.csv", (c.row() for c in compared))
    runs = ran[every[0]].runs
    return Outcome(
        found,
        pictures,
        list(tables.numbers(View(ran))),
        sum(len(point.runs) for point in ran.values()),
        (runs[0]["seed"], runs[-1]["seed"]),
        (runs[0]["duration_s"], runs[0]["duration_s"]),
        points.runs_of(ran.values()),
        [ns2.summary(compared)] if compared else [],
    )
