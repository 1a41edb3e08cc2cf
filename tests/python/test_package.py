"""The package: the names that `import ackclock` provides."""

from __future__ import annotations

import contextlib
import pickle
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ackclock
from conftest import SHORT


def test_text_and_path_give_the_same_run(short: Path) -> None:
    assert ackclock.run(SHORT, seed=3).to_dict() == ackclock.run(short, seed=3).to_dict()


def test_several_stacks_come_one_after_the_other() -> None:
    both = ackclock.run(SHORT, stack=["tahoe", "reno"], seed=5, seeds=2).to_dict()
    alone = [ackclock.run(SHORT, stack=stack, seed=5, seeds=2).to_dict() for stack in ("tahoe", "reno")]
    for key in ("runs", "flows"):
        assert both[key] == [item for one in alone for item in one[key]]
    assert [run["seed"] for run in both["runs"]] == [5, 6, 5, 6]


def test_what_show_returns_runs_the_same() -> None:
    options = {"rto.min": "300 ms"}
    shown = ackclock.show(SHORT, stack="dsack", set=options, seed=3)
    assert ackclock.run(shown).json == ackclock.run(SHORT, stack="dsack", set=options, seed=3).json
    with pytest.raises(ackclock.ScenarioError, match=r"^lecture.toml:1: key `rnu`"):
        ackclock.show("[rnu]\n", name="lecture.toml")


def test_an_error_carries_its_parts() -> None:
    with pytest.raises(ackclock.ScenarioError) as caught:
        ackclock.run(SHORT.replace("5 Mbps", "5 Mbs"), name="lecture.toml")
    e = caught.value
    assert isinstance(e, ValueError)
    assert (e.file, e.line, e.key, e.hint) == ("lecture.toml", 9, "link[0].rate", '"5 Mbps"')
    assert e.found == '"5 Mbs" (unknown unit)'
    assert e.allowed.startswith("a rate: ")
    assert str(e).startswith("lecture.toml:9: key `link[0].rate`: found ")
    again = pickle.loads(pickle.dumps(e))
    assert (str(again), vars(again)) == (str(e), vars(e))


def test_set_takes_parameters_by_path() -> None:
    changed = ackclock.run(SHORT, seed=1, set={"startup.initial_window_segs": "4"})
    assert changed.frame["identity"][0] != ackclock.run(SHORT, seed=1).frame["identity"][0]


def test_progress_rises_and_others_may_work_meanwhile() -> None:
    shares: list[float] = []
    ran = threading.Event()
    threading.Timer(0.01, ran.set).start()
    ackclock.run(SHORT.replace('"5 s"', '"2000 s"'), threads=1, progress=shares.append)
    assert ran.is_set()
    assert shares == sorted(shares)
    assert len(shares) > 2
    assert all(0 <= share <= 1 for share in shares)


def test_what_progress_raises_ends_the_run() -> None:
    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ackclock.run(SHORT.replace('"5 s"', '"100000 s"'), progress=stop)


def test_a_negative_or_huge_seed_is_refused() -> None:
    for seed in (-1, 1 << 64):
        with pytest.raises(ackclock.ScenarioError, match="key `seed`: found"):
            ackclock.run(SHORT, seed=seed)


class EnoughError(Exception):
    """Ends a run that a mutation made too long."""


def enough(_: float) -> None:
    raise EnoughError


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80), st.integers(0, len(SHORT)), st.integers(0, 20))
def test_any_text_is_run_or_refused(insert: str, at: int, cut: int) -> None:
    text = SHORT[:at] + insert + SHORT[at + cut :] + "\n"
    with contextlib.suppress(EnoughError):
        try:
            ackclock.run(text, seed=1, threads=1, progress=enough)
        except ackclock.ScenarioError as error:
            message = str(error)
        else:
            message = "<text>: it ran"
        assert message.startswith("<text>:")
