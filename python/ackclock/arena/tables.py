"""The leaderboard on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.arena.entries import kept
from ackclock.tables.terminal import console, empty_table

if TYPE_CHECKING:
    from rich.table import Table

    from ackclock.arena.scores import Score, Scores

HEAD = ("", "stack", "mean, %", "least, %", "on", "≥ 99 %", "needless, %", "timeouts", "p99", "goodput")


def show(board: Scores) -> None:
    """Print the leaderboard."""
    asked, out = board.answer.question, console()
    title = f"Arena {board.version}, {board.half}: {len(board.answer.paths)} paths, {asked.seeds.at_most} seeds"
    out.print(title, style="bold", markup=False)
    table = empty_table(HEAD, left={"stack", "on"})
    for place, one in enumerate(board.scores, 1):
        table.add_row(f"{place}", *cells(one))
    out.print(table)
    text = (
        f"mean, least: goodput as a share of the best on the same path. p99, goodput: relative to {asked.baseline}, "
        f"simultaneous 95 % intervals."
    )
    out.print(text, markup=False, soft_wrap=True)
    out.print(_causes(board))
    kinds = ", ".join(kept()["others"].values())
    text = (
        "needless by cause: the first of a fast recovery, later in one, probes, after timeouts. others: the goodput of "
        f"flows of {kinds} beside it, relative to that beside their own kind, and beside {asked.baseline}."
    )
    out.print(text, markup=False, soft_wrap=True)


def _causes(board: Scores) -> Table:
    heads = (
        "stack",
        "fast, %",
        "recovery, %",
        "probe, %",
        "timeout, %",
        "others: own kind",
        f"{board.answer.question.baseline}",
    )
    table = empty_table(heads, left={"stack"})
    for one in board.scores:
        own = board.others[one.stack].own if one.stack in board.others else None
        shares = (f"{100 * share:.3f}" for share in one.causes.values())
        table.add_row(one.stack, *shares, interval(own), interval(one.others))
    return table


def interval(found: tuple[float, float, float] | None) -> str:
    """A relative change with its interval, in percent; empty if there is none."""
    return "" if found is None else f"{100 * found[0]:+.1f} % ({100 * found[1]:.1f} to {100 * found[2]:.1f})"


def cells(one: Score) -> tuple[str, ...]:
    """The cells of a stack's row, behind its place."""
    tail = "" if one.tail is None else f"{one.tail:.2f}"
    shares = f"{100 * one.mean:.1f}", f"{100 * one.least:.1f}", one.least_on, f"{one.nearly_best}"
    return (one.stack, *shares, f"{100 * one.needless:.2f}", f"{one.timeouts:.1f}", tail, interval(one.beside))
