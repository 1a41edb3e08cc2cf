"""The plan of a sweep: a scenario, the parameters to vary, and the seeds."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import tomli_w

from ackclock import files
from ackclock.document import Node, Value, natural, nearest, refusal
from ackclock.slots import setting
from ackclock.sweep import axes
from ackclock.sweep.columns import MEANS, MEASURED

KEYS = ("name", "scenario", "seeds", "stop", "grid", "coupled", "random")
MOST_SEEDS = 10**6
LAST_SEED = 2**63 - 1
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]{0,99}")
_SEEDS = "a list, or a table as in { first = 1, count = 30 }"
_HALF = 'a number, or a share of the mean as in "1 %"'


@runtime_checkable
class Written(Protocol):
    """A scenario that can be written as TOML, such as ``ackclock.Scenario``."""

    @property
    def name(self) -> str | None:
        """Its name."""

    def to_toml(self) -> str:
        """The scenario as TOML."""


@dataclass(frozen=True)
class Scenario:
    """The scenario of a plan."""

    file: str
    """The name that error messages use for it; files that it names are in the same folder."""
    text: str
    document: dict[str, Any]


@dataclass(frozen=True)
class Stop:
    """A stop rule: seeds are added to a point until the interval of a column is narrow enough for every flow."""

    column: str
    half_width: float
    """Half the width of the 95 % confidence interval: an absolute value, or a share of the mean."""
    relative: bool
    at_least: int
    at_most: int


class Plan:
    """A validated plan of many runs.

    >>> import ackclock as ak
    >>> plan = ak.Plan(
    ...     "swaps.toml",
    ...     grid={"stack": ["sack-ff96", "dsack-avg"], "link[1].elements[0].count": [0, 3, 6, 12]},
    ...     seeds={"first": 1, "count": 30},
    ... )  # doctest: +SKIP

    Attributes:
        name: name of the sweep, and of its folder in the store.
        scenario: the scenario that is varied.
        axes: the varied parameters.
        seeds: the seeds of every point; with a stop rule, only the first ones.
        stop: the stop rule, if there is one.
    """

    def __init__(
        self,
        scenario: str | PathLike[str] | Written,
        *,
        name: str | None = None,
        seeds: Mapping[str, int] | Sequence[int] | None = None,
        stop: Mapping[str, Value] | None = None,
        grid: Mapping[str, Value] | None = None,
        coupled: Sequence[Mapping[str, Sequence[Value]]] = (),
        random: Mapping[str, Value] | None = None,
    ) -> None:
        """Make a plan from the same values as a plan's file has, with the same checks.

        Args:
            scenario: path of a scenario's file, the text of one, or an ``ackclock.Scenario``.
            name: name of the plan. Default: the scenario's name.
            seeds: ``{"first": 1, "count": 30}``, or a list. Default: the scenario's seeds.
            stop: the stop rule: ``column``, ``half_width``, ``at_least``, ``at_most``.
            grid: parameters with a list or a range of values each; every combination is a point.
            coupled: tables of parameters that change in step.
            random: ``samples``, ``seed``, and the distribution of each parameter.

        Raises:
            ScenarioError: a value is invalid, or the scenario's file cannot be read.
            TypeError: TOML cannot represent a value.
        """
        given = {"name": name, "seeds": seeds, "stop": stop, "grid": grid, "coupled": coupled or None, "random": random}
        if isinstance(scenario, Written):
            source, called = scenario.to_toml(), scenario.name
        else:
            source = fspath(scenario)
            called = None if "\n" in source else Path(source).stem
        document = {"name": called or "sweep", "scenario": source} | {k: v for k, v in given.items() if v is not None}
        self._read(Node("plan", {}, "", plain(document)), Path())

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Plan:
        """Read a plan's file.

        Raises:
            ScenarioError: the plan is invalid, with the line; or the file cannot be read.
        """
        file = Path(path)
        try:
            text = files.text(file)
        except UnicodeDecodeError as error:
            raise refusal(fspath(path), None, None, error.reason, "text in UTF-8") from None
        except OSError as error:
            found = f"no readable file ({error.strerror})"
            raise refusal(fspath(path), None, None, found, "the path of a plan in TOML") from None
        return cls.parse(text, fspath(path))

    @classmethod
    def parse(cls, text: str, file: str = "plan.toml") -> Plan:
        """Read the text of a plan.

        Args:
            text: TOML.
            file: the name that error messages use for it; the scenario's path is relative to its folder.

        Raises:
            ScenarioError: the plan is invalid, or the scenario's file cannot be read.
        """
        plan = cls.__new__(cls)
        plan._read(Node.read(file, text), Path(file).parent, text)
        return plan

    def to_toml(self) -> str:
        """The plan as TOML; for a plan that was read, the original text."""
        return self._text if self._text is not None else tomli_w.dumps(self._root.value)

    def __repr__(self) -> str:
        """The name, and the varied parameters."""
        names = [name for axis in self.axes for name in axis.nodes]
        return f"<ackclock.Plan: {self.name}, over {', '.join(names)}>"

    def _read(self, root: Node, folder: Path, text: str | None = None) -> None:
        keys = root.keys(KEYS, "a table")
        self._root, self._text, self.file = root, text, root.file
        self.name = keys["name"].text("a name") if "name" in keys else Path(root.file).stem
        if not _NAME.fullmatch(self.name):
            raise keys.get("name", root).refuse("a name of letters, digits, _, -, . and spaces", f'"{self.name}"')
        if "scenario" not in keys:
            raise root.refuse("a table with `scenario`, the path of a scenario file", "no `scenario`")
        self.scenario = _scenario(keys["scenario"], folder)
        if not {"grid", "coupled", "random"} & keys.keys():
            raise root.refuse("[grid], [[coupled]] or [random] with one parameter or more", "no parameter")
        self.axes = axes.read(keys, self.scenario.document, Path(self.scenario.file).name)
        self.stop = _stop(keys["stop"], self._measured()) if "stop" in keys else None
        self.seeds = self._seeds(keys.get("seeds"))

    def _measured(self) -> bool:
        """Whether the runs of every point have measures."""
        run = self.scenario.document.get("run")
        varied = {name for axis in self.axes for name in axis.nodes}
        return isinstance(run, dict) and bool(run.get("measures", False)) and "run.measures" not in varied

    def _seeds(self, node: Node | None) -> list[int]:
        if node is None:
            listed = _own_seeds(self.scenario)
            return listed[:1] if self.stop else listed
        if self.stop and (isinstance(node.value, list) or "count" in node.table(_SEEDS)):
            raise node.refuse("{ first = 1 } together with `stop`, which sets their number", "a number of seeds")
        return read_seeds(node, bool(self.stop))


def read_seeds(node: Node, stopped: bool = False) -> list[int]:
    """Return the seeds that a plan lists; with a stop rule, the first ones.

    Raises:
        ScenarioError: the seeds are invalid.
    """
    if isinstance(node.value, list):
        items = node.items(_SEEDS)
        if not 1 <= len(items) <= MOST_SEEDS:
            raise node.refuse(f"1 to {MOST_SEEDS} seeds", f"{len(items)} of them")
        seeds = [item.whole(0, LAST_SEED) for item in items]
        seen: set[int] = set()
        for item, seed in zip(items, seeds, strict=True):
            if seed in seen:
                raise item.refuse("each seed once", f"{seed} a second time")
            seen.add(seed)
        return seeds
    keys = node.keys(["first", "count"], _SEEDS)
    first = keys["first"].whole(0, LAST_SEED - MOST_SEEDS) if "first" in keys else 1
    if stopped:
        return [first]
    if "count" not in keys:
        raise node.refuse(_SEEDS, "no `count`")
    return list(range(first, first + keys["count"].whole(1, MOST_SEEDS)))


def plain(value: object) -> Value:
    """Convert a value to TOML's types: sequences become lists, and algorithms in Python the tables that name them."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Sequence):
        return [plain(inner) for inner in value]
    if (known := natural(value)) is not value:
        return plain(known)

    # Algorithms in Python; `setting` refuses anything else.
    return tomllib.loads(f"value = {setting(value)}")["value"]


