"""Whatever an algorithm in Python returns, the engine survives: a run finishes, or a message names the error."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

import ackclock as ak
from ackclock.slots import (
    Ack,
    Advice,
    Algorithm,
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
    Rearm,
    Repair,
    Sample,
    Segment,
    Verdict,
    Window,
    Xmit,
    given,
)
from ackclock.slots.registry import Value
from test_slots import ROUGH

T = TypeVar("T")
FLOWS = (Flow.CONTINUE, Flow.CONTINUE, Flow.CONTINUE, Flow.continue_with(Rearm.RESTART), Flow.continue_with(Rearm.KEEP))


class Wild:
    """Returns random valid values."""

    def __init__(self, *, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, *choices: T) -> T:
        return self.random.choice(choices)

    def number(self) -> int:
        return self.one(0, 1, 3, 1000, self.random.randrange(10**6), 10**9, 2**40)

    def mark(self, board: Board, cx: Context) -> int:
        at = self.one(0, cx.snd_una, cx.snd_nxt, cx.snd_max, self.number())
        marks: list[Callable[[], int | None]] = [
            board.mark_head_lost,
            board.mark_rest_lost,
            board.unmark_lost,
            board.clear_sacks,
            lambda: board.mark_lost(at),
            lambda: board.mark_holes_below(at),
            lambda: board.mark_holes_under(self.one(0, 1, 3, 100)),
            lambda: board.mark_is_lost(self.one(0, 1, 3, 100), self.one(0, 1, 1000, 2**32 - 1)),
        ]
        return self.one(*marks)() or 0 if self.random.random() < 0.3 else 0

    def widen(self, w: Window, cx: Context) -> None:
        w.cwnd = self.one(w.cwnd, cx.mss, 3.7 * cx.mss, 100 * cx.mss, 1e9)
        w.ssthresh = self.one(w.ssthresh, cx.mss, 2.5 * cx.mss, float("inf"))

    def what(self, w: Window, board: Board, cx: Context) -> Xmit | None:
        again = [Xmit.again(s.start) for s in board.segments()[:3]]
        new = [Xmit.NEW] if cx.next_len and self.one(True, w.admits(cx), w.admits_by_pipe(board, cx)) else []
        return self.one(None, None, *again, *new)


class WildRto(Wild, ak.Rto):
    """Timeouts of any size."""

    def draw(self) -> None:
        self.base = self.one(10**6, 10**8, 10**9, 2**50)
        self.srtt = self.one(None, 0, 10**6, 10**9, 2**50)
        self.backoff_count = self.one(0, 1, 7, 2**32 - 1)

    def on_ack(self, ack: Ack, now: int) -> None:
        self.draw()

    def on_sample(self, rtt: int) -> None:
        self.draw()

    def back_off(self) -> None:
        self.draw()

    def deadline(self, armed: int) -> int:
        return armed + self.one(10**6, 10**8, 10**10)


class WildDetector(Wild, ak.Detector):
    """Verdicts at random, and a timer."""

    watches_sends = True
    began_by = Cause.RTO

    def __init__(self, *, seed: int) -> None:
        super().__init__(seed=seed)
        self.due: int | None = None
        self.held: int | None = None

    def judge(self, board: Board, cx: Context) -> Verdict:
        self.due = self.one(None, cx.now + 10**6, cx.now + 10**8)
        self.held = self.one(None, None, cx.now + 10**5)
        marked = min(self.mark(board, cx), cx.flight)
        free = (Verdict.CLEAR, Verdict.SUSPECT, Verdict.PROBE)
        if not cx.flight:
            return self.one(*free)
        return self.one(*free, Verdict.lost(marked), Verdict.more(marked), Verdict.REPAIRED)

    def on_ack(self, ack: Ack, w: Window, board: Board, cx: Context) -> Verdict:
        return self.judge(board, cx)

    def on_timer(self, w: Window, board: Board, cx: Context) -> Verdict:
        return self.judge(board, cx)

    def deadline(self) -> int | None:
        return self.due

    def hold_until(self) -> int | None:
        return self.held

    def after_rto(self, board: Board, cx: Context) -> None:
        self.mark(board, cx)

    def dupthresh(self, w: Window, cx: Context) -> int | None:
        return self.one(None, 1, 3, 2**32 - 1)


class WildThreshold(Wild, ak.DupThresh):
    """Thresholds of any size."""

    def segments(self, w: Window, cx: Context) -> int:
        return self.one(1, 2, 3, 10, 2**32 - 1)

    def on_reorder(self, sample: Sample, w: Window, cx: Context) -> None:
        self.random.seed(sample.dupacks)


class WildDisorder(Wild, ak.Disorder):
    """Sends any data in Disorder."""

    def on_dup(self, ack: Ack, w: Window, cx: Context) -> None:
        self.sent_beyond = self.number()

    def next(self, w: Window, board: Board, cx: Context) -> Xmit | None:
        return self.what(w, board, cx)

    def on_resolved(self, w: Window, cx: Context) -> None:
        self.widen(w, cx)


class WildRecovery(Wild, ak.Recovery):
    """Retransmits anything."""

    def act(self, ep: Episode, w: Window, board: Board, cx: Context) -> None:
        self.widen(w, cx)
        self.mark(board, cx)
        ep.recover = self.one(ep.recover, 1, cx.snd_max, 2**61)
        ep.void = self.one(True, False)
        self.inflation = self.one(0.0, -1e9, 1e9)

    def enter(self, ack: Ack | None, ep: Episode, w: Window, board: Board, cx: Context) -> Flow:
        self.act(ep, w, board, cx)
        return self.one(*FLOWS, Flow.DONE, Flow.DONE_AND_GROW, Flow.RESTART)

    def on_ack(self, ack: Ack, lost: int, ep: Episode, w: Window, board: Board, cx: Context) -> Flow:
        self.act(ep, w, board, cx)
        return self.one(*FLOWS, Flow.DONE, Flow.DONE_AND_GROW, Flow.RESTART, Flow.BEGIN)

    def next(self, w: Window, board: Board, cx: Context) -> Xmit | None:
        return self.what(w, board, cx)


class WildTimeout(Wild, ak.Timeout):
    """Retransmits anything after a timeout."""

    def enter(self, ep: Episode, w: Window, board: Board, cx: Context) -> Repair:
        self.widen(w, cx)
        self.mark(board, cx)
        return self.one(Repair.MARKS, Repair.REWIND, Repair.REWIND_ALL)

    def on_ack(self, ack: Ack, lost: int, ep: Episode, w: Window, board: Board, cx: Context) -> Flow | Mistake:
        self.widen(w, cx)
        self.mark(board, cx)
        flow = self.one(*FLOWS, Flow.DONE, Flow.DONE_AND_GROW, Flow.REWIND, Flow.BEGIN)
        return flow if self.random.random() < 0.9 else Mistake(ep)

    def next(self, w: Window, board: Board, cx: Context) -> Xmit | None:
        return self.what(w, board, cx)


class WildCongestion(Wild, ak.Congestion):
    """Windows of any size."""

    def on_ack(self, ack: Ack, w: Window, cx: Context) -> None:
        self.widen(w, cx)

    def on_loss(self, loss: Loss, w: Window, cx: Context) -> Cut:
        return Cut(self.one(1e3, 2e3, 1e9, 2.0**50), self.one(float(cx.mss), 1e4, 1e9))

    def save(self) -> Sequence[float]:
        return [self.random.random()] * self.one(0, 1, 4)


class WildStartup(Wild, ak.Startup):
    """Starts with any window."""

    def initial(self, rwnd: int) -> Window:
        return Window(self.one(1.0, 2.5, 1e4) * self.mss, self.one(1e3, 2e3, float("inf")))

    def on_ack(self, ack: Ack, w: Window, cx: Context) -> Advice:
        thresholds = (Advice.ssthresh(self.mss), Advice.ssthresh(float("inf")))
        return self.one(Advice.KEEP, *thresholds, Advice.growth(0), Advice.growth(1))


class WildSpurious(Wild, ak.Spurious):
    """Calls any episode a mistake."""

    def touch(self, ep: Episode) -> None:
        ep.proven_spurious = self.one(0, 1, ep.retransmits)
        ep.void = self.one(True, False)

    def on_retransmit(self, segment: Segment, before: int, ep: Episode, cx: Context) -> None:
        self.touch(ep)

    def on_ack(self, ack: Ack, ledger: Ledger, board: Board, cx: Context) -> Mistake | None:
        ep = self.one(ledger.open, ledger.newest, ledger.get(max(1, ledger.count - 2)), ledger.get(10**6), None, None)
        if ep is None:
            return None
        self.touch(ep)
        return Mistake(ep, reordered=self.one(True, False))

    def rtt(self, cx: Context) -> int | None:
        return self.one(None, 1, 10**9, 2**50)

    def on_episode_end(self, ep: Episode, cx: Context) -> Mistake | None:
        return self.one(None, Mistake(ep))


class WildUndo(Wild, ak.Undo):
    """Restores anything."""

    def on_mistake(self, mistake: Mistake, ledger: Ledger, give_back: GiveBack, cx: Context) -> None:
        self.widen(give_back.w, cx)
        ep = ledger.get(mistake.episode)
        if ep is not None:
            give_back.restore_congestion(ep)
        give_back.fired_for_nothing(self.one(0, cx.now, 2**60))


CLASSES: dict[str, type[Algorithm]] = {
    "rto": WildRto,
    "detect": WildDetector,
    "detect.threshold": WildThreshold,
    "disorder": WildDisorder,
    "recovery": WildRecovery,
    "timeout": WildTimeout,
    "congestion": WildCongestion,
    "startup": WildStartup,
    "spurious": WildSpurious,
    "undo": WildUndo,
}
SHORT = ROUGH.replace('"60 s"', '"10 s"')


def ended(stack: str, wild: dict[str, Value]) -> str:
    """The message that ended a run; empty if it finished."""
    try:
        ak.run(SHORT, stack=stack, set=wild)
    except (ak.ScenarioError, ak.AlgorithmError) as error:
        return str(error)
    return ""


@pytest.mark.parametrize("stack", ["reno", "dsack", "rfc-6675", "linux-2025", "hoe"])
@pytest.mark.parametrize("slot", CLASSES)
def test_the_engine_stands_whatever_one_slot_answers(slot: str, stack: str) -> None:
    for seed in range(2):
        said = ended(stack, {slot: given(CLASSES[slot], seed=seed)})
        assert not said or "it must let time advance" in said or "a detector without a threshold" in said


def test_the_engine_stands_whatever_all_slots_answer() -> None:
    for seed in range(2):
        said = ended("dsack", {s: given(cls, seed=seed) for s, cls in CLASSES.items() if s != "detect.threshold"})
        assert not said or "it must let time advance" in said
