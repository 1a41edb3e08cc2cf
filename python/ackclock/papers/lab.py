"""Runs the points of papers on all cores, none of them twice, and counts what they cost."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import astuple, dataclass
from pathlib import Path

from ackclock import _native
from ackclock.papers.store import Cost, Kept, Runs, Store
from ackclock.progress import Progress, Told

LOOK_EVERY_S = 0.1


@dataclass(frozen=True)
class Job:
    """A point: a scenario with all its seeds."""

    text: str
    """The scenario."""
    name: str
    """Under which errors speak of it."""
    stack: str | None = None
    """For every flow, instead of the scenario's."""
    set: tuple[tuple[str, str], ...] = ()
    """Parameters of the stack beyond the scenario's, as ``--set`` takes them."""

    def identities(self) -> list[str]:
        """The identity of each of its runs.

        Raises:
            ScenarioError: the scenario makes no sense.
        """
        return _native.identities(self.name, self.text, self.stack, self.set, None, None)


@dataclass(frozen=True)
class Spent:
    """How much was simulated, and how long that took."""

    points: int = 0
    runs: int = 0
    packets: int = 0
    """Data packets sent by all flows, retransmissions included."""
    simulated_s: float = 0.0
    processor_s: float = 0.0
    """Of all cores."""
    wall_s: float = 0.0
    """Of the runs alone, without drawing and judging."""

    @classmethod
    def of(cls, point: Kept) -> Spent:
        """One point, with all its runs."""
        packets = sum(flow["data_packets_sent"] for run in point.runs for flow in run["flows"])
        simulated = sum(run["duration_s"] for run in point.runs)
        return cls(1, len(point.runs), packets, simulated, point.cost.processor_s, point.cost.wall_s)

    def __add__(self, other: Spent) -> Spent:
        return Spent(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))


class _StopError(Exception):
    """Another run failed, or the user wants no more."""


class Lab:
    """Runs jobs; what is finished is kept."""

    def __init__(self, store: Store, progress: Progress) -> None:
        """``progress`` is shown while something runs."""
        self.store, self.progress = store, progress
        self.ran = self.kept = 0
        """Points that were run, and that had been run before."""
        self._spent: dict[Path, Spent] = {}

    @property
    def spent(self) -> Spent:
        """All points that it was asked for, each once; those that were kept with what they took when they ran."""
        # In an order of their own: floats add up the same, whatever was kept.
        return sum((self._spent[path] for path in sorted(self._spent)), Spent())

    def run(self, what: str, jobs: Sequence[Job]) -> list[Runs]:
        """The runs of each job, which the store has or which are made now, one job on each core.

        Raises:
            ScenarioError: a scenario makes no sense.
            OSError: a result could not be kept.
            KeyboardInterrupt: as usual; what is finished by then is kept.
        """
        identities = [job.identities() for job in jobs]
        results = {i: point for i, of in enumerate(identities) if (point := self.store.get(of)) is not None}
        self.kept += len(results)
        missing = [i for i in range(len(jobs)) if i not in results]
        self.ran += len(missing)
        if missing:
            name = f"{what}: {len(missing)} point{'s' if len(missing) > 1 else ''}" + (
                f", {len(results)} kept" if results else ""
            )
            with self.progress(name) as told:
                made = self._run([(jobs[i], identities[i]) for i in missing], told)
            results.update(zip(missing, made, strict=True))
        self._spent.update((self.store.path(identities[i]), Spent.of(point)) for i, point in results.items())
        return [results[i].runs for i in range(len(jobs))]

    def _run(self, wanted: Sequence[tuple[Job, Sequence[str]]], told: Told) -> list[Kept]:
        shares, stop, clock = [0.0] * len(wanted), threading.Event(), _Clock()

        def one(at: int) -> Kept:
            def share(done: float) -> None:
                if stop.is_set():
                    raise _StopError
                shares[at] = done

            if stop.is_set():
                raise _StopError
            job, identities = wanted[at]
            said = _native.run_json(job.name, job.text, _stacks(job), job.set, None, None, None, 1, share)
            point = Kept(json.loads(said)["runs"], clock.since())
            self.store.put(identities, point)
            shares[at] = 1.0
            return point

        with ThreadPoolExecutor(_cores()) as pool:
            futures = [pool.submit(one, at) for at in range(len(wanted))]
            try:
                _watch(futures, lambda: told(sum(shares) / len(shares)))
            finally:
                # Runs end within a slice of simulated time.
                stop.set()
        return [future.result() for future in futures]


class _Clock:
    """Parts time between points that run at once: each gets what went by since the one before was ready.

    So a single point's time means little, and the sum is right, also if only some of them are ever ready.
    """

    def __init__(self) -> None:
        self.lock, self.last = threading.Lock(), (time.process_time(), time.perf_counter())

    def since(self) -> Cost:
        """Since it was last asked."""
        with self.lock:
            now = time.process_time(), time.perf_counter()
            cost = Cost(*(round(after - before, 6) for after, before in zip(now, self.last, strict=True)))
            self.last = now
        return cost


def _watch(futures: Sequence[Future[Kept]], told: Callable[[], object]) -> None:
    """Wait for all of them; the first that fails raises what it met."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=LOOK_EVERY_S, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        told()


def _stacks(job: Job) -> list[str]:
    return [] if job.stack is None else [job.stack]


def _cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
