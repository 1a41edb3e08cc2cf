"""Live runs: a scenario with real TCPs at its ends, over its path in real time (Linux)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from ackclock import _native
from ackclock.api import _pairs, _placed, _source
from ackclock.result import Result
from ackclock.slots.permission import LIVE, refusing
from ackclock.slots.registry import Value

if TYPE_CHECKING:
    from ackclock.scenario import Scenario


class _Events:
    """Events of a live run, or of one that was simulated beside it; those of one seed go along where it is pickled."""

    def __init__(self, make: Callable[[int], tuple[str, _native.Table]], seed: int) -> None:
        self._make, self._seed = make, seed

    def __call__(self, seed: int) -> tuple[str, _native.Table]:
        """The trace hash, and the events."""
        return self._make(seed)

    def __reduce__(self) -> tuple[type[_Along], tuple[int, tuple[str, _native.Table]]]:
        """As what they are."""
        return _Along, (self._seed, self._make(self._seed))


@dataclass(frozen=True)
class _Along:
    """Events that went along."""

    seed: int
    made: tuple[str, _native.Table]

    def __call__(self, seed: int) -> tuple[str, _native.Table]:
        """The trace hash, and the events."""
        if seed != self.seed:
            raise RuntimeError(f"found seed {seed}, allowed: {self.seed}, whose events went along with the result")
        return self.made


class LiveResult(Result):
    """A live run: the tables and plots of :class:`ackclock.Result`, and what only a live run has.

    Its events were kept when they happened: a live run cannot be made again.

    Attributes:
        about: ``notes`` (what is not as the scenario says, a line each), ``counters`` (what the kernel at each side
            counted; None where the engine stood), ``late_p50_us``, ``late_p99_us`` and ``late_worst_us`` (how much
            later than due packets left the path, microseconds), ``priority``, ``device_drops``, ``strays`` and
            ``damaged``.
        simulated: runs of the same scenario in the simulator, if ``compare`` asked for them.
    """

    _how = "live"

    def __init__(self, run: _native.LiveRun, trace: str | None = None, simulated: Result | None = None) -> None:
        """Keep what came out."""
        super().__init__(run.runs, _Events(lambda _: run.events(), run.runs.first[0]), trace)
        self.about: dict[str, Any] = json.loads(run.about)
        self.simulated = simulated

    def to_dict(self) -> dict[str, Any]:
        """What ``ackclock live path --json`` prints: what a simulated run has, and ``live`` and ``simulated``."""
        simulated = None if self.simulated is None else self.simulated.to_dict()
        return {**super().to_dict(), "live": self.about, "simulated": simulated}


def path(
    scenario: str | PathLike[str] | Scenario,
    *,
    sender: str | Sequence[str] = "kernel:cubic",
    receiver: str = "kernel",
    set: Mapping[str, Value] | None = None,
    seconds: float | None = None,
    seed: int | None = None,
    compare: int = 0,
    sysctl: Mapping[str, str | int] | None = None,
    trace: str | PathLike[str] | None = None,
    pcap: str | PathLike[str] | None = None,
    pcap_snap: int | None = None,
    realtime: bool = False,
    say: Callable[[str], object] | None = None,
    progress: Callable[[float], object] | None = None,
    name: str | None = None,
) -> LiveResult:
    """Run a scenario with real TCPs at its ends: its links, elements and luck as an emulator, in real time.

    Args:
        scenario: as for :func:`ackclock.run`.
        sender: ``kernel:cubic``, ``kernel:reno``, ``kernel:bbr`` or a stack's name; or several, of which those like
            ``flow-1=kernel:bbr`` are for one flow.
        receiver: ``kernel``, or the name of a stack.
        set: parameters of the senders' stacks, as for :func:`ackclock.run`.
        seconds: how long; by default as long as the scenario says.
        seed: the path's luck; by default the scenario's first seed.
        compare: how many seeds to simulate besides, from ``seed`` on.
        sysctl: settings of the namespaces that are made, as in ``{"net.ipv4.tcp_sack": 0}``.
        trace: file to which the events go; its ending, .csv or .parquet, says how.
        pcap: folder for a capture of each side, and for ``truth.csv``, as for :func:`ackclock.run`. What the kernel's
            receiver refused is told from its packets.
        pcap_snap: how many bytes of each packet are kept, 80 to 65535. Default: all.
        realtime: ask for real-time priority.
        say: told the first line, in which namespaces the run takes place.
        progress: called some 20 times a second with the share that is done, from 0 to 1.
        name: the name under which errors speak of a scenario that is not given by its path.

    Returns:
        What :func:`ackclock.run` returns, with ``about`` and ``simulated``: see :class:`LiveResult`.

    Raises:
        ScenarioError: the scenario or an argument makes no sense.
        LiveError: a TCP or setting that is not there, something that live runs need is missing, or the run failed.
        OSError: the trace could not be written.
        KeyboardInterrupt: as usual; nothing is left behind.
    """
    file, text = _source(scenario, name)
    senders = [sender] if isinstance(sender, str) else list(sender)
    settings = [(key, str(value)) for key, value in (sysctl or {}).items()]
    length = None if seconds is None else f"{seconds:.9f}"
    to, folder = None if trace is None else fspath(trace), None if pcap is None else fspath(pcap)
    told = (say or (lambda _: None), progress)
    with _placed(scenario), refusing(LIVE):
        run = _native.live_path(
            file, text, _pairs(set), senders, receiver, length, seed, settings, to, folder, pcap_snap, realtime, *told
        )
    return LiveResult(run, to, beside(run, compare, None))


def beside(run: _native.LiveRun, seeds: int, progress: Callable[[float], object] | None) -> Result | None:
    """The same scenario in the simulator, as often as was asked for."""
    if not seeds:
        return None
    runs = run.simulate(seeds, progress)
    return Result(runs, _Events(run.simulated_events, runs.first[0]))
