"""Measures how fast Ackclock is, case by case, into a table and results/bench.json.

The Rust bench's cases run interleaved with ns-2 on the same scenario where ns-2 is installed; instructions are
callgrind's where valgrind is. Rates are delivered data packets per second of processor time, start-up not counted.

    tools/bench.py              all of it: two and a half minutes
    tools/bench.py --quick      no instructions, one round
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from instructions import ROOT, bench, output

import ackclock
from ackclock import _native

OUT = ROOT / "results/bench.json"
SWAPS = ROOT / "papers/blanton-allman-2002/scenario-paper.toml"
MSS = 1460
KEYS = (
    "case",
    "packets_per_cpu_s",
    "ns2_packets_per_cpu_s",
    "ratio",
    "instructions_per_packet",
    "rss_mb",
)
COUNTED = ("1", "1-swaps", "20", "100", "bare-1", "bare-20", "bare-100")
"""Cases whose instructions are counted: callgrind is fifty times slower than the machine."""
SHORT = """
[run]
duration = "5 s"
[[link]]
from = "S"
to = "D"
rate = "5 Mbps"
delay = "20 ms"
queue = "50 packets"
elements = [{ kind = "bernoulli", p = 0.005 }]
back = { elements = [] }
[[flow]]
from = "S"
to = "D"
stack = "rfc-6675"
"""
RUNS = 1000

Row = dict[str, object]


def counted(program: Path, *words: str) -> float | None:
    """Instructions for each delivered packet; None without valgrind."""
    if shutil.which("valgrind") is None:
        return None
    ran = output("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), *words)
    collected = re.search(r"Collected\s*:\s*(\d+)", ran.stderr)
    packets = re.search(r"^outcome (\S+)", ran.stdout, re.MULTILINE)
    return int(collected[1]) / float(packets[1]) if collected and packets else None


def simulator(program: Path, quick: bool) -> Iterator[Row]:
    """The cases of the Rust bench."""
    rounds = "1" if quick else "3"
    for line in output(str(program), "--json", "--rounds", rounds).stdout.splitlines():
        case: Mapping[str, Any] = json.loads(line)
        ours, theirs = case["packets_per_cpu_s"], case["ns2_packets_per_cpu_s"]
        instructions = None if quick or case["case"] not in COUNTED else counted(program, "--case", case["case"])
        yield {
            "case": f"{case['case']} ({case['tcp']})",
            "packets_per_cpu_s": ours,
            "ns2_packets_per_cpu_s": theirs,
            "ratio": round(ours / theirs, 2) if theirs else None,
            "instructions_per_packet": instructions and round(instructions, 1),
            "rss_mb": round(case["peak_rss_kb"] / 1024, 1),
        }


def stacks(program: Path) -> Iterator[Row]:
    """Instructions of every stack on the path with swaps."""
    for stack in ackclock.stacks():
        instructions = counted(program, "--case", "1-swaps", "--stack", stack["name"])
        yield {"case": f"1-swaps ({stack['name']})", "instructions_per_packet": instructions and round(instructions, 1)}


def recorded() -> Iterator[Row]:
    """One run with swaps, 600 s: nothing written, and all its events as Parquet and as CSV."""
    text = SWAPS.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as temporary:
        for kind in (None, "parquet", "csv"):
            trace = kind and str(Path(temporary) / f"trace.{kind}")
            before = time.process_time()
            said = json.loads(_native.run_json("swaps", text, ["sack-ff96"], [], 1, 1, trace, 1, None))
            taken = time.process_time() - before
            packets = said["runs"][0]["flows"][0]["acked_bytes"] / MSS
            yield {"case": f"ackclock run, trace: {kind or 'none'}", "packets_per_cpu_s": round(packets / taken)}


def sweep() -> Row:
    """How much sooner many short runs are done on two cores than on one."""
    walls = []
    for threads in (1, 2):
        before = time.perf_counter()
        ackclock.run(SHORT, seeds=RUNS, threads=threads, name="short")
        walls.append(time.perf_counter() - before)
    return {"case": f"{RUNS} runs of 5 s: two cores over one", "ratio": round(walls[0] / walls[1], 2)}


def start() -> Row:
    """Seconds from `ackclock run` to its end with next to nothing to simulate: the best of five."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(SHORT.replace('"5 s"', '"1 ms"'))
        file.flush()
        command = [sys.executable, "-m", "ackclock", "run", file.name, "--json"]
        walls = []
        for _ in range(5):
            before = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            walls.append(time.perf_counter() - before)
    return {"case": "ackclock run, 1 ms simulated", "seconds": round(min(walls), 3)}


def shown(row: Row) -> str:
    """A line of the table."""

    def cell(key: str, form: str) -> str:
        value = row.get(key)
        return "" if value is None else form.format(value)

    rates = (cell("packets_per_cpu_s", "{:,}"), cell("ns2_packets_per_cpu_s", "{:,}"), cell("ratio", "{:.2f}"))
    rest = (cell("instructions_per_packet", "{:,.0f}"), cell("rss_mb", "{:.1f}"), cell("seconds", "{:.3f} s"))
    return "{:<42}{:>12}{:>12}{:>7}{:>8}{:>8} {}".format(str(row["case"]), *rates, *rest).rstrip()


def main() -> None:
    """Measure, print as it comes, write."""
    quick = "--quick" in sys.argv[1:]
    program = bench()
    if shutil.which("ns2") is None and shutil.which("ns") is None:
        print("ns-2 is not installed (Debian: ns2), so nothing is compared with it.")
    print("{:<42}{:>12}{:>12}{:>7}{:>8}{:>8}".format("case", "packets/s", "ns-2", "ratio", "instr.", "MB"))
    rows: list[Row] = []
    for part in (simulator(program, quick), recorded(), (one() for one in (sweep, start))):
        for row in part:
            rows.append(row)
            print(shown(row), flush=True)
    if not quick:
        for row in stacks(program):
            rows.append(row)
            print(shown(row), flush=True)
    OUT.parent.mkdir(exist_ok=True)
    complete = [{**dict.fromkeys(KEYS), **row} for row in rows]
    OUT.write_text(json.dumps(complete, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
