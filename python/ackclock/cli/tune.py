"""``ackclock tune``; the work is done by ``ackclock.tuning``, which is loaded when the command is called."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ackclock.cli.common import FAILED, AllowPython, On, Store, Threads, fail, refusals

EXAMPLES = """\b
Examples:
  ackclock tune papers/tuning/avg-dev.toml
  ackclock tune plan.toml --trials 50 --out first
  ackclock tune plan.toml --seed 2 --out second --json
"""


def tune(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="Plan in TOML: see docs/tuning.md.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the results.  [default: tuning/NAME]")
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(metavar="N", help="Number of settings to try, instead of the plan's.", min=1, max=10**6),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Seed of the search, instead of the plan's.", min=0, max=2**32 - 1)
    ] = None,
    store: Store = None,
    on: On = None,
    threads: Threads = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print tuning.json instead of tables.")] = False,
    allow_python: AllowPython = False,
) -> None:
    """Search a stack's parameters for more goodput and fewer needless retransmissions.

    Writes tuning.json, trials.parquet, front.svg and best.toml. Finished runs are kept: after an interruption the same
    command continues.
    """
    for package in ("matplotlib", "optuna"):
        if find_spec(package) is None:
            fail(f'tune needs {package}, which is not installed: pip install "ackclock[tune]"', FAILED)
    from ackclock.permission import allowing  # noqa: PLC0415 - start-up time

    with refusals(), allowing(allow_python):
        from ackclock.progress import shown  # noqa: PLC0415 - start-up time
        from ackclock.tuning import files  # noqa: PLC0415 - likewise
        from ackclock.tuning.job import run  # noqa: PLC0415 - likewise
        from ackclock.tuning.plan import read  # noqa: PLC0415 - likewise

        checked = read(plan, trials=trials, seed=seed)
    folder = out if out is not None else Path("tuning") / checked.name
    kept = "; finished runs are kept and the same command continues"
    showing = shown(f"tuning {checked.name}: {checked.trials} trials", at_once=True)
    with refusals(lambda: kept), allowing(allow_python), showing as told:
        tuning = run(checked, store, on, threads, told)
    with refusals(lambda: kept):
        files.write(tuning, folder)
    if as_json:
        typer.echo(tuning.json, nl=False)
        return
    from ackclock.tuning.tables import show  # noqa: PLC0415 - start-up time

    show(tuning)
    typer.echo(f"{folder}: tuning.json, trials.parquet, front.svg, best.toml")
