"""Errors in Python algorithms, and their messages."""
# ruff: noqa: D106 - the base classes document the methods

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock as ak
import slots_rebuilt as rebuilt
from ackclock.slots import (
    Ack,
    Board,
    Context,
    Cut,
    Episode,
    Flow,
    Ledger,
    Loss,
    Repair,
    Sample,
    Window,
    Xmit,
    given,
)
from ackclock.slots.registry import Value
from test_slots import BLANTON_ALLMAN, ROUGH


class Three(ak.DupThresh):
    """A threshold of three."""

    def segments(self, w: Window, cx: Context) -> int:
        return 3


def failed(slot: str, algorithm: Value, stack: str = "dsack", seeds: int = 1) -> ak.AlgorithmError:
    """The error that ends a run with this algorithm."""
    with pytest.raises(ak.AlgorithmError) as caught:
        ak.run(ROUGH, stack=stack, set={slot: algorithm}, seeds=seeds)
    return caught.value


def test_an_error_ends_the_run_and_says_where_when_and_with_which_seed() -> None:
    class Late(Three):
        def on_disorder(self, w: Window, cx: Context) -> None:
            if cx.now > 5_000_000_000:
                self.divide(cx.mss)

        def divide(self, n: int) -> float:
            return n / 0

    error = failed("detect.threshold", Late, seeds=3)
    assert str(error).endswith("s of simulated time, seed 1: ZeroDivisionError: division by zero")
    assert f"Late.on_disorder at {error.time_s:.9f} s" in str(error)
    assert error.time_s > 5
    assert (error.method, error.seed) == ("on_disorder", 1)
    assert isinstance(error.__cause__, ZeroDivisionError)
    frames = [line.strip() for line in error.traceback.splitlines() if line.startswith("  File")]
    assert len(frames) == 2, "the method and what it called, nothing of Ackclock's"
    assert all(__file__ in frame for frame in frames)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.traceback, again.time_s) == (str(error), error.traceback, error.time_s)


def test_the_first_seed_that_fails_is_the_one_that_is_told() -> None:
    class Picky(Three):
        runs = 0

        def __init__(self) -> None:
            Picky.runs += 1

        def on_disorder(self, w: Window, cx: Context) -> None:
            if Picky.runs == 3:
                raise KeyError("third")

    assert failed("detect.threshold", Picky, seeds=5).seed == 2, "one object was made to look at its parameters"


def test_an_error_while_an_object_is_made_for_a_flow_is_told_too() -> None:
    class Heavy(Three):
        def __init__(self) -> None:
            if self.mss == 1000:
                raise OSError("segments of 1000 B")

    error = failed("detect.threshold", Heavy)
    assert (error.method, error.time_s) == ("__init__", 0.0)
    assert "OSError: segments of 1000 B" in str(error)


