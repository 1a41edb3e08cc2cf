"""A built-in algorithm for each slot, rewritten in Python."""

from __future__ import annotations

from collections.abc import Sequence

import ackclock as ak
from ackclock.slots import (
    Ack,
    Advice,
    Board,
    Cause,
    Context,
    Cut,
    Episode,
    Flow,
    GiveBack,
    Ledger,
    Loss,
    Mistake,
    Phase,
    Rearm,
    Repair,
    Segment,
    Verdict,
    Window,
    Xmit,
)

SECOND = 1_000_000_000


class Rfc6298(ak.Rto):
    """``rto = "rfc6298"``: times one segment at a time, in whole nanoseconds."""

    def __init__(self, *, least: int = SECOND) -> None:
        self.least = least
        self.base = max(SECOND, least)
        self.srtt8 = self.rttvar4 = 0
        self.timing: tuple[int, int] | None = None

    def on_sent(self, segment: Segment) -> None:
        if segment.sends > 1:
            self.timing = None
        elif self.timing is None:
            self.timing = segment.end, segment.at

    def on_ack(self, ack: Ack, now: int) -> None:
        if self.timing is not None and ack.ack >= self.timing[0]:
            sent, self.timing, self.backoff_count = self.timing[1], None, 0
            self.on_sample(now - sent)

    def on_sample(self, rtt: int) -> None:
        m = max(rtt, 1)
        if self.srtt8 == 0:
            self.srtt8, self.rttvar4 = m * 8, m * 2
        else:
            delta = m - (self.srtt8 >> 3)
            self.rttvar4 = max(self.rttvar4 + abs(delta) - (self.rttvar4 >> 2), 1)
            self.srtt8 = max(self.srtt8 + delta, 1)
        self.srtt = self.srtt8 // 8
        self.base = min(max((self.srtt8 >> 3) + self.rttvar4, self.least), 60 * SECOND)

    def back_off(self) -> None:
        self.backoff_count += 1
        self.timing = None


class DupAck(ak.Detector):
    """``detect = "dup-ack"`` with its guard and a threshold of three."""

    def on_ack(self, ack: Ack, w: Window, board: Board, cx: Context) -> Verdict:
        if cx.phase is Phase.RECOVERY:
            return Verdict.SUSPECT
        if not ack.is_dup:
            return Verdict.CLEAR if ack.advances or cx.phase is not Phase.DISORDER else Verdict.SUSPECT
        if ack.dup_run == 3 and (cx.recover is None or cx.snd_una > cx.recover):
            return Verdict.lost(board.mark_head_lost())
        return Verdict.SUSPECT

    def dupthresh(self, w: Window, cx: Context) -> int:
        return 3


class Fixed(ak.DupThresh):
    """``detect.threshold = "fixed"``."""

    def __init__(self, *, dupacks: int = 3) -> None:
        self.dupacks = dupacks

    def segments(self, w: Window, cx: Context) -> int:
        return self.dupacks


class LimitedTransmit(ak.Disorder):
    """``disorder = "limited-transmit"``."""

    def __init__(self) -> None:
        self.allowance = 0

    def on_enter(self, w: Window, cx: Context) -> None:
        self.allowance = self.sent_beyond = 0

    def on_dup(self, ack: Ack, w: Window, cx: Context) -> None:
        self.allowance = min(ack.dup_run, 2) * cx.mss

    def next(self, w: Window, board: Board, cx: Context) -> Xmit | None:
        return Xmit.NEW if w.admits(cx, self.allowance) else None

    def on_sent(self, x: Xmit, segment: Segment, w: Window, cx: Context) -> None:
        if cx.flight > w.cwnd // cx.mss * cx.mss:
            self.sent_beyond += segment.len

    def on_resolved(self, w: Window, cx: Context) -> None:
        self.allowance = self.sent_beyond = 0


class Reno(ak.Recovery):
    """``recovery = "reno"``."""

    def __init__(self) -> None:
        self.resend = False

    def enter(self, ack: Ack | None, ep: Episode, w: Window, board: Board, cx: Context) -> Flow:
        w.cwnd = ep.target
        self.inflation = 3.0 * cx.mss
        self.resend = True
        return Flow.continue_with(Rearm.RESTART)

    def on_ack(self, ack: Ack, lost: int, ep: Episode, w: Window, board: Board, cx: Context) -> Flow:
        if ack.advances:
            self.inflation, self.resend = 0.0, False
            return Flow.DONE_AND_GROW
        if ack.is_dup:
            self.inflation += cx.mss
        return Flow.CONTINUE

    def next(self, w: Window, board: Board, cx: Context) -> Xmit | None:
        if self.resend:
            return Xmit.again(cx.snd_una)
        return Xmit.NEW if w.admits(cx, int(self.inflation)) else None

    def on_sent(self, x: Xmit, segment: Segment, cx: Context) -> None:
        if x.offset is not None:
            self.resend = False


