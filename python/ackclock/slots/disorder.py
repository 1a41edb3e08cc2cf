"""The slot ``disorder``: transmissions between the first duplicate ACK and the verdict."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Board, Context, Segment, Window, Xmit


class Disorder(Algorithm):
    """Controls the Disorder phase: transmissions between the first duplicate ACK and the verdict (RFC 3042)."""

    sent_beyond: int = 0
    """Bytes sent beyond the window, which FlightSize excludes (RFC 5681 section 3.2 (2)). Read at a loss."""

    def on_enter(self, w: Window, cx: Context) -> None:
        """The phase begins; :meth:`on_dup` follows."""

    @abstractmethod
    def on_dup(self, ack: Ack, w: Window, cx: Context) -> None:
        """A duplicate ACK arrived."""

    @abstractmethod
    def next(self, w: Window, board: Board, cx: Context) -> Xmit | None:
        """Return the next transmission; no side effects. Called until it gives ``None``. See :meth:`Window.admits`."""

    def on_sent(self, x: Xmit, segment: Segment, w: Window, cx: Context) -> None:
        """The transmission was sent."""

    def on_resolved(self, w: Window, cx: Context) -> None:
        """The duplicates were caused by reordering; the window may be changed."""
