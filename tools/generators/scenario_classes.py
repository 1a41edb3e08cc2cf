"""python/ackclock/scenario/*.py, from the JSON Schema.

A table of the schema becomes a class, a choice of tables a union, a list of words a Literal. An area contains the
definitions that its roots refer to, unless an earlier area has them. Optional values default to None, even if the
schema has a default, because the presence of some keys has a meaning.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ackclock import _native

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "python/ackclock/scenario"
AREAS = {
    "settings": ("Parts that several tables share.", ["Gap", "Per", "Place", "Only", "Form", "Queue"]),
    "elements": ("Elements, which act on packets.", ["Element"]),
    "links": ("Links.", ["Link"]),
    "flows": ("Flows: the data that they send, and how their receivers answer.", ["Flow"]),
    "background": ("Traffic beside the flows.", ["Background"]),
    "dumbbell": ("Many flows over one bottleneck.", ["Dumbbell"]),
}
RENAMED = {"Both": "DumbbellLink", "FlowKeys": "DumbbellFlow", "App.Transfers": "TransfersInARow"}
"""New names for definitions with unclear or duplicate names."""
ATTRIBUTES = {"from": "from_"}
"""Keys that are not valid names in Python; `part.py` converts them back."""
LISTS = {"flow": "flows"}
"""Keys that are singular for a list; likewise."""
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
WIDTH = 120
MADE = "Generated from the JSON Schema: make generated."


@dataclass
class Area:
    """One file."""

    name: str
    about: str
    classes: dict[str, str] = field(default_factory=dict)
    """Text of each class and alias, by name; aliases of unions follow their members."""
    needs: set[str] = field(default_factory=set)
    """Names of other areas that it refers to."""


def python(name: str) -> str:
    """The class name of a definition."""
    return RENAMED.get(name, name)


def pascal(kind: str) -> str:
    """`gilbert-elliott` as a class name."""
    return "".join(word.capitalize() for word in kind.split("-"))


def sentence(text: str) -> str:
    """The text on one line, with a full stop."""
    text = " ".join(text.split())
    return text if text.endswith(".") else f"{text}."


def docstring(text: str, indent: str = "") -> str:
    """The text as a docstring, wrapped to the line length."""
    lines = textwrap.wrap(f'"""{text}', WIDTH - len(indent) - 3, break_long_words=False, break_on_hyphens=False)
    return textwrap.indent("\n".join(lines) + ('\n"""' if len(lines) > 1 else '"""'), indent)


def class_docstring(text: str) -> str:
    """A class docstring: the first sentence is a line of its own unless everything fits on one line."""
    if len(text) > WIDTH - 10:
        first, full, rest = text.partition(". ")
        more = ["", *textwrap.wrap(rest, WIDTH - 4)] if rest else []
        text = "\n".join([first + full.strip(), *more, ""])
    return textwrap.indent(f'"""{text}"""', "    ")


def words(schema: Mapping[str, Any]) -> dict[str, str] | None:
    """The words that a value may be, with their meanings; ``None`` if it is not a choice of words."""
    choices = schema.get("oneOf", [])
    if not choices or any("const" not in choice for choice in choices):
        return None
    return {choice["const"]: choice.get("description", "") for choice in choices}


def tag(table: Mapping[str, Any]) -> tuple[str, str] | None:
    """The key that distinguishes the tables of a choice, and this table's word for it."""
    for key, value in table["properties"].items():
        if "const" in value:
            return key, value["const"]
    return None


def hint(schema: Mapping[str, Any]) -> str:
    """The comment after a value: its examples, and the limits of a number."""
    leaves = [leaf for choice in schema.get("anyOf", [schema]) for leaf in choice.get("anyOf", [choice])]
    shown = [
        f'"{w}"' for leaf in leaves for w in (*leaf.get("examples", []), *([leaf["const"]] if "const" in leaf else []))
    ]
    said = [f"As in {' or '.join(shown)}."] if shown else []
    names = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most"}
    limits = [f"{word} {schema[name]:n}" for name, word in names.items() if name in schema]
    said += [f"{', '.join(limits).capitalize()}."] if limits else []
    default = schema.get("default")
    said += [f"Default: ``{json.dumps(default)}``."] if default is not None else []
    return " ".join(said)


