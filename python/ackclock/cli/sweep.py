"""``ackclock sweep``; the work is done by ``ackclock.sweep``, which is loaded when the command is called."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ackclock import _native
from ackclock.cli.common import PATH, allow_python, as_json, on, refusals, store, threads
from ackclock.document.permission import allowing
from ackclock.late import late
from ackclock.progress import shown
from ackclock.quantities import duration

if TYPE_CHECKING:
    from ackclock.progress import Progress
    from ackclock.runs import local
    from ackclock.sweep import job
    from ackclock.sweep import plan as plans
    from ackclock.sweep import shown as tables
    from ackclock.sweep.outcome import Sweep
else:
    local, job, plans, tables = late(
        "ackclock.runs.local", "ackclock.sweep.job", "ackclock.sweep.plan", "ackclock.sweep.shown"
    )

EXAMPLES = """\b
Examples:
  ackclock sweep thresholds.toml
  ackclock sweep thresholds.toml --dry-run
  ackclock sweep thresholds.toml --store /data/runs --threads 8
  ackclock sweep thresholds.toml --on dask://head:8786
  ackclock sweep thresholds.toml --on dask:4 --json
"""


@click.command(epilog=EXAMPLES)
@click.argument("plan", type=PATH, help="Plan of a sweep in TOML.")
@store
@on
@threads
@click.option("--dry-run", is_flag=True, help="Check all points and print the size of the sweep; run nothing.")
@as_json()
@allow_python
def sweep(
    plan: Path,
    store: Path | None,
    on: str | None,
    threads: int | None,
    dry_run: bool,
    as_json: bool,
    allow_python: bool,
) -> None:
    """Run every point of a plan that is not finished yet, and print the means.

    Finished runs are kept in the store and are never run again, however the command ends: the same command continues.
    The table is in sweeps/NAME/runs.parquet there.
    """
    with refusals():
        read = plans.Plan.read(plan)
    if dry_run:
        _forecast(read, store, as_json, allow_python)
        return
    last: list[Progress] = []

    def kept() -> str:
        return f"; {last[-1].done:,} of {last[-1].runs:,} runs are kept and the same command continues" if last else ""

    with refusals(kept), shown(read.name) as show:

        def report(progress: Progress) -> None:
            last[:] = [progress]
            show(progress)

        done = job.run(read, store, on, threads, report, allow_python)
    for note in done.notes:
        click.echo(f"ackclock: {note}", err=True)
    _print(done, last[-1].kept, as_json)


def _forecast(plan: plans.Plan, store: Path | None, as_json: bool, allow_python: bool) -> None:
    with refusals(), allowing(allow_python):
        found = job.forecast(plan, store)
    if as_json:
        click.echo(json.dumps({"name": plan.name, **asdict(found)}, indent=2))
        return
    least = " or more" if plan.stop else ""
    text = f"{plan.name}: {found.points:,} points, {found.runs:,} runs{least}, {found.kept:,} of them kept"
    if found.seconds:
        each = found.seconds / local.cores()
        text += f"; the others take about {duration(each)} on {local.cores()} cores, judging by the kept ones"
    click.echo(text)


def _print(done: Sweep, kept: int, as_json: bool) -> None:
    manifest = done.manifest
    if as_json:
        about = {"ackclock": _native.__version__, "results_revision": _native.results_revision, "sweep": done.name}
        counts = {"points": len(manifest.points), "runs": manifest.runs, "kept": kept, "finished": manifest.finished}
        rows: list[dict[str, Any]] = done.summary.to_dicts()
        click.echo(json.dumps({**about, **counts, "summary": rows}, indent=2, ensure_ascii=False))
        return
    text = f"{done.name}: {len(manifest.points):,} points, {manifest.runs:,} runs"
    click.echo(f"{text}, {kept:,} of them kept; means with 95 % confidence intervals")
    tables.print_means(done.summary, manifest)
