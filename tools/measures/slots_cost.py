"""The cost of a call of an algorithm in Python: ns per call, and packets per second compared with the built-in one.

    python tools/measures/slots_cost.py

Each case runs with the built-in algorithm and with an equal one in Python, which counts its calls. The difference in
processor time, divided by the number of calls, is the cost of a call, including the Python code in it. The best of five
runs counts.
"""
# ruff: noqa: D102 - the base classes document the methods

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import ackclock as ak
from ackclock.slots import Ack, Board, Context, Cut, Loss, Verdict, Window
from ackclock.slots.registry import Value

RUNS = 5
FAST = """
[run]
duration = "60 s"
[[link]]
from = "S"
to = "D"
rate = "100 Mbps"
delay = "20 ms"
queue = "100 packets"
elements = [{ kind = "bernoulli", p = 0.0005 }]
back = { elements = [] }
[[flow]]
from = "S"
to = "D"
stack = "reno"
segment = "1000 B"
window = "550 packets"
"""
"""A fast link with rare losses: most ACKs grow the window."""
DISTURBED = (Path(__file__).resolve().parents[2] / "scenarios" / "leung-ma.toml").read_text(encoding="utf-8")
"""A path that reorders so heavily that there is a hole most of the time."""

calls = 0


class Fixed(ak.DupThresh):
    """Threshold of three duplicates. With a trace it is called on every ACK during a hole."""

    def segments(self, w: Window, cx: Context) -> int:
        global calls  # noqa: PLW0603 - the cheapest counter
        calls += 1
        return 3


class Aimd(ak.Congestion):
    """RFC 5681's growth and cut."""

    def on_ack(self, ack: Ack, w: Window, cx: Context) -> None:
        global calls  # noqa: PLW0603
        calls += 1
        w.cwnd += cx.mss if w.cwnd < w.ssthresh else cx.mss * cx.mss / w.cwnd

    def on_loss(self, loss: Loss, w: Window, cx: Context) -> Cut:
        half = max(loss.flight / 2, 2 * cx.mss)
        return Cut(w.ssthresh, w.cwnd) if loss.repeated else Cut(half, half)


class DupAck(ak.Detector):
    """Threshold of three duplicates, with the guard of RFC 6582; called on every ACK."""

    def on_ack(self, ack: Ack, w: Window, board: Board, cx: Context) -> Verdict:
        global calls  # noqa: PLW0603
        calls += 1
        if cx.phase is ak.slots.Phase.RECOVERY:
            return Verdict.SUSPECT
        if not ack.is_dup:
            doubt = cx.phase is ak.slots.Phase.DISORDER and not ack.advances
            return Verdict.SUSPECT if doubt else Verdict.CLEAR
        if ack.dup_run == 3 and (cx.recover is None or cx.snd_una > cx.recover):  # noqa: PLR2004 - three duplicates
            return Verdict.lost(board.mark_head_lost())
        return Verdict.SUSPECT


@dataclass(frozen=True)
class Timed:
    """The best of several runs."""

    seconds: float
    packets: int
    calls: int


def timed(scenario: str, set_: Mapping[str, Value]) -> Timed:
    """Run a scenario several times."""
    global calls  # noqa: PLW0603
    best = float("inf")
    for _ in range(RUNS):
        calls = 0
        began = time.process_time()
        result = ak.run(scenario, stack="dsack" if scenario is DISTURBED else None, set=set_, threads=1)
        best = min(best, time.process_time() - began)
    packets = result.to_dict()["runs"][0]["flows"][0]["data_packets_sent"]
    return Timed(best, packets, calls)


CASES: list[tuple[str, str, str, type[ak.slots.Algorithm]]] = [
    ("threshold: segments()", DISTURBED, "detect.threshold", Fixed),
    ("congestion: on_ack() of RFC 5681", FAST, "congestion", Aimd),
    ("detect: on_ack(), three duplicates", FAST, "detect", DupAck),
]


def main() -> None:
    """Print a table."""
    print(f"{'algorithm':36} {'calls':>8} {'ns a call':>10} {'packets/s':>10} {'own, packets/s':>15}")
    for name, scenario, slot, algorithm in CASES:
        own, ran = timed(scenario, {}), timed(scenario, {slot: algorithm})
        if ran.packets != own.packets:
            raise RuntimeError(f"{name}: not the run that it is compared with")
        cost = (ran.seconds - own.seconds) / ran.calls * 1e9
        print(
            f"{name:36} {ran.calls:8} {cost:10.0f} {ran.packets / ran.seconds:10.0f} {own.packets / own.seconds:15.0f}"
        )


if __name__ == "__main__":
    main()
