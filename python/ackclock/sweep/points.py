"""The points of a plan: each is the scenario with one combination of values."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import tomli_w

from ackclock import _native
from ackclock.document import Value, paths, refusal, written
from ackclock.errors import ScenarioError
from ackclock.runs.store.keys import Keys, asked_of, stretches
from ackclock.runs.task import Task
from ackclock.runs.trial import carried, unquoted
from ackclock.slots import pickled, used
from ackclock.sweep.plan import Plan

Pickled = tuple[tuple[str, bytes], ...]
"""Algorithms in Python in the form that tasks hold."""


@dataclass(frozen=True)
class Point:
    """One combination of values."""

    index: int
    """Its position in the plan."""
    values: tuple[Value, ...]
    """Values of the parameters, in their order."""
    rows: tuple[int, ...]
    """Its position on each axis."""
    task: Task
    """The task that runs it with its first seed."""
    asked: str
    """Optional reports of its runs: see ``ackclock.runs.store.keys``."""

    def keys(self, seeds: Sequence[int]) -> Keys:
        """Return the keys in the store of its runs with these seeds.

        Raises:
            ScenarioError: the scenario is invalid with its values.
        """
        identities = []
        for first, count in stretches(seeds):
            identities += replace(self.task, first=first, count=count).identities()
        return Keys.of(identities, self.asked)


class Points:
    """All points of a plan in order; the parameter written last varies fastest."""

    def __init__(self, plan: Plan) -> None:
        """Put markers into the varied places of the scenario; each point's text is made by replacing them."""
        self.plan = plan
        self.names = [name for axis in plan.axes for name in axis.nodes]
        varied = [paths.parse(name) or () for name in self.names]
        document = carried(plan.scenario.document, Path(plan.scenario.file).parent, varied)
        run = document.get("run")
        if isinstance(run, dict):
            run.pop("seeds", None)
            run.pop("seed", None)
        base = hashlib.sha256(plan.scenario.text.encode()).hexdigest()[:16]
        self._marks: list[str | None] = []
        for i, name in enumerate(self.names):
            steps = None if _for_every_flow(name) else paths.parse(name)
            if steps is not None:
                paths.put(document, steps, f"{base}-{i}")
            self._marks.append(None if steps is None else f'"{base}-{i}"')
        self._texts = [[tuple(map(written, values)) for values in axis.rows] for axis in plan.axes]
        """The values of each row of each axis, as in a plan."""

        self._template = tomli_w.dumps(document)
        self._algorithms: dict[int, Pickled] = {}
        """Algorithms of the points that name some, as they were when the points were checked."""
        self._pickles: dict[tuple[str, ...], Pickled] = {}
        self._run: dict[str, Value] = dict(run) if isinstance(run, dict) else {}

    def __len__(self) -> int:
        """The number of points."""
        return math.prod(len(axis.rows) for axis in self.plan.axes)

    def __iter__(self) -> Iterator[Point]:
        """Yield the points in order."""
        axes = self.plan.axes
        for index, rows in enumerate(itertools.product(*(range(len(axis.rows)) for axis in axes))):
            values = tuple(v for axis, row in zip(axes, rows, strict=True) for v in axis.rows[row])
            yield self._point(index, rows, values)

    def check(self, seeds: Sequence[int]) -> list[Keys]:
        """Return the keys of all points' runs with these seeds; afterwards, tasks include the algorithms in Python.

        Raises:
            ScenarioError: a point is invalid; the error names the place in the plan if the plan caused it.
        """
        found = []
        for point in self:
            try:
                found.append(point.keys(seeds))
            except ScenarioError as error:
                raise self._refusal(point, unquoted(error, self.plan.scenario.document)) from None
            if any("python" in text for text in (point.task.text, *(value for _, value in _options(point.task)))):
                self._algorithms[point.index] = self._pickled(point.task)
        return found

    def _point(self, index: int, rows: tuple[int, ...], values: tuple[Value, ...]) -> Point:
        text, stack, options, run = self._template, None, [], dict(self._run)
        texts = (said for axis, row in zip(self._texts, rows, strict=True) for said in axis[row])
        for name, mark, value, said in zip(self.names, self._marks, values, texts, strict=True):
            if mark is not None:
                text = text.replace(mark, said)
                _put_in(run, name, value)
            elif name == "stack":
                stack = value if isinstance(value, str) else said
            else:
                path = name.removeprefix("set.")
                options.append((path, value if isinstance(value, str) else said))
        task = Task(
            self.plan.scenario.file,
            text,
            stack,
            tuple(options),
            self.plan.seeds[0],
            1,
            algorithms=self._algorithms.get(index, ()),
        )
        return Point(index, values, rows, task, asked_of(run))

    def _pickled(self, task: Task) -> Pickled:

        folder = Path(task.name).parent
        sources = tuple(used(task.text, _options(task), folder, task.name))
        if sources not in self._pickles:
            self._pickles[sources] = pickled(task.text, _options(task), folder, task.name)
        return self._pickles[sources]

    def _refusal(self, point: Point, error: ScenarioError) -> ScenarioError:
        """Locate the engine's error about a point in the plan, if the plan caused it."""
        option = (error.key or "").removeprefix("--").replace("set ", "set.", 1) if error.file == "command line" else ""
        steps = paths.parse(error.key or "") or ()
        for axis, row in zip(self.plan.axes, point.rows, strict=True):
            for name in axis.nodes:
                if name == option or (steps and paths.within(paths.parse(name) or (), steps)):
                    place = axis.place(name, row)
                    return refusal(place.file, place.line, place.path, error.found, error.allowed, error.hint)
        scenario = self.plan.scenario
        try:
            _native.identities(scenario.file, scenario.text, None, (), self.plan.seeds[0], 1)
        except ScenarioError as alone:
            return alone
        values = ", ".join(f"{n} = {written(v)}" for n, v in zip(self.names, point.values, strict=True))
        found = f"{error.found} at the point {values}"
        return refusal(self.plan.file, None, error.key, found, error.allowed, error.hint)


def _options(task: Task) -> tuple[tuple[str, str], ...]:
    """Parameters of every flow's stack: those for all stacks, and the stack's own."""
    return (*task.set, *_native.own_parameters(task.stack or ""))


def _for_every_flow(name: str) -> bool:
    return name == "stack" or name.startswith("set.")


def _put_in(run: dict[str, Value], name: str, value: Value) -> None:
    """Set a parameter's value in the table ``[run]``, if it belongs there and affects the reports."""
    if name in {"run.reordering", "run.measures"}:
        run[name.removeprefix("run.")] = value
    elif name == "run.measures.bins":
        run["measures"] = {"bins": value}


def as_cell(value: Value) -> str | int | float:
    """A value in the form that a table holds: booleans, lists and tables become text."""
    return json.dumps(value) if isinstance(value, bool | list | dict) else value
