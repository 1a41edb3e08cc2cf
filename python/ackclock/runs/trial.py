"""Points: a scenario file with some values changed, and the senders of its flows."""

from __future__ import annotations

import hashlib
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from ackclock import _native, api, files
from ackclock.document import nearest, paths, refusal
from ackclock.document.permission import allowed_instead
from ackclock.errors import ScenarioError
from ackclock.runs.laboratory import Laboratory
from ackclock.runs.task import Task
from ackclock.slots import pickled
from ackclock.statistics import Mean

if TYPE_CHECKING:
    import polars as pl

Value = str | int | float | bool | tuple[str | int | float, ...]
"""A value of TOML; a tuple is a list in the scenario."""
Changes = Iterable[tuple[str, Value]]
"""Values by path: ``("link[1].elements[0].mean", "360 ms")``."""
Document = dict[str, Any]


@dataclass(frozen=True)
class Effort:
    """The number and the duration of runs."""

    seeds: int
    """Runs of each point, counted up from seed 1."""
    duration_s: int | None = None
    """Simulated seconds of each run. Default: the scenario's."""


@dataclass(frozen=True)
class Trial:
    """A point: a scenario file with changes, and the senders of its flows."""

    file: str
    """The scenario's name, relative to its folder."""
    changes: tuple[tuple[str, Value], ...] = ()
    """See :data:`Changes`."""
    stack: str | None = None
    """The stack for every flow, instead of the scenario's."""
    set: tuple[tuple[str, str], ...] = ()
    """Parameters of every flow's stack, in the form that ``--set`` takes."""

    def document(self, folder: Path) -> Document:
        """Return the scenario with the changes, as a TOML document.

        Raises:
            OSError: the file does not exist.
            ValueError: the scenario is invalid, or has no such place.
        """
        return changed(parsed((folder / self.file).read_text(encoding="utf-8")), self.changes, self.file)

    def task(self, folder: Path, effort: Effort) -> Task:
        """Return the task that makes its runs.

        Raises:
            OSError, ValueError: see ``document``.
        """
        return task(self.document(folder), folder / self.file, effort, self.stack, self.set)


@lru_cache(maxsize=256)
def parsed(text: str) -> Document:
    """Parse a scenario's text. The result is cached and shared, so it must not be modified."""
    return tomllib.loads(text)


def task(
    document: Document, file: Path, effort: Effort, stack: str | None = None, set_: tuple[tuple[str, str], ...] = ()
) -> Task:
    """Return the task that makes the runs of a scenario.

    Args:
        document: the scenario as a TOML document.
        file: the name that error messages use for it; files that it names are in the same folder.
        effort: the number and the duration of runs.
        stack: the stack for every flow, instead of the scenario's.
        set_: parameters of every flow's stack, in the form that ``--set`` takes.
    """
    whole = carried(document, file.parent) if _names_file(document) else dict(document)
    whole["run"] = {key: value for key, value in document["run"].items() if key not in {"seed", "seeds"}}
    if effort.duration_s is not None:
        whole["run"]["duration"] = f"{effort.duration_s} s"
    text = tomli_w.dumps(whole)
    named = any("python" in one for one in (text, *(value for _, value in set_)))
    algorithms = pickled(text, set_, file.parent, str(file)) if named else ()
    return Task(str(file), text, stack, set_, 1, effort.seeds, algorithms=algorithms)


def _names_file(value: object) -> bool:
    """Whether a table somewhere in the value has a key ``file``."""
    if isinstance(value, dict):
        return "file" in value or any(map(_names_file, value.values()))
    return isinstance(value, list | tuple) and any(map(_names_file, value))


def carried(document: Document, folder: Path, apart: Sequence[paths.Steps] = ()) -> Document:
    """Return a copy that contains the tables from the files that the scenario names, so a remote worker needs no files.

    A file that cannot be read is left for the engine to refuse.

    Args:
        document: the scenario.
        folder: the folder of its files.
        apart: places whose files are not replaced.
    """
    copy = deepcopy(document)
    for path in list(paths.every(copy)):
        steps = paths.parse(path) or ()
        if (
            steps[-1] != "file"
            or steps[-3:-2] != ("elements",)
            or any(paths.within(steps, other) for other in apart if other)
        ):
            continue
        element = paths.get(copy, steps[:-1])
        if "data" not in element:
            try:
                element["data"] = files.text(folder / element["file"])
            except (OSError, UnicodeDecodeError, TypeError):
                continue
            del element["file"]
    return copy


