"""What a scenario's runs came to, as tables. Polars is loaded by the first table that is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _native

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

HALF = "_ci95"
"""Ending of a column that holds half the width of the 95 % confidence interval of the column before it."""
_NAMES = ("stack", "flow", "scenario", "from", "to", "kind", "direction", "identity", "trace_hash")
_NESTED = ("reordering", "ack_reordering")
"""What a flow has only with ``reordering = true``, in a table of its own."""
_REAL_ENDINGS = ("_s", "_mean", "_share", "_ratio", "_of_ceiling_max", HALF)
"""Numbers under these names are real, also where all of them are missing; the others are whole."""


class Result:
    """The runs of a scenario: for each stack that was asked for, one for each seed.

    Every table has a column ``stack``. Names of columns carry their unit (``_s`` seconds, ``_bytes``,
    ``_bytes_per_s``); what has none is a count of packets or events, and ``dupthresh_…`` counts segments.
    """

    def __init__(self, json: str, again: Callable[[int, str], str], trace: str | None = None) -> None:
        """Keep what ``ackclock run --json`` prints.

        Args:
            json: that text.
            again: runs the first stack with a seed once more, its events into the Parquet file of the given path.
            trace: where the events of the first run already are.
        """
        self._json = json
        self._again = again
        self._trace = trace

    @property
    def json(self) -> str:
        """What the command prints with ``--json``."""
        return self._json

    def to_dict(self) -> dict[str, Any]:
        """The same, read.

        ``runs`` holds the numbers of each run, stack by stack; ``flows`` their means with 95 % confidence intervals,
        stack by stack. Every flow names its ``stack``.
        """
        result: dict[str, Any] = json.loads(self._json)
        return result

    @cached_property
    def summary(self) -> pl.DataFrame:
        """Means over the seeds: a row for each stack and flow.

        Columns: ``stack``, ``flow``, ``runs`` (how many), ``finished_runs`` (of them, those in which the flow ended),
        and for each number its mean and ``…_ci95``, half the width of its 95 % confidence interval (null for
        one run). ``finish_s`` is the mean over the runs that finished.
        """
        return _frame(_mean_row(flow) for flow in self._data["flows"])

    @cached_property
    def runs(self) -> pl.DataFrame:
        """Every number of every run: a row for each stack, seed and flow.

        Columns: ``stack``, ``flow``, ``seed``, ``duration_s`` (simulated), all counters of the flow, and the run's
        ``identity`` and ``trace_hash``.
        """
        return _frame(
            {"stack": flow["stack"], "flow": flow["name"], "seed": run["seed"], "duration_s": run["duration_s"]}
            | {key: value for key, value in flow.items() if key not in {"name", "stack", *_NESTED}}
            | {"identity": run["identity"], "trace_hash": run["trace_hash"]}
            for run in self._data["runs"]
            for flow in run["flows"]
        )

    @cached_property
    def links(self) -> pl.DataFrame:
        """What the links did: a row for each stack, seed and direction of a link.

        Columns: ``stack`` (several are joined by ``+``), ``seed``, ``link`` (as in the trace: twice the link's
        position, and one more for the way back), ``from``, ``to``, and all counters; ``max_queue_packets`` is null
        where the queue can never be full.
        """
        return _frame(
            {"stack": _stacks(run), "seed": run["seed"], "link": at} | link
            for run in self._data["runs"]
            for at, link in enumerate(run["links"])
        )

    @cached_property
    def background(self) -> pl.DataFrame:
        """What the traffic beside the flows did: a row for each stack, seed and table ``[[background]]``.

        Columns: ``stack`` (of the flows; several are joined by ``+``), ``seed``, ``background`` (its position),
        ``kind``, ``from``, ``to``, and all counters.
        """
        return _frame(
            {"stack": _stacks(run), "seed": run["seed"], "background": at} | background
            for run in self._data["runs"]
            for at, background in enumerate(run["background"])
        )

    @cached_property
    def reordering(self) -> pl.DataFrame:
        """How much the path reordered (RFC 4737): two rows for each stack, seed and flow, if the scenario asks for it.

        Columns: ``stack``, ``flow``, ``seed``, ``direction`` (``data`` that came to the receiver, ``acks`` that came
        back), and the metrics. How many packets had which extent is in :meth:`to_dict`.
        """
        return _frame(
            {"stack": flow["stack"], "flow": flow["name"], "seed": run["seed"], "direction": direction}
            | {key: value for key, value in flow[key_of].items() if not isinstance(value, dict)}
            for run in self._data["runs"]
            for flow in run["flows"]
            for direction, key_of in zip(("data", "acks"), _NESTED, strict=True)
            if key_of in flow
        )

    @cached_property
    def events(self) -> pl.DataFrame:
        """What happened in the first run, in order of time: the table that ``docs/trace.md`` describes.

        It is read from the Parquet file given as ``trace``, if it is still there; else the first run is run once more,
        which gives the same, since runs are deterministic.

        Raises:
            RuntimeError: the scenario's file has been changed since.
            OSError: there is no room for the trace.
        """
        from tempfile import TemporaryDirectory  # noqa: PLC0415 - start-up time

        import polars as pl  # noqa: PLC0415 - start-up time

        first = self._data["runs"][0]
        if self._trace is not None and _hash_in(Path(self._trace)) == first["trace_hash"]:
            return pl.read_parquet(self._trace)
        with TemporaryDirectory() as folder:
            path = str(Path(folder) / "trace.parquet")
            run = json.loads(self._again(first["seed"], path))["runs"][0]
            if run["trace_hash"] != first["trace_hash"]:
                raise RuntimeError(f"{self._data['scenario']}: the scenario was changed after it was run")
            return pl.read_parquet(path, memory_map=False)

    def against(self, baseline: str) -> pl.DataFrame:
        """How the stacks differ from one of them, seed by seed: a row for each other stack and each flow.

        Columns: ``stack``, ``baseline``, ``flow``, ``runs``, and for each number the mean of (stack minus baseline) on
        the same seed, and ``…_ci95``, half the width of its 95 % confidence interval. A difference is null
        where a seed lacks the number.

        Raises:
            KeyError: no run used ``baseline``.
        """
        found: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
        for run in self._data["runs"]:
            for flow in run["flows"]:
                found.setdefault((flow["stack"], flow["name"]), {})[run["seed"]] = flow
        if baseline not in {stack for stack, _ in found}:
            raise KeyError(baseline)
        return _frame(
            _difference_row(stack, baseline, flow, runs, found[baseline, flow])
            for (stack, flow), runs in found.items()
            if stack != baseline and (baseline, flow) in found
        )

    def plot(self, flow: int = 0, start: float | None = None, stop: float | None = None) -> Figure:
        """Draw a flow of the first run: time-sequence graph, window and queue.

        Args:
            flow: the flow's position in the scenario.
            start: from when, seconds.
            stop: until when, seconds.
        """
        from ackclock.plot import course  # noqa: PLC0415 - needs matplotlib

        run = self._data["runs"][0]
        about = run["flows"][flow]
        title = f"{self._data['scenario']}: {about['name']}, {about['stack']}, seed {run['seed']}"
        return course(self.events, flow=flow, stack=about["stack"], title=title, start=start, stop=stop)

    def __repr__(self) -> str:
        """The scenario, and how much there is of what."""
        return f"<ackclock.Result: {self._data['scenario']}, {self._said}>"

    def _repr_html_(self) -> str:
        """The means, for notebooks."""
        from html import escape  # noqa: PLC0415 - start-up time

        from ackclock.tables import COLUMNS, cell  # noqa: PLC0415 - start-up time

        flows = self._data["flows"]
        columns = [c for c in COLUMNS if c[1] != "finish_s" or any(flow["finish_s"] for flow in flows)]
        head = "".join(f"<th>{escape(title)}</th>" for title in ("flow", "stack", *(c[0] for c in columns)))
        body = "".join(
            f"<tr><td>{escape(flow['name'])}</td><td>{escape(flow['stack'])}</td>"
            + "".join(f"<td style='text-align: right'>{cell(flow[key], scale, n)}</td>" for _, key, scale, n in columns)
            + "</tr>"
            for flow in flows
        )
        title = f"{escape(self._data['scenario'])}: {escape(self._said)}; means ± half the 95 % confidence interval"
        return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    @property
    def _said(self) -> str:
        runs = self._data["runs"]
        return f"{runs[0]['duration_s']:g} s simulated, {len(runs)} run{'s' * (len(runs) > 1)}"

    @cached_property
    def _data(self) -> dict[str, Any]:
        return self.to_dict()


def _stacks(run: Mapping[str, Any]) -> str:
    return "+".join(dict.fromkeys(flow["stack"] for flow in run["flows"]))


def _mean_row(flow: Mapping[str, Any]) -> dict[str, Any]:
    finish = flow["finish_s"]
    row: dict[str, Any] = {"stack": flow["stack"], "flow": flow["name"], "runs": flow["throughput_bytes_per_s"]["n"]}
    row["finished_runs"] = finish["n"] if finish else 0
    for key, interval in flow.items():
        if key not in {"name", "stack"}:
            row[key] = float(interval["mean"]) if interval else None
            row[key + HALF] = interval["half_width_95"] if interval else None
    return row


def _difference_row(
    stack: str, baseline: str, flow: str, runs: Mapping[int, Mapping[str, Any]], base: Mapping[int, Mapping[str, Any]]
) -> dict[str, Any]:
    seeds = [seed for seed in runs if seed in base]
    row: dict[str, Any] = {"stack": stack, "baseline": baseline, "flow": flow, "runs": len(seeds)}
    for key in runs[seeds[0]]:
        if key in {"name", "stack", *_NESTED}:
            continue
        pairs = [(runs[seed][key], base[seed][key]) for seed in seeds]
        known = all(a is not None and b is not None for a, b in pairs)
        mean, half = _native.interval([a - b for a, b in pairs]) if known else (None, None)
        row |= {key: mean, key + HALF: half}
    return row


def _frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows with the same keys as a frame whose types do not depend on which values are missing."""
    import polars as pl  # noqa: PLC0415 - start-up time

    listed = list(rows)
    columns = {key: [row[key] for row in listed] for key in (listed[0] if listed else {})}

    def kind(key: str, values: list[Any]) -> type[pl.String | pl.Float64 | pl.Int64]:
        if key in _NAMES or any(isinstance(value, str) for value in values):
            return pl.String
        real = key.endswith(_REAL_ENDINGS) or key + HALF in columns or any(isinstance(v, float) for v in values)
        return pl.Float64 if real else pl.Int64

    return pl.DataFrame(columns, schema={key: kind(key, values) for key, values in columns.items()})


def _hash_in(trace: Path) -> str | None:
    """The trace hash that a Parquet file names; nothing if there is no such file."""
    import polars as pl  # noqa: PLC0415 - start-up time

    if trace.suffix != ".parquet":
        return None
    try:
        return pl.read_parquet_metadata(trace).get("ackclock.trace_hash")
    except (OSError, pl.exceptions.ComputeError):
        return None
