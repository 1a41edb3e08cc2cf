"""Measures the cost of AVG-DEV and FA (Leung & Ma 2005, Table 3) into papers/leung-ma-2005/reference/cost.csv.

`state_bytes`: memory of the rule after 10,000 events. `instructions_per_event`: instructions of the rule alone, by
callgrind, over the same events for both. `instructions`: all instructions of a sender for `acks` ACKs on the paper's
path, f = 1, 100 s of seed 1; Table 3 has the seconds for the same work.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import ackclock

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "papers/leung-ma-2005"
STACKS = {"avg-dev": "AVG-DEV", "rr-tcp": "FA"}
EVENTS = 10_000
EXAMPLES = ROOT / "target/release/examples"
CALLGRIND = ["valgrind", "--tool=callgrind"]


def output(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command in the repository; if it fails, exit with its output."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def alone(stack: str, events: int) -> tuple[int, int]:
    """The bytes held by a stack's rule after this number of events, and the instructions of the whole program."""
    ran = output(*CALLGRIND, "--callgrind-out-file=/dev/null", EXAMPLES / "threshold", stack, str(events))
    collected = re.search(r"Collected\s*:\s*(\d+)", ran.stderr)
    if not collected:
        sys.exit(f"callgrind printed nothing:\n{ran.stderr}")
    return int(ran.stdout), int(collected[1])


def received(stack: str, folder: Path) -> tuple[int, int]:
    """The ACKs that a stack's sender received on the paper's path, and its instructions for them."""
    text = (FOLDER / "scenario-single.toml").read_text(encoding="utf-8")
    scenario, trace, profile = folder / "scenario.toml", folder / "trace.parquet", folder / "callgrind.out"
    short = re.sub(r'^duration = "[^"]*"', 'duration = "100 s"', text, flags=re.MULTILINE)
    scenario.write_text(short, encoding="utf-8")
    events = ackclock.run(scenario, stack=stack, seed=1, trace=trace).events
    acks = len(events.filter((events["side"] == "sender") & (events["event"] == "delivered")))
    output(*CALLGRIND, f"--callgrind-out-file={profile}", EXAMPLES / "run", scenario, stack)
    listed = output("callgrind_annotate", "--inclusive=yes", "--threshold=100", profile).stdout
    # The receiver's end is a connection as well.
    both, receiver = (
        inclusive(listed, f"{end}::on_segment") for end in ("connection::Connection", "receiver::Receiver")
    )
    return acks, both - receiver


def inclusive(listed: str, function: str) -> int:
    """Instructions of a function and its callees: the largest value listed for its source files."""
    found = re.findall(rf"^\s*([\d,]+) .*?ackclock_tcp::{function} ?(?:\[|\(|$)", listed, flags=re.MULTILINE)
    if not found:
        sys.exit(f"callgrind saw no {function}")
    return max(int(number.replace(",", "")) for number in found)


def row(stack: str) -> dict[str, object]:
    """A line of the table."""
    (state, most), (_, least) = alone(stack, EVENTS), alone(stack, 0)
    with tempfile.TemporaryDirectory() as temporary:
        acks, instructions = received(stack, Path(temporary))
    return {
        "stack": stack,
        "threshold": STACKS[stack],
        "state_bytes": state,
        "instructions_per_event": f"{(most - least) / EVENTS:.1f}",
        "acks": acks,
        "instructions": instructions,
        "instructions_per_ack": f"{instructions / acks:.1f}",
    }


def main() -> None:
    """Measure both and write the table."""
    for package, example in (("tcp", "threshold"), ("lab", "run")):
        output("cargo", "build", "--release", "--locked", f"--package=ackclock-{package}", f"--example={example}")
    rows = [row(stack) for stack in STACKS]
    with (FOLDER / "reference/cost.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