class Answers:
    """Algorithms that return invalid values: slot, class, and the message."""

    class Zero(ak.DupThresh):
        def segments(self, w: Window, cx: Context) -> int:
            return 0

    class Text(ak.DupThresh):
        def segments(self, w: Window, cx: Context) -> int:
            return "3"  # type: ignore[return-value]

    class NoFlow(rebuilt.Reno):
        def enter(self, ack: Ack | None, ep: Episode, w: Window, board: Board, cx: Context) -> Flow:
            return None  # type: ignore[return-value]

    class BeginsAgain(rebuilt.Reno):
        def enter(self, ack: Ack | None, ep: Episode, w: Window, board: Board, cx: Context) -> Flow:
            return Flow.BEGIN

    class NotOutstanding(rebuilt.Reno):
        def next(self, w: Window, board: Board, cx: Context) -> Xmit | None:
            return Xmit.again(cx.snd_max)

    class NeverEnough(rebuilt.Reno):
        def next(self, w: Window, board: Board, cx: Context) -> Xmit | None:
            return Xmit.again(cx.snd_una)

    class Closed(rebuilt.Aimd):
        def on_ack(self, ack: Ack, w: Window, cx: Context) -> None:
            w.cwnd = 10

    class NotANumber(rebuilt.Aimd):
        def on_ack(self, ack: Ack, w: Window, cx: Context) -> None:
            w.cwnd = float("nan")

    class CutsToNothing(rebuilt.Aimd):
        def on_loss(self, loss: Loss, w: Window, cx: Context) -> Cut:
            return Cut(2000, 1)

    class SavesALot(rebuilt.Aimd):
        def save(self) -> list[float]:
            return [1.0] * 5

    class WritesWhatItReads(rebuilt.Aimd):
        def on_loss(self, loss: Loss, w: Window, cx: Context) -> Cut:
            w.cwnd = 2000
            return Cut(2000, 2000)

    class AtOnce(rebuilt.Rfc6298):
        def deadline(self, armed: int) -> int:
            return armed

    class Shortest(rebuilt.Rfc6298):
        def on_sample(self, rtt: int) -> None:
            self.base = -1

    class StandsStill(rebuilt.DupAck):
        def deadline(self) -> int:
            return 1

    class Restarts(rebuilt.GoBackN):
        def on_ack(self, ack: Ack, lost: int, ep: Episode, w: Window, board: Board, cx: Context) -> Flow:
            return Flow.RESTART

    class NoRepair(rebuilt.GoBackN):
        def enter(self, ep: Episode, w: Window, board: Board, cx: Context) -> Repair:
            return Flow.DONE  # type: ignore[return-value]

    class Marks(ak.DupThresh):
        def segments(self, w: Window, cx: Context) -> int:
            return 3

        def on_ack(self, ack: Ack, board: Board, cx: Context) -> None:
            board.mark_head_lost()


@pytest.mark.parametrize(
    ("slot", "algorithm", "said"),
    [
        ("detect.threshold", Answers.Zero, "segments at .*: returned 0, allowed: a whole number from 1 to 4294967295"),
        ("detect.threshold", Answers.Text, "returned '3', allowed: a whole number from 1 to 4294967295"),
        ("detect.threshold", Answers.Marks, "this Board is read-only"),
        ("recovery", Answers.NoFlow, "enter at .* returned None, allowed: a Flow"),
        ("recovery", Answers.BeginsAgain, "any Flow except BEGIN and REWIND"),
        ("recovery", Answers.NotOutstanding, "Xmit.again only with an offset that is outstanding"),
        ("recovery", Answers.NeverEnough, "it must let time advance"),
        ("congestion", Answers.Closed, r"left cwnd = 10 B, allowed: one segment \(1000 B\) or more"),
        ("congestion", Answers.NotANumber, "ValueError: cwnd = NaN, allowed: a number from 0 to"),
        ("congestion", Answers.CutsToNothing, r"returned cwnd = 1 B, allowed: one segment \(1000 B\) or more"),
        ("congestion", Answers.SavesALot, "at most four numbers"),
        ("congestion", Answers.WritesWhatItReads, "this window is read-only"),
        ("rto", Answers.AtOnce, "deadline at .* allowed: a whole number from"),
        ("rto", Answers.Shortest, "base at .* returned -1, allowed: a whole number from 1000 to"),
        ("detect", Answers.StandsStill, "it must let time advance"),
        ("timeout", Answers.Restarts, "RESTART, which only a Recovery may return"),
        ("timeout", Answers.NoRepair, "allowed: a Repair"),
    ],
)
def test_an_answer_that_makes_no_sense_ends_the_run_with_what_is_allowed(
    slot: str, algorithm: Value, said: str
) -> None:
    assert re.search(said, str(failed(slot, algorithm, stack="reno")))


KEPT: list[object] = []


class Keeps(ak.DupThresh):
    """Keeps an object that it was lent for one call."""

    def segments(self, w: Window, cx: Context) -> int:
        return 3

    def on_ack(self, ack: Ack, board: Board, cx: Context) -> None:
        KEPT[:] = [board, cx, ack]


class KeepsLedger(rebuilt.SlowStartBack):
    """Keeps the ledger, one of its episodes and the window."""

    def on_mistake(self, mistake: object, ledger: Ledger, give_back: object, cx: Context) -> None:
        KEPT[:] = [ledger, ledger.newest, give_back]


