"""The command's work as functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from html import escape
from operator import index
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from ackclock import _native
from ackclock.document import natural
from ackclock.document.permission import allowing
from ackclock.errors import ScenarioError, unwritten
from ackclock.result import Again, Result
from ackclock.slots.registry import Chosen, Value, chosen, setting

if TYPE_CHECKING:
    from ackclock.scenario import Scenario

Seeds = int | Iterable[int] | Mapping[str, int]
"""The number of seeds, counted up from the first; the seeds themselves; or ``{"first": 1, "count": 30}``."""
LIMIT = 2**64
Slot = dict[str, Any]
"""The component in one slot of a stack: its ``kind`` and its parameters. Quantities are text with a unit."""


class Stack(TypedDict):
    """A named stack: a name for one choice of components."""

    name: str
    summary: str
    rto: Slot
    detect: Slot
    disorder: Slot
    recovery: Slot
    timeout: Slot
    congestion: Slot
    startup: Slot
    spurious: Slot
    undo: Slot
    ack: Slot
    receive_window: Slot
    dup_rule: str
    idle: NotRequired[str]
    pacing: NotRequired[str]
    options: Slot
    limits: Slot


def run(
    scenario: str | PathLike[str] | Scenario,
    *,
    stack: Chosen | Sequence[Chosen] | None = None,
    set: Mapping[str, Value] | None = None,
    seed: int | None = None,
    seeds: Seeds | None = None,
    trace: str | PathLike[str] | None = None,
    pcap: str | PathLike[str] | None = None,
    pcap_at: str | None = None,
    pcap_snap: int | None = None,
    threads: int | None = None,
    progress: Callable[[float], object] | None = None,
    name: str | None = None,
    allow_python: bool = False,
    measures: bool = False,
    stalls: bool = False,
) -> Result:
    """Run a scenario, once for each stack and seed, on all cores.

    Args:
        scenario: an :class:`ackclock.Scenario`, the path of a scenario file, or the text of one. A string with a line
            break is taken as text.
        stack: the stack that every flow uses instead of the file's, or several to run one after the other. A name may
            come with parameters: ``"rack-tlp,rto.min=1 s"`` or ``("rack-tlp", {"rto.min": "1 s"})``.
        set: parameters of every flow's stack by path, as in ``{"rto.tick": "500 ms"}``. A slot's value may be a
            class: ``{"detect.threshold": AvgDev}``, ``{"detect.threshold": ackclock.slots.given(AvgDev, alpha=0.2)}``.
        seed: the first seed, instead of the file's. Without ``seeds`` it is the only one.
        seeds: the number of seeds, counted up from the first; the seeds themselves, as a list, a range or an array; or
            ``{"first": 1, "count": 30}``.
        trace: file for the events of the first run. Its extension, .csv or .parquet, selects the format.
        pcap: folder for captures: ``sender.pcapng``, ``receiver.pcapng``, and ``truth.csv``, which says of each
            retransmission whether it was needed, refused or needless. With several runs, each gets a subfolder named
            after its seed, and after its stack where there are several.
        pcap_at: a node between the ends where packets are captured as well, into ``middle.pcapng``.
        pcap_snap: bytes kept of each packet, 80 to 65535. Default: 96, the headers and some payload.
        threads: the number of concurrent runs. Default: one per core. Results do not depend on it. With algorithms in
            Python, runs are made one after the other on the calling thread.
        progress: called about 20 times a second with the share of simulated time that is done, from 0 to 1.
        name: the name that error messages use for a scenario that is not given by its path.
        allow_python: run Python files that a scenario text names. Allow only files you trust. Classes passed as objects
            need no permission.
        measures: whether to measure totals, delays, completion times and links (``docs/measures.md``).
        stalls: whether to explain each stall of each flow, for :attr:`ackclock.Result.stalls`. A run with a trace or a
            capture is then made twice.

    Returns:
        Tables of means, runs, links and events: see :class:`ackclock.Result`.

    Raises:
        ScenarioError: the scenario or an argument is invalid.
        AlgorithmError: an algorithm in Python raised an error, which is the ``__cause__``.
        OSError: the trace or a capture could not be written.
        KeyboardInterrupt: as usual; runs stop within a slice of simulated time.
    """
    (file, text), pairs = _source(scenario, name), _pairs(set)
    seed, asked = _seeds(seed, seeds)
    threads = None if threads is None else _whole("threads", threads, 1)
    stacks, to = [chosen(one) for one in _several(stack)], None if trace is None else fspath(trace)
    captures = capturing(pcap, pcap_at, pcap_snap)
    with _placed(scenario), allowing(allow_python):
        runs = _native.run(file, text, stacks, pairs, seed, asked, to, captures, threads, progress, measures, stalls)
    return Result(runs, Again(file, text, stacks[0] if stacks else None, tuple(pairs), allow_python), to)


def compare(
    scenario: str | PathLike[str] | Scenario,
    stacks: Sequence[Chosen],
    *,
    set: Mapping[str, Value] | None = None,
    seed: int | None = None,
    seeds: Seeds | None = None,
    threads: int | None = None,
    progress: Callable[[float], object] | None = None,
    name: str | None = None,
    allow_python: bool = False,
    measures: bool = False,
    stalls: bool = False,
) -> Result:
    """Run a scenario with each of several stacks on the same seeds; :meth:`Result.against` gives the differences.

    Arguments, return value and errors are those of :func:`run`.

    Raises:
        ScenarioError: there are fewer than two stacks, or as for :func:`run`.
    """
    if isinstance(stacks, str) or len(stacks) < 2:  # noqa: PLR2004 - a comparison
        found = f'"{stacks}"' if isinstance(stacks, str) else f"{len(stacks)} of them"
        message = f"compare: key `stacks`: found {found}, allowed: two or more stack names"
        raise ScenarioError(message, "compare", None, "stacks", found, "two or more stack names", None)
    return run(
        scenario,
        stack=stacks,
        set=set,
        seed=seed,
        seeds=seeds,
        threads=threads,
        progress=progress,
        name=name,
        allow_python=allow_python,
        measures=measures,
        stalls=stalls,
    )


def show(
    scenario: str | PathLike[str] | Scenario,
    *,
    stack: Chosen | None = None,
    set: Mapping[str, Value] | None = None,
    seed: int | None = None,
    seeds: Seeds | None = None,
    name: str | None = None,
    allow_python: bool = False,
) -> str:
    """Return the scenario as TOML with every default spelled out, the stacks' parameters included. It runs the same.

    Arguments and errors are those of :func:`run`.
    """
    file, text = _source(scenario, name)
    seed, asked = _seeds(seed, seeds)
    chosen_ = None if stack is None else chosen(stack)
    with _placed(scenario), allowing(allow_python):
        return _native.show_toml(file, text, chosen_, _pairs(set), seed, asked)


def new(file: str | PathLike[str] = "scenario.toml") -> Path:
    """Write a commented scenario to start from, and return its path.

    Raises:
        FileExistsError: a file of that name exists; it is left unchanged.
        OSError: the folder is missing or not writable, or the disk is full; no file is left behind.
    """
    path = Path(file)
    with path.open("xb") as opened:
        try:
            opened.write(starter())
            opened.flush()
        except OSError:
            path.unlink()
            raise
    return path


def starter() -> bytes:
    """The scenario that :func:`new` writes."""
    return Path(__file__).with_name("starter.toml").read_bytes()


class Stacks(list[Stack]):
    """A list of stacks; a notebook shows their names and summaries."""

    def _repr_html_(self) -> str:

        rows = (f"<tr><td>{escape(one['name'])}</td><td>{escape(one['summary'])}</td></tr>" for one in self)
        head = "<thead><tr><th>stack</th><th>description</th></tr></thead>"
        return f"<table>{head}<tbody>{''.join(rows)}</tbody></table>"


def stacks() -> Stacks:
    """Return every named stack with its slots and their parameters."""
    return Stacks(json.loads(_native.stacks_json()))


def _seeds(seed: int | None, seeds: Seeds | None) -> tuple[int | None, int | list[int] | None]:
    """The first seed, and the number of seeds or a list of them, as Python integers.

    Raises:
        ScenarioError: an argument is neither a number nor a list of seeds.
    """
    first = None if seed is None else _whole("seed", seed, 0)
    seeds = natural(seeds)
    if seeds is None:
        return first, None
    if isinstance(seeds, Mapping):
        if first is not None or not {"count"} <= set(seeds) <= {"first", "count"}:
            raise _refused("seeds", f"{dict(seeds)}", '{"first": 1, "count": 30} without `seed`')
        return _whole("seeds.first", seeds.get("first", 1), 0), _whole("seeds.count", seeds["count"], 1)
    if isinstance(seeds, Iterable) and not isinstance(seeds, str):
        return first, [_whole("seeds", one, 0) for one in seeds]
    return first, _whole("seeds", seeds, 1)


def _whole(key: str, value: Any, least: int) -> int:  # noqa: ANN401 - checked here
    try:
        number = index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number < LIMIT:
        raise _refused(key, f"{value!r}", f"a whole number from {least}")
    return number


def _refused(key: str, found: str, allowed: str) -> ScenarioError:
    return ScenarioError(f"run: key `{key}`: found {found}, allowed: {allowed}", "run", None, key, found, allowed, None)


def _several(stack: Chosen | Sequence[Chosen] | None) -> Sequence[Chosen]:
    """One or more stacks as a list."""
    if stack is None:
        return []
    pair = isinstance(stack, tuple) and len(stack) == 2 and isinstance(stack[1], Mapping)  # noqa: PLR2004 - a pair
    return [stack] if isinstance(stack, str) or pair else stack  # type: ignore[list-item,return-value]


def _pairs(set: Mapping[str, Value] | None) -> list[tuple[str, str]]:
    """Parameters by path, as text."""
    return [(path, setting(value)) for path, value in (set or {}).items()]


def capturing(
    folder: str | PathLike[str] | None, at: str | None, snap: int | None
) -> tuple[str, str | None, int | None] | None:
    """Where captures go and what they contain; ``None`` if no captures are wanted."""
    if folder is not None:
        return fspath(folder), at, snap
    for key, value in (("--pcap-at", at), ("--pcap-snap", snap)):
        if value is not None:
            found, allowed = f'"{value}" without --pcap', "also --pcap DIR, a folder for captures"
            message = f"command line: key `{key}`: found {found}, allowed: {allowed}"
            raise ScenarioError(message, "command line", None, key, found, allowed, None)
    return None


def _placed(scenario: str | PathLike[str] | Scenario) -> AbstractContextManager[None]:
    """Choose how errors locate a scenario: for an object, by key and without a line number."""
    return nullcontext() if isinstance(scenario, str | PathLike) else unwritten()


def _source(scenario: str | PathLike[str] | Scenario, name: str | None) -> tuple[str, str | None]:
    """The name that error messages use for a scenario, and its text unless it was given by its path."""
    if not isinstance(scenario, str | PathLike):
        return name or scenario.name, scenario.to_toml()
    where = fspath(scenario)
    return (name or "<text>", where) if "\n" in where else (where, None)
