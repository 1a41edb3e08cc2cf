"""Measures a sweep on a Dask cluster of many workers that answer at once: the needs of command, scheduler and store.

usage: tools/cluster_scale.py [--runs N] [--workers N] [--json FILE]

The scheduler is a process of its own, and the workers are in others, up to 250 in each. They simulate nothing: each run
is a copy of one real run with its own seed, identity and hash, and claims to have taken a millisecond. Thus the figures
are those of everything but simulation. With ``--workers 0`` the rows come from the command's own process, without a
cluster. Prints a table.
"""

# Parts of Dask have no types.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ackclock as ak
from ackclock import _native
from ackclock.runs import remote
from ackclock.runs.cutter import Cutter
from ackclock.runs.local import TASK_S
from ackclock.runs.task import Done, Task, run_task

if TYPE_CHECKING:
    from ackclock.progress import Told

SCENARIO = """
[run]
duration = "100 ms"
[[link]]
from = "S"
to = "D"
rate = "5 Mbps"
delay = "10 ms"
queue = "65 packets"
elements = [{ kind = "bernoulli", p = 0.001 }]
back = { elements = [] }
[[flow]]
from = "S"
to = "D"
stack = "newreno"
"""
STACKS = ["newreno", "sack-ff96", "dsack-avg", "rfc-6675"]
RUN_S = 0.001
"""Time that a stand-in claims for a run, in seconds."""
SEEDS = 1000
MB = 1e6
PER_PROCESS = 250
"""Stand-ins in a process: its one thread for messages must answer for all of them."""
PATIENCE = "300s"
"""How long they may take to connect; a thousand workers on one machine share its cores."""
QUIET = {
    "DASK_LOGGING__DISTRIBUTED": "error",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "5s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "60s",
}
"""What each worker of its own machine does a hundred times a second even without work, a stand-in does seldom."""


def plan(runs: int) -> ak.Plan:
    """A plan with about this number of runs: four stacks, some losses, up to 1,000 seeds each."""
    seeds = min(SEEDS, runs // len(STACKS))
    losses = max(1, runs // len(STACKS) // seeds)
    grid: dict[str, Any] = {"stack": STACKS}
    if losses > 1:
        grid["link[0].elements[0].p"] = {"from": 0.001, "to": 0.02, "count": losses}
    return ak.Plan(SCENARIO, name="scale", grid=grid, seeds={"first": 1, "count": seeds})


class StandIn:
    """Returns rows of the right size at once, for any group of tasks."""

    def __init__(self) -> None:
        self._rows: dict[str | None, tuple[str, str, str]] = {}
        """For each stack, the JSON of a run: before its seed, between that and its identity, after it."""

    def __call__(self, tasks: Sequence[Task], _: float) -> list[Done]:
        """Return what ``ackclock.runs.task.run_tasks`` returns."""
        return [self._done(task) for task in tasks]

    def _done(self, task: Task) -> Done:
        if task.stack not in self._rows:
            (run,) = run_task(replace(task, count=1)).runs
            said = json.loads(run)
            before, _, rest = run.partition(f'"seed":{said["seed"]},')
            between, _, after = rest.partition(f'"identity":"{said["identity"]}"')
            self._rows[task.stack] = before, between, after
        before, between, after = self._rows[task.stack]
        seeds = range(task.first, task.first + task.count)
        rows = (
            f'{before}"seed":{seed},{between}"identity":"{identity}"{after}'
            for seed, identity in zip(seeds, task.identities(), strict=True)
        )
        return Done(tuple(rows), RUN_S * task.count, RUN_S * task.count)


class Here:
    """An executor that answers in this process."""

    def __init__(self) -> None:
        self._stand_in = StandIn()

    def __enter__(self) -> Here:
        """Return the executor."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing."""

    def run(self, tasks: Iterable[Task]) -> Generator[list[tuple[Task, Done]]]:
        """See ``ackclock.runs.executor.Executor``."""
        cutter = Cutter(TASK_S, caution=1.0)
        for batch in cutter.batches(tasks):
            pieces = list(zip(batch, self._stand_in(batch, 0.0), strict=True))
            for piece, done in pieces:
                cutter.learn(piece, done)
            yield pieces


async def stand_ins(scheduler: str, first: int, workers: int) -> None:
    """Be many workers of a scheduler, until the process is ended."""
    from distributed import Worker  # noqa: PLC0415 - other parts do not need it

    vars(remote)["run_tasks"] = StandIn()
    shared = ThreadPoolExecutor(1)
    several = [
        Worker(scheduler, nthreads=1, name=f"stand-in-{first + n}", executor=shared, memory_limit=0, dashboard=False)
        for n in range(workers)
    ]
    for some in range(0, workers, 50):
        await asyncio.gather(*several[some : some + 50])
    print("ready", flush=True)
    await asyncio.gather(*(worker.finished() for worker in several))


def open_files() -> None:
    """Allow as many open files as the system does: a worker needs several sockets, and so does the scheduler for it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@contextmanager
def cluster(workers: int, folder: Path) -> Iterator[tuple[str, int, list[int]]]:
    """Start a scheduler and its workers; the scheduler's address, its process, and those of the workers."""
    about = folder / "scheduler.json"
    options = ["--port", "0", "--no-dashboard", "--scheduler-file", str(about)]
    os.environ["DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"] = PATIENCE
    quiet = {**os.environ, **QUIET}
    with ExitStack() as started:
        scheduler = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_scheduler", *options], stderr=subprocess.DEVNULL, env=quiet
        )
        started.callback(scheduler.wait)
        started.callback(scheduler.send_signal, signal.SIGTERM)
        while not about.exists() or not about.read_text(encoding="utf-8").endswith("}"):
            time.sleep(0.1)
            if scheduler.poll() is not None:
                sys.exit("the scheduler did not start")
        address: str = json.loads(about.read_text(encoding="utf-8"))["address"]
        processes = []
        for first in range(0, workers, PER_PROCESS):
            count = str(min(PER_PROCESS, workers - first))
            command = [sys.executable, __file__, "--stand-ins", count, "--first", str(first), "--scheduler", address]
            others = started.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=quiet))
            started.callback(others.kill)
            if others.stdout is None or others.stdout.readline() != "ready\n":
                sys.exit("the workers did not start")
            processes.append(others.pid)
        yield address, scheduler.pid, processes


