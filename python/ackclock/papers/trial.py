"""Points of papers: a scenario file with some of its values changed, run with every seed."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

import ackclock
from ackclock.papers.lab import Job, Lab
from ackclock.papers.measure import Mean
from ackclock.papers.paper import Effort, digest

Value = str | int | float | bool | tuple[str | int | float, ...]
"""A tuple is a list in the scenario."""
Document = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """A point: a scenario of the paper with changes, and how its flows send."""

    file: str
    """The scenario's name in the paper's folder."""
    changes: tuple[tuple[str, Value], ...] = ()
    """Values by path, places in lists from 0: ``("link.1.elements.0.mean", "360 ms")``."""
    stack: str | None = None
    """For every flow, instead of the scenario's."""
    set: tuple[tuple[str, str], ...] = ()
    """Parameters of every flow's stack, as ``--set`` takes them."""

    def document(self, folder: Path) -> Document:
        """The scenario with the changes, as TOML has it.

        Raises:
            OSError: there is no such file.
            ValueError: it makes no sense, or has no such place.
        """
        return changed(tomllib.loads((folder / self.file).read_text(encoding="utf-8")), self.changes)

    def job(self, folder: Path, effort: Effort) -> Job:
        """What the laboratory runs.

        Raises:
            OSError, ValueError: see ``document``.
        """
        document = self.document(folder)
        document["run"]["seeds"] = {"first": 1, "count": effort.seeds}
        document["run"].pop("seed", None)
        if effort.duration_s is not None:
            document["run"]["duration"] = f"{effort.duration_s} s"
        return Job(tomli_w.dumps(document), str(folder / self.file), self.stack, self.set)


def changed(document: Document, changes: Iterable[tuple[str, Value]]) -> Document:
    """A copy with other values; a key that is not there yet is added, with its tables; a place in a list must be there.

    Raises:
        ValueError: there is no such place.
    """
    copy = deepcopy(document)
    for path, value in changes:
        *way, last = path.split(".")
        at: Any = copy
        try:
            for step in way:
                at = at[int(step)] if isinstance(at, list) else at.setdefault(step, {})
            if isinstance(at, list):
                at[int(last)] = value
            else:
                at[last] = value
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            raise ValueError(f"the scenario has no place {path}") from error
    return copy


@dataclass
class Ran:
    """The runs of one trial."""

    trial: Trial
    runs: list[dict[str, Any]] = field(repr=False)
    """As ``ackclock run --json`` has them, one for each seed."""

    def values(self, number: str | Callable[[Mapping[str, Any]], float], flow: int = 0) -> list[float]:
        """A number of each run, in the order of the seeds: a key of one flow, or what a function takes out of a run."""
        if isinstance(number, str):
            return [float(run["flows"][flow][number]) for run in self.runs]
        return [float(number(run)) for run in self.runs]

    def mean(self, number: str | Callable[[Mapping[str, Any]], float], flow: int = 0) -> Mean:
        """The mean of ``values``, with its interval."""
        return Mean.of(self.values(number, flow))

    def drawn(self, draw: Sequence[int]) -> Ran:
        """The same with these of its runs, for ``claims.resampled``."""
        return Ran(self.trial, [self.runs[i] for i in draw])

    @property
    def identity(self) -> str:
        """Says which runs these are: a hash over the identities of scenario, stacks and seed."""
        return digest([run["identity"] for run in self.runs])


def run(lab: Lab, what: str, folder: Path, trials: Sequence[Trial], effort: Effort) -> dict[Trial, Ran]:
    """Run each of these once, on all cores; those that are kept are not run again.

    Args:
        lab: runs them.
        what: what they are for, in a few words, for the progress.
        folder: where the scenarios are.
        trials: the points; those that stand here twice are run once.
        effort: how many runs of each, and how long.

    Raises:
        OSError: a scenario is missing in ``folder``, or a result cannot be kept.
        ScenarioError, ValueError: a scenario there makes no sense.
    """
    each = list(dict.fromkeys(trials))
    made = lab.run(what, [trial.job(folder, effort) for trial in each])
    return {trial: Ran(trial, runs) for trial, runs in zip(each, made, strict=True)}


def events(trial: Trial, folder: Path, seed: int = 1, duration_s: int | None = None) -> pl.DataFrame:
    """The packets, windows and phases of one run, as in docs/trace.md.

    Raises:
        OSError: the scenario is missing, or there is no room for the trace.
        ScenarioError, ValueError: the scenario makes no sense.
    """
    job = trial.job(folder, Effort(1, duration_s))
    with tempfile.TemporaryDirectory() as temporary:
        result = ackclock.run(
            job.text,
            stack=trial.stack,
            set=dict(trial.set),
            seed=seed,
            trace=Path(temporary) / "trace.parquet",
            name=job.name,
        )
        return result.events


def runs_of(ran: Iterable[Ran]) -> str:
    """A hash over the identities of all runs of these."""
    return digest([one.identity for one in ran])


def provenance(ran: Sequence[Ran], more: str = "") -> str:
    """From what a figure was made, for its metadata."""
    first, last = (ran[0].runs[i]["seed"] for i in (0, -1))
    seeds = f"seed {first}" if first == last else f"seeds {first} to {last}"
    text = f"Ackclock {ackclock.__version__}, {seeds}, runs {runs_of(ran)}"
    return text + (f"; {more}" if more else "")