def _scenario(node: Node, folder: Path) -> Scenario:
    given = node.text("the path of a scenario file, or its text")
    if "\n" in given:
        file, text = str(folder / "scenario"), given
    else:
        file = str(folder / given)
        try:
            text = files.text(file)
        except OSError as error:
            allowed = "the path of a scenario file, relative to the plan; or its text"
            raise node.refuse(allowed, f"{node.written} (no readable file: {error.strerror})") from None
        except UnicodeDecodeError as error:
            raise refusal(file, None, None, error.reason, "text in UTF-8") from None
    return Scenario(file, text, Node.read(file, text).value)


def _own_seeds(scenario: Scenario) -> list[int]:
    """The seeds of the scenario, if valid; an invalid scenario is reported when its points are checked."""
    run = scenario.document.get("run")
    said = run.get("seeds", run.get("seed", 1)) if isinstance(run, dict) else 1
    listed = [said] if isinstance(said, int) else said
    return read_seeds(Node(scenario.file, {}, "run.seeds", listed))


def _stop(node: Node, measured: bool) -> Stop:
    keys = node.keys(["column", "half_width", "at_least", "at_most"], "a table with `column` and `half_width`")
    for needed in ("column", "half_width"):
        if needed not in keys:
            raise node.refuse("a table with `column` and `half_width`", f"no `{needed}`")
    column = keys["column"].text("the name of a column")
    if column not in MEANS and not (measured and column in MEASURED):
        known = (*MEANS, *MEASURED) if measured else MEANS
        more = "" if measured else "; more with `run.measures = true` in the scenario"
        raise keys["column"].refuse(f"one of {', '.join(known)}{more}", hint=nearest(column, known))
    at_least = keys["at_least"].whole(2, MOST_SEEDS) if "at_least" in keys else 5
    default = max(200, at_least)
    at_most = keys["at_most"].whole(at_least, MOST_SEEDS) if "at_most" in keys else default
    half, relative = _half_width(keys["half_width"])
    return Stop(column, half, relative, at_least, at_most)


def _half_width(node: Node) -> tuple[float, bool]:
    said = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", node.value) if isinstance(node.value, str) else None
    number = float(said[1]) / 100 if said else node.value
    if isinstance(number, bool) or not isinstance(number, int | float) or not number > 0:
        raise node.refuse(_HALF)
    return float(number), said is not None
