"""Algorithms in Python inside the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

import ackclock as ak

HERE = Path(__file__).parent
TUTORIAL = HERE.parents[1] / "docs" / "tutorials" / "avg_dev.py"

LEUNG_MA = (HERE.parents[1] / "scenarios" / "leung-ma.toml").read_text(encoding="utf-8").replace("1000 s", "60 s")
"""Leung & Ma's single path, for a shorter time."""
BLANTON_ALLMAN = """
[run]
duration = "60 s"
[[link]]
from = "S"
to = "D"
rate = "5 Mbps"
delay = "50 ms"
queue = "100 packets"
elements = [{ kind = "swap", mode = "slots", count = 12, gap = { exponential = "1 s" } }]
back = { elements = [] }
[[flow]]
from = "S"
to = "D"
stack = "dsack-ewma"
segment = "1000 B"
window = "140 packets"
receiver = { ack = "every" }
"""
"""Swaps in a queue, as Blanton & Allman made them."""


def hashes(scenario: str, **options: object) -> list[str]:
    """The trace hashes of a scenario's runs."""
    return [run["trace_hash"] for run in ak.run(scenario, **options).to_dict()["runs"]]  # type: ignore[arg-type]


@pytest.mark.parametrize("scenario", [LEUNG_MA, BLANTON_ALLMAN])
def test_avg_dev_in_python_gives_the_same_traces_as_the_one_of_the_engine(scenario: str) -> None:
    source = f'{{ kind = "python", source = "{TUTORIAL}:AvgDev" }}'
    built_in = hashes(scenario, set={"detect.threshold": "avg-dev"}, seeds=3)
    assert hashes(scenario, set={"detect.threshold": source}, seeds=3) == built_in
    assert hashes(scenario, seeds=3) != built_in, "the threshold matters here"
