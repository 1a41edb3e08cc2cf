"""Whole stores: read on read-only file systems, checked, repaired, copied and merged."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import ackclock as ak
from ackclock.runs.store import Cost, Store, damage, forms, opening
from ackclock.runs.store.keys import key_of_run
from ackclock.sweep import stores
from conftest import RATES, SHORT, Command

RUNS = 160
"""Of the plan."""


@pytest.fixture
def kept(plan: Path) -> Path:
    """A store with the runs of the plan."""
    ak.sweep(plan, plan.parent / "s")
    return plan.parent / "s"


def a_run(identity: str, trace_hash: str = "a") -> tuple[str, str]:
    text = json.dumps({"identity": identity, "trace_hash": trace_hash, "flows": []})
    return key_of_run(text), text


def rows(store: Path) -> dict[str, str]:
    with Store(store, create=False) as opened:
        return {key: run for key, run, _ in opened.every()}


@pytest.fixture(params=["mount", "access"])
def read_only(request: pytest.FixtureRequest, kept: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The store without write permission: on a read-only mount, and with a read-only file."""
    if request.param == "mount":
        bind = ["mount", "--bind", "-o", "ro", str(kept), str(kept)]
        if sys.platform != "linux" or os.geteuid() or subprocess.run(bind, capture_output=True, check=False).returncode:
            pytest.skip("SKIPPED: a read-only mount needs root on Linux")
        subprocess.run(["mount", "-o", "remount,bind,ro", str(kept)], check=True)
        yield kept
        subprocess.run(["umount", str(kept)], check=True)
        return
    for path in (kept, *kept.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    if os.access(kept / "runs.sqlite", os.W_OK):
        pytest.skip("SKIPPED: rights of files do not bind root; the mount is tested instead")
    yield kept
    for path in (kept, *kept.rglob("*")):
        path.chmod(0o755)


def test_a_store_that_may_not_be_written_is_read(read_only: Path, plan: Path, ackclock: Command) -> None:
    listed = ackclock("results", "ls", "--store", "s", "--json")
    assert (listed.returncode, listed.stderr, json.loads(listed.stdout)[0]["kept"]) == (0, "", RUNS)
    shown = ackclock("results", "show", "rates", "--store", "s")
    assert (shown.returncode, shown.stderr) == (0, "")
    again = ackclock("sweep", "plan.toml", "--store", "s", "--json")
    assert (again.returncode, again.stderr, json.loads(again.stdout)["kept"]) == (0, "", RUNS)
    assert ackclock("results", "check", "--store", "s").stdout == "s: nothing is damaged\n"
    assert ackclock("results", "copy", "t", "--store", "s").returncode == 0
    assert rows(plan.parent / "t") == rows(read_only)
    plan.write_text(RATES.replace("40", "41"), encoding="utf-8")
    more = ackclock("sweep", "plan.toml", "--store", "s")
    assert (more.returncode, more.stdout, len(more.stderr.splitlines())) == (1, "", 1)
    assert {path.name for path in read_only.iterdir()} == {"runs.sqlite", "sweeps"}


def test_what_was_written_ahead_is_read_where_nothing_may_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path / "s") as store:
        store.add([a_run("1")], Cost(0.5, 0.5))
        # The state that a killed process leaves: the file, and the write-ahead log.
        (tmp_path / "left").mkdir()
        for name in ("runs.sqlite", "runs.sqlite-wal"):
            shutil.copy(tmp_path / "s" / name, tmp_path / "left" / name)
    assert (tmp_path / "left" / "runs.sqlite-wal").stat().st_size
    monkeypatch.setattr(opening, "writable", lambda _: False)
    real = opening._looked_at

    def no_locks(file: Path, how: str) -> sqlite3.Connection:
        if how == "mode=ro":
            raise sqlite3.OperationalError("unable to open database file")
        return real(file, how)

    monkeypatch.setattr(opening, "_looked_at", no_locks)
    assert rows(tmp_path / "left") == dict([a_run("1")])
    with Store(tmp_path / "left") as store:
        assert not store.writable


OLD = {
    1: "CREATE TABLE runs (key TEXT PRIMARY KEY, run TEXT NOT NULL, seconds REAL NOT NULL)",
    2: "CREATE TABLE runs (key TEXT PRIMARY KEY, run TEXT NOT NULL, processor_s REAL NOT NULL, "
    "wall_s REAL NOT NULL DEFAULT 0)",
}


