"""The slot ``spurious``: detection of needless retransmissions."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Board, Context, Episode, Ledger, Mistake, Segment


class Spurious(Algorithm):
    """Detects whether an episode's retransmissions were needless; it never sends or cuts.

    The ledger keeps the last four episodes; the detector may set ``proven_spurious`` and ``void`` in each.
    """

    def on_begin(self, ledger: Ledger, cx: Context) -> None:
        """An episode has started: ``ledger.newest``."""

    def on_retransmit(self, segment: Segment, before: int, ep: Episode, cx: Context) -> None:
        """A segment of the newest episode was retransmitted; its previous transmission was at ``before`` (ns)."""

    def passes_over(self, ack: Ack, cx: Context) -> bool:
        """Whether this ACK obviously proves nothing; :meth:`on_ack` is then not called for it."""
        return False

    @abstractmethod
    def on_ack(self, ack: Ack, ledger: Ledger, board: Board, cx: Context) -> Mistake | None:
        """Process an ACK; return a verdict if there is one."""

    def rtt(self, cx: Context) -> int | None:
        """Return an RTT (ns) of retransmitted data, which Karn's rule excludes from the timer; called after a DSACK."""
        return None

    def on_episode_end(self, ep: Episode, cx: Context) -> Mistake | None:
        """The phase of an episode has ended; may return a verdict."""
        return None
