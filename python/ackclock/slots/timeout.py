"""``timeout``: and after a timeout?"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Board, Context, Episode, Flow, Mistake, Repair, Segment, Window, Xmit


class Timeout(Algorithm):
    """Owner of the Loss phase: what is sent between a retransmission timeout and the end of its repair."""

    @abstractmethod
    def enter(self, ep: Episode, w: Window, board: Board, cx: Context) -> Repair:
        """The phase begins; ``w.ssthresh`` is already cut."""

    @abstractmethod
    def on_ack(self, ack: Ack, lost: int, ep: Episode, w: Window, board: Board, cx: Context) -> Flow | Mistake:
        """An ACK arrived; if it advanced, the window has already grown. ``lost`` bytes were newly marked by the detector.

        The answer is not ``Flow.RESTART``; a :class:`Mistake` says that the timer fired for nothing.
        """

    @abstractmethod
    def next(self, w: Window, board: Board, cx: Context) -> Xmit | None:
        """What to send now: a pure question, asked until the answer is None. See :meth:`Window.admits`."""

    def on_sent(self, x: Xmit, segment: Segment, cx: Context) -> None:
        """It was sent."""
