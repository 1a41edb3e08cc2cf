"""The set of paths and the field, as a study."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ackclock.document import refusal
from ackclock.study.plan import Question, read

FOLDER = Path(__file__).parent
HALVES = ("design", "judgement")
CAUSES = ("fast", "recovery", "probe", "timeout")
BESIDE = ["needless", *(f"needless_{cause}" for cause in CAUSES), "timeouts", "completion_p99"]
OTHERS = "others-"
"""How the names of the paths begin on which an entry shares the path with other stacks."""
LEAST_SEEDS, MOST_SEEDS = 2, 1000
NAME = "the arena"


@cache
def kept() -> dict[str, Any]:
    """The content of set.toml: version, seeds, baseline and field."""
    return tomllib.loads((FOLDER / "set.toml").read_text(encoding="utf-8"))


def paths(half: str) -> dict[str, Path]:
    """The scenario of each path of a half, by name, without those of :func:`shared`."""
    return {name: file for name, file in _files(half).items() if not name.startswith(OTHERS)}


def shared(half: str) -> dict[str, Path]:
    """The scenarios of a half in which an entry shares the path with other stacks, by name."""
    return {name: file for name, file in _files(half).items() if name.startswith(OTHERS)}


def _files(half: str) -> dict[str, Path]:
    return {file.stem: file for file in sorted((FOLDER / "paths" / half).glob("*.toml"))}


def about(file: Path) -> str:
    """The sentence on a path: the first line of its scenario."""
    return file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def question(
    stacks: Sequence[str | tuple[str, dict[str, Any]]],
    half: str,
    chosen: Sequence[str] | None,
    field: bool,
    seeds: int,
) -> Question:
    """Build the study; arguments and errors are those of :func:`ackclock.arena.arena`."""
    if half not in HALVES:
        raise refusal(NAME, None, "half", f'"{half}"', f"one of {', '.join(HALVES)}")
    if not LEAST_SEEDS <= seeds <= MOST_SEEDS:
        raise refusal(NAME, None, "seeds", f"{seeds}", f"{LEAST_SEEDS} to {MOST_SEEDS:,}")
    known = paths(half)
    every = known | shared(half)
    for name in chosen or ():
        if name not in every:
            raise refusal(NAME, None, "paths", f'"{name}"', f"paths of the half {half}: {', '.join(every)}")
    if chosen is not None and not set(chosen) & set(known):
        raise refusal(NAME, None, "paths", ", ".join(chosen), f"at least one that does not begin with {OTHERS}")
    own = [(one["stack"], {"name": one["name"], **one.get("set", {})}) for one in kept()["stack"]] if field else []
    study = {
        "name": f"arena-{half}",
        "question": f"Arena {kept()['version']}, {half}: which detector gets most out of every path?",
        "measure": "goodput",
        "beside": BESIDE,
        "stacks": [*own, *stacks],
        **({"baseline": kept()["baseline"]} if field else {}),
        "seeds": {"first": kept()["seeds"][half], "at_least": seeds, "at_most": seeds},
        # As text, so that an entry's Python is looked up in the current folder.
        "path": [
            {"name": name, "scenario": file.read_text(encoding="utf-8")}
            for name, file in known.items()
            if name in (chosen or known)
        ],
    }
    return read(study)
