"""A tuning plan: a stack, the parameters to search, the paths to search on and the held-out paths."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from ackclock import _native
from ackclock.document import Node, Value, nearest, refusal
from ackclock.errors import ScenarioError
from ackclock.runs.network import (
    NetworkPath,
    Seeds,
    folder_name,
    named_text,
    needed,
    read_paths,
    setting,
    source,
)
from ackclock.tuning.parameter import Parameter, parameter

KEYS = ("name", "stack", "trials", "seed", "search", "seeds", "set", "parameters", "paths", "path", "held_out")
PATHS_KEYS = ("path", "held_out")
SEARCHES = ("tpe", "nsga-ii")
TRIALS, SEEDS, HELD_OUT_SEEDS = 300, 3, 30
MOST_TRIALS, MOST_SEEDS, LAST_SEED, LAST_SEARCH_SEED = 10**6, 10**6, 2**62, 2**32 - 1


@dataclass(frozen=True)
class Plan:
    """A valid plan."""

    name: str
    stack: str
    trials: int
    """The number of trials, including the defaults."""
    seed: int
    """Seed of the search."""
    search: str
    """The search method: one of ``SEARCHES``."""
    seeds: Seeds
    """Seeds of every trial's runs."""
    parameters: tuple[Parameter, ...]
    paths: tuple[NetworkPath, ...]
    """Paths of the search."""
    held_out: tuple[NetworkPath, ...]
    """Paths on which only the best are tried."""
    held_out_seeds: Seeds
    said: Mapping[str, Any]
    """The plan as it was read."""

    @cached_property
    def defaults(self) -> list[dict[str, Any]]:
        """The value of each parameter on each path of the search if no trial sets it; ``None`` if it has no default."""
        return [{p.path: _default(path, self.stack, p.path) for p in self.parameters} for path in self.paths]

    def default_point(self) -> dict[str, Any] | None:
        """The defaults as Optuna's values; ``None`` if one is not in the search, or they differ between paths."""
        first, *others = self.defaults
        point = {p.path: p.asked(first[p.path]) for p in self.parameters}
        return point if all(o == first for o in others) and None not in point.values() else None


def read(
    plan: str | PathLike[str] | Mapping[str, Any],
    *,
    trials: int | None = None,
    seed: int | None = None,
) -> Plan:
    """Read a plan and check everything that can be checked before a run.

    Args:
        plan: path of a plan, the text of one (a string with a line break), or its content as a dict.
        trials: the number of trials, instead of the plan's.
        seed: seed of the search, instead of the plan's.

    Raises:
        ScenarioError: the plan, or a scenario that it names, is invalid.
    """
    for key, given, least, most in (("trials", trials, 1, MOST_TRIALS), ("seed", seed, 0, LAST_SEARCH_SEED)):
        if given is not None and not least <= given <= most:
            raise refusal("tune", None, key, str(given), f"a whole number from {least} to {most}")
    file, said, folder = source(plan, "plan")
    root = Node.read(file, said)
    table = root.keys(KEYS, "a plan")
    stack = needed(root, table, "stack", "the name of a stack").text("the name of a stack")
    if stack not in (names := _native.stack_names()):
        raise table["stack"].refuse(f"one of {', '.join(names)}", hint=nearest(stack, names))
    seeds = _seeds(table.get("seeds"), Seeds(1, SEEDS))
    paths = _Paths(table, folder or Path(), stack)
    result = Plan(
        folder_name(table.get("name"), Path(file).stem if folder else None, "tuning"),
        stack,
        trials if trials is not None else table["trials"].whole(1, MOST_TRIALS) if "trials" in table else TRIALS,
        seed if seed is not None else table["seed"].whole(0, LAST_SEARCH_SEED) if "seed" in table else 1,
        _search(table.get("search")),
        seeds,
        _parameters(needed(root, table, "parameters", "a table with at least one parameter of the stack")),
        paths.read(needed(paths.root or root, paths.table, "path", "at least one table [[path]]")),
        paths.read(paths.held["path"]) if "path" in paths.held else (),
        paths.held_seeds(seeds),
        root.value | (paths.root.value if paths.root else {}),
    )
    _check(table["parameters"], result)
    return result


class _Paths:
    """Reads the paths of a plan, which are in the plan or in a file that it names."""

    def __init__(self, table: Mapping[str, Node], folder: Path, stack: str) -> None:
        self.table, self.folder, self.stack = table, folder, stack
        self.root: Node | None = None
        """The root of that file."""
        if "paths" in table:
            for key in PATHS_KEYS:
                if key in table:
                    raise table[key].refuse("either `paths`, or `path` and `held_out`")
            file, text = named_text(table["paths"], folder, "a file with [[path]] and [held_out]")
            self.root, self.folder = Node.read(file, text), Path(file).parent
            self.table = self.root.keys(PATHS_KEYS, "a file with [[path]] and [held_out]")
        what = "a table with `seeds` and `path`"
        self.held = self.table["held_out"].keys(("seeds", "path"), what) if "held_out" in self.table else {}
        self.everywhere = table["set"].table("a table of places and values") if "set" in table else {}

    def read(self, node: Node) -> tuple[NetworkPath, ...]:
        """Read the paths in a list."""
        return read_paths(node, self.folder, self.stack, self.everywhere)

    def held_seeds(self, seeds: Seeds) -> Seeds:
        """The held-out seeds; they are disjoint from the seeds of the search."""
        held = _seeds(self.held.get("seeds"), Seeds(seeds.last + 1, HELD_OUT_SEEDS))
        if seeds.first <= held.last and held.first <= seeds.last:
            others = f"seeds that the search does not use; it uses {seeds.first} to {seeds.last}"
            raise self.held["seeds"].refuse(others, f"{held.first} to {held.last}")
        return held


def _search(node: Node | None) -> str:
    allowed = " or ".join(SEARCHES)
    search = SEARCHES[0] if node is None else node.text(allowed)
    if node is not None and search not in SEARCHES:
        raise node.refuse(allowed, hint=nearest(search, SEARCHES))
    return search


def _seeds(node: Node | None, default: Seeds) -> Seeds:
    if node is None:
        return default
    said = node.keys(("first", "count"), "{ first = …, count = … }")
    first = said["first"].whole(0, LAST_SEED) if "first" in said else default.first
    return Seeds(first, said["count"].whole(1, MOST_SEEDS) if "count" in said else default.count)


def _parameters(node: Node) -> tuple[Parameter, ...]:
    what = "a table with at least one parameter of the stack"
    table = node.table(what)
    if not table:
        raise node.refuse(what, "an empty table")
    return tuple(parameter(path, said) for path, said in table.items())


def _check(node: Node, plan: Plan) -> None:
    """Refuse parameters that the stack does not have, and invalid choices and ends of ranges.

    Values that are invalid only in combination with another parameter are found by the search, trial by trial.
    """
    table = node.table("")
    for one in plan.parameters:
        for value in one.ends():
            try:
                plan.paths[0].task(plan.stack, ((one.path, setting(value)),), Seeds(1, 1)).identities()
            except ScenarioError as error:
                raise table[one.path].refuse(error.allowed, error.found, error.hint) from error


def _default(path: NetworkPath, stack: str, parameter: str) -> Value:
    """The value of a parameter of the stack on a path, if it is not set."""
    shown = _native.show_toml(path.file, path.text, stack, path.set, 1, 1)
    at: Any = tomllib.loads(shown)["flow"][0]["set"]
    for key in parameter.split("."):
        at = at.get(key) if isinstance(at, dict) else None
    return at
