"""The factorial on a terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table

from ackclock.arena.entries import kept
from ackclock.arena.factorial import Factorial
from ackclock.tables.printed import console


def show(found: Factorial) -> None:
    """Print the mean share for each level, and the detectors under the best response."""
    out = console()
    count = len(found.cells[0].shares)
    title = f"Arena {kept()['version']}, {found.half}, factorial: {len(found.cells)} cells, {count} paths"
    out.print(title, style="bold", markup=False)
    effects = _table(("factor", "of the variance, %", "mean share of each level, %"), left={0, 2})
    for factor in found.factors:
        levels = ", ".join(f"{level} {100 * mean:.1f}" for level, mean in found.means(factor).items())
        effects.add_row(factor, f"{100 * found.part(factor):.0f}", levels)
    out.print(effects)
    best = ", ".join(f"{f} = {level}" for f, level in zip(found.factors[1:], found.response, strict=True))
    out.print(f"Every detector under the best response: {best}", markup=False, soft_wrap=True)
    ranking = _table(("", "detector", "mean, %", "least, %", "needless, %", "timeouts"), left={1})
    for place, one in enumerate(found.under(found.response), 1):
        shares = f"{100 * one.mean:.1f}", f"{100 * min(one.shares):.1f}"
        ranking.add_row(f"{place}", one.levels[0], *shares, f"{100 * one.needless:.2f}", f"{one.timeouts:.1f}")
    out.print(ranking)


def _table(heads: tuple[str, ...], left: set[int]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for at, name in enumerate(heads):
        table.add_column(name, justify="left" if at in left else "right")
    return table
