"""Points: kept under what they ran, run again if damaged, and what they cost."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import ackclock
from ackclock import _native
from ackclock.papers.lab import Job, Lab, Spent
from ackclock.papers.store import Store
from ackclock.progress import shown
from conftest import SHORT


def lab(folder: Path, fresh: bool = False) -> Lab:
    return Lab(Store(folder, fresh), shown)


def test_a_point_is_kept_under_what_it_ran(tmp_path: Path) -> None:
    job = Job(SHORT, "short")
    runs = lab(tmp_path).run("once", [job])
    alone = _native.run_json("short", SHORT, [], [], None, None, None, None, None)
    assert runs == [json.loads(alone)["runs"]]

    def ran(*jobs: Job, fresh: bool = False) -> tuple[int, int]:
        one = lab(tmp_path, fresh)
        one.run("again", jobs)
        return one.ran, one.kept

    assert ran(job) == (0, 1)
    assert ran(job, fresh=True) == (1, 0)
    assert ran(Job(SHORT.replace('name = "short"', 'name = "other"'), "other")) == (0, 1), "a name changes no run"
    changed = [
        Job(SHORT.replace("20 ms", "21 ms"), "short"),
        Job(SHORT.replace("count = 4", "count = 3"), "short"),
        Job(SHORT, "short", stack="reno"),
        Job(SHORT, "short", set=(("rto.min", "2 s"),)),
    ]
    assert ran(*changed) == (4, 0)


@pytest.mark.parametrize(
    "harm", [lambda text: text[:-9], lambda text: text.replace(b'"seed":1', b'"seed":2'), lambda _: b""]
)
def test_a_damaged_point_is_run_again(harm: Callable[[bytes], bytes], tmp_path: Path) -> None:
    job = Job(SHORT, "short")
    whole = lab(tmp_path).run("once", [job])
    (path,) = tmp_path.glob("*.json")
    good = path.read_bytes()
    assert harm(good) != good
    path.write_bytes(harm(good))
    again = lab(tmp_path)
    assert again.run("again", [job]) == whole
    assert again.ran == 1
    kept = lab(tmp_path)
    assert (kept.run("kept", [job]), kept.ran) == (whole, 0)


def test_one_bad_scenario_stops_the_others_and_is_named(tmp_path: Path) -> None:
    long = Job(SHORT.replace('"5 s"', '"100000 s"'), "long")
    bad = Job(SHORT.replace("5 Mbps", "5 Mbs"), "bad.toml")
    began = time.monotonic()
    with pytest.raises(ackclock.ScenarioError, match=r"^bad.toml:"):
        lab(tmp_path).run("both", [long, bad])
    assert time.monotonic() - began < 20


def test_what_runs_cost_is_counted_once_and_kept(tmp_path: Path) -> None:
    jobs = [Job(SHORT, "short"), Job(SHORT, "short", stack="reno")]
    first = lab(tmp_path)
    runs = [run for point in first.run("first", jobs) for run in point]
    first.run("the same once more", jobs[:1])
    packets = sum(flow["data_packets_sent"] for run in runs for flow in run["flows"])
    spent = first.spent
    assert replace(spent, processor_s=0.0, wall_s=0.0) == Spent(2, 8, packets, 40.0)
    assert 0 < spent.processor_s < 60
    assert 0 < spent.wall_s < 60
    second = lab(tmp_path)
    assert second.spent == Spent()
    for job in reversed(jobs):
        second.run("kept", [job])
    assert (second.ran, second.kept, second.spent) == (0, 2, spent)


def test_the_time_of_all_points_is_that_of_the_process(tmp_path: Path) -> None:
    """Whatever share each of them gets."""
    jobs = [Job(SHORT.replace('"5 s"', f'"{seconds} s"'), "short") for seconds in (500, 501, 502, 503)]
    one, processor, wall = lab(tmp_path), time.process_time(), time.perf_counter()
    one.run("four", jobs)
    processor, wall = time.process_time() - processor, time.perf_counter() - wall
    assert 0.5 * processor < one.spent.processor_s <= processor + 1e-3
    assert 0.5 * wall < one.spent.wall_s <= wall + 1e-3


def test_a_point_in_the_form_of_before_is_not_misread(tmp_path: Path) -> None:
    """It had a list of runs alone; such a file is under another name, and is no point under this one's."""
    job = Job(SHORT, "short")
    (runs,) = lab(tmp_path).run("once", [job])
    (path,) = tmp_path.glob("*.json")
    assert json.loads(path.read_bytes().partition(b"\n")[2])["runs"] == runs
    named = hashlib.sha256("\n".join([_native.__version__, *job.identities()]).encode()).hexdigest()[:32]
    assert path.name != f"{named}.json"
