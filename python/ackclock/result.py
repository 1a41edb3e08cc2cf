"""The results of a scenario's runs, as tables. Polars is loaded with the first table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ackclock import _native
from ackclock.errors import ScenarioError
from ackclock.late import pl
from ackclock.slots import allowing, pickled, unpacked
from ackclock.statistics import interval
from ackclock.tables.columns import HALF, LABELS, Shown, shown, unused_notes
from ackclock.tables.measures import Measures

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Again:
    """Repeats a run of a scenario to record its events: the first stack's run with a given seed."""

    file: str
    """The name that error messages use for the scenario."""
    text: str | None
    """The scenario, unless it was given by its path."""
    stack: str | None
    set: tuple[tuple[str, str], ...]
    allow_python: bool
    algorithms: tuple[tuple[str, bytes], ...] = ()
    """Classes passed as objects, for use in another process: see ``ackclock.slots.pickled``."""

    def __call__(self, seed: int, progress: Callable[[float], object] | None = None) -> tuple[str, _native.Table]:
        """Return the trace hash and the events of the run with this seed."""
        with allowing(self.allow_python), unpacked(self.algorithms):
            return _native.events(self.file, self.text, self.stack, self.set, seed, progress)

    def __reduce__(self) -> tuple[type[Again], tuple[object, ...]]:
        """Pickle with the classes passed as objects, which another process does not have."""
        said = (self.file, self.text, self.stack, self.set, self.allow_python)
        handed = any('source = "#' in text for text in (self.text or "", *(value for _, value in self.set)))
        folder = Path(self.file).parent if self.text is None else Path()
        with allowing(self.allow_python):
            return Again, (*said, self.algorithms or (pickled(self.text or "", self.set, folder) if handed else ()))


class Kept:
    """Results without the engine's objects: the form in which a :class:`Result` is pickled and copied."""

    TABLES = ("frame", "summary", "links", "background", "reordering", "densities", "stalls")

    def __init__(self, runs: _native.Runs | Kept) -> None:
        """Copy all tables and the JSON."""
        self.scenario: str = runs.scenario
        self.duration_s: float = runs.duration_s
        self.first: tuple[int, str] = runs.first
        self._json, self._length = runs.json(), len(runs)
        self._tables: dict[str, _native.Table | None] = {name: getattr(runs, name)() for name in self.TABLES}

    def __getattr__(self, name: str) -> Callable[[], Any]:
        """Return a function that gives the stored table of this name."""
        if name not in self.TABLES:
            raise AttributeError(name)
        return lambda: self._tables[name]

    def json(self) -> str:
        """Return the content of ``ackclock run --json``."""
        return self._json

    def __len__(self) -> int:
        """The number of runs."""
        return self._length


