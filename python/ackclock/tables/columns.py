"""Names of the columns of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

HALF = "_ci95"
"""Suffix of a column that holds half the width of the 95 % confidence interval of the column before it."""
LABELS = ("stack", "flow", "seed", "duration_s", "identity", "trace_hash")
"""Columns of :attr:`ackclock.Result.frame` that identify the row rather than hold results."""


def unused_notes(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences on parameters that a scenario sets and a chosen stack does not have.

    Args:
        runs: runs as in ``ackclock run --json``.
    """
    found = {run["flows"][0]["stack"]: run["unused_parameters"] for run in runs if run.get("unused_parameters")}
    return [f"{stack} does not have {' and '.join(keys)}, which the scenario sets." for stack, keys in found.items()]
