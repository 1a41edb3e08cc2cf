"""The slot ``recovery``: transmissions that repair losses."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock._native import Gate
from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Board, Context, Episode, Flow, Segment, Window, Xmit


class Recovery(Algorithm):
    """Controls the Recovery phase: which segments are sent, its end, and the window after it."""

    open_gate: Gate = Gate.WINDOW
    """The measure that limits new data in Open. Read once the object has been created."""
    inflation: float = 0.0
    """Bytes temporarily added to the window, for the trace only. Read after each method except :meth:`next`."""

    @abstractmethod
    def enter(self, ack: Ack | None, ep: Episode, w: Window, board: Board, cx: Context) -> Flow:
        """Start an episode. ``w.ssthresh`` is already cut, ``w.cwnd`` is not; ``ep.target`` is its intended value.

        ``ack`` is ``None`` if a timer started the episode. The result must not be ``Flow.BEGIN`` or ``Flow.REWIND``.
        """

    @abstractmethod
    def on_ack(self, ack: Ack, lost: int, ep: Episode, w: Window, board: Board, cx: Context) -> Flow:
        """Process an ACK; the detector newly marked ``lost`` bytes. The result must not be ``Flow.REWIND``."""

    @abstractmethod
    def next(self, w: Window, board: Board, cx: Context) -> Xmit | None:
        """Return the next transmission; no side effects. Called until it gives ``None``. See :meth:`Window.admits`."""

    def on_sent(self, x: Xmit, segment: Segment, cx: Context) -> None:
        """The transmission was sent."""
