"""What the tests of ``ackclock reproduce`` share: the command on one paper, and a paper that is made up."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ackclock.papers import claims
from ackclock.papers.blanton_allman.points import KEY, SCENARIOS
from ackclock.papers.paper import Extra, Outcome, Paper, Picture, Reference, Section, Table, Work
from ackclock.plot import style
from ackclock.runs.store import DEFAULT, FILE
from ackclock.runs.task import Task
from ackclock.runs.trial import Effort, digest
from ackclock.statistics import Verdict
from conftest import SHORT

PAPERS = Path(__file__).resolve().parents[2] / "papers"
FOLDER = PAPERS / KEY
COMMAND = [sys.executable, "-m", "ackclock", "reproduce"]
NAMED = [*COMMAND, KEY]


def environment(**more: str) -> dict[str, str]:
    """Nothing of the tests' own terminal."""
    return {k: v for k, v in os.environ.items() if k not in {"FORCE_COLOR", "COLUMNS", "NO_COLOR", "TERM"}} | more


def reproduce(
    folder: Path, *arguments: str, limit: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """The command for the first paper, in a folder of its own."""
    return subprocess.run(
        [*NAMED, *arguments],
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


def written(folder: Path) -> dict[str, bytes]:
    """Every result by its name, but what the clock says."""
    paths = [p for p in (folder / "results").rglob("*") if p.is_file()]
    found = {str(p.relative_to(folder)): p.read_bytes() for p in paths if p.name != "times.json"}
    front = "results/report.html"
    if front in found:
        found[front] = re.sub(rb'(<span class="measured">).*?</span>', rb"\1</span>", found[front])
    return found


def kept(folder: Path) -> int:
    """How many runs the store of a folder has."""
    file = folder / DEFAULT / FILE
    if not file.is_file():
        return 0
    try:
        with closing(sqlite3.connect(file)) as db:
            (count,) = db.execute("SELECT count(*) FROM runs").fetchone()
    except sqlite3.OperationalError:  # it is being made
        return 0
    return int(count)


CLAIMS = [
    claims.Claim("M-1", "§1", "packets", "many", "> 10", "packets", "words; bound ours"),
    claims.Claim("M-2", "§2", "packets <again>", "few & none", "< 10", "packets", "numbers"),
    claims.Claim("M-3", "§3", "taste", "good", "", "", "words"),
]


def made_up(key: str = "made-up-1999", verdicts: Sequence[Verdict] = (Verdict.WITHIN,)) -> Paper:
    """A paper with one point, one figure, a claim for each verdict, and another simulator with these verdicts."""

    def run(work: Work) -> Outcome:
        ((run, *_),) = work.lab.run("runs", [task(work.folder / "scenario.toml")])
        packets = float(run["flows"][0]["data_packets_sent"])
        found = [
            claims.judge(CLAIMS[0], (packets,)),
            claims.judge(CLAIMS[1], (packets,), ((1.0, packets),), "Rates are others. So it is."),
            claims.Finding(CLAIMS[2], claims.Verdict.UNCHECKED, note="It has none."),
        ]
        table = Table(
            "Beside ns-0", ["point", "ours", "verdict"], [[str(i), "1", v.value] for i, v in enumerate(verdicts)]
        )
        reference = Reference(["All is said", "All is done."], all(v.good for v in verdicts), table)
        picture = draw(work, "fig1", "scenario.toml")
        numbers = Table("Numbers of it", ["a", "b"], [["1", "2"]])
        return Outcome(found, [picture], [numbers], 4, (1, 4), (5.0, 5.0), digest([run["identity"]]), [reference])

    title = key.replace("-", " ").title()
    return Paper(key, title, f"A. {title}", f"What does {title} ask?", Effort(4), Effort(2), run)


def task(scenario: Path, stack: str | None = None) -> Task:
    """Four runs of a scenario."""
    return Task(str(scenario), scenario.read_text(encoding="utf-8"), stack, (), 1, 4)


def draw(work: Work, name: str, scenario: str) -> Picture:
    """A figure of a line."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to load

    figure = Figure((2, 1))
    with style.paper():
        figure.add_subplot().plot([0, 1], [0, 1])
        svg = style.save(figure, work.out / name, {"Title": name})
    return Picture(name, f"Figure of {name}", "A line.", svg, [scenario], "0123456789abcdef", "ackclock run it")


def extra(key: str = "across") -> Extra:
    """A page of two sections, of the made-up paper's point."""

    def sections(work: Work) -> list[Section]:
        scenario = "made-up-1999/scenario.toml"
        work.lab.run("more", [task(work.folder / scenario, "reno")])
        table = Table("Table of it", ["stack", "n"], [["reno", "1"]])
        return [
            Section("First part", ["It is <so>."], [draw(work, "all", scenario)]),
            Section("Second part", tables=[table]),
        ]

    return Extra(key, "All of them", "What is the same in all?", Effort(4), Effort(2), sections)


def lay_out(folder: Path, *keys: str) -> None:
    """The folders of made-up papers."""
    for key in keys:
        (folder / key).mkdir(parents=True)
        (folder / key / "scenario.toml").write_text(SHORT, encoding="utf-8")
        (folder / key / "README.md").write_text(
            f"# {key}\n\n## Set-up\n\nAs **said**.\n\n## More\n\nNo.\n", encoding="utf-8"
        )


def read_json(path: Path) -> Any:  # noqa: ANN401 - whatever it has
    """What a JSON file has."""
    return json.loads(path.read_text(encoding="utf-8"))
