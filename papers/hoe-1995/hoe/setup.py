"""Claims that are parameters of the set-up, read back from the scenarios that ran."""

from __future__ import annotations

from collections.abc import Callable

import ackclock
from ackclock.quantities import number
from ackclock.runs.trial import Document

from .runs import FOUR, View


def texts(view: View) -> dict[str, str]:
    """The value of each text claim in the scenarios of the four runs, joined by "or" where they differ."""
    return {"S002-36": _common(view, _network), "S002-38": _common(view, _clocks)}


def numbers(view: View) -> dict[str, float]:
    """The value of each claim about a number of the set-up in the scenario of the first run.

    Raises:
        OSError: the scenario is missing.
    """
    document = view.document(FOUR[0])
    link, flow = document["link"][0], document["flow"][0]
    round_trip = 2 * number(link["delay"])
    timer = _stack("hoe")["rto"]
    return {
        "S002-33": timer["min_ticks"] * number(timer["tick"]) / round_trip,
        "S002-34": number(link["rate"]) * round_trip / (number(flow["segment"]) + number(flow["header"])),
        "S002-37": 1e3 * round_trip,
    }


def _common(view: View, pick: Callable[[Document], str]) -> str:
    return " or ".join(sorted({pick(view.document(name)) for name in FOUR}))


def _network(document: Document) -> str:
    link, flow = document["link"][0], document["flow"][0]
    return f"{link['queue']['limit']}, {flow['segment']}, {flow['window']}"


def _clocks(document: Document) -> str:
    flow = document["flow"][0]
    segments = flow["set"]["startup"]["ssthresh_segs"]
    interval = flow["receiver"].get("interval", _stack("net2")["ack"]["interval"])
    return f"{_stack('net2')['rto']['tick']}, {interval}, {segments} segments"


def _stack(name: str) -> ackclock.Stack:
    return next(one for one in ackclock.stacks() if one["name"] == name)
