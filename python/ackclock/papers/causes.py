"""Why claims differ: a paper's ``causes.toml``, written by the person who investigated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ackclock.document import Node, refusal

CAUSES = "causes.toml"
KINDS = ("bound by loss", "single run", "lost figure", "arithmetic", "unsaid set-up", "other code")
"""Kinds of reasons for a difference."""
KEYS = ("kind", "text", "shown")


@dataclass(frozen=True)
class Cause:
    """Why a claim differs."""

    kind: str
    """One of ``KINDS``."""
    text: str
    """Two or three plain sentences."""
    shown: str
    """A command that demonstrates it."""


def read(folder: Path) -> dict[str, Cause]:
    """Read the causes of a paper, by claim; empty if it has no ``causes.toml``.

    Raises:
        OSError: the file cannot be read.
        ScenarioError: the file is invalid.
    """
    file = folder / CAUSES
    if not file.is_file():
        return {}
    root = Node.read(str(file), file.read_text(encoding="utf-8"))
    return {claim: _cause(node, str(file)) for claim, node in root.table("a table for each claim").items()}


def _cause(node: Node, file: str) -> Cause:
    table = node.keys(KEYS, f"a table with {', '.join(KEYS)}")
    for key in KEYS:
        if key not in table:
            raise refusal(file, node.line, node.path, f"no `{key}`", f"a table with {', '.join(KEYS)}")
    kind = table["kind"].text(", ".join(KINDS))
    if kind not in KINDS:
        raise table["kind"].refuse(", ".join(KINDS))
    text = table["text"].text("two or three sentences")
    if "\n" in text:
        raise table["text"].refuse('text without line breaks; inside """ a backslash at the end of a line removes one')
    return Cause(kind, text, table["shown"].text("a command"))
