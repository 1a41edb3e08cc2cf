"""Why claims differ: a paper's ``causes.toml``, written by whoever looked into it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ackclock.document import Node, refusal

CAUSES = "causes.toml"
KINDS = ("bound by loss", "single run", "lost figure", "arithmetic", "unsaid set-up", "other code")
"""What may be behind a difference."""
KEYS = ("kind", "text", "shown")


@dataclass(frozen=True)
class Cause:
    """Why a claim differs."""

    kind: str
    """One of ``KINDS``."""
    text: str
    """Two or three plain sentences."""
    shown: str
    """The command whose run shows it."""


def read(folder: Path) -> dict[str, Cause]:
    """The causes of a paper by claim; none where it has no ``causes.toml``.

    Raises:
        OSError: it cannot be read.
        ScenarioError: it makes no sense.
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
    return Cause(kind, table["text"].text("two or three sentences"), table["shown"].text("a command"))
