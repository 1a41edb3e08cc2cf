"""``spurious``: was it a mistake?"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Board, Context, Episode, Ledger, Mistake, Segment


class Spurious(Algorithm):
    """A judge that finds out whether an episode's retransmissions were needless; it never sends or cuts.

    Of the last four episodes the ledger knows; in each the judge may write ``proven_spurious`` and ``void``.
    """

    def on_begin(self, ledger: Ledger, cx: Context) -> None:
        """An episode has begun: ``ledger.newest``."""

    def on_retransmit(self, segment: Segment, before: int, ep: Episode, cx: Context) -> None:
        """A segment of the newest episode was sent again; it had last been sent at ``before`` (ns)."""

    def passes_over(self, ack: Ack, cx: Context) -> bool:
        """Whether this ACK proves nothing, as one look tells; then :meth:`on_ack` is not called for it."""
        return False

    @abstractmethod
    def on_ack(self, ack: Ack, ledger: Ledger, board: Board, cx: Context) -> Mistake | None:
        """An ACK arrived; a verdict, if there is one."""

    def rtt(self, cx: Context) -> int | None:
        """A round trip (ns) of something sent twice, which Karn's rule keeps from the timer; asked after a DSACK."""
        return None

    def on_episode_end(self, ep: Episode, cx: Context) -> Mistake | None:
        """The phase of an episode ended: an occasion to judge."""
        return None
