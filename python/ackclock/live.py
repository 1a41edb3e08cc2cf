"""Live runs: a scenario's path in real time with real TCPs at its ends (Linux)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from ackclock import _native
from ackclock.api import _pairs, _placed, _source
from ackclock.document.permission import LIVE, refusing
from ackclock.kernels import inside
from ackclock.result import Result
from ackclock.slots.registry import Value

if TYPE_CHECKING:
    from ackclock.scenario import Scenario


class _Events:
    """Events of a live run, or of a simulation beside it. Pickling includes the events of one seed."""

    def __init__(self, make: Callable[[int], tuple[str, _native.Table]], seed: int) -> None:
        self._make, self._seed = make, seed

    def __call__(self, seed: int) -> tuple[str, _native.Table]:
        """Return the trace hash and the events."""
        return self._make(seed)

    def __reduce__(self) -> tuple[type[_Along], tuple[int, tuple[str, _native.Table]]]:
        """Pickle the events themselves."""
        return _Along, (self._seed, self._make(self._seed))


@dataclass(frozen=True)
class _Along:
    """Events that were pickled with their result."""

    seed: int
    made: tuple[str, _native.Table]

    def __call__(self, seed: int) -> tuple[str, _native.Table]:
        """Return the trace hash and the events."""
        if seed != self.seed:
            raise RuntimeError(f"found seed {seed}, allowed: {self.seed}, whose events are part of the result")
        return self.made


class LiveResult(Result):
    """A live run: the tables and plots of :class:`ackclock.Result`, and the data specific to live runs.

    Events are recorded during the run, because a live run cannot be repeated.

    Attributes:
        about: ``notes`` (deviations from the scenario, a line each), ``counters`` (the kernel's counters at each side;
            ``None`` where the engine was the endpoint), ``late_p50_us``, ``late_p99_us`` and ``late_worst_us`` (delay
            of packets beyond their scheduled departure from the path, in microseconds), ``priority``,
            ``device_drops``, ``strays`` and ``damaged``; in virtual time also ``virtual``, the kernel's identity.
        simulated: runs of the same scenario in the simulator, if ``compare`` requested them.
    """

    _how = "live"

    def __init__(self, run: _native.LiveRun, trace: str | None = None, simulated: Result | None = None) -> None:
        """Keep the results."""
        super().__init__(run.runs, _Events(lambda _: run.events(), run.runs.first[0]), trace)
        self.about: dict[str, Any] = json.loads(run.about)
        if (kernel := inside.identity()) is not None:
            self.about["virtual"] = kernel
        self.simulated = simulated

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``ackclock live path --json``: a simulated run's, with ``live`` and ``simulated``."""
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
    """Run a scenario with real TCPs at its ends. Ackclock emulates its links, elements and randomness in real time.

    Args:
        scenario: as for :func:`ackclock.run`.
        sender: ``kernel:cubic``, ``kernel:reno``, ``kernel:bbr`` or the name of a stack; or several of them. An entry
            such as ``flow-1=kernel:bbr`` applies to one flow.
        receiver: ``kernel``, or the name of a stack.
        set: parameters of the senders' stacks, as for :func:`ackclock.run`.
        seconds: duration of the run. Default: the scenario's.
        seed: seed of the path's randomness. Default: the scenario's first seed.
        compare: the number of seeds to simulate as well, counted up from ``seed``.
        sysctl: settings of the created namespaces, as in ``{"net.ipv4.tcp_sack": 0}``.
        trace: file for the events. Its extension, .csv or .parquet, selects the format.
        pcap: folder for a capture of each side and for ``truth.csv``, as for :func:`ackclock.run`. Packets that the
            kernel's receiver refused are inferred from its packets.
        pcap_snap: bytes kept of each packet, 80 to 65535. Default: all.
        realtime: request real-time priority.
        say: called with the first line, which names the namespaces of the run.
        progress: called about 20 times a second with the share that is done, from 0 to 1.
        name: the name that error messages use for a scenario that is not given by its path.

    Returns:
        The result of :func:`ackclock.run` with ``about`` and ``simulated``: see :class:`LiveResult`.

    Raises:
        ScenarioError: the scenario or an argument is invalid.
        LiveError: a TCP or a setting does not exist, a requirement of live runs is missing, or the run failed.
        OSError: the trace could not be written.
        KeyboardInterrupt: as usual; nothing is left behind.
    """
    file, text = _source(scenario, name)
    senders = [sender] if isinstance(sender, str) else list(sender)
    settings = [(key, str(value)) for key, value in (sysctl or {}).items()]
    length = None if seconds is None else f"{seconds:.9f}"
    to, folder = None if trace is None else fspath(trace), None if pcap is None else fspath(pcap)
    calls = (say or (lambda _: None), progress)
    with _placed(scenario), refusing(LIVE):
        run = _native.live_path(
            file,
            text,
            _pairs(set),
            senders,
            receiver,
            length,
            seed,
            settings,
            to,
            folder,
            pcap_snap,
            realtime,
            *calls,
        )
    return LiveResult(run, to, beside(run, compare, None))


def beside(run: _native.LiveRun, seeds: int, progress: Callable[[float], object] | None) -> Result | None:
    """The requested number of simulations of the same scenario."""
    if not seeds:
        return None
    runs = run.simulate(seeds, progress)
    return Result(runs, _Events(run.simulated_events, runs.first[0]))
