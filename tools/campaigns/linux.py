"""Compares Linux's TCP with ours on the paths of tests/linux/paths.toml, and writes docs/linux.md.

The kernel's runs take real time. Their results are stored in tests/linux/kernel-VERSION.csv and not measured again.
After Ctrl-C, the same command continues. Live runs need Linux, and root or a user namespace.

    tools/campaigns/linux.py                   the missing runs of this kernel, our runs, the page
    tools/campaigns/linux.py --live            only the kernel's runs
    tools/campaigns/linux.py --simulate        only our runs, and the page
    tools/campaigns/linux.py --check           whether our runs of one seed, and the page, equal the stored ones
    tools/campaigns/linux.py --only PATH ...   only some paths (with --live)
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import re
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

import ackclock as ak
import linux_page
from ackclock.progress import Progress, shown
from ackclock.statistics import Mean
from bench import machine
from linux_page import LATE_US, LEAST, MOST, NARROW
from linux_records import KEPT, STACKS, Listed, Record, append, head, paths, read, totalled, valid, write

OURS = "ours.csv"
SEEDS = 8
"""The number of seeds for our runs."""
STEP = 4
"""Seeds of the kernel added at a time, for as long as the interval of its goodput is too wide."""


class LiveRunError(Exception):
    """A live run failed; the message says why."""


def version() -> str:
    """The kernel's version, without the distribution's suffix."""
    return re.split(r"[^0-9.]", os.uname().release)[0]


def provenance() -> str:
    """The kernel, its clock, and the processor."""
    config = Path("/proc/config.gz")
    lines = gzip.decompress(config.read_bytes()).decode().splitlines() if config.exists() else []
    hz = [line.partition("=")[2] for line in lines if line.startswith("CONFIG_HZ=")]
    return ", ".join([f"Linux {version()}", *(f"HZ {n}" for n in hz), machine()])


def kernel_file(kept: Path) -> Path:
    """The file with this kernel's results."""
    return kept / f"kernel-{'.'.join(version().split('.')[:2])}.csv"


def missing(listed: Sequence[Listed], records: Sequence[Record]) -> list[tuple[Listed, str, int]]:
    """The kernel's runs to make next; empty if all intervals are narrow, or all seeds have been used."""
    found: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for record in valid(records, listed):
        found[record.path, record.control][record.seed] = record.goodput_bytes_per_s
    runs = []
    for path in listed:
        for control in path.controls:
            have = found[path.name, control]
            goodput = Mean.of(list(have.values())) if have else None
            wide = goodput is not None and goodput.half > NARROW * goodput.value
            wanted = LEAST if len(have) < LEAST else min(MOST, len(have) + STEP) if wide else len(have)
            runs += [(path, control, seed) for seed in range(1, wanted + 1) if seed not in have]
    return sorted(runs, key=lambda run: run[2])


def measured(path: Listed, control: str, seed: int) -> Record:
    """Make one live run; if it was late, make a second one and return the run with less lateness."""
    first = run_live(path, control, seed)
    return first if first.late_p99_us <= LATE_US else min(first, run_live(path, control, seed), key=_lateness)


def _lateness(record: Record) -> float:
    return record.late_p99_us


