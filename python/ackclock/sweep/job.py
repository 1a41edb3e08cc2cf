"""Runs the missing part of a plan, stores every run as soon as it is finished, and finally makes the table."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import TYPE_CHECKING

from ackclock.document.permission import allowing
from ackclock.progress import Progress, Report
from ackclock.runs.executor import Executor, executor
from ackclock.runs.laboratory import Laboratory, Wanted
from ackclock.runs.store import Store
from ackclock.statistics import interval
from ackclock.sweep import manifest as manifests
from ackclock.sweep import table
from ackclock.sweep.columns import number
from ackclock.sweep.manifest import Entry, Manifest
from ackclock.sweep.outcome import Sweep
from ackclock.sweep.plan import Plan, Stop
from ackclock.sweep.points import Points
from ackclock.tables.columns import unused_notes

if TYPE_CHECKING:
    from distributed import Client
    from distributed.deploy.cluster import Cluster


def as_plan(plan: str | PathLike[str] | Plan) -> Plan:
    """Return a plan that is given as an object, by its path, or as text.

    Raises:
        ScenarioError: the plan is invalid.
        OSError: the file cannot be read.
    """
    if isinstance(plan, Plan):
        return plan
    where = fspath(plan)
    return Plan.parse(where) if "\n" in where else Plan.read(where)


@dataclass
class Forecast:
    """The runs that a sweep would make."""

    points: int
    runs: int
    kept: int
    """The number of runs that are already finished."""
    seconds: float | None
    """Estimated time for the others on one core, in seconds; ``None`` if no run of this plan is finished."""


def forecast(plan: Plan, store: str | PathLike[str] | None = None) -> Forecast:
    """Check a plan and estimate the runs that a sweep would make; with a stop rule, the fewest.

    Raises:
        ScenarioError: the plan, or a point of it, is invalid.
        OSError: the store cannot be read.
    """
    wanted = {key for keys in Points(plan).check(_first_seeds(plan)) for key in keys}
    try:
        with Store(store, create=False) as opened:
            kept, each = len(opened.kept(wanted)), opened.processor_s(wanted)
    except FileNotFoundError:
        kept, each = 0, None
    return Forecast(len(Points(plan)), len(wanted), kept, None if each is None else each * (len(wanted) - kept))


def run(
    plan: str | PathLike[str] | Plan,
    store: str | PathLike[str] | None,
    on: str | AbstractContextManager[Executor] | Client | Cluster | None,
    threads: int | None,
    progress: Report | None,
    allow_python: bool,
) -> Sweep:
    """Run a sweep; arguments and errors are those of :func:`ackclock.sweep`."""
    with allowing(allow_python):
        job = Job(as_plan(plan), progress)
        with Store(store) as opened, executor(on, threads) as runs_on:
            return job.run(opened, runs_on)


class Job:
    """One running sweep."""

    def __init__(self, plan: Plan, progress: Report | None = None) -> None:
        """Check all points of a plan.

        Raises:
            ScenarioError: a point is invalid.
        """
        self.plan, self.progress = plan, progress or (lambda _: None)
        self.points = Points(plan)
        seeds = _first_seeds(plan)
        entries = [
            Entry.of(list(point.values), seeds, keys)
            for point, keys in zip(self.points, self.points.check(seeds), strict=True)
        ]
        self.manifest = Manifest(plan.name, plan.to_toml(), plan.scenario.text, self.points.names, entries)

    def run(self, store: Store, executor: Executor) -> Sweep:
        """Make the missing runs, and the table.

        Raises:
            OSError: the store cannot be written.
            Exception: an error that a run raised.
        """
        before, content, note = _before(store, self.plan.name)
        if before and content and replace(before, finished=None, sha256=None) == self.manifest and self._kept(store):
            return Sweep(before, content)
        self.manifest.write(store)
        lab = Laboratory(store, executor, _Rounds(self.progress).show)
        self._make(lab)
        if self.plan.stop:
            self._until_narrow(self.plan.stop, store, lab)
        content = table.save(self.manifest, store)
        self.manifest.sha256 = manifests.digest(content)
        self.manifest.finished = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.manifest.write(store)
        return Sweep(self.manifest, content, (*((note,) if note else ()), *self._unused(store)))

    def _kept(self, store: Store) -> bool:
        """Whether the store has every run of the manifest, so that nothing is left to do."""
        if any(len(store.kept(point.keys)) < len(set(point.keys)) for point in self.manifest.points):
            return False
        wanted = len(set(self.manifest.keys()))
        self.progress(Progress(wanted, wanted, wanted))
        return True

    def _unused(self, store: Store) -> list[str]:
        """Remarks on stacks that lack parameters which the scenario sets."""
        if "stack" not in self.manifest.parameters:
            return []
        firsts = store.runs(point.keys[0] for point in self.manifest.points)
        return unused_notes([json.loads(run) for run in firsts if '"unused_parameters"' in run])

    def _make(self, lab: Laboratory) -> None:
        """Make the missing runs of the manifest."""
        points = (
            Wanted(point.task, entry.seeds, entry.keys)
            for point, entry in zip(self.points, self.manifest.points, strict=True)
        )
        lab.make(self.plan.name, self.manifest.keys(), points)

    def _until_narrow(self, stop: Stop, store: Store, lab: Laboratory) -> None:
        """Double the seeds of points with too wide an interval, until none is left.

        The decision for a point depends only on the runs with its own first seeds, so the set of runs does not depend
        on the order in which they finished.
        """
        open_points = set(range(len(self.manifest.points)))
        while open_points := {at for at in open_points if not _enough(self.manifest.points[at], stop, store)}:
            for at, point in enumerate(self.points):
                if at in open_points:
                    entry = self.manifest.points[at]
                    first, count = entry.seeds[0], min(2 * len(entry.seeds), stop.at_most)
                    more = range(first + len(entry.seeds), first + count)
                    seeds, keys = [*entry.seeds, *more], [*entry.keys, *point.keys(more)]
                    self.manifest.points[at] = Entry.of(entry.values, seeds, keys)
            self.manifest.write(store)
            self._make(lab)


class _Rounds:
    """Progress over the rounds of a sweep: runs from an earlier round do not count as stored before."""

    def __init__(self, report: Report) -> None:
        self._report, self._made, self._last = report, 0, Progress(0, 0, 0)

    @contextmanager
    def show(self, _: str) -> Iterator[Report]:
        """Start the next round."""

        def report(progress: Progress) -> None:
            self._last = progress
            self._report(replace(progress, kept=progress.kept - self._made))

        yield report
        self._made += round(self._last.done) - self._last.kept


def _enough(entry: Entry, stop: Stop, store: Store) -> bool:
    """Whether a point needs no more seeds."""
    if len(entry.seeds) >= stop.at_most:
        return True
    runs = [json.loads(run) for run in store.runs(entry.keys)]
    flows = range(len(runs[0]["flows"]))
    return all(_narrow([number(run, flow, stop.column) for run in runs], stop) for flow in flows)


def _narrow(values: Sequence[float | None], stop: Stop) -> bool:
    known = [float(value) for value in values if value is not None]
    if len(known) < 2:  # noqa: PLR2004 - one value has no interval
        return False
    mean, half = interval(known)
    return half is not None and half <= (stop.half_width * abs(mean) if stop.relative else stop.half_width)


def _first_seeds(plan: Plan) -> list[int]:
    first = plan.seeds[0]
    return list(range(first, first + plan.stop.at_least)) if plan.stop else plan.seeds


def _before(store: Store, name: str) -> tuple[Manifest | None, bytes | None, str | None]:
    """Return the files of an earlier sweep of this name: manifest and table if intact, and a remark if not."""
    try:
        before = manifests.read(store, name)
    except KeyError:
        return None, None, None
    except OSError as error:
        return None, None, str(error)
    file = manifests.folder_of(store, name) / manifests.TABLE
    if before.finished is None or not file.exists():
        return None, None, None
    content = table.intact(before, store)
    return before, content, None if content else f"{file}: damaged; rebuilt from the kept runs"
