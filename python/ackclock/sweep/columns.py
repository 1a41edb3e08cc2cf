"""The numbers of a flow, in the order of the columns of tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ackclock.tables.columns import columns

Kinds = dict[str, type[int] | type[float]]
"""Names and types of columns; a number that a run does not have is null."""


def _numbers(row: str, averaged: bool = False) -> Kinds:
    return {one.name: one.number for one in columns(row) if one.number and (one.averaged or not averaged)}


FLOW_NUMBERS = _numbers("flow")
"""The numbers of a flow."""
MEANS = tuple(_numbers("flow", averaged=True))
"""Numbers that a summary averages and a stop rule may use."""
OF_FLOW = _numbers("measured_flow", averaged=True)
TOTALS = _numbers("measured_group", averaged=True)
WORST = tuple(f"worst_{one.name}" for one in columns("measured_link") if one.shown and one.name.startswith("queue_"))
MEASURED: Kinds = {
    **OF_FLOW,
    **{f"total_{name}": kind for name, kind in TOTALS.items() if name != "jain"},
    "jain": float,
    **dict.fromkeys(WORST, float),
}
"""For runs with measures: names and types of a flow's measures, of the measures over all flows (``total_…`` and
``jain``), and the largest percentile of the queueing delay of any link (``worst_queue_delay_…``)."""

Number = int | float | None


def number(run: Mapping[str, Any], at: int, name: str) -> Number:
    """Return a number of the flow at this position, by the name of its column; ``None`` if the run does not have it."""
    if name in FLOW_NUMBERS:
        found: Number = run["flows"][at].get(name)
        return found
    return measured(run, at).get(name)


def measured(run: Mapping[str, Any], at: int) -> dict[str, Number]:
    """Return the measures of a run for the row of the flow at this position; empty if the run has no measures."""
    if (said := run.get("measures")) is None:
        return {}
    flow, total = said["flows"][at], said["groups"][0]
    found: dict[str, Number] = {name: flow[name] for name in OF_FLOW}
    found |= {f"total_{name}": total[name] for name in TOTALS if name != "jain"}
    for name in WORST:
        known = [link[key] for link in said["links"] if link[key := name.removeprefix("worst_")] is not None]
        found[name] = max(known, default=None)
    return found | {"jain": total["jain"]}
