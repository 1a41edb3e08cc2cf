"""Reproduces papers: runs them, and writes figures, ``claims.json`` and pages."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ackclock.papers import MODULES, claims, files, page, report
from ackclock.papers.lab import Lab
from ackclock.papers.paper import Effort, Outcome, Paper, Reproduced, Work
from ackclock.papers.progress import shown
from ackclock.papers.store import Store

POINTS = ".points"
"""Folder of finished points, below that of the results."""


@dataclass(frozen=True)
class Wish:
    """What to reproduce, how, and where results go."""

    keys: Sequence[str]
    papers: Path
    """The folder that holds the papers' folders."""
    out: Path
    quick: bool = False
    seeds: int | None = None
    """Runs of each point, instead of the paper's."""
    fresh: bool = False
    """Run again what was run before."""
    copy_to: Path | None = None
    """Folder for copies of the figures; then RESULTS.md goes beside the scenarios, too."""

    def options(self) -> list[str]:
        """Those of the command that change results."""
        return (["--quick"] if self.quick else []) + ([] if self.seeds is None else ["--seeds", str(self.seeds)])


def load(key: str) -> Paper:
    """The paper of this name.

    Raises:
        ImportError: a package that it needs is missing.
    """
    paper: Paper = import_module(MODULES[key]).PAPER
    return paper


def reproduce(wish: Wish) -> list[Reproduced]:
    """Run papers and write all their results.

    Raises:
        OSError: a file could not be read or written.
        ValueError: a paper's scenario or another file makes no sense.
        ImportError: a package of the extra ``papers`` is missing.
        KeyboardInterrupt: as usual; finished points are kept.
    """
    papers = [load(key) for key in wish.keys]
    lab = Lab(Store(wish.out / POINTS, wish.fresh), shown)
    done = [_one(paper, wish, lab) for paper in papers]
    files.write(wish.out / "report.html", report.html(done, wish.options()).encode())
    claims.write(wish.out / "claims.json", [f for r in done for f in r.outcome.findings])
    return done


def effort(paper: Paper, wish: Wish) -> Effort:
    """How much of the paper is run."""
    chosen = paper.quick if wish.quick else paper.full
    return Effort(wish.seeds or chosen.seeds, chosen.duration_s)


def _one(paper: Paper, wish: Wish, lab: Lab) -> Reproduced:
    folder, out = wish.papers / paper.key, wish.out / paper.key
    out.mkdir(parents=True, exist_ok=True)
    outcome = paper.reproduce(Work(folder, out, effort(paper, wish), lab))
    pictures = {picture.name: picture.svg for picture in outcome.pictures}
    _write_page(paper, outcome, pictures, out)
    if wish.copy_to is not None:
        wish.copy_to.mkdir(parents=True, exist_ok=True)
        copies = {name: wish.copy_to / f"{paper.key}-{svg.name}" for name, svg in pictures.items()}
        for name, svg in pictures.items():
            shutil.copyfile(svg, copies[name])
        _write_page(paper, outcome, copies, folder)
    return Reproduced(paper, folder, outcome)


def _write_page(paper: Paper, outcome: Outcome, pictures: dict[str, Path], folder: Path) -> None:
    files.write(folder / "RESULTS.md", page.markdown(paper, outcome, pictures, folder).encode())


def summary(done: Sequence[Reproduced], out: Path) -> str:
    """What came out, in a few lines."""
    lines = []
    for r in done:
        number = ", ".join(verdict.counted(n) for verdict, n in claims.counts(r.outcome.findings).items())
        lines.append(f"{r.paper.title}: {len(r.outcome.findings)} claims: {number}")
        lines += [f"  {sentence}" for reference in r.outcome.references for sentence in reference.summary]
    lines.append(f"{out / 'report.html'}: figures, claims and why; {out / 'claims.json'}: the same as data")
    return "\n".join(lines)


def as_rows(done: Sequence[Reproduced]) -> list[dict[str, object]]:
    """The same as ``--json`` prints it."""
    return [_as_row(r.paper, r.outcome) for r in done]


def _as_row(paper: Paper, o: Outcome) -> dict[str, object]:
    verdicts = {verdict.value: n for verdict, n in claims.counts(o.findings).items()}
    row: dict[str, object] = {"paper": paper.key, "claims": len(o.findings), "verdicts": verdicts}
    row |= {"seeds": list(o.seeds), "durations_s": list(o.durations_s), "runs": o.runs, "runs_hash": o.digest}
    return row | {"references": [{"title": one.table.title, "agrees": one.good} for one in o.references]}
