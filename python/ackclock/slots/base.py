"""What all classes that a scenario may name have in common."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar


class Outside(ABC):
    """A class that a scenario names by its source.

    Parameters are keyword arguments of ``__init__``; a scenario gives them beside ``source``.
    """

    GIVEN: ClassVar[str]
    """The attribute that is there before ``__init__`` runs."""


class Algorithm(Outside):
    """An algorithm in a slot of a sender: one object for each flow.

    An object is made when its flow is, is asked in the order of simulated time, and never sees another flow's. It must
    not draw random numbers or read clocks: a run is a function of its scenario and seed.
    """

    GIVEN: ClassVar[str] = "mss"

    mss: int = 1460
    """Maximum segment size of the flow, bytes of payload; there before ``__init__`` runs."""
