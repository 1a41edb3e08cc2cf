"""What a transfer waited for is named rightly: judged on transfers whose cause is set by construction."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

import ackclock as ak
from causes import AT_NEITHER_END, ROOT, kernels, largest, right, simulated, transfers

LEAST = {"sender": 0.95, "receiver": 0.9}
"""The share of transfers for which the main cause must be the right one, by the end where they were captured."""


def add_up(flow: dict[str, float | dict[str, float]]) -> None:
    """The parts of a flow's time are its duration."""
    parts, all_of_it = flow["time_by_cause_s"], flow["duration_s"]
    assert isinstance(parts, dict)
    assert isinstance(all_of_it, float)
    assert sum(parts.values()) == pytest.approx(all_of_it, rel=0.01, abs=1e-6)


def test_the_main_cause_of_at_least_300_transfers_is_the_one_that_was_set(tmp_path: Path) -> None:
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for transfer, sides in simulated(tmp_path, transfers()):
        for side, capture in sides.items():
            found[side].append(
                (f"{transfer.stack}, {transfer.delay}, {transfer.elements}", transfer.cause, main(capture))
            )
    for name, cause, sides in kernels():
        for side, capture in sides.items():
            found[side].append((name, cause, main(capture)))
    assert len(found["sender"]) >= 300
    for side, all_of_them in found.items():
        judged = [(name, cause, answer) for name, cause, answer in all_of_them if (cause, side) not in AT_NEITHER_END]
        wrong = [one for one in judged if one[2] not in right(one[1], side)]
        share = 1 - len(wrong) / len(judged)
        print(f"{side}: {share:.1%} of {len(judged)}", Counter((cause, answer) for _, cause, answer in judged))
        assert share >= LEAST[side], wrong


def test_a_queue_that_overflows_is_no_policer() -> None:
    captures = sorted((ROOT / "tests/captures/kernel").glob("*-sender.pcapng.gz"))
    assert len(captures) > 20
    assert [path.name for path in captures if main(ak.capture(path)) == "policer"] == []


def main(capture: ak.Capture) -> str:
    """The main cause of a capture's largest flow; without flows, how its connection was opened."""
    flows = capture.to_dict()["flows"]
    if not flows:
        return next(iter(capture.connections["opening"]), "nothing was captured")
    flow = largest(capture)
    add_up(flow)
    return str(flow["main_cause"])
