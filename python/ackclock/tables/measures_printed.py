"""Measures of runs as tables for people. Imported late, because rich takes long to load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ackclock.statistics import known_interval
from ackclock.tables.measures import Run, stacks_of

Column = tuple[str, str, float, int]
"""Title, key, scale and digits."""
GROUPS: list[Column] = [
    ("goodput kB/s", "goodput_bytes_per_s", 1e-3, 1),
    ("share %", "share", 100, 1),
    ("Jain", "jain", 1, 3),
    ("done p50 s", "completion_p50_s", 1, 3),
    ("p95 s", "completion_p95_s", 1, 3),
    ("RTT p50 ms", "rtt_p50_s", 1e3, 1),
    ("p95 ms", "rtt_p95_s", 1e3, 1),
    ("delay p95 ms", "delay_p95_s", 1e3, 1),
    ("lost %", "loss_ratio", 100, 2),
    ("late %", "reordered_ratio", 100, 2),
    ("needless %", "needless_ratio", 100, 2),
]
LINKS: list[Column] = [
    ("MB", "bytes", 1e-6, 2),
    ("used %", "utilisation", 100, 1),
    ("waited p50 ms", "queue_delay_p50_s", 1e3, 2),
    ("p95 ms", "queue_delay_p95_s", 1e3, 2),
    ("p99 ms", "queue_delay_p99_s", 1e3, 2),
]


def print_measures(out: Console, blocks: Sequence[Sequence[Run]]) -> None:
    """Print totals and links: means over the seeds, in one block for each requested stack."""
    out.print(_table(["flows together", "flows"], blocks, "groups", GROUPS, _group))
    out.print(_table(["link", "stack"], blocks, "links", LINKS, _link))


def _table(
    heads: Sequence[str],
    blocks: Sequence[Sequence[Run]],
    part: str,
    columns: Sequence[Column],
    about: Callable[[Run, dict[str, Any]], list[str] | None],
) -> Table:
    """A row for each entry of one part of the measures that has values."""
    shown = [c for c in columns if any(row[c[1]] is not None for b in blocks for r in b for row in r["measures"][part])]
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for head in heads:
        table.add_column(head)
    for title, *_ in shown:
        table.add_column(title, justify="right")
    for block in blocks:
        for at, first in enumerate(block[0]["measures"][part]):
            words = about(block[0], first)
            if words is not None:
                rows = [run["measures"][part][at] for run in block]
                table.add_row(*words, *(_mean([row[c[1]] for row in rows], c[2], c[3]) for c in shown))
        table.add_section()
    return table


def _mean(values: Sequence[float | None], scale: float, digits: int) -> str:
    mean, half = known_interval(values)
    if mean is None:
        return "-"
    said = f"{mean * scale:,.{digits}f}"
    return said if half is None else f"{said} ± {half * scale:,.{digits}f}"


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
