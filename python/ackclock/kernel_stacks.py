"""Kernels in virtual time as stacks of ``ackclock run``: each run has a kernel of its own, several beside each other.

A run depends on its kernel, its scenario, its stack and its seed, and on nothing else: not on the runs before it, and
not on how many are made at once. Only its results leave the kernel, as JSON.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

from ackclock import _native
from ackclock.errors import LiveError, ScenarioError
from ackclock.kernels import INSIDE, boot, kept
from ackclock.kernels.kept import Kernel
from ackclock.progress import shown_share
from ackclock.statistics import interval

PREFIX = "kernel:"
SNAP = 96
"""Bytes kept of each packet by default, as for simulated runs."""
Run = dict[str, Any]
"""A run, as in ``runs`` of ``ackclock run --json``."""
Progress = Callable[[float], object]
_FORM = re.compile(r"kernel:(?P<control>[A-Za-z0-9_]+)(@(?P<name>[^,]+))?(?P<settings>(,[^,]+)*)")
_SETTING = re.compile(r"sysctl\.(?P<key>[A-Za-z0-9_./-]+)=(?P<value>.*)")
_BAD_INPUT, _FAILED = 2, 1
_LOOK_S = 0.1


@dataclass(frozen=True)
class KernelStack:
    """A kernel's TCP as a stack."""

    name: str
    """As the user wrote it."""
    control: str
    """Its congestion control."""
    kernel: Kernel
    sysctls: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Wanted:
    """What a kernel is asked for; it crosses the border as JSON."""

    file: str
    text: str
    control: str
    sysctls: Sequence[tuple[str, str]]
    seed: int
    trace: str | None
    pcap: str | None
    snap: int


def is_kernel(stack: object) -> bool:
    """Whether a stack is a kernel's TCP."""
    return isinstance(stack, str) and stack.startswith(PREFIX)


def parsed(text: str) -> KernelStack:
    """Read ``kernel:CONTROL[@NAME][,sysctl.KEY=VALUE]…``.

    Raises:
        LiveError: it is not of this form, or there is no such kernel.
    """
    found = _FORM.fullmatch(text)
    options = [one for one in found["settings"].split(",") if one] if found else []
    settings = [_SETTING.fullmatch(one.strip()) for one in options]
    if found is None or None in settings:
        allowed = "kernel:CONTROL[@NAME][,sysctl.KEY=VALUE], as in kernel:bbr@6.12,sysctl.tcp_recovery=0"
        raise LiveError(f'command line: key `--stack`: found "{text}", allowed: {allowed}', _BAD_INPUT)
    sysctls = tuple((_sysctl(one["key"]), one["value"].strip()) for one in settings if one is not None)
    if not kept.every():
        allowed = (
            "a kernel that was built with ackclock kernel build; this machine's own TCP runs in real time: "
            f"ackclock live path SCENARIO --sender kernel:{found['control']}"
        )
        raise LiveError(f'command line: key `--stack`: found "{text}" and no kernel, allowed: {allowed}', _BAD_INPUT)
    return KernelStack(text, found["control"], kept.find(found["name"]), sysctls)


def _sysctl(key: str) -> str:
    return key if key.startswith("net") else f"net.ipv4.{key}"


def scenario_of(file: str, text: str | None, seed: int | None, seeds: int | list[int] | None) -> tuple[str, list[int]]:
    """Return the name of a scenario and the seeds of its runs.

    Raises:
        ScenarioError: the scenario is invalid.
    """
    shown = tomllib.loads(_native.show_toml(file, text, None, [], seed, seeds))
    run = shown["run"]
    found = run["seeds"] if "seeds" in run else [run["seed"]]
    if isinstance(found, dict):
        found = range(found["first"], found["first"] + found["count"])
    return shown["name"], [int(one) for one in found]


def make(
    stacks: Sequence[KernelStack],
    seeds: Sequence[int],
    file: str,
    text: str,
    *,
    trace: str | None = None,
    pcap: Callable[[KernelStack, int], str] | None = None,
    snap: int | None = None,
    threads: int | None = None,
    progress: Progress = lambda _: None,
) -> list[Run]:
    """Make the runs of some stacks with some seeds, stack by stack.

    Args:
        stacks: the stacks.
        seeds: the seeds.
        file: the name of the scenario.
        text: its text.
        trace: file for the events of the first run.
        pcap: the folder for the captures of a run.
        snap: bytes kept of each packet.
        threads: kernels beside each other. Default: one per core.
        progress: called with the share that is done.

    Raises:
        LiveError: a kernel did not run, or a setting does not exist.
        ScenarioError: the scenario cannot be run.
        KeyboardInterrupt: as usual; all kernels have ended.
    """
    jobs = [(stack, seed) for stack in stacks for seed in seeds]
    shares, stopped = [0.0] * len(jobs), Event()

    def job(at: int) -> Run:
        stack, seed = jobs[at]
        folder = None if pcap is None else pcap(stack, seed)
        first = trace if at == 0 else None
        wanted = Wanted(file, text, stack.control, stack.sysctls, seed, first, folder, snap or SNAP)

        def tell(share: float) -> None:
            shares[at] = share
            if stopped.is_set():
                raise _StoppedError

        made = _within(stack, wanted, tell)
        shares[at] = 1.0
        return made

    pool = ThreadPoolExecutor(min(threads or os.cpu_count() or 1, len(jobs)))
    try:
        futures = [pool.submit(job, at) for at in range(len(jobs))]
        waiting = set(futures)
        while waiting:
            done, waiting = wait(waiting, _LOOK_S, FIRST_EXCEPTION)
            for one in done:
                one.result()
            progress(sum(shares) / len(jobs))
        return [one.result() for one in futures]
    finally:
        stopped.set()
        pool.shutdown(cancel_futures=True)


