"""Reproduces papers: runs them, and writes figures, ``claims.json`` and pages."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ackclock import files
from ackclock.papers import causes, claims, folder, page, reading, readings, readings_shown, report, sizes
from ackclock.papers.paper import Done, Extra, Paper, Picture, Reproduced, Shown, Work
from ackclock.papers.reading import READINGS, Reading
from ackclock.progress import Show, unshown
from ackclock.runs.executor import executor
from ackclock.runs.laboratory import Laboratory, Spent
from ackclock.runs.store import Store
from ackclock.runs.trial import Effort

OLDER = ".points"
"""Subfolder of the results where older versions kept finished points, before the store existed."""


@dataclass(frozen=True)
class Wish:
    """The papers to reproduce, how, and where results go."""

    what: Sequence[Paper | Extra]
    """Papers and extra pages, in the order of the report."""
    named: Sequence[str]
    """The names given on the command line; empty: all of ``papers``."""
    papers: Path
    """The folder that holds the folders of Ackclock's papers."""
    out: Path
    quick: bool = False
    seeds: int | None = None
    """Runs of each point, in place of the paper's number."""
    fresh: bool = False
    """Whether to repeat runs that are stored."""
    copy_to: Path | None = None
    """Folder for copies of the figures; RESULTS.md and claims.json are then also written beside the scenarios."""
    store: Path | None = None
    """Folder of finished runs. Default: ``ACKCLOCK_STORE``, or ``ackclock-results``."""
    on: str | None = None
    """A Dask cluster, as for :func:`ackclock.sweep`. Default: this machine."""
    threads: int | None = None
    """Concurrent runs on this machine. Default: one per core."""
    readings: bool = False
    """Whether to run papers also under every declared reading of their open choices."""
    lab: str | None = None
    """The address of the lab page, for the report's links to it. Default: the one that ``ackclock lab`` serves."""

    def options(self) -> list[str]:
        """Options of the command that change results."""
        seeds = [] if self.seeds is None else ["--seeds", str(self.seeds)]
        return ["--quick"] * self.quick + seeds + ["--readings"] * self.readings


def reproduce(wish: Wish, show: Show = unshown) -> Done:
    """Run papers and extra pages, and write all their results.

    Args:
        wish: the papers, and how to run them.
        show: shows the progress of the runs.

    Raises:
        OSError: a file could not be read or written.
        ValueError: a paper's scenario or another file is invalid.
        ImportError: a package of the extra ``papers`` is missing.
        RuntimeError: a worker has another version of Ackclock.
        KeyboardInterrupt: as usual; finished runs are kept.
    """
    workers = executor(wish.on, wish.threads)
    wish.out.mkdir(parents=True, exist_ok=True)
    if (older := wish.out / OLDER).is_dir():
        print(
            f"ackclock: {older}: it holds points of an older form, which are not read; it may be deleted",
            file=sys.stderr,
        )
    with Store(wish.store) as store, workers as runs_on:

        def lab(key: str) -> Laboratory:
            """Create a separate laboratory for each paper, so that its cost counter covers only that paper."""
            return Laboratory(store, runs_on, lambda what: show(f"{key}: {what}"), wish.fresh)

        done = Done(
            [_paper(one, wish, lab(one.key), show) for one in wish.what if isinstance(one, Paper)],
            [_extra(one, wish, lab(one.key)) for one in wish.what if isinstance(one, Extra)],
        )
    for file, text in report.pages(done, wish.named, wish.options(), wish.papers, wish.lab).items():
        files.write(wish.out / file, text.encode())
    claims.write(wish.out / "claims.json", [f for r in done.papers for f in r.outcome.findings])
    sizes.write_times(done, wish.out)
    if wish.copy_to is not None and not wish.options():
        sizes.write_sizes(done, wish.papers)
    return done


def effort(what: Paper | Extra, wish: Wish) -> Effort:
    """The effort with which a paper or page is run."""
    chosen = what.quick if wish.quick else what.full
    return Effort(wish.seeds or chosen.seeds, chosen.duration_s)


