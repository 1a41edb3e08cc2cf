"""Leung & Ma 2005, "Enhancing TCP Performance to Persistent Packet Reordering": its figures, tables and claims."""

from __future__ import annotations

from dataclasses import replace

from ackclock import files
from ackclock.papers.paper import Outcome, Work
from ackclock.runs.trial import Effort, Ran, Trial, run, runs_of

from . import figures, ns2, tables
from .findings import PROBE_FS, Made, findings
from .measures import FIG4
from .points import (
    AVG_DEV,
    FIGURES,
    LOSSES,
    METHODS,
    MIXED,
    ON_THE_SINGLE_PATH,
    ON_TWO_PATHS,
    OTHERS,
    OURS,
    SENSITIVE_FS,
    Single,
    singles,
    splits,
    trial,
    tuned,
)
from .setup import parameters
from .view import Runs

PROBE_SEEDS = 3
"""Of the runs with other choices, at most."""
MORE_SEEDS = 3
"""So many times the seeds where a single run soon decides."""


def reproduce(work: Work) -> Outcome:
    """Run all points, draw, judge, compare with ns-2.

    Raises:
        OSError: a file of the paper's folder is missing, or one could not be written.
        ValueError: a file there makes no sense.
    """
    single = [trial(m, p) for m in METHODS for p in singles()]
    lossy = [trial(m, p) for m in METHODS for p in splits(LOSSES[1])]
    steady = [trial(m, p) for m in METHODS for p in splits(LOSSES[0])]
    decided = [trial(m, Single(f)) for m in tuned() for f in SENSITIVE_FS]
    decided += [trial(m, p) for m in (AVG_DEV, *OTHERS) for p in singles() if (p.every_ms, p.loss) == FIGURES[FIG4]]
    once = replace(work.effort, seeds=1)
    ran = _run(work, "figures and claims", [*single, *lossy], work.effort)
    # Without loss nothing on the two paths is random.
    ran |= _run(work, "two paths without loss", steady, once)
    more = replace(work.effort, seeds=MORE_SEEDS * work.effort.seeds)
    sure = _run(work, "with more seeds", decided, more)
    effort = replace(work.effort, seeds=min(work.effort.seeds, PROBE_SEEDS))
    probes = _probes(work, effort, once)
    both = [ran[t] for t in (*lossy, *steady)]
    texts = parameters([ran[t] for t in single], both, work.folder)
    made = Made(Runs(ran), Runs(probes), work.effort.seeds, effort.seeds, Runs(sure), more.seeds, texts)
    compared = _beside_ns2(work)
    runs = [*ran.values(), *sure.values(), *probes.values()]
    pictures = figures.draw(made.view(), work.out)
    first = ran[single[0]].runs
    return Outcome(
        findings(made, work.folder),
        pictures,
        list(tables.numbers(made, work.folder)),
        sum(len(r.runs) for r in runs),
        (first[0]["seed"], first[-1]["seed"]),
        (first[0]["duration_s"], first[0]["duration_s"]),
        runs_of(runs),
        [ns2.summary(compared)] if compared else [],
    )


def _run(work: Work, what: str, trials: list[Trial], effort: Effort) -> dict[Trial, Ran]:
    return run(work.lab, what, work.folder, trials, effort)


def _probes(work: Work, effort: Effort, once: Effort) -> dict[Trial, Ran]:
    """The runs with other choices, and with ours at the same places and seeds."""
    single = [trial(m, p, c) for c in (OURS, *ON_THE_SINGLE_PATH) for m in METHODS for p in singles(PROBE_FS)]
    random = [c for c in ON_TWO_PATHS if ("link[1].elements[0].choice", "random") in c.changes]
    lossy = [trial(m, p, c) for c in (OURS, *ON_TWO_PATHS) for m in METHODS for p in splits(LOSSES[1], MIXED)]
    lossy += [trial(m, p, c) for c in random for m in METHODS for p in splits(LOSSES[0], MIXED)]
    steady = [
        trial(m, p, c)
        for c in (OURS, *ON_TWO_PATHS)
        if c not in random
        for m in METHODS
        for p in splits(LOSSES[0], MIXED)
    ]
    ran = _run(work, "what the paper leaves open", [*single, *lossy], effort)
    return ran | _run(work, "what it leaves open, without chance", steady, once)


def _beside_ns2(work: Work) -> list[ns2.Compared]:
    """ns-2's runs are as long as the paper's: nothing for shorter ones."""
    if work.effort.duration_s is not None:
        return []
    trials = [point.trial for point in ns2.references(work.folder)]
    ran = _run(work, "beside ns-2", trials, replace(work.effort, seeds=ns2.SEEDS))
    compared = list(ns2.compare(ran, work.folder))
    files.write_csv(work.out / "comparison.csv", (c.row() for c in compared))
    return compared
