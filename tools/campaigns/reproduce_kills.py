"""Kills `ackclock reproduce --readings` with SIGKILL at random, and compares its results with undisturbed ones.

usage: tools/campaigns/reproduce_kills.py [PAPER] [--kills N] [--seed N] [--on here|dask:2]

Reproduces a paper with its readings three times, each with a separate store: undisturbed; killed repeatedly on this
machine; and killed repeatedly with `--on dask:2`. `--on` leaves out one of the last two. Compares every file except
measured times. Exit code 1: a file differs, or the command ended before the requested number of kills.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MEASURED = re.compile(rb'(<span class="measured">).*?</span>')
"""Times on the front page."""
CLOCK = "times.json"
DASK = "dask:2"


def digests(results: Path) -> dict[str, str]:
    """SHA-256 of every result by name, without measured times."""
    found = {}
    for file in sorted(results.rglob("*")):
        if file.is_file() and file.name != CLOCK:
            content = MEASURED.sub(rb"\1</span>", file.read_bytes())
            found[str(file.relative_to(results))] = hashlib.sha256(content).hexdigest()
    return found


def command(paper: str, folder: Path, *options: str) -> list[str]:
    """The command that is killed."""
    places = ["--out", str(folder / "results"), "--store", str(folder / "store")]
    return [sys.executable, "-m", "ackclock", "reproduce", paper, "--readings", "--quick", *places, *options]


def run(said: list[str]) -> None:
    """Run the command to its end; a point outside another simulator's range does not count as a failure here."""
    done = subprocess.run(said, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        sys.exit(f"{' '.join(said)}: exit code {done.returncode}\n{done.stderr}")


def killed(said: list[str], kills: int, seconds: float, start: float) -> int:
    """Kill the command repeatedly, then let it finish. Returns the number of kills.

    Args:
        said: the command.
        kills: the requested number of kills.
        seconds: the duration of an undisturbed run.
        start: the start-up time of the command, in seconds.
    """
    for at in range(kills):
        moment = start + random.uniform(0, 1.5 * seconds / kills)
        process = subprocess.Popen(said, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        else:
            return at
    run(said)
    return kills


def trial(folder: Path, paper: str, kills: int, only: str | None) -> int:
    """Run all three in a folder, or two; return the exit code."""
    began = time.monotonic()
    run(command(paper, folder / "undisturbed"))
    took = time.monotonic() - began
    wanted = digests(folder / "undisturbed" / "results")
    print(f"{paper}: undisturbed: {len(wanted)} files in {took:.1f} s")
    good = True
    for where, start, options in (("here", 0.5, ()), (DASK, 2.0, ("--on", DASK))):
        if only not in {None, where}:
            continue
        what = "here" if where == "here" else f"with --on {where}"
        at, began = folder / what.replace(" ", "-"), time.monotonic()
        times = killed(command(paper, at, *options), kills, took, start)
        other = [name for name, digest in digests(at / "results").items() if wanted.get(name) != digest]
        missing = wanted.keys() - digests(at / "results").keys()
        same = not other and not missing
        good &= same and times == kills
        verdict = "same bytes" if same else f"OTHER BYTES: {', '.join([*other, *sorted(missing)])}"
        print(f"{what}: killed {times} times, {time.monotonic() - began:.1f} s: {verdict}")
    return 0 if good else 1


def main() -> None:
    """Run all three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper", nargs="?", default="fukuda-2018", help="default: %(default)s")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None, help="of the moments; default: another each time")
    parser.add_argument("--on", choices=("here", DASK), help="default: both")
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(trial(Path(temporary), arguments.paper, arguments.kills, arguments.on))


if __name__ == "__main__":
    main()
