"""A laboratory for TCP loss recovery under packet reordering and bursty loss.

>>> import ackclock as ak
>>> result = ak.run("scenario.toml", stack=["sack-ff96", "rfc-6675"], seeds=30)  # doctest: +SKIP
>>> result.summary.select("stack", "throughput_bytes_per_s")  # doctest: +SKIP
>>> ak.plot.time_sequence(result.events, stop=2.0)  # doctest: +SKIP

Tables are Polars frames, plots are Matplotlib axes (``pip install "ackclock[papers]"``); both are loaded when first
asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ackclock._native import __version__
from ackclock.api import Stack, compare, new, run, show, stacks
from ackclock.errors import ScenarioError
from ackclock.result import Result
from ackclock.sweep import results, sweep

if TYPE_CHECKING:
    from types import ModuleType

    from ackclock import plot as plot
    from ackclock.sweep.outcome import Results, Sweep
    from ackclock.sweep.plan import Plan

__all__ = [
    "Plan",
    "Result",
    "Results",
    "ScenarioError",
    "Stack",
    "Sweep",
    "__version__",
    "compare",
    "new",
    "plot",
    "results",
    "run",
    "show",
    "stacks",
    "sweep",
]


_LATE = {"Plan": "ackclock.sweep.plan", "Results": "ackclock.sweep.outcome", "Sweep": "ackclock.sweep.outcome"}


def __getattr__(name: str) -> ModuleType | type:
    """What is loaded when it is first asked for: ``ackclock.plot``, which needs matplotlib, and classes of sweeps."""
    if name == "plot":
        return import_module("ackclock.plot")
    if name in _LATE:
        found: type = getattr(import_module(_LATE[name]), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
