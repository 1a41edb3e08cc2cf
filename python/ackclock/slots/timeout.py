"""The slot ``timeout``: the repair after a timeout."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Board, Context, Episode, Flow, Mistake, Repair, Segment, Window, Xmit


class Timeout(Algorithm):
    """Controls the Loss phase: transmissions between a retransmission timeout and the end of its repair."""

    @abstractmethod
    def enter(self, ep: Episode, w: Window, board: Board, cx: Context) -> Repair:
        """Start the phase; ``w.ssthresh`` is already cut."""

    @abstractmethod
    def on_ack(self, ack: Ack, lost: int, ep: Episode, w: Window, board: Board, cx: Context) -> Flow | Mistake:
        """Process an ACK; if it advanced, the window has already grown.

        The detector newly marked ``lost`` bytes. The result must not be ``Flow.RESTART``; a :class:`Mistake` says that
        the timeout was spurious.
        """

    @abstractmethod
    def next(self, w: Window, board: Board, cx: Context) -> Xmit | None:
        """Return the next transmission; no side effects. Called until it gives ``None``. See :meth:`Window.admits`."""

    def on_sent(self, x: Xmit, segment: Segment, cx: Context) -> None:
        """The transmission was sent."""
