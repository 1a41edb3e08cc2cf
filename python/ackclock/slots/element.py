"""A path element: the treatment of packets in one direction of a link."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from ackclock.slots.base import Outside

if TYPE_CHECKING:
    from ackclock._native import Fate, Packet


class Element(Outside):
    """A path element: one object for each direction of a link that has it, and for each run.

    The declarations of a class decide how the link is simulated. A result that is not declared ends the run. The
    defaults declare everything, which is always correct and sometimes slower.
    """

    GIVEN: ClassVar[str] = "seed"

    seed: int = 0
    """Seed for random numbers, as in ``random.Random(self.seed)``; set before ``__init__`` runs.

    It is derived from the run's seed and the element's place.
    """

    delays: ClassVar[bool] = True
    """Whether packets may be delayed."""
    reorders: ClassVar[bool] = True
    """Whether packets may overtake each other. If not, a delayed packet holds up the packets behind it. Ignored
    without ``delays``.
    """
    loses: ClassVar[bool] = True
    """Whether packets may be dropped."""
    duplicates: ClassVar[bool] = True
    """Whether packets may be duplicated."""

    @abstractmethod
    def packet(self, packet: Packet) -> Fate | None:
        """Decide the fate of an arriving packet. ``None`` means ``Fate.PASS``. Times never decrease between calls."""
