"""The amount of work: ``papers/sizes.json`` for full runs; ``times.json``, the time that it took on this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import ackclock
from ackclock import files, quantities
from ackclock.papers import claims, folder
from ackclock.papers.paper import Done, Extra, Paper
from ackclock.runs.laboratory import Spent
from ackclock.runs.trial import Effort

SIZES, TIMES = "sizes.json", "times.json"
MEASURED = ("processor_s", "wall_s")
"""Values that differ between machines and between runs."""


def spent(done: Done) -> dict[str, Spent]:
    """The cost of each paper and extra page."""
    return {one.paper.key: one.spent for one in done.papers} | {one.extra.key: one.spent for one in done.extras}


def words(spent: Spent) -> dict[str, str]:
    """Each of the numbers as text for readers."""
    return {
        "points": quantities.count(spent.points),
        "runs": quantities.count(spent.runs),
        "simulated": quantities.duration(spent.simulated_s),
        "packets": quantities.count(spent.packets),
        "processor": quantities.duration(spent.processor_s),
        "wall": quantities.duration(spent.wall_s),
        "speed": quantities.count(spent.packets / spent.processor_s) if spent.processor_s else "–",  # noqa: RUF001 - no value
    }


def write_times(done: Done, out: Path) -> None:
    """Write ``times.json``, which holds the front page's times and is the only result that differs from run to run.

    Raises:
        OSError: the folder is missing or not writable.
    """
    every = {key: asdict(one) for key, one in spent(done).items()}
    _write(out / TIMES, {"ackclock": ackclock.__version__, "cores": os.cpu_count(), "spent": every})


def write_sizes(done: Done, papers: Path) -> None:
    """Write the machine-independent sizes of these into the papers' folder; those of other papers are left unchanged.

    Raises:
        OSError: the folder is missing or not writable.
    """
    sizes = _read(papers / SIZES)
    made = [(one.paper.folder, one.spent) for one in done.papers] + [(e.extra.folder, e.spent) for e in done.extras]
    for at, one in made:
        if at.parent == papers:
            sizes[at.name] = {name: value for name, value in asdict(one).items() if name not in MEASURED}
    _write(papers / SIZES, {key: sizes[key] for key in folder.every(papers) if key in sizes})


def _write(path: Path, what: Mapping[str, Any]) -> None:
    files.write(path, (json.dumps(what, indent=2, ensure_ascii=False) + "\n").encode())


def _read(path: Path) -> dict[str, Any]:
    """Read a JSON file; empty if it is missing or cannot be read."""
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def listing(every: Sequence[Paper | Extra], papers: Path, out: Path) -> list[dict[str, Any]]:
    """List every paper and extra page with the amount that a full run simulates; ``None`` where it is unknown.

    ``processor_s`` is an estimate, from the number of packets and the speed of the last run with results in ``out``.
    """
    sizes, speed = _read(papers / SIZES), _speed(out)
    return [_row(one, sizes.get(one.key, {}), speed, one.folder / folder.CLAIMS) for one in every]


def _speed(out: Path) -> float | None:
    """The speed in packets per second of processor time."""
    ran = [Spent(**one) for one in _read(out / TIMES).get("spent", {}).values()]
    total = Spent.total(ran)
    return total.packets / total.processor_s if total.processor_s else None


def _row(one: Paper | Extra, size: Mapping[str, Any], speed: float | None, table: Path) -> dict[str, Any]:
    packets = size.get("packets")
    return {
        "key": one.key,
        "kind": "paper" if isinstance(one, Paper) else "extra",
        "title": one.title,
        "claims": len(claims.read(table)) if table.is_file() else None,
        "full": asdict(one.full),
        "quick": asdict(one.quick),
        "runs": size.get("runs"),
        "packets": packets,
        "processor_s": round(packets / speed, 1) if packets and speed else None,
    }


def lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The listing as text, in columns."""
    cells = [(row["key"], row["title"], _effort(row), _size(row)) for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(3)]
    return ["  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[3]]).rstrip() for row in cells]


def _effort(row: Mapping[str, Any]) -> str:
    seeds = Effort(**row["full"]).seeds
    return f"{row['claims']} claims, {seeds} seeds" if row["claims"] else f"{seeds} seeds"


def _size(row: Mapping[str, Any]) -> str:
    if row["packets"] is None:
        return ""
    size = f"{quantities.count(row['runs'])} runs, {quantities.count(row['packets'])} packets"
    return size + (f", {quantities.duration(row['processor_s'])} of processor time" if row["processor_s"] else "")
