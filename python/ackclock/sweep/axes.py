"""The axes of a plan: each varies one parameter, or several in step, over a list of values."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.document import Node, Value, nearest, paths, written
from ackclock.sweep import values

MOST_POINTS = 10**7
_GRID = 'a list of values, or a range as in { from = "1 ms", to = "100 ms", count = 5, spacing = "log" }'
_RANDOM = 'a table with one of uniform, log_uniform and choice, as in { uniform = ["10 ms", "100 ms"] }'
_TABLE = "a table of parameters"


@dataclass(frozen=True)
class Axis:
    """An axis; each step along it is one row of values."""

    nodes: Mapping[str, Node]
    """The node of each parameter in the plan."""
    rows: Sequence[tuple[Value, ...]]

    def place(self, name: str, row: int) -> Node:
        """Return the node in the plan for a parameter's value in a row."""
        node = self.nodes[name]
        return node.items("")[row] if isinstance(node.value, list) else node


def read(plan: Mapping[str, Node], document: Mapping[str, Any], scenario: str) -> list[Axis]:
    """Read the axes of a plan: each parameter of the grid, each coupled table, the random samples.

    Args:
        plan: the values of the plan by key.
        document: its scenario.
        scenario: the scenario's name, for messages.

    Raises:
        ScenarioError: an axis is invalid.
    """
    axes: list[Axis] = []
    if "grid" in plan:
        axes += [Axis({name: node}, [(v,) for v in _listed(node)]) for name, node in _filled(plan["grid"]).items()]
    if "coupled" in plan:
        axes += [_coupled(node) for node in plan["coupled"].items("tables [[coupled]]")]
    if "random" in plan:
        axes.append(_random(plan["random"]))
    names = [(name, node) for axis in axes for name, node in axis.nodes.items()]
    for at, (name, node) in enumerate(names):
        _check(name, node, document, scenario)
        for other, before in names[:at]:
            _apart(name, node, other, before)
    points = 1
    for axis in axes:
        points *= len(axis.rows)
        if points > MOST_POINTS:
            raise next(iter(axis.nodes.values())).refuse(f"at most {MOST_POINTS:,} points", "more of them")
    return axes


def _filled(node: Node) -> dict[str, Node]:
    table = node.table(_TABLE)
    if not table:
        raise node.refuse("one parameter or more", "none")
    return table


def _listed(node: Node) -> list[Value]:
    """The values of a parameter of the grid."""
    if isinstance(node.value, list):
        return _distinct(node)
    keys = node.keys(["from", "to", "count", "spacing", "whole"], _GRID)
    for needed in ("from", "to", "count"):
        if needed not in keys:
            raise node.refuse(_GRID, f"no `{needed}`")
    spacing = keys["spacing"].text("linear, log") if "spacing" in keys else "linear"
    if spacing not in {"linear", "log"}:
        raise keys["spacing"].refuse("linear, log", hint=nearest(spacing, ["linear", "log"]))
    count = keys["count"].whole(2, 10**6)
    whole = "whole" in keys and keys["whole"].truth()
    span = values.span(keys["from"], keys["to"], spacing == "log", whole)
    found = [span.at(values.share(i, count - 1)) for i in range(count)]
    if any(a == b for a, b in itertools.pairwise(found)):
        raise keys["count"].refuse("few enough that rounded values differ", f"{count}, and {written(found[0])} twice")
    return found


def _distinct(node: Node) -> list[Value]:
    """The values of a list, which must not be empty or have duplicates."""
    items = node.items(_GRID)
    if not items:
        raise node.refuse("one value or more", "an empty list")
    seen = set()
    for item in items:
        if (said := written(item.value)) in seen:
            raise item.refuse("each value once", f"{said} a second time")
        seen.add(said)
    return [item.value for item in items]


def _coupled(node: Node) -> Axis:
    nodes = _filled(node)
    columns = {name: [item.value for item in inner.items("a list of values")] for name, inner in nodes.items()}
    first, length = next((name, len(column)) for name, column in columns.items())
    for name, column in columns.items():
        if not column:
            raise nodes[name].refuse("one value or more", "an empty list")
        if len(column) != length:
            allowed = f"{length}, as many as `{first}`, with which it is coupled"
            raise nodes[name].refuse(allowed, f"{len(column)} value{'s' * (len(column) != 1)}")
    return Axis(nodes, list(zip(*columns.values(), strict=True)))


