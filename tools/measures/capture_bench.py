"""Measures the speed of capture analysis, compared with tshark and tcptrace if they are installed.

    tools/dev measure captures           1 GB of full packets; 20 million 96-byte snaps of 128 and of 10,000 connections
    tools/dev measure captures --quick   a twentieth of that

The files contain the same transfers under loss and reordering every time. They are in memory (the page cache) before
timing starts. The fastest round of each case counts. `cpu` is the processor time, ours of the single thread; on a busy
machine it is more reliable than elapsed time. The last figures are the private memory of the program, and the resident
pages of the mapped file, which the system can reclaim. The other programs get a smaller file, because the whole one
takes them minutes.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "results/capture-bench.json"
ROUNDS = 3
FULL = "1 GB of full packets, 128 connections"
FILES = {
    FULL: ("--flows", "128", "--packets", "1000000"),
    "96-byte snaps, 128 connections": ("--flows", "128", "--packets", "20000000", "--snap", "96"),
    "96-byte snaps, 10,000 connections": ("--flows", "10000", "--packets", "20000000", "--snap", "96"),
}
GOALS = "goals of `analyse`: 3 GB/s on full packets, 15 M packets/s on snaps, at most 250 MB for 10,000 connections"
OTHERS = {
    "tshark": ("tshark", "-n", "-q", "-z", "conv,tcp", "-r"),
    "tcptrace": ("tcptrace", "-n"),
}
SMALL = 100_000
"""Packets in the file for the other programs."""
PATIENCE = 120.0
"""Their time limit, in seconds."""


def program() -> Path:
    """Build the example and return its path."""
    command = [
        "cargo",
        "build",
        "--quiet",
        "--release",
        "--locked",
        "-p",
        "ackclock-capture",
        "--example",
        "capture_bench",
    ]
    subprocess.run(command, check=True, cwd=ROOT)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/capture_bench"


def measured(bench: Path, what: str, file: Path) -> dict[str, float]:
    """Measure a case; return the fastest of several rounds."""
    rounds = []
    for _ in range(ROUNDS):
        done = subprocess.run([bench, what, file], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        rounds.append({name: float(value) for name, value in json.loads(done.stdout).items()})
    return min(rounds, key=lambda one: one["cpu_seconds"] or one["seconds"])


def row(name: str, of: dict[str, float]) -> str:
    """A line of the table."""
    rates = [
        f"{of['bytes'] / 1e9 / of[clock]:6.2f} GB/s {of['packets'] / 1e6 / of[clock]:7.2f} M packets/s"
        for clock in ("seconds", "cpu_seconds")
        if of.get(clock)
    ]
    memory = f"  {of['memory_bytes'] / 1e6:.0f} MB" if of.get("memory_bytes") else ""
    memory += f" and {of['mapped_bytes'] / 1e6:.0f} MB of the file" if of.get("mapped_bytes") else ""
    return f"  {name:9} {'   cpu: '.join(rates)}{memory}"


def children_on_cpu() -> float:
    """Return the processor time of all programs that have ended, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def others(folder: Path, bench: Path, flows: str) -> dict[str, dict[str, float]]:
    """Measure other programs on a small file, and name those not installed."""
    file = folder / "small.pcap"
    subprocess.run([bench, "make", file, "--flows", flows, "--packets", str(SMALL)], check=True)
    found = {"analyse": measured(bench, "analyse", file)}
    for name, command in OTHERS.items():
        if shutil.which(command[0]) is None:
            print(f"  {name:9} is not installed")
            continue
        begin, on_cpu, void = time.perf_counter(), children_on_cpu(), subprocess.DEVNULL
        try:
            subprocess.run([*command, file], check=True, timeout=PATIENCE, stdin=void, stdout=void, stderr=void)
        except subprocess.TimeoutExpired:
            print(f"  {name:9} took more than {PATIENCE:.0f} s")
            continue
        except subprocess.CalledProcessError as error:
            print(f"  {name:9} failed: {error}")
            continue
        found[name] = {
            "seconds": time.perf_counter() - begin,
            "cpu_seconds": children_on_cpu() - on_cpu,
            "bytes": file.stat().st_size,
            "packets": found["analyse"]["packets"],
        }
    for name, of in found.items():
        print(row(name, of), flush=True)
    file.unlink()
    return found


def main(arguments: list[str]) -> int:
    """Measure all cases, print a table, and write it into results/capture-bench.json."""
    quick = "--quick" in arguments
    bench = program()
    cases: dict[str, dict[str, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory(dir=bench.parent) as folder:
        file = Path(folder) / "capture.pcap"
        for name, how in FILES.items():
            words = [
                str(int(word) // 20) if before == "--packets" and quick else word
                for before, word in zip(("", *how), how, strict=False)
            ]
            subprocess.run([bench, "make", file, *words], check=True)
            print(f"{name}: {file.stat().st_size / 1e9:.2f} GB", flush=True)
            cases[name] = {what: measured(bench, what, file) for what in ("headers", "analyse")}
            for what, of in cases[name].items():
                print(row(what, of), flush=True)
            file.unlink()
        print(f"{SMALL} full packets, 128 connections, beside others:")
        cases["beside others"] = others(Path(folder), bench, "128")
    print(GOALS)
    if not quick:
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps(cases, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
