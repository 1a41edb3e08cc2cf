"""Run the fuzz targets of fuzz.toml; print a table of cases, cases per second, and the most that a case took.

usage: tools/fuzz.py [--cases N] [--from N] [TARGET ...]

Without ``--cases`` each target gets its own number, by its speed. ``--from`` draws other cases. A failure prints the
number of the case, its input, and the variables that repeat it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TOOK = re.compile(r"finished in ([\d.]+)s")
MOST = re.compile(r": \d+ cases, at most (\d+) bytes and (\S+)")


def command(test: list[str]) -> tuple[list[str], Path]:
    """The command that runs a test, and its folder."""
    match test:
        case ["page", name]:
            return ["npx", "vitest", "run", "src/damaged.test.ts", "-t", name], ROOT / "web"
        case ["python", file, name]:
            python = str(ROOT / ".venv/bin/python")
            return [python, "-m", "pytest", "-q", f"tests/python/{file}", "-k", name], ROOT
        case [package, file, name]:
            cargo = ["cargo", "test", "--locked", "-p", package, "--test", file, name]
            return [*cargo, "--", "--nocapture"], ROOT
    sys.exit(f"found {test}, allowed: page and a test; python, a file and a test; a package, a file and a test")


def run(name: str, target: Mapping[str, Any], cases: int, first: int) -> str:
    """Run a target; return its row. Exits if it fails."""
    unit, times = target.get("unit", 1), target.get("times", 1)
    variable = max(1, cases * unit // times)
    env = {**os.environ, "ACKCLOCK_FUZZ": str(variable), "ACKCLOCK_FUZZ_FROM": str(first)}
    if first:
        env["ACKCLOCK_FUZZ_SEED"] = str(first)
    words, folder = command(target["test"])
    began = time.monotonic()
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    took = time.monotonic() - began
    said = done.stdout + done.stderr
    if done.returncode:
        sys.exit(f"{name}: failed\n{said}")
    if in_test := TOOK.search(said):
        took = float(in_test[1])
    cases = variable * times // unit
    bounds = f"{int(most[1]):,} | {most[2]}" if (most := MOST.search(said)) else " | "
    return f"| {name} | {target['case']} | {cases:,} | {cases / max(took, 0.01):,.0f} | {bounds} |"


def main() -> None:
    """Run the named targets, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--cases", type=int, help="cases of each target")
    parser.add_argument("--from", dest="first", type=int, default=0, help="number of the first case")
    parser.add_argument("target", nargs="*", help="default: all")
    asked = parser.parse_args()
    targets = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    if unknown := [name for name in asked.target if name not in targets]:
        sys.exit(f"found {', '.join(unknown)}, allowed: {', '.join(targets)}")
    print("| target | case | cases | cases/s | bytes | longest |\n| --- | --- | --- | --- | --- | --- |")
    for name in asked.target or targets:
        print(run(name, targets[name], asked.cases or targets[name]["cases"], asked.first), flush=True)


if __name__ == "__main__":
    main()
