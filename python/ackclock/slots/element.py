"""A path element: what becomes of packets on one direction of a link."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from ackclock.slots.base import Outside

if TYPE_CHECKING:
    from ackclock._native import Fate, Packet


class Element(Outside):
    """A path element: one object for each direction of a link on which it stands, and for each run.

    What a class declares decides how the link is simulated. An answer that it has not declared ends the run. The
    defaults declare everything, which is always right and sometimes slower.
    """

    GIVEN: ClassVar[str] = "seed"

    seed: int = 0
    """Where random numbers may begin, as in ``random.Random(self.seed)``; there before ``__init__`` runs.

    It follows from the run's seed and the element's place.
    """

    delays: ClassVar[bool] = True
    """Whether packets may be delayed."""
    reorders: ClassVar[bool] = True
    """Whether packets may overtake each other. If not, one that is delayed holds up those behind it. Without ``delays``
    it says nothing.
    """
    loses: ClassVar[bool] = True
    """Whether packets may be dropped."""
    duplicates: ClassVar[bool] = True
    """Whether packets may go on twice."""

    @abstractmethod
    def packet(self, packet: Packet) -> Fate | None:
        """A packet comes. None, like ``Fate.PASS``, lets it go on; times do not go back from call to call."""
