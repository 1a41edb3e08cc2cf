"""Reproduces a single paper or extra page: makes its runs, and writes its figures, ``claims.json`` and RESULTS.md."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ackclock import files
from ackclock.papers import causes, claims, folder, page, reading, readings, readings_shown
from ackclock.papers.paper import Extra, Paper, Picture, Reproduced, Shown, Work
from ackclock.papers.reading import READINGS, Reading
from ackclock.progress import Show, unshown
from ackclock.runs.laboratory import Laboratory
from ackclock.runs.trial import Effort


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


def reproduced(one: Paper | Extra, wish: Wish, lab: Laboratory, show: Show = unshown) -> Reproduced | Shown:
    """Reproduce a paper or an extra page.

    Args:
        one: the paper or page.
        wish: how to run it.
        lab: makes its runs.
        show: shows the progress of its readings.

    Raises:
        OSError, ValueError, ImportError, RuntimeError, KeyboardInterrupt: as for
            :func:`~ackclock.papers.reproduce.reproduce`.
    """
    return _paper(one, wish, lab, show) if isinstance(one, Paper) else _extra(one, wish, lab)


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