def test_what_was_lent_for_a_call_cannot_be_used_after_it() -> None:
    ak.run(BLANTON_ALLMAN, set={"detect.threshold": Keeps})
    board, cx, ack = KEPT
    assert isinstance(board, Board)
    assert isinstance(cx, Context)
    assert isinstance(ack, Ack)
    for use in (lambda: board.pipe, board.segments, lambda: len(board), board.mark_head_lost):
        with pytest.raises(RuntimeError, match="this Board was valid for one call, which has ended"):
            use()
    assert cx.now > 0 < ack.ack, "copies may be kept"
    ak.run(BLANTON_ALLMAN, stack="dsack", set={"undo": KeepsLedger})
    ledger, episode, back = KEPT
    assert isinstance(ledger, Ledger)
    assert isinstance(episode, Episode)
    assert isinstance(back, ak.slots.GiveBack)
    with pytest.raises(RuntimeError, match="this Ledger was valid"):
        ledger.get(1)
    with pytest.raises(RuntimeError, match="this Episode was writable"):
        episode.void = True
    with pytest.raises(RuntimeError, match="this GiveBack was valid"):
        back.restore_congestion(episode)
    with pytest.raises(RuntimeError, match="this window is read-only"):
        back.w.cwnd = 1e6
    assert episode.id > 0


