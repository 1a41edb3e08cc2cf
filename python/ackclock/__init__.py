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

from ackclock import slots as slots
from ackclock._native import __version__
from ackclock.api import Stack, compare, new, run, show, stacks
from ackclock.errors import AlgorithmError, ScenarioError
from ackclock.result import Result
from ackclock.slots import (
    Congestion,
    Detector,
    Disorder,
    DupThresh,
    Recovery,
    Rto,
    Spurious,
    Startup,
    Timeout,
    Undo,
)

if TYPE_CHECKING:
    from types import ModuleType

    from ackclock import plot as plot

__all__ = [
    "AlgorithmError",
    "Congestion",
    "Detector",
    "Disorder",
    "DupThresh",
    "Recovery",
    "Result",
    "Rto",
    "ScenarioError",
    "Spurious",
    "Stack",
    "Startup",
    "Timeout",
    "Undo",
    "__version__",
    "compare",
    "new",
    "plot",
    "run",
    "show",
    "slots",
    "stacks",
]


def __getattr__(name: str) -> ModuleType:
    """``ackclock.plot``, which needs matplotlib and so is not loaded before it is used."""
    if name == "plot":
        return import_module("ackclock.plot")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
