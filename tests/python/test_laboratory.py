"""The laboratory: stored runs are not repeated, and the cost of runs is counted."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

import ackclock
from ackclock import _native
from ackclock.progress import Progress, Report, shown
from ackclock.runs.laboratory import Laboratory, Spent
from ackclock.runs.local import Local
from ackclock.runs.store import Store
from ackclock.runs.task import Done, Task
from conftest import SHORT, laboratory


def task(text: str = SHORT, name: str = "short", stack: str | None = None, **more: str) -> Task:
    """A point with four seeds; ``more`` holds parameters of the stack."""
    return Task(name, text, stack, tuple((path.replace("_", "."), value) for path, value in more.items()), 1, 4)


class Counting:
    """Counts the runs that were made and the runs that were stored."""

    def __init__(self) -> None:
        """Start at zero."""
        self.made = self.kept = 0

    def show(self, _: str) -> AbstractContextManager[Report]:
        """The argument ``show`` of ``Laboratory``."""

        def report(progress: Progress) -> None:
            self.made, self.kept = int(progress.done) - progress.kept, progress.kept

        return nullcontext(report)


def test_a_point_is_kept_under_what_it_ran(tmp_path: Path) -> None:
    runs = laboratory(tmp_path).run("once", [task()])
    alone = _native.run_json("short", SHORT, [], [], None, None, None, None, None)
    assert runs == [json.loads(alone)["runs"]]

    def ran(*tasks: Task, fresh: bool = False) -> tuple[int, int]:
        heard = Counting()
        assert laboratory(tmp_path, heard.show, fresh).run("again", tasks)
        return heard.made, heard.kept

    assert ran(task()) == (0, 4)
    assert ran(task(), fresh=True) == (4, 0)
    assert ran(task(SHORT.replace('name = "short"', 'name = "other"'), "other")) == (0, 4), "a name changes no run"
    assert ran(replace(task(), count=6)) == (2, 4), "seeds that are added are run alone"
    changed = [task(SHORT.replace("20 ms", "21 ms")), task(stack="reno"), task(rto_min="2 s"), task(rto_min="2 s")]
    assert ran(*changed) == (12, 0), "none of them twice"


def test_runs_of_a_fresh_laboratory_take_the_place_of_those_that_were_kept_and_are_made_once(tmp_path: Path) -> None:
    (runs,) = laboratory(tmp_path).run("once", [task()])
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as db, db:
        db.execute("""UPDATE runs SET run = replace(run, '"trace_hash":"', '"trace_hash":"of another build ')""")
        db.execute("UPDATE runs SET checksum = NULL")
    assert laboratory(tmp_path).run("kept", [task()]) != [runs]
    heard = Counting()
    fresh = laboratory(tmp_path, heard.show, True)
    assert fresh.run("fresh", [task()]) == [runs]
    assert (fresh.run("the same", [task()]), heard.made) == ([runs], 0)
    assert laboratory(tmp_path).run("kept", [task()]) == [runs]


def test_a_run_that_reports_reordering_is_not_taken_for_one_that_does_not(tmp_path: Path) -> None:
    reporting = task(SHORT.replace("[run]", "[run]\nreordering = true"))
    plain, other = laboratory(tmp_path).run("both", [task(), reporting])
    assert plain[0]["identity"] == other[0]["identity"]
    assert ["reordering" in runs[0]["flows"][0] for runs in (plain, other)] == [False, True]


def test_one_bad_scenario_stops_the_others_and_is_named(tmp_path: Path) -> None:
    long = task(SHORT.replace('"5 s"', '"100000 s"'), "long")
    bad = task(SHORT.replace("5 Mbps", "5 Mbs"), "bad.toml")
    began = time.monotonic()
    with pytest.raises(ackclock.ScenarioError, match=r"^bad.toml:"):
        laboratory(tmp_path).run("both", [long, bad])
    assert time.monotonic() - began < 20


class Cheating(Local):
    """Returns the runs of another seed, or none."""

    def __init__(self, shift: int | None) -> None:
        """``shift`` is the difference of the seed; ``None``: nothing is returned."""
        super().__init__(1)
        self.shift = shift

    def run(self, tasks: Iterable[Task]) -> Generator[Sequence[tuple[Task, Done]]]:
        """Make other runs than requested."""
        if self.shift is not None:
            yield from super().run(replace(task, first=task.first + self.shift) for task in tasks)


@pytest.mark.parametrize(
    ("shift", "said"),
    [(1000, "short: it returned runs that were not requested"), (None, "odd: 4 runs did not come back")],
)
def test_an_executor_that_makes_other_runs_is_found_out(shift: int | None, said: str, tmp_path: Path) -> None:
    with Store(tmp_path) as store, pytest.raises(RuntimeError, match=said):
        Laboratory(store, Cheating(shift)).run("odd", [task()])


def test_what_runs_cost_is_counted_once_and_kept(tmp_path: Path) -> None:
    tasks = [task(), task(stack="reno")]
    first = laboratory(tmp_path)
    runs = [run for point in first.run("first", tasks) for run in point]
    first.run("the same once more", tasks[:1])
    packets = sum(flow["data_packets_sent"] for run in runs for flow in run["flows"])
    spent = first.spent
    assert replace(spent, processor_s=0.0, wall_s=0.0) == Spent(2, 8, packets, 40.0)
    assert 0 < spent.processor_s < 60
    assert 0 < spent.wall_s < 60
    second = laboratory(tmp_path)
    assert second.spent == Spent()
    for one in reversed(tasks):
        second.run("kept", [one])
    assert second.spent == spent


def test_the_time_of_all_points_is_that_of_the_process(tmp_path: Path) -> None:
    """However the time is divided among them."""
    tasks = [task(SHORT.replace('"5 s"', f'"{seconds} s"')) for seconds in (500, 501, 502, 503)]
    one, processor, wall = laboratory(tmp_path), time.process_time(), time.perf_counter()
    one.run("four", tasks)
    processor, wall = time.process_time() - processor, time.perf_counter() - wall
    assert 0.5 * processor < one.spent.processor_s <= processor + 1e-3
    assert 0.5 * wall < one.spent.wall_s <= wall + 1e-3


def test_a_store_of_the_form_of_before_is_read_and_goes_on(tmp_path: Path) -> None:
    (runs,) = laboratory(tmp_path).run("once", [task()])
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as db, db:
        db.execute("ALTER TABLE runs DROP COLUMN checksum")
        db.execute("ALTER TABLE runs DROP COLUMN wall_s")
        db.execute("ALTER TABLE runs RENAME COLUMN processor_s TO seconds")
        db.execute("UPDATE runs SET seconds = 0.25")
        db.execute("PRAGMA user_version = 1")
    heard = Counting()
    again = laboratory(tmp_path, heard.show)
    assert again.run("again", [replace(task(), count=6)])[0][:4] == runs
    assert (heard.made, heard.kept) == (2, 4)
    assert 1 < again.spent.processor_s < 60
    assert again.spent.wall_s > 0


@pytest.mark.parametrize(
    ("progress", "at_once", "said"),
    [
        (Progress(2, 12, 2), True, "name: 10 runs, 2 kept\n"),
        (Progress(0, 1, 0), True, "name: 1 run\n"),
        (Progress(2, 12, 2), False, ""),
        (Progress(12, 12, 12), True, ""),
    ],
)
def test_what_there_is_to_do_is_said_once_and_nothing_where_all_is_kept(
    progress: Progress, at_once: bool, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with shown("name", at_once) as report:
        report(progress)
        report(replace(progress, done=progress.runs))
    assert capsys.readouterr() == ("", said)


def test_a_laboratory_shows_what_it_makes_under_the_name_that_it_is_given(tmp_path: Path) -> None:
    names: list[str] = []

    def show(name: str) -> AbstractContextManager[Report]:
        names.append(name)
        return nullcontext(lambda _: None)

    laboratory(tmp_path, show).run("one", [task()])
    assert names == ["one"]
