"""ns-2's runs of the paper's set-ups (papers/wang-shin/reference), compared with ours."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock.papers.paper import Reference, Table
from ackclock.runs.trial import Effort, Ran, Trial, Value
from ackclock.statistics import Comparison, Mean, Verdict

from . import transfer
from .model import windows
from .points import (
    COUNTING,
    MSS,
    PARTIAL_ACKS,
    Scheme,
    Settings,
    droptail,
    model,
    red,
)

TOLERANCE = 0.03
SAME = "clean"
"""The profile whose rules all our stacks follow."""
PROFILES: dict[str, Settings] = {
    SAME: (("rto.tick", "10ms"), ("rto.min", "1s"), ("rto.initial", "3s"), ("rto.max", "60s")),
    "era": (),
}
"""Timers of the profiles; ``era`` uses the scenarios' values."""
SENDERS: dict[str, tuple[str, Settings]] = {
    "tahoe": ("tahoe", COUNTING),
    "reno": ("reno", COUNTING),
    "newreno": ("newreno", PARTIAL_ACKS),
    "newreno0": ("newreno-slow-but-steady", PARTIAL_ACKS),
    "sack1": ("sack-ff96", ()),
}
ERA = (
    "The profile era is shown and not judged: its cut of the window to whole segments, its recoveries that outlast a "
    "timeout and its clocks, each with its own phase, have no parameter here."
)
Row = dict[str, str]


def scheme(variant: str, profile: str) -> Scheme:
    """Our sender for one of ns-2's; ``newreno`` in the profile era follows the rules of ``newreno0``."""
    stack, settings = SENDERS["newreno0" if (variant, profile) == ("newreno", "era") else variant]
    return Scheme(variant, stack, (*settings, *PROFILES[profile]))


def rows(folder: Path, name: str) -> list[Row]:
    """The lines of one of ns-2's tables.

    Raises:
        OSError: the file is missing.
    """
    with (folder / "reference" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True)
class Line:
    """One of ns-2's points compared with ours."""

    names: tuple[str, ...]
    """Names of the point; the profile is first."""
    compared: tuple[Comparison, ...]
    """One for each quantity."""


Values = Callable[[Ran], Sequence[float]]
Ours = Mapping[Trial, Ran]


def grouped(table: Sequence[Row], *keys: str) -> dict[tuple[str, ...], list[Row]]:
    """Group lines with equal values in these columns."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in table:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def column(table: Sequence[Row], key: str) -> list[float]:
    """The values of a column."""
    return [float(row[key]) for row in table]


def side_by_side(ours: Sequence[float], theirs: Sequence[float]) -> Comparison:
    """Compare the means of both."""
    return Comparison(Mean.of(ours), Mean.of(theirs), TOLERANCE)


def reference(title: str, names: Sequence[str], quantities: Sequence[str], lines: Sequence[Line]) -> Reference:
    """Summarise the agreement, and list all points."""
    judged = [c for line in lines if line.names[0] == SAME for c in line.compared]
    count = {v: sum(c.verdict is v for c in judged) for v in Verdict}
    how = ", ".join(f"{n} {v.value}" for v, n in count.items() if n)
    summary = [
        f"{title}, profile {SAME} (tolerance {100 * TOLERANCE:g} %): {sum(c.verdict.reproduced for c in judged)} of "
        f"{len(judged)} means reproduced ({how})"
    ]
    summary += [ERA] if any(line.names[0] == "era" for line in lines) else []
    head = [*names, *(cell for q in quantities for cell in (f"{q}: ours", "ns-2", "difference", "verdict"))]
    table = Table(f"{title}, beside ns-2.35", head, [_cells(line) for line in lines])
    return Reference(summary, all(c.verdict.good for c in judged), table)


def _cells(line: Line) -> list[str]:
    cells = list(line.names)
    for c in line.compared:
        cells += [f"{c.ours.value:.2f} ± {c.ours.half:.2f}", f"{c.reference.value:.2f} ± {c.reference.half:.2f}"]
        cells += [f"{100 * c.difference:+.1f} %", c.verdict.value if line.names[0] == SAME else "–"]  # noqa: RUF001
    return cells


# Figure 6


def red_trials(folder: Path) -> list[Trial]:
    """Our runs of ns-2's points."""
    return [red(scheme(variant, profile)) for profile, variant in grouped(rows(folder, "red"), "profile", "variant")]


