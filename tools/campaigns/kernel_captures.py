"""Makes the captures of this kernel's TCP in ``tests/captures/kernel``, with the truth about their retransmissions.

Each run is a real-time transfer over a path of ``scenarios/linux`` (``ackclock live path``), captured at both ends with
96 bytes of each packet. It needs Linux, root and a machine with little other load.
``tools/dev campaign linux-captures NAME...`` repeats the named runs; without names, it makes the missing ones.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "captures" / "kernel"
SNAP = 96
SEED = 1
SACK, DSACK, TIMESTAMPS = (f"net.ipv4.tcp_{name}=0" for name in ("sack", "dsack", "timestamps"))


@dataclass(frozen=True)
class Run:
    """A transfer: its path, the kernel's congestion control, disabled features, its size, and its time limit."""

    path: str
    control: str = "cubic"
    off: tuple[str, ...] = ()
    packets: int = 2000
    seconds: int = 14
    name: str = field(init=False)

    def __post_init__(self) -> None:
        words = [re.sub(r"net\.ipv4\.tcp_(\w+)=0", r"no-\1", key) for key in self.off]
        object.__setattr__(self, "name", "-".join([self.control, self.path, *words]))


RUNS = (
    Run("swap12"),
    Run("swap12", off=(TIMESTAMPS,)),
    Run("swap12", off=(DSACK,)),
    Run("swap12", off=(DSACK, TIMESTAMPS)),
    Run("swap12", off=(SACK,), packets=800, seconds=25),
    Run("swap12", "reno"),
    Run("swap12", "bbr"),
    Run("swap12-loss-1", packets=1200),
    Run("swap12-loss-1", off=(DSACK,), packets=1200),
    Run("loss-1", packets=1200),
    Run("loss-1", "reno", (SACK,), packets=600),
    Run("loss-3", packets=500, seconds=20),
    Run("loss-3", "bbr"),
    Run("loss-3-jitter", packets=500, seconds=20),
    Run("two-paths"),
    Run("two-paths", off=(TIMESTAMPS,)),
    Run("two-paths", off=(DSACK,)),
    Run("two-near-paths"),
    Run("bursts"),
    Run("bursts-swap", "reno"),
    Run("spikes-swap"),
    Run("jitter-20"),
    Run("jitter-100"),
    Run("ack-loss-swap"),
    Run("short-queue-swap"),
    Run("slow-jitter", packets=1000),
)


def scenario(run: Run) -> str:
    """Return the path's scenario with a transfer of this size."""
    text = (ROOT / "scenarios" / "linux" / f"{run.path}.toml").read_text(encoding="utf-8")
    app = f'app = {{ kind = "fixed", size = "{run.packets} packets" }}\n'
    return text.rstrip() + "\n" + app


def make(run: Run) -> dict[str, str] | None:
    """Make the captures of one run; return its line of the list, if it ended in time."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{run.path}.toml"
        file.write_text(scenario(run), encoding="utf-8")
        options = ["--sender", f"kernel:{run.control}", "--receiver", "kernel", "--seconds", str(run.seconds)]
        options += ["--seed", str(SEED), "--realtime", "--pcap-snap", str(SNAP)]
        options += [word for key in run.off for word in ("--sysctl", key)]
        command = [str(Path(sys.executable).with_name("ackclock")), "live", "path", str(file), *options]
        ran = subprocess.run(
            [*command, "--pcap", folder, "--json"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        report = json.loads(ran.stdout)
        (flow,) = report["runs"][0]["flows"]
        if flow["finish_s"] is None:
            print(f"{run.name}: not over after {run.seconds} s", file=sys.stderr, flush=True)
            return None
        for side in ("sender", "receiver"):
            raw = (Path(folder) / f"{side}.pcapng").read_bytes()
            target = FOLDER / f"{run.name}-{side}.pcapng.gz"
            # Without a timestamp, equal content gives equal files.
            target.write_bytes(gzip.compress(raw, 9, mtime=0))
        truth = (Path(folder) / "truth.csv").read_text(encoding="utf-8")
        (FOLDER / f"{run.name}-truth.csv").write_text(truth, encoding="utf-8")
    return {
        "name": run.name,
        "path": f"scenarios/linux/{run.path}.toml",
        "packets": str(run.packets),
        "retransmissions": str(flow["retransmissions"]),
        "needed": str(flow["needed_retransmissions"]),
        "refused": str(flow["refused_retransmissions"]),
        "needless": str(flow["needless_retransmissions"]),
        "late_p99_us": str(round(report["live"]["late_p99_us"])),
        "kernel": platform.release(),
        "options": " ".join(options),
    }


def main() -> None:
    """Make the requested captures, and write the list."""
    os.chdir(ROOT)
    FOLDER.mkdir(parents=True, exist_ok=True)
    listed = FOLDER / "runs.csv"
    rows: dict[str, dict[str, str]] = {}
    if listed.exists():
        with listed.open(encoding="utf-8", newline="") as file:
            rows = {row["name"]: row for row in csv.DictReader(file)}
    asked = sys.argv[1:]
    for run in RUNS:
        made = make(run) if run.name in asked or (not asked and run.name not in rows) else None
        if made is not None:
            rows[run.name] = made
            print(made, flush=True)
            order = [rows[r.name] for r in RUNS if r.name in rows]
            with listed.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, order[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(order)


if __name__ == "__main__":
    main()
