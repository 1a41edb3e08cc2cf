"""A run and the capture of it say the same: bytes, retransmissions, verdicts, rate and round trips."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ackclock as ak

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
LINUX = sorted((ROOT / "scenarios/linux").glob("*.toml"))
STACKS = [str(stack["name"]) for stack in ak.stacks()]
VERDICTS = ("needed_retransmissions", "needless_retransmissions", "refused_retransmissions")


def compared(scenario: Path, stack: str, folder: Path) -> list[str]:
    """What a run's first flow and its capture say differently; ``excluded`` if the path excludes the stack."""
    text = re.sub(r'duration = "[^"]*"', 'duration = "3 s"', scenario.read_text(encoding="utf-8"), count=1)
    text = re.sub(r'spread = "[^"]*"', 'spread = "1 s"', text.replace("seeds = {", "# seeds = {"))
    try:
        result = ak.run(text, stack=stack, seed=1, pcap=folder, trace=folder / "trace.parquet")
    except ak.ScenarioError:
        return ["excluded"]
    run = result.to_dict()["runs"][0]["flows"][0]
    found: list[dict[str, Any]] = ak.capture(folder / "sender.pcapng").to_dict()["flows"]
    flow = min((f for f in found if f["main"]), key=lambda f: f["connection"])
    return differences(run, flow, pl.read_parquet(folder / "trace.parquet"))


def differences(run: dict[str, Any], flow: dict[str, Any], trace: pl.DataFrame) -> list[str]:
    """The numbers that differ."""
    different = [f"{key}: {run[key]}, captured {flow[key]}" for key in ("retransmissions",) if run[key] != flow[key]]
    if run["acked_bytes"] != flow["acknowledged_bytes"]:
        different.append(f"bytes: {run['acked_bytes']}, captured {flow['acknowledged_bytes']}")
    # A capture may leave a verdict open; it is never another one.
    different += [f"{key}: {run[key]}, captured {flow[key]}" for key in VERDICTS if flow[key] > run[key]]
    estimates = trace.filter((pl.col("flow") == 0) & pl.col("srtt_ns").is_not_null())["srtt_ns"]
    if flow["rtt_p50_s"] is not None and len(estimates) > 0:
        all_of_them: list[int] = estimates.to_list()
        least, most = min(all_of_them) / 1e9, max(all_of_them) / 1e9
        if not 0.8 * least <= flow["rtt_p50_s"] <= 1.2 * most:
            different.append(f"RTT: {least} to {most}, captured {flow['rtt_p50_s']}")
    return different


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.stem)
def test_every_stack_is_captured_as_it_ran(scenario: Path, tmp_path: Path) -> None:
    found = {stack: compared(scenario, stack, tmp_path / stack) for stack in STACKS}
    assert {stack: diff for stack, diff in found.items() if diff not in ([], ["excluded"])} == {}
    assert sum(diff == [] for diff in found.values()) > len(STACKS) // 4


@pytest.mark.parametrize("stack", ["linux-2025", "linux-reno-2025", "linux-bbr-2025", "newreno"])
def test_every_path_of_the_linux_table_is_captured_as_it_ran(stack: str, tmp_path: Path) -> None:
    found = {path.stem: compared(path, stack, tmp_path / path.stem) for path in LINUX}
    assert {path: diff for path, diff in found.items() if diff} == {}
