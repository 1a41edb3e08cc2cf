"""Captures as tables for people. Imported late, because rich takes longer to load than a small capture."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from ackclock.captures.fitting import Fit, WhatIf
from ackclock.tables.printed import console

SHOWN = 50
"""The number of flows shown; all of them are in the JSON and in the tables."""
LEAST = 0.005
"""Displacements with a smaller share of the packets are combined."""
SHORT_S = 0.1
"""Shorter times are shown in milliseconds."""
NAMES = {
    "udp": "UDP",
    "quic": "QUIC",
    "ipsec": "IPsec",
    "wireguard": "WireGuard",
    "icmp": "ICMP",
    "sctp": "SCTP",
    "arp": "ARP",
    "fragment": "fragments of IP packets",
    "other_ip": "other IP",
    "not_ip": "frames without IP",
    "unknown_link": "frames of an unknown link type",
    "headers_cut": "frames cut within their headers",
    "broken": "frames with broken headers",
}


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for column in columns:
        left = column in {
            "flow",
            "options",
            "captured",
            "longest stall",
            "verdict",
            "evidence",
            "cause",
            "order by",
            "format",
        }
        table.add_column(column, justify="left" if left else "right", overflow="fold")
    return table


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:,.1f}"


def _span(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < SHORT_S else f"{seconds:,.2f} s"


def _options(options: dict[str, Any]) -> str:
    names = [("sack", "SACK"), ("dsack_seen", "DSACK"), ("timestamps", "timestamps"), ("ecn", "ECN")]
    used = [name for key, name in names if options[key]]
    scale = options["window_scale"]
    return ", ".join([*used, *([] if scale is None else [f"scale {scale}"])]) or "none seen"


def _main(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [flow for flow in result["flows"] if flow["main"]]


def print_flows(result: dict[str, Any]) -> None:
    """Print a row for each connection: the direction with more data, and the evidence for the place of capture."""
    flows = sorted(_main(result), key=lambda flow: -flow["bytes"])
    if not flows:
        return
    table = _table(
        "flow",
        "bytes",
        "kB/s",
        "RTT min/med/p95 ms",
        "resent",
        "needed",
        "needless",
        "refused",
        "undecided",
        "reordered",
        "extent",
        "longest stall",
        "options",
        "captured",
    )
    for flow in flows[:SHOWN]:
        counts, order, stall = flow["retransmissions"], flow["reordering"], flow["stalls"]["longest"]
        goodput = flow["goodput_bytes_per_s"]
        table.add_row(
            flow["flow"],
            f"{flow['bytes']:,}",
            "-" if goodput is None else f"{goodput / 1e3:,.1f}",
            " / ".join(_ms(flow[f"rtt_{which}_s"]) for which in ("min", "median", "p95")),
            *(f"{counts[key]:,}" for key in ("total", "needed", "needless", "refused", "undecided")),
            "-" if order is None else f"{order['ratio']:.2%}",
            "-" if order is None or order["median_extent"] is None else f"{order['median_extent']:,}",
            "-" if stall is None else f"{_span(stall['duration_s'])}, {stall['cause']}",
            _options(flow["options"]),
            flow["captured"]["at"],
        )
    out = console()
    out.print(table)
    why = sorted({(flow["captured"]["at"], flow["captured"]["why"]) for flow in flows[:SHOWN]})
    for place, reason in why[:5]:
        out.print(f"captured {place}: {reason}", markup=False, soft_wrap=True)
    if likely := sum(flow["retransmissions"]["likely"] for flow in flows):
        out.print(f"{likely:,} of the verdicts are likely, not certain; --retransmissions lists them")
    if len(flows) > SHOWN:
        out.print(f"{len(flows) - SHOWN:,} smaller flows are not shown; --json and --parquet have all of them")


def print_datagrams(result: dict[str, Any]) -> None:
    """Print a row for each source of UDP with sequence numbers."""
    rows = sorted(result["datagrams"], key=lambda row: -row["bytes"])
    if not rows:
        return
    table = _table(
        "flow", "format", "packets", "bytes", "lost", "share lost", "twice", "reordered", "extent", "late max ms"
    )
    for row in rows[:SHOWN]:
        order = row["reordering"]
        table.add_row(
            row["flow"],
            row["format"] if row["ssrc"] is None else f"{row['format']} {row['ssrc']:#010x}",
            f"{row['packets']:,}",
            f"{row['bytes']:,}",
            f"{row['lost']:,}",
            f"{row['lost_ratio']:.2%}",
            f"{order['duplicates']:,}",
            f"{order['ratio']:.2%}",
            "-" if order["median_extent"] is None else f"{order['median_extent']:,}",
            _ms(order["max_late_time_s"]),
        )
    console().print(table)
    if len(rows) > SHOWN:
        console().print(f"{len(rows) - SHOWN:,} smaller ones are not shown; --json and --parquet have all of them")


def print_retransmissions(result: dict[str, Any]) -> None:
    """Print each retransmission: verdict, evidence, and the frame to look at."""
    for flow in result["flows"]:
        each = flow["each_retransmission"]
        if not each:
            continue
        table = _table("frame", "time s", "offset", "bytes", "sent before", "verdict", "evidence")
        for one in each:
            offset = one["offset_bytes"]
            table.add_row(
                f"{one['frame']:,}",
                f"{one['time_s']:.6f}",
                "-" if offset is None else f"{offset:,}",
                f"{one['len_bytes']:,}",
                f"{one['copies_before']:,}",
                f"likely {one['verdict']}" if one["likely"] else one["verdict"],
                one["evidence"],
            )
        _titled(flow, table)
    if not any(flow["each_retransmission"] for flow in result["flows"]):
        console().print("nothing was retransmitted")


def print_reordering(result: dict[str, Any]) -> None:
    """Print RFC 4737's metrics of each direction, and RFC 5236's densities if there are any."""
    known = [flow for flow in result["flows"] if flow["reordering"] is not None]
    table = _table(
        "flow",
        "order by",
        "packets",
        "reordered",
        "share",
        "extent med",
        "max",
        "late max ms",
        "offset max",
        "discont.",
    )
    for flow in known:
        order = flow["reordering"]
        table.add_row(
            flow["flow"],
            order["told_by"],
            f"{order['packets']:,}",
            f"{order['reordered']:,}",
            f"{order['ratio']:.3%}",
            "-" if order["median_extent"] is None else f"{order['median_extent']:,}",
            f"{max(map(int, order['extents']), default=0):,}",
            _ms(order["max_late_time_s"]),
            f"{order['max_byte_offset_bytes']:,}",
            f"{order['discontinuities']:,}",
        )
    if known:
        console().print(table)
    for flow in known:
        for key, name in (("reorder_density", "RD"), ("buffer_occupancy_density", "RBD")):
            density = flow["reordering"].get(key)
            if density and set(density) != {"0"}:
                console().print(f"{flow['flow']}: {name} {_density(density)}", markup=False, soft_wrap=True)


def _density(density: dict[str, float]) -> str:
    """The displacements with at least half a percent of the packets, and the share of the others."""
    large = {int(n): share for n, share in density.items() if share >= LEAST}
    said = ", ".join(f"{n}: {share:.5f}" for n, share in sorted(large.items()))
    if not (others := [share for share in density.values() if share < LEAST]):
        return said
    return f"{said}{', ' if said else ''}{len(others)} others together: {sum(others):.5f}"


def print_stalls(result: dict[str, Any]) -> None:
    """Print each stall: its cause, the evidence, and its frames."""
    for flow in result["flows"]:
        if not flow["each_stall"]:
            continue
        table = _table("time s", "took", "cause", "evidence", "frames")
        for stall in flow["each_stall"]:
            table.add_row(
                f"{stall['start_s']:.6f}",
                _span(stall["duration_s"]),
                stall["cause"],
                stall["evidence"],
                f"{stall['frame_before']:,} to {stall['frame_after']:,}",
            )
        _titled(flow, table)
        if (more := flow["stalls"]["count"] - len(flow["each_stall"])) > 0:
            console().print(f"{more:,} shorter ones are only counted")
    if not any(flow["each_stall"] for flow in result["flows"]):
        console().print("no stalls")


def _titled(flow: dict[str, Any], table: Table) -> None:
    out = console()
    out.print(flow["flow"], markup=False)
    out.print(table)


def print_files(result: dict[str, Any]) -> None:
    """Print the traffic that was not analysed, and the damage, for each file."""
    out = console()
    for remark in result["remarks"]:
        out.print(remark, markup=False, soft_wrap=True)
    for file in result["files"]:
        skipped = file["skipped"]
        held = ", ".join(f"{said['packets']:,} of {NAMES[kind]}" for kind, said in skipped.items())
        if file["segments"] == 0 and not any(row["file"] == file["file"] for row in result["datagrams"]):
            out.print(f"{file['file']} holds no TCP; its packets: {held or 'none'}", markup=False, soft_wrap=True)
        elif not any(file["file"] in {row["file"], row["receiver_file"]} for row in result["flows"]) and not (
            file["not_chosen"] or any(row["file"] == file["file"] for row in result["datagrams"])
        ):
            of = "1 connection" if file["connections"] == 1 else f"{file['connections']:,} connections"
            said = f"TCP without data: {file['segments']:,} segments of {of}"
            out.print(
                f"{file['file']} holds {said}{f'; not analysed: {held}' if held else ''}", markup=False, soft_wrap=True
            )
        elif held:
            out.print(f"{file['file']}: not analysed, packets: {held}", markup=False, soft_wrap=True)
        counts = [
            ("repeats", "packets were captured twice and count once"),
            ("dropped_by_capture", "packets were dropped by the capture, according to the file"),
            ("cut_by_limit", "connections were ended by --limit"),
            ("left_out", "connections with fewer bytes were left out by --limit"),
            ("options_cut", "segments have truncated options"),
            ("mptcp_joins", "connections are parts of a Multipath TCP connection"),
        ]
        for key, words in counts:
            if file[key]:
                out.print(f"{file['file']}: {file[key]:,} {words}", markup=False, soft_wrap=True)
        if file["damage"]["count"]:
            damage = f"{file['damage']['count']:,} damaged places; the first is {file['damage']['first']}"
            out.print(f"{file['file']}: {damage}", markup=False, soft_wrap=True)


def print_fit(found: Fit) -> None:
    """Print the estimate of each number of a fitted path."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for column in ("path", "", "value", "from", "to", "how"):
        table.add_column(column, justify="right" if column in {"value", "from", "to"} else "left", overflow="fold")
    for p in found.parameters:
        unit = f" ({p.unit})" if p.unit else ""
        numbers = [f"{value:,.4g}" for value in (p.value, p.low, p.high)]
        table.add_row(f"{p.name}{unit}", p.mark, *numbers, p.how)
    console().print(table)


def print_what_if(answer: WhatIf) -> None:
    """Print a row for the repeated capture, and one for each other sender."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for column in ("sender", "seconds", "from", "to", "captured", "unfinished"):
        table.add_column(column, justify="left" if column == "sender" else "right")
    for row in (answer.own, *answer.others):
        name = f"{row.stack} (the capture's own)" if row is answer.own else row.stack
        times = [f"{value:,.4g}" for value in (row.seconds, row.low, row.high, answer.seconds)]
        table.add_row(name, *times, str(row.unfinished))
    console().print(table)