class Tahoe(ak.Recovery):
    """``recovery = "tahoe"``: the Loss phase does the work."""

    def enter(self, ack: Ack | None, ep: Episode, w: Window, board: Board, cx: Context) -> Flow:
        return Flow.RESTART

    def on_ack(self, ack: Ack, lost: int, ep: Episode, w: Window, board: Board, cx: Context) -> Flow:
        return Flow.RESTART

    def next(self, w: Window, board: Board, cx: Context) -> Xmit | None:
        return None


class GoBackN(ak.Timeout):
    """``timeout = "go-back-n"``."""

    def enter(self, ep: Episode, w: Window, board: Board, cx: Context) -> Repair:
        w.cwnd = cx.mss
        board.clear_sacks()
        return Repair.REWIND

    def on_ack(self, ack: Ack, lost: int, ep: Episode, w: Window, board: Board, cx: Context) -> Flow:
        if lost:
            return Flow.BEGIN
        return Flow.DONE if cx.snd_nxt == cx.snd_max else Flow.CONTINUE

    def next(self, w: Window, board: Board, cx: Context) -> Xmit | None:
        return Xmit.NEW if w.admits(cx) else None


class Aimd(ak.Congestion):
    """``congestion = "aimd"``."""

    def on_ack(self, ack: Ack, w: Window, cx: Context) -> None:
        w.cwnd += cx.mss if w.cwnd < w.ssthresh else cx.mss * cx.mss / w.cwnd

    def on_loss(self, loss: Loss, w: Window, cx: Context) -> Cut:
        if loss.repeated:
            return Cut(w.ssthresh, w.cwnd)
        half = max(loss.flight / 2, 2 * cx.mss)
        return Cut(half, half)


class Bounded(Aimd):
    """The same with state, as ``save`` and ``restore`` see it."""

    def __init__(self) -> None:
        self.cuts = 0.0

    def on_loss(self, loss: Loss, w: Window, cx: Context) -> Cut:
        self.cuts += 1
        return super().on_loss(loss, w, cx)

    def save(self) -> Sequence[float]:
        return [self.cuts, 0.5]

    def restore(self, saved: Sequence[float]) -> None:
        if list(saved) != [self.cuts - 1, 0.5, 0.0, 0.0]:
            raise AssertionError(f"{saved} given back after {self.cuts} cuts")
        self.cuts = saved[0]


class FixedStart(ak.Startup):
    """``startup = "fixed"``, which gives the same advice on every ACK."""

    def __init__(self, *, segments: int = 1) -> None:
        self.segments = segments

    def initial(self, rwnd: int) -> Window:
        return Window(self.segments * self.mss, max(rwnd, 2 * self.mss))

    def on_ack(self, ack: Ack, w: Window, cx: Context) -> Advice:
        return Advice.ssthresh(w.ssthresh)


class RttMin(ak.Spurious):
    """``spurious = "rtt-min"`` with ``judge_fast_retransmits``."""

    def __init__(self, *, share: float = 0.75) -> None:
        self.share = share
        self.timed: tuple[int, int] | None = None

    def on_retransmit(self, segment: Segment, before: int, ep: Episode, cx: Context) -> None:
        if ep.retransmits == 1:
            self.timed = ep.id, cx.now

    def passes_over(self, ack: Ack, cx: Context) -> bool:
        return self.timed is None

    def on_ack(self, ack: Ack, ledger: Ledger, board: Board, cx: Context) -> Mistake | None:
        if not ack.advances or self.timed is None:
            return None
        (number, sent), self.timed = self.timed, None
        ep = ledger.get(number)
        if cx.min_rtt is None or ep is None or ep.void or cx.now - sent >= self.share * cx.min_rtt:
            return None
        return Mistake(ep, reordered=False)


class SlowStartBack(ak.Undo):
    """``undo = "slow-start-back"``."""

    def on_mistake(self, mistake: Mistake, ledger: Ledger, give_back: GiveBack, cx: Context) -> None:
        ep = ledger.get(mistake.episode)
        if ep is None or ep.void or mistake.cause is Cause.RTO:
            return
        ep.void = True
        give_back.w.ssthresh = max(give_back.w.ssthresh, ep.prior.cwnd)
        give_back.restore_congestion(ep)
