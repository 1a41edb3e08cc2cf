"""The leaderboard on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

from ackclock.tables import console

if TYPE_CHECKING:
    from ackclock.arena.scores import Score, Scores

HEAD = ("", "stack", "mean, %", "least, %", "on", "≥ 99 %", "needless, %", "timeouts", "p99", "goodput")


def show(board: Scores) -> None:
    """Print the leaderboard."""
    asked, out = board.answer.question, console()
    title = f"Arena {board.version}, {board.half}: {len(board.answer.paths)} paths, {asked.seeds.at_most} seeds"
    out.print(title, style="bold", markup=False)
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in HEAD:
        table.add_column(name, justify="left" if name in {"stack", "on"} else "right")
    for place, one in enumerate(board.scores, 1):
        table.add_row(f"{place}", *cells(one))
    out.print(table)
    text = (
        f"mean, least: goodput as a share of the best on the same path. p99, goodput: relative to {asked.baseline}, "
        f"simultaneous 95 % intervals."
    )
    out.print(text, markup=False, soft_wrap=True)


def cells(one: Score) -> tuple[str, ...]:
    """The cells of a stack's row, behind its place."""
    tail = "" if one.tail is None else f"{one.tail:.2f}"
    change = (
        ""
        if one.beside is None
        else f"{100 * one.beside[0]:+.1f} % ({100 * one.beside[1]:.1f} to {100 * one.beside[2]:.1f})"
    )
    shares = f"{100 * one.mean:.1f}", f"{100 * one.least:.1f}", one.least_on, f"{one.nearly_best}"
    return (one.stack, *shares, f"{100 * one.needless:.2f}", f"{one.timeouts:.1f}", tail, change)
