"""The factorial on a terminal."""

from __future__ import annotations

from ackclock.arena.entries import kept
from ackclock.arena.factorial import Factorial
from ackclock.tables.terminal import console, empty_table


def show(found: Factorial) -> None:
    """Print the mean share for each level, and the detectors under the best response."""
    out = console()
    count = len(found.cells[0].shares)
    title = f"Arena {kept()['version']}, {found.half}, factorial: {len(found.cells)} cells, {count} paths"
    out.print(title, style="bold", markup=False)
    share = "mean share of each level, %"
    effects = empty_table(("factor", "of the variance, %", share), left={"factor", share})
    for factor in found.factors:
        levels = ", ".join(f"{level} {100 * mean:.1f}" for level, mean in found.means(factor).items())
        effects.add_row(factor, f"{100 * found.part(factor):.0f}", levels)
    out.print(effects)
    best = ", ".join(f"{f} = {level}" for f, level in zip(found.factors[1:], found.response, strict=True))
    out.print(f"Every detector under the best response: {best}", markup=False, soft_wrap=True)
    heads = ("", "detector", "mean, %", "least, %", "needless, %", "timeouts")
    ranking = empty_table(heads, left={"detector"})
    for place, one in enumerate(found.under(found.response), 1):
        shares = f"{100 * one.mean:.1f}", f"{100 * min(one.shares):.1f}"
        ranking.add_row(f"{place}", one.levels[0], *shares, f"{100 * one.needless:.2f}", f"{one.timeouts:.1f}")
    out.print(ranking)
