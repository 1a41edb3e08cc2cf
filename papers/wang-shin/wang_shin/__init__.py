"""Wang & Shin, "Robust TCP Congestion Recovery": its figures, tables and claims."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock import files
from ackclock.papers.claims import Finding
from ackclock.papers.paper import Outcome, Work
from ackclock.runs import trial
from ackclock.runs.trial import Ran, Trial, digest

from . import findings, first_recovery, forced, model, ns2, pictures, setup, tables, transfer
from .measures import View
from .points import CLAIMED_PS, COMPARED, NEW_RENO, PEER_WINDOWS, RR, SACK, TO_THE_LETTER, droptail, red

SEEDS = 200
"""The number of seeds in a full run."""
SPARSE = 4
"""With fewer seeds, losses are forced only in every fourth case."""


def judged(work: Work) -> list[Finding]:
    """Run the points that the claims need, and judge every claim.

    Raises:
        OSError: a file of the paper's folder is missing.
        ValueError: a file there is invalid.
    """
    view = _view(work, work.run("claims", _trials(model.points((RR, SACK), CLAIMED_PS))))
    return findings.findings(view, setup.parameters(work, view.ran), work)


def reproduce(work: Work) -> Outcome:
    """Run all points, draw, judge, compare with ns-2.

    Raises:
        OSError: a file of the paper's folder is missing, or one could not be written.
        ValueError: a file there is invalid.
    """
    ran = work.run("figures and claims", [*_trials(model.points()), *(droptail(scheme) for scheme in COMPARED)])
    folder = work.folder
    theirs = [*ns2.red_trials(folder), *ns2.transfer_trials(folder), *ns2.model_trials(folder)]
    beside = trial.run(work.lab, "beside ns-2", folder, theirs, work.effort)
    beside |= trial.run(work.lab, "beside ns-2, once each", folder, ns2.droptail_trials(folder), ns2.ONCE)
    view = _view(work, ran)
    found = findings.findings(view, setup.parameters(work, ran), work)
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


def _trials(figure_7: list[Trial]) -> list[Trial]:
    """The trials of Figures 6 and 7 and of Table 5."""
    return [*(red(scheme) for scheme in COMPARED), *figure_7, *transfer.trials(), transfer.RENO_AMONG_RENO]


def _view(work: Work, ran: Mapping[Trial, Ran]) -> View:
    """The view, including the data extracted from traces."""
    every = 1 if work.effort.seeds >= SEEDS else SPARSE
    return View(
        ran,
        forced.grid(work, (*COMPARED, TO_THE_LETTER), every),
        {scheme: first_recovery.first_recoveries(work, scheme) for scheme in (RR, NEW_RENO)},
        forced.first(work, RR, *forced.FIGURE_3, PEER_WINDOWS[0]),
    )
