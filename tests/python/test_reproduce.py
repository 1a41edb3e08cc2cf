"""``ackclock reproduce``: its files, its store, and how it stops."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import resource
import signal
import subprocess
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

import ackclock
from ackclock.papers import claims, sizes
from ackclock.papers.folder import every, read
from blanton_allman import schemes
from blanton_allman.points import KEY, SCENARIOS, STACK, settings
from conftest import Command
from reproducing import COMMAND, FOLDER, NAMED, cut, environment, kept, lay_out, read_json, reproduce, written

PAPER = read(FOLDER)


def test_the_command_draws_every_figure_compares_every_point_and_judges_every_claim(tmp_path: Path) -> None:
    """Scenarios are cut to a second, so the verdicts must be bad and the exit code must report it."""
    cut(tmp_path, 1)
    done = reproduce(tmp_path, "--seeds", "2", "--copy-to", "docs")
    assert done.returncode == 1
    assert done.stderr.startswith(f"{KEY}: figures and claims: 230 runs\n")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.stdout + done.stderr), "not a terminal"
    assert "Throughput (tolerance 3 %): 0 of 34 points reproduced" in done.stdout
    out = tmp_path / "results" / KEY
    figures = {f"fig{n}.{ending}" for n in range(2, 10) for ending in ("svg", "png")}
    assert {p.name for p in out.iterdir()} == figures | {"points.csv", "comparison.csv", "RESULTS.md", "claims.json"}
    with (out / "points.csv").open(encoding="utf-8") as table:
        points = list(csv.DictReader(table))
    assert [len(points), points[0]["seeds"]] == [len({*settings(), *schemes.settings()}), "2"]
    svg = (tmp_path / "docs" / f"{KEY}-fig3.svg").read_text(encoding="utf-8")
    assert f"Ackclock {ackclock.__version__}, seeds 1 to 2, runs" in svg
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert svg == (out / "fig3.svg").read_text(encoding="utf-8")
    page = (tmp_path / "papers" / KEY / "RESULTS.md").read_text(encoding="utf-8")
    linked = [tmp_path / "papers" / KEY / link for link in re.findall(r"\]\((.+?\.svg)\)", page)]
    assert len(linked) == 8
    assert all(path.is_file() for path in linked)


def test_every_claim_has_a_row_with_a_reason(undisturbed: Path) -> None:
    rows = json.loads((undisturbed / "results" / "claims.json").read_text(encoding="utf-8"))
    found = {row["id"]: row for row in rows}
    assert list(found) == [claim.id for claim in claims.read(FOLDER / "claims.csv")]
    for row in rows:
        assert list(row)[:6] == ["id", "verdict", "kind", "published", "rule", "measured"]
        assert row["verdict"] in {verdict.value for verdict in claims.Verdict}
        assert re.fullmatch(r"[A-Z0-9\-].*\.", row["note"], re.DOTALL), row
    assert (found["S000-39"]["measured"], found["S000-39"]["verdict"]) == ("5 s, 2, 12, 1 s and 8 s", "differs")
    assert (found["S000-31"]["verdict"], found["S000-31"]["measured"]) == ("cannot be checked", None)


def begun(folder: Path, runs: int) -> subprocess.Popen[str]:
    """Start the command, and return when it has stored this number of runs."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [*NAMED, "--seeds", "2"], cwd=folder, env=environment(), stdout=pipe, stderr=pipe, text=True
    )
    deadline = time.monotonic() + 60
    while kept(folder) < runs and time.monotonic() < deadline:
        time.sleep(0.005)
    return process


@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_stopped_half_way_it_goes_on_and_gives_the_same_bytes(
    how: signal.Signals, code: int, undisturbed: Path, tmp_path: Path
) -> None:
    cut(tmp_path, 5)
    with begun(tmp_path, 40) as process:
        process.send_signal(how)
        said, complaint = process.communicate(timeout=60)
    assert (process.returncode, said) == (code, "")
    before = kept(tmp_path)
    assert 40 <= before < 230
    if how is signal.SIGINT:
        last = complaint.splitlines()[-1]
        assert last == "ackclock: interrupted; finished runs are kept and the same command continues"
        assert "Traceback" not in complaint
        assert not list(tmp_path.glob("results/**/*.part"))
    assert not (tmp_path / "results" / "claims.json").exists()
    again = reproduce(tmp_path, "--seeds", "2")
    assert again.stderr.startswith(f"{KEY}: figures and claims: {230 - before} runs, {before} kept\n")
    assert written(tmp_path) == written(undisturbed)


