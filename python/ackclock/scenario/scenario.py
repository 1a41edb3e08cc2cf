"""A scenario as an object."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import tomli_w

from ackclock import _native, files
from ackclock.document.paths import parse
from ackclock.document.permission import allowing
from ackclock.errors import ScenarioError, unwritten
from ackclock.scenario.background import Background
from ackclock.scenario.dumbbell import Dumbbell
from ackclock.scenario.flows import Flow
from ackclock.scenario.html import html
from ackclock.scenario.links import Link
from ackclock.scenario.part import Toml, given, plain, setting

TABLES = {"links": "link", "flows": "flow", "background": "background", "dumbbell": "dumbbell"}
"""Attributes that are tables of a file, with their names there."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Scenario:
    """The duration and the seeds of runs, the links, and the flows that use them.

    Set either ``links`` and ``flows``, or ``dumbbell``. Quantities are text with a unit, as in a file. Nothing is
    checked before :meth:`check`, which every function that takes a scenario calls first.

    >>> from ackclock.scenario import Bernoulli, Flow, Link, Scenario
    >>> lossy = Link(from_="S", to="D", rate="5 Mbps", delay="50 ms", elements=[Bernoulli(p=0.01)])
    >>> Scenario(duration="60 s", links=[lossy], flows=[Flow(from_="S", to="D", stack="reno")], seeds=range(1, 31))
    <ackclock.Scenario: scenario, 60 s, 30 seeds, 1 link, 1 flow>
    """

    name: str = "scenario"
    """A name for people; error messages use it for the scenario."""
    duration: str
    """Simulated time, above zero and at most 39 hours, as in ``"600 s"``."""
    seed: int | None = None
    """The only seed. Default: 1, if ``seeds`` is not set either."""
    seeds: Sequence[int] | None = None
    """The seeds, one run for each: a list, or a range such as ``range(1, 31)``."""
    reordering: bool = False
    """Whether to measure the reordering of each flow's packets (RFC 4737); runs stay the same."""
    measures: bool | Mapping[str, str] = False
    """Whether to measure totals, delays, completion times and the traffic on links. ``{"bins": "1 s"}`` also measures
    each interval of this length. Runs stay the same."""
    links: Sequence[Link] = ()
    """The links. For events at the same nanosecond, the link listed first comes first."""
    flows: Sequence[Flow] = ()
    """The flows."""
    background: Sequence[Background] = ()
    """Traffic beside the flows. It is counted separately, and settings for every flow do not affect it."""
    dumbbell: Dumbbell | None = None
    """Replaces links and flows: senders S1, S2, … at router R1, receivers D1, D2, … at router R2."""

    def __post_init__(self) -> None:
        """Convert lists to tuples, so that the scenario cannot be changed."""
        for name in ("links", "flows", "background"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.seeds is not None and not isinstance(self.seeds, range):
            object.__setattr__(self, "seeds", tuple(self.seeds))

    @classmethod
    def read(cls, path: str | PathLike[str], *, allow_python: bool = False) -> Scenario:
        """Read a scenario file. Paths of other files in it become absolute.

        Args:
            path: path of the file.
            allow_python: as for :func:`ackclock.run`; a scenario is checked when it is read.

        Raises:
            ScenarioError: the file cannot be read, or the scenario is invalid.
        """
        file = Path(path)
        try:
            text = files.text(path)
        except (OSError, UnicodeDecodeError):
            text = None  # the engine reports the error
        with allowing(allow_python):
            _native.check(str(path), text)
        table = json.loads(_native.read_toml(str(path), text or ""))["value"]
        return cls._of(_elsewhere(table, file.parent.absolute()), file.stem)

    @classmethod
    def from_toml(cls, text: str, name: str = "scenario", *, allow_python: bool = False) -> Scenario:
        """Read the text of a scenario file.

        Args:
            text: TOML.
            name: the name that error messages use, and the scenario's name if the text has none.
            allow_python: as for :func:`ackclock.run`; a scenario is checked when it is read.

        Raises:
            ScenarioError: the scenario is invalid.
        """
        with allowing(allow_python):
            _native.check(name, text)
        return cls._of(json.loads(_native.read_toml(name, text))["value"], name)

    @classmethod
    def _of(cls, table: Mapping[str, Any], name: str) -> Scenario:
        """Build a scenario from a table that the native reader has validated."""
        run: dict[str, Any] = dict(table["run"])
        if isinstance(run.get("seeds"), Mapping):
            first = run["seeds"].get("first", 1)
            run["seeds"] = range(first, first + run["seeds"]["count"])
        lists = (("links", Sequence[Link]), ("flows", Sequence[Flow]), ("background", Sequence[Background]))
        parts = {at: given(hint, table.get(TABLES[at], [])) for at, hint in lists}
        dumbbell = given(Dumbbell, table["dumbbell"]) if "dumbbell" in table else None
        return cls(name=table.get("name", name), **run, **parts, dumbbell=dumbbell)

    def to_dict(self) -> dict[str, Any]:
        """Return the tables of its file, as ``tomllib`` would read them."""
        run: dict[str, Any] = {"duration": plain(self.duration, "Scenario.duration")}
        if self.seed is not None:
            run["seed"] = plain(self.seed, "Scenario.seed")
        if isinstance(self.seeds, range) and self.seeds.step == 1 and self.seeds:
            run["seeds"] = {"first": self.seeds.start, "count": len(self.seeds)}
        elif self.seeds is not None:
            run["seeds"] = plain(self.seeds, "Scenario.seeds")
        if self.reordering:
            run["reordering"] = True
        if self.measures:
            run["measures"] = plain(self.measures, "Scenario.measures")
        parts = {key: plain(getattr(self, at), f"Scenario.{at}") for at, key in TABLES.items() if getattr(self, at)}
        return {"name": plain(self.name, "Scenario.name"), "run": run, **parts}

    def to_toml(self) -> str:
        """Return the text of its file; reading it gives the same scenario."""
        return tomli_w.dumps(self.to_dict())

    def check(self, *, allow_python: bool = False) -> None:
        """Check that the scenario can be run; nothing is run.

        Args:
            allow_python: as for :func:`ackclock.run`.

        Raises:
            ScenarioError: it cannot be run; ``key`` is the path in a file, as in ``link[1].rate``, ``line`` is
                ``None``.
            TypeError: a value in it is not a part of a scenario.
        """
        with unwritten(), allowing(allow_python):
            _native.check(self.name, self.to_toml())

    def replace(self, path: str, value: object, *, allow_python: bool = False) -> Scenario:
        """Return a scenario with one value replaced.

        Args:
            path: the place as in a file: ``run.duration``, ``link[1].elements[0].count``, ``flow[0].set."rto.min"``.
            value: the new value: text, a number, or a part; ``None`` removes the key.
            allow_python: as for :func:`ackclock.run`.

        Raises:
            ScenarioError: there is no such place, or the scenario would be invalid.
        """
        table = self.to_dict()
        self._put(table, path, value)
        with unwritten(), allowing(allow_python):
            _native.check(self.name, tomli_w.dumps(table))
        return self._of(table, self.name)

    def _put(self, table: dict[str, Any], path: str, value: object) -> None:
        """Set the value at a path. Missing tables on the way are created."""
        steps = parse(path)
        if steps is None:
            raise self._refused(path, f'"{path}"', "the path of a key, as in link[1].rate")
        at: Any = table
        for i, step in enumerate(steps):
            if isinstance(step, int) and not (isinstance(at, list) and step < len(at)):
                there = f"{len(at)} of them" if isinstance(at, list) else "no list"
                raise self._refused(path, there, "an existing index, from 0")
            if isinstance(step, str) and not isinstance(at, dict):
                raise self._refused(path, json.dumps(at, ensure_ascii=False), f"a table with the key {step}")
            if i + 1 < len(steps):
                at = at[step] if isinstance(step, int) else at.setdefault(step, {})
            elif value is None and isinstance(at, dict):
                at.pop(step, None)
            else:
                at[step] = (setting if "set" in steps else plain)(value, path)

    def _refused(self, path: str, found: str, allowed: str) -> ScenarioError:
        message = f"{self.name}: key `{path}`: found {found}, allowed: {allowed}"
        return ScenarioError(message, self.name, None, path, found, allowed, None)

    def __repr__(self) -> str:
        """The name, and the size of the scenario."""
        return f"<ackclock.Scenario: {self.name}, {self.summary}>"

    @property
    def summary(self) -> str:
        """Duration and size of the scenario in a few words."""
        seeds = 1 if self.seeds is None else len(self.seeds)
        flows = self.dumbbell.flows if self.dumbbell else self.flows
        counts = {"seed": seeds, "link": len(self.links), "flow": sum(flow.count or 1 for flow in flows)}
        counts["table of background traffic"] = len(self.background)
        words = [f"{n} {what}{'s' * (n > 1)}" for what, n in counts.items() if n]
        return ", ".join([self.duration, *words])

    def _repr_html_(self) -> str:
        """Tables of links and flows, for notebooks."""
        return html(self.name, self.summary, self.to_dict())


def _elsewhere(value: Toml, folder: Path) -> Toml:
    """A table in which paths of other files do not depend on the scenario's folder."""
    if isinstance(value, list):
        return [_elsewhere(inner, folder) for inner in value]
    if not isinstance(value, Mapping):
        return value
    table = {key: _elsewhere(inner, folder) for key, inner in value.items()}
    if "kind" in table and isinstance(table.get("file"), str):
        table["file"] = str(folder / table["file"])
    return table
