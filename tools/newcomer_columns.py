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


def main() -> None:
    """Check each column."""
    of_a_run(Path(sys.argv[1]) / "bundle.toml")


if __name__ == "__main__":
    main()
