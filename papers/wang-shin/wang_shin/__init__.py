"""Wang & Shin, "Robust TCP Congestion Recovery": its figures, tables and claims."""

from __future__ import annotations

from ackclock import files
from ackclock.papers.paper import Outcome, Work
from ackclock.runs import trial
from ackclock.runs.trial import digest

from . import findings, first_recovery, forced, model, ns2, pictures, setup, tables, transfer
from .measures import View
from .points import (
    COMPARED,
    HOE,
    NEW_RENO,
    PEER_WINDOWS,
    RFC_6582,
    RR,
    TO_THE_LETTER,
    droptail,
    red,
)

SEEDS = 200
"""Of a full run."""
SPARSE = 4
"""With fewer seeds losses are forced in every fourth case."""
SENDERS = (*COMPARED, HOE, RFC_6582)


def reproduce(work: Work) -> Outcome:
    """Run all points, draw, judge, compare with ns-2.

    Raises:
        OSError: a file of the paper's folder is missing, or one could not be written.
        ValueError: a file there makes no sense.
    """
    folder, every = work.folder, 1 if work.effort.seeds >= SEEDS else SPARSE
    trials = [red(s) for s in (*SENDERS, TO_THE_LETTER)] + [droptail(s) for s in (*SENDERS, TO_THE_LETTER)]
    trials += [*model.points(), *transfer.trials(), transfer.RENO_AMONG_RENO]
    ran = trial.run(work.lab, "figures and claims", folder, trials, work.effort)
    theirs = [*ns2.red_trials(folder), *ns2.transfer_trials(folder), *ns2.model_trials(folder)]
    beside = trial.run(work.lab, "beside ns-2", folder, theirs, work.effort)
    beside |= trial.run(work.lab, "beside ns-2, once each", folder, ns2.droptail_trials(folder), ns2.ONCE)
    view = View(
        ran,
        forced.grid(folder, (*SENDERS, TO_THE_LETTER), every),
        {scheme: first_recovery.first_recoveries(folder, scheme, work.effort.seeds) for scheme in (RR, NEW_RENO)},
        forced.first(folder, RR, *forced.FIGURE_3, PEER_WINDOWS[0]),
    )
    found = findings.findings(view, setup.parameters(folder, ran), work, every)
    drawn = pictures.draw(view, beside, work)
    files.write_csv(work.out / "points.csv", tables.points(view))
    runs = [run for one in ran.values() for run in one.runs]
    return Outcome(
        found,
        drawn,
        list(tables.numbers(view)),
        len(runs),
        (runs[0]["seed"], work.effort.seeds),
        (min(run["duration_s"] for run in runs), max(run["duration_s"] for run in runs)),
        digest([trial.runs_of(ran.values()), view.grid.digest]),
        ns2.references(folder, beside),
    )
