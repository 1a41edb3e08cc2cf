"""Results as tables for people. Imported late, because rich takes longer to load than a short run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ackclock.tables.columns import Column, Shown, shown, unused_notes
from ackclock.tables.measures_printed import print_measures
from ackclock.tables.terminal import console, empty_table

if TYPE_CHECKING:
    from ackclock.kernels.kept import Kernel

SHOWN_FLOWS = 20
SHOWN_STALLS = 5
LATE_US = 300
"""Lateness in microseconds at the 99th percentile above which a live run prints a warning."""


def cell(interval: dict[str, float | None] | None, scale: float, digits: int) -> str:
    """A mean and its 95 % confidence interval, as `602.1 ± 0.8`."""
    if interval is None or interval["mean"] is None:
        return "-"
    half = interval["half_width_95"]
    digits = max(digits, 1) if half is not None and scale == 1 else digits
    mean = f"{interval['mean'] * scale:,.{digits}f}"
    return mean if half is None else f"{mean} ± {half * scale:,.{digits}f}"


def _add_block(table: Table, flows: list[dict[str, Any]], columns: list[tuple[Column, Shown]]) -> None:
    """Add the flows of one stack, and their sum if there are too many to show."""
    for flow in flows[:SHOWN_FLOWS]:
        cells = [cell(flow.get(one.name), look.scale, look.digits) for one, look in columns]
        table.add_row(flow["name"], flow["stack"], *cells)
    if len(flows) > SHOWN_FLOWS:
        total = sum(f["throughput_bytes_per_s"]["mean"] for f in flows) / 1e3
        table.add_row(f"all {len(flows):,}", "", f"{total:,.1f}")
    if len(flows) > 1:
        table.add_section()


def _flow_table(blocks: list[list[dict[str, Any]]]) -> Table:
    """The means of each flow, block by block."""
    flows = [flow for block in blocks for flow in block]
    some = {one.name: any(flow.get(one.name) and flow[one.name]["mean"] for flow in flows) for one, _ in shown("flow")}
    columns = [(one, look) for one, look in shown("flow") if some[one.name] or not look.seldom]
    table = empty_table(["flow", "stack", *(look.heading for _, look in columns)], left={"flow", "stack"})
    for block in blocks:
        _add_block(table, block, columns)
    return table


def print_run(result: dict[str, Any]) -> None:
    """Print the means of each flow, in one block for each requested stack, and the drops of the links."""
    out, runs, flows = console(), result["runs"], result["flows"]
    size = len(runs[0]["flows"])
    blocks = [flows[i : i + size] for i in range(0, len(flows), size)]
    seeds = len(runs) // len(blocks)
    seeds_text = f"seed {runs[0]['seed']}" if seeds == 1 else f"{seeds} seeds, means with 95 % confidence intervals"
    out.print(f"{result['scenario']}: {runs[0]['duration_s']:g} s simulated, {seeds_text}", markup=False)
    out.print(_flow_table(blocks))
    for note in unused_notes(runs):
        out.print(note, markup=False, soft_wrap=True)
    if len(blocks) == 1:
        _print_drops(out, runs[0])
    if "measures" in runs[0]:
        print_measures(out, [runs[i : i + seeds] for i in range(0, len(runs), seeds)])
    if "stalls" in runs[0]:
        _print_stalls(out, runs)
    if len(runs) == 1:
        out.print(f"trace {runs[0]['trace_hash']}", markup=False, soft_wrap=True)


def _print_stalls(out: Console, runs: list[dict[str, Any]]) -> None:
    """Print the longest stalls of all runs, each with its sentences."""
    stalls = [(stall, run["seed"]) for run in runs for stall in run["stalls"]]
    stalls.sort(key=lambda row: -row[0]["duration_s"])
    shown = stalls[:SHOWN_STALLS]
    count = f"{len(stalls)} stall{'s' * (len(stalls) != 1)}"
    out.print(f"{count}, the {len(shown)} longest" if len(stalls) > len(shown) else count)
    for stall, seed in shown:
        out.print(f"{stall['title']} ({stall['flow']}, {stall['stack']}, seed {seed})", markup=False, soft_wrap=True)
        for sentence in stall["sentences"]:
            out.print(f"  {sentence['time_s']:.3f} s  {sentence['text']}", markup=False, soft_wrap=True)


def print_live_path(result: dict[str, Any]) -> None:
    """Print a live run: notes, its flows compared with simulated ones, the kernel's counters, and lateness."""
    out, run, live, simulated = console(), result["runs"][0], result["live"], result["simulated"]
    out.print(f"{result['scenario']}: {run['duration_s']:g} s live, seed {run['seed']}", markup=False)
    for note in live["notes"]:
        out.print(f"  {note}", markup=False, soft_wrap=True)
    blocks = [result["flows"]]
    if simulated is not None:
        seeds = len(simulated["runs"])
        label = f", {seeds} simulated seed{'s' * (seeds > 1)}"
        blocks.append([{**flow, "stack": flow["stack"] + label} for flow in simulated["flows"]])
    out.print(_flow_table(blocks))
    _print_drops(out, run)
    _print_counters(out, live["counters"], live["shown_counters"])
    out.print(_lateness(live), markup=False, soft_wrap=True)
    for side, dropped in live["device_drops"].items():
        if dropped:
            text = f"the {side}'s device dropped {dropped:,} packets: this machine was too slow for this run"
            out.print(text, markup=False, soft_wrap=True)


