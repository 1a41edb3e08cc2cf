"""Measures Ackclock's speed, case by case, into a table and results/bench.json.

The cases of the Rust bench run interleaved with ns-2 and ns-3 on the same scenarios if these are installed.
Instructions are counted by callgrind if valgrind is installed. Rates are delivered data packets per second of processor
time, without start-up.

    tools/dev measure bench              everything: about three minutes
    tools/dev measure bench PART...      only these parts, without files: flows, heard, stacks, recording, sweep, start
    tools/dev measure bench --quick      no instruction counts, one round
    tools/dev measure bench --docs       no measurements: updates docs/speed.md from results/bench.json
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import ackclock
import instructions
import speed_page
from ackclock import _native
from instructions import LISTENERS, ROOT, bench, heard, heard_scenario, output

OUT = ROOT / "results/bench.json"
NS3 = ROOT / "crates/sim/benches/ns3/speed.cc"
NS3_LIBRARIES = ("core", "network", "internet", "point-to-point", "applications", "nix-vector-routing")
SWAPS = ROOT / "papers/blanton-allman-2002/scenario-paper.toml"
MSS = 1460
KEYS = (
    "case",
    "packets_per_cpu_s",
    "ns2_packets_per_cpu_s",
    "ratio",
    "ns3_packets_per_cpu_s",
    "ratio_ns3",
    "instructions_per_packet",
    "rss_mb",
    "per_simulated_s",
    "ns2_per_simulated_s",
    "ns3_per_simulated_s",
    "seconds",
    "machine",
)
"""Keys of every row of results/bench.json, possibly null; `…_per_simulated_s` shows that all carried equal traffic."""
COUNTED = (*instructions.CASES, "bare-1", "bare-20", "bare-100")
"""Cases with instruction counts: callgrind is fifty times slower than a normal run."""
HEARD = {"1": 20, "1-swaps": 20, "20": 10, "100": 10, "10000": 1}
"""Cases that are also run with hash and tally, and the rounds of a process: about two thirds of a second each."""
PROCESSES = 3
"""Processes for each listener of such a case. With 10,000 flows a process's later runs are a fifth slower."""
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
HEAD = "{:<34}{:>12}{:>12}{:>7}{:>9}{:>7}{:>8}{:>8}"

Row = dict[str, object]


def machine() -> str:
    """The processor's model and its number of cores."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    models = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores"


@cache
def ns3() -> Path | None:
    """Compile the program for ns-3; return ``None`` if ns-3's headers or a compiler are missing."""
    program = ROOT / "target/ns3-speed"
    if shutil.which("g++") is None or not Path("/usr/include/ns3/core-module.h").exists():
        return None
    program.parent.mkdir(exist_ok=True)
    libraries = [f"-lns3-{name}" for name in NS3_LIBRARIES]
    output("g++", "-std=c++17", "-O3", "-Wall", "-Wextra", "-o", program, NS3, *libraries)
    return program


def ratio(ours: float, theirs: float | None) -> float | None:
    """The speed-up factor, or ``None`` without a value to compare with."""
    return round(ours / theirs, 2) if theirs else None


def flows(program: Path, quick: bool) -> Iterator[Row]:
    """Measure the cases of the Rust bench."""
    other = ns3()
    words = ["--json", "--rounds", "1" if quick else "3", *(["--ns3", str(other)] if other else [])]
    for line in output(program, *words).stdout.splitlines():
        case: Mapping[str, Any] = json.loads(line)
        ours = case["packets_per_cpu_s"]
        counted = not quick and case["case"] in COUNTED and shutil.which("valgrind") is not None
        yield {
            **{key: case[key] for key in KEYS if key in case},
            "case": f"{case['case']} ({case['tcp']})",
            "ratio": ratio(ours, case["ns2_packets_per_cpu_s"]),
            "ratio_ns3": ratio(ours, case["ns3_packets_per_cpu_s"]),
            "instructions_per_packet": instructions.count(program, case["case"]) if counted else None,
            "rss_mb": round(case["peak_rss_kb"] / 1024, 1),
        }


def listening(quick: bool) -> Iterator[Row]:
    """Measure runs with hash and tally, and measured ones, against the engine alone on the same plan."""
    program = heard()
    for case, rounds in HEARD.items():
        times = dict.fromkeys(LISTENERS, 0.0)
        packets = 0.0
        processes = 1 if quick else PROCESSES
        for _ in range(processes):
            for listener in LISTENERS:
                words = ("--only", listener, "--rounds", str(1 if quick else rounds))
                found = dict(line.split() for line in output(program, heard_scenario(case), *words).stdout.splitlines())
                packets = float(found["outcome"])
                times[listener] += float(found["cpu_s"]) / processes
        for listener in LISTENERS[1:]:
            yield {
                "case": f"{listener}-{case}",
                "packets_per_cpu_s": round(packets / times[listener]),
                "ratio": round(times["alone"] / times[listener], 3),
            }


