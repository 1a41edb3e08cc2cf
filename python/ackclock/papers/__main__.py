"""``python -m ackclock.papers``: runs Blanton & Allman 2002, Figures 2 and 3, draws them, compares them with ns-2."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ackclock.papers import blanton_allman, files
from ackclock.papers.blanton_allman import KEY, Compared
from ackclock.papers.measure import Comparison, Mean, Verdict

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
PIPE_WIDTH = 160


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
    good = sum(c.verdict.good for c in comparisons)
    how = ", ".join(f"{n} {v.value}" for v, n in count.items() if n)
    worst = max(abs(c.difference) for c in comparisons)
    tolerance = comparisons[0].tolerance
    return (
        f"{what} (tolerance {100 * tolerance:g} %): {good} of {len(comparisons)} points reproduced ({how}); "
        f"largest difference {100 * worst:.1f} %"
    )


def reproduce(folder: Path, out: Path, seeds: int, copy_to: Path | None) -> bool:
    """Run, compare, draw; whether every point is reproduced."""
    from ackclock.papers.blanton_allman_figures import draw  # noqa: PLC0415 - matplotlib takes a second to load

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPE_WIDTH)
    out.mkdir(parents=True, exist_ok=True)
    references, began = blanton_allman.references(folder), time.monotonic()
    count = len(blanton_allman.settings())
    with progress_bar(console, f"{KEY}: {count * seeds} runs of 600 s") as told:
        points = blanton_allman.run(folder, seeds, told)
    took = time.monotonic() - began
    compared = list(blanton_allman.compare(points, folder))
    files.write_csv(out / "points.csv", (point.row() for point in points.values()))
    files.write_csv(out / "comparison.csv", (c.row() for c in compared))
    drawn = draw(points, references, out)
    if copy_to is not None:
        copy_to.mkdir(parents=True, exist_ok=True)
        for path in drawn:
            if path.suffix == ".svg":
                shutil.copyfile(path, copy_to / f"{KEY}-{path.name}")
    console.print(table(compared))
    console.print(summary("throughput", [c.throughput for c in compared]), soft_wrap=True)
    console.print(summary("needless retransmissions", [c.needless for c in compared]), soft_wrap=True)
    console.print(f"{count * seeds} runs in {took:.1f} s; results in {out}", markup=False, soft_wrap=True)
    return all(c.throughput.verdict.good and c.needless.verdict.good for c in compared)


def command(
    seeds: Annotated[int, typer.Option(help="Runs of each point; the paper has 30.", min=2, max=100_000)] = 30,
    out: Annotated[Path, typer.Option(help="Folder for the results.", metavar="DIR")] = Path("results") / KEY,
    papers: Annotated[Path, typer.Option(help="Folder with the papers' scenarios.", metavar="DIR")] = Path("papers"),
    copy_to: Annotated[
        Path | None, typer.Option(help="Copy the figures (SVG) here as well.", metavar="DIR", show_default=False)
    ] = None,
) -> None:
    """Run Blanton & Allman 2002, Figures 2 and 3, again, draw them, and compare every point with ns-2.

    Exit code 1: a point lies outside its tolerance and the intervals have nothing in common.
    """
    folder = papers / KEY
    try:
        if not folder.is_dir():
            raise ValueError(f"--papers: found no folder {folder}, allowed: the folder that holds {KEY}")
        good = reproduce(folder, out, seeds, copy_to)
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
    app.command(epilog="Examples:  python -m ackclock.papers  |  python -m ackclock.papers --seeds 100 --out more")(
        command
    )
    app()


if __name__ == "__main__":
    main()
