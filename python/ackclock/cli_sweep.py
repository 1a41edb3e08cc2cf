"""``ackclock sweep``; what it runs is in ``ackclock.sweep`` and is loaded when it is called."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from ackclock import _native
from ackclock.errors import AlgorithmError, ScenarioError

if TYPE_CHECKING:
    from ackclock.sweep.job import Told
    from ackclock.sweep.outcome import Sweep
    from ackclock.sweep.plan import Plan

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
LINE_EVERY_S = 10.0
EXAMPLES = """\b
Examples:
  ackclock sweep thresholds.toml
  ackclock sweep thresholds.toml --dry-run
  ackclock sweep thresholds.toml --store /data/runs --threads 8
  ackclock sweep thresholds.toml --on dask://head:8786
  ackclock sweep thresholds.toml --on dask:4 --json
"""

Store = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder of finished runs.  [default: $ACKCLOCK_STORE or ackclock-results]",
        show_default=False,
    ),
]


def fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    """Print one line and end."""
    typer.echo(f"ackclock: {' '.join(message.split())}", err=True)
    raise typer.Exit(code)


@contextmanager
def refusals(kept: Callable[[], str] = lambda: "") -> Iterator[None]:
    """One message and an exit code for whatever goes wrong inside; an algorithm in Python has its traceback before it.

    Args:
        kept: says what is not lost, after a semicolon.
    """
    try:
        yield
    except ScenarioError as error:
        fail(f"{error}{kept()}")
    except AlgorithmError as error:
        # The person's own code: where in it.
        typer.echo(error.traceback, err=True, nl=False)
        fail(f"{error}{kept()}", FAILED)
    except (OSError, RuntimeError) as error:
        fail(f"{error}{kept()}", FAILED)
    except ImportError as error:
        missing = (error.name or "dask").partition(".")[0]
        fail(f'--on needs {missing}, which is not installed: pip install "ackclock[dask]"', FAILED)
    except KeyboardInterrupt:
        fail(f"interrupted{kept()}", INTERRUPTED)


def sweep(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="Plan of a sweep in TOML.")],
    store: Store = None,
    on: Annotated[
        str | None,
        typer.Option(metavar="WHERE", help="dask://HOST:PORT, or dask:N for N processes here; default: this machine."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(metavar="N", help="Runs at once; default: one for each core.", min=1)
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check all points and say how much it is; run nothing.")
    ] = (False),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run every point of a plan that is not finished yet, and print the means.

    Finished runs are kept in the store, are never run again, and are not lost, whatever ends the command: the same
    command goes on. The table is in sweeps/NAME/runs.parquet there.
    """
    with refusals():
        from ackclock.sweep.plan import Plan  # noqa: PLC0415 - start-up time

        read = Plan.read(plan)
    if dry_run:
        _forecast(read, store, as_json)
        return
    from ackclock.sweep import sweep as run  # noqa: PLC0415 - start-up time

    last: list[Told] = []

    def kept() -> str:
        return f"; {last[-1].done:,} of {last[-1].runs:,} runs are kept; the same command goes on" if last else ""

    with refusals(kept), _progress(read.name) as show:

        def told(how_far: Told) -> None:
            last[:] = [how_far]
            show(how_far)

        done = run(read, store, on, threads, told)
    for note in done.notes:
        typer.echo(f"ackclock: {note}", err=True)
    _print(done, last[-1].kept, as_json)


def _forecast(plan: Plan, store: Path | None, as_json: bool) -> None:
    from ackclock.quantities import duration  # noqa: PLC0415 - start-up time
    from ackclock.sweep.job import forecast  # noqa: PLC0415 - likewise
    from ackclock.sweep.local import cores  # noqa: PLC0415 - likewise

    with refusals():
        found = forecast(plan, store)
    if as_json:
        typer.echo(json.dumps({"name": plan.name, **asdict(found)}, indent=2))
        return
    least = " or more" if plan.stop else ""
    said = f"{plan.name}: {found.points:,} points, {found.runs:,} runs{least}, of them {found.kept:,} kept"
    if found.seconds:
        each = found.seconds / cores()
        said += f"; the others take about {duration(each)} on {cores()} cores, as the kept ones did"
    typer.echo(said)


def _print(done: Sweep, kept: int, as_json: bool) -> None:
    manifest = done.manifest
    if as_json:
        about = {"ackclock": _native.__version__, "results_revision": _native.results_revision, "sweep": done.name}
        counts = {"points": len(manifest.points), "runs": manifest.runs, "kept": kept, "finished": manifest.finished}
        rows: list[dict[str, Any]] = done.summary.to_dicts()
        typer.echo(json.dumps({**about, **counts, "summary": rows}, indent=2, ensure_ascii=False))
        return
    from ackclock.sweep.shown import print_means  # noqa: PLC0415 - start-up time

    said = f"{done.name}: {len(manifest.points):,} points, {manifest.runs:,} runs"
    typer.echo(f"{said}, of them {kept:,} kept; means with 95 % confidence intervals")
    print_means(done.summary, manifest)


@contextmanager
def _progress(name: str) -> Iterator[Callable[[Told], object]]:
    """Show on standard error how far a sweep is: a bar on a terminal, a line now and then elsewhere."""
    from ackclock.progress import animated  # noqa: PLC0415 - start-up time

    if not animated():
        yield _lines(name)
        return
    from rich.console import Console  # noqa: PLC0415 - start-up time
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None, rate="")
        pace = _Pace()

        def show(told: Told) -> None:
            rate = pace.rate(told)
            said = f"{rate:,.1f} runs/s" if rate else ""
            bar.update(task, completed=told.done, total=told.runs, rate=said)

        yield show


def _lines(name: str) -> Callable[[Told], object]:
    pace, last = _Pace(), time.monotonic()

    def show(told: Told) -> None:
        nonlocal last
        rate = pace.rate(told)
        if rate and time.monotonic() - last >= LINE_EVERY_S and told.done < told.runs:
            last = time.monotonic()
            left = round((told.runs - told.done) / rate)
            said = f"{told.done:,} of {told.runs:,} runs, {rate:,.1f} a second, {left // 60}:{left % 60:02} left"
            print(f"{name}: {said}", file=sys.stderr, flush=True)

    return show


class _Pace:
    """How many runs a second were made since the beginning."""

    def __init__(self) -> None:
        self._began: tuple[float, int] | None = None

    def rate(self, told: Told) -> float:
        """So many; 0 as long as none is."""
        now = time.monotonic()
        self._began = self._began or (now, told.done)
        since, before = self._began
        return (told.done - before) / (now - since) if now > since else 0.0
