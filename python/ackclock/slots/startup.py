"""The slot ``startup``: the beginning and the end of slow start."""

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
        """Return the window before anything is sent, at least one segment.

        Args:
            rwnd: the largest window that the peer can offer as far as known, in bytes.
        """

    def on_handshake(self, rtt: int) -> None:
        """The handshake took ``rtt`` ns."""

    def on_ack(self, ack: Ack, w: Window, cx: Context) -> Advice:
        """Process an ACK before the first loss; ``w`` is read-only, and the window has not yet grown by this ACK."""
        return Advice.KEEP
