"""Checks for tools/newcomer.sh that the columns which it declared are in every output of Python and the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ackclock as ak


def of_a_run(scenario: Path) -> None:
    """``newcomer_packets`` of a run's flow."""
    result = ak.run(scenario, seeds=2)
    flows = [run["flows"][0] for run in result.to_dict()["runs"]]
    values = [flow["newcomer_packets"] for flow in flows]
    assert values == [flow["data_packets_sent"] - flow["data_drops"] for flow in flows], "JSON"
    first = result.frame["flow"][0]
    assert result.frame.filter(flow=first)["newcomer_packets"].to_list() == values, "frame"
    assert result.summary.filter(flow=first)["newcomer_packets"].to_list() == [sum(values) / 2], "summary"
    command = [sys.executable, "-m", "ackclock", "run", str(scenario)]
    table = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "newcomer" in table, table


def of_a_capture(file: Path) -> None:
    """``newcomer_packets`` of a captured flow."""
    found = ak.capture(file)
    values = [flow["newcomer_packets"] for flow in found.to_dict()["flows"]]
    assert values == [flow["packets"] - flow["data_packets"] for flow in found.to_dict()["flows"]], "JSON"
    assert found.flows["newcomer_packets"].to_list() == values, "table"
    command = [sys.executable, "-m", "ackclock", "capture", str(file)]
    table = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "newcomer" in table, table


def main() -> None:
    """Check each column."""
    root = Path(sys.argv[1])
    of_a_run(root / "scenarios/bundle.toml")
    of_a_capture(root / "tests/captures/kernel/cubic-two-paths-sender.pcapng.gz")


if __name__ == "__main__":
    main()
