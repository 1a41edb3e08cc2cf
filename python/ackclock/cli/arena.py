"""``ackclock arena``; the work is done by ``ackclock.arena``, which is loaded when the command is called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock.arena import FACTORIAL_SEEDS, SEEDS
from ackclock.cli.common import KEPT, PATH, allow_python, need, on, refusals, store, threads
from ackclock.document.permission import allowing
from ackclock.late import late
from ackclock.progress import shown

if TYPE_CHECKING:
    from ackclock.arena import entries, factorial_tables, job, tables
    from ackclock.arena import factorial as factorials
    from ackclock.study.plan import Question
else:
    entries, factorial_tables, factorials, job, tables = late(
        "ackclock.arena.entries",
        "ackclock.arena.factorial_tables",
        "ackclock.arena.factorial",
        "ackclock.arena.job",
        "ackclock.arena.tables",
    )

EXAMPLES = """\b
Examples:
  ackclock arena
  ackclock arena --list
  ackclock arena --factorial
  ackclock arena --stack "late,name=mine,detect=mine.py:Mine" --allow-python
"""


@click.command(epilog=EXAMPLES)
@click.option("--stack", multiple=True, metavar="STACK", help="A stack beside the field; repeatable.")
@click.option(
    "--half",
    default="design",
    metavar="HALF",
    help="`design`, or `judgement` for the verdict on a finished algorithm.",
)
@click.option("--path", multiple=True, metavar="PATH", help="A path; repeatable.  [default: all]")
@click.option("--field/--no-field", default=True, help="Let the field take part.")
@click.option(
    "--seeds",
    type=int,
    metavar="N",
    help=f"Runs of each stack on each path.  [default: {SEEDS}; with --factorial {FACTORIAL_SEEDS}]",
)
@click.option("--factorial", is_flag=True, help="Each detector with every response, instead of the board.")
@click.option("--out", type=PATH, metavar="DIR", help="Folder for the files.  [default: arena/HALF]")
@store
@on
@threads
@allow_python
@click.option("--list", "list_paths", is_flag=True, help="List the paths of the half; run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print arena.json, or the cells, instead of the board.")
def arena(
    stack: tuple[str, ...],
    half: str,
    path: tuple[str, ...],
    field: bool,
    seeds: int | None,
    factorial: bool,
    out: Path | None,
    store: Path | None,
    on: str | None,
    threads: int | None,
    allow_python: bool,
    list_paths: bool,
    as_json: bool,
) -> None:
    """Let detectors compete on a fixed set of paths, all with the same response.

    Prints a leaderboard, and writes board.csv, arena.svg, arena.json and values.parquet. Finished runs are kept: after
    an interruption the same command continues.
    """
    need("arena", {"matplotlib": "plot"})
    with refusals(), allowing(allow_python):
        count = seeds or (FACTORIAL_SEEDS if factorial else SEEDS)
        asked = entries.question(stack, half, path or None, field, count)
    if list_paths:
        return _list(half, path)
    if factorial:
        return _factorial(asked, half, out, (store, on, threads), allow_python, as_json)
    folder = out if out is not None else Path("arena") / half
    with refusals(lambda: KEPT), allowing(allow_python):
        board = job.run(asked, half, path or None, store, on, threads, shown)
        written = board.write(folder)
    if as_json:
        return click.echo(board.json, nl=False)
    tables.show(board)
    return click.echo(f"{folder}: {', '.join(file.name for file in written)}")


def _list(half: str, chosen: Sequence[str]) -> None:
    for name, file in sorted((entries.paths(half) | entries.shared(half)).items()):
        if not chosen or name in chosen:
            click.echo(f"{name:20} {entries.about(file)}")


def _factorial(
    asked: Question,
    half: str,
    out: Path | None,
    where: tuple[Path | None, str | None, int | None],
    allow_python: bool,
    as_json: bool,
) -> None:
    with refusals(lambda: KEPT), allowing(allow_python):
        found = factorials.run(asked, half, *where, shown)
        written = found.write(out if out is not None else Path("arena") / half)
    if as_json:
        return click.echo(found.table.write_json())
    factorial_tables.show(found)
    return click.echo(written)
