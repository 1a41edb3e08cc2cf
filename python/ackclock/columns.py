"""Names of the columns of tables."""

from __future__ import annotations

HALF = "_ci95"
"""Ending of a column that holds half the width of the 95 % confidence interval of the column before it."""
LABELS = ("stack", "flow", "seed", "duration_s", "identity", "trace_hash")
"""Columns of :attr:`ackclock.Result.frame` that say which row it is, and are not numbers of it."""
