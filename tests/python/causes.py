"""Transfers whose cause of waiting is set by construction.

Simulated ones are described here; those between kernels are in ``tests/captures/causes``. A simulated transfer
counts only if its cause costs something: it must take twice as long as the same transfer without it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import ackclock as ak

ROOT = Path(__file__).parents[2]
KERNEL = ROOT / "tests/captures/causes"

SCENARIO = """
[run]
duration = "200 s"
seed = {seed}
[[link]]
from = "S"
to = "R"
rate = "100 Mbps"
delay = "0.1 ms"
queue = "2000 packets"
[[link]]
from = "R"
to = "D"
rate = "{rate}"
delay = "{delay}"
queue = "{queue}"
elements = [{elements}]
back = {{ elements = [] }}
[[flow]]
from = "S"
to = "D"
stack = "{stack}"
window = "{window}"
handshake = true
app = {app}
receiver = {receiver}
"""


@dataclass(frozen=True)
class Transfer:
    """A transfer over a path of two links, and what it waits for."""

    cause: str
    stack: str
    seed: int = 1
    rate: str = "50 Mbps"
    delay: str = "20 ms"
    queue: str = "300 packets"
    elements: str = ""
    window: str = "500 packets"
    app: str = '{ kind = "fixed", size = "600 packets" }'
    receiver: str = "{}"
    without: tuple[tuple[str, str], ...] = (("elements", ""),)
    """What differs in the transfer without the cause; nothing if the cause is the whole of the transfer."""

    def toml(self, **changes: str) -> str:
        """The scenario."""
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return SCENARIO.format(**(values | changes))


WAYS = {
    "loss": ("loss recovery",),
    "full queue": ("loss recovery", "congestion window", "network", "sending"),
    "reordering": ("reordering",),
    "network": ("congestion window", "network", "sending"),
}
"""The answers that are right for a cause, if it is not named as itself."""
AT_THE_RECEIVER = {
    "policer": ("policer", "loss recovery"),
    "outage": ("outage", "loss recovery", "unknown"),
}
"""The same where a receiver sees less: of a policer and an outage it sees the losses, or silence."""
AT_NEITHER_END = {("peer gone", "receiver"), ("MTU hole", "receiver"), ("unanswered", "receiver")}
"""Causes that nothing at that end shows: no packet arrives there any more."""


def right(cause: str, side: str) -> tuple[str, ...]:
    """The main causes that are right for a cause, from one side."""
    seen = AT_THE_RECEIVER if side == "receiver" else {}
    return seen.get(cause) or WAYS.get(cause) or (cause,)


def transfers() -> Iterator[Transfer]:
    """All simulated transfers."""
    for stack, seed, delay in product(
        ("newreno", "rfc-6675", "rack-tlp", "cubic", "linux-2025"), (1, 2), ("5 ms", "40 ms")
    ):
        one: dict[str, Any] = {"stack": stack, "seed": seed, "delay": delay}
        for app in (
            '{ kind = "writes", size = "8 packets", gap = { exponential = "900 ms" }, count = 20 }',
            '{ kind = "transfers", size = "20 packets", count = 8, connections = "one", think = { constant = "1 s" } }',
        ):
            yield Transfer("application idle", app=app, without=(), **one)
        small = '{ kind = "transfers", size = "700 B", count = 30, connections = "one" }'
        yield Transfer("Nagle", app=small, receiver='{ ack = "delayed", delay = "150 ms" }', without=(), **one)
        roomy = (("window", "500 packets"),)
        for window in ("4 packets", "8 packets"):
            yield Transfer("receiver window", rate="100 Mbps", window=window, without=roomy, **one)
        for elements in (
            '{ kind = "bernoulli", p = 0.03 }',
            '{ kind = "bernoulli", p = 0.07 }',
            '{ kind = "gilbert-elliott", p = 0.01, r = 0.2 }',
        ):
            yield Transfer("loss", elements=elements, **one)
        long = '{ kind = "fixed", size = "2500 packets" }'
        for length in ("3 s", "8 s"):
            outage = f'{{ kind = "outage", times = ["0.6 s"], length = "{length}" }}'
            yield Transfer("outage", rate="20 Mbps", app=long, elements=outage, **one)
        gone = '{ kind = "outage", times = ["0.6 s"], length = "1000 s" }'
        yield Transfer("peer gone", rate="20 Mbps", app=long, elements=gone, without=(), **one)
        if seed == 1:
            for rate, queue in (("10 Mbps", "20 packets"), ("5 Mbps", "60 packets")):
                yield Transfer("full queue", rate=rate, queue=queue, app=long, without=(), **one)
            yield Transfer(
                "network", rate="100 Mbps", without=(), app='{ kind = "fixed", size = "200 packets" }', **one
            )
            yield Transfer("network", rate="1 Mbps", without=(), queue="1000 packets", **one)
    for stack, delay in product(("rfc-6675", "rack-tlp", "linux-2025", "cubic"), ("15 ms", "40 ms")):
        for rate, burst in (("1 Mbps", "30 kB"), ("2 Mbps", "40 kB"), ("3 Mbps", "120 kB"), ("5 Mbps", "100 kB")):
            bucket = f'{{ kind = "token-bucket", rate = "{rate}", burst = "{burst}", excess = "drop", at = "entry" }}'
            long = '{ kind = "fixed", size = "3000 packets" }'
            yield Transfer("policer", stack, rate="100 Mbps", delay=delay, elements=bucket, app=long)
    for stack, seed, ms in product(("newreno", "reno", "rfc-6675", "cubic"), (1, 2), (20, 60)):
        longer = f'{{ kind = "split", paths = [{{ weight = 1 }}, {{ weight = 1, delay = "{ms + 20} ms" }}] }}'
        redrawn = '{ kind = "redrawn-delay", mean = "20 ms", deviation = "8 ms", every = "50 ms" }'
        for elements in (longer, redrawn):
            long = '{ kind = "fixed", size = "3000 packets" }'
            yield Transfer("reordering", stack, seed, delay=f"{ms} ms", elements=elements, app=long)


def duration(found: ak.Capture) -> float:
    """How long the largest transfer of a capture took, the wait at its end included."""
    flow = largest(found)
    return float(flow["duration_s"])


def largest(found: ak.Capture) -> dict[str, Any]:
    """The flow with the most bytes."""
    return max(found.to_dict()["flows"], key=lambda flow: flow["bytes"])


def simulated(folder: Path, all_of: Iterator[Transfer]) -> Iterator[tuple[Transfer, dict[str, ak.Capture]]]:
    """The captures of each transfer whose cause costs something."""
    for number, transfer in enumerate(all_of):
        sides = captured(folder / str(number), transfer.toml())
        if transfer.without:
            base = captured(folder / f"{number}-without", transfer.toml(**dict(transfer.without)))
            if duration(sides["sender"]) < 2 * duration(base["sender"]):
                continue
        yield transfer, sides


def captured(folder: Path, text: str) -> dict[str, ak.Capture]:
    """The captures of a run at both ends."""
    folder.mkdir()
    (folder / "run.toml").write_text(text, encoding="utf-8")
    ak.run(folder / "run.toml", pcap=folder)
    return {side: ak.capture(folder / f"{side}.pcapng") for side in ("sender", "receiver")}


def kernels() -> Iterator[tuple[str, str, dict[str, ak.Capture]]]:
    """The name, the cause and the captures of each transfer between two kernels."""
    with (KERNEL / "runs.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            sides = {side: ak.capture(KERNEL / f"{row['name']}-{side}.pcap.gz") for side in ("sender", "receiver")}
            yield row["name"], row["cause"], sides
