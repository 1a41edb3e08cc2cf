"""Kill commands at their writes, or let these fail as on a full disk; the same command must still reach its result.

usage: tools/campaigns/faults.py [--most N] [--command NAME] [--fault kill|full]

strace counts the system calls by which a sweep, a run with trace and captures, the analysis of a capture, and a paper
with a figure change files. Then each command runs again and again: the n-th call of a kind kills it, or fails with
ENOSPC. After a kill, files under their final names are whole. A full disk is one line and exit code 1 or 2. In either
case the same command, run once more without the fault, leaves exactly the files of an undisturbed one. ``--most``
limits n for each kind of call: the first calls and the last, and evenly spaced ones between.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CALLS = (
    "write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "fallocate", "mkdir", "link", "rename",
    "renameat2", "unlink",
)  # fmt: skip
FULL = ("write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "fallocate", "mkdir", "link", "rename")
"""Calls that fail on a full disk."""
KILLED = 128 + 9
MOST_LINES = 3
"""An error, and the progress before it."""
SCENARIO = """
[run]
duration = "4 s"
[[link]]
from = "S"
to = "D"
rate = "5 Mbps"
delay = "20 ms"
queue = "20 packets"
elements = [{ kind = "bernoulli", p = 0.01 }]
back = { elements = [] }
[[flow]]
from = "S"
to = "D"
stack = "newreno"
"""
PLAN = """
name = "faults"
scenario = "s.toml"
seeds = { first = 1, count = 3 }
[grid]
stack = ["newreno", "dsack-avg"]
"""


NOTE = {
    "paper.toml": """
key = "note"
title = "A note"
cite = "A. Reader"
year = 2026
about = "What does SACK gain?"
full = { seeds = 2 }
quick = { seeds = 2 }
""",
    "lossy.toml": SCENARIO,
    "claims.csv": """id,where,quantity,published,rule,unit,kind,provenance
some,§1,"timeouts in a run",few,at most 100,timeouts,measured,words
""",
    "paper.py": '''"""A point, a claim and a figure."""

from matplotlib.figure import Figure

from ackclock.papers.claims import judge, read
from ackclock.papers.paper import Outcome, Picture
from ackclock.plot import style
from ackclock.runs.trial import Trial

TRIALS = [Trial("lossy.toml", stack=stack) for stack in ("newreno", "rfc-6675")]


def judged(work):
    (some,) = read(work.folder / "claims.csv")
    mean = work.run("points", TRIALS)[TRIALS[0]].mean("timeouts")
    return [judge(some, (mean.value,), ((mean.value - mean.half, mean.value + mean.half),))]


def reproduce(work):
    found, ran = judged(work), work.run("points", TRIALS)
    figure = Figure((2, 1))
    with style.paper():
        figure.add_subplot().plot([one.mean("timeouts").value for one in ran.values()])
        svg = style.save(figure, work.out / "fig1", {"Title": "fig1"})
    picture = Picture("fig1", "Timeouts", "A line.", svg, ["lossy.toml"], "0123456789abcdef", "ackclock run lossy.toml")
    return Outcome.of(ran.values(), found, pictures=[picture])
''',
}
MEASURED = re.compile(rb'(<span class="measured">).*?</span>')
"""Times on a report's front page."""
CLOCK = "times.json"


@dataclass(frozen=True)
class Command:
    """A command, and the files that it makes."""

    name: str
    words: tuple[str, ...]
    made: tuple[str, ...]
    """Patterns of files that are whole whenever they exist, and equal in the end."""
    setup: tuple[str, ...] = ()
    """A command that runs before."""
    threads: bool = True
    """Whether threads beside the first write files. Some only wake each other by writes, for which no disk is full."""


COMMANDS = (
    Command(
        "sweep",
        ("sweep", "p.toml", "--store", "store", "--threads", "1"),
        ("store/sweeps/faults/runs.parquet",),
        threads=False,
    ),
    Command("run", ("run", "s.toml", "--trace", "t.parquet", "--pcap", "pcaps"), ("t.parquet", "pcaps/[!.]*")),
    Command(
        "capture",
        ("capture", "pcaps/sender.pcapng", "--parquet", "tables"),
        ("tables/*.parquet",),
        ("run", "s.toml", "--pcap", "pcaps"),
        threads=False,
    ),
    Command(
        "paper",
        ("reproduce", "./note", "--quick", "--store", "store", "--threads", "1"),
        ("results/[!.]*", "results/note/[!.]*"),
        threads=False,
    ),
)


def started(words: tuple[str, ...], folder: Path, *inject: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, under strace if something is to be counted or injected."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200"}
    traced = ("strace", *inject) if inject else ()
    command = [*traced, sys.executable, "-m", "ackclock", *words]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300)


def tracing(command: Command) -> tuple[str, ...]:
    """The options of strace for a command."""
    return ("-qq", "-f", "--seccomp-bpf") if command.threads else ("-qq",)


