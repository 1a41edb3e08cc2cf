"""``ackclock tune``; the work is done by ``ackclock.tuning``, which is loaded when the command is called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock.cli.common import KEPT, PATH, allow_python, need, on, refusals, store, threads
from ackclock.document.permission import allowing
from ackclock.late import late
from ackclock.progress import shown

if TYPE_CHECKING:
    from ackclock.tuning import files, job, tables
    from ackclock.tuning import plan as plans
else:
    files, job, plans, tables = late(
        "ackclock.tuning.files", "ackclock.tuning.job", "ackclock.tuning.plan", "ackclock.tuning.tables"
    )

EXAMPLES = """\b
Examples:
  ackclock tune papers/tuning/avg-dev.toml
  ackclock tune plan.toml --trials 50 --out first
  ackclock tune plan.toml --seed 2 --out second --json
"""


@click.command(epilog=EXAMPLES)
@click.argument("plan", help="Plan in TOML: see docs/tuning.md.")
@click.option("--out", type=PATH, metavar="DIR", help="Folder for the results.  [default: tuning/NAME]")
@click.option(
    "--trials", metavar="N", type=click.IntRange(1, 10**6), help="Number of settings to try, instead of the plan's."
)
@click.option(
    "--seed", metavar="N", type=click.IntRange(0, 2**32 - 1), help="Seed of the search, instead of the plan's."
)
@store
@on
@threads
@click.option("--json", "as_json", is_flag=True, help="Print tuning.json instead of tables.")
@allow_python
def tune(
    plan: str,
    out: Path | None,
    trials: int | None,
    seed: int | None,
    store: Path | None,
    on: str | None,
    threads: int | None,
    as_json: bool,
    allow_python: bool,
) -> None:
    """Search a stack's parameters for more goodput and fewer needless retransmissions.

    Writes tuning.json, trials.parquet, front.svg and best.toml. Finished runs are kept: after an interruption the same
    command continues.
    """
    need("tune", {"matplotlib": "tune", "optuna": "tune"})
    with refusals(), allowing(allow_python):
        checked = plans.read(plan, trials=trials, seed=seed)
    folder = out if out is not None else Path("tuning") / checked.name
    showing = shown(f"tuning {checked.name}: {checked.trials} trials", at_once=True)
    with refusals(lambda: KEPT), allowing(allow_python), showing as report:
        tuning = job.run(checked, store, on, threads, report)
    with refusals(lambda: KEPT):
        files.write(tuning, folder)
    if as_json:
        click.echo(tuning.json, nl=False)
        return
    tables.show(tuning)
    click.echo(f"{folder}: tuning.json, trials.parquet, front.svg, best.toml")