def kinds(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The tables of a choice; one level deeper where a user's class is also allowed."""
    found: list[Mapping[str, Any]] = schema.get("oneOf") or schema.get("anyOf", [{}])[0].get("oneOf", [])
    return found


class Classes:
    """The classes of one schema."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Lay out every area."""
        self.defs = schema["$defs"]
        self.home: dict[str, Area] = {}
        self.areas = [Area(name, about) for name, (about, _) in AREAS.items()]
        for area in self.areas:
            for root in AREAS[area.name][1]:
                self.define(root, area)

    def define(self, name: str, area: Area) -> str:
        """Create the class, the Literal or the union of a definition if it does not exist; return its name."""
        as_class = python(name)
        if as_class not in self.home:
            self.home[as_class] = area
            schema = self.defs[name]
            if found := words(schema):
                text = f"{as_class}: TypeAlias = Literal[{', '.join(map(repr, found))}]"
                meanings = "; ".join(f"``{word}``: {meaning.rstrip('.')}" for word, meaning in found.items())
                self.add(area, as_class, f"{text}\n{docstring(sentence(schema['description']) + f' {meanings}.')}")
            elif tables := [c for c in kinds(schema) if "properties" in c]:
                self.choice(as_class, schema, tables, area)
            else:
                self.table(as_class, schema, area)
        if self.home[as_class] is not area:
            area.needs.add(as_class)
        return as_class

    def add(self, area: Area, name: str, text: str) -> None:
        """Store the text of a class, after the classes that it refers to."""
        area.classes[name] = text

    def choice(self, name: str, schema: Mapping[str, Any], tables: list[Mapping[str, Any]], area: Area) -> None:
        """A union of classes with a tag; without tags, one class with the keys of all."""
        if any(tag(table) is None for table in tables):
            keys: dict[str, Any] = {}
            for one in tables:
                keys |= {k: value | {"description": one["description"]} for k, value in one["properties"].items()}
            self.table(name, {"description": schema["description"], "properties": keys}, area)
            return
        members = []
        for table in tables:
            key, word = tag(table) or ("", "")
            member = pascal(word) if key == "kind" else pascal(key) + pascal(word)
            member = RENAMED.get(f"{name}.{member}", member)
            self.home[member] = area
            members.append(member)
            self.table(member, table, area)
        about = sentence(schema["description"])
        if "anyOf" in schema:
            members += ["Given", f"type[Python{name}]"]
            about += f" Or a subclass of ``ackclock.{name}``; with parameters ``ackclock.slots.given``."
        self.add(area, name, f"{name}: TypeAlias = {' | '.join(members)}\n{docstring(about)}")

    def table(self, name: str, schema: Mapping[str, Any], area: Area) -> None:
        """One class."""
        tagged = tag(schema)
        body = [class_docstring(sentence(schema["description"])), ""]
        if tagged:
            body.append(f"    TAG: ClassVar = {tagged!r}\n")
        for key, value in schema["properties"].items():
            if tagged and key == tagged[0]:
                continue
            wanted = self.type_of(key, value, name, area)
            wanted += "" if key in schema.get("required", []) else " | None = None"
            listed = LISTS.get(key) if value.get("type") == "array" else None
            body.append(f"    {listed or ATTRIBUTES.get(key, key)}: {wanted}")
            body.append(docstring(f"{sentence(value['description'])} {hint(value)}".strip(), "    "))
        head = f"@dataclass(frozen=True, kw_only=True, repr=False)\nclass {name}(Part):"
        self.add(area, name, "\n".join([head, *body]))

    def type_of(self, key: str, schema: Mapping[str, Any], owner: str, area: Area) -> str:
        """The type of a value. Quantities are text."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return "Mapping[str, Any]" if name == "Set" else self.define(name, area)
        if "anyOf" in schema:
            return " | ".join(dict.fromkeys(self.type_of(key, choice, owner, area) for choice in schema["anyOf"]))
        if schema.get("type") == "array":
            return f"Sequence[{self.type_of(key, schema['items'], owner, area)}]"
        if schema.get("type") == "object":
            inner = pascal(key)
            if inner not in self.home:
                self.home[inner] = area
                self.table(inner, schema, area)
            if self.home[inner] is not area:
                area.needs.add(inner)
            return inner
        # Stack names change with the engine, so they are text, as elsewhere in the API.
        return "str" if "const" in schema or words(schema) else SIMPLE[schema["type"]]

    def text(self, area: Area) -> str:
        """The text of a whole file, formatted by ruff."""
        body = "\n\n\n".join(area.classes.values())
        names = ", ".join(f'"{name}"' for name in sorted(area.classes))
        # A sentence may start with "Any".
        typing = [n for n in ("Any", "ClassVar", "Literal", "TypeAlias") if re.search(rf"\b{n}\b(?! [a-z])", body)]
        abstract = [n for n in ("Mapping", "Sequence") if re.search(rf"\b{n}\b", body)]
        head = [f'"""{area.about}', "", MADE, '"""', ""]
        long = any(len(line) > WIDTH for line in body.splitlines())
        head += ["# ruff: noqa: E501 - a first sentence is one line", ""] if long else []
        head += ["from __future__ import annotations", ""]
        head += [f"from collections.abc import {', '.join(abstract)}"] if abstract else []
        head += ["from dataclasses import dataclass"]
        head += [f"from typing import {', '.join(typing)}"] if typing else []
        others = {other.name: sorted(n for n in area.needs if self.home[n] is other) for other in self.areas}
        used = sorted([*others.items(), ("part", ["Part"])])
        outside = re.findall(r"type\[Python(\w+)\]", body)
        head += ["", *(f"from ackclock.scenario.{module} import {', '.join(of)}" for module, of in used if of)]
        head += [f"from ackclock.slots.{name.lower()} import {name} as Python{name}" for name in outside]
        head += ["from ackclock.slots.registry import Given"] if outside else []
        head += ["", f"__all__ = [{names}]", "", ""]
        return formatted("\n".join(head) + body + "\n", area.name)


def formatted(text: str, name: str) -> str:
    """Format the text with `ruff format`."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", f"{FOLDER}/{name}.py", "-"]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def files() -> Iterator[tuple[Path, str]]:
    """Each file and its intended content."""
    classes = Classes(json.loads(_native.schema_json()))
    for area in classes.areas:
        yield FOLDER / f"{area.name}.py", classes.text(area)
