"""AVG-DEV (Leung & Ma 2005, section III), with the numbers of Table 1: the rule of ``avg-dev`` as a class."""

from math import floor

from ackclock import DupThresh
from ackclock.slots import Context, Sample, Window


class AvgDev(DupThresh):
    """An average of reordering lengths and a part of their deviation, below bounds."""

    def __init__(self, *, alpha: float = 0.3, beta: float = 0.3, share: float = 0.3) -> None:
        self.alpha, self.beta, self.share = alpha, beta, share
        self.avg, self.mdev, self.dupthresh = 3.0, 0.0, 3
        self.tmo_bound: int | None = None
        self.timed_out_at: int | None = None

    def segments(self, w: Window, cx: Context) -> int:
        return self.dupthresh

    def on_disorder(self, w: Window, cx: Context) -> None:
        segs = w.cwnd / cx.mss
        bound: float = floor(segs) - 1
        if cx.srtt:  # eq. 11: the repair must end before the timer fires
            by_time = floor((0.7 * (cx.rto / cx.srtt) - 2.0) * segs + 1e-9)
            bound = min(bound, by_time) if by_time >= 3 else bound
        if self.tmo_bound is not None:  # eq. 12
            bound = min(bound, self.tmo_bound)
        self.dupthresh = max(3, min(floor(self.avg + self.share * self.mdev), floor(bound)))

    def on_reorder(self, sample: Sample, w: Window, cx: Context) -> None:
        if sample.resent is not None:  # a false fast retransmit: eqs. 1 to 4
            r = sample.dupacks + 1.0
            self.mdev = self.beta * abs(r - self.avg) + (1.0 - self.beta) * self.mdev
            self.avg = self.alpha * r + (1.0 - self.alpha) * self.avg
            self.on_disorder(w, cx)

    def on_rto(self, dup_run: int, w: Window, cx: Context) -> None:
        if self.timed_out_at != cx.snd_una:  # eqs. 12 to 14, once for a segment
            self.timed_out_at = cx.snd_una
            self.tmo_bound = self.dupthresh if self.dupthresh > 3 and dup_run else self.tmo_bound
            self.avg, self.mdev = 0.5 * self.avg, 0.25 * self.mdev
            self.on_disorder(w, cx)