def _random(node: Node) -> Axis:
    nodes = _filled(node)
    samples, seed = nodes.pop("samples", None), nodes.pop("seed", None)
    if samples is None:
        raise node.refuse("also `samples`, the number of points to draw", "no `samples`")
    count = samples.whole(1, 10**6)
    start = seed.whole(0, 2**63 - 1) if seed else 1
    if not nodes:
        raise samples.refuse("one or more parameters to draw, together with it", "no parameter to draw")
    return Axis(nodes, list(zip(*(_drawn(name, inner, start, count) for name, inner in nodes.items()), strict=True)))


def _drawn(name: str, node: Node, seed: int, samples: int) -> list[Value]:
    keys = node.keys(["uniform", "log_uniform", "choice", "whole"], _RANDOM)
    kinds = [kind for kind in keys if kind != "whole"]
    if len(kinds) != 1:
        raise node.refuse(_RANDOM, f"{' and '.join(kinds) or 'none of them'}")
    ways = (values.unit_interval(seed, name, sample) for sample in range(samples))
    kind = kinds[0]
    if kind == "choice":
        if "whole" in keys:
            raise keys["whole"].refuse("only with uniform and log_uniform")
        listed = _distinct(keys[kind])
        return [listed[values.place(way, len(listed))] for way in ways]
    ends = keys[kind].items("two ends, as in [1, 10]")
    if len(ends) != 2:  # noqa: PLR2004 - two ends
        raise keys[kind].refuse("two ends, as in [1, 10]", f"{len(ends)} value{'s' * (len(ends) != 1)}")
    span = values.span(ends[0], ends[1], kind == "log_uniform", "whole" in keys and keys["whole"].truth())
    return [span.at(way) for way in ways]


def _check(name: str, node: Node, document: Mapping[str, Any], scenario: str) -> None:
    """Refuse a parameter that does not exist in the scenario."""
    if name == "stack" or (name.startswith("set.") and len(name) > len("set.")):
        return
    steps = paths.parse(name)
    allowed = f"`stack`, `set.PATH` of a stack parameter, or a path in {scenario}"
    if steps is None or len(steps) == 1:
        raise node.refuse(allowed, "not the path of a parameter", nearest(name, ["stack", *paths.every(document)]))
    if steps[:2] in {("run", "seed"), ("run", "seeds")}:
        raise node.refuse("the plan's key `seeds`", "a path to the scenario's seeds")
    if not paths.present(document, steps):
        hint = nearest(paths.spelled(steps), paths.every(document))
        raise node.refuse(allowed, "a path that the scenario does not have", hint)


def _apart(name: str, node: Node, other: str, before: Node) -> None:
    """Refuse two parameters if one would overwrite the other."""
    beside = f"`{other}`" + (f" in line {before.line}" if before.line else "")
    if name == other:
        raise node.refuse("a parameter in one place", f"the parameter a second time, beside {beside}")
    for_every_flow = any(of == "stack" or of.startswith("set.") for of in (name, other))
    if paths.within(_target(name, for_every_flow), _target(other, for_every_flow)):
        raise node.refuse("one of them", f"a parameter that conflicts with {beside}, since one replaces the other")


def _target(name: str, for_every_flow: bool) -> paths.Steps:
    """The parameter's place in the scenario; with ``for_every_flow`` the stacks of all flows count as one place."""
    if name == "stack":
        return ("flow", "stack")
    if name.startswith("set."):
        return ("flow", "set", *name.removeprefix("set.").split("."))
    steps = paths.parse(name) or ()
    flow = steps[1:] if steps[:1] == ("dumbbell",) else steps
    if for_every_flow and flow[:1] == ("flow",) and flow[2:3] in {("stack",), ("set",)}:
        # A parameter may be one quoted key, or nested tables.
        return ("flow", flow[2], *(part for step in flow[3:] for part in str(step).split(".")))
    return steps
