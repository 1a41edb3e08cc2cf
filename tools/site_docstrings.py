"""Docstrings for the site: Sphinx's roles, as in :class:`ackclock.Result`, become links, and examples become code."""

from __future__ import annotations

import re

from griffe import Extension, Object

ROLE = re.compile(r":(?:class|func|meth|mod|attr|data):`(~?)([\w.]+)`")
EXAMPLE = re.compile(r"^>>> .*(?:\n(?:>>>|\.\.\.).*)*", re.MULTILINE)


class Roles(Extension):
    """Rewrites the docstring of every object that is loaded."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """A role without a full path means a member of the same class, or what the package gives under that name."""
        if not obj.docstring:
            return
        home = obj if obj.is_class else obj.parent

        def link(role: re.Match[str]) -> str:
            name = role[2]
            if home is not None and home.is_class and name in home.members:
                name = f"{home.path}.{name}"
            elif not name.startswith("ackclock."):
                name = f"ackclock.{name}"
            return f"[`{role[2]}`][{name}]"

        text = re.sub(r"``([^`]+)``", r"`\1`", ROLE.sub(link, obj.docstring.value))
        obj.docstring.value = EXAMPLE.sub(code, text)


def code(example: re.Match[str]) -> str:
    """Lines as they are typed into Python, as a block of code; what only doctest reads is left out."""
    lines = (re.sub(r"^(?:>>>|\.\.\.) ?|\s*# doctest:.*$", "", line) for line in example[0].splitlines())
    return "\n".join(["```python", *lines, "```"])
