"""Fukuda, Nobayashi & Ikenaga 2018, on periodic reordering: all of its figures and claims."""

from __future__ import annotations

from ackclock import files
from ackclock.papers.paper import Outcome, Table, Work
from ackclock.runs.trial import runs_of

from . import figures, findings, reference, views
from .curves import GRID, RIS, SENDERS, Curve
from .switches import SWITCHES, table
from .views import AS_IT_IS

TRIED_WITH = 3
"""Of the runs that see what the open choices change."""


def reproduce(work: Work) -> Outcome:
    """Run every RI, draw, judge, try the open choices otherwise, compare with the references.

    Raises:
        OSError: a file of the paper's folder is missing, or one could not be written.
        ScenarioError, ValueError: a file there makes no sense.
    """
    (view,), ran = views.run(work, "every RI", [AS_IT_IS], work.effort.seeds)
    asked = [AS_IT_IS, *SWITCHES]
    every, more = views.run(work, "open choices", asked, min(TRIED_WITH, max(work.effort.seeds // 2, 1)))
    tried = dict(zip(asked, every, strict=True))
    rows, beside = reference.compare(work)
    ns3, idle = reference.beside_ns3(work, rows)
    files.write_csv(work.out / "points.csv", figures.curve_rows(view.curves))
    runs = list({**ran, **more, **{one.trial: one for one in (*beside, *idle)}}.values())
    durations = [run["duration_s"] for one in runs for run in one.runs]
    return Outcome(
        findings.findings(view, tried, work),
        figures.draw(view, rows, ran, work.out),
        [_numbers(view.curves[sender]) for sender in SENDERS]
        + [table(tried), reference.without_inflation(work.folder)],
        len(runs),
        (1, 1),
        (min(durations), max(durations)),
        runs_of(runs),
        [reference.summary(rows), ns3],
    )


def _numbers(curve: Curve) -> Table:
    """Means, and the smallest and largest of the round trips, on the grid."""

    def line(name: str, values: object, form: str) -> list[str]:
        return [name, *(form.format(value) for value in values)]  # type: ignore[attr-defined]

    at = [RIS.index(ri) for ri in GRID]
    share, count = 100 * curve.normalised[at], curve.recoveries[at]
    rows = [
        line("throughput, mean", share.mean(axis=1), "{:.1f}"),
        line("smallest", share.min(axis=1), "{:.1f}"),
        line("largest", share.max(axis=1), "{:.1f}"),
        line("every copy counted, mean", 100 * curve.arriving[at].mean(axis=1), "{:.1f}"),
        line("fast recoveries, mean", count.mean(axis=1), "{:.1f}"),
        line("smallest", count.min(axis=1), "{:.0f}"),
        line("largest", count.max(axis=1), "{:.0f}"),
    ]
    title = f"{curve.family.sender.label}: throughput, % of that without reordering, and fast recoveries"
    return Table(title, ("RI", *map(str, GRID)), rows)
