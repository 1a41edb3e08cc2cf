"""Captures as tables for people. Imported late, because rich takes longer to load than a small capture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.captures.fitting import Fit, WhatIf
from ackclock.tables.columns import Column, Shown, shown
from ackclock.tables.terminal import console, empty_table

SHOWN = 50
"""The number of flows shown; all of them are in the JSON and in the tables."""
LEAST = 0.005
"""Displacements with a smaller share of the packets are combined."""
PLACES = 5
"""The number of sentences about places of capture."""


FOLDED = 40
"""The smallest width of text that is folded."""
GAP = 3
"""Characters between two columns."""


@dataclass(frozen=True)
class _Shown:
    """A column with its cells as text, and the width that it needs."""

    column: Column
    look: Shown
    cells: list[str]

    @property
    def width(self) -> int:
        return max(len(text) for text in (*self.look.heading.split(), *self.cells))


def _print(kind: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print rows of one kind, as their columns' descriptions say.

    No cell is cut: in a narrow terminal whole columns are left out, and a line says which.
    """
    out = console()
    columns = [_Shown(one, look, [_cell(one, look, row[one.name]) for row in rows]) for one, look in shown(kind)]
    columns = [c for c in columns if not c.look.seldom or any(row[c.column.name] for row in rows)]
    kept = _fitting(columns, out.width)
    heads = [c.look.heading.replace(" ", "\n") for c in kept]
    table = empty_table(heads, left={head for head, c in zip(heads, kept, strict=True) if c.column.kind == "utf8"})
    for cells in zip(*(c.cells for c in kept), strict=True):
        table.add_row(*cells)
    out.print(table)
    if left_out := [c.look.title or c.look.unit for c in columns if c not in kept]:
        words = f"Too wide for {out.width} columns: {', '.join(left_out)}. A wider terminal and --json have them."
        out.print(words, markup=False, soft_wrap=True)


def _fitting(columns: list[_Shown], width: int) -> list[_Shown]:
    """The columns that fit into the width: the last ones go first, and among those the brief ones last.

    Text at the end of a row, such as evidence, may be folded.
    """
    kept = list(columns)
    needs = {id(c): min(c.width, FOLDED) if c is columns[-1] else c.width for c in columns}
    for c in [c for c in reversed(columns) if not c.look.brief] + [c for c in reversed(columns) if c.look.brief]:
        if sum(needs[id(c)] + GAP for c in kept) - GAP <= width or len(kept) == 1:
            break
        kept.remove(c)
    return kept


def _cell(column: Column, look: Shown, value: str | float | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{int(value):#010x}" if column.name == "ssrc" else f"{value * look.scale:,.{look.digits}f}"


def _largest(kind: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print a row for each of the largest ones."""
    if rows:
        _print(kind, sorted(rows, key=lambda row: -row["bytes"])[:SHOWN])
    if len(rows) > SHOWN:
        console().print(f"{len(rows) - SHOWN:,} smaller ones are not shown; --json and --parquet have all of them")


def print_flows(result: dict[str, Any]) -> None:
    """Print a row for each connection: the direction with more data, and the evidence for the place of capture."""
    flows = [flow for flow in result["flows"] if flow["main"]]
    _largest("captured_flow", flows)
    for place, why in sorted({(flow["captured"], flow["captured_why"]) for flow in flows})[:PLACES]:
        console().print(f"captured {place}: {why}", markup=False, soft_wrap=True)


def print_datagrams(result: dict[str, Any]) -> None:
    """Print a row for each source of UDP with sequence numbers."""
    _largest("datagram_flow", result["datagrams"])


def print_retransmissions(result: dict[str, Any]) -> None:
    """Print each retransmission: verdict, evidence, and the frame to look at."""
    if not _each("captured_retransmission", "each_retransmission", result):
        console().print("nothing was retransmitted")


def print_stalls(result: dict[str, Any]) -> None:
    """Print each stall: its cause, the evidence, and its frames."""
    if not _each("captured_stall", "each_stall", result):
        console().print("no stalls")
    if more := sum(flow["stalls"] - len(flow["each_stall"]) for flow in result["flows"]):
        console().print(f"{more:,} shorter stalls are only counted")


def _each(kind: str, key: str, result: dict[str, Any]) -> bool:
    """Print the rows of each flow under its name, and return whether there were any."""
    with_rows = [flow for flow in result["flows"] if flow[key]]
    for flow in with_rows:
        console().print(flow["flow"], markup=False)
        _print(kind, flow[key])
    return bool(with_rows)


def print_reordering(result: dict[str, Any]) -> None:
    """Print RFC 4737's metrics of each direction, and RFC 5236's densities if there are any."""
    known = [flow for flow in result["flows"] if flow["reordering"] is not None]
    for flow in known:
        console().print(flow["flow"], markup=False)
        _print("captured_reordering", [flow["reordering"]])
        for key, name in (("reorder_density", "RD"), ("buffer_occupancy_density", "RBD")):
            density = flow["reordering"].get(key)
            if density and set(density) != {"0"}:
                console().print(f"{flow['flow']}: {name} {_density(density)}", markup=False, soft_wrap=True)


def _density(density: dict[str, float]) -> str:
    """The displacements with at least half a percent of the packets, and the share of the others."""
    large = {int(n): share for n, share in density.items() if share >= LEAST}
    said = ", ".join(f"{n}: {share:.5f}" for n, share in sorted(large.items()))
    if not (others := [share for share in density.values() if share < LEAST]):
        return said
    return f"{said}{', ' if said else ''}{len(others)} others together: {sum(others):.5f}"


def print_remarks(result: dict[str, Any]) -> None:
    """Print what a reader should know about the analysis, and about each file."""
    files = (f"{file['file']}: {' '.join(file['remarks'])}" for file in result["files"])
    for remark in (*result["remarks"], *files):
        console().print(remark, markup=False, soft_wrap=True)


def print_fit(found: Fit) -> None:
    """Print the estimate of each number of a fitted path."""
    table = empty_table(("path", "", "value", "from", "to", "how"), left={"path", "", "how"})
    for p in found.parameters:
        unit = f" ({p.unit})" if p.unit else ""
        numbers = [f"{value:,.4g}" for value in (p.value, p.low, p.high)]
        table.add_row(f"{p.name}{unit}", p.mark, *numbers, p.how)
    console().print(table)


def print_what_if(answer: WhatIf) -> None:
    """Print a row for the repeated capture, and one for each other sender."""
    table = empty_table(("sender", "seconds", "from", "to", "captured", "unfinished"), left={"sender"})
    for row in (answer.own, *answer.others):
        name = f"{row.stack} (the capture's own)" if row is answer.own else row.stack
        times = [f"{value:,.4g}" for value in (row.seconds, row.low, row.high, answer.seconds)]
        table.add_row(name, *times, str(row.unfinished))
    console().print(table)
