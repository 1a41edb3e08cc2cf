"""Compares what-if with the kernel: a path fitted to the capture of one kernel run predicts other runs.

    .venv/bin/ackclock live path scenarios/linux/loss-1.toml --sender kernel:cubic --pcap CAPTURES/loss-1-cubic-11
    .venv/bin/python tools/measures/what_if.py CAPTURES

Each folder is named after path, control and seed. The truth is in ``tests/linux/kernel-6.18.csv``: runs of the kernel
that were not used for a fit. Times are for a transfer of the capture's size.
"""

from __future__ import annotations

import csv
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import ackclock as ak
from ackclock.captures.fitting import fit

ROOT = Path(__file__).resolve().parents[2]
TRUTH = ROOT / "tests" / "linux" / "kernel-6.18.csv"
STACKS = {"cubic": "linux-2025", "reno": "linux-reno-2025", "bbr": "linux-bbr-2025"}
SEEDS = 10
ONE = 2
"""The fewest cases in a group with a percentile."""


def truth() -> dict[tuple[str, str], list[float]]:
    """Goodputs of the kernel's runs by path and control, in bytes/s."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    lines = [line for line in TRUTH.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    for row in csv.DictReader(lines):
        found[row["path"], row["control"]].append(float(row["goodput_bytes_per_s"]))
    return found


def percentile(values: Iterable[float], part: float) -> float:
    """The value with at least this share of all values at or below it."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def main(folder: Path) -> None:
    """Print the table, and the median errors."""
    known = truth()
    errors: dict[str, list[float]] = {"same": [], "other": []}
    inside: list[bool] = []
    print("| path | captured | sender | kernel, s | what-if, s | off | within |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for capture in sorted(folder.glob("*-*-*/sender.pcapng")):
        path, control, _ = capture.parent.name.rsplit("-", 2)
        if (path, control) not in known:
            continue
        try:
            found = fit([capture], limit=10_000, stack=STACKS[control])
            answer = found.what_if(
                [s for s in STACKS.values() if s != STACKS[control]], as_=STACKS[control], seeds=SEEDS
            )
        except ValueError as why:
            print(f"| {path} | {control} | refused | | | | {why} |")
            continue
        bytes_ = sum(row["bytes"] for row in found.to_dict()["transfers"])
        for row in (answer.own, *answer.others):
            sender = next(name for name, stack in STACKS.items() if stack == row.stack)
            runs = [bytes_ / goodput for goodput in known.get((path, sender), [])]
            if not runs:
                continue
            mean = statistics.mean(runs)
            off = row.seconds / mean - 1
            held = [row.low <= run <= row.high for run in runs]
            share = f"{sum(held)} of {len(held)}"
            print(
                f"| {path} | {control} | {sender} | {mean:.1f} | {row.seconds:.1f} ({row.low:.1f} to {row.high:.1f}) "
                f"| {off:+.0%} | {share}{'' if answer.trusted else ', not trusted'} |",
                flush=True,
            )
            if answer.trusted:
                errors["same" if row is answer.own else "other"].append(abs(off))
                inside.extend(held)
    print()
    for name, values in errors.items():
        if len(values) >= ONE:
            middle, most = statistics.median(values), percentile(values, 0.9)
            print(f"{name} stack: {len(values)} cases, median {middle:.1%}, 90th percentile {most:.1%}")
    if inside:
        print(f"intervals hold {sum(inside) / len(inside):.1%} of {len(inside)} kernel runs ({ak.__version__})")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