def test_a_second_run_runs_nothing_and_writes_the_same(undisturbed: Path) -> None:
    before = written(undisturbed), clocks(undisturbed)
    again = reproduce(undisturbed, "--seeds", "2", "--json")
    assert (again.returncode, again.stderr) == (1, "")
    said = json.loads(again.stdout)
    (paper,) = said["papers"]
    count = sum(sum(of.values()) for of in paper["verdicts"].values())
    assert (paper["paper"], paper["claims"], count) == (KEY, 40, 40)
    assert (said["claims"], said["verdicts"], said["spent"]) == (40, paper["verdicts"], paper["spent"])
    assert len(paper["differing"]) == sum(of["differs"] for of in paper["verdicts"].values())
    assert (sum(paper["references"][0]["values"].values()), paper["references"][0]["agrees"]) == (68, False)
    assert said["extras"] == []
    assert (written(undisturbed), clocks(undisturbed)) == before, "kept runs know their time"


def test_on_dask_it_writes_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    cut(tmp_path, 5)
    done = reproduce(tmp_path, "--seeds", "2", "--on", "dask:2")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith(f"{KEY}: figures and claims: 230 runs\n")
    assert kept(tmp_path) == kept(undisturbed)
    assert written(tmp_path) == written(undisturbed)


def test_runs_are_kept_where_it_is_said_and_found_by_a_sweep(tmp_path: Path, ackclock: Command) -> None:
    cut(tmp_path, 1)
    assert reproduce(tmp_path, "--seeds", "2", "--store", "here", "--threads", "1").returncode == 1
    assert not (tmp_path / "ackclock-results").exists()
    plan = f"""
scenario = "papers/{KEY}/{SCENARIOS["paper"]}"
seeds = {{ count = 3 }}
[grid]
stack = ["{STACK}"]
"link[1].elements[0].count" = [3, 12]
"""
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    assert "2 points, 6 runs, 4 of them kept" in ackclock("sweep", "plan.toml", "--store", "here").stdout


def test_points_that_were_kept_in_another_form_are_not_read_and_it_says_so(tmp_path: Path) -> None:
    lay_out(tmp_path / "papers", "made-up-1999")
    (tmp_path / "results" / ".points").mkdir(parents=True)
    command = [*COMMAND, "made-up-1999", "--seeds", "2"]
    for lines in (2, 1):
        said = subprocess.run(
            command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
        ).stderr.splitlines()
        assert (
            said[0]
            == "ackclock: results/.points: it holds points of an older form, which are not read; it may be deleted"
        )
        assert len(said) == lines


def clocks(folder: Path) -> tuple[bytes, bytes]:
    """The two files that contain times."""
    return (folder / "results" / "times.json").read_bytes(), (folder / "results" / "report.html").read_bytes()


def test_how_much_was_run_is_written_where_it_may_change(undisturbed: Path) -> None:
    spent = read_json(undisturbed / "results" / "times.json")["spent"][KEY]
    assert spent["runs"] == 2 * spent["points"] == 2 * 115
    assert spent["simulated_s"] == 5 * spent["runs"]
    said = (undisturbed / "results" / KEY / "RESULTS.md").read_text(encoding="utf-8")
    numbers = f"{spent['points']:,} points (a set-up with all its seeds), {spent['runs']:,} runs"
    assert f"{numbers}, {spent['simulated_s']:,.0f} s simulated, {spent['packets']:,} data packets sent." in said


def test_what_can_be_run_is_listed_with_its_size(tmp_path: Path, ackclock: Command) -> None:
    """The size is for full runs; the estimate of time uses the packet rate of earlier results."""
    cut(tmp_path, 1)
    rows = json.loads(ackclock("reproduce", "--list", "--json").stdout)
    assert [row["key"] for row in rows] == [KEY]
    row = rows[0]
    assert (row["title"], row["claims"], row["full"]["seeds"]) == (PAPER.title, 40, 30)
    assert (row["packets"], row["processor_s"]) == (None, None)
    size = {"points": 2, "runs": 60, "packets": 7_000_000, "simulated_s": 9.0}
    (tmp_path / "papers" / "sizes.json").write_text(json.dumps({KEY: size}), encoding="utf-8")
    line = next(line for line in ackclock("reproduce", "--list").stdout.splitlines() if line.startswith(KEY))
    assert re.split(r" {2,}", line) == [KEY, PAPER.title, "40 claims, 30 seeds", "60 runs, 7.00 million packets"]
    spent = {**size, "packets": 500, "processor_s": 0.02, "wall_s": 0.01}
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "times.json").write_text(json.dumps({"spent": {"any": spent}}), encoding="utf-8")
    line = next(line for line in ackclock("reproduce", "--list").stdout.splitlines() if line.startswith(KEY))
    assert line.endswith("7.00 million packets, 4 min 40 s of processor time")
    assert [p.name for p in (tmp_path / "results").iterdir()] == ["times.json"], "nothing is run"


