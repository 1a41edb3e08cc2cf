"""What all algorithms have in common."""

from __future__ import annotations

from abc import ABC


class Algorithm(ABC):
    """An algorithm in a slot of a sender: one object for each flow.

    Parameters are keyword arguments of ``__init__``; a scenario gives them beside ``source``. An object is made when its
    flow is, is asked in the order of simulated time, and never sees another flow's. It must not draw random numbers or
    read clocks: a run is a function of its scenario and seed.
    """

    mss: int = 1460
    """Maximum segment size of the flow, bytes of payload; there before ``__init__`` runs."""