def prepared(command: Command) -> Path:
    """A new folder with the command's inputs."""
    folder = Path(tempfile.mkdtemp(prefix="ackclock-faults-"))
    (folder / "s.toml").write_text(SCENARIO, encoding="utf-8")
    (folder / "p.toml").write_text(PLAN, encoding="utf-8")
    (folder / "note").mkdir()
    for name, text in NOTE.items():
        (folder / "note" / name).write_text(text, encoding="utf-8")
    if command.setup and (done := started(command.setup, folder)).returncode:
        sys.exit(done.stderr)
    return folder


def contents(command: Command, folder: Path) -> dict[str, bytes]:
    """The files made so far, without measured times."""
    found = (path for pattern in command.made for path in folder.glob(pattern) if path.is_file() and path.name != CLOCK)
    return {str(path.relative_to(folder)): MEASURED.sub(rb"\1</span>", path.read_bytes()) for path in sorted(found)}


def counted(command: Command) -> tuple[dict[str, bytes], Counter[str]]:
    """The files of an undisturbed command, and the most calls of each kind by one of its threads."""
    folder = prepared(command)
    log = folder / "strace.log"
    done = started(command.words, folder, *tracing(command), "-o", str(log), "-e", f"trace={','.join(CALLS)}")
    if done.returncode:
        sys.exit(f"{command.name}: {done.stderr}")
    each = Counter(re.findall(r"^(\d*) *(\w+)\(", log.read_text(encoding="utf-8", errors="replace"), re.MULTILINE))
    most: Counter[str] = Counter()
    for (_, call), count in each.items():
        most[call] = max(most[call], count)
    files = contents(command, folder)
    shutil.rmtree(folder)
    if not files:
        sys.exit(f"{command.name}: it made no file")
    return files, most


def numbers(count: int, most: int) -> Iterator[int]:
    """The numbers 1 to ``count``, or evenly spaced ones among these."""
    step = max(1.0, (count - 1) / max(1, most - 1))
    yield from sorted({round(1 + step * i) for i in range(min(count, most))})


def faults(command: Command, files: dict[str, bytes], fault: str, call: str, nth: int) -> list[str]:
    """Disturb a command once; return what is wrong then."""
    folder = prepared(command)
    before = contents(command, folder)
    what = "signal=SIGKILL" if fault == "kill" else "error=ENOSPC"
    done = started(
        command.words,
        folder,
        *tracing(command),
        "-o",
        os.devnull,
        "-e",
        f"trace={call}",
        "-e",
        f"inject={call}:{what}:when={nth}",
    )
    wrong, said = [], done.stderr.splitlines()
    killed = done.returncode in {KILLED, -9}
    if fault == "kill" and not killed and done.returncode:
        wrong.append(f"exit code {done.returncode} instead of a kill: {done.stderr}")
    if fault == "full" and (done.returncode not in {0, 1, 2} or "Traceback" in done.stderr or len(said) > MOST_LINES):
        wrong.append(f"exit code {done.returncode}: {done.stderr}")
    if fault == "full" and done.returncode and not any(line.startswith("ackclock: ") for line in said):
        wrong.append(f"no line about it: {done.stderr}")
    torn = [name for name, content in contents(command, folder).items() if content != files.get(name, before.get(name))]
    if torn:
        wrong.append(f"not whole: {', '.join(torn)}")
    again = started(command.words, folder)
    if again.returncode:
        wrong.append(f"afterwards: exit code {again.returncode}: {again.stderr}")
    elif (now := contents(command, folder)) != files:
        differ = sorted(name for name in {*now, *files} if now.get(name) != files.get(name))
        wrong.append(f"afterwards other files: {', '.join(differ)}")
    shutil.rmtree(folder)
    return wrong


def main() -> int:
    """Disturb every command at every call."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--most", type=int, default=25, help="disturbed calls of each kind")
    parser.add_argument("--command", choices=[command.name for command in COMMANDS])
    parser.add_argument("--fault", choices=("kill", "full"))
    asked = parser.parse_args()
    bad = 0
    for command in COMMANDS:
        if asked.command not in {None, command.name}:
            continue
        files, most = counted(command)
        print(f"{command.name}: {', '.join(f'{call} {count}' for call, count in sorted(most.items()))}", flush=True)
        for fault, calls in (("kill", CALLS), ("full", FULL)):
            if asked.fault not in {None, fault}:
                continue
            points = [(call, n) for call in calls if most[call] for n in numbers(most[call], asked.most)]
            found = {point: wrong for point in points if (wrong := faults(command, files, fault, *point))}
            bad += len(found)
            print(f"{command.name}, {fault}: {len(points)} faults, {len(found)} with a wrong end", flush=True)
            for (call, n), wrong in found.items():
                print(f"  {call} {n}: {'; '.join(wrong)[:600]}")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
