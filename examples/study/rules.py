"""A user-written rule for the duplicate ACK threshold, called by the engine."""

from __future__ import annotations

import ackclock as ak


class ShareOfWindow(ak.DupThresh):
    """A share of the window, at least three segments: a packet that is later than this share counts as lost."""

    def __init__(self, *, share: float = 0.5) -> None:
        """``share`` is from 0 to 1."""
        self.share = share

    def segments(self, w: ak.slots.Window, cx: ak.slots.Context) -> int:
        """The threshold, in segments."""
        return max(3, int(self.share * w.cwnd / cx.mss))
