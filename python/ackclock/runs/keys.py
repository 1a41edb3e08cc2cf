"""Under which keys the store keeps runs."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ackclock import _native
from ackclock.runs.task import Task

FORM = 2
"""Of the rows that the store keeps; raised when a run's JSON says more, or says it otherwise."""


def key_of(identity: str, asked: str) -> str:
    """Under which the store keeps a run: a hash over the form of rows, identity, and what is reported beyond the usual.

    The identity is the engine's: a hash over scenario, stacks, parameters, seed and results revision, and for
    algorithms in Python their source. What is measured does not change a run, but what is said of it.

    Args:
        identity: of the run.
        asked: what :func:`asked_of` says of its scenario.
    """
    return hashlib.sha256(f"{FORM}\n{identity}\n{asked}".encode()).hexdigest()


def asked_of(run: Mapping[str, Any]) -> str:
    """What a good scenario's table ``[run]`` asks for beyond the usual: reordering, and measures with their bins."""
    measures = run.get("measures", False)
    bins = measures.get("bins") if isinstance(measures, Mapping) else None
    length = None if bins is None else _native.seconds("run.measures.bins", bins)
    return _said(run.get("reordering", False) is True, bool(measures), length)


def _said(reordering: bool, measures: bool, bin_s: float | None) -> str:
    return f"{reordering}" + (f"\nmeasures {bin_s}" if measures else "")


def key_of_run(run: str) -> str:
    """The key of a run, from its JSON."""
    said: dict[str, Any] = json.loads(run)
    measures = said.get("measures")
    reordering = any("reordering" in flow for flow in said["flows"])
    return key_of(said["identity"], _said(reordering, measures is not None, (measures or {}).get("bin_s")))


def keys_of(task: Task) -> list[str]:
    """The keys of a task's runs, in the order of its seeds.

    Raises:
        ScenarioError: the scenario makes no sense.
    """
    identities = task.identities()
    plain = "reordering" not in task.text and "measures" not in task.text
    asked = asked_of({}) if plain else _asked_of_scenario(task.text)
    return [key_of(identity, asked) for identity in identities]


def stretches(seeds: Sequence[int]) -> list[tuple[int, int]]:
    """Seeds as stretches that count up: the first, and how many."""
    found: list[tuple[int, int]] = []
    for seed in seeds:
        if found and seed == found[-1][0] + found[-1][1]:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((seed, 1))
    return found


@lru_cache(256)
def _asked_of_scenario(scenario: str) -> str:
    """What a good scenario asks to be reported, which makes its runs other rows."""
    return asked_of(tomllib.loads(scenario)["run"])