def red_reference(folder: Path, ours: Ours) -> Reference:
    """Compare ten flows over RED."""
    lines = []
    for (profile, variant), theirs in grouped(rows(folder, "red"), "profile", "variant").items():
        ran = ours[red(scheme(variant, profile))]
        pairs: list[tuple[Sequence[float], str]] = [
            ([acked / MSS for acked in ran.values("acked_bytes")], "flow1_acked_packets"),
            ([acked / MSS for acked in ran.values(lambda run: _all(run, "acked_bytes"))], "acked_packets"),
            (ran.values(lambda run: _all(run, "data_drops")), "drops"),
            (ran.values(lambda run: _all(run, "timeouts")), "timeouts"),
        ]
        compared = tuple(side_by_side(values, column(theirs, key)) for values, key in pairs)
        lines.append(Line((profile, variant), compared))
    quantities = ("packets of flow 1", "of all flows", "drops", "timeouts")
    return reference("Figure 6, ten flows over RED", ("profile", "sender"), quantities, lines)


def _all(run: Mapping[str, object], key: str) -> float:
    flows = run["flows"]
    if not isinstance(flows, list):
        raise TypeError(f"flows are {type(flows)}")
    return float(sum(flow[key] for flow in flows))


# Table 5


def alike(one: Scheme) -> Trial:
    """Twenty flows with the same sender."""
    return Trial("scenario-fairness.toml", (), one.stack, one.set)


def transfer_trials(folder: Path) -> list[Trial]:
    """Our runs of ns-2's points."""
    groups = grouped(rows(folder, "table5"), "profile", "variant")
    return [alike(scheme(variant, profile)) for profile, variant in groups]


def transfer_reference(folder: Path, ours: Ours) -> Reference:
    """Compare a transfer among nineteen other flows."""
    lines = []
    for (profile, variant), theirs in grouped(rows(folder, "table5"), "profile", "variant").items():
        ran = ours[alike(scheme(variant, profile))]
        lost = [100 * float(row["drops"]) / float(row["packets_sent"]) for row in theirs]
        # A transfer that the end of the run cuts off counts with its duration until then.
        ends = [min(delay, run["duration_s"]) for delay, run in zip(transfer.delays(ran), ran.runs, strict=True)]
        compared = (
            side_by_side(ends, column(theirs, "delay_s")),
            side_by_side(transfer.losses(ran), lost),
            side_by_side(ran.values("timeouts", transfer.TARGET), column(theirs, "timeouts")),
        )
        lines.append(Line((profile, variant), compared))
    quantities = ("transfer delay, s", "loss rate, %", "timeouts")
    return reference("Table 5, twenty flows of one kind", ("profile", "sender"), quantities, lines)


# Figure 7

NETWORK = ("profile", "network", "variant", "p")


def model_trials(folder: Path) -> list[Trial]:
    """Our runs of ns-2's points."""
    return [t for key, theirs in grouped(rows(folder, "model"), *NETWORK).items() for t in _model(key, theirs)]


def _model(key: tuple[str, ...], theirs: Sequence[Row]) -> tuple[Trial, Trial]:
    """The run, and the run of its start-up phase, which is excluded."""
    profile, network, variant, p = key
    one = scheme(variant, profile)
    return model(one, float(p), network), model(one, float(p), network, int(theirs[0]["warm_s"]))