def _paper(paper: Paper, wish: Wish, lab: Laboratory, show: Show) -> Reproduced:
    as_taken = Reading(reading.read(paper.folder))
    work = replace(_work(paper, wish, lab, paper.folder), reading=as_taken)
    outcome = folder.run(paper, work)
    if wish.readings and (paper.folder / READINGS).is_file():
        _readings(paper, replace(work, lab=lab.silent()), wish, show)
    read = readings_shown.read(*([work.out] if wish.readings else []), paper.folder)
    section = None if read is None else readings_shown.section(read, paper, work.out)
    own = paper.folder.parent == wish.papers
    done = Reproduced(paper, outcome, lab.spent, own, read, section, causes.read(paper.folder))
    pictures = [*outcome.pictures, *(section.pictures if section else ())]
    _write(done, {picture.name: picture.svg for picture in pictures}, work.out)
    if wish.copy_to is not None:
        _write(done, _copied(paper.key, pictures, wish.copy_to), paper.folder)
    return done


def _readings(paper: Paper, work: Work, wish: Wish, show: Show) -> None:
    """Run the design with quick effort and the best readings with full effort, unless the run is a short one."""
    few = Effort(wish.seeds or paper.readings.seeds, paper.readings.duration_s)
    read = readings.explore(paper, replace(work, effort=few), None if wish.quick else paper.full, show)
    for to in [work.out] + ([paper.folder] if wish.copy_to is not None else []):
        readings.write(read, to)


def _extra(extra: Extra, wish: Wish, lab: Laboratory) -> Shown:
    work = _work(extra, wish, lab, extra.folder.parent)
    sections = folder.sections(extra, work)
    if wish.copy_to is not None:
        _copied(extra.key, (picture for section in sections for picture in section.pictures), wish.copy_to)
    return Shown(extra, sections, lab.spent)


def _work(what: Paper | Extra, wish: Wish, lab: Laboratory, scenarios: Path) -> Work:
    out = wish.out / what.key
    out.mkdir(parents=True, exist_ok=True)
    return Work(scenarios, out, effort(what, wish), lab)


def _copied(key: str, pictures: Iterable[Picture], to: Path) -> dict[str, Path]:
    """Copy the figures; return the copies by name."""
    to.mkdir(parents=True, exist_ok=True)
    copies = {}
    for picture in pictures:
        copies[picture.name] = to / f"{key}-{picture.svg.name}"
        shutil.copyfile(picture.svg, copies[picture.name])
    return copies


def _write(done: Reproduced, pictures: dict[str, Path], to: Path) -> None:
    files.write(to / "RESULTS.md", page.markdown(done, pictures, to).encode())
    claims.write(to / "claims.json", done.outcome.findings)


def summary(done: Done, out: Path) -> str:
    """The results in a few lines."""
    lines = []
    for r in done.papers:
        found = r.outcome.findings
        lines.append(f"{r.paper.title}: {len(found)} claims. {claims.headline(found)}")
        lines += [f"  {line}" for line in claims.kinds(found)]
        lines += [f"  {sentence}" for reference in r.outcome.references for sentence in reference.summary]
    lines.append(f"{out / report.FRONT}: figures, claims and why; {out / 'claims.json'}: the same as data")
    return "\n".join(lines)


def as_json(done: Done) -> dict[str, Any]:
    """The results as ``--json`` prints them."""
    every = [f for r in done.papers for f in r.outcome.findings]
    total = Spent.total(sizes.spent(done).values())
    return {
        "claims": len(every),
        "verdicts": _verdicts(every),
        "spent": asdict(total),
        "papers": [_as_row(r) for r in done.papers],
        "extras": [
            {"extra": one.extra.key, "page": f"{one.extra.key}.html", "spent": asdict(one.spent)} for one in done.extras
        ],
    }


def _verdicts(findings: Sequence[claims.Finding]) -> dict[str, dict[str, int]]:
    """The number of each verdict, by kind."""
    every = claims.by_kind(findings).items()
    return {kind.value: {verdict.value: n for verdict, n in of.items()} for kind, of in every}


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
