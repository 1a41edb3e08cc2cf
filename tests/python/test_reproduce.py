"""``ackclock reproduce``: its files, what it keeps, and how it stops."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import ackclock
from ackclock import _native
from ackclock.papers import claims
from ackclock.papers.blanton_allman import schemes
from ackclock.papers.blanton_allman.points import KEY, SCENARIOS, settings
from ackclock.papers.lab import Job, Lab
from ackclock.papers.progress import shown
from ackclock.papers.store import Store
from conftest import SHORT

FOLDER = Path(__file__).resolve().parents[2] / "papers" / KEY
COMMAND = [sys.executable, "-m", "ackclock", "reproduce"]


def environment(**more: str) -> dict[str, str]:
    """Nothing of the tests' own terminal."""
    return {k: v for k, v in os.environ.items() if k not in {"FORCE_COLOR", "COLUMNS", "NO_COLOR", "TERM"}} | more


def reproduce(
    folder: Path, *arguments: str, limit: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """The command, in a folder of its own."""
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=limit,
    )


def cut(tmp_path: Path, seconds: int) -> None:
    """The paper's folder with scenarios of so many seconds."""
    copy = tmp_path / "papers" / KEY
    (copy / "reference").mkdir(parents=True)
    for file in [*SCENARIOS.values(), "reference/ns2.csv", "scenario-burst.toml", "claims.csv", "README.md"]:
        text = (FOLDER / file).read_text(encoding="utf-8")
        (copy / file).write_text(text.replace('duration = "600 s"', f'duration = "{seconds} s"'), encoding="utf-8")


def test_the_command_draws_every_figure_compares_every_point_and_judges_every_claim(tmp_path: Path) -> None:
    """On scenarios cut to a second, so the verdicts must be bad and the exit code says it."""
    cut(tmp_path, 1)
    done = reproduce(tmp_path, "--seeds", "2", "--copy-to", "docs")
    assert done.returncode == 1
    assert done.stderr.startswith("figures and claims: 115 points\n")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.stdout + done.stderr), "not a terminal"
    assert "Throughput (tolerance 3 %): 0 of 34 points reproduced" in done.stdout
    out = tmp_path / "results" / KEY
    figures = {f"fig{n}.{ending}" for n in range(2, 10) for ending in ("svg", "png")}
    assert {p.name for p in out.iterdir()} == figures | {"points.csv", "comparison.csv", "RESULTS.md"}
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


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the command ran on scenarios of 5 s, two seeds a point."""
    folder = tmp_path_factory.mktemp("undisturbed")
    cut(folder, 5)
    assert reproduce(folder, "--seeds", "2").returncode == 1
    return folder


def test_every_claim_has_a_row_with_a_reason(undisturbed: Path) -> None:
    rows = json.loads((undisturbed / "results" / "claims.json").read_text(encoding="utf-8"))
    found = {row["id"]: row for row in rows}
    assert list(found) == [claim.id for claim in claims.read(FOLDER / "claims.csv")]
    for row in rows:
        assert list(row)[:6] == ["id", "verdict", "published", "measured", "interval", "note"]
        assert row["verdict"] in {"holds", "differs", "cannot be checked"}
        assert re.fullmatch(r"[A-Z0-9\-].*\.", row["note"], re.DOTALL), row
    assert (found["S000-39"]["measured"], found["S000-39"]["verdict"]) == ("5 s, 2, 12, 1 s and 8 s", "differs")
    assert (found["S000-31"]["verdict"], found["S000-31"]["measured"]) == ("cannot be checked", None)


class Page(HTMLParser):
    """What a browser would see of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.references: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it, and what it refers to."""
        self.tags[tag] += 1
        self.text += " "
        for name, value in attrs:
            if name == "id":
                self.ids.append(str(value))
            if name in {"href", "xlink:href", "src", "srcset", "data", "action"}:
                self.references.append(str(value))
            self.references += re.findall(r"url\((.*?)\)", value or "")

    def handle_data(self, data: str) -> None:
        """Note it."""
        self.text += data


def test_the_report_is_one_page_that_asks_for_nothing(undisturbed: Path) -> None:
    text = (undisturbed / "results" / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.tags["svg"] == page.tags["figure"] == 8
    assert not page.tags.keys() & {"script", "link", "img", "iframe", "object", "embed", "base"}
    assert all(reference.startswith("#") for reference in page.references)
    assert {reference[1:] for reference in page.references} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert not re.search(r"@import|url\(\s*[\"']?https?:|//[a-z]", text)


def test_the_report_has_every_claim_figure_command_and_hash(undisturbed: Path) -> None:
    text = (undisturbed / "results" / "report.html").read_text(encoding="utf-8")
    page, said = Page(text), " ".join(Page(text).text.split())
    rows = json.loads((undisturbed / "results" / "claims.json").read_text(encoding="utf-8"))
    for row in rows:
        assert row["id"] in page.ids
        assert row["where"] in said
        assert row["note"][:40] in said
    for verdict, sign in (("holds", "✓"), ("differs", "✗"), ("cannot be checked", "?")):
        assert said.count(f"{sign} {verdict}") == 1 + sum(row["verdict"] == verdict for row in rows)
    assert said.count(f"ackclock reproduce {KEY} --seeds 2") == 8
    for file in ("scenario-ns2.toml", "scenario-paper.toml"):
        digest = hashlib.sha256((undisturbed / "papers" / KEY / file).read_bytes()).hexdigest()[:16]
        assert said.count(f"{file} {digest}") >= 3
    assert f"Ackclock {ackclock.__version__}" in said
    assert "5 s, seeds 1 to 2" in said
    assert "Beside ns-2.35" in said
    assert "Two readings" in said
    assert str(undisturbed) not in text, "nothing of the machine"


def written(folder: Path) -> dict[str, bytes]:
    """Every result by its name, but the kept points."""
    paths = [p for p in (folder / "results").rglob("*") if p.is_file() and ".points" not in p.parts]
    return {str(p.relative_to(folder)): p.read_bytes() for p in paths}


def begun(folder: Path, points: int) -> subprocess.Popen[str]:
    """The command, once it has kept so many points."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [*COMMAND, "--seeds", "2"], cwd=folder, env=environment(), stdout=pipe, stderr=pipe, text=True
    )
    deadline = time.monotonic() + 60
    while len(list(folder.glob("results/.points/*.json"))) < points and time.monotonic() < deadline:
        time.sleep(0.005)
    return process


