"""A laboratory for TCP loss recovery under packet reordering and bursty loss.

>>> import ackclock
>>> result = ackclock.run("scenario.toml", stack="rfc-6675", seed=1)  # doctest: +SKIP
>>> result["flows"][0]["throughput_bytes_per_s"]["mean"]  # doctest: +SKIP
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from ackclock import _native
from ackclock._native import __version__
from ackclock.errors import ScenarioError

__all__ = ["ScenarioError", "__version__", "run", "show", "stacks"]


def run(
    scenario: str | PathLike[str],
    *,
    stack: str | Sequence[str] | None = None,
    set: Mapping[str, str] | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    trace: str | PathLike[str] | None = None,
    threads: int | None = None,
    progress: Callable[[float], object] | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Run a scenario, once for each stack and seed, on all cores.

    Args:
        scenario: path of a scenario file, or the text of one (anything with a line break in it).
        stack: name of the stack that every flow uses instead of the file's; or several, one after the other.
        set: parameters of every flow's stack by path, as in ``{"rto.tick": "500 ms"}``.
        seed: the first seed, instead of the file's, and the only one without ``seeds``.
        seeds: how many seeds, counted up from the first.
        trace: file to which the events of the first run go; its ending, .csv or .parquet, says how.
        threads: how many runs at once; by default one for each core. Results do not depend on it.
        progress: called about 20 times a second with the share of simulated time that is done, from 0 to 1.
        name: the name under which errors speak of a scenario given as text.

    Returns:
        What the command prints with ``--json``: ``runs`` holds the numbers of each run, stack by stack; ``flows`` their
        means with 95 % confidence intervals, stack by stack. Every flow names its ``stack``.

    Raises:
        ScenarioError: the scenario or an argument makes no sense.
        OSError: the trace could not be written.
        KeyboardInterrupt: as usual; runs end within a slice of simulated time.
    """
    file, text = _source(scenario, name)
    pairs = list((set or {}).items())
    stacks = [stack] if isinstance(stack, str) else list(stack or [])
    to = None if trace is None else fspath(trace)
    said = _native.run_json(file, text, stacks, pairs, seed, seeds, to, threads, progress)
    result: dict[str, Any] = json.loads(said)
    return result


def show(
    scenario: str | PathLike[str],
    *,
    stack: str | None = None,
    set: Mapping[str, str] | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    name: str | None = None,
) -> str:
    """A scenario with every default spelled out, the stacks' parameters too, as TOML that runs the same.

    Arguments and errors are those of :func:`run`.
    """
    file, text = _source(scenario, name)
    return _native.show_toml(file, text, stack, list((set or {}).items()), seed, seeds)


def _source(scenario: str | PathLike[str], name: str | None) -> tuple[str, str | None]:
    """The name under which errors speak of a scenario, and its text if it was not given by its path."""
    where = fspath(scenario)
    return (name or "<text>", where) if "\n" in where else (where, None)


def stacks() -> list[dict[str, Any]]:
    """Every stack: its ``name``, a one-line ``summary``, and its slots with their parameters."""
    result: list[dict[str, Any]] = json.loads(_native.stacks_json())
    return result