class Result:
    """The runs of a scenario: one for each requested stack and seed.

    Every table has a column ``stack``. Column names end in their unit (``_s`` seconds, ``_bytes``, ``_bytes_per_s``);
    columns without a unit count packets or events. ``docs/results.md`` explains each. Tables are Polars frames;
    :meth:`arrow` gives the same tables to any library that takes Arrow.
    """

    _how = "simulated"

    def __init__(
        self, runs: _native.Runs | Kept, again: Callable[[int], tuple[str, _native.Table]], trace: str | None = None
    ) -> None:
        """Keep the results.

        Args:
            runs: the numbers of each run.
            again: repeats the first stack's run with a seed, and returns the trace hash and the events.
            trace: the file with the events of the first run, if they were recorded.
        """
        self._runs = runs
        self._again = again
        self._trace = trace

    def __getstate__(self) -> dict[str, Any]:
        """The pickled form: tables and JSON. Events are not included; a run of the same scenario recreates them."""
        return {**vars(self), "_runs": self._runs if isinstance(self._runs, Kept) else Kept(self._runs)}

    @cached_property
    def json(self) -> str:
        """Return the content of ``ackclock run --json``."""
        return self._runs.json()

    def to_dict(self) -> dict[str, Any]:
        """Return the same as a dict.

        ``runs`` holds the numbers of each run and ``flows`` their means with 95 % confidence intervals, both ordered by
        stack. Every flow names its ``stack``.
        """
        result: dict[str, Any] = json.loads(self.json)
        return result

    def arrow(
        self,
        table: Literal[
            "frame", "summary", "links", "background", "reordering", "densities", "stalls", "events"
        ] = "frame",
    ) -> _native.Table:
        """Return a table as Arrow, for any library with the Arrow PyCapsule interface; the data are not copied.

        ``pyarrow.table(result.arrow())``, ``duckdb.from_arrow(result.arrow("links"))`` and
        ``polars.DataFrame(result.arrow("events"))`` accept it. The events are recreated by each call.

        Args:
            table: the name of the attribute that holds the same table as a Polars frame.

        Raises:
            RuntimeError: as for :attr:`events` and :attr:`stalls`.
        """
        if table == "events":
            seed, hashed = self._runs.first
            found, events = self._again(seed)
            if found != hashed:
                raise RuntimeError(f"{self._runs.scenario}: the scenario was changed after it was run")
            return events
        if table == "stalls":
            found_stalls = self._runs.stalls()
            if found_stalls is None:
                raise RuntimeError("the stalls were not requested, as in run(scenario, stalls=True)")
            return found_stalls
        makers = {
            "frame": self._runs.frame,
            "summary": self._runs.summary,
            "links": self._runs.links,
            "background": self._runs.background,
            "reordering": self._runs.reordering,
            "densities": self._runs.densities,
        }
        return makers[table]()

    @cached_property
    def notes(self) -> list[str]:
        """Remarks on the runs, such as parameters that the scenario sets and a chosen stack does not have."""
        return unused_notes(self.to_dict()["runs"])

    @cached_property
    def summary(self) -> pl.DataFrame:
        """Means over the seeds: a row for each stack and flow.

        Columns: ``stack``, ``flow``, ``runs`` (the number of runs), ``finished_runs`` (runs in which the flow ended),
        and for each number its mean and ``…_ci95``, half the width of its 95 % confidence interval (null for one run).
        ``finish_s`` is the mean over the runs that finished.
        """
        return _polars(self.arrow("summary"))

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Every number of every run: a row for each stack, seed and flow.

        Columns: ``stack``, ``flow``, ``seed``, ``duration_s`` (simulated), all counters of the flow, and the run's
        ``identity`` and ``trace_hash``.
        """
        return _polars(self.arrow("frame"))

    @cached_property
    def links(self) -> pl.DataFrame:
        """Counters of the links: a row for each stack, seed and direction of a link.

        Columns: ``stack`` (several are joined by ``+``), ``seed``, ``link`` (as in the trace: twice the link's
        position, plus one for the way back), ``from``, ``to``, and all counters; ``max_queue_packets`` is null where
        the queue cannot fill.
        """
        return _polars(self.arrow("links"))

    @cached_property
    def background(self) -> pl.DataFrame:
        """Counters of the background traffic: a row for each stack, seed and ``[[background]]`` table.

        Columns: ``stack`` (of the flows; several are joined by ``+``), ``seed``, ``background`` (its position),
        ``kind``, ``from``, ``to``, and all counters.
        """
        return _polars(self.arrow("background"))

    @cached_property
    def reordering(self) -> pl.DataFrame:
        """Reordering by the path (RFC 4737): two rows for each stack, seed and flow, if the scenario requests it.

        Columns: ``stack``, ``flow``, ``seed``, ``direction`` (``data`` arriving at the receiver, or ``acks`` arriving
        at the sender), and the metrics. The number of packets with each extent is in :meth:`to_dict`.
        """
        return _polars(self.arrow("reordering"))

    @cached_property
    def densities(self) -> pl.DataFrame:
        """The two densities of RFC 5236, if the scenario requests reordering: a row for each value that occurred.

        Columns: ``stack``, ``flow``, ``seed``, ``direction`` (as in :attr:`reordering`), ``density`` (``reorder``: the
        displacement of a packet, positive if late, negative if early; ``buffer_occupancy``: packets that a receiver
        holds to restore the order), ``packets`` (the value) and ``share``. The shares of a density add up to 1.
        """
        return _polars(self.arrow("densities"))

    @cached_property
    def stalls(self) -> pl.DataFrame:
        """Why transfers stood still, if requested by ``stalls=True``: a row for each run and stall.

        A stall is a time without an ACK of new data, with data outstanding, that is longer than two of the flow's
        shortest round-trip times. Each run's are in order, the longest first; of each flow at most 256.

        Columns: ``seed``, ``stack``, ``flow``, ``start_s``, ``duration_s``, ``cause``, ``title`` (length and cause in a
        line) and ``evidence`` (what happened, in sentences). :meth:`to_dict` has each sentence with its time.

        Raises:
            RuntimeError: the stalls were not requested.
        """
        return _polars(self.arrow("stalls"))

    @cached_property
    def measures(self) -> Measures:
        """Tables of totals, delays, completion times and links, if the scenario or the call requests them."""
        return Measures(self.to_dict()["runs"])

    @cached_property
    def events(self) -> pl.DataFrame:
        """The events of the first run in time order: the table that ``docs/trace.md`` describes.

        They are read from the Parquet file given as ``trace`` if it still exists. Otherwise the first run is repeated;
        runs are deterministic, so the events are the same.

        Raises:
            RuntimeError: the scenario's file has changed since the run.
        """
        if self._trace is not None and _hash_in(Path(self._trace)) == self._runs.first[1]:
            return pl.read_parquet(self._trace)
        return _polars(self.arrow("events"))

    def against(self, baseline: str) -> pl.DataFrame:
        """Differences of the other stacks from one stack, seed by seed: a row for each other stack and each flow.

        Columns: ``stack``, ``baseline``, ``flow``, ``runs``, and for each number the mean of (stack minus baseline) on
        the same seed, and ``…_ci95``, half the width of its 95 % confidence interval. A difference is null if a seed
        lacks the number.

        Raises:
            KeyError: no run used ``baseline``.
        """
        found: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
        for row in self.frame.iter_rows(named=True):
            found.setdefault((row["stack"], row["flow"]), {})[row["seed"]] = row
        if baseline not in {stack for stack, _ in found}:
            raise KeyError(baseline)
        rows = [
            _difference_row(stack, baseline, flow, runs, found[baseline, flow])
            for (stack, flow), runs in found.items()
            if stack != baseline and (baseline, flow) in found
        ]

        numbers = [name for key in self.frame.columns if key not in LABELS for name in (key, key + HALF)]
        types = {"stack": pl.String, "baseline": pl.String, "flow": pl.String, "runs": pl.Int64}
        return pl.DataFrame(rows, schema=types | dict.fromkeys(numbers, pl.Float64))

    def plot(
        self, flow: int = 0, start: float | None = None, stop: float | None = None, *, seed: int | None = None
    ) -> Figure:
        """Draw a flow of one run of the first stack: time-sequence graph, window and queue.

        Args:
            flow: the flow's position in the scenario.
            start: start of the graph, in seconds. Default: the beginning.
            stop: end of the graph, in seconds. Default: the end.
            seed: seed of the run. Default: the first. For another seed the run is repeated.

        Raises:
            ScenarioError: there is no such flow, or no run with this seed.
            RuntimeError: as for :attr:`events`.
        """
        from ackclock.plot import course  # noqa: PLC0415 - needs matplotlib

        runs: dict[int, dict[str, list[dict[str, Any]]]] = {}
        for row in self.frame.iter_rows(named=True):
            runs.setdefault(row["seed"], {}).setdefault(row["identity"], []).append(row)
        first = next(iter(runs))
        chosen = first if seed is None else seed
        if chosen not in runs:
            raise _misplaced("seed", seed, f"one of the seeds {', '.join(map(str, runs))}")
        flows = next(iter(runs[chosen].values()))
        if not 0 <= flow < len(flows):
            raise _misplaced("flow", flow, f"a flow's position, 0 to {len(flows) - 1}")
        about = flows[flow]
        title = f"{self._runs.scenario}: {about['flow']}, {about['stack']}, seed {chosen}"
        events = self.events if chosen == first else _polars(self._again(chosen)[1])
        return course(events, flow=flow, stack=about["stack"], title=title, start=start, stop=stop)

    def __repr__(self) -> str:
        """The scenario and the sizes of the tables."""
        return f"<ackclock.Result: {self._runs.scenario}, {self._sentence}>"

    def _repr_html_(self) -> str:
        """The means, for notebooks."""
        from ackclock.tables.printed import cell  # noqa: PLC0415 - loads rich

        flows = self.summary.to_dicts()
        some = {one.name: any(flow[one.name] for flow in flows) for one, _ in shown("flow")}
        columns = [(one.name, look) for one, look in shown("flow") if some[one.name] or not look.seldom]
        head = "".join(f"<th>{escape(title)}</th>" for title in ("flow", "stack", *(c[1].heading for c in columns)))

        def data(flow: Mapping[str, Any], key: str, look: Shown) -> str:
            mean = cell({"mean": flow[key], "half_width_95": flow[key + HALF]}, look.scale, look.digits)
            return f"<td style='text-align: right'>{mean}</td>"

        body = "".join(
            f"<tr><td>{escape(flow['flow'])}</td><td>{escape(flow['stack'])}</td>"
            + "".join(data(flow, *column) for column in columns)
            + "</tr>"
            for flow in flows
        )
        title = f"{escape(self._runs.scenario)}: {escape(self._sentence)}; means ± half the 95 % confidence interval"
        return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    @property
    def _sentence(self) -> str:
        runs = len(self._runs)
        return f"{self._runs.duration_s:g} s {self._how}, {runs} run{'s' * (runs > 1)}"


def _misplaced(key: str, found: object, allowed: str) -> ScenarioError:
    message = f"plot: key `{key}`: found {found}, allowed: {allowed}"
    return ScenarioError(message, "plot", None, key, str(found), allowed, None)


def _difference_row(
    stack: str, baseline: str, flow: str, runs: Mapping[int, Mapping[str, Any]], base: Mapping[int, Mapping[str, Any]]
) -> dict[str, Any]:
    seeds = [seed for seed in runs if seed in base]
    row: dict[str, Any] = {"stack": stack, "baseline": baseline, "flow": flow, "runs": len(seeds)}
    for key in runs[seeds[0]]:
        if key in LABELS:
            continue
        pairs = [(runs[seed][key], base[seed][key]) for seed in seeds]
        known = all(a is not None and b is not None for a, b in pairs)
        mean, half = interval([a - b for a, b in pairs]) if known else (None, None)
        row |= {key: mean, key + HALF: half}
    return row


def _polars(table: _native.Table) -> pl.DataFrame:

    return pl.DataFrame(table)


def _hash_in(trace: Path) -> str | None:
    """The trace hash stored in a Parquet file; ``None`` if there is no such file."""
    if trace.suffix != ".parquet":
        return None
    try:
        return pl.read_parquet_metadata(trace).get("ackclock.trace_hash")
    except (OSError, pl.exceptions.ComputeError):
        return None
