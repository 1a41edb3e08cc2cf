"""Measures sweeps: two workers compared with one, here and on Dask, and 100,000 short runs.

usage: tools/measures/sweep_speed.py [--runs N] [--rounds N] [--json FILE]

Every figure comes from a separate process. Runs with one and with two workers alternate, and the medians over the
rounds are compared; Dask's workers are started before timing begins. The overhead of short runs is the share of two
cores' time that was not spent on simulation; a second figure is this share for the processor time of all processes,
their start included. The time for simulation is estimated from a sample of the same runs on one thread. Prints tables.
They are meaningful on an otherwise idle machine with two cores; its load is printed with them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ackclock as ak
from ackclock.runs.connect import workers_here
from ackclock.runs.task import run_tasks
from ackclock.sweep.points import Points

if TYPE_CHECKING:
    from ackclock.progress import Progress

SCENARIO = """
[run]
duration = "{duration}"
[[link]]
from = "S"
to = "D"
rate = "5 Mbps"
delay = "50 ms"
queue = "65 packets"
elements = [{{ kind = "bernoulli", p = 0.001 }}]
back = {{ elements = [] }}
[[flow]]
from = "S"
to = "D"
stack = "sack-ff96"
"""
STACKS = ["newreno", "sack-ff96", "dsack-avg", "rfc-6675"]
DURATIONS = {"local": "1000 s", "dask": "20000 s", "short": "20 s"}
"""Durations that give runs of about 50 ms, a second, and a millisecond."""
GOAL = {"local": 1.9, "dask": 1.7}
POINTS = 2500
MB = 1e6


def plan(kind: str, runs: int) -> ak.Plan:
    """The plan for a kind of sweep; ``runs`` applies only to short runs."""
    losses, delays, seeds = {"local": (2, 2, 25), "dask": (2, 1, 8), "short": (25, 25, runs // POINTS)}[kind]
    grid: dict[str, Any] = {
        "stack": STACKS,
        "link[0].elements[0].p": {"from": 0.001, "to": 0.02, "count": losses},
        "link[0].delay": ["50 ms"] if delays == 1 else {"from": "10 ms", "to": "90 ms", "count": delays},
    }
    scenario = SCENARIO.format(duration=DURATIONS[kind])
    return ak.Plan(scenario, name="speed", grid=grid, seeds={"first": 1, "count": seeds})


def case(name: str, runs: int) -> dict[str, float]:
    """Measure one case in this process.

    Args:
        name: ``KIND WHERE WORKERS``, as in ``short dask 2``, or ``short alone 1``.
        runs: the number of short runs.
    """
    kind, where, workers = name.split()
    made = plan(kind, runs)
    if where == "alone":
        # A step that is coprime to the grid's sides covers all of their values.
        tasks = [point.task for point in Points(made)][::47]
        took = []
        for _ in range(3):
            began = time.process_time()
            run_tasks([replace(task, count=len(made.seeds)) for task in tasks])
            took.append(time.process_time() - began)
        # Other work on the machine can only add time, so the minimum counts.
        return {"cpu_per_run": min(took) / len(tasks) / len(made.seeds)}
    with tempfile.TemporaryDirectory() as store:
        if where == "dask":
            with workers_here(int(workers)) as cluster:
                found = swept(made, Path(store), on=cluster)
        else:
            found = swept(made, Path(store), threads=int(workers))
    here, there = (resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    found["cpu"] = sum(used.ru_utime + used.ru_stime for used in (here, there))
    found["mb_of_a_worker"] = there.ru_maxrss * 1024 / MB
    return found


def swept(made: ak.Plan, store: Path, **options: Any) -> dict[str, float]:  # noqa: ANN401 - options of `ak.sweep`
    """Seconds of a sweep and of its parts, sizes of its files, and the peak memory of this process."""
    times: list[float] = []

    def report(_: Progress) -> None:
        times[1:] = [time.perf_counter()]

    began = time.perf_counter()
    sweep = ak.sweep(made, store, progress=report, **options)
    ended = time.perf_counter()
    folder = store / "sweeps/speed"
    return {
        "runs": sweep.manifest.runs,
        "seconds": ended - began,
        "before": times[0] - began,
        "running": times[1] - times[0],
        "table": ended - times[1],
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB,
        "sqlite": sum(file.stat().st_size for file in store.glob("runs.sqlite*")),
        "manifest": (folder / "manifest.json").stat().st_size,
        "parquet": (folder / "runs.parquet").stat().st_size,
    }


def apart(name: str, runs: int) -> dict[str, float]:
    """Measure one case in a separate process."""
    command = [sys.executable, __file__, "--case", name, "--runs", str(runs)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    print(f"  {name}: {', '.join(f'{key} {value:,.5g}' for key, value in found.items())}", file=sys.stderr)
    return found


def gain(kind: str, rounds: int) -> dict[str, Any]:
    """The speed-up of two workers over one."""
    took: dict[int, list[float]] = {1: [], 2: []}
    for at in range(rounds):
        for workers in (1, 2) if at % 2 == 0 else (2, 1):
            took[workers].append(apart(f"{kind} {kind} {workers}", 0)["seconds"])
    one, two = (statistics.median(took[workers]) for workers in (1, 2))
    return {"one": one, "two": two, "times": one / two, "goal": GOAL[kind], "seconds": took}


def short(runs: int) -> dict[str, Any]:
    """The overhead of short runs."""
    alone = apart("short alone 1", runs)["cpu_per_run"]
    found: dict[str, Any] = {"ms_per_run": alone * 1e3}
    for where in ("local", "dask"):
        one = apart(f"short {where} 2", runs)
        pure = alone * one["runs"]
        beyond = {"beyond": 1 - pure / 2 / one["seconds"], "beyond_cpu": 1 - pure / one["cpu"]}
        found[where] = {**one, "simulation": pure, **beyond}
    return found


def report(found: dict[str, Any]) -> None:
    """Print the tables."""
    print("| two workers against one | s with one | s with two | times | our goal |\n| --- | --: | --: | --: | --: |")
    for kind in GOAL:
        g = found[kind]
        print(f"| {kind} | {g['one']:.2f} | {g['two']:.2f} | {g['times']:.2f} | ≥ {g['goal']} |")
    print(f"\nShort runs, {found['short']['ms_per_run']:.3f} ms of simulation each, two workers:\n")
    print("| | local | dask |\n| --- | --: | --: |")
    rows = {
        "runs": ("runs", 1, ",.0f"),
        "wall time, s": ("seconds", 1, ".1f"),
        "of it: reading the plan, keys of all runs, s": ("before", 1, ".1f"),
        "of it: runs, every one kept, s": ("running", 1, ".1f"),
        "of it: the table, s": ("table", 1, ".1f"),
        "beyond simulation, % of two cores' time": ("beyond", 0.01, ".0f"),
        "processor time of all processes, s": ("cpu", 1, ".1f"),
        "beyond simulation, % of processor time": ("beyond_cpu", 0.01, ".0f"),
        "`runs.sqlite`, MB": ("sqlite", MB, ".1f"),
        "`manifest.json`, MB": ("manifest", MB, ".1f"),
        "`runs.parquet`, MB": ("parquet", MB, ".1f"),
        "most memory of the sweep, MB": ("mb", 1, ".0f"),
        "most memory of a worker, MB": ("mb_of_a_worker", 1, ".0f"),
    }
    for title, (key, unit, form) in rows.items():
        local, dask = (format(found["short"][where][key] / unit, form) for where in ("local", "dask"))
        print(f"| {title} | {local} | {dask} |")
    before, after = found["load"]
    print(f"\n{os.cpu_count()} cores; load before and after: {before:.1f}, {after:.1f}")


def main() -> None:
    """Measure everything, or one case for the process that measures everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100_000, help=f"short runs, in steps of {POINTS}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(case(arguments.case, arguments.runs)))
        return
    load = os.getloadavg()[0]
    found: dict[str, Any] = {kind: gain(kind, arguments.rounds) for kind in GOAL}
    found["short"] = short(arguments.runs)
    found["load"] = [load, os.getloadavg()[0]]
    report(found)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
