"""The leaderboard on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.arena.entries import kept
from ackclock.arena.scores import COLUMNS
from ackclock.tables.terminal import console, empty_table

if TYPE_CHECKING:
    from rich.table import Table

    from ackclock.arena.scores import Scores

LEFT = ("stack", "least_on")


def show(board: Scores) -> None:
    """Print the leaderboard."""
    asked, out = board.answer.question, console()
    title = f"Arena {board.version}, {board.half}: {len(board.answer.paths)} paths, {asked.seeds.at_most} seeds"
    out.print(title, style="bold", markup=False)
    out.print(_table(board, [name for name, one in COLUMNS.items() if not one.detail]))
    text = (
        f"mean, least: goodput as a share of the best on the same path. p99, goodput: relative to {asked.baseline}, "
        f"simultaneous 95 % intervals."
    )
    out.print(text, markup=False, soft_wrap=True)
    out.print(_table(board, ["stack", *(name for name, one in COLUMNS.items() if one.detail)]))
    kinds = ", ".join(kept()["others"].values())
    text = (
        "needless by cause: the first of a fast recovery, later in one, probes, after timeouts. others: the goodput of "
        f"flows of {kinds} beside it, relative to that beside their own kind, and beside {asked.baseline}."
    )
    out.print(text, markup=False, soft_wrap=True)


def _table(board: Scores, names: list[str]) -> Table:
    """These columns, with the place of each stack."""
    table = empty_table(["", *(COLUMNS[name].heading for name in names)], {COLUMNS[name].heading for name in LEFT})
    for place, one in enumerate(board.scores, 1):
        table.add_row(f"{place}", *(COLUMNS[name].cell(getattr(one, name)) for name in names))
    return table
