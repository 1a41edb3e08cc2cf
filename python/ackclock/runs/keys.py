"""The keys of runs in the store."""

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
"""Format of the stored rows; increased when the content of a run's JSON changes."""


def key_of(identity: str, asked: str) -> str:
    """Return the key of a run: a hash over the format of rows, the identity, and the optional measurements.

    The identity comes from the engine. It is a hash over scenario, stacks, parameters, seed and results revision, and
    the source of algorithms in Python. Measurements do not change a run, but they change its report.

    Args:
        identity: identity of the run.
        asked: the result of :func:`asked_of` for its scenario.
    """
    return hashlib.sha256(f"{FORM}\n{identity}\n{asked}".encode()).hexdigest()


def asked_of(run: Mapping[str, Any]) -> str:
    """The optional reports that a valid ``[run]`` table requests: reordering, and measures with their bins."""
    measures = run.get("measures", False)
    bins = measures.get("bins") if isinstance(measures, Mapping) else None
    length = None if bins is None else _native.seconds("run.measures.bins", bins)
    return _said(run.get("reordering", False) is True, bool(measures), length)


def _said(reordering: bool, measures: bool, bin_s: float | None) -> str:
    return f"{reordering}" + (f"\nmeasures {bin_s}" if measures else "")


def key_of_run(run: str) -> str:
    """Return the key of a run, from its JSON."""
    said: dict[str, Any] = json.loads(run)
    measures = said.get("measures")
    reordering = any("reordering" in flow for flow in said["flows"])
    return key_of(said["identity"], _said(reordering, measures is not None, (measures or {}).get("bin_s")))


def keys_of_runs(runs: Sequence[str]) -> list[str]:
    """Return the keys of runs, from the JSON of each."""
    return [key_of_run(run) for run in runs]


def keys_of(task: Task) -> list[str]:
    """Return the keys of a task's runs, in the order of its seeds.

    Raises:
        ScenarioError: the scenario is invalid.
    """
    identities = task.identities()
    plain = "reordering" not in task.text and "measures" not in task.text
    asked = asked_of({}) if plain else _asked_of_scenario(task.text)
    return [key_of(identity, asked) for identity in identities]


def stretches(seeds: Sequence[int]) -> list[tuple[int, int]]:
    """Split seeds into consecutive ranges: first seed and count."""
    found: list[tuple[int, int]] = []
    for seed in seeds:
        if found and seed == found[-1][0] + found[-1][1]:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((seed, 1))
    return found


@lru_cache(256)
def _asked_of_scenario(scenario: str) -> str:
    """The optional reports that a valid scenario requests; they are part of the key."""
    return asked_of(tomllib.loads(scenario)["run"])
