"""The path that explains a capture, and what other senders would have made of it."""

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
from ackclock.statistics import interval

AS = "linux-2025"
"""The stack that is taken for the capture's sender."""
FEWEST = 2
"""Of fewer seeds there is no interval."""
TRUSTED = 0.2
"""A re-run of the capture that differs by more says that no answer is to be trusted."""


@dataclass(frozen=True)
class Parameter:
    """What is known of one number of a path."""

    name: str
    unit: str
    mark: str
    """``measured``, ``lower bound`` or ``unknown``."""
    value: float
    low: float
    """It is hardly less: 95 % where it is measured."""
    high: float
    """It is hardly more."""
    how: str
    """How it was found, or why it was not."""


class Fit:
    """A path fitted to the flows of a capture, which share one bottleneck."""

    def __init__(self, found: dict[str, Any]) -> None:
        """Keep what was found."""
        self._found = found

    @cached_property
    def parameters(self) -> list[Parameter]:
        """The path's numbers."""
        return [Parameter(**row) for row in self._found["parameters"]]

    @property
    def disagreements(self) -> list[str]:
        """Where flows contradict each other, in words."""
        return list(self._found["disagreements"])

    @property
    def scenario(self) -> str:
        """The path as a scenario in TOML, with what is known of each number beside it."""
        return str(self._found["scenarios"][0])

    @property
    def ends(self) -> list[str]:
        """The same with what was not measured at the lower and at the upper ends of its intervals."""
        return list(self._found["scenarios"][1:])

    @property
    def seconds(self) -> float:
        """How long a transfer of the capture took, on average."""
        times = [row["duration_s"] for row in self._found["transfers"]]
        return float(sum(times) / len(times))

    @property
    def flows(self) -> int:
        """How many transfers there are."""
        return len(self._found["transfers"])

    def to_dict(self) -> dict[str, Any]:
        """What ``ackclock capture --fit --json`` prints."""
        return {key: value for key, value in self._found.items() if key != "scenarios"} | {"scenario": self.scenario}

    def write(self, file: str | PathLike[str]) -> None:
        """Write the scenario into a file."""
        Path(file).write_text(self.scenario, encoding="utf-8")

    def what_if(
        self, stacks: Sequence[str], *, as_: str = AS, seeds: int = 10, first: int = 1, threads: int | None = None
    ) -> WhatIf:
        """Run the path with other senders; and with the capture's own, which tells how far off such runs are.

        Args:
            stacks: the other senders.
            as_: the stack that the capture's sender was, most likely.
            seeds: how many runs of each.
            first: the first seed.
            threads: how many at once; default: one for each core.
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
    """What a transfer takes: the median over the seeds."""
    low: float
    """A single run hardly takes less (95 %): over what was not measured and the interval of random loss, and
    widened by the error of the re-run."""
    high: float
    """Nor more."""
    unfinished: int
    """Transfers that did not end within ten times the capture's time; they count as that long."""

    @property
    def words(self) -> str:
        """Its time as a sentence has it."""
        return f"{_short(self.seconds)} s ({_short(self.low)} to {_short(self.high)})"


@dataclass(frozen=True)
class WhatIf:
    """What other senders would have made of the path of a capture."""

    seconds: float
    """What a transfer of the capture took, on average."""
    flows: int
    own: Row
    """The capture's own sender, as it is taken to be."""
    others: list[Row]
    error: float
    """By how much the re-run of the capture's own sender differs from the capture, as a part of its time."""

    @property
    def trusted(self) -> bool:
        """Whether the re-run came near the capture."""
        return self.error <= TRUSTED

    @property
    def sentences(self) -> list[str]:
        """The answer in words."""
        what = "would have taken" if self.flows == 1 else "would have taken, for a transfer on average,"
        said = [f"{row.stack} {what} {row.words} instead of {_short(self.seconds)} s." for row in self.others]
        own = f"Run again with {self.own.stack}, the capture takes {self.own.words} instead of {_short(self.seconds)} s"
        said.append(f"{own}: {self.error:.0%} off.")
        if not self.trusted:
            said.append(
                f"The answer is not to be trusted: a difference of more than {TRUSTED:.0%} says that the sender was "
                "another, or that the path does what the fit does not know."
            )
        return said

    def to_dict(self) -> dict[str, Any]:
        """What ``ackclock capture --what-if --json`` prints."""
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
    """For each seed what a transfer takes on average; and how many did not end."""
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
    """The first of the ends is the likeliest path."""
    ranges = [_of_one(times) for times, _ in ends]
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    return Row(stack, median(ends[0][0]), low / (1 + error), high * (1 + error), sum(n for _, n in ends))


def _of_one(times: list[float]) -> tuple[float, float]:
    """Within which a further run lies (95 %): Student's t, for one more draw."""
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
