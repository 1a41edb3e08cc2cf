"""``ackclock arena``; the work is done by ``ackclock.arena``, which is loaded when the command is called."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ackclock.arena import SEEDS
from ackclock.cli_common import FAILED, AllowPython, On, Store, Threads, fail, refusals

EXAMPLES = """\b
Examples:
  ackclock arena
  ackclock arena --list
  ackclock arena --stack "late,name=mine,detect=mine.py:Mine" --allow-python
"""


def arena(
    stack: Annotated[
        list[str] | None, typer.Option(metavar="STACK", help="A stack beside the field; repeatable.")
    ] = None,
    half: Annotated[
        str, typer.Option(metavar="HALF", help="`design`, or `judgement` for the verdict on a finished algorithm.")
    ] = "design",
    path: Annotated[list[str] | None, typer.Option(metavar="PATH", help="A path; repeatable.  [default: all]")] = None,
    field: Annotated[bool, typer.Option(help="Let the field take part.")] = True,
    seeds: Annotated[int, typer.Option(metavar="N", help="Runs of each stack on each path.")] = SEEDS,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the files.  [default: arena/HALF]")
    ] = None,
    store: Store = None,
    on: On = None,
    threads: Threads = None,
    allow_python: AllowPython = False,
    list_paths: Annotated[bool, typer.Option("--list", help="List the paths of the half; run nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print arena.json instead of the board.")] = False,
) -> None:
    """Let detectors compete on a fixed set of paths, all with the same response.

    Prints a leaderboard, and writes board.csv, arena.svg, arena.json and values.parquet. Finished runs are kept: after
    an interruption the same command continues.
    """
    if find_spec("matplotlib") is None:
        fail('arena needs matplotlib, which is not installed: pip install "ackclock[plot]"', FAILED)
    from ackclock.permission import allowing  # noqa: PLC0415 - start-up time

    with refusals(), allowing(allow_python):
        from ackclock.arena.entries import about, paths, question  # noqa: PLC0415 - start-up time
        from ackclock.progress import shown  # noqa: PLC0415 - likewise
        from ackclock.study.job import run  # noqa: PLC0415 - likewise

        asked = question(stack or (), half, path or None, field, seeds)
    if list_paths:
        known = paths(half)
        for name in (one.name for one in asked.paths):
            typer.echo(f"{name:20} {about(known[name])}")
        return
    kept = "; finished runs are kept and the same command continues"
    folder = out if out is not None else Path("arena") / half
    with refusals(lambda: kept), allowing(allow_python):
        from ackclock.arena.board import Board  # noqa: PLC0415 - start-up time

        board = Board(half, run(asked, store, on, threads, shown))
        written = board.write(folder)
    if as_json:
        typer.echo(board.json, nl=False)
        return
    from ackclock.arena.tables import show  # noqa: PLC0415 - start-up time

    show(board)
    typer.echo(f"{folder}: {', '.join(file.name for file in written)}")