def peak_mb(process: int) -> float:
    """The largest memory of another process so far, in megabytes (Linux)."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return float(line.split()[1]) * 1024 / MB


def processor_s(process: int) -> float:
    """The processor time of another process so far, in seconds (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(runs: int, workers: int) -> dict[str, float]:
    """Run the sweep, and return its figures."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if workers == 0:
            found = swept(runs, folder, Here())
        else:
            with cluster(workers, folder) as (address, scheduler, others):
                found = swept(runs, folder, address)
                found |= {"scheduler_cpu_s": processor_s(scheduler), "scheduler_mb": peak_mb(scheduler)}
                found["workers_cpu_s"] = sum(map(processor_s, others))
                found["workers_mb"] = sum(map(peak_mb, others))
        store = folder / "store"
        found["sqlite_mb"] = sum(file.stat().st_size for file in store.glob("runs.sqlite*")) / MB
        for name in ("manifest.json", "runs.parquet"):
            found[f"{name}_mb"] = (store / "sweeps/scale" / name).stat().st_size / MB
    return {"workers": workers, **found}


def swept(runs: int, folder: Path, on: str | Here) -> dict[str, float]:
    """Run the sweep on a cluster, or here; the figures of the command."""
    made = plan(runs)
    told: list[float] = []

    def tell(_: Told) -> None:
        told[1:] = [time.perf_counter()]

    began, used = time.perf_counter(), time.process_time()
    sweep = ak.sweep(made, folder / "store", on=on, progress=tell)
    ended = time.perf_counter()
    return {
        "runs": sweep.manifest.runs,
        "before_s": told[0] - began,
        "running_s": told[1] - told[0],
        "table_s": ended - told[1],
        "kept_per_s": sweep.manifest.runs / (told[1] - told[0]),
        "cpu_s": time.process_time() - used,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB,
    }


ROWS = {
    "workers": ("stand-in workers", ",.0f"),
    "runs": ("runs", ",.0f"),
    "before_s": ("reading the plan, keys of all runs, s", ",.1f"),
    "running_s": ("runs, every one kept, s", ",.1f"),
    "kept_per_s": ("runs kept a second", ",.0f"),
    "table_s": ("the table, s", ",.1f"),
    "cpu_s": ("processor time of the command, s", ",.1f"),
    "scheduler_cpu_s": ("processor time of the scheduler, s", ",.1f"),
    "workers_cpu_s": ("processor time of the stand-ins, s", ",.1f"),
    "mb": ("most memory of the command, MB", ",.0f"),
    "scheduler_mb": ("most memory of the scheduler, MB", ",.0f"),
    "workers_mb": ("most memory of the stand-ins, MB", ",.0f"),
    "sqlite_mb": ("`runs.sqlite`, MB", ",.0f"),
    "manifest.json_mb": ("`manifest.json`, MB", ",.0f"),
    "runs.parquet_mb": ("`runs.parquet`, MB", ",.0f"),
}


def main() -> None:
    """Measure, or be the stand-ins for the process that measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--stand-ins", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--scheduler", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.stand_ins:
        asyncio.run(stand_ins(arguments.scheduler, arguments.first, arguments.stand_ins))
        return
    open_files()
    found = measure(arguments.runs, arguments.workers)
    print("| | |\n| --- | --: |")
    for key, (title, form) in ROWS.items():
        if key in found:
            print(f"| {title} | {found[key]:{form}} |")
    print(f"\nackclock {_native.__version__}, {os.cpu_count()} cores; load {os.getloadavg()[0]:.1f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
