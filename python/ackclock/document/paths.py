"""Paths of values in a scenario, as in ``link[1].elements[0].gap.exponential``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ackclock.document import quoted

Steps = tuple[str | int, ...]
"""Keys, and positions in lists."""
_STEP = re.compile(r'\.?(?:([A-Za-z0-9_-]+)|"([^"\\]*)")|\[(\d+)\]')


def parse(path: str) -> Steps | None:
    """Parse a path into steps; ``None`` if it is not a path."""
    steps: list[str | int] = []
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        # Keys are separated by a dot, and the first has none before it.
        if step is None or (step[3] is None and (step[0].startswith(".") is (at == 0))):
            return None
        steps.append(int(step[3]) if step[3] else step[1] or step[2])
        at = step.end()
    return tuple(steps) if steps and isinstance(steps[0], str) else None


def spelled(steps: Steps) -> str:
    """Format steps as a path."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{quoted(step)}" for step in steps)
    return text.removeprefix(".")


def within(one: Steps, other: Steps) -> bool:
    """Whether two places are equal, or one contains the other."""
    short = min(len(one), len(other))
    return one[:short] == other[:short]


def every(value: object, at: Steps = ()) -> Iterator[str]:
    """Yield the path of every value in a document."""
    if at:
        yield spelled(at)
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from every(inner, (*at, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from every(inner, (*at, i))


def present(document: Mapping[str, Any], steps: Steps) -> bool:
    """Whether a document has this place, or a table to which its keys could be added."""
    at: Any = document
    for i, step in enumerate(steps):
        if not _has(at, step):
            return isinstance(at, Mapping) and all(isinstance(rest, str) for rest in steps[i:])
        at = at[step]
    return True


def put(document: dict[str, Any], steps: Steps, value: object) -> None:
    """Set the value of a place that is ``present``; missing tables on the way are created."""
    at: Any = document
    for step in steps[:-1]:
        at = at.setdefault(step, {}) if isinstance(at, dict) else at[step]
    at[steps[-1]] = value


def get(document: dict[str, Any], steps: Steps) -> Any:  # noqa: ANN401 - any TOML value
    """Return the value of an existing place."""
    at: Any = document
    for step in steps:
        at = at[step]
    return at


def under(document: Mapping[str, Any], steps: Steps) -> Mapping[str, Any]:
    """Return the table at a place, or an empty one if there is none."""
    at: Any = document
    for step in steps:
        if not _has(at, step):
            return {}
        at = at[step]
    return at if isinstance(at, Mapping) else {}


def _has(value: object, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(value, Mapping) and step in value
    return isinstance(value, list) and step < len(value)