def model_reference(folder: Path, ours: Ours) -> Reference:
    """Compare one flow under loss."""
    lines = []
    for key, theirs in grouped(rows(folder, "model"), *NETWORK).items():
        whole, beginning = (ours[t] for t in _model(key, theirs))
        ours_of = windows(whole, beginning)
        lines.append(Line(key, (side_by_side(ours_of, column(theirs, "window")),)))
    title = "Figure 7, one flow under uniform loss"
    return reference(title, ("profile", "network", "sender", "p"), ("window, segments",), lines)


# Table 3

STARTS = ("profile", "variant", "starts", "seconds")
COUNTS = ("acked_bytes", "data_drops", "retransmissions", "timeouts", "fast_recoveries")
ALL_COUNTS = ("acked_bytes", "data_drops", "timeouts")
SECONDS = "60"
"""Duration of the runs whose means are compared, the longest ones; packet counts are compared for all runs."""
ONCE = Effort(1)
"""Runs have no randomness."""


def _droptail(profile: str, variant: str, starts: str, seconds: str) -> Trial:
    changes: list[tuple[str, Value]] = [("run.duration", f"{seconds} s")]
    for n, start in enumerate(starts.split()):
        flow = f"dumbbell.flow[{n}].app"
        changes += [(f"{flow}.start", f"{round(1000 * float(start))} ms"), (f"{flow}.jitter", "0 s")]
    plain = droptail(scheme(variant, profile))
    return Trial(plain.file, tuple(changes), plain.stack, plain.set)


def droptail_trials(folder: Path) -> list[Trial]:
    """Our runs of ns-2's points, each to be run once."""
    return [_droptail(*(row[key] for key in STARTS)) for row in rows(folder, "droptail")]


def droptail_reference(folder: Path, ours: Ours) -> Reference:
    """Compare three flows over a queue of 8 packets."""
    table = rows(folder, "droptail")
    same = [_same(row, ours) for row in table if row["profile"] == SAME]
    lines = []
    for (profile, variant, seconds), theirs in grouped(table, "profile", "variant", "seconds").items():
        if seconds != SECONDS:
            continue
        runs = [_counts(ours[_droptail(*(row[key] for key in STARTS))])[1] for row in theirs]
        names = ("all_acked_packets", "all_drops", "all_timeouts")
        compared = tuple(
            side_by_side([float(run[at]) for run in runs], column(theirs, name)) for at, name in enumerate(names)
        )
        lines.append(Line((profile, variant), compared))
    title = "Table 3, three flows over a drop-tail queue, mean over four settings of their starts"
    made = reference(title, ("profile", "sender"), ("packets of all flows in 60 s", "drops", "timeouts"), lines)
    apart = [row["starts"] for row, equal in same if not equal]
    more = (
        f"{sum(equal for _, equal in same)} of {len(same)} runs of the profile {SAME} match ns-2's to the packet: "
        "packets acknowledged, dropped and retransmitted, timeouts and fast retransmits of the first flow, and totals. "
        f"The others have starts ({'; '.join(sorted(set(apart)))}) with which packets of two flows arrive at the full "
        "queue at the same instant: here the earlier flow comes first (docs/decisions/0007); in ns-2 rounding decides."
    )
    return Reference([*made.summary, more], made.good, made.table)


def _counts(ran: Ran) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The values of ns-2's columns, for the first flow and for all flows."""
    flows = ran.runs[0]["flows"]
    first = (flows[0]["acked_bytes"] // MSS, *(flows[0][key] for key in COUNTS[1:]))
    total = [sum(flow[key] for flow in flows) for key in ALL_COUNTS]
    return first, (total[0] // MSS, *total[1:])


def _same(row: Row, ours: Ours) -> tuple[Row, bool]:
    first, total = _counts(ours[_droptail(*(row[key] for key in STARTS))])
    keys = [key for key in row if key not in STARTS]
    return row, [*first, *total] == [int(row[key]) for key in keys]


def references(folder: Path, ours: Ours) -> list[Reference]:
    """Return all four references."""
    return [
        droptail_reference(folder, ours),
        red_reference(folder, ours),
        model_reference(folder, ours),
        transfer_reference(folder, ours),
    ]
