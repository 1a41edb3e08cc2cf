"""Set-up of the runs for Blanton & Allman 2002, read back from their scenarios, and §6.1's burst."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import ackclock
from ackclock.papers.paper import Work
from ackclock.runs.trial import Trial

from .points import STOCK, SWEEP_A_GAPS_S, Point, Setting
from .schemes import INC, PAPER

Document = dict[str, Any]
BURST_SCENARIO = "scenario-burst.toml"
BURST_DUPLICATES = 9


def parameters(points: Mapping[Setting, Point]) -> dict[str, str]:
    """The value of each parameter claim in all points of the paper's scenario, joined by "or" where points differ."""
    chosen = {s: point for s, point in points.items() if s.scenario == PAPER}

    def common(pick: Callable[[Document], str]) -> str:
        return " or ".join(sorted({pick(point.document) for point in chosen.values()}))

    return {
        "S000-01": common(lambda d: "{rate}, {delay}".format(**_bottleneck(d))),
        "S000-02": common(lambda d: str(_bottleneck(d)["queue"]["limit"])),
        "S000-03": common(lambda d: f"{_bytes(_flow(d)['segment']) + _bytes(_flow(d)['header'])} B"),
        "S000-04": common(lambda d: str(_flow(d)["window"])),
        "S000-05": common(lambda d: f"{_flow(d)['set']['rto.tick']}, {_heartbeat(_flow(d)['receiver'])}"),
        "S000-17": _step(),
        "S000-39": _runs(chosen),
        "S000-40": common(_access),
    }


def _flow(document: Document) -> Document:
    flow: Document = document["flow"][0]
    return flow


def _bottleneck(document: Document) -> Document:
    return next(link for link in document["link"] if (link["from"], link["to"]) == ("R1", "R2"))


def _access(document: Document) -> str:
    return ", ".join(sorted({link["rate"] for link in document["link"] if link is not _bottleneck(document)}))


def _bytes(text: str) -> int:
    return int(text.removesuffix(" B"))


def _heartbeat(receiver: Document) -> str:
    return str(receiver["interval"]) if receiver["ack"] == "heartbeat" else f"no heartbeat but {receiver['ack']}"


def _step() -> str:
    """INC's step in the stack; no scheme changes it."""
    if any(path == "detect.threshold.step" for path, _ in INC.set):
        return f"set: {INC.set}"
    stack = next(stack for stack in ackclock.stacks() if stack["name"] == INC.stack)
    return str(stack["detect"]["threshold"]["step"])


def _runs(points: Mapping[Setting, Point]) -> str:
    """Duration, runs per point, swaps of the sweep over gaps, gaps of the sweeps over swaps."""
    durations = {f"{run['duration_s']:g} s" for point in points.values() for run in point.runs}
    counts = {str(len(point.runs)) for point in points.values()}
    swaps = {str(s.swaps) for s in points if s.scheme == STOCK and s.swaps and s.gap_s not in SWEEP_A_GAPS_S}
    few = {s.gap_s for s in points if s.scheme == STOCK and s.swaps and str(s.swaps) not in swaps}
    each = [" or ".join(sorted(values)) for values in (durations, counts, swaps)]
    return ", ".join([*each, " and ".join(f"{gap:g} s" for gap in sorted(few))])


def burst(work: Work, disorder: str) -> int:
    """Segments released at once by the filling ACK after 9 duplicates, under a rule for the duplicates before it.

    Raises:
        OSError: the scenario is missing.
        ValueError: the scenario does not make 9 duplicates.
    """
    return released(work.events(Trial(BURST_SCENARIO, set=(("disorder", disorder),))).iter_rows(named=True))


def released(events: Iterable[Mapping[str, Any]]) -> int:
    """The same, from a trace's events.

    Raises:
        ValueError: no ACK arrived 10 times.
    """
    mine = [event for event in events if event["side"] == "sender"]
    acks = [(e["time_ns"], e["ack"]) for e in mine if e["event"] == "delivered"]
    repeated, times = Counter(ack for _, ack in acks).most_common(1)[0]
    if times != BURST_DUPLICATES + 1:
        raise ValueError(f"{BURST_SCENARIO}: an ACK came {times} times, needed: {BURST_DUPLICATES + 1}")
    filled = next(time for time, ack in acks if ack > repeated)
    return sum(e["event"] == "sent" and e["time_ns"] == filled for e in mine)
