"""Captures are measured as a plain reader measures them: on simulated runs, on kernels, and on any folder of captures.

``ACKCLOCK_CAPTURES=FOLDER`` names a folder; ``tools/dev campaign capture-judge FOLDER`` prints the counts, too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ackclock as ak
import plain_reader

ROOT = Path(__file__).parents[2]
KERNEL = sorted((ROOT / "tests/captures/kernel").glob("*.pcapng.gz"))
EXACT = ("bytes", "data_packets", "repeats", "fills", "syns", "fins", "resets")
CLOSE = 0.05
MOST = 0.02
"""The share of flows of a folder that may differ: captures without their beginnings leave some numbers open."""


def pairs(path: Path) -> Iterator[tuple[plain_reader.Connection, plain_reader.Direction, dict[str, Any]]]:
    """Each flow of a file with the plain reader's counts, in the order of the connections."""
    flows: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for flow in sorted(ak.capture(path).flows.to_dicts(), key=lambda flow: flow["connection"]):
        flows[flow["flow"]].append(flow)
    plain: defaultdict[str, list[tuple[plain_reader.Connection, plain_reader.Direction]]] = defaultdict(list)
    for connection in plain_reader.read(path):
        names = list(connection.ways)
        for name, other in zip(names, reversed(names), strict=True):
            if connection.ways[name].segments:
                plain[f"{name} > {other}"].append((connection, connection.ways[name]))
    for name, counted in plain.items():
        if len(counted) == len(flows[name]):
            for (connection, direction), flow in zip(counted, flows[name], strict=True):
                yield connection, direction, flow


def compared(path: Path) -> list[tuple[plain_reader.Connection, plain_reader.Direction, dict[str, Any]]]:
    """The same for a file in which both readers find the same flows."""
    found = list(pairs(path))
    assert len(found) == ak.capture(path).flows.height > 0
    return found


def differences(direction: plain_reader.Direction, flow: dict[str, Any]) -> list[str]:
    """The numbers in which a flow differs."""
    plain = {
        "bytes": direction.bytes,
        "data_packets": direction.segments,
        "repeats": direction.repeats - flow["window_probes"],
        "fills": direction.fills,
        "syns": direction.syns,
        "fins": direction.fins,
        "resets": direction.resets,
    }
    different = [f"{key}: {plain[key]}, found {flow[key]}" for key in EXACT if plain[key] != flow[key]]
    if abs(direction.duration - flow["duration_s"]) > 1e-5:
        different.append(f"duration: {direction.duration}, found {flow['duration_s']}")
    return different


@pytest.mark.parametrize("stack", ["newreno", "linux-2025", "rack-tlp", "linux-bbr-2025"])
@pytest.mark.parametrize("scenario", ["bundle.toml", "two-paths.toml", "satellite.toml"])
def test_a_simulated_run_is_measured_at_both_ends_as_by_a_plain_reader(
    scenario: str, stack: str, tmp_path: Path
) -> None:
    ak.run(ROOT / "scenarios" / scenario, stack=stack, seed=1, pcap=tmp_path)
    for side in ("sender", "receiver"):
        for connection, direction, flow in compared(tmp_path / f"{side}.pcapng"):
            assert differences(direction, flow) == [], f"{side}, {flow['flow']}"
            if connection.initial_rtt is not None:
                assert flow["rtt_min_s"] <= connection.initial_rtt + 1e-6
            allowed = direction.repeats + direction.fills
            assert flow["retransmissions"] <= allowed, "what was never seen is not sent again"


@pytest.mark.parametrize("path", KERNEL, ids=lambda path: path.name.partition(".")[0])
def test_a_kernels_capture_is_measured_as_by_a_plain_reader(path: Path) -> None:
    for _, direction, flow in compared(path):
        assert differences(direction, flow) == [], flow["flow"]
        assert flow["retransmissions"] <= direction.repeats + direction.fills


def test_a_folder_of_captures_is_measured_as_by_a_plain_reader(capsys: pytest.CaptureFixture[str]) -> None:
    folder = os.environ.get("ACKCLOCK_CAPTURES")
    if folder is None:
        pytest.skip("ACKCLOCK_CAPTURES names no folder of captures")
    counts: Counter[str] = Counter()
    for path in sorted(file for file in Path(folder).rglob("*") if ".pcap" in file.name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _count(path, counts)
    with capsys.disabled():
        print("".join(f"\n{name}: {count}" for name, count in sorted(counts.items())))
    flows = counts["flows"]
    assert 0 < flows >= (1 - MOST) * counts["flows of either reader"]
    assert counts["duration differs by 5 %"] <= MOST * flows
    assert counts["bytes differ by 5 %"] <= MOST * flows
    assert counts["resent beyond repeats and fills"] <= MOST * max(counts["resent"], 1)
    assert counts["parts do not add up"] == counts["stall longer than its connection"] == 0


def _count(path: Path, counts: Counter[str]) -> None:
    """Compare one file."""
    found = ak.capture(path)
    parts: Counter[tuple[int, str]] = Counter()
    for row in found.times.to_dicts():
        parts[row["connection"], row["flow"]] += row["time_s"]
    counts["flows of either reader"] += found.flows.height
    lasted = {row["connection"]: row["lasted_s"] for row in found.connections.to_dicts()}
    for _, direction, flow in pairs(path):
        counts["flows"] += 1
        counts["agree in everything"] += not differences(direction, flow)
        counts["duration differs by 5 %"] += abs(direction.duration - flow["duration_s"]) > CLOSE * direction.duration
        counts["bytes differ by 5 %"] += abs(direction.bytes - flow["bytes"]) > CLOSE * direction.bytes
        counts["resent"] += flow["retransmissions"]
        beyond = flow["retransmissions"] - direction.repeats - direction.fills
        counts["resent beyond repeats and fills"] += max(0, beyond)
        difference = abs(parts[flow["connection"], flow["flow"]] - flow["duration_s"])
        counts["parts do not add up"] += difference > 0.01 * flow["duration_s"] + 1e-9
        counts["stall longer than its connection"] += (flow["longest_stall_s"] or 0) > lasted[flow["connection"]] + 1e-6
    if shutil.which("tshark"):
        _compare_with_tshark(path, found, counts)


def _compare_with_tshark(path: Path, found: ak.Capture, counts: Counter[str]) -> None:
    """Count the segments with data and the connections that tshark finds."""
    fields = ["-T", "fields", "-e", "tcp.stream", "-e", "tcp.len"]
    done = subprocess.run(
        ["tshark", "-n", "-r", path, "-Y", "tcp", *fields], capture_output=True, text=True, check=False
    )
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 1]
    counts["files"] += 1
    counts["files with tshark's connections"] += len({row[0] for row in rows}) == found.connections.height
    repeats = sum(file["repeats"] for file in found.files.to_dicts())
    segments = sum(row[1] not in {"", "0"} for row in rows)
    counts["files with tshark's data segments"] += 0 <= segments - found.flows["data_packets"].sum() <= repeats
