"""Kills sweeps of 2,000 runs with SIGKILL at random, and compares their tables with that of an undisturbed one.

usage: tools/campaigns/sweep_kills.py [--runs N] [--kills N] [--seed N]

Runs four sweeps of one plan, each with a separate store: undisturbed on this machine's cores; with the command killed
repeatedly, here and with `--on dask:2`; and on a `LocalCluster` of two workers that are killed. Prints the kills. Exit
code 1: a table differs, or fewer processes were killed than requested.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import ackclock as ak
from ackclock.runs.connect import workers_here

if TYPE_CHECKING:
    from distributed import LocalCluster

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
GRID = {
    "stack": ["newreno", "sack-ff96", "dsack-avg", "rfc-6675"],
    "link[0].elements[0].count": [1, 3, 6, 12],
    "link[0].delay": {"from": "10 ms", "to": "90 ms", "count": 5},
}
POINTS = 80
NAME = "killed"


def kept(store: Path) -> int:
    """The number of runs in a store."""
    try:
        with sqlite3.connect(f"file:{store / 'runs.sqlite'}?mode=ro", uri=True) as db:
            return int(db.execute("SELECT count(*) FROM runs").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def digest(store: Path) -> str:
    """SHA-256 of the finished table."""
    return hashlib.sha256((store / "sweeps" / NAME / "runs.parquet").read_bytes()).hexdigest()


@dataclass
class Moments:
    """Draws the times of kills at random, while the sweep is still running."""

    runs: int
    seconds: float
    """Duration of the undisturbed sweep."""
    kills: int

    def next(self, done: int, left: int) -> float:
        """Return the seconds until the next kill, given the number of finished runs and of remaining kills."""
        return random.uniform(0, 0.5 * self.seconds * (1 - done / self.runs) / left)


def killed_command(plan: Path, store: Path, moments: Moments, start: float, *options: str) -> int:
    """Kill the command and its workers repeatedly, then let it finish. Returns the number of kills.

    Args:
        plan: the plan.
        store: the store.
        moments: the times of the kills.
        start: the start-up time of the command, in seconds.
        options: options of the command.
    """
    command = [sys.executable, "-m", "ackclock", "sweep", str(plan), "--store", str(store), *options]
    said = []
    for left in range(moments.kills, 0, -1):
        moment = start * random.random() + moments.next(kept(store), left)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(moment)
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            said.append(f"{kept(store)} after {moment:.2f} s")
    print(f"  kept when killed: {', '.join(said)}")
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return len(said)


def killed_workers(plan: Path, store: Path, moments: Moments) -> int:
    """Kill one of two workers repeatedly. Returns the number of kills."""
    over, killed = threading.Event(), 0
    with workers_here(2) as cluster:

        def kill() -> None:
            nonlocal killed
            while killed < moments.kills and not over.wait(moments.next(kept(store), moments.kills - killed)):
                killed += _kill_one(cluster)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            ak.sweep(plan, store, on=cluster)
        finally:
            over.set()
            killer.join()
    return killed


def _kill_one(cluster: LocalCluster) -> bool:
    """Kill one of the present workers; return whether there was one."""
    if not (pids := [pid for worker in list(cluster.workers.values()) if (pid := worker.pid)]):
        time.sleep(0.05)
        return False
    with suppress(ProcessLookupError):
        os.kill(random.choice(pids), signal.SIGKILL)
    return True


def main() -> None:
    """Run all four."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None, help="of the moments; default: another each time")
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(trial(Path(temporary), arguments.runs // POINTS, arguments.kills))


def trial(folder: Path, seeds: int, kills: int) -> int:
    """Run all four in a folder; return the exit code."""
    plan = folder / "plan.toml"
    plan.write_text(ak.Plan(SCENARIO, name=NAME, grid=GRID, seeds={"first": 1, "count": seeds}).to_toml())
    began = time.monotonic()
    ak.sweep(plan, folder / "undisturbed")
    took = time.monotonic() - began
    wanted = digest(folder / "undisturbed")
    print(f"undisturbed: {kept(folder / 'undisturbed')} runs in {took:.1f} s; SHA-256 of runs.parquet {wanted}")

    moments = Moments(seeds * POINTS, took, kills)
    trials: dict[str, Callable[[Path], int]] = {
        "the command": lambda store: killed_command(plan, store, moments, 0.5),
        "the command with --on dask:2": lambda store: killed_command(plan, store, moments, 2, "--on", "dask:2"),
        "workers of a LocalCluster": lambda store: killed_workers(plan, store, moments),
    }
    good = True
    for at, (what, run) in enumerate(trials.items()):
        store, began = folder / str(at), time.monotonic()
        killed = run(store)
        same = digest(store) == wanted
        good &= same and killed == kills
        verdict = "same bytes" if same else "OTHER BYTES"
        print(f"{what}: killed {killed} times, {kept(store)} runs in {time.monotonic() - began:.1f} s: {verdict}")
    return 0 if good else 1


if __name__ == "__main__":
    main()