def unquoted(error: ScenarioError, document: Document) -> ScenarioError:
    """Remove file contents from an error: :func:`carried` has put the content of named files into the scenario's text.

    Args:
        error: an error about a scenario returned by :func:`carried`.
        document: the scenario before that.
    """
    steps = paths.parse(error.key or "") or ()
    if steps[-1:] != ("data",) or "file" not in paths.under(document, steps[:-1]):
        return error
    found = "something else (files that a scenario names are not quoted)"
    return refusal(error.file, error.line, error.key, found, error.allowed, error.hint)


def changed(document: Document, changes: Changes, file: str = "scenario") -> Document:
    """Return a copy with other values. Missing keys are added with their tables; list entries must exist.

    Args:
        document: the scenario.
        changes: values by path.
        file: the name that error messages use for the scenario.

    Raises:
        ScenarioError: there is no such place.
    """
    copy = deepcopy(document)
    for path, value in changes:
        steps = paths.parse(path)
        if steps is None or not paths.present(copy, steps):
            allowed = "a place in the scenario, as in link[1].elements[0].mean"
            raise refusal(file, None, path, "no such place", allowed, nearest(path, paths.every(copy)))
        paths.put(copy, steps, value)
    return copy


@dataclass
class Ran:
    """The runs of one trial."""

    trial: Trial
    runs: list[dict[str, Any]] = field(repr=False)
    """The runs as in ``ackclock run --json``, one for each seed."""

    def values(self, number: str | Callable[[Mapping[str, Any]], float], flow: int = 0) -> list[float]:
        """Return a number of each run, in the order of the seeds: a key of one flow, or the result of a function."""
        if isinstance(number, str):
            return [float(run["flows"][flow][number]) for run in self.runs]
        return [float(number(run)) for run in self.runs]

    def mean(self, number: str | Callable[[Mapping[str, Any]], float], flow: int = 0) -> Mean:
        """The mean of ``values``, with its interval."""
        return Mean.of(self.values(number, flow))

    def drawn(self, draw: Sequence[int]) -> Ran:
        """A resample: the runs with these indices."""
        return Ran(self.trial, [self.runs[i] for i in draw])

    @property
    def identity(self) -> str:
        """A hash over the identities of scenario, stacks and seeds, which identifies the runs."""
        return digest([run["identity"] for run in self.runs])


def run(lab: Laboratory, what: str, folder: Path, trials: Sequence[Trial], effort: Effort) -> dict[Trial, Ran]:
    """Return the runs of each trial; stored runs are reused.

    Args:
        lab: makes the runs.
        what: the purpose of the runs, in a few words, for the progress display.
        folder: the folder of the scenarios.
        trials: the points; duplicates are run once.
        effort: the number and the duration of runs.

    Raises:
        OSError: a scenario is missing in ``folder``, or a result cannot be stored.
        ScenarioError, ValueError: a scenario is invalid.
    """
    each = list(dict.fromkeys(trials))
    made = lab.run(what, [trial.task(folder, effort) for trial in each])
    return {trial: Ran(trial, runs) for trial, runs in zip(each, made, strict=True)}


def events(trial: Trial, folder: Path, seed: int = 1, duration_s: int | None = None) -> pl.DataFrame:
    """The packets, windows and phases of one run, as in docs/trace.md.

    Raises:
        OSError: the scenario is missing, or the disk is too full for the trace.
        ScenarioError, ValueError: the scenario is invalid.
    """
    wanted = trial.task(folder, Effort(1, duration_s))
    with tempfile.TemporaryDirectory() as temporary:
        trace = Path(temporary) / "trace.parquet"
        result = api.run(
            wanted.text,
            stack=trial.stack,
            set=dict(trial.set),
            seed=seed,
            trace=trace,
            name=wanted.name,
            allow_python=allowed_instead() is None,
        )
        return result.events


def digest(parts: Sequence[str]) -> str:
    """A short hash over strings."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def runs_of(ran: Iterable[Ran]) -> str:
    """A hash over the identities of all these runs."""
    return digest([one.identity for one in ran])


def provenance(ran: Sequence[Ran], more: str = "") -> str:
    """The origin of a figure's data, for its metadata."""
    first, last = (ran[0].runs[i]["seed"] for i in (0, -1))
    seeds = f"seed {first}" if first == last else f"seeds {first} to {last}"
    text = f"Ackclock {_native.__version__}, {seeds}, runs {runs_of(ran)}"
    return text + (f"; {more}" if more else "")
