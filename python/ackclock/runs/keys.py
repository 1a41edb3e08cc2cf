"""Under which keys the store keeps runs."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ackclock.runs.task import Task

FORM = 2
"""Of the rows that the store keeps; raised when a run's JSON says more, or says it otherwise."""


def key_of(identity: str, reordering: bool) -> str:
    """Under which the store keeps a run: a hash over the form of rows, identity, and whether reordering is reported.

    The identity is the engine's: a hash over scenario, stacks, parameters, seed and results revision, and for
    algorithms in Python their source. Whether reordering is measured does not change a run, but what is said of it.
    """
    return hashlib.sha256(f"{FORM}\n{identity}\n{reordering}".encode()).hexdigest()


def key_of_run(run: str) -> str:
    """The key of a run, from its JSON."""
    said: dict[str, Any] = json.loads(run)
    return key_of(said["identity"], any("reordering" in flow for flow in said["flows"]))


def keys_of(task: Task) -> list[str]:
    """The keys of a task's runs, in the order of its seeds.

    Raises:
        ScenarioError: the scenario makes no sense.
    """
    identities = task.identities()
    reordering = "reordering" in task.text and _reordering(task.text)
    return [key_of(identity, reordering) for identity in identities]


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
def _reordering(scenario: str) -> bool:
    """Whether the runs of a good scenario report reordering, which makes them other rows."""
    return tomllib.loads(scenario)["run"].get("reordering", False) is True
