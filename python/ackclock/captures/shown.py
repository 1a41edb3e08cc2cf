"""What tables for people show of captures: columns, cells as text, sums. The terminal and the report share it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ackclock.tables.columns import Column, Shown, shown
from ackclock.tables.columns import columns as all_columns

LEAST = 0.005
"""A smaller share is not named."""
CAUSES = 4
"""The number of causes in a line of totals."""
FAILED = ("refused", "unanswered", "half open")
"""The openings of connections that failed."""
FILES = 10
"""Of more files only those with something odd are named."""
FILE = Shown("file", "", 1.0, 0, True, False, False)
"""How the file of a row is shown."""
Row = dict[str, Any]
By = Literal["server", "cause"]
"""What totals are by."""


@dataclass(frozen=True)
class ShownColumn:
    """A column with its cells as text."""

    column: Column
    look: Shown
    cells: list[str]

    @property
    def is_text(self) -> bool:
        """Whether its cells are aligned to the left."""
        return self.column.kind == "utf8"

    @property
    def name(self) -> str:
        """How a sentence names it."""
        return self.look.title or self.look.unit


class Total(NamedTuple):
    """The sums of a group of flows."""

    name: str
    flows: int
    bytes: int
    duration_s: float
    retransmissions: int
    stalls: int
    times: dict[str, float]
    """The share of each cause in their time, the largest first."""


def shown_columns(kind: str, rows: Sequence[Row]) -> list[ShownColumn]:
    """The columns of some rows of one kind, as their descriptions say, with the files if there are several."""
    found = [ShownColumn(one, look, [cell(one, look, row[one.name]) for row in rows]) for one, look in shown(kind)]
    found = [c for c in found if not c.look.seldom or any(row[c.column.name] for row in rows)]
    if len({row.get("file") for row in rows}) > 1:
        names = next(column for column in all_columns(kind) if column.name == "file")
        found.insert(0, ShownColumn(names, FILE, [Path(row["file"]).name for row in rows]))
    return found


def cell(column: Column, look: Shown, value: str | float | None) -> str:
    """A value as tables for people show it."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{int(value):#010x}" if column.name == "ssrc" else f"{value * look.scale:,.{look.digits}f}"


def time_by_cause(flows: Iterable[Row]) -> Counter[str]:
    """The seconds that some flows spent on each cause, and sending."""
    sums: Counter[str] = Counter()
    for flow in flows:
        sums.update(flow["time_by_cause_s"])
    return sums


def shares(seconds: Counter[str]) -> dict[str, float]:
    """The share of each, the largest first."""
    whole = sum(seconds.values())
    return {name: part / whole for name, part in seconds.most_common()} if whole else {}


def total(flows: Sequence[Row], name: str = "") -> Total:
    """The sums of some flows."""
    of = {key: sum(flow[key] for flow in flows) for key in ("bytes", "duration_s", "retransmissions", "stalls")}
    times = shares(time_by_cause(flows))
    return Total(name, len(flows), of["bytes"], of["duration_s"], of["retransmissions"], of["stalls"], times)


def totals(result: Row, flows: Iterable[Row], by: By) -> list[Total]:
    """The sums of flows by server or by the cause of most of their time, the most bytes first."""
    server = {(one["file"], one["connection"]): one["server"] for one in result["connections"]}
    keys: dict[By, Callable[[Row], str]] = {
        "server": lambda flow: server.get((flow["file"], flow["connection"]), "-"),
        "cause": lambda flow: flow["main_cause"] or "-",
    }
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for flow in flows:
        groups[keys[by](flow)].append(flow)
    return sorted((total(group, name) for name, group in groups.items()), key=lambda one: -one.bytes)


def total_words(one: Total) -> str:
    """All flows in a line."""
    named = ", ".join(f"{cause} {100 * n:.0f} %" for cause, n in list(one.times.items())[:CAUSES] if n >= LEAST)
    time = f"; their time: {named}" if named else ""
    return (
        f"{one.flows:,} flows: {one.bytes:,} bytes, {one.retransmissions:,} retransmissions, {one.stalls:,} stalls"
        f"{time}"
    )


def remarks(result: Row) -> list[str]:
    """What a reader should know about the analysis and each file; of many files, those with something odd."""
    files = result["files"]
    found = list(result["remarks"])
    if len(files) > FILES:
        sums = [f"{sum(file[key] for file in files):,} {key}" for key in ("packets", "connections")]
        found.append(f"{len(files):,} files: {', '.join(sums)}.")
        files = [file for file in files if len(file["remarks"]) > 1]
    return [*found, *(f"{file['file']}: {' '.join(file['remarks'])}" for file in files)]
