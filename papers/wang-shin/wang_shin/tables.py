"""The numbers behind the figures."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from ackclock.papers.paper import Table
from ackclock.runs.trial import Ran
from ackclock.statistics import Mean

from .measures import View
from .points import (
    CASES,
    COMPARED,
    LOSSES,
    MSS,
    PEER_WINDOWS,
    PS,
    RR,
    SACK,
    droptail,
    red,
)
from .transfer import PUBLISHED


def numbers(view: View) -> Iterator[Table]:
    """Yield the tables for each figure."""
    yield _forced(view)
    head = ("sender", "packets of the first flow", "of all flows", "drops of all", "timeouts of all")
    red_rows = [[scheme.name, *_flows(view.ran[red(scheme)])] for scheme in COMPARED]
    yield Table("Ten flows over RED, 6 s (Figure 6)", head, red_rows)
    rows = [[scheme.name, *_flows(view.ran[droptail(scheme)])] for scheme in COMPARED]
    yield Table("Table 3 as printed: three flows over 8 packets of drop-tail, starts at random, 20 s", head, rows)
    yield _model(view)
    yield _transfer(view)


def _forced(view: View) -> Table:
    head = ["sender", *(f"{n} losses, window {w if w < MSS else 'open'}" for w in PEER_WINDOWS for n in LOSSES)]
    rows = []
    for scheme in COMPARED:
        cells = []
        for window in PEER_WINDOWS:
            for losses in LOSSES:
                every = view.grid.kbps(scheme, losses, window)
                cells.append(f"{statistics.fmean(every):.0f} ({min(every):.0f} to {max(every):.0f})")
        rows.append([scheme.name, *cells])
    return Table(
        "Effective throughput while losses are repaired, kb/s: mean over the cases, and range (Figure 5)", head, rows
    )


def _flows(ran: Ran) -> list[str]:
    every = [
        Mean.of([acked / MSS for acked in ran.values("acked_bytes")]),
        Mean.of(ran.values(lambda run: sum(flow["acked_bytes"] for flow in run["flows"]) / MSS)),
        Mean.of(ran.values(lambda run: float(sum(flow["data_drops"] for flow in run["flows"])))),
        Mean.of(ran.values(lambda run: float(sum(flow["timeouts"] for flow in run["flows"])))),
    ]
    return [str(mean) for mean in every]


def _model(view: View) -> Table:
    head = ("loss rate", "RR, open", "SACK, open", "RR, Table 3's network", "SACK, Table 3's network")
    rows = [
        [
            f"{p:g}",
            *(
                f"{view.model.window(s, p, network)} ({100 * view.model.share(s, p, network):.0f} %)"
                for network in ("open", "Table 3")
                for s in (RR, SACK)
            ),
        ]
        for p in PS
    ]
    return Table("Window BW · RTT / MSS, segments, and its share of the model's (Figure 7)", head, rows)


def _transfer(view: View) -> Table:
    head = (
        "case",
        "delay, s: mean",
        "median",
        "5 to 95 %",
        "paper",
        "loss rate, %: mean",
        "median",
        "5 to 95 %",
        "paper",
    )
    rows = []
    for case, published in PUBLISHED.items():
        cells = []
        for values, one in zip((view.transfer.delays(case), view.transfer.losses(case)), published, strict=True):
            ordered = sorted(values)
            low, high = ordered[len(ordered) // 20], ordered[-1 - len(ordered) // 20]
            finite = [value for value in values if value < float("inf")]
            cells += [str(Mean.of(finite)), f"{statistics.median(values):.1f}", f"{low:.1f} to {high:.1f}", f"{one:g}"]
        target, background = CASES[case]
        rows.append([f"{case}: {target.name} among {background.name}", *cells])
    return Table("A transfer of 100 kB among 19 flows (Table 5)", head, rows)


def points(view: View) -> Iterator[dict[str, object]]:
    """Every point of Figures 6 and 7 and of Tables 3 and 5: means over the seeds, 95 % intervals."""
    for at, ran in view.ran.items():
        shown = 19 if at.file == "scenario-fairness.toml" else 0
        acked, drops, timeouts = (ran.mean(key, shown) for key in ("acked_bytes", "data_drops", "timeouts"))
        yield {
            "scenario": at.file,
            "stack": at.stack or "",
            "changes": "; ".join(f"{path} = {value}" for path, value in (*at.changes, *at.set)),
            "seconds": f"{ran.runs[0]['duration_s']:g}",
            "runs": acked.n,
            **{
                f"{name}{what}": f"{value:.3f}"
                for name, mean in (("acked_bytes", acked), ("drops", drops), ("timeouts", timeouts))
                for what, value in (("", mean.value), ("_half_width_95", mean.half))
            },
        }
