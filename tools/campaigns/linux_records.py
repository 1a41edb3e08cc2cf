"""The list of paths for `tools/dev campaign linux`, and the numbers measured on them, a record for each run."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, TextIO

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios/linux"
KEPT = ROOT / "tests/linux"
STACKS = {"cubic": "linux-2025", "reno": "linux-reno-2025", "bbr": "linux-bbr-2025"}
"""The congestion controls, each with our stack that corresponds to it."""


@dataclass(frozen=True)
class Listed:
    """A path of the list."""

    name: str
    scenario: str
    sysctl: Mapping[str, int] = field(default_factory=dict)
    """Settings of the kernel's namespaces."""
    set: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of our stacks with the same meaning."""
    controls: Sequence[str] = tuple(STACKS)
    held_back: bool = False

    @property
    def file(self) -> Path:
        """Its scenario."""
        return SCENARIOS / f"{self.scenario}.toml"

    @cached_property
    def _read(self) -> dict[str, Any]:
        return tomllib.loads(self.file.read_text(encoding="utf-8"))

    @property
    def is_of_transfers(self) -> bool:
        """Whether its flows are short transfers, which are judged by their duration."""
        return any(flow.get("app", {}).get("kind") == "fixed" for flow in self._read["flow"])

    @cached_property
    def identity(self) -> str:
        """A hash of everything that affects the kernel's numbers: settings, and the scenario without name and seeds."""
        scenario = dict(self._read)
        scenario.pop("name", None)
        scenario["run"] = {"duration": scenario["run"]["duration"]}
        text = json.dumps([scenario, dict(self.sysctl)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def paths(file: Path = KEPT / "paths.toml") -> list[Listed]:
    """Read the list."""
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["path"]
    return [Listed(**{"scenario": row["name"], **row}) for row in rows]


@dataclass(frozen=True)
class Record:
    """The measurements of one run."""

    path: str
    control: str
    """The congestion control: a key of :data:`STACKS`."""
    seed: int
    identity: str
    """The path's identity at the time; records with another identity are void."""
    goodput_bytes_per_s: float
    segments: int
    retransmissions: int
    refused: int
    needless: int
    timeouts: int
    minutes: float
    late_p99_us: float
    """99th percentile of the lateness of packets leaving the path, in microseconds; 0 in a simulation."""
    by: str
    """The kernel's version, or the name of our stack."""
    completions_ms: str
    """The duration of each transfer, separated by spaces; inf if it did not end, empty if there were none."""

    @property
    def completions(self) -> list[float]:
        """The durations as numbers."""
        return [float(text) for text in self.completions_ms.split()]


def totalled(
    path: Listed, control: str, seed: int, flows: Sequence[Mapping[str, Any]], duration_s: float, by: str
) -> Record:
    """A record over all flows of a run, with no lateness."""

    def total(key: str) -> int:
        return sum(flow[key] for flow in flows)

    finishes = [(flow["start_s"], flow["finish_s"]) for flow in flows if path.is_of_transfers]
    took = (math.inf if finish is None else 1000 * (finish - start) for start, finish in finishes)
    return Record(
        path.name,
        control,
        seed,
        path.identity,
        round(total("acked_bytes") / duration_s, 3),
        total("data_packets_sent"),
        total("retransmissions"),
        total("refused_retransmissions"),
        total("needless_retransmissions"),
        total("timeouts"),
        round(duration_s / 60, 6),
        0.0,
        by,
        " ".join(f"{ms:.1f}" for ms in took),
    )


def read(file: Path) -> list[Record]:
    """Read the records of a file; empty if it does not exist."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as opened:
        rows = csv.DictReader(line for line in opened if not line.startswith("#"))
        return [_record(row) for row in rows]


def _record(row: Mapping[str, str]) -> Record:
    kinds = {"str": str, "int": int, "float": float}
    return Record(**{f.name: kinds[str(f.type)](row[f.name]) for f in fields(Record)})


def head(file: Path) -> list[str]:
    """The comments at the top of a file, which give the origin of its numbers."""
    if not file.exists():
        return []
    return [line[1:].strip() for line in takewhile(_is_comment, file.read_text(encoding="utf-8").splitlines())]


def _is_comment(line: str) -> bool:
    return line.startswith("#")


def append(opened: TextIO, record: Record) -> None:
    """Append one record to an open file, and flush it."""
    csv.writer(opened, lineterminator="\n").writerow(astuple(record))
    opened.flush()


def write(file: Path, comments: Iterable[str], records: Iterable[Record], order: Sequence[Listed]) -> None:
    """Rewrite a file in the order of the list."""
    place = {path.name: i for i, path in enumerate(order)}
    ordered = sorted(records, key=lambda r: (place[r.path], list(STACKS).index(r.control), r.seed))
    new = file.with_suffix(".new")
    with new.open("w", encoding="utf-8", newline="") as opened:
        opened.writelines(f"# {line}\n" for line in comments)
        table = csv.DictWriter(opened, [f.name for f in fields(Record)], lineterminator="\n")
        table.writeheader()
        table.writerows(asdict(record) for record in ordered)
    new.replace(file)


def valid(records: Iterable[Record], listed: Iterable[Listed]) -> Iterator[Record]:
    """Yield the records of listed paths that have not changed since."""
    identities = {path.name: path.identity for path in listed}
    return (record for record in records if identities.get(record.path) == record.identity)
