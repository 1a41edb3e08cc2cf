"""``python -m ackclock.papers``: runs Blanton & Allman 2002, draws its figures, judges its claims."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ackclock.papers import (
    blanton_allman,
    blanton_allman_findings,
    blanton_allman_report,
    blanton_allman_schemes,
    claims,
    files,
)
from ackclock.papers.blanton_allman import KEY, Compared, Point, Setting
from ackclock.papers.claims import Finding
from ackclock.papers.measure import Comparison, Mean, Verdict

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
PIPE_WIDTH = 160
FULL_SEEDS = 30
QUICK_SEEDS, QUICK_S = 5, 180
PROBE_SEEDS = 10
"""Of the runs that see whether a claim hangs on a choice of ours."""


@contextmanager
def progress_bar(console: Console, what: str) -> Iterator[Callable[[float], object]]:
    """A bar on a terminal; elsewhere a line for each quarter."""
    if console.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
        with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
            task = bar.add_task(what, total=1.0)
            yield lambda share: bar.update(task, completed=share)
        return
    told = 0

    def tell(share: float) -> None:
        nonlocal told
        if int(4 * share) > told:
            told = int(4 * share)
            console.print(f"{what}: {25 * told} %")

    yield tell


def table(compared: list[Compared]) -> Table:
    """Every point with its verdict."""
    t = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    t.add_column("figure")
    t.add_column("swaps", justify="right")
    t.add_column("gap s", justify="right")
    for name in ("throughput kB/s", "needless"):
        t.add_column(f"{name}: ours", justify="right")
        t.add_column("ns-2", justify="right")
        t.add_column("diff.", justify="right")
        t.add_column("verdict")

    def cells(c: Comparison, scale: float) -> list[str]:
        def show(m: Mean) -> str:
            return f"{scale * m.value:.1f} ± {scale * m.half:.1f}"

        return [show(c.ours), show(c.reference), f"{100 * c.difference:+z.1f} %", c.verdict.value]

    for c in compared:
        r = c.reference
        t.add_row(r.sweep, str(r.swaps), f"{r.gap_s:g}", *cells(c.throughput, 1e-3), *cells(c.needless, 1.0))
    return t


def summary(what: str, comparisons: list[Comparison]) -> str:
    """How many points agree, and how."""
    count = {v: sum(c.verdict is v for c in comparisons) for v in Verdict}
    good = sum(c.verdict.reproduced for c in comparisons)
    how = ", ".join(f"{n} {v.value}" for v, n in count.items() if n)
    worst = max(abs(c.difference) for c in comparisons)
    tolerance = comparisons[0].tolerance
    return (
        f"{what} (tolerance {100 * tolerance:g} %): {good} of {len(comparisons)} points reproduced ({how}); "
        f"largest difference {100 * worst:.1f} %"
    )


@dataclass(frozen=True)
class Job:
    """What to run, and where results go."""

    folder: Path
    """The paper's: scenarios, claims, reference values."""
    out: Path
    seeds: int
    duration_s: int | None = None
    """Instead of the scenario's; such runs are not compared with ns-2's."""
    copy_to: Path | None = None


def prober(job: Job) -> Callable[[Sequence[Setting]], dict[Setting, Point]]:
    """Runs points without a word, none of them twice."""
    done: dict[Setting, Point] = {}

    def run(every: Sequence[Setting]) -> dict[Setting, Point]:
        new = [s for s in every if s not in done]
        seeds = min(job.seeds, PROBE_SEEDS)
        done.update(blanton_allman.run(job.folder, new, seeds, lambda _: None, job.duration_s))
        return {s: done[s] for s in every}

    return run