def test_sizes_are_written_by_full_runs_alone(undisturbed: Path) -> None:
    assert not (undisturbed / "papers" / "sizes.json").exists()
    assert reproduce(undisturbed, "--seeds", "2", "--copy-to", "docs").returncode == 1
    assert not (undisturbed / "papers" / "sizes.json").exists(), "fewer seeds than the paper's"


def test_extra_pages_are_listed_without_claims(tmp_path: Path) -> None:
    lay_out(tmp_path)
    (row,) = sizes.listing(list(every(tmp_path).values()), tmp_path, tmp_path)
    assert (row["key"], row["kind"], row["claims"], row["packets"]) == ("across", "extra", None, None)
    assert sizes.lines([row]) == ["across  All of them  4 seeds"]


def test_a_full_disk_is_one_line_and_leaves_earlier_results(undisturbed: Path) -> None:
    """No file may exceed 40 kB: the files that SQLite writes to read its store fit, and figures do not."""
    before = written(undisturbed)

    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    done = reproduce(undisturbed, "--seeds", "2", limit=full)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(
        r"ackclock: \[Errno 27\] File too large: '\S+'; finished runs are kept and .* continues\n", done.stderr
    )
    assert written(undisturbed) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux that is always full")
def test_a_full_standard_output_is_one_line(undisturbed: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [*NAMED, "--seeds", "2"]
        done = subprocess.run(command, cwd=undisturbed, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert re.fullmatch(r"ackclock: standard output: .*No space left on device\n", done.stderr)


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    cut(tmp_path, 1)
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    done = reproduce(tmp_path, "--out", "taken")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"ackclock: \[Errno \d+\] [\w ]+: 'taken\S*'\n", done.stderr)
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--on", "nowhere"],
            'command line: key `--on`: found "nowhere", allowed: dask:N for N worker processes here, ',
        ),
        (["--on", "dask:2", "--threads", "2"], "command line: key `--threads`: found 2, allowed: no --on, "),
        (
            ["--papers", "no"],
            "command line: key `--papers`: found no paper in no, allowed: a folder of papers, ",
        ),
        (["rfc-793"], f'command line: key `NAME`: found "rfc-793", allowed: {KEY}; or a paper\'s folder\n'),
        (["--quick", "--full"], "command line: key `--quick`: found --full as well, allowed: one of them\n"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: list[str], message: str, tmp_path: Path) -> None:
    cut(tmp_path, 1)
    done = reproduce(tmp_path, *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"ackclock: {message}")
    assert not (tmp_path / "results").exists()


def test_a_missing_package_is_one_line_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "jinja2.py").write_text("raise ModuleNotFoundError(\"No module named 'jinja2'\")", encoding="utf-8")
    cut(tmp_path, 1)
    env = environment(PYTHONPATH=str(tmp_path))
    done = subprocess.run(NAMED, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "ackclock: No module named 'jinja2': pip install 'ackclock[papers]'\n"
    assert not (tmp_path / "results").exists()


def on_a_terminal(folder: Path, **variables: str) -> tuple[bytes, int]:
    """Everything that the command writes to a terminal."""
    master, slave = pty.openpty()
    command = [*COMMAND, "made-up-1999", "--seeds", "2", "--fresh"]
    with subprocess.Popen(command, cwd=folder, env=environment(**variables), stdout=slave, stderr=slave) as process:
        os.close(slave)
        shown = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:
                break
            shown += part
    os.close(master)
    return shown, process.returncode


def test_control_characters_only_for_terminals_that_want_them(tmp_path: Path) -> None:
    lay_out(tmp_path / "papers", "made-up-1999")
    shown, _ = on_a_terminal(tmp_path, TERM="xterm")
    assert b"\x1b[" in shown
    for variables in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}):
        shown, code = on_a_terminal(tmp_path, **variables)
        assert (code, b"2 runs" in shown) == (0, True)
        assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)", shown)
