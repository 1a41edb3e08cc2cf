"""Sweeps on Dask workers: the same table, whatever happens to workers, schedulers and versions."""

# Parts of Dask have no types.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster

import ackclock as ak
from ackclock import _native
from ackclock.progress import Progress
from ackclock.runs import connect, workers
from ackclock.runs.connect import ClusterError
from ackclock.runs.cutter import Cutter
from ackclock.runs.groups import Group, Groups
from ackclock.runs.local import Local
from ackclock.runs.on_dask import OnDask
from ackclock.runs.remote import installed
from ackclock.runs.task import Done, RevisionError, Task
from ackclock.runs.workers import Workers
from conftest import SHORT

# A Python without Ackclock.
WITHOUT = "import sys; sys.modules['ackclock'] = None; from distributed.cli.{0} import main; main()"
# A worker that seed 3 kills.
DEADLY = """
import os
from ackclock.runs import remote
from ackclock.runs.task import run_tasks as make
def run_tasks(tasks, seconds):
    return os._exit(1) if any(task.first == 3 for task in tasks) else make(tasks, seconds)
remote.run_tasks = run_tasks
"""


def _plan(seeds: int, duration: str = "5 s") -> ak.Plan:
    scenario = SHORT.replace('"5 s"', f'"{duration}"')
    grid: dict[str, Any] = {"stack": ["newreno", "sack-ff96"], "link[0].elements[0].p": [0.01, 0.03]}
    return ak.Plan(scenario, name="losses", seeds={"first": 1, "count": seeds}, grid=grid)


def _tasks(seeds: int, duration: str = "5 s") -> list[Task]:
    return [Task("short.toml", SHORT.replace('"5 s"', f'"{duration}"'), None, (), s, 1) for s in range(1, seeds + 1)]


def _table(store: Path) -> bytes:
    return (store / "sweeps/losses/runs.parquet").read_bytes()


