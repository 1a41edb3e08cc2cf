"""Common base of all classes that a scenario may name."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar


class Outside(ABC):
    """A class that a scenario names by its source.

    Parameters are keyword arguments of ``__init__``; a scenario lists them beside ``source``.
    """

    GIVEN: ClassVar[str]
    """The attribute that is set before ``__init__`` runs."""


class Algorithm(Outside):
    """An algorithm in a slot of a sender: one object for each flow.

    The object is created with its flow. Its methods are called in order of simulated time, and it never sees another
    flow. It must not draw random numbers or read clocks, because a run is a function of its scenario and seed.
    """

    GIVEN: ClassVar[str] = "mss"

    mss: int = 1460
    """Maximum segment size of the flow, in bytes of payload; set before ``__init__`` runs."""
