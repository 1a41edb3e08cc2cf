"""A laboratory for TCP loss recovery under packet reordering and bursty loss.

>>> import ackclock as ak
>>> result = ak.run("scenario.toml", stack=["sack-ff96", "rfc-6675"], seeds=30)  # doctest: +SKIP
>>> result.summary.select("stack", "throughput_bytes_per_s")  # doctest: +SKIP
>>> ak.plot.time_sequence(result.events, stop=2.0)  # doctest: +SKIP

Scenarios are files, texts, or objects: :class:`ackclock.Scenario`. Tables are Polars frames, plots are Matplotlib axes
(``pip install "ackclock[papers]"``); all of these are loaded when first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ackclock._native import __version__
from ackclock.api import Stack, compare, new, run, show, stacks
from ackclock.errors import ScenarioError
from ackclock.result import Result

if TYPE_CHECKING:
    from types import ModuleType

    from ackclock import plot as plot
    from ackclock import scenario as scenario
    from ackclock.scenario import Scenario

__all__ = [
    "Result",
    "Scenario",
    "ScenarioError",
    "Stack",
    "__version__",
    "compare",
    "new",
    "plot",
    "run",
    "scenario",
    "show",
    "stacks",
]


def __getattr__(name: str) -> ModuleType | type[Scenario]:
    """What takes time to load, ``ackclock.plot`` also matplotlib, and so is not loaded before it is used."""
    if name in {"plot", "scenario"}:
        return import_module(f"ackclock.{name}")
    if name == "Scenario":
        from ackclock.scenario import Scenario  # noqa: PLC0415 - start-up time

        return Scenario
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
