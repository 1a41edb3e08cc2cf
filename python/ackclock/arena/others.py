"""Harm: the goodput of other stacks' flows beside an entry's, relative to that beside more flows of their own kind."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import tomli_w

from ackclock import _native
from ackclock.arena.entries import kept, shared
from ackclock.runs.laboratory import Laboratory
from ackclock.runs.network import Seeds
from ackclock.runs.task import Task
from ackclock.slots import pickled
from ackclock.study.measure import MEASURES
from ackclock.study.paired import ERROR, Values, difference, together
from ackclock.study.plan import Question

ENTRY, THEIRS = "entry", "others"
"""How the names of the flows begin."""
OWN = ""
"""The other stack in the place of the entry."""
Interval = tuple[float, float, float]


@dataclass(frozen=True)
class Others:
    """The goodput of the other flows beside an entry, over all shared paths and kinds together."""

    own: Interval
    """Relative to that beside flows of their own kind, less 1, and its simultaneous 95 % interval."""
    baseline: Interval | None
    """Relative to that beside the baseline; ``None`` for the baseline, or without one."""
    each: Mapping[tuple[str, str], float]
    """By path and kind: the first number of ``own``."""


def measure(lab: Laboratory, asked: Question, half: str, chosen: Sequence[str] | None) -> dict[str, Others]:
    """Run each entry beside each kind of other flows; empty if no shared path is chosen."""
    files = {name: file for name, file in shared(half).items() if chosen is None or name in chosen}
    kinds: dict[str, str] = kept()["others"]
    if not files:
        return {}
    seeds = Seeds(asked.seeds.first, asked.seeds.at_most)
    entries = dict(asked.stacks)
    points = [(name, kind, entry) for name in files for kind in kinds for entry in (*entries, OWN)]
    tasks = [task(files[name], entries.get(entry, kinds[kind]), kinds[kind], seeds) for name, kind, entry in points]
    found = dict(zip(points, lab.run(f"{asked.name}: beside other stacks", tasks), strict=True))
    values = [
        {entry: [_goodput(run) for run in found[name, kind, entry]] for entry in (*entries, OWN)}
        for name in files
        for kind in kinds
    ]
    places = [(name, kind) for name in files for kind in kinds]
    each = {
        entry: dict(zip(places, (_ratio(one[entry], one[OWN]) for one in values), strict=True)) for entry in entries
    }
    over = together(values, MEASURES["goodput"])
    level = 1 - ERROR / (2 * len(entries))
    return {
        entry: Others(
            _interval(over[entry], over[OWN], level),
            _interval(over[entry], over[asked.baseline], level) if entry != asked.baseline else None,
            each[entry],
        )
        for entry in entries
    }


def task(file: Path, entry: str, kind: str, seeds: Seeds) -> Task:
    """The runs of a shared path with an entry and a kind of other flows."""
    text = file.read_text(encoding="utf-8")
    name = str(file)
    ours, theirs = (_filled_in(name, text, stack) for stack in (entry, kind))
    flows = zip(ours["flow"], theirs["flow"], strict=True)
    mixed = tomli_w.dumps({**ours, "flow": [one if one["name"].startswith(ENTRY) else other for one, other in flows]})
    return Task(name, mixed, None, (), seeds.first, seeds.count, algorithms=pickled(mixed, (), Path(), name))


@lru_cache(maxsize=1000)
def _filled_in(name: str, text: str, stack: str) -> Mapping[str, Any]:
    """The scenario with this stack in all its flows."""
    return tomllib.loads(_native.show_toml(name, text, stack, [], None, None))


def _goodput(run: Mapping[str, Any]) -> float:
    return math.fsum(flow["goodput_bytes_per_s"] for flow in run["flows"] if flow["name"].startswith(THEIRS))


def _ratio(a: Values, b: Values) -> float:
    return math.fsum(one or 0.0 for one in a) / math.fsum(one or 0.0 for one in b) - 1


def _interval(a: Values, b: Values, level: float) -> Interval:
    found = difference("a", "b", a, b, MEASURES["goodput"], 0.0, level)
    change, low, high = (math.nan if one is None else one for one in (found.change, found.low, found.high))
    return change, low, high