def reproduce(job: Job) -> bool:
    """Run, compare, draw, judge; whether every point of ns-2's is reproduced."""
    from ackclock.papers import blanton_allman_figures, blanton_allman_scheme_figures  # noqa: PLC0415 - matplotlib is slow

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPE_WIDTH)
    out, full = job.out / KEY, job.duration_s is None
    out.mkdir(parents=True, exist_ok=True)
    references, began = blanton_allman.references(job.folder) if full else [], time.monotonic()
    every = list(dict.fromkeys([*blanton_allman.settings(), *blanton_allman_schemes.settings()]))
    with progress_bar(console, f"{KEY}: {len(every) * job.seeds} runs") as told:
        points = blanton_allman.run(job.folder, every, job.seeds, told, job.duration_s)
    files.write_csv(out / "points.csv", (point.row() for point in points.values()))
    drawn = blanton_allman_figures.draw({s: points[s] for s in blanton_allman.settings()}, references, out)
    drawn += blanton_allman_scheme_figures.draw(points, out)
    console.print(f"{KEY}: claims, and switches where they differ")
    found = blanton_allman_findings.findings(points, job.folder, prober(job))
    claims.write(job.out / "claims.json", found)
    pictures = {path.stem: path for path in drawn if path.suffix == ".svg"}
    write_page(out, points, found, pictures)
    if job.copy_to is not None:
        job.copy_to.mkdir(parents=True, exist_ok=True)
        copies = {name: job.copy_to / f"{KEY}-{path.name}" for name, path in pictures.items()}
        for name, path in pictures.items():
            shutil.copyfile(path, copies[name])
        write_page(job.folder, points, found, copies)
    compared = list(blanton_allman.compare(points, job.folder)) if full else []
    if compared:
        files.write_csv(out / "comparison.csv", (c.row() for c in compared))
        console.print(table(compared))
        console.print(summary("throughput", [c.throughput for c in compared]), soft_wrap=True)
        console.print(summary("needless retransmissions", [c.needless for c in compared]), soft_wrap=True)
    verdicts = ", ".join(f"{n} {verdict.value}" for verdict, n in blanton_allman_findings.counts(found).items())
    console.print(f"claims: {verdicts}; see RESULTS.md", soft_wrap=True)
    took = time.monotonic() - began
    console.print(f"{len(every)} points in {took:.1f} s; results in {out}", markup=False, soft_wrap=True)
    return all(c.throughput.verdict.good and c.needless.verdict.good for c in compared)


def write_page(folder: Path, points: dict[Setting, Point], found: Sequence[Finding], pictures: dict[str, Path]) -> None:
    """Write RESULTS.md into a folder."""
    page = blanton_allman_report.markdown(points, found, pictures, folder)
    files.write(folder / "RESULTS.md", page.encode())


def command(
    seeds: Annotated[int | None, typer.Option(help="Runs of each point; the paper has 30.", min=2, max=100_000)] = None,
    quick: Annotated[bool, typer.Option("--quick", help="5 runs of 180 s a point; no comparison with ns-2.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the results.", metavar="DIR")] = Path("results"),
    papers: Annotated[Path, typer.Option(help="Folder with the papers' scenarios.", metavar="DIR")] = Path("papers"),
    copy_to: Annotated[
        Path | None,
        typer.Option(
            help="Copy the figures (SVG) here, RESULTS.md beside the scenarios.", metavar="DIR", show_default=False
        ),
    ] = None,
) -> None:
    """Run Blanton & Allman 2002 again: draw Figures 2 to 9, judge every claim, compare Figures 2 and 3 with ns-2.

    Exit code 1: a point lies outside ns-2's tolerance and the intervals have nothing in common.
    """
    folder = papers / KEY
    runs = seeds or (QUICK_SEEDS if quick else FULL_SEEDS)
    try:
        if not folder.is_dir():
            raise ValueError(f"--papers: found no folder {folder}, allowed: the folder that holds {KEY}")
        good = reproduce(Job(folder, out, runs, QUICK_S if quick else None, copy_to))
    except ValueError as error:
        typer.echo(f"ackclock.papers: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from None
    except (OSError, ImportError) as error:
        more = ": pip install 'ackclock[papers]'" if isinstance(error, ImportError) else ""
        typer.echo(f"ackclock.papers: {error}{more}", err=True)
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        typer.echo("ackclock.papers: interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if not good:
        raise typer.Exit(FAILED)


def main() -> None:
    """Run the command."""
    app = typer.Typer(
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.command(epilog="Examples:  python -m ackclock.papers  |  python -m ackclock.papers --quick --out quick")(
        command
    )
    app()


if __name__ == "__main__":
    main()