def _kept(store: Path) -> int:
    try:
        with sqlite3.connect(f"file:{store / 'runs.sqlite'}?mode=ro", uri=True) as db:
            return int(db.execute("SELECT count(*) FROM runs").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def _until(holds: Callable[[], object], seconds: float = 30) -> None:
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Two worker processes with one thread each."""
    with connect.workers_here(2) as made:
        yield made


def test_a_sweep_on_dask_has_the_table_of_one_on_this_machine_though_workers_are_killed(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    plan = _plan(100, "60 s")
    ak.sweep(plan, tmp_path / "here")
    killed: list[int] = []

    def kill(progress: Progress) -> None:
        # The workers present when a quarter and when half of the runs are done.
        if progress.done >= progress.runs * (len(killed) // 2 + 1) / 4 and len(killed) < 4:
            for worker in cluster.workers.values():
                if pid := worker.pid:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    ak.sweep(plan, tmp_path / "there", on=cluster, progress=kill)
    assert len(killed) >= 4
    assert _table(tmp_path / "there") == _table(tmp_path / "here")


def test_what_comes_twice_is_kept_once(tmp_path: Path) -> None:
    class Twice(Local):
        def run(self, tasks: Iterable[Task]) -> Generator[Sequence[tuple[Task, Done]]]:
            for pieces in super().run(tasks):
                yield [*pieces, *pieces]
                yield pieces

    plan = _plan(3)
    ak.sweep(plan, tmp_path / "once")
    ak.sweep(plan, tmp_path / "twice", on=Twice(1))
    assert _kept(tmp_path / "twice") == 12
    assert _table(tmp_path / "twice") == _table(tmp_path / "once")


def _change(client: Client, worker: str, to: int) -> None:
    def change() -> None:
        from ackclock import _native  # noqa: PLC0415 - the worker's

        _native.results_revision = to

    client.run(change, workers=[worker])


def test_a_worker_of_another_results_revision_is_refused_by_name(cluster: LocalCluster, tmp_path: Path) -> None:
    with Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2)
        wrong = sorted(client.nthreads())[0]
        try:
            _change(client, wrong, 999)
            with pytest.raises(RevisionError) as refused:
                ak.sweep(_plan(1), tmp_path, on=client)
        finally:
            _change(client, wrong, _native.results_revision)
    said = str(refused.value)
    assert "\n" not in said
    assert said.startswith(f"Dask worker {wrong}: found ackclock {_native.__version__} with results revision 999 ")
    assert said.endswith(f"asked for: {installed()}")
    assert _kept(tmp_path) == 0


def test_a_worker_that_turns_out_wrong_later_gets_nothing_and_if_all_are_wrong_the_sweep_ends(
    cluster: LocalCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    with Client(cluster, set_as_default=False) as client, OnDask(client) as executor:
        client.wait_for_workers(2)
        first, second = sorted(client.nthreads())
        try:
            _change(client, first, 999)
            assert sorted(task.first for pieces in executor.run(_tasks(40)) for task, _ in pieces) == list(range(1, 41))
            said = capsys.readouterr().err.splitlines()
            assert len(said) == 1
            assert said[0].startswith(f"ackclock: Dask worker {first}: found ackclock ")
            assert said[0].endswith("; it is given no runs")
            _change(client, second, 998)
            with pytest.raises(RevisionError, match=r"results revision 99[89]"):
                list(executor.run(_tasks(40)))
        finally:
            _change(client, first, _native.results_revision)
            _change(client, second, _native.results_revision)


def test_a_bad_scenario_comes_back_as_the_error_that_it_is(cluster: LocalCluster) -> None:
    with OnDask(cluster) as executor, pytest.raises(ak.ScenarioError) as refused:
        list(executor.run([Task("bad.toml", SHORT.replace('"5 Mbps"', '"fast"'), None, (), 1, 1)]))
    assert (refused.value.file, refused.value.key) == ("bad.toml", "link[0].rate")


def test_a_run_that_is_the_death_of_its_workers_is_named_and_the_others_are_made(tmp_path: Path) -> None:
    (tmp_path / "deadly.py").write_text(DEADLY, encoding="utf-8")
    options: dict[str, Any] = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    done: list[int] = []
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(preload=[str(tmp_path / "deadly.py")], **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        with OnDask(cluster) as executor, pytest.raises(ClusterError) as refused:
            done.extend(task.first for pieces in executor.run(_tasks(8)) for task, _ in pieces)
        assert len(client.nthreads()) == 1, "the last one is replaced, as Dask may fail to close while a worker starts"
    assert str(refused.value) == "short.toml: seed 3: its Dask workers died 3 times"
    assert sorted(done) == [1, 2, 4, 5, 6, 7, 8]


@pytest.fixture
def foreign(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts schedulers or workers in separate processes; all of them are killed at the end."""
    started = []

    def start(*command: str) -> subprocess.Popen[bytes]:
        with (tmp_path / "log").open("ab") as log:
            process = subprocess.Popen([sys.executable, *command], cwd=tmp_path, stdout=log, stderr=log)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_scheduler_needs_no_ackclock_but_a_worker_does_and_a_lost_scheduler_is_said_in_a_line(
    foreign: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    file = tmp_path / "scheduler.json"
    here = ("--host", "127.0.0.1", "--no-dashboard")
    scheduler = foreign("-c", WITHOUT.format("dask_scheduler"), "--port", "0", "--scheduler-file", str(file), *here)
    joins = ("--scheduler-file", str(file), "--nthreads", "1", "--no-nanny", *here)
    without = foreign("-c", WITHOUT.format("dask_worker"), *joins)
    _until(file.exists)
    with Client(scheduler_file=str(file), set_as_default=False) as client:
        client.wait_for_workers(1)
        with pytest.raises(
            RevisionError, match=r"^Dask worker tcp://.*: found no ackclock \(.*\), asked for: ackclock"
        ):
            ak.sweep(_plan(2), tmp_path / "store", on=client)
        without.kill()
        _until(lambda: not client.nthreads())
        foreign("-m", "distributed.cli.dask_worker", *joins)
        client.wait_for_workers(1)
        address = client.scheduler.address
    plan = _plan(400, "60 s")

    def lose(progress: Progress) -> None:
        if progress.done > progress.kept:
            scheduler.kill()

    with pytest.raises(ClusterError, match=rf"^{address}: the connection to the Dask scheduler is lost \([^\n]*\)$"):
        ak.sweep(plan, tmp_path / "store", on=address, progress=lose)
    assert 0 < _kept(tmp_path / "store") < 4 * 400


def test_ctrl_c_ends_the_workers_too_and_prints_one_line(tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(SHORT.replace('"5 s"', '"60 s"'), encoding="utf-8")
    plan = 'scenario = "short.toml"\nseeds = { first = 1, count = 9999 }\ngrid = { stack = ["newreno", "reno"] }\n'
    (tmp_path / "losses.toml").write_text(plan, encoding="utf-8")
    command = [sys.executable, "-m", "ackclock", "sweep", "losses.toml", "--store", "store", "--on", "dask:2"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        _until(lambda: _kept(tmp_path / "store") > 0)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=20)
        assert process.returncode == 130
        assert len(said.splitlines()) == 1, said
        assert said.startswith("ackclock: interrupted; ")
        _until(lambda: not _alive(process.pid))
    finally:
        if _alive(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_nobody_at_an_address_and_an_address_that_is_none_are_said_in_a_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(connect, "CONNECT_SECONDS", 0.3)
    with pytest.raises(ClusterError, match=r"^dask://127.0.0.1:9: no Dask scheduler replies there \([^\n]*\)$"):
        ak.sweep(_plan(1), tmp_path, on="dask://127.0.0.1:9")
    for address in ("dask:0", "dask:two", "dask://host", "tcp://", "elsewhere"):
        with pytest.raises(ak.ScenarioError, match=f'^command line: key `--on`: found "{address}", allowed: dask:N '):
            ak.sweep(_plan(1), tmp_path, on=address)


def test_that_there_is_no_worker_is_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Empty:
        def nthreads(self) -> dict[str, int]:
            return {}

    monkeypatch.setattr(workers, "WORRY_SECONDS", 0.0)
    watched = Workers(Empty())  # type: ignore[arg-type]
    watched.look(anew=True)
    watched.look(anew=True)
    assert capsys.readouterr().err == "ackclock: no Dask worker has been available for 0 s; waiting for one\n"


def test_groups_take_as_long_as_runs_did_and_what_a_worker_left_is_put_together_anew() -> None:
    groups = Groups(Cutter(1.0, caution=1.0), _tasks(2000))
    first = groups.next(True)
    assert first is not None
    assert len(first.tasks) == 1
    groups.done(first, [Done(("",), 0.002, 0.002)])
    second = groups.next(True)
    assert second is not None
    assert len(second.tasks) == 500
    # It took a hundred times as long, and was stopped after ten.
    groups.done(second, [Done(("",), 0.2, 0.2)] * 10)
    left = []
    while group := groups.next(True):
        left += [task.first for task in group.tasks]
        assert len(group.tasks) < 20
    assert sorted(left) == list(range(12, 2001))


def test_a_group_whose_workers_died_is_halved_down_to_a_task_that_is_tried_again() -> None:
    halves = Group(tuple(_tasks(5))).split()
    assert [len(half.tasks) for half in halves] == [2, 3]
    (again,) = Group(tuple(_tasks(1))).split()
    (last,) = again.split()
    assert (again.killed, last.killed) == (1, 2)
    assert last.split() == []


def test_a_task_whose_workers_died_goes_alone_after_all_others() -> None:
    groups = Groups(Cutter(1.0), _tasks(2))
    suspect = groups.next(True)
    assert suspect is not None
    groups.again(suspect.split())
    other = groups.next(False)
    assert other is not None
    assert (other.tasks[0].first, other.killed) == (2, 0)
    assert groups.next(False) is None
    alone = groups.next(True)
    assert alone == Group(suspect.tasks, 1)
    assert groups.next(True) is None


ALGORITHMS = """
import ackclock as ak

class Fixed(ak.DupThresh):
    def segments(self, w, cx):
        return 3

class Late(Fixed):
    def segments(self, w, cx):
        if cx.now > 1_000_000_000:
            raise ValueError("too late")
        return 3
"""


def test_algorithms_in_python_travel_to_workers_and_their_errors_come_back(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    (tmp_path / "fixed.py").write_text(ALGORITHMS, encoding="utf-8")
    (tmp_path / "short.toml").write_text(SHORT, encoding="utf-8")
    plan = tmp_path / "losses.toml"
    head = 'scenario = "short.toml"\nseeds = { count = 3 }\n[grid]\n'
    plan.write_text(head + '"set.detect.threshold" = ["fixed", { kind = "python", source = "fixed.py:Fixed" }]\n')
    ak.sweep(plan, tmp_path / "here", allow_python=True)
    ak.sweep(plan, tmp_path / "there", on=cluster, allow_python=True)
    assert _table(tmp_path / "there") == _table(tmp_path / "here")
    plan.write_text(head + '"set.detect.threshold" = [{ kind = "python", source = "fixed.py:Late" }]\n')
    with pytest.raises(ak.AlgorithmError, match="too late"):
        ak.sweep(plan, tmp_path / "there", on=cluster, allow_python=True)
