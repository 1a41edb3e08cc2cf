"""``ackclock results``: the sweeps of a store."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock import files
from ackclock.cli.common import FAILED, PATH, as_json, fail, refusals, store
from ackclock.cli.lazy import Ordered
from ackclock.document import nearest, refusal
from ackclock.late import late

if TYPE_CHECKING:
    import polars as pl

    from ackclock.runs import store as runs
    from ackclock.sweep import columns, outcome, stores
    from ackclock.sweep import shown as tables
else:
    runs, columns, outcome, stores, tables = late(
        "ackclock.runs.store",
        "ackclock.sweep.columns",
        "ackclock.sweep.outcome",
        "ackclock.sweep.stores",
        "ackclock.sweep.shown",
    )

EXAMPLES = """\b
Examples:
  ackclock results ls
  ackclock results show thresholds
  ackclock results show thresholds --column goodput_bytes_per_s --column timeouts
  ackclock results export thresholds runs.csv
  ackclock results export thresholds means.parquet --summary
"""
_WRITERS: dict[str, Callable[[pl.DataFrame, io.BytesIO], object]] = {
    ".parquet": lambda frame, to: frame.write_parquet(to),
    ".csv": lambda frame, to: frame.write_csv(to),
    ".json": lambda frame, to: frame.write_json(to),
    ".ndjson": lambda frame, to: frame.write_ndjson(to),
    ".arrow": lambda frame, to: frame.write_ipc(to),
}


@click.group(cls=Ordered, epilog=EXAMPLES)
def results() -> None:
    """List, print and export the results of sweeps; look after stores."""


def _complete_name(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    try:
        return [name for name in outcome.Results(context.params.get("store")) if name.startswith(incomplete)]
    except OSError:
        return []


def _complete_column(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in (*columns.MEANS, *columns.MEASURED) if name.startswith(incomplete)]


sweep_name = click.argument("name", shell_complete=_complete_name, help="Name of a sweep.")


@results.command("ls", epilog="\b\nExamples:\n  ackclock results ls\n  ackclock results ls --store /data/runs --json")
@store
@as_json()
def listing(store: Path | None, as_json: bool) -> None:
    """List the sweeps of a store."""
    with refusals():
        every = outcome.Results(store)
        lines, damaged = every.listed(), every.damaged()
    if as_json:
        click.echo(json.dumps(lines, indent=2, ensure_ascii=False))
    elif lines or not damaged:
        tables.print_list(lines)
    _report_damage(damaged)


@results.command(epilog=EXAMPLES)
@sweep_name
@click.option(
    "--column", multiple=True, metavar="COLUMN", shell_complete=_complete_column, help="Column to show. Repeatable."
)
@store
@as_json()
def show(name: str, column: tuple[str, ...], store: Path | None, as_json: bool) -> None:
    """Print the means of a sweep; of an unfinished sweep, the means of its finished runs."""
    found = _load(name, store)
    with refusals():
        known = [*columns.MEANS, *(one for one in columns.MEASURED if one in found.frame.columns)]
        for wanted in column:
            if wanted not in known:
                allowed = f"one of {', '.join(known)}"
                raise refusal("command line", None, "--column", f'"{wanted}"', allowed, nearest(wanted, known))
    if as_json:
        manifest = found.manifest
        about = {"sweep": found.name, "points": len(manifest.points), "runs": manifest.runs}
        more = {"finished": manifest.finished, "results_revision": manifest.results_revision}
        answer = {**about, **more, "summary": found.summary.to_dicts()}
        click.echo(json.dumps(answer, indent=2, ensure_ascii=False))
        return
    tables.print_means(found.summary, found.manifest, column)


@results.command(epilog=EXAMPLES)
@sweep_name
@click.argument(
    "file", type=PATH, help="File whose ending chooses the format: .parquet, .csv, .json, .ndjson or .arrow."
)
@click.option("--summary", is_flag=True, help="Write the means instead of every run.")
@store
def export(name: str, file: Path, summary: bool, store: Path | None) -> None:
    """Write the table of a sweep to a file."""
    ending = file.suffix.lower()
    with refusals():
        if ending not in _WRITERS:
            allowed = f"a file name that ends in one of {', '.join(_WRITERS)}"
            raise refusal("command line", None, "FILE", f'"{file}"', allowed)
    found = _load(name, store)
    frame, content = found.summary if summary else found.frame, io.BytesIO()
    _WRITERS[ending](frame, content)
    with refusals():
        files.write(file, content.getvalue())
    click.echo(f"{file}: {frame.height:,} rows")


@results.command(epilog="\b\nExamples:\n  ackclock results check\n  ackclock results check --store /data/runs")
@store
def check(store: Path | None) -> None:
    """Check every run, manifest and table of a store. Damage is reported with exit code 1."""
    folder = runs.folder_of(store)
    with refusals():
        damaged = stores.check(folder)
    _report_damage(damaged)
    click.echo(f"{folder}: nothing is damaged")


@results.command(epilog="\b\nExamples:\n  ackclock results repair --store /data/runs")
@store
def repair(store: Path | None) -> None:
    """Keep the undamaged part of a store and set damaged files aside. No other command may use the store meanwhile."""
    folder = runs.folder_of(store)
    with refusals():
        done = stores.repair(folder)
    click.echo("\n".join(done or [f"{folder}: nothing is damaged"]))


@results.command(
    epilog="\b\nExamples:\n  ackclock results copy /backup/runs\n  ackclock results copy elsewhere --store here"
)
@click.argument("to", type=PATH, help="Folder for the copy, without a store.")
@store
def copy(to: Path, store: Path | None) -> None:
    """Copy a store, even while other commands use it."""
    with refusals():
        if (to / runs.FILE).exists():
            allowed = "a folder without a store; `ackclock results merge` adds to one"
            raise refusal("command line", None, "TO", f'"{to}" with {runs.FILE} in it', allowed)
    _merge(runs.folder_of(store), to)


@results.command(epilog="\b\nExamples:\n  ackclock results merge /media/other/ackclock-results")
@click.argument("other", type=PATH, metavar="FROM", help="Folder of another store, which is not changed.")
@store
def merge(other: Path, store: Path | None) -> None:
    """Import the runs and sweeps of another store: all of them, or none if one run has different results."""
    _merge(other, runs.folder_of(store))


def _merge(source: Path, to: Path) -> None:
    with refusals():
        with runs.Store(source, create=False):
            pass  # check that the other store exists before this one is created
        with runs.Store(to) as opened:
            lines = stores.merge(source, opened)
    click.echo("\n".join(lines))


def _report_damage(damaged: list[str]) -> None:
    """Print the damage, one line each, and exit if there is any."""
    for line in damaged:
        click.echo(f"ackclock: {line}", err=True)
    if damaged:
        raise click.exceptions.Exit(FAILED)


def _load(name: str, store: Path | None) -> outcome.Sweep:
    """Load a sweep, and print remarks on it to standard error."""
    with refusals():
        every = outcome.Results(store)
        try:
            found = every[name]
        except KeyError:
            allowed = f"a sweep of {every.folder}: {', '.join(every) or 'there is none'}"
            raise refusal("command line", None, "NAME", f'"{name}"', allowed, nearest(name, every)) from None
    for note in found.notes:
        click.echo(f"ackclock: {note}", err=True)
    if not found.frame.height:
        fail(f"{name}: no run is finished", FAILED)
    return found
