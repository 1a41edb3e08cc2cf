"""Captures as tables for people. Imported late, because rich takes longer to load than a small capture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ackclock.captures.fitting import Fit, WhatIf
from ackclock.captures.selection import Selection
from ackclock.captures.shown import (
    FAILED,
    FILES,
    LEAST,
    By,
    ShownColumn,
    remarks,
    shown_columns,
    total,
    total_words,
    totals,
)
from ackclock.tables.terminal import console, empty_table

REMARKS = 20
"""The number of remarks about many files."""
SHOWN = 50
"""The number of flows shown; all of them are in the JSON and in the tables."""
FAILURES = 20
"""The number of failed connections shown."""
PLACES = 5
"""The number of sentences about places of capture."""
FOLDED = 40
"""The smallest width of text that is folded."""
GAP = 3
"""Characters between two columns."""


def _print(kind: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print rows of one kind, as their columns' descriptions say, with their files if there are several.

    No cell is cut: in a narrow terminal whole columns are left out, and a line says which.
    """
    out = console()
    columns = shown_columns(kind, rows)
    kept = _fitting(columns, out.width)
    heads = [c.look.heading.replace(" ", "\n") for c in kept]
    table = empty_table(heads, left={head for head, c in zip(heads, kept, strict=True) if c.is_text})
    for cells in zip(*(c.cells for c in kept), strict=True):
        table.add_row(*cells)
    out.print(table)
    if left_out := [c.name for c in columns if c not in kept]:
        words = f"Too wide for {out.width} columns: {', '.join(left_out)}. A wider terminal and --json have them."
        out.print(words, markup=False, soft_wrap=True)


def _fitting(columns: list[ShownColumn], width: int) -> list[ShownColumn]:
    """The columns that fit into the width: the last ones go first, and among those the brief ones last.

    Text at the end of a row, such as evidence, may be folded.
    """
    kept = list(columns)
    widths = {id(c): max(len(text) for text in (*c.look.heading.split(), *c.cells)) for c in columns}
    needs = {id(c): min(widths[id(c)], FOLDED) if c is columns[-1] else widths[id(c)] for c in columns}
    for c in [c for c in reversed(columns) if not c.look.brief] + [c for c in reversed(columns) if c.look.brief]:
        if sum(needs[id(c)] + GAP for c in kept) - GAP <= width or len(kept) == 1:
            break
        kept.remove(c)
    return kept


def print_answers(result: dict[str, Any]) -> None:
    """Print what the capture says about its largest transfers and its failed connections."""
    for answer in result["answers"]:
        console().print(answer, markup=False, soft_wrap=True)
    if result["answers"]:
        console().print()


def _first(kind: str, rows: Sequence[dict[str, Any]], most: int = SHOWN) -> None:
    """Print the first rows, and how many more there are."""
    if rows:
        _print(kind, rows[:most])
    if len(rows) > most:
        console().print(f"{len(rows) - most:,} more are not shown; --json and --parquet have all of them")


def print_flows(result: dict[str, Any], selection: Selection) -> None:
    """Print a row for each connection: the direction with more data, and the evidence for the place of capture."""
    flows = selection.of([flow for flow in result["flows"] if flow["main"]])
    _first("captured_flow", flows, selection.top or SHOWN)
    if len(flows) > 1:
        console().print(total_words(total(flows)), markup=False, soft_wrap=True)
    places = Counter((flow["captured"], flow["captured_why"]) for flow in flows)
    for (place, why), _ in places.most_common(PLACES):
        console().print(f"captured {place}: {why}", markup=False, soft_wrap=True)
    if len(places) > PLACES:
        console().print(f"{len(places) - PLACES:,} other places of capture are in the column captured_why")
    if failed := [one for one in result["connections"] if one["opening"] in FAILED]:
        _first("captured_connection", failed, FAILURES)


def print_totals(result: dict[str, Any], selection: Selection, by: By) -> None:
    """Print the sums of the selected flows by server or by the cause of most of their time."""
    table = empty_table(
        [by, "flows", "bytes", "s", "resent", "stalls", "most of the time"], left={by, "most of the time"}
    )
    for one in totals(result, selection.of([flow for flow in result["flows"] if flow["main"]]), by):
        most = "-" if not one.times else "{} {:.0f} %".format(*next((c, 100 * n) for c, n in one.times.items()))
        counts = [f"{n:,}" for n in (one.flows, one.bytes)]
        table.add_row(one.name, *counts, f"{one.duration_s:,.3f}", f"{one.retransmissions:,}", f"{one.stalls:,}", most)
    console().print(table)


def print_connections(result: dict[str, Any]) -> None:
    """Print how each connection was opened and closed, and the time of its server and its client."""
    _first("captured_connection", result["connections"])


def print_datagrams(result: dict[str, Any]) -> None:
    """Print a row for each source of UDP with sequence numbers."""
    _first("datagram_flow", sorted(result["datagrams"], key=lambda row: -row["bytes"]))


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
    listed = ", ".join(f"{n}: {share:.5f}" for n, share in sorted(large.items()))
    if not (others := [share for share in density.values() if share < LEAST]):
        return listed
    return f"{listed}{', ' if listed else ''}{len(others)} others together: {sum(others):.5f}"


def print_remarks(result: dict[str, Any]) -> None:
    """Print what a reader should know about the analysis and each file; of many files, those with something odd."""
    found, many = list(dict.fromkeys(remarks(result))), len(result["files"]) > FILES
    for remark in found[: REMARKS if many else None]:
        console().print(remark, markup=False, soft_wrap=True)
    if many and len(found) > REMARKS:
        console().print(f"{len(found) - REMARKS:,} more remarks are in --json")


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
