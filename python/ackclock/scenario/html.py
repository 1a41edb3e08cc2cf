"""A scenario in a notebook: its links and flows as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

LINK = ("from", "to", "rate", "delay", "queue", "elements", "back")
FLOW = ("name", "from", "to", "stack", "count", "set", "window", "receiver", "app")
BACKGROUND = ("kind", "from", "to", "rate", "stack", "gap", "size")


def html(name: str, words: str, table: Mapping[str, Any]) -> str:
    """Render a table of links, one of flows, and one of background traffic; columns without values are omitted.

    Args:
        name: the scenario's name.
        words: a summary of the scenario's size.
        table: the scenario as in its file.
    """
    links, flows = table.get("link", []), table.get("flow", [])
    if "dumbbell" in table:
        ends = {"bottleneck": {"from": "R1", "to": "R2"}, "access": {"from": "S…, R2", "to": "R1, D…"}}
        links = [named | table["dumbbell"][which] for which, named in ends.items()]
        flows = [{"from": "S…", "to": "D…"} | flow for flow in table["dumbbell"]["flow"]]
    head = f"<strong>{escape(name)}</strong>: {escape(words)}"
    blocks = [("links", LINK, links), ("flows", FLOW, flows), ("background", BACKGROUND, table.get("background", []))]
    return f"<div><p>{head}</p>{''.join(block(*b) for b in blocks if b[2])}</div>"


def block(title: str, columns: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Render one table."""
    used = [column for column in columns if any(column in row for row in rows)]
    head = "".join(f"<th>{column}</th>" for column in used)
    cells = ("".join(f"<td>{escape(shown(row[c])) if c in row else ''}</td>" for c in used) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def shown(value: object) -> str:
    """A value in short form: `swap (mode slots, count 12, gap (exponential 1 s))`."""
    if isinstance(value, Mapping):
        kind = next((value[tag] for tag in ("kind", "ack") if tag in value), "")
        rest = ", ".join(f"{key} {shown(inner)}" for key, inner in value.items() if inner != kind or not kind)
        return f"{kind} ({rest})" if kind and rest else kind or rest
    if isinstance(value, list):
        return "; ".join(map(shown, value)) or "none"
    return str(value)
