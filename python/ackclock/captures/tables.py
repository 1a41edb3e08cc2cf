"""Captures as tables for people. Imported late, because rich takes longer to load than a small capture."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.captures.fitting import Fit, WhatIf
from ackclock.captures.selection import Selection
from ackclock.tables.columns import Column, Shown, shown
from ackclock.tables.columns import columns as all_columns
from ackclock.tables.terminal import console, empty_table

REMARKS = 20
"""The number of remarks about many files."""
SHOWN = 50
"""The number of flows shown; all of them are in the JSON and in the tables."""
LEAST = 0.005
"""Displacements with a smaller share of the packets are combined."""
CAUSES = 4
"""The number of causes in a line of totals."""
FAILED = ("refused", "unanswered", "half open")
"""The openings of connections that failed."""
FAILURES = 20
"""The number of failed connections shown."""
FILES = 10
"""Of more files only those with something odd are named."""
PLACES = 5
"""The number of sentences about places of capture."""
FOLDED = 40
"""The smallest width of text that is folded."""
FILE = Shown("file", "", 1.0, 0, True, False, False)
"""How the file of a row is shown."""
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
    """Print rows of one kind, as their columns' descriptions say, with their files if there are several.

    No cell is cut: in a narrow terminal whole columns are left out, and a line says which.
    """
    out = console()
    columns = [_Shown(one, look, [_cell(one, look, row[one.name]) for row in rows]) for one, look in shown(kind)]
    columns = [c for c in columns if not c.look.seldom or any(row[c.column.name] for row in rows)]
    if len({row.get("file") for row in rows}) > 1:
        names = next(column for column in all_columns(kind) if column.name == "file")
        columns.insert(0, _Shown(names, FILE, [Path(row["file"]).name for row in rows]))
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
        console().print(_total(flows), markup=False, soft_wrap=True)
    places = Counter((flow["captured"], flow["captured_why"]) for flow in flows)
    for (place, why), _ in places.most_common(PLACES):
        console().print(f"captured {place}: {why}", markup=False, soft_wrap=True)
    if len(places) > PLACES:
        console().print(f"{len(places) - PLACES:,} other places of capture are in the column captured_why")
    if failed := [one for one in result["connections"] if one["opening"] in FAILED]:
        _first("captured_connection", failed, FAILURES)


def _total(flows: Sequence[dict[str, Any]]) -> str:
    """All flows in a line."""
    sums = {key: sum(flow[key] for flow in flows) for key in ("bytes", "retransmissions", "stalls")}
    times = _times(flows)
    shares = ", ".join(
        f"{cause} {100 * share:.0f} %" for cause, share in list(times.items())[:CAUSES] if share >= LEAST
    )
    time = f"; their time: {shares}" if shares else ""
    return (
        f"{len(flows):,} flows: {sums['bytes']:,} bytes, {sums['retransmissions']:,} retransmissions, "
        f"{sums['stalls']:,} stalls{time}"
    )


def _times(flows: Iterable[dict[str, Any]]) -> dict[str, float]:
    """The share of each cause in the time of some flows, the largest first."""
    sums: Counter[str] = Counter()
    for flow in flows:
        sums.update(flow["time_by_cause_s"])
    whole = sum(sums.values())
    return {cause: seconds / whole for cause, seconds in sums.most_common()} if whole else {}


def print_totals(result: dict[str, Any], selection: Selection, by: str) -> None:
    """Print the sums of the selected flows by server or by the cause of most of their time."""
    server = {(one["file"], one["connection"]): one["server"] for one in result["connections"]}
    keys: dict[str, Callable[[dict[str, Any]], str]] = {
        "server": lambda flow: server.get((flow["file"], flow["connection"]), "-"),
        "cause": lambda flow: flow["main_cause"] or "-",
    }
    groups: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for flow in selection.of([flow for flow in result["flows"] if flow["main"]]):
        groups[keys[by](flow)].append(flow)
    table = empty_table(
        [by, "flows", "bytes", "s", "resent", "stalls", "most of the time"], left={by, "most of the time"}
    )
    for name, flows in sorted(groups.items(), key=lambda group: -sum(flow["bytes"] for flow in group[1])):
        times = _times(flows)
        most = f"{next(iter(times))} {100 * next(iter(times.values())):.0f} %" if times else "-"
        sums = [f"{sum(flow[key] for flow in flows):,}" for key in ("bytes", "retransmissions", "stalls")]
        seconds = f"{sum(flow['duration_s'] for flow in flows):,.3f}"
        table.add_row(name, f"{len(flows):,}", sums[0], seconds, sums[1], sums[2], most)
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
    files = result["files"]
    remarks = list(result["remarks"])
    if len(files) > FILES:
        sums = [f"{sum(file[key] for file in files):,} {key}" for key in ("packets", "connections")]
        remarks.append(f"{len(files):,} files: {', '.join(sums)}.")
        files = [file for file in files if len(file["remarks"]) > 1]
    remarks.extend(f"{file['file']}: {' '.join(file['remarks'])}" for file in files)
    for remark in remarks[: REMARKS if len(files) > FILES else None]:
        console().print(remark, markup=False, soft_wrap=True)
    if len(files) > FILES and len(remarks) > REMARKS:
        console().print(f"{len(remarks) - REMARKS:,} more remarks are in --json")


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
