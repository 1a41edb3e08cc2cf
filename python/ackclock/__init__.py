"""A laboratory for TCP loss recovery under packet reordering and bursty loss.

>>> import ackclock as ak
>>> result = ak.run("scenario.toml", stack=["sack-ff96", "rfc-6675"], seeds=30)  # doctest: +SKIP
>>> result.summary.select("stack", "throughput_bytes_per_s")  # doctest: +SKIP
>>> ak.plot.time_sequence(result.events, stop=2.0)  # doctest: +SKIP

Scenarios are files, TOML texts or objects (:class:`ackclock.Scenario`). Tables are Polars frames and plots are
Matplotlib axes (``pip install "ackclock[plot]"``); both libraries are loaded on first use, as are this
package's own modules.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ackclock._native import __version__
from ackclock.arena import arena
from ackclock.study import study
from ackclock.sweep import results, sweep

if TYPE_CHECKING:
    from ackclock import live as live
    from ackclock import plot as plot
    from ackclock import scenario as scenario
    from ackclock import slots as slots
    from ackclock.api import Stack, compare, new, run, show, stacks
    from ackclock.arena.board import Board
    from ackclock.captures.capture import Capture, capture
    from ackclock.conforming import ScriptResult, conform
    from ackclock.errors import AlgorithmError, CaptureError, LiveError, ScenarioError
    from ackclock.result import Result
    from ackclock.scenario import Scenario
    from ackclock.slots import (
        Congestion,
        Detector,
        Disorder,
        DupThresh,
        Element,
        Recovery,
        Rto,
        Spurious,
        Startup,
        Timeout,
        Undo,
    )
    from ackclock.study.answer import Answer
    from ackclock.sweep.outcome import Results, Sweep
    from ackclock.sweep.plan import Plan
    from ackclock.tuning import tune
    from ackclock.tuning.result import Tuning

__all__ = [
    "AlgorithmError",
    "Answer",
    "Board",
    "Capture",
    "CaptureError",
    "Congestion",
    "Detector",
    "Disorder",
    "DupThresh",
    "Element",
    "LiveError",
    "Plan",
    "Recovery",
    "Result",
    "Results",
    "Rto",
    "Scenario",
    "ScenarioError",
    "ScriptResult",
    "Spurious",
    "Stack",
    "Startup",
    "Sweep",
    "Timeout",
    "Tuning",
    "Undo",
    "__version__",
    "arena",
    "capture",
    "compare",
    "conform",
    "live",
    "new",
    "plot",
    "results",
    "run",
    "scenario",
    "show",
    "slots",
    "stacks",
    "study",
    "sweep",
    "tune",
]

_MODULES = {"live", "plot", "scenario", "slots"}
_NAMES = {
    "api": ("Stack", "compare", "new", "run", "show", "stacks"),
    "captures.capture": ("Capture", "capture"),
    "conforming": ("ScriptResult", "conform"),
    "errors": ("AlgorithmError", "CaptureError", "LiveError", "ScenarioError"),
    "result": ("Result",),
    "scenario": ("Scenario",),
    "slots": (
        "Congestion",
        "Detector",
        "Disorder",
        "DupThresh",
        "Element",
        "Recovery",
        "Rto",
        "Spurious",
        "Startup",
        "Timeout",
        "Undo",
    ),
    "arena.board": ("Board",),
    "study.answer": ("Answer",),
    "sweep.outcome": ("Results", "Sweep"),
    "sweep.plan": ("Plan",),
    "tuning": ("tune",),
    "tuning.result": ("Tuning",),
}
_LATE = {name: module for module, names in _NAMES.items() for name in names}
"""The module of each name that is loaded on first use."""


def __getattr__(name: str) -> object:
    """Load modules on first use; ``ackclock.plot`` also needs matplotlib."""
    if name in _MODULES:
        return import_module(f"ackclock.{name}")
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"ackclock.{_LATE[name]}"), name)
    return found


def __dir__() -> list[str]:
    """Return every name, loaded or not."""
    return sorted({*globals(), *__all__})
