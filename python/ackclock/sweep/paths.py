"""Places in a scenario, as in ``link[1].elements[0].gap.exponential``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ackclock.sweep.document import quoted

Steps = tuple[str | int, ...]
"""Keys, and positions in lists."""
_STEP = re.compile(r'\.?(?:([A-Za-z0-9_-]+)|"([^"\\]*)")|\[(\d+)\]')


def parse(path: str) -> Steps | None:
    """The steps of a path; nothing if it is none."""
    steps: list[str | int] = []
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        # A dot between keys, and none before the first.
        if step is None or (step[3] is None and (step[0].startswith(".") is (at == 0))):
            return None
        steps.append(int(step[3]) if step[3] else step[1] or step[2])
        at = step.end()
    return tuple(steps) if steps and isinstance(steps[0], str) else None


def spelled(steps: Steps) -> str:
    """The path of these steps."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{quoted(step)}" for step in steps)
    return text.removeprefix(".")


def within(one: Steps, other: Steps) -> bool:
    """Whether a place is another, or inside it, or around it."""
    short = min(len(one), len(other))
    return one[:short] == other[:short]


def every(value: object, at: Steps = ()) -> Iterator[str]:
    """The path of everything in a document."""
    if at:
        yield spelled(at)
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from every(inner, (*at, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from every(inner, (*at, i))


def present(document: Mapping[str, Any], steps: Steps) -> bool:
    """Whether a document has such a place, or a table there in which the last key would be new."""
    *way, last = steps
    at: Any = document
    for step in way:
        if not _has(at, step):
            return False
        at = at[step]
    return isinstance(at, Mapping) if isinstance(last, str) else _has(at, last)


def put(document: dict[str, Any], steps: Steps, value: object) -> None:
    """Set the value of a place that is ``present``."""
    get(document, steps[:-1])[steps[-1]] = value


def get(document: dict[str, Any], steps: Steps) -> Any:  # noqa: ANN401 - what TOML can say
    """The value of a place that there is."""
    at: Any = document
    for step in steps:
        at = at[step]
    return at


def _has(value: object, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(value, Mapping) and step in value
    return isinstance(value, list) and step < len(value)
