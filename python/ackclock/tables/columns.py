"""The columns of tables: described in Rust, once for every language (``docs/results.md`` lists them)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ackclock import _native

HALF = "_ci95"
"""Suffix of a column that holds half the width of the 95 % confidence interval of the column before it."""
LABELS = ("stack", "flow", "seed", "duration_s", "identity", "trace_hash")
"""Columns of :attr:`ackclock.Result.frame` that identify the row rather than hold results."""


@dataclass(frozen=True)
class Shown:
    """How tables for people show a column."""

    title: str
    unit: str
    scale: float
    """The factor from the value to the displayed one."""
    digits: int
    brief: bool
    """Whether tables with many rows show it, too."""
    seldom: bool
    """Whether it is shown only if a row has a value other than zero."""
    more_is_better: bool

    @property
    def heading(self) -> str:
        """The title with its unit."""
        return f"{self.title} {self.unit}".strip()


@dataclass(frozen=True)
class Column:
    """A column of a kind of row."""

    name: str
    kind: str
    """The type of its values in Arrow; ``list``, ``map`` and ``object`` are only in JSON."""
    nullable: bool
    unit: str
    meaning: str
    averaged: bool
    """Whether summaries have its mean."""
    shown: Shown | None
    """``None`` if tables for people do not show it unless it is chosen."""

    @property
    def number(self) -> type[int] | type[float] | None:
        """The type of its values, if they are numbers."""
        return {"int64": int, "float64": float}.get(self.kind)


@cache
def columns(row: str) -> tuple[Column, ...]:
    """The columns of a kind of row.

    Args:
        row: ``flow``, ``link``, ``background``, ``reordering``, ``measured_group``, ``measured_flow``,
            ``measured_background``, ``measured_link``, ``flow_bin``, ``link_bin``, or of captures ``captured_flow``,
            ``captured_retransmission``, ``captured_stall``, ``captured_reordering``, ``captured_file`` or
            ``datagram_flow``.
    """
    found = _described()[row]["columns"]
    return tuple(Column(**{**one, "shown": one["shown"] and Shown(**one["shown"])}) for one in found)


def shown(row: str) -> list[tuple[Column, Shown]]:
    """The columns that tables for people show."""
    return [(one, one.shown) for one in columns(row) if one.shown]


@cache
def _described() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_native.columns_json())
    return found


def unused_notes(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences on parameters that a scenario sets and a chosen stack does not have.

    Args:
        runs: runs as in ``ackclock run --json``.
    """
    found = {run["flows"][0]["stack"]: run["unused_parameters"] for run in runs if run.get("unused_parameters")}
    return [f"{stack} does not have {' and '.join(keys)}, which the scenario sets." for stack, keys in found.items()]
