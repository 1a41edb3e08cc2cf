"""The slot ``congestion``: the size of the window."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Context, Cut, Loss, Window


class Congestion(Algorithm):
    """Growth on every ACK of new data, and the cut on a loss (RFC 5681). It only computes windows, in bytes."""

    @abstractmethod
    def on_ack(self, ack: Ack, w: Window, cx: Context) -> None:
        """Update ``w.cwnd`` for an ACK of new data in Open or Loss, or one ending a phase with ``DONE_AND_GROW``."""

    @abstractmethod
    def on_loss(self, loss: Loss, w: Window, cx: Context) -> Cut:
        """Return the window after a loss; ``w`` is read-only."""

    def save(self) -> Sequence[float]:
        """Return the state that a cut destroys: at most four numbers. Called before :meth:`on_loss`."""
        return ()

    def restore(self, saved: Sequence[float]) -> None:
        """Undo a mistaken cut; ``saved`` is the result of :meth:`save` before it, padded with zeros to four numbers."""
