"""Measures of runs as tables for people. Imported late, because rich takes long to load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from ackclock.statistics import known_interval
from ackclock.tables.columns import Shown, shown
from ackclock.tables.measures import Run, stacks_of
from ackclock.tables.terminal import empty_table


def print_measures(out: Console, blocks: Sequence[Sequence[Run]]) -> None:
    """Print totals and links: means over the seeds, in one block for each requested stack."""
    out.print(_table(["flows together", "flows"], blocks, "groups", "measured_group", _group))
    out.print(_table(["link", "stack"], blocks, "links", "measured_link", _link))


def _table(
    heads: Sequence[str],
    blocks: Sequence[Sequence[Run]],
    part: str,
    row: str,
    about: Callable[[Run, dict[str, Any]], list[str] | None],
) -> Table:
    """A row for each entry of one part of the measures that has values."""
    found = [entry for block in blocks for run in block for entry in run["measures"][part]]
    columns = [(one, look) for one, look in shown(row) if any(entry[one.name] is not None for entry in found)]
    table = empty_table([*heads, *(look.heading for _, look in columns)], left=heads)
    for block in blocks:
        for at, first in enumerate(block[0]["measures"][part]):
            words = about(block[0], first)
            if words is not None:
                rows = [run["measures"][part][at] for run in block]
                table.add_row(*words, *(_mean([row[one.name] for row in rows], look) for one, look in columns))
        table.add_section()
    return table


def _mean(values: Sequence[float | None], look: Shown) -> str:
    mean, half = known_interval(values)
    if mean is None:
        return "-"
    text = f"{mean * look.scale:,.{look.digits}f}"
    return text if half is None else f"{text} ± {half * look.scale:,.{look.digits}f}"


def _group(run: Run, group: dict[str, Any]) -> list[str] | None:
    """The row label for all flows; ``None`` for groups of one flow, which are in the table of flows."""
    if group["by"] == "all":
        return [f"all ({stacks_of(run)})", str(group["flows"])]
    return [f"{group['by']} {group['group']}", str(group["flows"])] if 1 < group["flows"] < len(run["flows"]) else None


def _link(run: Run, link: dict[str, Any]) -> list[str] | None:
    if link["packets"] == 0:
        return None
    path = "" if link["path"] is None else f", path {link['path']}"
    return [f"{link['from']} → {link['to']}{path}", stacks_of(run)]