class _StoppedError(Exception):
    """Another run failed, or the user wants no more."""


def _within(stack: KernelStack, wanted: Wanted, progress: Progress) -> Run:
    """Make one run in a kernel of its own."""
    out, err = io.BytesIO(), io.BytesIO()
    with TemporaryDirectory(prefix="ackclock-virtual-") as folder:
        asked = Path(folder, "wanted.json")
        asked.write_text(json.dumps(asdict(wanted)), encoding="utf-8")
        command = boot.this_python(Path(folder, "ackclock.py"), __name__, [str(asked)])
        environment = {**os.environ, INSIDE: json.dumps(stack.kernel.identity())}
        streams = boot.Streams(out, err)
        kernel = stack.kernel
        code = boot.run(kernel, command, streams, environment=environment, seed=wanted.seed, progress=progress)
    try:
        answer = json.loads(out.getvalue())
    except ValueError:
        lines = err.getvalue().decode(errors="replace").strip().splitlines() or [f"exit code {code}"]
        raise LiveError(f"{stack.name}, seed {wanted.seed}: {lines[-1]}", _FAILED) from None
    if "error" in answer:
        raise LiveError(answer["error"], answer["code"])
    run: Run = answer["run"]
    for flow in run["flows"]:
        flow["stack"] = stack.name
    (run["identity"],) = identities(stack, wanted.file, wanted.text, wanted.seed, 1)
    run["kernel"] = {**kernel.identity(), **answer["live"]}
    return run


def identities(stack: KernelStack, file: str, text: str, first: int, count: int) -> list[str]:
    """Return the identity of each run: a hash over scenario and seed, kernel, congestion control and settings.

    Raises:
        ScenarioError: the scenario is invalid.
    """
    of_kernel = [stack.kernel.identity(), stack.control, sorted(stack.sysctls)]
    found = []
    for of_scenario in _native.identities(file, text, None, (), first, count):
        inputs = json.dumps([of_scenario, *of_kernel], sort_keys=True)
        found.append(f"sha256-128:{hashlib.sha256(inputs.encode()).hexdigest()[:32]}")
    return found


def rows(
    stack: KernelStack, file: str, text: str, first: int, count: int, progress: Progress = lambda _: None
) -> list[str]:
    """Make the runs of consecutive seeds, one after another; return the JSON of each, as stores keep it.

    Raises:
        LiveError: as for :func:`make`; or the scenario asks for what kernels do not measure.
    """
    if tomllib.loads(text)["run"].get("measures"):
        raise LiveError(f"{file}: key `run.measures`: found it with {stack.name}, allowed: other stacks", _BAD_INPUT)
    made = make([stack], range(first, first + count), file, text, threads=1, progress=progress)
    return [json.dumps(run, ensure_ascii=False, separators=(",", ":")) for run in made]


def means(runs: Sequence[Run], seeds: int) -> list[dict[str, Any]]:
    """Return the means of each stack's flows over its seeds, as in ``flows`` of ``ackclock run --json``."""
    averaged = [column["name"] for column in _columns() if column["averaged"]]
    found = []
    for begin in range(0, len(runs), seeds):
        of_stack = runs[begin : begin + seeds]
        for at, first in enumerate(of_stack[0]["flows"]):
            rows = [run["flows"][at] for run in of_stack]
            row: dict[str, Any] = {"name": first["name"], "stack": first["stack"]}
            # A column that no row has is one that only some scenarios have.
            for name in averaged:
                if any(name in one for one in rows):
                    row[name] = _mean([float(one[name]) for one in rows if one.get(name) is not None])
            found.append(row)
    return found


def _mean(values: Sequence[float]) -> dict[str, Any] | None:
    if not values:
        return None
    mean, half = interval(values)
    return {"n": len(values), "mean": mean, "half_width_95": half}


def _columns() -> list[dict[str, Any]]:
    columns: list[dict[str, Any]] = json.loads(_native.columns_json())["flow"]["columns"]
    return columns


def main() -> None:
    """Make one run, within a kernel, and print it as JSON."""
    asked = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    wanted = Wanted(**asked)
    try:
        with shown_share("running") as share:
            ran = _native.live_path(
                wanted.file,
                wanted.text,
                [],
                [f"{PREFIX}{wanted.control}"],
                "kernel",
                None,
                wanted.seed,
                [(key, value) for key, value in wanted.sysctls],
                wanted.trace,
                wanted.pcap,
                wanted.snap if wanted.pcap is not None else None,
                False,
                lambda _: None,
                share,
            )
        about = json.loads(ran.about)
        live = {key: about[key] for key in ("notes", "counters", "device_drops", "strays", "damaged")}
        answer: dict[str, Any] = {"run": json.loads(ran.runs.json())["runs"][0], "live": live}
    except (LiveError, ScenarioError, OSError) as error:
        code = error.exit_code if isinstance(error, LiveError) else _BAD_INPUT
        answer = {"error": str(error), "code": _FAILED if isinstance(error, OSError) else code}
    print(json.dumps(answer), flush=True)
