"""``congestion``: how big may the window be?"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Context, Cut, Loss, Window


class Congestion(Algorithm):
    """Growth with every ACK of new data, and the cut on a loss (RFC 5681): numbers, not a deed. Windows are in bytes."""

    @abstractmethod
    def on_ack(self, ack: Ack, w: Window, cx: Context) -> None:
        """An ACK of new data in Open or Loss, or the one that ended a phase with ``Flow.DONE_AND_GROW``: write ``w``."""

    @abstractmethod
    def on_loss(self, loss: Loss, w: Window, cx: Context) -> Cut:
        """A loss: what should the window become? ``w`` is for reading."""

    def save(self) -> Sequence[float]:
        """State that a cut destroys: at most four numbers. Asked before :meth:`on_loss`."""
        return ()

    def restore(self, saved: Sequence[float]) -> None:
        """The cut was a mistake; ``saved`` is what :meth:`save` answered before it, filled up with zeros to four."""
