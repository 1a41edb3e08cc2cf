"""How a paper is read: the choices that its text leaves open, and runs with alternatives to some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ackclock.document import Node, refusal
from ackclock.runs.trial import Trial, Value

READINGS = "readings.toml"
CHOICE, OPTION = ("key", "question", "taken", "value"), ("key", "text", "edit")
EDIT = ("stacks", "files", "set", "changes", "without", "instead")


@dataclass(frozen=True)
class Edit:
    """A change to some of the runs."""

    stacks: tuple[str, ...] = ()
    """Applies to flows with one of these stacks; empty: to every flow."""
    files: tuple[str, ...] = ()
    """Applies to runs of these scenarios; empty: to every run."""
    set: tuple[tuple[str, Value], ...] = ()
    """Parameters of the flows' stacks. They override the run's own."""
    changes: tuple[tuple[str, Value], ...] = ()
    """Values of the scenario by path. The run's own changes override them: they are the axes of the figures."""
    without: tuple[str, ...] = ()
    """Paths of the run's own changes and parameters that are dropped."""
    instead: str | None = None
    """The scenario that replaces ``files``."""

    def of(self, trial: Trial, folder: Path) -> Trial:
        """Return the run with this edit; a run to which it does not apply is returned unchanged.

        Raises:
            OSError, ValueError: its scenario cannot be read.
        """
        if self.files and trial.file not in self.files:
            return trial
        flows = [] if trial.stack is not None or not self.stacks else list(_flows(trial, folder))
        here = trial.stack in self.stacks if trial.stack is not None else any(s in self.stacks for _, s in flows)
        if self.stacks and not here:
            return trial
        own = {path for path, _ in trial.changes}
        before = tuple((path, value) for path, value in self.changes if path not in own)
        after = tuple((path, value) for path, value in trial.changes if path not in self.without)
        if flows:
            touched = [at for at, stack in flows if stack in self.stacks]
            after += tuple((f"{at}.set.{path}", value) for at in touched for path, value in self.set)
            given = trial.set
        else:
            new = {path for path, _ in self.set} | {*self.without}
            given = tuple((path, value) for path, value in trial.set if path not in new)
            given += tuple((path, _shown(value)) for path, value in self.set)
        return replace(trial, file=self.instead or trial.file, changes=before + after, set=given)


def _flows(trial: Trial, folder: Path) -> Iterator[tuple[str, str]]:
    """The path of every flow in the scenario, and its stack."""
    document = trial.document(folder)
    places = {"flow": document.get("flow", []), "dumbbell.flow": document.get("dumbbell", {}).get("flow", [])}
    for place, flows in places.items():
        for i, flow in enumerate(flows):
            if "stack" in flow:
                yield f"{place}[{i}]", flow["stack"]


def _shown(value: Value) -> str:
    """A parameter in the form that ``--set`` takes."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Option:
    """One option of an open choice that the text supports."""

    key: str
    text: str
    """The paper's sentence that supports it, and its place."""
    edits: tuple[Edit, ...] = ()
    """The edits; empty for the scenarios as they are, or for a choice of measurement, which the paper's code reads."""


@dataclass(frozen=True)
class Choice:
    """A choice that the text leaves open."""

    key: str
    question: str
    taken: str
    """The option used in the scenarios."""
    options: tuple[Option, ...]

    @property
    def others(self) -> tuple[Option, ...]:
        """The options that are not taken."""
        return tuple(option for option in self.options if option.key != self.taken)


@dataclass(frozen=True)
class Reading:
    """A paper's choices, with alternatives taken for some of them."""

    choices: tuple[Choice, ...] = ()
    otherwise: Mapping[str, str] = field(default_factory=dict)
    """The alternative option, by choice."""

    def __getitem__(self, choice: str) -> str:
        """Return the option of a choice.

        Raises:
            KeyError: there is no such choice.
        """
        taken = {one.key: one.taken for one in self.choices}
        return self.otherwise.get(choice, taken[choice])

    @property
    def name(self) -> str:
        """The name, as in ``store=asked, target=fill``."""
        return ", ".join(f"{key}={self.otherwise[key]}" for key in sorted(self.otherwise)) or "as taken"

    def options(self) -> list[Option]:
        """The alternative options, in the order of the choices."""
        return [o for c in self.choices for o in c.options if self.otherwise.get(c.key) == o.key]

    def of(self, trial: Trial, folder: Path) -> Trial:
        """Return a run under this reading.

        Args:
            trial: the run as taken.
            folder: the folder of the scenarios.

        Raises:
            OSError, ValueError: its scenario cannot be read.
        """
        for option in self.options():
            for edit in option.edits:
                trial = edit.of(trial, folder)
        return trial


def read(folder: Path) -> tuple[Choice, ...]:
    """Read the open choices of a paper; empty if it has no ``readings.toml``.

    Raises:
        OSError: the file cannot be read.
        ScenarioError: the file is invalid.
    """
    file = folder / READINGS
    if not file.is_file():
        return ()
    root = Node.read(str(file), file.read_text(encoding="utf-8")).keys(("choice",), "a table with `choice`")
    if "choice" not in root:
        raise refusal(str(file), None, "choice", "nothing", "a list of choices")
    choices = tuple(_choice(node) for node in root["choice"].items("a list of choices"))
    _distinct([c.key for c in choices], root["choice"])
    return choices


def _choice(node: Node) -> Choice:
    table = _all(node, CHOICE, "a choice")
    options = tuple(_option(one) for one in table["value"].items("a list of values"))
    _distinct([o.key for o in options], table["value"])
    taken = table["taken"].text("the key of a value")
    found = [o for o in options if o.key == taken]
    if not found or found[0].edits:
        raise table["taken"].refuse("the key of a value without `edit`, since the value taken is the scenarios' own")
    if len(options) == 1:
        raise table["value"].refuse("at least two values", "one")
    return Choice(table["key"].text("a name"), table["question"].text("a question"), taken, options)


def _option(node: Node) -> Option:
    table = _all(node, OPTION, "a value", optional=("edit",))
    edits = tuple(_edit(one) for one in table["edit"].items("a list of edits")) if "edit" in table else ()
    return Option(table["key"].text("a name"), table["text"].text("the sentence that supports it"), edits)


def _edit(node: Node) -> Edit:
    table = node.keys(EDIT, "an edit")

    def names(key: str) -> tuple[str, ...]:
        return tuple(n.text("a name") for n in table[key].items("a list of names")) if key in table else ()

    def values(key: str) -> tuple[tuple[str, Value], ...]:
        each = table[key].table("values by path").items() if key in table else ()
        return tuple((path, tuple(n.value) if isinstance(n.value, list) else n.value) for path, n in each)

    instead = table["instead"].text("a scenario") if "instead" in table else None
    if instead is not None and "files" not in table:
        raise table["instead"].refuse("`instead` beside `files`", "no `files`")
    if "set" not in table and "changes" not in table and "without" not in table and instead is None:
        raise node.refuse("an edit with `set`, `changes`, `without` or `instead`", "none of them")
    return Edit(names("stacks"), names("files"), values("set"), values("changes"), names("without"), instead)


def _all(node: Node, known: Sequence[str], what: str, optional: Sequence[str] = ()) -> dict[str, Node]:
    table = node.keys(known, what)
    for key in known:
        if key not in table and key not in optional:
            raise node.refuse(f"{what} with {', '.join(k for k in known if k not in optional)}", f"no `{key}`")
    return table


def _distinct(keys: Sequence[str], node: Node) -> None:
    for i, key in enumerate(keys):
        if key in keys[:i]:
            raise node.refuse("each key once", f"{key} twice")