def run_live(path: Listed, control: str, seed: int) -> Record:
    """Make one live run.

    Raises:
        LiveRunError: the run failed, or packets were lost outside the path.
    """
    sysctls = [f"--sysctl={key}={value}" for key, value in path.sysctl.items()]
    words = ["live", "path", str(path.file), "--sender", f"kernel:{control}", "--seed", str(seed), *sysctls]
    command = [sys.executable, "-m", "ackclock", *words, "--realtime", "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise LiveRunError(f"{path.name}: {ran.stderr.strip().splitlines()[-1]}")
    said = json.loads(ran.stdout)
    [run], live = said["runs"], said["live"]
    if any(live["device_drops"].values()) or live["damaged"]:
        raise LiveRunError(f"{path.name}, {control}, seed {seed}: packets were lost or damaged outside the path")
    record = totalled(path, control, seed, run["flows"], run["duration_s"], version())
    counted = live["counters"]["sender"]
    # The kernel also counts timeouts of the handshake; the count of a run starts with the connection.
    timeouts = counted.get("TCPTimeouts", 0) - counted.get("TCPSynRetrans", 0)
    return replace(record, timeouts=timeouts, late_p99_us=round(live["late_p99_us"], 1))


def _urgent() -> None:
    """Request real-time priority, below that of the path, for a thread and the runs that it starts.

    Otherwise, on a busy machine, applications would wait before they connect, write or read.
    """
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def record_live(kept: Path, listed: Sequence[Listed], at_once: int) -> None:
    """Make the missing runs of the kernel, and store each when it ends."""
    file, every = kernel_file(kept), paths()
    if not file.exists():
        write(file, [provenance()], [], every)
    lock = threading.Lock()

    def one(run: tuple[Listed, str, int]) -> None:
        record = measured(*run)
        with lock, file.open("a", encoding="utf-8", newline="") as opened:
            append(opened, record)

    while runs := missing(listed, read(file)):
        have = len(read(file))
        with (
            shown(f"kernel {version()}", at_once=True) as report,
            ThreadPoolExecutor(at_once, initializer=_urgent) as pool,
        ):
            futures = [pool.submit(one, run) for run in runs]
            try:
                for done, future in enumerate(as_completed(futures)):
                    report(Progress(have + done, have + len(runs), have))
                    future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    write(file, head(file), valid(read(file), every), every)


def simulated(path: Listed, control: str, seeds: int) -> list[Record]:
    """Make our runs on a path; empty if our stack refuses its settings."""
    try:
        result = ak.run(path.file, stack=STACKS[control], set=path.set, seed=1, seeds=seeds, threads=1)
    except ak.ScenarioError as error:
        print(f"{path.name}, {control}: left out: {error}", file=sys.stderr)
        return []
    runs = [(seed, flows.to_dicts()) for (seed,), flows in result.frame.group_by("seed", maintain_order=True)]
    return [totalled(path, control, int(seed), rows, rows[0]["duration_s"], STACKS[control]) for seed, rows in runs]


def simulate(listed: Sequence[Listed], seeds: int) -> list[Record]:
    """Make our runs on all paths, with every stack in the list."""
    there = {stack["name"] for stack in ak.stacks()}
    rows = [(path, control) for path in listed for control in path.controls if STACKS[control] in there]
    records: list[Record] = []
    with shown("simulating") as report, ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, found in enumerate(pool.map(lambda row: simulated(row[0], row[1], seeds), rows)):
            report(Progress(done, len(rows), 0))
            records += found
    return records


def check() -> int:
    """Check that our runs with the first seed, and the page, equal the stored ones."""
    firsts = {(r.path, r.control): r for r in read(KEPT / OURS) if r.seed == 1}
    now = {(r.path, r.control): r for r in simulate(paths(), 1)}
    moved = sorted(key for key in firsts.keys() | now.keys() if firsts.get(key) != now.get(key))
    for path, control in moved:
        print(f"{path}, {control}: not as in {KEPT / OURS}; if that is intended: tools/campaigns/linux.py --simulate")
    stale = linux_page.PAGE.read_text(encoding="utf-8") != linux_page.page(KEPT)
    if stale:
        print(f"{linux_page.PAGE}: not what the records say; tools/campaigns/linux.py --simulate writes it")
    return 1 if moved or stale else 0


def main() -> int:
    """Run the requested steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    part = parser.add_mutually_exclusive_group()
    for flag in ("live", "simulate", "check"):
        part.add_argument(f"--{flag}", action="store_true")
    every = paths()
    names = [path.name for path in every]
    parser.add_argument(
        "--only", nargs="+", metavar="PATH", choices=names, default=names, help="some paths of the list"
    )
    parser.add_argument("--at-once", type=int, default=8, metavar="N", help="live runs side by side (default: 8)")
    parser.add_argument(
        "--kept", type=Path, default=KEPT, metavar="DIR", help="where the kernel's numbers go (with --live)"
    )
    asked = parser.parse_args()
    if asked.check:
        return check()
    listed = [path for path in every if path.name in asked.only]
    try:
        if not asked.simulate:
            record_live(asked.kept, listed, asked.at_once)
        if not asked.live:
            write(KEPT / OURS, [], simulate(every, SEEDS), every)
            linux_page.PAGE.write_text(linux_page.page(KEPT), encoding="utf-8")
    except KeyboardInterrupt:
        print("interrupted; finished measurements are kept, and the same command continues", file=sys.stderr)
        return 130
    except LiveRunError as error:
        print(f"tools/campaigns/linux.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
