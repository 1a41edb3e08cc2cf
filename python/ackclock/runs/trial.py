"""Points: a scenario file with some of its values changed, and how its flows send."""

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

from ackclock import _native, api, files, paths
from ackclock.document import nearest, refusal
from ackclock.errors import ScenarioError
from ackclock.runs.laboratory import Laboratory
from ackclock.runs.task import Task
from ackclock.slots import pickled
from ackclock.slots.permission import allowed_instead
from ackclock.statistics import Mean

if TYPE_CHECKING:
    import polars as pl

Value = str | int | float | bool | tuple[str | int | float, ...]
"""A tuple is a list in the scenario."""
Changes = Iterable[tuple[str, Value]]
"""Values by path: ``("link[1].elements[0].mean", "360 ms")``."""
Document = dict[str, Any]


@dataclass(frozen=True)
class Effort:
    """How much is run."""

    seeds: int
    """Runs of each point, counted up from seed 1."""
    duration_s: int | None = None
    """Simulated seconds of each run; None: what the scenario has."""


@dataclass(frozen=True)
class Trial:
    """A point: a scenario file with changes, and how its flows send."""

    file: str
    """The scenario's name in its folder."""
    changes: tuple[tuple[str, Value], ...] = ()
    """See :data:`Changes`."""
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
        return changed(parsed((folder / self.file).read_text(encoding="utf-8")), self.changes, self.file)

    def task(self, folder: Path, effort: Effort) -> Task:
        """What makes its runs.

        Raises:
            OSError, ValueError: see ``document``.
        """
        return task(self.document(folder), folder / self.file, effort, self.stack, self.set)


@lru_cache(maxsize=256)
def parsed(text: str) -> Document:
    """A scenario's text as TOML has it; not to be changed, since whoever asks again gets the same."""
    return tomllib.loads(text)


def task(
    document: Document, file: Path, effort: Effort, stack: str | None = None, set_: tuple[tuple[str, str], ...] = ()
) -> Task:
    """What makes the runs of a scenario.

    Args:
        document: the scenario, as TOML has it.
        file: under which errors speak of it; files that it names are beside this one.
        effort: how many runs, and how long.
        stack: for every flow, instead of the scenario's.
        set_: parameters of every flow's stack, as ``--set`` takes them.
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
    """Whether a table somewhere in it has a key ``file``."""
    if isinstance(value, dict):
        return "file" in value or any(map(_names_file, value.values()))
    return isinstance(value, list | tuple) and any(map(_names_file, value))


def carried(document: Document, folder: Path, apart: Sequence[paths.Steps] = ()) -> Document:
    """A copy that has the tables in it which the scenario has in files, so that a worker elsewhere needs no file.

    A file that cannot be read is left for the engine to refuse.

    Args:
        document: the scenario.
        folder: where its files are.
        apart: places whose files stay files.
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
    """A refusal without what stands in a file that the scenario names, which :func:`carried` has put into its text.

    Args:
        error: about a scenario that was carried.
        document: the scenario before that.
    """
    steps = paths.parse(error.key or "") or ()
    if steps[-1:] != ("data",) or "file" not in paths.under(document, steps[:-1]):
        return error
    found = "something else (a file that a scenario names is not quoted)"
    return refusal(error.file, error.line, error.key, found, error.allowed, error.hint)


def changed(document: Document, changes: Changes, file: str = "scenario") -> Document:
    """A copy with other values; a key that is not there yet is added, with its tables; a place in a list must be there.

    Args:
        document: the scenario.
        changes: values by path.
        file: under which errors speak of the scenario.

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
        """The same with these of its runs: a resample."""
        return Ran(self.trial, [self.runs[i] for i in draw])

    @property
    def identity(self) -> str:
        """Says which runs these are: a hash over the identities of scenario, stacks and seed."""
        return digest([run["identity"] for run in self.runs])


def run(lab: Laboratory, what: str, folder: Path, trials: Sequence[Trial], effort: Effort) -> dict[Trial, Ran]:
    """The runs of each of these; those that are kept are not made again.

    Args:
        lab: has them made.
        what: what they are for, in a few words, for the progress.
        folder: where the scenarios are.
        trials: the points; those that stand here twice are run once.
        effort: how many runs of each, and how long.

    Raises:
        OSError: a scenario is missing in ``folder``, or a result cannot be kept.
        ScenarioError, ValueError: a scenario there makes no sense.
    """
    each = list(dict.fromkeys(trials))
    made = lab.run(what, [trial.task(folder, effort) for trial in each])
    return {trial: Ran(trial, runs) for trial, runs in zip(each, made, strict=True)}


def events(trial: Trial, folder: Path, seed: int = 1, duration_s: int | None = None) -> pl.DataFrame:
    """The packets, windows and phases of one run, as in docs/trace.md.

    Raises:
        OSError: the scenario is missing, or there is no room for the trace.
        ScenarioError, ValueError: the scenario makes no sense.
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
    """A hash over the identities of all runs of these."""
    return digest([one.identity for one in ran])


def provenance(ran: Sequence[Ran], more: str = "") -> str:
    """From what a figure was made, for its metadata."""
    first, last = (ran[0].runs[i]["seed"] for i in (0, -1))
    seeds = f"seed {first}" if first == last else f"seeds {first} to {last}"
    text = f"Ackclock {_native.__version__}, {seeds}, runs {runs_of(ran)}"
    return text + (f"; {more}" if more else "")
