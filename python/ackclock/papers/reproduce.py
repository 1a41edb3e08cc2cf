"""Reproduces papers: runs them, and writes figures, ``claims.json`` and pages."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ackclock import files
from ackclock.papers import EXTRAS, MODULES, claims, page, report, sizes
from ackclock.papers.lab import Lab, Spent
from ackclock.papers.paper import Done, Effort, Extra, Paper, Picture, Reproduced, Shown, Work
from ackclock.papers.store import Store
from ackclock.progress import Told, shown

POINTS = ".points"
"""Folder of finished points, below that of the results."""


@dataclass(frozen=True)
class Wish:
    """What to reproduce, how, and where results go."""

    keys: Sequence[str]
    """Papers and extra pages; none: all of them."""
    papers: Path
    """The folder that holds the papers' folders."""
    out: Path
    quick: bool = False
    seeds: int | None = None
    """Runs of each point, instead of the paper's."""
    fresh: bool = False
    """Run again what was run before."""
    copy_to: Path | None = None
    """Folder for copies of the figures; then RESULTS.md and claims.json go beside the scenarios, too."""

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


def load_extra(key: str) -> Extra:
    """The extra page of this name.

    Raises:
        ImportError: a package that it needs is missing.
    """
    extra: Extra = import_module(EXTRAS[key]).EXTRA
    return extra


def reproduce(wish: Wish) -> Done:
    """Run papers and extra pages, and write all their results.

    Raises:
        OSError: a file could not be read or written.
        ValueError: a paper's scenario or another file makes no sense.
        ImportError: a package of the extra ``papers`` is missing.
        KeyboardInterrupt: as usual; finished points are kept.
    """
    keys = wish.keys or [*MODULES, *EXTRAS]
    papers, extras = [load(key) for key in keys if key in MODULES], [load_extra(key) for key in keys if key in EXTRAS]
    store = Store(wish.out / POINTS, wish.fresh)
    done = Done([_paper(one, wish, store) for one in papers], [_extra(one, wish, store) for one in extras])
    for file, text in report.pages(done, wish.keys, wish.options()).items():
        files.write(wish.out / file, text.encode())
    claims.write(wish.out / "claims.json", [f for r in done.papers for f in r.outcome.findings])
    sizes.write_times(done, wish.out)
    if wish.copy_to is not None and not wish.options():
        sizes.write_sizes(done, wish.papers)
    return done


def effort(what: Paper | Extra, wish: Wish) -> Effort:
    """How much of it is run."""
    chosen = what.quick if wish.quick else what.full
    return Effort(wish.seeds or chosen.seeds, chosen.duration_s)


def _paper(paper: Paper, wish: Wish, store: Store) -> Reproduced:
    folder, work = wish.papers / paper.key, _work(paper, wish, store, wish.papers / paper.key)
    outcome = paper.reproduce(work)
    done = Reproduced(paper, folder, outcome, work.lab.spent)
    _write(done, {picture.name: picture.svg for picture in outcome.pictures}, work.out)
    if wish.copy_to is not None:
        _write(done, _copied(paper.key, outcome.pictures, wish.copy_to), folder)
    return done


def _extra(extra: Extra, wish: Wish, store: Store) -> Shown:
    work = _work(extra, wish, store, wish.papers)
    sections = extra.sections(work)
    if wish.copy_to is not None:
        _copied(extra.key, (picture for section in sections for picture in section.pictures), wish.copy_to)
    return Shown(extra, wish.papers, sections, work.lab.spent)


def _work(what: Paper | Extra, wish: Wish, store: Store, folder: Path) -> Work:
    """A laboratory of its own, so that what it spends is what this one has spent."""

    def progress(name: str) -> AbstractContextManager[Told]:
        return shown(f"{what.key}: {name}")

    out = wish.out / what.key
    out.mkdir(parents=True, exist_ok=True)
    return Work(folder, out, effort(what, wish), Lab(store, progress))


def _copied(key: str, pictures: Iterable[Picture], to: Path) -> dict[str, Path]:
    """Copies of the figures, by their names."""
    to.mkdir(parents=True, exist_ok=True)
    copies = {}
    for picture in pictures:
        copies[picture.name] = to / f"{key}-{picture.svg.name}"
        shutil.copyfile(picture.svg, copies[picture.name])
    return copies


def _write(done: Reproduced, pictures: dict[str, Path], folder: Path) -> None:
    files.write(folder / "RESULTS.md", page.markdown(done, pictures, folder).encode())
    claims.write(folder / "claims.json", done.outcome.findings)


def summary(done: Done, out: Path) -> str:
    """What came out, in a few lines."""
    lines = []
    for r in done.papers:
        number = ", ".join(verdict.counted(n) for verdict, n in claims.counts(r.outcome.findings).items())
        lines.append(f"{r.paper.title}: {len(r.outcome.findings)} claims: {number}")
        lines += [f"  {sentence}" for reference in r.outcome.references for sentence in reference.summary]
    lines.append(f"{out / report.FRONT}: figures, claims and why; {out / 'claims.json'}: the same as data")
    return "\n".join(lines)


def as_json(done: Done) -> dict[str, Any]:
    """The same as ``--json`` prints it."""
    every = [f for r in done.papers for f in r.outcome.findings]
    total = sum(sizes.spent(done).values(), Spent())
    return {
        "claims": len(every),
        "verdicts": _verdicts(every),
        "spent": asdict(total),
        "papers": [_as_row(r) for r in done.papers],
        "extras": [
            {"extra": one.extra.key, "page": f"{one.extra.key}.html", "spent": asdict(one.spent)} for one in done.extras
        ],
    }


def _verdicts(findings: Sequence[claims.Finding]) -> dict[str, int]:
    return {verdict.value: n for verdict, n in claims.counts(findings).items()}


def _as_row(r: Reproduced) -> dict[str, Any]:
    o = r.outcome
    return {
        "paper": r.paper.key,
        "page": f"{r.paper.key}.html",
        "claims": len(o.findings),
        "verdicts": _verdicts(o.findings),
        "differing": [f.claim.id for f in o.findings if f.verdict is claims.Verdict.DIFFERS],
        "seeds": list(o.seeds),
        "durations_s": list(o.durations_s),
        "runs": o.runs,
        "runs_hash": o.digest,
        "spent": asdict(r.spent),
        "references": [
            {
                "title": one.table.title,
                "agrees": one.good,
                "values": dict(Counter(value.value for value in one.compared())),
            }
            for one in o.references
        ],
    }