def stacks(program: Path) -> Iterator[Row]:
    """Count the instructions of every stack on the path with swaps."""
    found = instructions.counts(program, ())[1] if shutil.which("valgrind") else {}
    for stack, number in found.items():
        yield {"case": f"{instructions.STACKS_ON} ({stack})", "instructions_per_packet": number}


def recording() -> Iterator[Row]:
    """Measure one run of 600 s with swaps: without output, and with all events as Parquet and as CSV."""
    text = SWAPS.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as temporary:
        for kind in (None, "parquet", "csv"):
            trace = kind and str(Path(temporary) / f"trace.{kind}")
            before = time.process_time()
            said = json.loads(_native.run_json("swaps", text, ["sack-ff96"], [], 1, 1, trace, 1, None))
            taken = time.process_time() - before
            packets = said["runs"][0]["flows"][0]["acked_bytes"] / MSS
            yield {"case": f"ackclock run, trace: {kind or 'none'}", "packets_per_cpu_s": round(packets / taken)}


def sweep() -> Iterator[Row]:
    """Measure the speed-up of many short runs on two cores over one: the median of seven pairs."""

    def wall(threads: int) -> float:
        before = time.perf_counter()
        ackclock.run(SHORT, seeds=RUNS, threads=threads, name="short")
        return time.perf_counter() - before

    pairs = [wall(1) / wall(2) for _ in range(7)]
    yield {"case": f"{RUNS} runs of 5 s: two cores over one", "ratio": round(statistics.median(pairs), 2)}


def start() -> Iterator[Row]:
    """Measure the seconds until the package, the version or the result of a short run is there: the best of five."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(SHORT.replace('"5 s"', '"1 ms"'))
        file.flush()
        commands = {
            "import ackclock": ["-c", "import ackclock"],
            "ackclock --version": ["-m", "ackclock", "--version"],
            "ackclock run, 1 ms simulated": ["-m", "ackclock", "run", file.name, "--json"],
        }
        walls: dict[str, list[float]] = {}
        for _ in range(5):
            for case, words in commands.items():
                before = time.perf_counter()
                subprocess.run([sys.executable, *words], check=True, capture_output=True)
                walls.setdefault(case, []).append(time.perf_counter() - before)
    for case, taken in walls.items():
        yield {"case": case, "seconds": round(min(taken), 3)}


def shown(row: Row) -> str:
    """A line of the table."""

    def cell(key: str, form: str) -> str:
        value = row.get(key)
        return "" if value is None else form.format(value)

    rates = (cell("packets_per_cpu_s", "{:,}"), cell("ns2_packets_per_cpu_s", "{:,}"), cell("ratio", "{:.2f}"))
    ns3 = (cell("ns3_packets_per_cpu_s", "{:,}"), cell("ratio_ns3", "{:.0f}"))
    rest = (cell("instructions_per_packet", "{:,.0f}"), cell("rss_mb", "{:.1f}"))
    return f"{HEAD.format(str(row['case']), *rates, *ns3, *rest)} {cell('seconds', '{:.3f} s')}".rstrip()


def missing() -> Iterator[str]:
    """The simulators that are not installed."""
    if shutil.which("ns2") is None and shutil.which("ns") is None:
        yield "ns-2 is not installed (Debian: ns2), so nothing is compared with it."
    if ns3() is None:
        yield "ns-3 is not installed (Debian: libns3-dev and g++), so nothing is compared with it."


def main() -> int:
    """Measure, print each row when it is ready, and write the file."""
    words = sys.argv[1:]
    if words == ["--docs"]:
        speed_page.renew(json.loads(OUT.read_text(encoding="utf-8")))
        return 0
    quick = "--quick" in words
    program = bench()
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "flows": partial(flows, program, quick),
        "heard": partial(listening, quick),
        "recording": recording,
        "sweep": sweep,
        "start": start,
        "stacks": partial(stacks, program),
    }
    wanted = [word for word in words if word != "--quick"]
    if unknown := [word for word in wanted if word not in parts]:
        sys.exit(f"{unknown[0]}: no such part; there are {', '.join(parts)}")
    for line in missing():
        print(line)
    print(HEAD.format("case", "packets/s", "ns-2", "ratio", "ns-3", "ratio", "instr.", "MB"))
    rows: list[Row] = []
    for name in wanted or [name for name in parts if not (quick and name == "stacks")]:
        for row in parts[name]():
            rows.append({**dict.fromkeys(KEYS), **row, "machine": machine()})
            print(shown(row), flush=True)
    if not wanted:
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
