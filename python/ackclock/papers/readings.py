"""``ackclock reproduce --readings``: a paper run under every declared reading of its open choices."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import ackclock
from ackclock import files
from ackclock.papers import claims, design, folder, reading
from ackclock.papers.claims import Verdict
from ackclock.papers.design import Scored, Split
from ackclock.papers.paper import Paper, Work
from ackclock.papers.reading import Reading
from ackclock.progress import Progress, Show, unshown
from ackclock.runs.task import Task
from ackclock.runs.trial import Effort

FILE = "readings.json"
"""File of the results, beside a paper's other results."""
KEPT = "readings"
"""Folder of judged readings, which lets an interrupted command continue."""
NOT_READ = (FILE, "RESULTS.md", "claims.json", "README.md", "causes.toml")
"""Files of a paper's folder that do not affect any verdict."""


@dataclass(frozen=True)
class Read:
    """A paper under all its readings."""

    paper: Paper
    split: Split
    effort: Effort
    """Effort for the design."""
    done: Sequence[Scored]
    full_effort: Effort | None
    full: Sequence[Scored]
    """The reading as taken and the best ones with the paper's full effort; empty with ``--quick``."""
    other: Sequence[str]
    """Claims whose verdict under the reading as taken differs between this effort and the full run."""

    def to_dict(self) -> dict[str, Any]:
        """The content of readings.json."""
        return {
            "paper": self.paper.key,
            "ackclock": ackclock.__version__,
            "results_revision": Task.revision,
            "effort": asdict(self.effort),
            "full_effort": None if self.full_effort is None else asdict(self.full_effort),
            "choices": [
                {
                    "key": choice.key,
                    "question": choice.question,
                    "taken": choice.taken,
                    "options": [{"key": option.key, "text": option.text} for option in choice.options],
                }
                for choice in self.done[0].reading.choices
            ],
            "scored": self.split.scored,
            "held_out": self.split.held_out,
            "other_than_full": self.other,
            "letters": {verdict.value: letter for verdict, letter in design.LETTERS.items()},
            "claims": list(self.done[0].verdicts),
            "readings": [self._row(one) for one in self.done],
            "in_full": [self._row(one) for one in self.full],
        }

    def _row(self, one: Scored) -> dict[str, Any]:
        return {
            "otherwise": dict(sorted(one.reading.otherwise.items())),
            "why": one.why,
            "scored": one.score(self.split.scored),
            "held_out": one.score(self.split.held_out),
            "holding": one.holding([*self.split.scored, *self.split.held_out]),
            "verdicts": "".join(design.LETTERS[verdict] for verdict in one.verdicts.values()),
        }


def explore(paper: Paper, work: Work, full: Effort | None, show: Show = unshown) -> Read:
    """Run a paper under every declared reading with the effort of ``work``, then search on.

    Args:
        paper: the paper; it has a ``readings.toml``.
        work: the folders and the laboratory, which makes the runs without showing progress for each.
        full: effort for a second run of the reading as taken and the best ones; ``None`` skips it.
        show: shows the number of readings judged.

    Raises:
        PaperError, ScenarioError, ImportError, OSError: see ``folder.run``.
        KeyboardInterrupt: as usual; finished runs and judged readings are kept.
    """
    choices = reading.read(paper.folder)
    split = Split.of(claims.read(paper.folder / folder.CLAIMS))
    judge = _Judge(paper, work, _content(paper.folder))
    with show(f"{paper.key}: readings") as report:
        total, finished, kept = 0, 0, 0

        def expect(more: int) -> None:
            nonlocal total
            total += more

        def run(one: Reading, why: str) -> Scored:
            nonlocal finished, kept
            report(Progress(finished, total, kept, "reading"))
            scored, was = judge(one, why, work.effort)
            finished, kept = finished + 1, kept + was
            return scored

        done = design.explore(choices, split, run, expect)
    best = [one for one in design.ranked(done, split) if one.reading.otherwise][: design.BEST]
    in_full = [] if full is None else _in_full([done[0], *best], judge, full, show)
    return Read(paper, split, work.effort, done, full, in_full, _other(done[0], in_full, paper))


def _in_full(readings: Sequence[Scored], judge: _Judge, effort: Effort, show: Show) -> list[Scored]:
    done: list[Scored] = []
    with show(f"{judge.paper.key}: readings in full") as report:
        for one in readings:
            report(Progress(len(done), len(readings), 0, "reading"))
            done.append(judge(one.reading, one.why, effort)[0])
    return done


def _other(taken: Scored, full: Sequence[Scored], paper: Paper) -> list[str]:
    """Claims whose verdict differs in the full run: the one made now, or the results stored beside the scenarios."""
    if full:
        known: Mapping[str, str] = {claim: verdict.value for claim, verdict in full[0].verdicts.items()}
    elif (file := paper.folder / "claims.json").is_file():
        known = {row["id"]: row["verdict"] for row in json.loads(file.read_text(encoding="utf-8"))}
    else:
        return []
    return [claim for claim, verdict in taken.verdicts.items() if known.get(claim, verdict.value) != verdict.value]


@dataclass(frozen=True)
class _Judge:
    """Judges readings and stores the verdicts."""

    paper: Paper
    work: Work
    content: str
    """Hash of everything that affects verdicts except the runs."""

    def __call__(self, one: Reading, why: str, effort: Effort) -> tuple[Scored, bool]:
        """Return the verdicts under a reading, and whether they had been stored."""
        about = [self.content, one.name, effort.seeds, effort.duration_s]
        name = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:24]
        file = self.work.out / KEPT / f"{name}.json"
        if file.is_file():
            kept = json.loads(file.read_text(encoding="utf-8"))
            return Scored(one, why, {claim: Verdict(value) for claim, value in kept["verdicts"].items()}), True
        found = folder.judged(self.paper, replace(self.work, effort=effort, reading=one))
        verdicts = {f.claim.id: f.verdict for f in found}
        file.parent.mkdir(parents=True, exist_ok=True)
        row = {"reading": one.name, "verdicts": {claim: verdict.value for claim, verdict in verdicts.items()}}
        files.write(file, (json.dumps(row, indent=1) + "\n").encode())
        return Scored(one, why, verdicts), False


def _content(at: Path) -> str:
    """Hash of a paper's files, the version and the results revision."""
    whole = hashlib.sha256(f"{ackclock.__version__} {Task.revision}".encode())
    for file in sorted(at.rglob("*")):
        if file.is_file() and file.name not in NOT_READ and "__pycache__" not in file.parts:
            whole.update(f"{file.relative_to(at)}\0".encode())
            whole.update(file.read_bytes())
    return whole.hexdigest()


def write(read: Read, to: Path) -> None:
    """Write readings.json into a folder.

    Raises:
            OSError: the folder is missing or not writable.
    """
    lines = [f" {json.dumps(key)}: {_lines(value)}" for key, value in read.to_dict().items()]
    files.write(to / FILE, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def _lines(value: object) -> str:
    """JSON with one line for each entry of a list of tables."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"  {json.dumps(one, ensure_ascii=False)}" for one in value) + "\n ]"
    return json.dumps(value, ensure_ascii=False)
