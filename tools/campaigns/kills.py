"""Kills a sweep of 2,000 runs and a paper's readings at random with SIGKILL, here and on Dask, and compares the files.

Each command runs undisturbed, then once more in another folder, where it is killed several times before it may finish.
Both must leave the same bytes. tests/python/test_dask.py kills workers.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PLAN = """
name = "killed"
scenario = "scenario.toml"
seeds = {{ first = 1, count = {seeds} }}
[grid]
stack = ["newreno", "sack-ff96", "dsack-avg", "rfc-6675"]
"link[0].elements[0].count" = [1, 3, 6, 12]
"link[0].delay" = {{ from = "10 ms", to = "90 ms", count = 5 }}
"""
SCENARIO = """
[run]
duration = "100 s"
[[link]]
from = "S"
to = "D"
rate = "5 Mbps"
delay = "50 ms"
queue = "65 packets"
elements = [{ kind = "swap", mode = "slots", count = 6, gap = { exponential = "1 s" } }]
back = { elements = [] }
[[flow]]
from = "S"
to = "D"
stack = "sack-ff96"
window = "500 packets"
"""
POINTS = 80
DASK = ("--on", "dask:2")
COMMANDS = {
    "sweep": ("sweep", "../plan.toml", "--store", "store"),
    "readings": ("reproduce", "fukuda-2018", "--readings", "--quick", "--out", "results", "--store", "store"),
}
RESULTS = {"sweep": "store/sweeps/*/runs.parquet", "readings": "results/**/*"}
TIMES = re.compile(rb'(<span class="measured">).*?</span>')
"""Times on the front page; the file times.json has nothing else."""


def start(words: tuple[str, ...], folder: Path) -> subprocess.Popen[str]:
    """Start a command in its folder."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "ackclock", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(words: tuple[str, ...], folder: Path) -> None:
    """Run a command to its end; a claim that differs does not count as a failure here."""
    process = start(words, folder)
    _, said = process.communicate()
    if process.returncode not in (0, 1) or "Traceback" in said:
        sys.exit(f"{' '.join(words)}: exit code {process.returncode}\n{said}")


def digests(folder: Path, pattern: str) -> dict[str, str]:
    """SHA-256 of every result by name, without measured times."""
    files = [path for path in sorted(folder.glob(pattern)) if path.is_file() and path.name != "times.json"]
    contents = {str(path.relative_to(folder)): TIMES.sub(rb"\1</span>", path.read_bytes()) for path in files}
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def killed(words: tuple[str, ...], folder: Path, kills: int, seconds: float) -> int:
    """Kill a command, which takes this long if it is not disturbed, and let it finish; return the number of kills."""
    for done in range(kills):
        process = start(words, folder)
        try:
            process.communicate(timeout=0.5 + 2 * (DASK[1] in words) + random.uniform(0, 1.5 * seconds / kills))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        else:
            return done
    finish(words, folder)
    return kills


def main() -> int:
    """Kill each command, here and on Dask."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("command", nargs="*", choices=[*COMMANDS, []], help="default: all")
    parser.add_argument("--runs", type=int, default=2000, help="of the sweep")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, help="of the moments; default: another each time")
    asked = parser.parse_args()
    random.seed(asked.seed)
    good = True
    with tempfile.TemporaryDirectory() as temporary:
        Path(temporary, "plan.toml").write_text(PLAN.format(seeds=asked.runs // POINTS), encoding="utf-8")
        Path(temporary, "scenario.toml").write_text(SCENARIO, encoding="utf-8")
        for name in asked.command or COMMANDS:
            words, began = COMMANDS[name], time.monotonic()
            finish(words, Path(temporary, name))
            took = time.monotonic() - began
            wanted = digests(Path(temporary, name), RESULTS[name])
            print(f"{name}: undisturbed: {len(wanted)} files in {took:.1f} s")
            for where, options in (("here", ()), ("dask", DASK)):
                folder = Path(temporary, f"{name}-{where}")
                count = killed((*words, *options), folder, asked.kills, took)
                same = digests(folder, RESULTS[name]) == wanted != {}
                good &= same and count == asked.kills
                print(f"{name}, {where}: killed {count} times: {'same' if same else 'OTHER'} bytes", flush=True)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