@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_stopped_half_way_it_goes_on_and_gives_the_same_bytes(
    how: signal.Signals, code: int, undisturbed: Path, tmp_path: Path
) -> None:
    cut(tmp_path, 5)
    with begun(tmp_path, 20) as process:
        process.send_signal(how)
        said, complaint = process.communicate(timeout=60)
    assert (process.returncode, said) == (code, "")
    kept = len(list(tmp_path.glob("results/.points/*.json")))
    assert 20 <= kept < 115
    if how is signal.SIGINT:
        last = complaint.splitlines()[-1]
        assert last == "ackclock: interrupted; finished points are kept in results, the same command goes on"
        assert "Traceback" not in complaint
        assert not list(tmp_path.glob("results/**/*.part"))
    assert not (tmp_path / "results" / "claims.json").exists()
    again = reproduce(tmp_path, "--seeds", "2")
    assert again.stderr.startswith(f"figures and claims: {115 - kept} points, {kept} kept\n")
    assert written(tmp_path) == written(undisturbed)


def test_a_second_run_runs_nothing_and_writes_the_same(undisturbed: Path) -> None:
    before = written(undisturbed)
    again = reproduce(undisturbed, "--seeds", "2", "--json")
    assert (again.returncode, again.stderr) == (1, "")
    (paper,) = json.loads(again.stdout)["papers"]
    assert (paper["paper"], paper["claims"], sum(paper["verdicts"].values())) == (KEY, 40, 40)
    assert written(undisturbed) == before


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
    assert (again.ran, path.read_bytes()) == (1, good)


def test_one_bad_scenario_stops_the_others_and_is_named(tmp_path: Path) -> None:
    long = Job(SHORT.replace('"5 s"', '"100000 s"'), "long")
    bad = Job(SHORT.replace("5 Mbps", "5 Mbs"), "bad.toml")
    began = time.monotonic()
    with pytest.raises(ackclock.ScenarioError, match=r"^bad.toml:"):
        lab(tmp_path).run("both", [long, bad])
    assert time.monotonic() - began < 20


def test_a_full_disk_is_one_line_and_leaves_earlier_results(undisturbed: Path) -> None:
    """No file may grow beyond 20 kB, so points and pages fit and figures do not."""
    before = written(undisturbed)

    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    done = reproduce(undisturbed, "--seeds", "2", limit=full)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"ackclock: \[Errno 27\] File too large: '\S+'\n", done.stderr)
    assert written(undisturbed) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux that is always full")
def test_a_full_standard_output_is_one_line(undisturbed: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [*COMMAND, "--seeds", "2"]
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
        (["--papers", "no"], f"command line: key `--papers`: found no folder no/{KEY}, allowed: "),
        (["rfc-793"], f'command line: key `PAPER`: found "rfc-793", allowed: {KEY}\n'),
        (["--quick", "--full"], "command line: key `--quick`: found --full as well, allowed: one of them\n"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = reproduce(tmp_path, *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"ackclock: {message}")
    assert not (tmp_path / "results").exists()


def test_a_missing_package_is_one_line_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "jinja2.py").write_text("raise ModuleNotFoundError(\"No module named 'jinja2'\")", encoding="utf-8")
    cut(tmp_path, 1)
    env = environment(PYTHONPATH=str(tmp_path))
    done = subprocess.run(COMMAND, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "ackclock: No module named 'jinja2': pip install 'ackclock[papers]'\n"
    assert not (tmp_path / "results").exists()


def on_a_terminal(folder: Path, **variables: str) -> tuple[bytes, int]:
    """All that the command writes to a terminal."""
    master, slave = pty.openpty()
    command = [*COMMAND, "--seeds", "2", "--fresh"]
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
    cut(tmp_path, 1)
    shown, _ = on_a_terminal(tmp_path, TERM="xterm")
    assert b"\x1b[" in shown
    for variables in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}):
        shown, code = on_a_terminal(tmp_path, **variables)
        assert (code, b"115 points" in shown) == (1, True)
        assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)", shown)
