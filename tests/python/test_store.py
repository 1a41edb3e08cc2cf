"""The store of finished runs: its errors, its durability, and its behaviour on a full disk."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from array import array
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ackclock.runs.store import Cost, Store
from ackclock.runs.store.forms import FORM
from ackclock.sweep import manifest
from conftest import Command

RUNS = 160
"""Of the plan."""
LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
os.execv(sys.executable, [sys.executable, "-m", "ackclock", *sys.argv[2:]])
"""


def run(identity: str, trace_hash: str = "a") -> str:
    return json.dumps({"seed": 1, "identity": identity, "trace_hash": trace_hash, "flows": []})


def test_runs_are_there_once_they_are_added_and_none_twice(tmp_path: Path) -> None:
    with Store(tmp_path / "store") as one, Store(tmp_path / "store") as other:
        assert one.add([("k1", run("1")), ("k2", run("2"))], Cost(0.5, 0.5)) == 2
        assert other.add([("k2", run("2")), ("k3", run("3"))], Cost(0.25, 0.5)) == 1
        assert one.kept(["k3", "k4", "k1"]) == {"k1", "k3"}
        assert list(one.runs(["k3", "k1", "k3"])) == [run("3"), run("1"), run("3")]
        assert one.processor_s(["k1", "k3", "k4"]) == 0.375
        assert one.processor_s(["k4"]) is None
        assert one.count(["k1", "k1", "k4"]) == 2


def test_processes_that_make_one_store_at_a_time_all_find_it(tmp_path: Path) -> None:
    code = """
import sys, time
from ackclock.runs.store import Cost, Store
begin = float(sys.argv[3])
for at in range(30):
    while time.time() < begin + at * 0.02:
        pass
    with Store(f"{sys.argv[1]}/{at}") as store:
        store.add([(sys.argv[2], "{}")], Cost(0.0, 0.5))
"""
    begin, keys = str(time.time() + 0.5), ["k0", "k1", "k2", "k3"]
    processes = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), key, begin]) for key in keys]
    assert [process.wait(30) for process in processes] == [0, 0, 0, 0]
    for at in range(30):
        with Store(tmp_path / str(at)) as store:
            assert store.kept(keys) == {*keys}


def test_more_keys_than_one_question_takes_are_asked_in_parts(tmp_path: Path) -> None:
    keys = [f"k{i}" for i in range(2345)]
    with Store(tmp_path) as store:
        store.add([(key, run(key)) for key in keys], Cost(0.0, 0.5))
        assert len(store.kept(keys)) == 2345
        assert [json.loads(text)["identity"] for text in store.runs(reversed(keys))] == keys[::-1]