def an_old_one(folder: Path, form: int) -> dict[str, str]:
    folder.mkdir()
    runs = dict(a_run(str(i)) for i in range(5))
    with closing(sqlite3.connect(folder / "runs.sqlite")) as db, db:
        db.execute(OLD[form])
        db.execute(f"PRAGMA application_id = {forms.APPLICATION}")
        db.execute(f"PRAGMA user_version = {form}")
        cost = (0.5,) if form == 1 else (0.5, 0.25)
        marks = ", ".join("?" * (2 + len(cost)))
        db.executemany(f"INSERT INTO runs VALUES ({marks})", [(key, run, *cost) for key, run in runs.items()])
    return runs


@pytest.mark.parametrize("form", [1, 2])
def test_older_forms_are_brought_up_and_their_runs_have_checksums_then(form: int, tmp_path: Path) -> None:
    runs = an_old_one(tmp_path / "s", form)
    assert damage.check(tmp_path / "s").whole
    assert rows(tmp_path / "s") == runs
    with closing(sqlite3.connect(tmp_path / "s" / "runs.sqlite")) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (forms.FORM,)
        sums = dict(db.execute("SELECT key, checksum FROM runs"))
    assert sums == {key: forms.checksum(key, run) for key, run in runs.items()}
    with Store(tmp_path / "s") as store:
        assert store.costs(runs) == [Cost(0.5, 0.0 if form == 1 else 0.25)] * 5


@pytest.mark.parametrize("form", [1, 2])
def test_older_forms_are_read_where_nothing_may_be_written(
    form: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = an_old_one(tmp_path / "s", form)
    monkeypatch.setattr(opening, "writable", lambda _: False)
    assert rows(tmp_path / "s") == runs
    with Store(tmp_path / "s") as store:
        assert store.costs(runs) == [Cost(0.5, 0.0 if form == 1 else 0.25)] * 5
        with pytest.raises(OSError, match=r"s/runs\.sqlite: "):
            store.add([a_run("9")], Cost(1.0, 1.0))


def spoil(store: Path, count: int) -> list[str]:
    """Change a digit in some runs, like a flipped bit on a disk; return their keys."""
    with closing(sqlite3.connect(store / "runs.sqlite")) as db, db:
        keys = [key for (key,) in db.execute("SELECT key FROM runs ORDER BY rowid LIMIT ?", (count,))]
        for key in keys:
            db.execute("UPDATE runs SET run = replace(run, '\"seed\":', '\"seed\":1') WHERE key = ?", (key,))
    return keys


def test_a_run_that_is_not_as_it_was_kept_is_not_served(kept: Path, ackclock: Command) -> None:
    (key,) = spoil(kept, 1)
    (kept / "sweeps" / "rates" / "runs.parquet").unlink()
    done = ackclock("results", "show", "rates", "--store", "s")
    assert (done.returncode, done.stdout) == (1, "")
    message = f"s/runs.sqlite: the run {key} is damaged: `ackclock results repair` keeps the others"
    assert done.stderr == f"ackclock: {message}\n"


def test_damaged_runs_are_found_and_the_others_are_kept(kept: Path, plan: Path, ackclock: Command) -> None:
    before = rows(kept)
    assert ackclock("results", "check", "--store", "s").stdout == "s: nothing is damaged\n"
    spoiled = spoil(kept, 3)
    done = ackclock("results", "check", "--store", "s")
    found = "s/runs.sqlite: 3 of 160 runs differ from what was stored; 157 runs are good"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"ackclock: {found}\n")
    mended = ackclock("results", "repair", "--store", "s")
    assert mended.returncode == 0
    assert mended.stdout.startswith("s/runs.sqlite: 157 runs are kept; the old file is now runs.sqlite.damaged")
    assert rows(kept) == {key: run for key, run in before.items() if key not in spoiled}
    assert ackclock("results", "check", "--store", "s").returncode == 0
    again = ackclock("sweep", "plan.toml", "--store", "s", "--json")
    assert (again.returncode, json.loads(again.stdout)["kept"]) == (0, 157)
    assert rows(kept) == before


