"""The path that explains a capture, and predictions for other senders on it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from statistics import median
from typing import Any

from ackclock import _native, api
from ackclock.files import write
from ackclock.statistics import interval

AS = "linux-2025"
"""Default stack for the capture's sender."""
FEWEST = 2
"""The fewest seeds that give an interval."""
TRUSTED = 0.2
"""Largest relative error of the re-run of the capture at which predictions are trusted."""


@dataclass(frozen=True)
class Parameter:
    """The estimate of one number of a path."""

    name: str
    unit: str
    mark: str
    """``measured``, ``lower bound`` or ``unknown``."""
    value: float
    low: float
    """Lower end of its interval: 95 % where it is measured."""
    high: float
    """Upper end of its interval."""
    how: str
    """How it was estimated, or why it could not be."""


class Fit:
    """A path fitted to the flows of a capture, which share one bottleneck."""

    def __init__(self, found: dict[str, Any]) -> None:
        """Keep the result of the fit."""
        self._found = found

    @cached_property
    def parameters(self) -> list[Parameter]:
        """The path's numbers, each with its interval."""
        return [Parameter(**row) for row in self._found["parameters"]]

    @property
    def disagreements(self) -> list[str]:
        """Contradictions between the flows, in words."""
        return list(self._found["disagreements"])

    @property
    def scenario(self) -> str:
        """The path as a scenario in TOML, with the evidence for each number beside it."""
        return str(self._found["scenarios"][0])

    @property
    def ends(self) -> list[str]:
        """Two variants of the scenario: unmeasured numbers at the lower ends of their intervals, and at the upper."""
        return list(self._found["scenarios"][1:])

    @property
    def seconds(self) -> float:
        """Mean duration of the capture's transfers, in seconds."""
        times = [row["duration_s"] for row in self._found["transfers"]]
        return float(sum(times) / len(times))

    @property
    def flows(self) -> int:
        """The number of transfers."""
        return len(self._found["transfers"])

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``ackclock capture --fit --json``."""
        return {key: value for key, value in self._found.items() if key != "scenarios"} | {"scenario": self.scenario}

    def write(self, file: str | PathLike[str]) -> None:
        """Write the scenario into a file, complete or not at all."""
        write(Path(file), self.scenario.encode())

    def what_if(
        self, stacks: Sequence[str], *, as_: str = AS, seeds: int = 10, first: int = 1, threads: int | None = None
    ) -> WhatIf:
        """Run the path with other senders, and with the capture's own sender to see how far off such runs are.

        Args:
            stacks: the other senders.
            as_: the stack that most likely was the capture's sender.
            seeds: the number of runs for each.
            first: the first seed.
            threads: the number of concurrent runs. Default: one per core.
        """
        if seeds < FEWEST:
            raise ValueError(f"seeds: found {seeds}, allowed: {FEWEST} or more")
        every = list(dict.fromkeys([as_, *stacks]))
        results = [
            api.run(text, stack=every, seed=first, seeds=seeds, threads=threads, name="the fitted path").to_dict()
            for text in (self.scenario, *self.ends)
        ]
        times = {stack: [_times(result, stack, seeds) for result in results] for stack in every}
        error = abs(median(times[as_][0][0]) / self.seconds - 1)
        own = _row(as_, times[as_], error)
        others = [_row(stack, times[stack], error) for stack in every if stack != as_]
        return WhatIf(self.seconds, self.flows, own, others, error)


@dataclass(frozen=True)
class Row:
    """One sender on the fitted path."""

    stack: str
    seconds: float
    """Duration of a transfer, in seconds: the median over the seeds."""
    low: float
    """Lower end of the 95 % interval for a single run, in seconds. It covers the numbers that were not measured and the
    interval of random loss, and is widened by the error of the re-run."""
    high: float
    """Upper end of that interval."""
    unfinished: int
    """Transfers that did not end within ten times the capture's time; they are counted with that time."""

    @property
    def words(self) -> str:
        """The time as a sentence states it."""
        return f"{_short(self.seconds)} s ({_short(self.low)} to {_short(self.high)})"


@dataclass(frozen=True)
class WhatIf:
    """Predictions for other senders on the path of a capture."""

    seconds: float
    """Mean duration of the capture's transfers, in seconds."""
    flows: int
    own: Row
    """The stack assumed for the capture's own sender."""
    others: list[Row]
    error: float
    """Relative error of the re-run: its difference from the capture as a share of the capture's time."""

    @property
    def trusted(self) -> bool:
        """Whether the re-run is close to the capture."""
        return self.error <= TRUSTED

    @property
    def sentences(self) -> list[str]:
        """The result in words."""
        what = "would have taken" if self.flows == 1 else "would have taken, for a transfer on average,"
        said = [f"{row.stack} {what} {row.words} instead of {_short(self.seconds)} s." for row in self.others]
        own = f"Simulated with {self.own.stack}, the capture takes {self.own.words} instead of {_short(self.seconds)} s"
        said.append(f"{own}: {self.error:.0%} off.")
        if not self.trusted:
            said.append(
                f"Do not trust this answer: a difference of more than {TRUSTED:.0%} means that the sender was a "
                "different one, or that the fit does not model the path."
            )
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``ackclock capture --what-if --json``."""
        rows = [vars(self.own) | {"own": True}, *(vars(row) | {"own": False} for row in self.others)]
        return {
            "seconds": self.seconds,
            "flows": self.flows,
            "error": self.error,
            "trusted": self.trusted,
            "rows": rows,
            "sentences": self.sentences,
        }


def _short(seconds: float) -> str:
    return f"{seconds:.3g}" if seconds < 100 else f"{seconds:.0f}"  # noqa: PLR2004 - three digits


def _times(result: dict[str, Any], stack: str, seeds: int) -> tuple[list[float], int]:
    """The mean duration of a transfer for each seed, and the number of transfers that did not end."""
    runs: list[list[float]] = []
    open_ = 0
    for run in result["runs"]:
        own = [flow for flow in run["flows"] if flow["stack"] == stack]
        if not own:
            continue
        open_ += sum(flow["finish_s"] is None for flow in own)
        ends = [run["duration_s"] if flow["finish_s"] is None else flow["finish_s"] for flow in own]
        runs.append([end - flow["start_s"] for end, flow in zip(ends, own, strict=True)])
    assert len(runs) == seeds, "a run for each seed"
    return [sum(run) / len(run) for run in runs], open_


def _row(stack: str, ends: list[tuple[list[float], int]], error: float) -> Row:
    """The row of a stack; the first entry of ``ends`` is the most likely path."""
    ranges = [_of_one(times) for times, _ in ends]
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    return Row(stack, median(ends[0][0]), low / (1 + error), high * (1 + error), sum(n for _, n in ends))


def _of_one(times: list[float]) -> tuple[float, float]:
    """The 95 % interval for one more run: Student's t, for a single further draw."""
    mean, half = interval(times)
    wide = (half or 0.0) * math.sqrt(len(times) + 1)
    return max(mean - wide, min(times) / 2), mean + wide


def fit(
    files: Sequence[str | PathLike[str]],
    *,
    at: str | None = None,
    flow: tuple[str, str] | None = None,
    limit: int,
    stack: str = AS,
) -> Fit:
    """Fit a path to captures; see :meth:`ackclock.Capture.fit`."""
    return Fit(json.loads(_native.capture_fit([fspath(f) for f in files], at, limit, flow, stack, None)))
