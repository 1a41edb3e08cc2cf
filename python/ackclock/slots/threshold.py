"""``detect.threshold``: how many duplicates mean a loss?"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Board, Context, Sample, Window


class DupThresh(Algorithm):
    """A rule for the duplicate ACK threshold; used by the detectors ``dup-ack`` and ``sack``.

    Windows are in bytes, the threshold in segments, times in nanoseconds. The board is only for reading.
    """

    follows_flight: bool = False
    """Whether :meth:`segments` is asked at every duplicate, until a recovery begins, instead of on the first of a hole.
    Read when the object has been made."""

    @abstractmethod
    def segments(self, w: Window, cx: Context) -> int:
        """The threshold, 1 or more: asked on the first duplicate of a hole and kept for that hole."""

    def on_ack(self, ack: Ack, board: Board, cx: Context) -> None:
        """An ACK while something is missing, or that brings SACK blocks; it has been applied to the board."""

    def on_reorder(self, sample: Sample, w: Window, cx: Context) -> None:
        """Reordering was measured: a hole filled itself, or (``sample.resent``) what was resent proved needless."""

    def on_disorder(self, w: Window, cx: Context) -> None:
        """The first duplicate of an event arrived; :meth:`segments` is asked after it."""

    def on_cut(self, w: Window, cx: Context) -> None:
        """The window was reduced to ``w``."""

    def on_stall(self, idle: int, w: Window, cx: Context) -> None:
        """Limited transmit came to its end before the threshold was reached, and for ``idle`` ns nothing was sent."""

    def on_rto(self, dup_run: int, w: Window, cx: Context) -> None:
        """The retransmission timer fired in the middle of ``dup_run`` duplicates."""
