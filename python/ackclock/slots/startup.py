"""``startup``: where does slow start begin and end?"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock._native import Advice
from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Context, Window


class Startup(Algorithm):
    """The start of a connection: the initial window, and ``ssthresh`` before the first loss (RFC 5681, RFC 6928)."""

    @abstractmethod
    def initial(self, rwnd: int) -> Window:
        """The window before anything is sent, at least a segment.

        Args:
            rwnd: the largest window, in bytes, that the peer is known to be able to offer.
        """

    def on_handshake(self, rtt: int) -> None:
        """The handshake took ``rtt`` ns."""

    def on_ack(self, ack: Ack, w: Window, cx: Context) -> Advice:
        """An ACK before the first loss; the window has not grown by it yet, and is for reading."""
        return Advice.KEEP
