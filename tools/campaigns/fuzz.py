"""Run the fuzz targets of fuzz.toml; print a table of cases, cases per second, and the most that a case took.

usage: tools/campaigns/fuzz.py [--cases N] [--from N | --continue] [--total] [TARGET ...]

Without ``--cases`` each target gets its own number, by its speed. ``--from`` draws other cases. ``--continue`` draws
those after the last ones in tests/fuzz/ran.csv, and adds a line there for each target that ends without a fault.
``--total`` runs nothing and prints the sums of that file. A failure prints the number of the case, its input, and the
variables that repeat it.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import resource
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RAN = ROOT / "tests/fuzz/ran.csv"
"""A line for each number of cases that ended without a fault: the target, the first, how many, seconds of processor."""
MOST = re.compile(r": \d+ cases, at most (\d+) bytes and (\S+)")


def command(test: list[str]) -> tuple[list[str], Path]:
    """The command that runs a test, and its folder."""
    match test:
        case ["page", name]:
            return ["npx", "vitest", "run", "src/damaged.test.ts", "-t", name], ROOT / "web"
        case ["python", file, name]:
            python = str(ROOT / ".venv/bin/python")
            return [python, "-m", "pytest", "-q", f"tests/python/{file}", "-k", name], ROOT
        case ["rust", file, name]:
            # One package alone would need other features of its dependencies, and a build of them.
            cargo = ["cargo", "test", "--locked", "--workspace", "--test", file, name]
            return [*cargo, "--", "--nocapture"], ROOT
    sys.exit(f"found {test}, allowed: page and a test; python or rust, a file and a test")


def processor() -> float:
    """Processor time of all commands so far, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(name: str, target: Mapping[str, Any], cases: int, first: int) -> tuple[int, float, str]:
    """Run a target; return its number of cases, its processor time in seconds, and its row. Exits if it fails."""
    unit, times = target.get("unit", 1), target.get("times", 1)
    variable = max(1, cases * unit // times)
    env = {**os.environ, "ACKCLOCK_FUZZ": str(variable), "ACKCLOCK_FUZZ_FROM": str(first)}
    if first:
        env["ACKCLOCK_FUZZ_SEED"] = str(first)
    words, folder = command(target["test"])
    if words[0] == "cargo":
        # The build does not count.
        subprocess.run([*words[: words.index("--")], "--no-run"], cwd=folder, capture_output=True, check=False)
    began = processor()
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    took = processor() - began
    said = done.stdout + done.stderr
    if done.returncode:
        sys.exit(f"{name}: failed\n{said}")
    cases = variable * times // unit
    bounds = f"{int(most[1]):,} | {most[2]}" if (most := MOST.search(said)) else " | "
    return cases, took, f"| {name} | {target['case']} | {cases:,} | {cases / max(took, 0.01):,.0f} | {bounds} |"


def ran() -> list[dict[str, str]]:
    """The lines of the record."""
    with RAN.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def after(name: str) -> int:
    """The number of the first case that is not in the record."""
    return max((int(line["from"]) + int(line["cases"]) for line in ran() if line["target"] == name), default=0)


def note(name: str, first: int, cases: int, took: float) -> None:
    """Add a line to the record."""
    with RAN.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow([name, first, cases, f"{took:.1f}"])


def total(targets: Mapping[str, Any]) -> None:
    """Print the sums of the record."""
    print("| target | case | cases without a fault | cases/s |\n| --- | --- | --- | --- |")
    everything = 0
    for name, target in targets.items():
        lines = [line for line in ran() if line["target"] == name]
        timed = [line for line in lines if line["processor_s"]]
        cases, seconds = sum(int(line["cases"]) for line in lines), sum(float(line["processor_s"]) for line in timed)
        rate = f"{sum(int(line['cases']) for line in timed) / seconds:,.0f}" if seconds else ""
        print(f"| `{name}` | {target['case']} | {cases:,} | {rate} |")
        everything += cases
    print(f"{everything:,} cases")


def main() -> None:
    """Run the named targets, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--cases", type=int, help="cases of each target")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--from", dest="first", type=int, default=0, help="number of the first case")
    where.add_argument("--continue", dest="further", action="store_true", help="draw cases that were not run before")
    parser.add_argument("--total", action="store_true", help="print the cases that were run before")
    parser.add_argument("target", nargs="*", help="default: all")
    asked = parser.parse_args()
    targets = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    if unknown := [name for name in asked.target if name not in targets]:
        sys.exit(f"found {', '.join(unknown)}, allowed: {', '.join(targets)}")
    chosen = {name: targets[name] for name in asked.target or targets}
    if asked.total:
        total(chosen)
        return
    print("| target | case | cases | cases/s | bytes | longest |\n| --- | --- | --- | --- | --- | --- |")
    for name, target in chosen.items():
        first = after(name) if asked.further else asked.first
        cases, took, row = run(name, target, asked.cases or target["cases"], first)
        print(row, flush=True)
        if asked.further:
            note(name, first, cases, took)


if __name__ == "__main__":
    main()
