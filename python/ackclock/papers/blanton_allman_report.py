"""RESULTS.md: every claim of Blanton & Allman 2002 with its verdict, the figures and the numbers behind them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from ackclock.papers.blanton_allman import Point, Scheme, Setting, provenance
from ackclock.papers.blanton_allman_claims import View
from ackclock.papers.blanton_allman_findings import counts
from ackclock.papers.blanton_allman_schemes import ALL, ALPHAS, FIG9_SWAPS, SWAPS, XS, ewma, fraction
from ackclock.papers.claims import Finding, Verdict

FIGURES = {
    "fig2": "Throughput of plain SACK TCP against swaps and time between events",
    "fig3": "Needless retransmissions likewise",
    "fig4": "Throughput with DSACK's undo beside stock sack1",
    "fig5": "Needless retransmissions with the undo and without",
    "fig6": "Throughput of every scheme",
    "fig7": "Needless retransmissions of every scheme",
    "fig8": "Median deviation of the needless retransmissions from their median",
    "fig9": "Needless retransmissions against EWMA's gain",
}
Rows = Sequence[Sequence[str]]


def markdown(points: Mapping[Setting, Point], found: Sequence[Finding], figures: Mapping[str, Path], here: Path) -> str:
    """The page.

    Args:
        points: all runs.
        found: the findings.
        figures: the file of each figure by its name.
        here: the page's folder, which the links start from.
    """
    return "\n\n".join(_parts(points, found, figures, here)) + "\n"


def _parts(
    points: Mapping[Setting, Point], found: Sequence[Finding], figures: Mapping[str, Path], here: Path
) -> Iterator[str]:
    number = counts(found)
    some = list(points.values())
    run = some[0].runs
    yield "# Blanton & Allman 2002: results"
    yield (
        f"Written by `make reproduce`: {sum(len(p.runs) for p in some)} runs of {run[0]['duration_s']:g} s. "
        f"{provenance(some)}. README.md has the set-up and what the paper leaves unsaid."
    )
    yield "**" + ", ".join(f"{n} {verdict.value}" for verdict, n in number.items()) + f"**, of {len(found)} claims."
    yield "## Claims"
    yield "In brackets 95 % intervals, by drawing the seeds again 1000 times. *Accepted* is in claims.csv."
    yield _table(("claim", "where", "what", "published", "ours", "accepted", "verdict"), [_row(f) for f in found])
    for verdict, title in ((Verdict.DIFFERS, "What differs"), (Verdict.UNCHECKED, "What cannot be checked")):
        chosen = [f for f in found if f.verdict is verdict]
        if chosen:
            yield f"## {title}"
            yield "\n".join(
                f"- **{f.claim.id}** ({f.claim.where}; {f.claim.quantity}): {f.note or 'nothing more'}." for f in chosen
            )
    yield "## Numbers"
    yield from _numbers(View(points))
    yield "## Figures"
    for name, what in FIGURES.items():
        title = f"Figure {name[3:]}: {what}"
        yield f"![{title}]({Path(os.path.relpath(figures[name], here)).as_posix()})\n\n*{title}.*"


def _row(f: Finding) -> list[str]:
    c = f.claim
    unit = f" {c.unit}" if c.unit and ";" not in c.unit and c.unit != "ratio" else ""
    verdict = f.verdict.value if f.verdict is Verdict.HOLDS else f"**{f.verdict.value}**"
    return [
        c.id,
        c.where,
        c.quantity,
        c.published,
        ours(f) + (unit if f.measured is not None else ""),
        c.accept,
        verdict,
    ]


def ours(f: Finding) -> str:
    """The measured values with their intervals."""
    if f.measured is None:
        return "–"  # noqa: RUF001 - the typographic sign for nothing
    if isinstance(f.measured, str):
        return f.measured
    intervals = f.intervals or (None,) * len(f.measured)
    both = zip(f.measured, intervals, strict=True)
    return "; ".join(f"{v:.4g}" + (f" [{i[0]:.4g}, {i[1]:.4g}]" if i else "") for v, i in both)


def _table(head: Sequence[str], rows: Rows) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _numbers(v: View) -> Iterator[str]:
    for what, of, digits in (
        ("Mean throughput, kB/s", lambda scheme, n: v.throughput(scheme, n) / 1e3, 1),
        ("Median of needless retransmissions", v.median, 1),
        ("Their median deviation", v.deviation, 1),
        ("Mean of timeouts", v.timeouts, 2),
    ):
        yield f"{what}, an event every 1 s:"
        yield _table(("scheme", *(f"{n} swaps" for n in SWAPS)), list(_lines(of, digits)))
    yield f"Median of needless retransmissions, EWMA, {FIG9_SWAPS} swaps (Figure 9):"
    rows = [[f"x = {fraction(x)}", *(f"{v.median(ewma(a, x), FIG9_SWAPS):g}" for a in ALPHAS)] for x in XS]
    yield _table(("", *(f"gain {a:g}" for a in ALPHAS)), rows)


def _lines(of: Callable[[Scheme, int], float], digits: int) -> Iterator[list[str]]:
    for scheme in ALL:
        yield [scheme.label, *(f"{of(scheme, n):.{digits}f}" for n in SWAPS)]
