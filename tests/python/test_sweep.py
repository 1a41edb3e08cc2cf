"""Sweeps: their runs, that finished runs are never lost, and the content of their tables."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import ackclock as ak
from ackclock import _native
from ackclock.progress import Progress
from ackclock.runs.cutter import Cutter
from ackclock.runs.local import Local
from ackclock.runs.task import Done, Task, run_task
from ackclock.runs.worker import Worker
from ackclock.sweep import table
from ackclock.sweep.columns import FLOW_NUMBERS
from ackclock.sweep.points import Points
from conftest import SHORT, Command, completed

BRIEF = SHORT.replace('"5 s"', '"1 s"')
ASKS = BRIEF + 'app = { kind = "transfers", size = "14 kB", count = 3 }\n'
KILLS = int(os.environ.get("ACKCLOCK_KILLS", "6"))
"""The number of times a sweep is killed; with 20 it has 2,000 runs."""
GRID = {"stack": ["reno", "newreno"], "link[0].elements[0].p": [0, 0.02]}


def rates(**more: object) -> ak.Plan:
    """Four points on a lossy link."""
    tables = {"seeds": {"count": 3}, "grid": GRID, "name": "rates"} | more
    return ak.Plan(BRIEF, **tables)  # type: ignore[arg-type]


class Counted(Local):
    """The local executor, which counts what it runs."""

    def __init__(self) -> None:
        super().__init__(2)
        self.runs = 0

    def run(self, tasks: Iterable[Task]) -> Generator[Sequence[tuple[Task, Done]]]:
        """Run the tasks and count them."""
        for pieces in super().run(tasks):
            self.runs += sum(task.count for task, _ in pieces)
            yield pieces


def ran(plan: ak.Plan, store: Path) -> int:
    """The number of runs that a sweep makes because they are not stored."""
    with Counted() as executor:
        ak.sweep(plan, store, executor)
    return executor.runs


def test_the_table_has_what_single_runs_have(tmp_path: Path) -> None:
    sweep = ak.sweep(rates(), tmp_path)
    assert sweep.points[1] == {"stack": "reno", "link[0].elements[0].p": 0.02}
    for at, point in enumerate(sweep.points):
        text = BRIEF.replace("0.01", str(point["link[0].elements[0].p"]))
        alone = ak.run(text, stack=point["stack"], seeds=3)
        rows = sweep.frame.filter(pl.col("point") == at)
        assert rows["link[0].elements[0].p"].unique().to_list() == [point["link[0].elements[0].p"]]
        assert rows.drop("point", "link[0].elements[0].p").equals(alone.frame)
        means = sweep.summary.filter(pl.col("point") == at)
        shared = [name for name in alone.summary.columns if name in means.columns]
        assert [name for name in alone.summary.columns if name not in shared] == []
        assert means.select(shared).equals(alone.summary.select(shared))


def test_the_columns_are_all_numbers_that_a_run_has() -> None:
    (run,) = ak.run(BRIEF, seed=1).to_dict()["runs"]
    assert [*run["flows"][0]] == ["name", "stack", *[name for name in FLOW_NUMBERS if not name.startswith("transfer")]]
    (run,) = ak.run(ASKS, seed=1).to_dict()["runs"]
    assert [*run["flows"][0]] == ["name", "stack", *FLOW_NUMBERS, "transfer_times_s"]


def test_sweeps_tell_how_long_transfers_took(tmp_path: Path) -> None:
    sweep = ak.sweep(ak.Plan(ASKS, seeds={"count": 3}, grid=GRID, name="asks"), tmp_path)
    assert sweep.frame["transfers"].to_list() == [3] * sweep.frame.height
    alone = ak.run(ASKS.replace("0.01", "0.02"), stack="reno", seeds=3)
    assert sweep.frame.filter(point=1)["transfer_median_s"].equals(alone.frame["transfer_median_s"])
    assert sweep.summary.filter(point=1)["transfer_p95_s"].equals(alone.summary["transfer_p95_s"])


def test_columns_and_their_types_are_fixed_by_the_plan(tmp_path: Path) -> None:
    grid = {
        "stack": ["reno"],
        "link[0].elements[0].p": [0, 0.5],
        "link[0].queue": ["9 packets", {"limit": "9 packets"}],
        "link[0].delay": ["1 ms"],
        "run.reordering": [True],
    }
    frame = ak.sweep(rates(grid=grid), tmp_path).frame
    assert frame.columns[:8] == ["point", *[name for name in grid if name != "stack"], "stack", "flow", "seed"]
    assert frame.columns[8:] == ["duration_s", *FLOW_NUMBERS, "identity", "trace_hash"]
    assert frame.dtypes[1:5] == [pl.Float64, pl.String, pl.String, pl.String]
    assert frame["link[0].queue"].unique(maintain_order=True).to_list() == ["9 packets", '{"limit": "9 packets"}']
    assert frame["dupthresh_after_timeout_max"].dtype == pl.Int64
    assert frame.height == 4 * 3


def test_several_flows_are_rows_of_their_own(tmp_path: Path) -> None:
    two = BRIEF + '[[flow]]\nname = "other"\nfrom = "S"\nto = "D"\nstack = "tahoe"\n'
    sweep = ak.sweep(ak.Plan(two, seeds=[1, 2], grid={"flow[0].stack": ["reno", "newreno"]}), tmp_path)
    assert sweep.frame.select("point", "flow[0].stack", "stack", "flow", "seed").rows()[:4] == [
        (0, "reno", "reno", "only", 1),
        (0, "reno", "tahoe", "other", 1),
        (0, "reno", "reno", "only", 2),
        (0, "reno", "tahoe", "other", 2),
    ]
    assert sweep.summary.height == 4


def test_finished_runs_are_not_run_again_and_added_points_run_only_those(tmp_path: Path) -> None:
    assert ran(rates(), tmp_path) == 12
    assert ran(rates(), tmp_path) == 0
    assert ran(rates(grid={**GRID, "link[0].elements[0].p": [0, 0.02, 0.04]}), tmp_path) == 6
    assert ran(rates(seeds={"count": 5}), tmp_path) == 8
    assert ran(rates(seeds=[2, 9]), tmp_path) == 4


def test_a_run_that_two_sweeps_share_is_run_once(tmp_path: Path) -> None:
    assert ran(rates(), tmp_path) == 12
    assert (
        ran(rates(name="other", grid={"link[0].elements[0].p": [0.02], "stack": ["newreno", "tahoe"]}), tmp_path) == 3
    )
    assert [*ak.results(tmp_path)] == ["other", "rates"]


def test_points_that_are_one_run_are_run_once(tmp_path: Path) -> None:
    plan = rates(grid={"link[0].delay": ["1 s", "1000 ms"]})
    assert ran(plan, tmp_path) == 3
    assert ak.sweep(plan, tmp_path).frame.height == 6


def test_another_plan_of_a_name_replaces_the_table_and_no_run(tmp_path: Path) -> None:
    first = ak.sweep(rates(), tmp_path)
    ak.sweep(rates(grid={"stack": ["tahoe"]}), tmp_path)
    assert ak.results(tmp_path)["rates"].points == [{"stack": "tahoe"}]
    assert ran(rates(), tmp_path) == 0
    assert ak.results(tmp_path)["rates"].frame.equals(first.frame)


def test_the_same_table_has_the_same_bytes_however_it_came_about(tmp_path: Path) -> None:
    ak.sweep(rates(), tmp_path / "one", threads=1)
    ak.sweep(rates(seeds={"count": 2}), tmp_path / "two")
    ak.sweep(rates(grid={"link[0].elements[0].p": [0.02], "stack": ["newreno"]}), tmp_path / "two")
    ak.sweep(rates(), tmp_path / "two", threads=3)
    one, two = (tmp_path / store / "sweeps" / "rates" / "runs.parquet" for store in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_a_stop_rule_doubles_the_seeds_of_the_points_that_need_more(tmp_path: Path) -> None:
    stop = {"column": "goodput_bytes_per_s", "half_width": "5 %", "at_least": 4, "at_most": 24}
    sweep = ak.sweep(rates(seeds=None, stop=stop), tmp_path)
    counts = [len(point.seeds) for point in sweep.manifest.points]
    assert set(counts) <= {4, 8, 16, 24}
    assert len(set(counts)) > 1
    for at, count in enumerate(counts):
        values = sweep.frame.filter(pl.col("point") == at)["goodput_bytes_per_s"].to_list()
        assert len(values) == count

        def narrow(n: int, values: list[float] = values) -> bool:
            mean, half = _native.interval(values[:n])
            return half is not None and half <= 0.05 * mean

        rounds = [n for n in (4, 8, 16, 24) if n <= count]
        assert [narrow(n) for n in rounds[:-1]] == [False] * len(rounds[:-1])
        assert narrow(count) or count == 24
    again = ak.sweep(rates(seeds=None, stop=stop), tmp_path / "again", threads=1)
    assert again.frame.equals(sweep.frame)


def test_a_stop_rule_may_name_a_width_of_its_own(tmp_path: Path) -> None:
    stop = {"column": "timeouts", "half_width": 1000, "at_least": 2}
    sweep = ak.sweep(rates(seeds={"first": 5}, stop=stop), tmp_path)
    assert {tuple(point.seeds) for point in sweep.manifest.points} == {(5, 6)}


def test_a_number_that_runs_lack_is_never_narrow_enough(tmp_path: Path) -> None:
    stop = {"column": "finish_s", "half_width": 1000, "at_least": 2, "at_most": 4}
    sweep = ak.sweep(rates(seeds=None, stop=stop, grid={"stack": ["reno"]}), tmp_path)
    assert [len(point.seeds) for point in sweep.manifest.points] == [4]
    assert sweep.summary["finish_s"].to_list() == [None]


def test_progress_tells_what_is_done_and_what_was_kept(tmp_path: Path) -> None:
    reports: list[Progress] = []
    ak.sweep(rates(seeds=[1]), tmp_path)
    ak.sweep(rates(), tmp_path, progress=reports.append)
    assert reports[0] == Progress(4, 12, 4)
    assert reports[-1] == Progress(12, 12, 4)
    assert [t.done for t in reports] == sorted(t.done for t in reports)


def test_a_worker_with_results_that_were_not_asked_for_is_refused(tmp_path: Path) -> None:
    class Wrong(Local):
        def run(self, tasks: Iterable[Task]) -> Generator[Sequence[tuple[Task, Done]]]:
            for task in tasks:
                yield [(task, run_task(replace(task, first=task.first + 100)))]

    with pytest.raises(RuntimeError, match="it returned runs that were not requested"):
        ak.sweep(rates(), tmp_path, Wrong())


def test_an_error_in_one_run_stops_the_others_and_keeps_what_is_finished(tmp_path: Path) -> None:
    class Failing(Local):
        def run(self, tasks: Iterable[Task]) -> Generator[Sequence[tuple[Task, Done]]]:
            def some() -> Iterable[Task]:
                for i, task in enumerate(tasks):
                    if i == 2:
                        yield replace(task, revision=task.revision + 1)
                    yield task

            yield from super().run(some())

    with pytest.raises(RuntimeError, match="makes results of revision"):
        ak.sweep(rates(), tmp_path, Failing(1))
    assert ran(rates(), tmp_path) == 6


def test_closing_an_executor_stops_long_runs_at_once() -> None:
    (point,) = Points(ak.Plan(SHORT.replace('"5 s"', '"100000 s"'), grid={"stack": ["reno"]}))
    running = Local(2).run(replace(point.task, first=seed) for seed in range(1000))
    began = time.monotonic()
    closer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    closer.start()
    with pytest.raises(KeyboardInterrupt):
        next(running)
    assert time.monotonic() - began < 3
    assert not [thread for thread in threading.enumerate() if "help" in thread.name]


def _learned(cutter: Cutter, task: Task, seconds: float) -> None:
    cutter.learn(task, Done(("",) * task.count, seconds, seconds))


def test_tasks_are_cut_to_a_length_in_time() -> None:
    (point,) = Points(ak.Plan(BRIEF, grid={"stack": ["reno"]}))
    cutter = Cutter(1.0)
    pieces = cutter.pieces([replace(point.task, count=100)])
    first = next(pieces)
    assert (first.first, first.count) == (1, 1)
    _learned(cutter, first, 0.1)
    second = next(pieces)
    assert (second.first, second.count) == (2, 10)
    _learned(cutter, second, 10.0)
    assert next(pieces).count == 1
    _learned(cutter, replace(point.task, count=1), 0.02)
    rest = list(pieces)
    assert [piece.count for piece in rest] == [50, 38]
    assert rest[-1].first + rest[-1].count == 101


def test_short_pieces_are_put_together() -> None:
    tasks = [
        point.task for point in Points(ak.Plan(BRIEF, grid={"link[0].elements[0].p": [i / 100 for i in range(50)]}))
    ]
    cutter = Cutter(1.0)
    batches = cutter.batches(tasks)
    assert len(next(batches)) == 1
    _learned(cutter, tasks[0], 0.025)
    assert 5 <= len(next(batches)) <= 40
    assert sum(map(len, batches)) < 49


def test_a_worker_process_runs_tasks_and_says_what_went_wrong() -> None:
    (point,) = Points(ak.Plan(BRIEF, grid={"stack": ["reno"]}))
    worker = Worker()
    try:
        assert worker.run(point.task).runs == run_task(point.task).runs
        with pytest.raises(ak.ScenarioError, match="rneo"):
            worker.run(replace(point.task, stack="rneo"))
        assert worker.run(replace(point.task, first=2)).runs == run_task(replace(point.task, first=2)).runs
        worker.kill()
        with pytest.raises(OSError, match="a process that ran seeds from 1 on died"):
            worker.run(point.task)
    finally:
        worker.close()


def test_results_are_found_again(tmp_path: Path) -> None:
    sweep = ak.sweep(rates(), tmp_path)
    found = ak.results(tmp_path)
    assert found["rates"].frame.equals(sweep.frame)
    assert found.listed()[0] | {"finished": ""} == {
        "name": "rates",
        "points": 4,
        "runs": 12,
        "kept": 12,
        "finished": "",
        "revision": _native.results_revision,
    }
    with pytest.raises(KeyError):
        found["other"]
    assert "rates" in repr(found)
    assert "<td>rates</td>" in found._repr_html_()
    shown = sweep._repr_html_()
    assert shown.count("<tr>") == 1 + 4
    assert "newreno" in shown


def test_of_very_many_points_the_first_are_shown(ackclock: Command, tmp_path: Path) -> None:
    grid = {"link[0].delay": {"from": "1 ms", "to": "70 ms", "count": 70}}
    sweep = ak.sweep(rates(grid=grid, seeds=[1], name="many points"), tmp_path / "ackclock-results")
    assert "; the first 60 rows<" in sweep._repr_html_()
    shown = ackclock("results", "show", "many points").stdout
    assert len(lines(shown)) == 2 + 60 + 1
    assert shown.endswith("… 10 more rows: ackclock results export 'many points' FILE --summary\n")


def test_a_chunk_is_no_border_in_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ak.sweep(rates(), tmp_path).frame
    monkeypatch.setattr(table, "_CHUNK", 5)
    ak.sweep(rates(), tmp_path)
    assert ak.results(tmp_path)["rates"].frame.equals(whole)


PLAN = """
name = "killed"
scenario = "short.toml"
[grid]
stack = ["reno", "newreno", "sack-ff96", "dsack-avg"]
"link[0].elements[0].p" = { from = 0.001, to = 0.05, count = 5, spacing = "log" }
[random]
samples = 2
"link[0].delay" = { uniform = ["10 ms", "50 ms"] }
"""


def planned(folder: Path, seeds: int, duration: str = "5 s") -> Path:
    (folder / "short.toml").write_text(SHORT.replace("5 s", duration), encoding="utf-8")
    (folder / "plan.toml").write_text(
        PLAN.replace("[grid]", f"seeds = {{ count = {seeds} }}\n[grid]"), encoding="utf-8"
    )
    return folder / "plan.toml"


def _count(store: Path) -> int:
    """The number of runs in a store; 0 if it does not exist yet."""
    try:
        with closing(sqlite3.connect(f"file:{store / 'runs.sqlite'}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT count(*) FROM runs").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_a_sweep_killed_again_and_again_ends_with_the_bytes_of_an_undisturbed_one(tmp_path: Path) -> None:
    seeds = 50 if KILLS >= 20 else 10
    runs, plan = 40 * seeds, planned(tmp_path, seeds, "30 s")
    whole = ak.sweep(plan, tmp_path / "whole")
    assert whole.manifest.runs == runs
    store, draw, counts = tmp_path / "killed", random.Random(1), [0]
    command = [sys.executable, "-m", "ackclock", "sweep", str(plan), "--store", str(store)]
    for kill in range(KILLS):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        if kill % 3 == 0:
            # At any time, also during the start.
            time.sleep(draw.uniform(0, 0.4))
        else:
            # During the runs; the last time when only the table is missing.
            left = runs - counts[-1]
            more = left if kill == KILLS - 1 else draw.randint(1, 1 + left // (KILLS - kill))
            while _count(store) < counts[-1] + more and process.poll() is None:
                time.sleep(0.002)
            time.sleep(draw.uniform(0, 0.03))
        process.kill()
        process.wait()
        counts.append(_count(store))
    assert counts == sorted(counts)
    assert len({count for count in counts if 0 < count < runs}) >= KILLS // 2
    reports: list[Progress] = []
    ak.sweep(plan, store, progress=reports.append)
    assert reports[0].done == counts[-1]
    tables = [folder / "sweeps" / "killed" / "runs.parquet" for folder in (tmp_path / "whole", store)]
    assert tables[0].read_bytes() == tables[1].read_bytes()
    print(f"{runs:,} runs, killed {KILLS} times, kept after each: {counts[1:]}")


def test_two_processes_on_one_store_make_each_run_one_row(ackclock: Command, tmp_path: Path) -> None:
    planned(tmp_path, 5)
    results = []

    def call() -> None:
        results.append(ackclock("sweep", "plan.toml", "--json"))

    both = [threading.Thread(target=call) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert [(result.returncode, result.stderr) for result in results] == [(0, "")] * 2
    first, second = (json.loads(result.stdout)["summary"] for result in results)
    assert first == second
    assert _count(tmp_path / "ackclock-results") == 200


def test_ctrl_c_keeps_what_is_finished_and_says_so(tmp_path: Path) -> None:
    plan = planned(tmp_path, 100, "200 s")
    command = [sys.executable, "-m", "ackclock", "sweep", str(plan), "--store", "s"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while not _count(tmp_path / "s"):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=5)
    kept = _count(tmp_path / "s")
    assert (process.returncode, out) == (130, "")
    assert err == f"ackclock: interrupted; {kept} of 4,000 runs are kept and the same command continues\n"
    assert kept > 0


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def test_the_command_prints_means_and_goes_on(ackclock: Command, tmp_path: Path) -> None:
    planned(tmp_path, 2)
    result = ackclock("sweep", "plan.toml")
    assert (result.returncode, result.stderr) == (0, "")
    head, titles, *_ = lines(result.stdout)
    assert head == "killed: 40 points, 80 runs, 0 of them kept; means with 95 % confidence intervals"
    assert titles.split()[:3] == ["stack", "link[0].elements[0].p", "link[0].delay"]
    assert len(lines(result.stdout)) == 3 + 40
    assert ackclock("sweep", "plan.toml").stdout == result.stdout.replace("0 of them", "80 of them", 1)


def test_a_dry_run_says_how_much_it_is_and_runs_nothing(ackclock: Command, tmp_path: Path) -> None:
    planned(tmp_path, 2)
    result = ackclock("sweep", "plan.toml", "--dry-run")
    assert (result.returncode, result.stdout) == (0, "killed: 40 points, 80 runs, 0 of them kept\n")
    assert not (tmp_path / "ackclock-results").exists()
    planned(tmp_path, 1)
    assert ackclock("sweep", "plan.toml").returncode == 0
    planned(tmp_path, 2)
    said = ackclock("sweep", "plan.toml", "--dry-run").stdout
    assert "80 runs, 40 of them kept; the others take about " in said
    found = json.loads(ackclock("sweep", "plan.toml", "--dry-run", "--json").stdout)
    assert (found["points"], found["runs"], found["kept"]) == (40, 80, 40)
    assert found["seconds"] > 0


def test_the_store_is_where_the_variable_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACKCLOCK_STORE", str(tmp_path / "there"))
    ak.sweep(rates())
    assert [*ak.results()] == ["rates"]
    assert (tmp_path / "there" / "runs.sqlite").is_file()


def test_results_lists_shows_and_exports(ackclock: Command, tmp_path: Path) -> None:
    planned(tmp_path, 2)
    sweep = ak.sweep(tmp_path / "plan.toml", tmp_path / "ackclock-results")
    assert lines(ackclock("results", "ls").stdout)[-1].split()[:3] == ["killed", "40", "80"]
    assert json.loads(ackclock("results", "ls", "--json").stdout)[0]["kept"] == 80
    shown = ackclock("results", "show", "killed", "--column", "timeouts").stdout
    assert lines(shown)[0].split()[-1] == "timeouts"
    assert len(lines(shown)) == 2 + 40
    means = json.loads(ackclock("results", "show", "killed", "--json").stdout)["summary"]
    assert means == sweep.summary.to_dicts()
    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        "parquet": pl.read_parquet,
        "csv": pl.read_csv,
        "json": pl.read_json,
        "ndjson": pl.read_ndjson,
        "arrow": pl.read_ipc,
    }
    for ending, reader in readers.items():
        result = ackclock("results", "export", "killed", f"all.{ending}")
        assert (result.returncode, result.stdout) == (0, f"all.{ending}: 80 rows\n")
        assert (
            reader(tmp_path / f"all.{ending}")
            .select("point", "seed", "trace_hash")
            .equals(sweep.frame.select("point", "seed", "trace_hash"))
        )
    assert ackclock("results", "export", "killed", "means.parquet", "--summary").returncode == 0
    assert pl.read_parquet(tmp_path / "means.parquet").equals(sweep.summary)


def test_results_of_an_unfinished_sweep_are_those_that_there_are(ackclock: Command, tmp_path: Path) -> None:
    planned(tmp_path, 2)

    class Stopping(Local):
        def run(self, tasks: Iterable[Task]) -> Generator[Sequence[tuple[Task, Done]]]:
            for at, piece in enumerate(piece for pieces in super().run(tasks) for piece in pieces):
                if at == 10:
                    raise KeyboardInterrupt
                yield [piece]

    with pytest.raises(KeyboardInterrupt):
        ak.sweep(tmp_path / "plan.toml", tmp_path / "ackclock-results", Stopping(1))
    kept = _count(tmp_path / "ackclock-results")
    assert 10 <= kept < 80
    assert f" {kept} of 80 " in ackclock("results", "ls").stdout
    result = ackclock("results", "export", "killed", "some.csv")
    assert result.stderr == f"ackclock: killed: {kept} of 80 runs are finished; the same sweep continues\n"
    assert pl.read_csv(tmp_path / "some.csv").height == kept


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("show", "kiled"),
            'key `NAME`: found "kiled", allowed: a sweep of ackclock-results: killed; did you mean `kill',
        ),
        (("show", "killed", "--column", "timouts"), 'key `--column`: found "timouts", allowed: one of acked_bytes, '),
        (("export", "killed", "x.xls"), 'key `FILE`: found "x.xls", allowed: a file name that ends in one of .parquet'),
    ],
)
def test_what_results_cannot_do_is_one_line(
    ackclock: Command, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    planned(tmp_path, 1)
    ak.sweep(tmp_path / "plan.toml", tmp_path / "ackclock-results")
    result = ackclock("results", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"ackclock: command line: {message}")
    assert result.stderr.count("\n") == 1


def test_names_and_columns_of_sweeps_are_completed(tmp_path: Path) -> None:
    planned(tmp_path, 1)
    ak.sweep(tmp_path / "plan.toml", tmp_path / "ackclock-results")
    assert completed("ackclock results show k", tmp_path) == ["killed"]
    assert "timeouts" in completed("ackclock results show killed --column t", tmp_path)
