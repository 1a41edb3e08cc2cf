"""A paper in a folder outside the repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import SHORT, Command
from reproducing import write, written

TOML = """\
key = "mine-2026"
title = "My note"
cite = "A. Reader, unpublished"
year = 2026
about = "Who is faster?"
full = { seeds = 3 }
quick = { seeds = 2, duration = "3 s" }
"""
CLAIMS = """\
id,where,quantity,published,rule,unit,kind,provenance
A,§1,"goodput, SACK over NewReno",more,over 1,ratio,measured,words
B,§2,"timeouts with SACK, over goodput",more,over 1000000000,,measured,words
"""
CODE = '''\
"""Who is faster?"""

from ackclock.papers.claims import judge, read
from ackclock.papers.paper import Outcome, Table, Work
from ackclock.runs.trial import Trial, run

NEWRENO, SACK = (Trial("lossy.toml", stack=stack) for stack in ("newreno", "rfc-6675"))


def reproduce(work: Work) -> Outcome:
    ran = run(work.lab, "both senders", work.folder, [NEWRENO, SACK], work.effort)
    newreno, sack = (ran[trial].mean("goodput_bytes_per_s") for trial in (NEWRENO, SACK))
    timeouts = ran[SACK].mean("timeouts")
    faster, stalls = read(work.folder / "claims.csv")
    found = [judge(faster, (sack.value / newreno.value,)), judge(stalls, (timeouts.value / sack.value,))]
    table = Table("Goodput, kB/s", ["newreno", "rfc-6675"], [[str(newreno), str(sack)]])
    return Outcome.of(ran.values(), found, tables=[table])
'''
FILES = {"paper.toml": TOML, "claims.csv": CLAIMS, "lossy.toml": SHORT, "paper.py": CODE}


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The folder of a paper."""
    assert len(CODE.splitlines()) <= 40
    write(tmp_path / "elsewhere" / "mine", FILES)
    return tmp_path / "elsewhere" / "mine"


def test_a_folder_elsewhere_is_run_judged_and_reported(mine: Path, ackclock: Command, tmp_path: Path) -> None:
    done = ackclock("reproduce", "elsewhere/mine", "--json")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    said = json.loads(done.stdout)
    measured = {verdict: n for verdict, n in said["verdicts"]["measured"].items() if n}
    assert (measured, said["spent"]["runs"]) == ({"holds": 1, "differs": 1}, 6)
    assert (said["papers"][0]["runs"], said["papers"][0]["seeds"], said["papers"][0]["differing"]) == (6, [1, 3], ["B"])
    rows = json.loads((tmp_path / "results" / "claims.json").read_text(encoding="utf-8"))
    assert [(row["id"], row["verdict"]) for row in rows] == [("A", "holds"), ("B", "differs")]
    page = (tmp_path / "results" / "mine-2026.html").read_text(encoding="utf-8")
    assert "ackclock reproduce elsewhere/mine" in page
    assert "lossy.toml" in page
    setup = page.partition('id="setup"')[2].partition("</section>")[0]
    assert setup.rstrip().endswith("</dl>"), "how it was run, and no README"
    text = (tmp_path / "results" / "mine-2026" / "RESULTS.md").read_text(encoding="utf-8")
    assert text.startswith("# My note: results\n\nWritten by `ackclock reproduce`: 6 runs of 5 s. ")
    assert "README" not in text
    assert "**1 of 2 measured claims hold (50 %).**\n\n- measured, 2 claims: 1 holds, 1 differs" in text


def test_a_second_time_nothing_is_run_and_all_is_the_same(mine: Path, ackclock: Command, tmp_path: Path) -> None:
    first, before = ackclock("reproduce", str(mine)), written(tmp_path)
    again = ackclock("reproduce", str(mine))
    assert (again.returncode, again.stdout, again.stderr) == (0, first.stdout, "")
    assert written(tmp_path) == before


def test_quick_is_what_the_paper_says_and_copies_stay_with_the_paper(
    mine: Path, ackclock: Command, tmp_path: Path
) -> None:
    assert ackclock("reproduce", str(mine), "--quick", "--copy-to", "docs").returncode == 0
    assert "4 runs of 3 s" in (mine / "RESULTS.md").read_text(encoding="utf-8")
    assert {path.name for path in mine.iterdir()} - {"__pycache__"} == {*FILES, "RESULTS.md", "claims.json"}


def test_a_package_of_several_files_imports_its_own(mine: Path, ackclock: Command) -> None:
    """Two papers may have modules with the same name."""
    for folder in (mine, mine.with_name("other")):
        key = {"mine": "mine-2026", "other": "other-2026"}[folder.name]
        text = TOML.replace("mine-2026", key) + 'code = "parts"\n'
        write(folder, {**FILES, "paper.toml": text, "paper.py": "raise SystemExit('not this one')"})
        write(folder / "parts", {"__init__.py": f"from .runs import reproduce\nassert {key!r}", "runs.py": CODE})
    done = ackclock("reproduce", str(mine), str(mine.with_name("other")), "--quick", "--json")
    assert done.returncode == 0, done.stderr
    assert [paper["paper"] for paper in json.loads(done.stdout)["papers"]] == ["mine-2026", "other-2026"]