@pytest.mark.parametrize("pages", [1, 4])
def test_of_a_file_with_damaged_pages_the_runs_on_the_others_are_kept(
    pages: int, kept: Path, plan: Path, ackclock: Command
) -> None:
    before = rows(kept)
    file = kept / "runs.sqlite"
    content = bytearray(file.read_bytes())
    page = int.from_bytes(content[16:18])
    leaves = [at for at in range(page, len(content), page) if content[at] == 0x0D]
    spoiled = leaves[5 : 5 + 3 * pages : 3]
    assert len(spoiled) == pages
    on_them = sum(int.from_bytes(content[at + 3 : at + 5]) for at in spoiled)
    for at in spoiled:
        content[at : at + page] = b"\xff" * page
    file.write_bytes(content)
    done = ackclock("results", "check", "--store", "s")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert "damaged" in done.stderr
    assert ackclock("results", "repair", "--store", "s").returncode == 0
    after = rows(kept)
    assert len(after) == RUNS - on_them < RUNS
    assert after.items() <= before.items()
    assert ackclock("results", "check", "--store", "s").returncode == 0
    assert ackclock("sweep", "plan.toml", "--store", "s").returncode == 0
    assert rows(kept) == before


@pytest.mark.parametrize("content", [b"", b"no database at all", b"\xff" * 50_000])
def test_a_file_of_which_nothing_can_be_read_is_put_aside(content: bytes, kept: Path, ackclock: Command) -> None:
    (kept / "runs.sqlite").write_bytes(content)
    done = ackclock("results", "check", "--store", "s")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    mended = ackclock("results", "repair", "--store", "s")
    assert (mended.returncode, mended.stderr) == (0, "")
    assert (kept / "runs.sqlite.damaged").read_bytes() == content
    assert rows(kept) == {}
    assert ackclock("sweep", "plan.toml", "--store", "s").returncode == 0
    assert len(rows(kept)) == RUNS


def test_a_damaged_manifest_does_not_hide_the_others(kept: Path, plan: Path, ackclock: Command) -> None:
    plan.write_text(RATES.replace('"rates"', '"other"'), encoding="utf-8")
    ak.sweep(plan, kept)
    file = kept / "sweeps" / "rates" / "manifest.json"
    file.write_bytes(file.read_bytes()[:-100])
    done = ackclock("results", "ls", "--store", "s")
    assert (done.returncode, "other" in done.stdout, "rates" in done.stdout) == (1, True, False)
    assert done.stderr.startswith("ackclock: s/sweeps/rates/manifest.json: damaged (")
    assert len(done.stderr.splitlines()) == 1
    assert [line["name"] for line in ak.results(kept).listed()] == ["other"]
    assert len(ak.results(kept).damaged()) == 1
    assert ackclock("results", "check", "--store", "s").returncode == 1
    mended = ackclock("results", "repair", "--store", "s")
    assert mended.stdout == (
        "s/sweeps/rates/manifest.json: set aside as manifest.json.damaged; the same sweep writes it again\n"
    )
    assert ackclock("results", "ls", "--store", "s").returncode == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest | {"name": "../../out"},
        lambda manifest: manifest | {"plan": 7},
        lambda manifest: manifest | {"points": [{"parameters": [], "seeds": [1], "keys": ["k"]}]},
        lambda manifest: manifest | {"points": [{"parameters": {}, "seeds": ["1"], "keys": ["k"]}]},
        lambda manifest: manifest | {"points": [{"parameters": {}, "seeds": [1], "keys": [7]}]},
        lambda manifest: manifest | {"points": 7},
        lambda manifest: manifest | {"form": "1"},
        lambda manifest: [manifest],
        lambda manifest: manifest | {"more": 1},
    ],
)
def test_a_manifest_that_says_something_else_is_damaged(change: object, kept: Path, ackclock: Command) -> None:
    file = kept / "sweeps" / "rates" / "manifest.json"
    file.write_text(json.dumps(change(json.loads(file.read_bytes()))), encoding="utf-8")  # type: ignore[operator]
    for command in (["ls"], ["show", "rates"], ["check"]):
        done = ackclock("results", *command, "--store", "s")
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), done.stderr
        assert "manifest.json: damaged" in done.stderr


