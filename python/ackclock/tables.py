"""Results as tables for people. Imported late: rich takes longer to load than a short run."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

SHOWN_FLOWS = 20
PIPE_WIDTH = 200
COLUMNS = [
    ("throughput kB/s", "throughput_bytes_per_s", 1e-3, 1),
    ("goodput kB/s", "goodput_bytes_per_s", 1e-3, 1),
    ("sent", "data_packets_sent", 1, 0),
    ("resent", "retransmissions", 1, 0),
    ("refused", "refused_retransmissions", 1, 0),
    ("needless", "needless_retransmissions", 1, 0),
    ("dropped", "data_drops", 1, 0),
    ("timeouts", "timeouts", 1, 0),
    ("fast rec.", "fast_recoveries", 1, 0),
    ("finish s", "finish_s", 1, 3),
]

SELDOM = ("refused_retransmissions", "finish_s")
"""Shown only where there is something to show."""


def console() -> Console:
    """Standard output; what goes into a pipe is not cut to a terminal's width."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=PIPE_WIDTH)


def cell(interval: dict[str, float | None] | None, scale: float, digits: int) -> str:
    """A mean and its 95 % confidence interval, as `602.1 ± 0.8`."""
    if interval is None or interval["mean"] is None:
        return "-"
    half = interval["half_width_95"]
    digits = max(digits, 1) if half is not None and scale == 1 else digits
    mean = f"{interval['mean'] * scale:,.{digits}f}"
    return mean if half is None else f"{mean} ± {half * scale:,.{digits}f}"


def _add_block(table: Table, flows: list[dict[str, Any]], columns: list[Any]) -> None:
    """Add the flows of one stack, and their sum where they are too many to show."""
    for flow in flows[:SHOWN_FLOWS]:
        cells = [cell(flow[key], scale, digits) for _, key, scale, digits in columns]
        table.add_row(flow["name"], flow["stack"], *cells)
    if len(flows) > SHOWN_FLOWS:
        total = sum(f["throughput_bytes_per_s"]["mean"] for f in flows) / 1e3
        table.add_row(f"all {len(flows):,}", "", f"{total:,.1f}")
    if len(flows) > 1:
        table.add_section()


def print_run(result: dict[str, Any]) -> None:
    """Print the means of each flow, a block for each stack that was asked for, and what the links dropped."""
    out, runs, flows = console(), result["runs"], result["flows"]
    size = len(runs[0]["flows"])
    blocks = [flows[i : i + size] for i in range(0, len(flows), size)]
    seeds = len(runs) // len(blocks)
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("flow")
    table.add_column("stack")
    columns = [c for c in COLUMNS if c[1] not in SELDOM or any(f[c[1]] and f[c[1]]["mean"] for f in flows)]
    for title, *_ in columns:
        table.add_column(title, justify="right")
    for block in blocks:
        _add_block(table, block, columns)
    said = f"seed {runs[0]['seed']}" if seeds == 1 else f"{seeds} seeds, means with 95 % confidence intervals"
    out.print(f"{result['scenario']}: {runs[0]['duration_s']:g} s simulated, {said}", markup=False)
    out.print(table)
    if len(blocks) == 1:
        _print_drops(out, runs[0])
    if len(runs) == 1:
        out.print(f"trace {runs[0]['trace_hash']}", markup=False, soft_wrap=True)


def _print_drops(out: Console, run: dict[str, Any]) -> None:
    for link in run["links"]:
        drops = {why: link[f"{why}_drops"] for why in ("queue", "loss", "script") if link[f"{why}_drops"]}
        if drops:
            said = ", ".join(f"{count:,} by {why}" for why, count in drops.items())
            out.print(f"dropped {link['from']} → {link['to']} (seed {run['seed']}): {said}", markup=False)


def print_stacks(stacks: list[dict[str, Any]]) -> None:
    """Print names and summaries."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("stack", no_wrap=True)
    table.add_column("what it is")
    for stack in stacks:
        table.add_row(stack["name"], stack["summary"])
    console().print(table)


def print_live_bench(entries: list[dict[str, Any]]) -> None:
    """Print a row for each transfer of ``ackclock live bench``."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("engine")
    table.add_column("offload")
    table.add_column("IP")
    for column in ("Gb/s", "hashes", "engine CPU", "kernel CPU", "bytes/frame", "resent", "late p99 µs"):
        table.add_column(column, justify="right")
    for entry in entries:
        late = entry["late_p99_us"]
        table.add_row(
            f"{entry['direction']}s",
            "on" if entry["offload"] else "off",
            entry["family"],
            f"{entry['gbps']:.2f}",
            "equal" if entry["hashes_equal"] else "DIFFER",
            f"{entry['engine_processor']:.2f}",
            f"{entry['kernel_processor']:.2f}",
            f"{entry['bytes_per_frame']:,.0f}",
            f"{entry['retransmitted']:,}",
            "-" if late is None else f"{late:,.0f}",
        )
    console().print(table)
    if entries:
        console().print(entries[0]["priority"])
