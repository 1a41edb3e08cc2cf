"""The question of a study: which of several senders does best on which paths, by which measure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from ackclock import _native
from ackclock.document import Node, Value, nearest
from ackclock.runs.network import NetworkPath, folder_name, needed, read_paths, source
from ackclock.slots import chosen
from ackclock.study.measure import MEASURES, Measure

KEYS = ("name", "question", "measure", "beside", "stacks", "baseline", "within", "seeds", "set", "path")
BESIDE = ("goodput", "needless", "timeouts")
FIRST, AT_LEAST, AT_MOST = 1, 10, 80
MOST_SEEDS, LAST_SEED = 10**5, 2**62


@dataclass(frozen=True)
class Seeds:
    """The number of runs of each stack on each path: ``at_least``, then doubled up to ``at_most``."""

    first: int = FIRST
    at_least: int = AT_LEAST
    at_most: int = AT_MOST

    @property
    def looks(self) -> list[int]:
        """The numbers of seeds after which the study checks whether the result is clear."""
        found = [self.at_least]
        while found[-1] < self.at_most:
            found.append(min(2 * found[-1], self.at_most))
        return found


@dataclass(frozen=True)
class Question:
    """A valid study."""

    name: str
    question: str
    """The question as the user words it."""
    measure: Measure
    """The measure that decides."""
    beside: tuple[Measure, ...]
    """Additional measures to show."""
    stacks: Mapping[str, str]
    """The text of each stack, as ``--stack`` takes it, by name."""
    baseline: str
    """The stack with which the sentences compare the others."""
    within: float
    """The largest difference that does not matter: a share for relative measures, otherwise in the measure's unit."""
    seeds: Seeds
    paths: tuple[NetworkPath, ...]
    file: str
    """The name that error messages use for the study."""
    text: str
    """As TOML."""

    @property
    def comparisons(self) -> int:
        """The number of comparisons of two stacks: on every path, and on all paths together."""
        count = len(self.paths) + (len(self.paths) > 1)
        return math.comb(len(self.stacks), 2) * count


def read(study: str | PathLike[str] | Mapping[str, Value]) -> Question:
    """Read a study and check everything that can be checked before a run.

    Args:
        study: path of its file, the text of one (a string with a line break), or its content as a dict.

    Raises:
        ScenarioError: the study, or a scenario that it names, is invalid.
    """
    file, text, folder = source(study, "study")
    root = Node.read(file, text)
    table = root.keys(KEYS, "a study")
    stacks = _stacks(needed(root, table, "stacks", "a list of two or more stacks"))
    first = next(iter(stacks.values()))
    measure = _measure(table["measure"]) if "measure" in table else MEASURES["goodput"]
    everywhere = table["set"].table("a table of places and values") if "set" in table else {}
    paths = read_paths(needed(root, table, "path", "at least one table [[path]]"), folder or Path(), first, everywhere)
    beside = (
        [_measure(node) for node in table["beside"].items("a list of measures")]
        if "beside" in table
        else [MEASURES[key] for key in BESIDE]
    )
    return Question(
        folder_name(table.get("name"), Path(file).stem if folder else None, "study"),
        table["question"].text("a sentence") if "question" in table else "Which sender does best?",
        measure,
        tuple(one for one in beside if one is not measure),
        stacks,
        _one_of(table["baseline"], stacks) if "baseline" in table else next(iter(stacks)),
        _within(table.get("within"), measure),
        _seeds(table.get("seeds")),
        paths,
        file,
        text,
    )


def _stacks(node: Node) -> dict[str, str]:
    """The text of each stack by name: the ``name`` among its parameters, or the text."""
    allowed = "a list of two or more stacks with different names"
    texts = [_stack(one) for one in node.items(allowed)]
    found = {dict(_native.own_parameters(text)).get("name", text).strip("\"'"): text for text in texts}
    if len(found) < len(texts):
        raise node.refuse(allowed, "two stacks with the same name")
    if len(found) < 2:  # noqa: PLR2004 - a comparison
        raise node.refuse(allowed, f"{len(found)} of them")
    return found


def _stack(node: Node) -> str:
    """The text of a stack; in Python it may be given as a name and parameters."""
    if isinstance(node.value, str):
        return node.value
    name, own = (*node.items("a stack, as --stack takes it"), None)[:2]
    if name is None or own is None:
        raise node.refuse("a stack, as --stack takes it")
    return chosen((name.text("a stack"), {key: one.value for key, one in own.table("its parameters").items()}))


def _measure(node: Node) -> Measure:
    key = node.text("the name of a measure")
    if key not in MEASURES:
        raise node.refuse(f"one of {', '.join(MEASURES)}", hint=nearest(key, MEASURES))
    return MEASURES[key]


def _one_of(node: Node, stacks: Mapping[str, str]) -> str:
    said = node.text("one of the stacks")
    if said not in stacks:
        raise node.refuse(f"one of the stacks {', '.join(stacks)}", hint=nearest(said, stacks))
    return said


def _within(node: Node | None, measure: Measure) -> float:
    """Read a share, as in ``"2 %"``, or a number for counts."""
    if node is None:
        return measure.matters
    if measure.relative or measure.unit == "%":
        percent = re.fullmatch(r"(\d+(?:\.\d+)?) ?%", node.value) if isinstance(node.value, str) else None
        if percent is None:
            raise node.refuse('a share, as in "2 %"')
        return float(percent[1]) / 100
    if isinstance(node.value, bool) or not isinstance(node.value, int | float) or not 0 <= node.value < math.inf:
        raise node.refuse("a number from 0")
    return float(node.value)


def _seeds(node: Node | None) -> Seeds:
    if node is None:
        return Seeds()
    if not isinstance(node.value, Mapping):
        count = node.whole(2, MOST_SEEDS)
        return Seeds(FIRST, count, count)
    said = node.keys(("first", "at_least", "at_most"), "a number, or { first = 1, at_least = 10, at_most = 80 }")
    first = said["first"].whole(0, LAST_SEED) if "first" in said else FIRST
    at_most = said["at_most"].whole(2, MOST_SEEDS) if "at_most" in said else None
    least = (
        said["at_least"].whole(2, at_most or MOST_SEEDS) if "at_least" in said else min(AT_LEAST, at_most or AT_LEAST)
    )
    return Seeds(first, least, at_most if at_most is not None else max(AT_MOST, least))
