"""``ackclock study``; the work is done by ``ackclock.study``, which is loaded when the command is called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock.cli.common import KEPT, PATH, allow_python, need, on, refusals, store, threads
from ackclock.document.permission import allowing
from ackclock.late import late
from ackclock.progress import shown

if TYPE_CHECKING:
    from ackclock.study import job, plan, tables
else:
    job, plan, tables = late("ackclock.study.job", "ackclock.study.plan", "ackclock.study.tables")

EXAMPLES = """\b
Examples:
  ackclock study upload.toml
  ackclock study upload.toml --dry-run
  ackclock study upload.toml --out answer --json
"""


@click.command(epilog=EXAMPLES)
@click.argument("question", help="Study in TOML: see docs/studies.md.")
@click.option("--out", type=PATH, metavar="DIR", help="Folder for the report.  [default: studies/NAME]")
@store
@on
@threads
@allow_python
@click.option("--dry-run", is_flag=True, help="Check the study and print how many runs it may take; run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print study.json instead of the answer.")
def study(
    question: str,
    out: Path | None,
    store: Path | None,
    on: str | None,
    threads: int | None,
    allow_python: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Find out which sender does best on some paths, and how sure that is.

    Runs every stack on every path with the same seeds until the stacks can be told apart. Writes report.html,
    study.svg, study.json, ranking.csv, ranking.tex and values.parquet. Finished runs are kept: after an interruption
    the same command continues.
    """
    need("study", {"matplotlib": "plot", "jinja2": "papers"})
    with refusals(), allowing(allow_python):
        asked = plan.read(question)
    if dry_run:
        looks, points = asked.seeds.looks, len(asked.paths) * len(asked.stacks)
        most = f" to {looks[-1] * points:,}" if len(looks) > 1 else ""
        click.echo(
            f"{asked.name}: {len(asked.stacks)} stacks on {len(asked.paths)} paths, {looks[0] * points:,}{most} runs"
        )
        return
    folder = out if out is not None else Path("studies") / asked.name
    with refusals(lambda: KEPT), allowing(allow_python):
        answer = job.run(asked, store, on, threads, shown)
        written = answer.write(folder)
    if as_json:
        click.echo(answer.json, nl=False)
        return
    tables.show(answer)
    click.echo(f"{folder}: {', '.join(file.name for file in written)}")