ALLOWED = "key, title, about, code, full, quick, cite, year, readings"


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("paper.toml", None, "{mine}: found no paper.toml, allowed: a folder with paper.toml"),
        (
            "paper.toml",
            TOML.replace("title", "titel"),
            f"{{mine}}/paper.toml:2: key `titel`: found an unknown key, allowed: {ALLOWED}; did you mean `title`?",
        ),
        (
            "paper.toml",
            TOML.replace('"3 s"', '"3 years"'),
            '{mine}/paper.toml:7: key `quick.duration`: found "3 years", allowed: whole seconds, as in "180 s"',
        ),
        (
            "paper.toml",
            TOML.replace("mine-2026", "../mine"),
            '{mine}/paper.toml:1: key `key`: found "../mine", allowed: lower-case letters, digits and single - . '
            "between them, but not report or comparison",
        ),
        (
            "paper.toml",
            TOML.replace("year = 2026\n", ""),
            "{mine}/paper.toml: key `year`: found nothing, allowed: the year of publication",
        ),
        ("paper.toml", "key = [\n", "{mine}/paper.toml:"),
        (
            "paper.py",
            CODE.replace("    table = ", "    work.effort.seeds / 0\n    table = "),
            "{mine}/paper.py:16: ZeroDivisionError: division by zero",
        ),
        ("paper.py", "import nosuch", "{mine}/paper.py:1: ModuleNotFoundError: No module named 'nosuch'"),
        ("paper.py", "def reproduce(work:\n", "{mine}/paper.py:1: SyntaxError: '(' was never closed"),
        ("paper.py", "pass", "{mine}/paper.py: found no function reproduce, allowed: reproduce(work)"),
        ("paper.py", None, "{mine}/paper.py: found no such file, allowed: the Python code of the paper"),
        (
            "paper.py",
            "def reproduce(work):\n    return 3\n",
            "{mine}/paper.py: reproduce returned int, allowed: an Outcome",
        ),
        (
            "paper.py",
            CODE.replace("found = [judge(faster", "found = [judge(stalls, (1.0,)), judge(faster"),
            "{mine}/claims.csv: claim B: found 2 findings, allowed: one",
        ),
        (
            "paper.py",
            CODE.replace(", found,", ", found[:1],"),
            "{mine}/claims.csv: claim B: found no finding, allowed: one",
        ),
        (
            "paper.py",
            CODE.replace("lossy.toml", "gone.toml"),
            "[Errno 2] No such file or directory: '{mine}/gone.toml'",
        ),
        (
            "claims.csv",
            CLAIMS.replace("id,where", "id,place"),
            "{mine}/claims.csv:1: found the columns id, place, quantity, published, rule, unit, kind, provenance, "
            "allowed: id, where, quantity, published, rule, unit, kind, provenance",
        ),
        (
            "claims.csv",
            CLAIMS.replace(",words\nB", "\nB"),
            "{mine}/claims.csv:2: found 7 cells, allowed: 8, one a column",
        ),
    ],
)
def test_whatever_is_wrong_is_one_line(
    file: str, text: str | None, message: str, mine: Path, ackclock: Command
) -> None:
    if text is None:
        (mine / file).unlink()
    else:
        write(mine, {file: text})
    done = ackclock("reproduce", "elsewhere/mine", "--quick")
    lines = [line for line in done.stderr.splitlines() if line.startswith("ackclock: ")]
    assert (done.returncode, done.stdout, len(lines)) == (1 if message.startswith("[Errno") else 2, "", 1), done.stderr
    assert "Traceback" not in done.stderr
    assert lines[0].startswith("ackclock: " + message.format(mine="elsewhere/mine"))
    assert not (mine.parents[1] / "results" / "report.html").exists()


def test_two_papers_with_one_key_are_refused(mine: Path, ackclock: Command) -> None:
    write(mine.with_name("other"), FILES)
    done = ackclock("reproduce", "elsewhere/mine", "elsewhere/other")
    both = "elsewhere/mine and elsewhere/other"
    message = f"command line: key `NAME`: found two papers with the key mine-2026, {both}, allowed: one of them"
    assert (done.returncode, done.stderr) == (2, f"ackclock: {message}\n")


def test_the_list_does_not_run_code(mine: Path, ackclock: Command) -> None:
    write(mine.with_name("mine-2026"), {**FILES, "paper.py": "raise SystemExit(9)"})
    (mine / "paper.toml").unlink()
    done = ackclock("reproduce", "--list", "--papers", "elsewhere")
    assert (done.returncode, done.stdout.split()) == (0, ["mine-2026", "My", "note", "2", "claims,", "3", "seeds"])
