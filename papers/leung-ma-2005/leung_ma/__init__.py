"""Leung & Ma 2005, "Enhancing TCP Performance to Persistent Packet Reordering": its figures, tables and claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ackclock import files
from ackclock.papers.claims import Finding
from ackclock.papers.paper import Outcome, Work
from ackclock.runs.trial import Ran, Trial, run

from . import figures, ns2, tables
from .findings import Made, findings
from .measures import FIG4
from .points import (
    AVG_DEV,
    FIGURES,
    LOSSES,
    METHODS,
    OTHERS,
    SENSITIVE_FS,
    Single,
    singles,
    splits,
    trial,
    tuned,
)
from .setup import parameters
from .view import Read, Runs

MORE_SEEDS = 3
"""Factor for the number of seeds where a single run can decide a claim, if runs have full length."""


def reproduce(work: Work) -> Outcome:
    """Run all points, draw, judge, compare with ns-2.

    Raises:
        OSError: a file of the paper's folder is missing, or one could not be written.
        ValueError: a file there is invalid.
    """
    made = _made(work)
    compared = _beside_ns2(work)
    return Outcome.of(
        [*made.figures.ran.values(), *made.more.ran.values()],
        findings(made, work.folder),
        figures.draw(made.view(), work.out),
        list(tables.numbers(made, work.folder)),
        [ns2.summary(compared)] if compared else [],
    )


def judged(work: Work) -> Sequence[Finding]:
    """Judge every claim under the reading of ``work``.

    Raises:
        OSError, ValueError: see ``reproduce``.
    """
    return findings(_made(work), work.folder)


def _made(work: Work) -> Made:
    """The runs that the claims need."""
    single = [trial(m, p) for m in METHODS for p in singles()]
    lossy = [trial(m, p) for m in METHODS for p in splits(LOSSES[1])]
    steady = [trial(m, p) for m in METHODS for p in splits(LOSSES[0])]
    decided = [trial(m, Single(f)) for m in tuned() for f in SENSITIVE_FS]
    decided += [trial(m, p) for m in (AVG_DEV, *OTHERS) for p in singles() if (p.every_ms, p.loss) == FIGURES[FIG4]]
    ran = work.run("figures and claims", [*single, *lossy])
    # Without loss, the two paths have no randomness.
    ran |= work.run("two paths without loss", steady, replace(work.effort, seeds=1))
    times = MORE_SEEDS if work.effort.duration_s is None else 1
    more = replace(work.effort, seeds=times * work.effort.seeds)
    sure = work.run("with more seeds", decided, more)
    both = [ran[t] for t in (*lossy, *steady)]
    texts = parameters([ran[t] for t in single], both, work.document)
    return Made(Runs(ran), work.effort.seeds, Runs(sure), more.seeds, texts, Read.of(work.reading))


def _beside_ns2(work: Work) -> list[ns2.Compared]:
    """Compare with ns-2, whose runs have the paper's duration; empty for shorter runs."""
    if work.effort.duration_s is not None:
        return []
    trials = [point.trial for point in ns2.references(work.folder)]
    ran: dict[Trial, Ran] = run(work.lab, "beside ns-2", work.folder, trials, replace(work.effort, seeds=ns2.SEEDS))
    compared = list(ns2.compare(ran, work.folder))
    files.write_csv(work.out / "comparison.csv", (c.row() for c in compared))
    return compared
