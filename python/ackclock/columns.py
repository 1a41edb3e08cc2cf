"""Names of the columns of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

HALF = "_ci95"
"""Ending of a column that holds half the width of the 95 % confidence interval of the column before it."""
LABELS = ("stack", "flow", "seed", "duration_s", "identity", "trace_hash")
"""Columns of :attr:`ackclock.Result.frame` that say which row it is, and are not numbers of it."""


def unused_notes(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences on parameters that a scenario sets and a chosen stack does not have.

    Args:
        runs: as ``ackclock run --json`` has them.
    """
    found = {run["flows"][0]["stack"]: run["unused_parameters"] for run in runs if run.get("unused_parameters")}
    return [f"{stack} does not have {' and '.join(keys)}, which the scenario sets." for stack, keys in found.items()]