def test_a_table_whose_runs_are_gone_goes_and_its_sweep_goes_on(kept: Path, ackclock: Command) -> None:
    spoil(kept, 2)
    table = kept / "sweeps" / "rates" / "runs.parquet"
    before = table.read_bytes()
    table.write_bytes(b"")
    mended = ackclock("results", "repair", "--store", "s")
    assert mended.stdout.splitlines()[1] == f"{table.relative_to(kept.parent)}: missing; the same sweep writes it"
    assert json.loads(ackclock("sweep", "plan.toml", "--store", "s", "--json").stdout)["kept"] == RUNS - 2
    assert table.read_bytes() == before


def test_a_copy_has_all_runs_and_sweeps_and_is_made_once(kept: Path, plan: Path, ackclock: Command) -> None:
    done = ackclock("results", "copy", "t", "--store", "s")
    assert (done.returncode, done.stdout, done.stderr) == (0, "t: 160 new runs\n", "")
    assert rows(plan.parent / "t") == rows(kept)
    for name in ("manifest.json", "runs.parquet"):
        at = Path("sweeps", "rates", name)
        assert (plan.parent / "t" / at).read_bytes() == (kept / at).read_bytes()
    again = ackclock("results", "copy", "t", "--store", "s")
    assert (again.returncode, again.stdout, len(again.stderr.splitlines())) == (2, "", 1)
    assert "`ackclock results merge` adds to one" in again.stderr
    none = ackclock("results", "copy", "u", "--store", "nowhere")
    assert (none.returncode, none.stderr) == (1, "ackclock: nowhere: no store of results here (no runs.sqlite)\n")
    assert not (plan.parent / "u").exists()


def test_two_stores_are_merged_and_sweeps_of_one_name_stay(kept: Path, plan: Path, ackclock: Command) -> None:
    plan.write_text(RATES.replace("40", "50"), encoding="utf-8")
    ak.sweep(plan, plan.parent / "t")
    plan.write_text(RATES.replace('"rates"', '"third"').replace('"reno", "newreno"', '"vegas"'), encoding="utf-8")
    ak.sweep(plan, plan.parent / "t")
    both = rows(kept) | rows(plan.parent / "t")
    done = ackclock("results", "merge", "t", "--store", "s")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "s: 120 new runs",
        "rates: another sweep has this name and is kept; the runs are merged",
    ]
    assert rows(kept) == both
    assert [line["name"] for line in ak.results(kept).listed()] == ["rates", "third"]
    assert ackclock("results", "merge", "t", "--store", "s").stdout.startswith("s: 0 new runs\n")


def test_of_a_store_with_other_results_nothing_is_merged(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as mine, Store(tmp_path / "t") as theirs:
        mine.add([a_run("1")], Cost(1.0, 1.0))
        theirs.add([a_run("0"), a_run("1", "b")], Cost(1.0, 1.0))
        with pytest.raises(OSError, match="the run 1 is kept with the trace hash a and now has b: two builds"):
            stores.merge(tmp_path / "t", mine)
    assert rows(tmp_path / "s") == dict([a_run("1")])


def test_a_run_under_a_key_that_is_not_its_own_is_not_merged(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as mine, Store(tmp_path / "t") as theirs:
        theirs.add([("k", a_run("1")[1])], Cost(1.0, 1.0))
        with pytest.raises(OSError, match="the run k is damaged"):
            stores.merge(tmp_path / "t", mine)
        assert list(mine.every()) == []


def test_a_sweep_counts_as_kept_what_an_earlier_command_has_made(plan: Path, ackclock: Command) -> None:
    """With a stop rule, seeds are added in rounds: runs of the first round do not count as stored for the second."""
    text = RATES.replace(
        "seeds = { count = 40 }",
        'stop = { column = "goodput_bytes_per_s", half_width = 0.001, at_least = 2, at_most = 8 }',
    )
    plan.write_text(text, encoding="utf-8")
    (plan.parent / "short.toml").write_text(SHORT, encoding="utf-8")
    first = json.loads(ackclock("sweep", "plan.toml", "--json").stdout)
    assert (first["runs"], first["kept"]) == (32, 0)
    plan.write_text(text.replace("at_most = 8", "at_most = 16"), encoding="utf-8")
    more = json.loads(ackclock("sweep", "plan.toml", "--json").stdout)
    assert (more["runs"], more["kept"]) == (64, 32)