def test_a_run_that_comes_again_with_another_trace_hash_is_an_error_that_says_so(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add([("k", run("1", "a"))], Cost(0.0, 0.5))
        with pytest.raises(OSError, match="the run 1 is kept with the trace hash a and now has b: two builds"):
            store.add([("other", run("2")), ("k", run("1", "b"))], Cost(0.0, 0.5))
        assert store.kept(["k", "other"]) == {"k"}


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs.sqlite").write_text("no database, but long enough to have been one " * 9, encoding="utf-8")
    with pytest.raises(OSError, match=r"runs\.sqlite: file is not a database"):
        Store(tmp_path)
    (tmp_path / "runs.sqlite").unlink()
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as other:
        other.execute("CREATE TABLE photos (name TEXT)")
    with pytest.raises(OSError, match="found a database of another program, allowed: a store of ackclock"):
        Store(tmp_path)


def test_a_store_of_a_newer_form_is_refused(tmp_path: Path) -> None:
    Store(tmp_path).__exit__()
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as newer:
        newer.execute(f"PRAGMA user_version = {FORM + 1}")
    with pytest.raises(OSError, match=f"found a store of form {FORM + 1}, allowed: up to {FORM}; use a newer ackclock"):
        Store(tmp_path)


def test_runs_are_found_in_any_order_however_they_lie(tmp_path: Path) -> None:
    keys = [f"k{n}" for n in range(6000)]
    with Store(tmp_path) as store:
        for some in (keys[3000:], keys[:3000]):
            store.add([(key, run(key)) for key in some], Cost(0.5, 0.5))
        scattered = [keys[n * 1237 % 6000] for n in range(6000)]
        swapped = [keys[n ^ 64] for n in range(5888)]
        for asked in (keys, keys[::-1], scattered, swapped, keys[::7], [*keys[:700], *keys[:700], *keys[4000:]]):
            assert list(store.runs(asked)) == [run(key) for key in asked]
        with pytest.raises(KeyError):
            list(store.runs([*keys[:2000], "none"]))


def test_each_key_without_a_run_is_found_once_where_it_comes_first(tmp_path: Path) -> None:
    keys = ["a", "b", "a", "c", "d", "c", "b"]
    with Store(tmp_path) as store:
        assert (store.lacking([]), store.lacking(keys)) == ((0, array("Q")), (4, array("Q", [0, 1, 3, 4])))
        store.add([("b", run("b")), ("e", run("e"))], Cost(0.5, 0.5))
        for _ in range(2):
            assert store.lacking(iter(keys)) == (4, array("Q", [0, 3, 4]))
        assert store.lacking(keys, {"c", "f"}) == (4, array("Q", [0, 1, 4]))
        assert store.lacking(keys, ()) == (4, array("Q", [0, 1, 3, 4]))


def test_a_damaged_run_harms_only_those_who_ask_for_it(tmp_path: Path) -> None:
    keys = [f"k{n}" for n in range(2000)]
    with Store(tmp_path) as store:
        store.add([(key, run(key)) for key in keys], Cost(0.5, 0.5))
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as db:
        db.execute("UPDATE runs SET run = replace(run, 'a', 'b') WHERE key = 'k700'")
        # Not even text.
        db.execute("UPDATE runs SET run = x'ff' WHERE key = 'k701'")
        db.commit()
    others = [key for key in keys if key not in {"k700", "k701"}]
    with Store(tmp_path) as store:
        assert list(store.runs(others)) == [run(key) for key in others]
        for damaged in ("k700", "k701"):
            with pytest.raises(OSError, match=f"the run {damaged} is damaged"):
                list(store.runs([*keys[:700], damaged]))


def test_looking_for_results_makes_no_store(ackclock: Command, tmp_path: Path) -> None:
    result = ackclock("results", "ls", "--store", "none")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "ackclock: none: no store of results here (no runs.sqlite)\n"
    assert not (tmp_path / "none").exists()


def test_a_store_that_cannot_be_made_is_one_message(ackclock: Command, plan: Path) -> None:
    (plan.parent / "file").write_text("", encoding="utf-8")
    for where in ("file", "file/inside"):
        result = ackclock("sweep", plan, "--store", where)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr.startswith("ackclock: ")
        assert result.stderr.count("\n") == 1
        assert f"'{where}'" in result.stderr


def _kept(store: Path) -> int:
    with closing(sqlite3.connect(store / "runs.sqlite")) as db:
        (count,) = db.execute("SELECT count(*) FROM runs").fetchone()
    return int(count)


def test_a_file_that_may_not_grow_ends_the_sweep_and_loses_nothing(ackclock: Command, plan: Path) -> None:
    command = [sys.executable, "-c", LIMITED, "150000", "sweep", str(plan), "--store", "s"]
    result = subprocess.run(command, cwd=plan.parent, capture_output=True, text=True, timeout=60, check=False)
    kept = _kept(plan.parent / "s")
    assert (result.returncode, result.stdout) == (1, "")
    message = f"{kept} of {RUNS} runs are kept and the same command continues\n"
    assert result.stderr == f"ackclock: s/runs.sqlite: disk I/O error; {message}"
    assert 0 < kept < RUNS
    _goes_on(ackclock, plan, "s", kept)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 200 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(folder)]
    if sys.platform != "linux" or os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk needs root on Linux; a file that may not grow is tested instead")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_ends_the_sweep_and_loses_nothing(ackclock: Command, plan: Path, small_disk: Path) -> None:
    store = small_disk / "s"
    result = ackclock("sweep", plan, "--store", store)
    kept = _kept(store)
    assert (result.returncode, result.stdout) == (1, "")
    message = f"{kept} of {RUNS} runs are kept and the same command continues\n"
    assert result.stderr == f"ackclock: {store}/runs.sqlite: database or disk is full; {message}"
    assert 0 < kept < RUNS
    subprocess.run(["mount", "-o", "remount,size=40m", str(small_disk)], check=True)
    _goes_on(ackclock, plan, str(store), kept)


