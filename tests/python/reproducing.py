"""Shared by the tests of ``ackclock reproduce``: the command on one paper, and a made-up paper."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ackclock.runs.store import DEFAULT, FILE
from ackclock.statistics import Verdict
from blanton_allman.points import KEY, SCENARIOS
from conftest import HERE, SHORT

PAPERS = Path(__file__).resolve().parents[2] / "papers"
FOLDER = PAPERS / KEY
COMMAND = [*HERE, "reproduce"]
NAMED = [*COMMAND, KEY]


def environment(**more: str) -> dict[str, str]:
    """An environment without settings of the tests' own terminal."""
    return {k: v for k, v in os.environ.items() if k not in {"FORCE_COLOR", "COLUMNS", "NO_COLOR", "TERM"}} | more


def reproduce(
    folder: Path, *arguments: str, limit: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command for the first paper in a temporary folder."""
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
    """The paper's folder, with scenarios cut to this number of seconds."""
    copy = tmp_path / "papers" / KEY
    (copy / "reference").mkdir(parents=True)
    shutil.copytree(FOLDER / "blanton_allman", copy / "blanton_allman", ignore=shutil.ignore_patterns("__pycache__"))
    others = ("reference/ns2.csv", "scenario-burst.toml", "claims.csv", "readings.toml", "README.md", "paper.toml")
    for file in [*SCENARIOS.values(), *others]:
        text = (FOLDER / file).read_text(encoding="utf-8")
        (copy / file).write_text(text.replace('duration = "600 s"', f'duration = "{seconds} s"'), encoding="utf-8")


def written(folder: Path) -> dict[str, bytes]:
    """Every result by name, without measured times."""
    paths = [p for p in (folder / "results").rglob("*") if p.is_file()]
    found = {str(p.relative_to(folder)): p.read_bytes() for p in paths if p.name != "times.json"}
    front = "results/report.html"
    if front in found:
        found[front] = re.sub(rb'(<span class="measured">).*?</span>', rb"\1</span>", found[front])
    return found


def kept(folder: Path) -> int:
    """The number of runs in a folder's store."""
    file = folder / DEFAULT / FILE
    if not file.is_file():
        return 0
    try:
        with closing(sqlite3.connect(file)) as db:
            (count,) = db.execute("SELECT count(*) FROM runs").fetchone()
    except sqlite3.OperationalError:  # the store is being created
        return 0
    return int(count)


CLAIMS = """\
id,where,quantity,published,rule,unit,kind,provenance
M-1,§1,packets,many,over 10,packets,measured,words; bound ours
M-2,§2,packets <again>,few & none,under 10,packets,measured,numbers
M-3,§3,taste,good,,,measured,words
"""


CAUSES = """\
[M-2]
kind = "arithmetic"
text = "They counted something else."
shown = "ackclock run it"
"""


def lay_out(folder: Path, *keys: str, verdicts: Sequence[Verdict] = (Verdict.WITHIN,)) -> None:
    """Write the folders of made-up papers, with these verdicts against another simulator, and of a page."""
    here = Path(__file__).parent
    for year, key in enumerate(keys, 1999):
        title = key.replace("-", " ").title()
        texts = {
            "paper.toml": paper_toml(key, title, f"A. {title}", year, f"What does {title} ask?"),
            "paper.py": (here / "made_up_paper.py").read_text(encoding="utf-8"),
            "scenario.toml": SHORT,
            "claims.csv": CLAIMS,
            "causes.toml": CAUSES,
            "verdicts.txt": "\n".join(verdict.value for verdict in verdicts),
            "README.md": f"# {key}\n\n## Set-up\n\nAs **said**.\n\n## More\n\nNo.\n",
        }
        write(folder / key, texts)
    page = "".join(paper_toml("across", "All of them", "", 0, "What is the same in all?").splitlines(True)[:3])
    code = (here / "made_up_page.py").read_text(encoding="utf-8")
    write(folder / "across", {"page.toml": page + EFFORT, "page.py": code})


EFFORT = "full = { seeds = 4 }\nquick = { seeds = 2 }\n"


def paper_toml(key: str, title: str, cite: str, year: int, about: str) -> str:
    """A paper's description."""
    return f'key = "{key}"\ntitle = "{title}"\nabout = "{about}"\ncite = "{cite}"\nyear = {year}\n{EFFORT}'


def write(folder: Path, texts: Mapping[str, str]) -> None:
    """Create the folder, and files in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def read_json(path: Path) -> Any:  # noqa: ANN401 - any JSON value
    """The content of a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))
