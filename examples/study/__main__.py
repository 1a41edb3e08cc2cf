"""Runs the study: prints the table, writes ``runs.csv`` and ``study.svg``."""

from __future__ import annotations

import argparse
from pathlib import Path

from study import compare


def main() -> None:
    """Read the options and run the study."""
    options = argparse.ArgumentParser(prog="study", description=__doc__)
    options.add_argument("--seeds", type=int, default=10, help="runs of each stack on each path")
    options.add_argument("--seconds", type=int, default=60, help="simulated time of a run")
    options.add_argument("--out", type=Path, default=Path(), help="where the files go")
    chosen = options.parse_args()
    frame = compare.runs(compare.STACKS, chosen.seeds, chosen.seconds)
    print(compare.table(frame))
    frame.write_csv(chosen.out / "runs.csv")
    compare.draw(frame, chosen.out / "study.svg")


if __name__ == "__main__":
    main()
