"""Docstrings for the site: Sphinx roles, such as :class:`ackclock.Result`, become links, and examples become code."""

from __future__ import annotations

import re
from inspect import cleandoc

from griffe import Docstring, Extension, NameResolutionError, Object

from ackclock import _native

COMPILED = "ackclock._native."
ROLE = re.compile(r":(?:class|func|meth|mod|attr|data):`~?([\w.]+)`")
HOMONYMS = {"ackclock.sweep": "ackclock.sweep.sweep"}
"""Functions with the same name as their package."""
EXAMPLE = re.compile(r"^>>> .*(?:\n(?:>>>|\.\.\.).*)*", re.MULTILINE)


class Roles(Extension):
    """Rewrites the docstring of every loaded object."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Resolve a role without a full path: first in the scope of the object, then in the package."""
        if not obj.docstring and obj.path.startswith(COMPILED):
            said = compiled(obj.path)
            obj.docstring = Docstring(said, parent=obj, parser="google") if said else None
        if not obj.docstring:
            return
        home = obj if obj.is_class else obj.parent or obj
        text = ROLE.sub(lambda role: f"[`{role[1]}`][{meant(home, role[1])}]", obj.docstring.value)
        obj.docstring.value = EXAMPLE.sub(code, re.sub(r"``([^`]+)``", r"`\1`", text))


def meant(home: Object, name: str) -> str:
    """The full path of a name in a class or module."""
    if not name.startswith("ackclock."):
        first, dot, rest = name.partition(".")
        try:
            name = home.resolve(first) + dot + rest
        except NameResolutionError:
            name = f"ackclock.{name}"
    return HOMONYMS.get(name, name)


def compiled(path: str) -> str:
    """The docstring of an object that is not written in Python; its stub has none."""
    found: object = _native
    for name in path.removeprefix(COMPILED).split("."):
        found = getattr(found, name, None)
    return cleandoc(found.__doc__ or "") if found is not None else ""


def code(example: re.Match[str]) -> str:
    """Format an example as a block of code, without the parts that only doctest reads."""
    lines = (re.sub(r"^(?:>>>|\.\.\.) ?|\s*# doctest:.*$", "", line) for line in example[0].splitlines())
    return "\n".join(["```python", *lines, "```"])
