"""A tuning as tables for people."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from ackclock.tables.terminal import console, empty_table
from ackclock.tuning.result import Tuning


def show(tuning: Tuning) -> None:
    """Print the choices, and their value on held-out seeds and paths."""
    out, plan = console(), tuning.plan
    out.print(f"{plan.name}: {plan.trials} trials of {plan.stack} on {len(plan.paths)} paths", markup=False)
    head, rows = tuning.choices()
    table = empty_table(head, left=head[:1])
    for row in rows:
        table.add_row(*row, end_section=row[0] == plan.parameters[-1].path)
    out.print(table)
    for choice, one in tuning.best.items():
        same = next((other for other in tuning.best.values() if other.trial == one.trial), one)
        out.print(f"{choice}: {one.meaning}", markup=False, soft_wrap=True)
        if one.trial == 0:
            out.print("  no setting was better than the defaults", markup=False)
        elif same.choice != choice:
            out.print(f"  the same trial as {same.choice}", markup=False)
        else:
            out.print(_held_out(tuning, choice))


def _held_out(tuning: Tuning, choice: str) -> Table:
    """The rows of a choice: each path, all searched and all held-out paths, and the value of each parameter."""
    seeds = f"seeds {tuning.plan.held_out_seeds.first} to {tuning.plan.held_out_seeds.last}"
    name = f"  against the defaults, {seeds}"
    table = empty_table((name, "goodput", "", "needless, %", "change", ""), left={name})
    rows = [row for row in tuning.held_out.iter_rows(named=True) if row["choice"] == choice]
    # Rows of one kind only: all held-out paths, or all searched paths if none is held out.
    reset = [row for row in rows if row["reset"] is not None and row["searched"] == rows[-1]["searched"]]
    was = True
    for row in (*(row for row in rows if row["reset"] is None), *reset):
        if row["searched"] != was or row in reset[:1]:
            table.add_section()
            was = row["searched"]
        paths = f"all {'searched' if row['searched'] else 'held-out'} paths"
        name = row["path"] or (f"{paths}, {row['reset']} as by default" if row["reset"] else paths)
        table.add_row(f"  {name}", *_change(row, "goodput_change", 2, " %"), *_needless(row))
    return table


def _needless(row: dict[str, Any]) -> tuple[str, str, str]:
    before, after = (100 * row[key] for key in ("default_needless", "needless"))
    return f"{before:.3f} → {after:.3f}", *_change(row, "needless_change", 3, "")


def _change(row: dict[str, Any], key: str, digits: int, unit: str) -> tuple[str, str]:
    """A change in per cent with its interval, and its interpretation."""
    mean, low, high = (row[key + ending] for ending in ("", "_low95", "_high95"))
    if low is None:
        return f"{100 * mean:+.{digits}f}{unit}", ""
    text = f"{100 * mean:+.{digits}f}{unit} ({100 * low:+.{digits}f} to {100 * high:+.{digits}f})"
    return text, "more" if low > 0 else "less" if high < 0 else ""
