"""The slot ``detect.threshold``: the number of duplicate ACKs that means a loss."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Board, Context, Sample, Window


class DupThresh(Algorithm):
    """A rule for the duplicate ACK threshold, used by the detectors ``dup-ack`` and ``sack``.

    Windows are in bytes, the threshold in segments, times in nanoseconds. The board is read-only.
    """

    follows_flight: bool = False
    """Whether :meth:`segments` is called on every duplicate until a recovery starts, instead of only on the first
    duplicate of a hole. Read once the object has been created."""

    @abstractmethod
    def segments(self, w: Window, cx: Context) -> int:
        """Return the threshold, at least 1. It is requested on the first duplicate of a hole and kept for that hole."""

    def on_ack(self, ack: Ack, board: Board, cx: Context) -> None:
        """Process an ACK during a hole, or one with SACK blocks, after it has been applied to the board."""

    def on_reorder(self, sample: Sample, w: Window, cx: Context) -> None:
        """Reordering was measured: a hole filled by itself, or (``sample.resent``) a retransmission proved needless."""

    def on_disorder(self, w: Window, cx: Context) -> None:
        """The first duplicate of an event has arrived; :meth:`segments` is called next."""

    def on_cut(self, w: Window, cx: Context) -> None:
        """The window was reduced to ``w``."""

    def on_stall(self, idle: int, w: Window, cx: Context) -> None:
        """Limited transmit ended before the threshold was reached, and nothing was sent for ``idle`` ns."""

    def on_rto(self, dup_run: int, w: Window, cx: Context) -> None:
        """The retransmission timer fired after ``dup_run`` consecutive duplicates."""