def test_a_table_for_which_there_is_no_room_leaves_the_runs(ackclock: Command, plan: Path, small_disk: Path) -> None:
    assert ackclock("sweep", plan, "--store", "s").returncode == 0
    whole = small_disk / "s"
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    shutil.copytree(plan.parent / "s", whole)
    (whole / "sweeps" / "rates" / "runs.parquet").unlink()
    filling = os.statvfs(small_disk)
    (small_disk / "filling").write_bytes(b"x" * ((filling.f_bavail - 10) * filling.f_bsize))
    result = ackclock("sweep", plan, "--store", whole)
    assert (result.returncode, result.stdout) == (1, "")
    assert "No space left on device" in result.stderr
    assert result.stderr.count("\n") == 1
    assert [f.name for f in (whole / "sweeps" / "rates").iterdir()] == ["manifest.json"]
    (small_disk / "filling").unlink()
    _goes_on(ackclock, plan, str(whole), RUNS)


def _goes_on(ackclock: Command, plan: Path, store: str, kept: int) -> None:
    """The same command makes the remaining runs, and the table equals that of an undisturbed sweep."""
    result = ackclock("sweep", plan, "--store", store, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["kept"] == kept
    assert ackclock("sweep", plan, "--store", "undisturbed").returncode == 0
    table = Path("sweeps", "rates", "runs.parquet")
    assert (plan.parent / store / table).read_bytes() == (plan.parent / "undisturbed" / table).read_bytes()


def test_a_damaged_table_is_said_and_made_anew(ackclock: Command, plan: Path) -> None:
    assert ackclock("sweep", plan, "--store", "s").returncode == 0
    file = plan.parent / "s" / "sweeps" / "rates" / "runs.parquet"
    before = file.read_bytes()
    note = "ackclock: s/sweeps/rates/runs.parquet: damaged; rebuilt from the kept runs\n"
    for arguments in (("sweep", plan), ("results", "show", "rates"), ("results", "export", "rates", "x.csv")):
        file.write_bytes(before[:1000] + bytes([before[1000] ^ 1]) + before[1001:])
        result = ackclock(*arguments, "--store", "s")
        assert (result.returncode, result.stderr) == (0, note)
        assert file.read_bytes() == before
    file.unlink()
    assert ackclock("results", "show", "rates", "--store", "s").returncode == 0
    assert file.read_bytes() == before


def test_a_damaged_manifest_is_said_and_made_anew_by_the_sweep(ackclock: Command, plan: Path) -> None:
    assert ackclock("sweep", plan, "--store", "s").returncode == 0
    file = plan.parent / "s" / "sweeps" / "rates" / "manifest.json"
    before = json.loads(file.read_bytes())
    file.write_bytes(file.read_bytes()[:-100])
    for command in ("ls", "show"):
        result = ackclock("results", command, *(["rates"] if command == "show" else []), "--store", "s")
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr.startswith("ackclock: s/sweeps/rates/manifest.json: damaged (")
        assert result.stderr.endswith("run the sweep again, which rewrites it; no run is lost\n")
    result = ackclock("sweep", plan, "--store", "s", "--json")
    assert (result.returncode, json.loads(result.stdout)["kept"]) == (0, RUNS)
    again = json.loads(file.read_bytes())
    assert {**again, "finished": None} == {**before, "finished": None}


def test_a_manifest_of_a_newer_form_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        folder = manifest.folder_of(store, "x")
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text('{"form": 99, "points": []}', encoding="utf-8")
        with pytest.raises(OSError, match="found the format of a newer ackclock, allowed: up to 1"):
            manifest.read(store, "x")
