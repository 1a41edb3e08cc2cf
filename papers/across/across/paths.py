"""The paths of the five papers; every named stack runs on them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ackclock
from ackclock.runs.task import Task
from ackclock.runs.trial import Document, Effort, Value, changed, task

Run = Mapping[str, Any]


@dataclass(frozen=True)
class PaperPath:
    """A path of a paper: links, elements, transfer and receiver. Stacks keep their own parameters."""

    key: str
    title: str
    paper: str
    """The folder of the paper."""
    file: str
    about: str
    """A clause about the events on the path."""
    seconds: int
    """Duration of a run."""
    changes: tuple[tuple[str, Value], ...] = ()
    """Changes to the paper's scenario, by path; they add jitter if nothing else is random."""
    reorders: bool = False
    """Whether packets overtake each other."""

    @property
    def scenario(self) -> str:
        """The scenario file, relative to the folder of all papers."""
        return f"{self.paper}/{self.file}"


PATHS = (
    PaperPath(
        "queue-swaps",
        "Queue swaps",
        "blanton-allman-2002",
        "scenario-paper.toml",
        "twelve swaps of queue places every second or so, drop-tail (Blanton & Allman)",
        600,
        reorders=True,
    ),
    PaperPath(
        "redrawn-delay",
        "Redrawn delay",
        "leung-ma-2005",
        "scenario-single.toml",
        "a delay of 200 ms with a deviation of 67 ms, redrawn every 50 ms (Leung & Ma)",
        1000,
        reorders=True,
    ),
    PaperPath(
        "redrawn-delay-loss",
        "Redrawn delay, loss",
        "leung-ma-2005",
        "scenario-single.toml",
        "the same, and 0.2 % of packets lost (Leung & Ma)",
        1000,
        (("link[0].elements[0].p", 0.002),),
        reorders=True,
    ),
    PaperPath(
        "two-paths",
        "Two paths",
        "leung-ma-2005",
        "scenario-multipath.toml",
        "packets in turn over a short fast path and a long slow one (Leung & Ma)",
        1000,
        (("flow[0].app.jitter", "100 ms"),),
        reorders=True,
    ),
    PaperPath(
        "moved-heads",
        "Moved heads",
        "fukuda-2018",
        "scenario.toml",
        "the head of the queue is repeatedly moved back by eight places (Fukuda et al.)",
        60,
        (("flow[0].app.jitter", "100 ms"),),
        reorders=True,
    ),
    PaperPath(
        "short-buffer",
        "Short buffer",
        "hoe-1995",
        "scenario-delayed.toml",
        "1 Mbyte over a drop-tail queue of half the bandwidth-delay product (Hoe)",
        60,
        (("flow[0].app.start", "0 ms"), ("flow[0].app.jitter", "500 ms")),
    ),
    PaperPath(
        "red",
        "RED",
        "wang-shin",
        "scenario-red.toml",
        "ten flows of one kind at a RED gateway (Wang & Shin)",
        60,
    ),
    PaperPath(
        "drop-tail",
        "Drop-tail",
        "wang-shin",
        "scenario-fairness.toml",
        "twenty flows of one kind at a drop-tail queue of 25 packets (Wang & Shin)",
        60,
    ),
    PaperPath(
        "random-loss",
        "Random loss",
        "wang-shin",
        "scenario-model.toml",
        "1 % of packets lost, independently (Wang & Shin)",
        1000,
    ),
)


def point(path: PaperPath, stack: str, papers: Path, effort: Effort) -> Task:
    """A path with one stack for every flow.

    Raises:
        OSError: the paper's scenario is missing.
        ValueError: the scenario is invalid.
    """
    file = papers / path.paper / path.file
    document = changed(tomllib.loads(file.read_text(encoding="utf-8")), path.changes, str(file))
    for flow in flows(document):
        flow.pop("set", None)
    document["run"] = {}
    return task(document, file, Effort(effort.seeds, effort.duration_s or path.seconds), stack)


def flows(document: Document) -> Sequence[Document]:
    """The scenario's tables of flows."""
    listed: Sequence[Document] = document.get("flow") or document["dumbbell"]["flow"]
    return listed


FAMILIES = {
    "no SACK": "no selective acknowledgments",
    "SACK": "selective acknowledgments, three duplicates",
    "undo": "the same, and mistakes are detected and undone",
    "adaptive": "a threshold or a wait that adapts to reordering",
    "time": "loss by time of transmission",
}
"""Kinds of stacks, with descriptions."""


def family(stack: ackclock.Stack) -> str:
    """The entry of ``FAMILIES`` for a stack, derived from its parts."""
    detect = stack["detect"]
    if detect["kind"] in {"rack-tlp", "quic", "tcp-pr"}:
        return "time"
    if detect["kind"] in {"delayed", "late"} or detect.get("threshold", {}).get("kind", "fixed") != "fixed":
        return "adaptive"
    if stack["undo"]["kind"] != "nothing":
        return "undo"
    return "SACK" if stack["options"]["sack"] else "no SACK"
