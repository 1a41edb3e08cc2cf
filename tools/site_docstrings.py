"""Docstrings for the site: Sphinx's roles, as in :class:`ackclock.Result`, become links, and examples become code."""

from __future__ import annotations

import re
from inspect import cleandoc

from griffe import Docstring, Extension, NameResolutionError, Object

from ackclock import _native

COMPILED = "ackclock._native."
ROLE = re.compile(r":(?:class|func|meth|mod|attr|data):`~?([\w.]+)`")
HOMONYMS = {"ackclock.sweep": "ackclock.sweep.sweep"}
"""Functions that have the name of the package in which they are."""
EXAMPLE = re.compile(r"^>>> .*(?:\n(?:>>>|\.\.\.).*)*", re.MULTILINE)


class Roles(Extension):
    """Rewrites the docstring of every object that is loaded."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """A role without a full path means what the name means where it stands, or what the package gives under it."""
        if not obj.docstring and obj.path.startswith(COMPILED):
            said = compiled(obj.path)
            obj.docstring = Docstring(said, parent=obj, parser="google") if said else None
        if not obj.docstring:
            return
        home = obj if obj.is_class else obj.parent or obj
        text = ROLE.sub(lambda role: f"[`{role[1]}`][{meant(home, role[1])}]", obj.docstring.value)
        obj.docstring.value = EXAMPLE.sub(code, re.sub(r"``([^`]+)``", r"`\1`", text))


def meant(home: Object, name: str) -> str:
    """The full path of what a name means in a class or module."""
    if not name.startswith("ackclock."):
        first, dot, rest = name.partition(".")
        try:
            name = home.resolve(first) + dot + rest
        except NameResolutionError:
            name = f"ackclock.{name}"
    return HOMONYMS.get(name, name)


def compiled(path: str) -> str:
    """The docstring of something that is not written in Python; its stub has none."""
    found: object = _native
    for name in path.removeprefix(COMPILED).split("."):
        found = getattr(found, name, None)
    return cleandoc(found.__doc__ or "") if found is not None else ""


def code(example: re.Match[str]) -> str:
    """Lines as they are typed into Python, as a block of code; what only doctest reads is left out."""
    lines = (re.sub(r"^(?:>>>|\.\.\.) ?|\s*# doctest:.*$", "", line) for line in example[0].splitlines())
    return "\n".join(["```python", *lines, "```"])
