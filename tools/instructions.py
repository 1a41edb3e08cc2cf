"""Counts instructions per delivered packet with callgrind and compares with tools/instructions.toml, within 2 %.

`--write` keeps the numbers found instead. Counts depend on the compiler: with another than the one named in the file
only the upper limit is checked.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tools/instructions.toml"
CASES = ["1", "100"]
LIMITS = {"1": 2000.0}
TOLERANCE = 0.02
HEADER = (
    "# Instructions per delivered data packet, by case of the bench `speed`; renew: tools/instructions.py --write\n"
)


def output(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command in the repository; end with its own words if it fails."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def bench() -> Path:
    """Build the speed bench and return its executable."""
    build = ["cargo", "bench", "--locked", "--package=ackclock-sim", "--bench=speed", "--no-run"]
    for line in output(*build, "--message-format=json").stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "speed":
            return Path(message["executable"])
    sys.exit("cargo did not name the executable of the bench `speed`")


def count(program: Path, case: str) -> float:
    """Instructions per delivered packet of one case, laying it out included."""
    ran = output("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "--case", case)
    collected = re.search(r"Collected\s*:\s*(\d+)", ran.stderr)
    packets = re.search(r"^outcome (\S+)", ran.stdout, re.MULTILINE)
    if not collected or not packets or float(packets[1]) == 0:
        sys.exit(f"case {case}: callgrind or the bench said nothing:\n{ran.stdout}{ran.stderr}")
    return int(collected[1]) / float(packets[1])


def judge(case: str, found: float, kept: float | None) -> str:
    """What is wrong with a count, or nothing."""
    if found > LIMITS.get(case, float("inf")):
        return f"more than {LIMITS[case]:.0f}"
    if kept is not None and abs(found / kept - 1) > TOLERANCE:
        return f"{found / kept - 1:+.1%} against {kept:.1f}; if that is meant: tools/instructions.py --write"
    return ""


def main() -> int:
    """Count every case; compare or keep."""
    compiler = output("rustc", "--version").stdout.strip()
    kept = tomllib.loads(KEPT.read_text(encoding="utf-8"))
    comparable = kept["compiler"] == compiler
    program = bench()
    found = {case: count(program, case) for case in CASES}
    if sys.argv[1:] == ["--write"]:
        lines = "".join(f'"{case}" = {number:.1f}\n' for case, number in found.items())
        KEPT.write_text(f'{HEADER}compiler = "{compiler}"\n\n[per_packet]\n{lines}', encoding="utf-8")
        return 0
    failed = 0
    for case, number in found.items():
        wrong = judge(case, number, kept["per_packet"][case] if comparable else None)
        failed += bool(wrong)
        print(f"{case:>6} flows: {number:8.1f} instructions per delivered packet  {wrong or 'as kept'}")
    if not comparable:
        print(f"counted with {kept['compiler']}; this is {compiler}, so only the limits were checked")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