def _print_counters(out: Console, counters: dict[str, dict[str, int] | None], shown: list[str]) -> None:
    """Print the kernel's counters at each side that has a kernel."""
    sides = {side: found for side, found in counters.items() if found is not None}
    names = [name for name in shown if any(found.get(name) for found in sides.values())]
    if not names:
        return
    counter = "kernel's counter"
    table = empty_table([counter, *(f"at the {side}" for side in sides)], left={counter})
    for name in names:
        table.add_row(name, *(f"{found.get(name, 0):,}" for found in sides.values()))
    out.print(table)


def _lateness(live: dict[str, Any]) -> str:
    p50, p99, worst = live["late_p50_us"], live["late_p99_us"], live["late_worst_us"]
    if p99 is None:
        return f"no packet left the path; {live['priority']}"
    text = f"packets left the path late by {p50:,.0f} µs (p50), {p99:,.0f} µs (p99), {worst:,.0f} µs (worst)"
    if p99 > LATE_US:
        text += f": p99 is above {LATE_US} µs, so do not trust short times of this run"
    return f"{text}; {live['priority']}"


def _print_drops(out: Console, run: dict[str, Any]) -> None:
    for link in run["links"]:
        drops = {why: link[f"{why}_drops"] for why in ("queue", "loss", "script") if link[f"{why}_drops"]}
        if drops:
            counts = ", ".join(f"{count:,} by {why}" for why, count in drops.items())
            out.print(f"dropped {link['from']} → {link['to']} (seed {run['seed']}): {counts}", markup=False)


def print_stacks(stacks: list[dict[str, Any]]) -> None:
    """Print names and summaries."""
    _print_names("stack", {stack["name"]: stack["summary"] for stack in stacks})


def print_examples(about: Mapping[str, str]) -> None:
    """Print names and descriptions."""
    _print_names("example", about)


def print_kernels(kernels: list[Kernel]) -> None:
    """Print a row for each kernel in virtual time."""
    left = ("name", "version", "configuration", "program", "source")
    table = empty_table([*left[:2], "Hz", *left[2:]], left=left)
    for one in kernels:
        hashes = (one.configuration[:12], one.program[:12])
        table.add_row(one.name, one.version, str(one.hz), *hashes, Text(one.source))
    console().print(table)


def _print_names(kind: str, about: Mapping[str, str]) -> None:
    table = empty_table([kind, "description"], left={kind, "description"})
    table.columns[0].no_wrap = True
    for name, text in about.items():
        table.add_row(name, Text(text))
    console().print(table)


def print_live_bench(entries: list[dict[str, Any]]) -> None:
    """Print a row for each transfer of ``ackclock live bench``."""
    about = ("engine", "offload", "IP")
    numbers = ("Gb/s", "hashes", "engine CPU", "kernel CPU", "bytes/frame", "resent", "late p99 µs")
    table = empty_table(about + numbers, left=about)
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


MANY = 3
"""The number of overtaking packets at which a TCP with the usual threshold retransmits needlessly (RFC 4737 §5)."""
LEDGER = {
    "sent": "sent",
    "arrived": "arrived",
    "lost": "lost",
    "queue_drops": "  at a full queue",
    "loss_drops": "  by a loss model or an outage",
    "early_drops": "  early (RED)",
    "script_drops": "  by the script",
    "doubled": "doubled",
    "marked": "marked (ECN)",
    "under_way": "still under way",
    "device_drops": "refused: the device's queue was full",
}
"""The fates of packets. Only the first three, and counts above zero, are shown."""


def print_live_shell(result: dict[str, Any]) -> None:
    """Print the fates of packets in each direction on standard error; standard output belongs to the program."""
    out, ways = console(stderr=True), result["ways"]
    table = empty_table(["packets", *(f"{way['from']} → {way['to']}" for way in ways)], left={"packets"})
    for key, name in LEDGER.items():
        if key in {"sent", "arrived", "lost"} or any(way[key] for way in ways):
            table.add_row(name, *(f"{way[key]:,}" for way in ways))
    orders = [way["reordering"] for way in ways]
    table.add_row("overtaken", *(f"{order['reordered']:,}" for order in orders))
    if any(order["reordered"] for order in orders):
        many = [sum(count for n, count in order["n_reordered"].items() if int(n) >= MANY) for order in orders]
        most = [max(map(int, order["extents"]), default=0) for order in orders]
        table.add_row("  of the packets that arrived", *(f"{order['reordered_ratio']:.2%}" for order in orders))
        table.add_row("  overtaken by 3 or more", *(f"{n:,}" for n in many))
        table.add_row("  largest extent, packets", *(f"{extent:,}" for extent in most))
        table.add_row("  latest by, ms", *(f"{order['max_late_time_s'] * 1e3:.3f}" for order in orders))
    out.print(table)
    out.print(f"seed {result['seed']}, {result['seconds']:.3f} s; {_lateness(result)}", markup=False, soft_wrap=True)
    if result["peer_code"]:
        out.print(f"the peer ended with {result['peer_code']}")
