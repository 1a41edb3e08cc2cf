"""Fukuda, Nobayashi & Ikenaga 2018, on periodic reordering: all of its figures and claims."""

from __future__ import annotations

from ackclock import files
from ackclock.papers.claims import Finding
from ackclock.papers.paper import Outcome, Table, Work

from . import figures, findings, reference, views
from .curves import GRID, RIS, SENDERS, Curve


def judged(work: Work) -> list[Finding]:
    """Run the points that the claims need, and judge every claim.

    Raises:
        OSError: a file of the paper's folder is missing.
        ScenarioError, ValueError: a file there is invalid.
    """
    return findings.findings(views.run(work)[0], work)


def reproduce(work: Work) -> Outcome:
    """Run every RI, draw, judge, compare with the references.

    Raises:
        OSError: a file of the paper's folder is missing, or one could not be written.
        ScenarioError, ValueError: a file there is invalid.
    """
    view, ran = views.run(work)
    rows, beside = reference.compare(work)
    ns3, idle = reference.beside_ns3(work, rows)
    files.write_csv(work.out / "points.csv", figures.curve_rows(view.curves))
    return Outcome.of(
        {**ran, **{one.trial: one for one in (*beside, *idle)}}.values(),
        findings.findings(view, work),
        figures.draw(view, rows, ran, work.out),
        [*(_numbers(view.curves[sender]) for sender in SENDERS), reference.without_inflation(work.folder)],
        [reference.summary(rows), ns3],
    )


def _numbers(curve: Curve) -> Table:
    """Means, and the smallest and largest values over the round trips, on the grid."""

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