def test_a_method_that_a_class_leaves_to_its_base_is_never_called(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(self: ak.DupThresh, sample: Sample, w: Window, cx: Context) -> None:
        raise AssertionError("called")

    monkeypatch.setattr(ak.DupThresh, "on_reorder", never)
    ak.run(BLANTON_ALLMAN, set={"detect.threshold": Three})


GOOD = "import ackclock as ak\nclass A(ak.DupThresh):\n"
GOOD += "    def __init__(self, *, n: int = 3, m: int = 1) -> None: self.n = n\n"
GOOD += "    def segments(self, w, cx): return self.n\n"


@pytest.mark.parametrize(
    ("text", "table", "said"),
    [
        (GOOD, 'source = "nix.py:A"', 'no readable file nix.py (No such file or directory), allowed: "file.py:Class"'),
        (
            GOOD,
            'source = "a.py"',
            'found "a.py", allowed: "file.py:Class", with the file relative to the scenario file',
        ),
        (GOOD, 'source = "a.py:a b"', 'found "a.py:a b", allowed: "file.py:Class"'),
        (GOOD, "n = 3", 'found nothing, allowed: "file.py:Class"'),
        (GOOD, 'source = "#0:A"', 'found "#0:A", allowed: a class that this program has defined'),
        (GOOD, 'source = "a.py:AA"', 'no class `AA` in a.py, allowed: one of the classes A; did you mean "a.py:A"?'),
        (GOOD, 'source = "a.py:ak"', "`ak`, which is not an algorithm, allowed: one of the classes A"),
        (GOOD, 'source = "a.py:A"\nl = 1', "an unknown parameter `l`, allowed: one of the parameters n, m"),
        (
            GOOD.replace("n: int = 3", "n: int"),
            'source = "a.py:A"',
            "found nothing, allowed: a value: `A` has no default for `n`",
        ),
        (GOOD.replace("self.n = n", "int('x')"), 'source = "a.py:A"', "found ValueError: invalid literal for int()"),
        ("class A\n", 'source = "a.py:A"', "SyntaxError: expected ':' in line 1 of a.py, allowed: a file that loads"),
        (
            "\n1 / 0\n",
            'source = "a.py:A"',
            "ZeroDivisionError: division by zero in line 2 of a.py, allowed: a file that loads",
        ),
        (
            GOOD.replace("DupThresh", "Rto"),
            'source = "a.py:A"',
            "`A`, a subclass of ackclock.Rto, allowed: a subclass of ackclock.DupThresh",
        ),
        (
            GOOD.replace("segments", "segment"),
            'source = "a.py:A"',
            "`A` without the method `segments`, allowed: a class with this method",
        ),
        (
            GOOD + "    def on_reoder(self, *a): pass\n",
            'source = "a.py:A"',
            "`A` with a method `on_reoder`, which is never called, allowed: methods of ackclock.DupThresh: on_ack",
        ),
    ],
)
def test_a_bad_source_is_refused_on_one_line_with_its_place(tmp_path: Path, text: str, table: str, said: str) -> None:
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    scenario = tmp_path / "s.toml"
    scenario.write_text(ROUGH + f'[flow.set.detect.threshold]\nkind = "python"\n{table}\n', encoding="utf-8")
    with pytest.raises(ak.ScenarioError) as caught:
        ak.run(str(scenario), allow_python=True)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.file == str(scenario)
    first = ROUGH.count("\n") + 1
    assert caught.value.line is not None
    assert caught.value.line >= first
    assert (caught.value.key or "").startswith("flow[0].set.detect.threshold")


def test_a_bad_key_is_refused_at_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(GOOD, encoding="utf-8")
    scenario = tmp_path / "s.toml"
    table = '[flow.set.detect.threshold]\nkind = "python"\nsource = "a.py:A"\nn = 4\nk = 1\n'
    scenario.write_text(ROUGH + table, encoding="utf-8")
    with pytest.raises(ak.ScenarioError) as caught:
        ak.run(str(scenario), allow_python=True)
    assert (caught.value.line, caught.value.key) == (ROUGH.count("\n") + 5, "flow[0].set.detect.threshold.k")
    with pytest.raises(ak.ScenarioError, match="an unknown parameter `n`, allowed: no parameter: `Three` has none"):
        ak.run(ROUGH, set={"detect.threshold": given(Three, n=1)})


def test_a_threshold_is_refused_where_the_detector_has_none() -> None:
    with pytest.raises(ak.ScenarioError, match='also detect = "dup-ack" or detect = "sack"'):
        ak.run(ROUGH, stack="rack-tlp", set={"detect.threshold": Three})
    with pytest.raises(ak.ScenarioError, match="a detector without a threshold"):
        ak.run(ROUGH, stack="reno", set={"detect": rebuilt.DupAck, "detect.threshold": Three})


BAD = """
import ackclock as ak

def helper(n):
    return 1 / n

class Bad(ak.DupThresh):
    def segments(self, w, cx):
        return helper(0)

class Endless(ak.DupThresh):
    def segments(self, w, cx):
        print("in", flush=True)
        while True:
            pass
"""


def test_the_command_prints_the_users_frames_and_one_line(
    ackclock: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "bad.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "s.toml").write_text(ROUGH, encoding="utf-8")
    ran = ackclock(
        "run", "s.toml", "--allow-python", "--set", 'detect.threshold={ kind = "python", source = "bad.py:Bad" }'
    )
    *frames, last = ran.stderr.splitlines()
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert last.startswith("ackclock: bad.py:Bad.segments at ")
    assert last.endswith(" s of simulated time, seed 1: ZeroDivisionError: division by zero")
    assert [line.split(", ")[1:] for line in frames if line.startswith("  File")] == [
        ["line 9", "in segments"],
        ["line 5", "in helper"],
    ]


@pytest.mark.parametrize("source", ["bad.py:Endless", "loads.py:Endless"])
def test_an_interruption_reaches_python_that_never_ends(tmp_path: Path, source: str) -> None:
    (tmp_path / "bad.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "loads.py").write_text("print('in', flush=True)\nwhile True: pass\n", encoding="utf-8")
    (tmp_path / "s.toml").write_text(ROUGH, encoding="utf-8")
    table = f'detect.threshold={{ kind = "python", source = "{source}" }}'
    command = [sys.executable, "-m", "ackclock", "run", "s.toml", "--allow-python", "--set", table]
    with subprocess.Popen(
        command, cwd=tmp_path, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "in\n"
        began = time.monotonic()
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=30)
    assert (running.returncode, said) == (130, "ackclock: interrupted\n")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**63, None, object()])
def test_a_parameter_that_toml_cannot_hold_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match="allowed: a text, a number"):
        ak.run(ROUGH, set={"detect.threshold": given(Three, n=value)})
