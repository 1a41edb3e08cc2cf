"""Counts instructions per delivered packet with callgrind and compares them with tools/instructions.toml, within 5 %.

`--write` stores the new numbers instead. `--bounded`, the form of `make test`, needs one build: of the engine alone,
with some cases and stacks. Counts depend on the compiler. With a compiler other than the one named in the file, only
the limits (`at_most`) are checked.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tools/instructions.toml"
CASES = ("1", "1-swaps", "20", "100")
"""Cases of the bench `speed`, with their own stacks."""
STACKS_ON = "1-swaps"
"""The case that every stack runs."""
LISTENERS = ("alone", "heard", "measured")
"""The runs of the example `heard`: without a listener, with hash and tally, and measured as well."""
HEARD = ("1", "1-swaps", "20")
"""Cases of which these are counted, as scenario files."""
PATHS = (
    "papers/leung-ma-2005/scenario-single.toml",
    "papers/leung-ma-2005/scenario-multipath.toml",
    "python/ackclock/arena/paths/judgement/bloat-jitter.toml",
)
"""Scenario files whose paths reorder packets: by a redrawn delay, by two paths, and by jitter; without a listener."""
HEARD_SECONDS = 60
BOUNDED = ("1", "1-swaps", "20")
BOUNDED_STACKS = (
    "newreno", "dsack-avg", "rack-tlp", "linux-2025", "linux-bbr-2025", "quic-9002", "tcp-pr", "late",
)  # fmt: skip
"""One stack of each kind of detector, and both kinds of pacing."""
TOLERANCE = 0.05
MEANT = "if that is intended: tools/dev measure instructions --write"
HEADER = """\
# Instructions per delivered data packet, by case of the bench `speed` and, on the path with swaps, by stack.
# `heard` is the cost of the hash and the tally of `ackclock run`, `measured` the additional cost of measures.
# `paths` are scenario files whose paths reorder packets, without a listener.
# Renew: tools/dev measure instructions --write. Written by hand: `at_most`, and in `above` why a stack takes more.
"""


@dataclass(frozen=True)
class Kept:
    """The content of tools/instructions.toml."""

    compiler: str
    at_most: Mapping[str, float]
    """Limits by case, and for `stacks`."""
    above: Mapping[str, str] = field(default_factory=dict)
    """Stacks that may exceed the limit, with the reason."""
    cases: Mapping[str, float] = field(default_factory=dict)
    stacks: Mapping[str, float] = field(default_factory=dict)
    heard: Mapping[str, float] = field(default_factory=dict)
    measured: Mapping[str, float] = field(default_factory=dict)
    paths: Mapping[str, float] = field(default_factory=dict)

    def only(self, cases: Sequence[str], stacks: Sequence[str]) -> Kept:
        """The numbers of these cases and stacks."""
        above = {name: why for name, why in self.above.items() if name in stacks}
        return Kept(
            self.compiler, self.at_most, above, {name: self.cases[name] for name in cases if name in self.cases},
            {name: self.stacks[name] for name in stacks if name in self.stacks},
        )  # fmt: skip


def read(text: str) -> Kept:
    """Parse the file's text."""
    return Kept(**tomllib.loads(text))


def written(kept: Kept) -> str:
    """Format the file's text."""

    def table(name: str, entries: Mapping[str, float | str]) -> str:
        values = ((key, json.dumps(v) if isinstance(v, str) else str(v)) for key, v in entries.items())
        return f"\n[{name}]\n" + "".join(f'"{key}" = {value}\n' for key, value in values)

    names = ("at_most", "above", "cases", "stacks", "heard", "measured", "paths")
    return f'{HEADER}compiler = "{kept.compiler}"\n' + "".join(table(name, getattr(kept, name)) for name in names)


def output(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command in the repository; if it fails, exit with its output."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def bench() -> Path:
    """Build the speed bench and return its executable."""
    return built("speed", "bench", "--package=ackclock-sim", "--bench=speed", "--no-run")


def built(name: str, *words: str) -> Path:
    """Build with cargo and return the executable of this name."""
    for line in output("cargo", *words, "--locked", "--message-format=json").stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == name:
            return Path(message["executable"])
    sys.exit(f"cargo did not name the executable of `{name}`")


def heard() -> Path:
    """Build the example `heard` and return its executable."""
    return built("heard", "build", "--release", "--package=ackclock-lab", "--example=heard")


def heard_scenario(case: str) -> Path:
    """The scenario file of a case of the example `heard`."""
    return ROOT / f"crates/lab/examples/speed/{case}.toml"


def collected(program: Path, *words: str | Path) -> tuple[int, float]:
    """Count the instructions of a program, and read the number of packets that it prints."""
    ran = output("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, *words)
    instructions = re.search(r"Collected\s*:\s*(\d+)", ran.stderr)
    packets = re.search(r"^outcome (\S+)", ran.stdout, re.MULTILINE)
    if not instructions or not packets or float(packets[1]) == 0:
        printed = f"{ran.stdout}{ran.stderr}"
        sys.exit(f"{' '.join(map(str, words))}: callgrind or the program printed nothing:\n{printed}")
    return int(instructions[1]), float(packets[1])


def count(program: Path, *words: str) -> float:
    """Count the instructions per delivered packet for a case of the bench, including its set-up."""
    instructions, packets = collected(program, "--case", *words)
    return round(instructions / packets, 1)


def files(program: Path) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Count instructions per packet: what hash and tally add to a run, what measures add to that, and `PATHS`."""
    cases = {heard_scenario(case): case for case in HEARD}

    def one(run: tuple[Path, str]) -> tuple[int, float]:
        return collected(program, run[0], "--only", run[1], "--seconds", str(HEARD_SECONDS))

    runs = [(file, listener) for file in cases for listener in LISTENERS]
    runs += [(ROOT / path, LISTENERS[0]) for path in PATHS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(runs, pool.map(one, runs), strict=True))

    def between(file: Path, less: str, more: str) -> float:
        (before, packets), (after, _) = found[file, less], found[file, more]
        return round((after - before) / packets, 1)

    hearing = {case: between(file, "alone", "heard") for file, case in cases.items()}
    measuring = {case: between(file, "heard", "measured") for file, case in cases.items()}
    alone = {path: found[ROOT / path, LISTENERS[0]] for path in PATHS}
    return hearing, measuring, {path: round(n / packets, 1) for path, (n, packets) in alone.items()}


def counts(
    program: Path, cases: Sequence[str], stacks: Sequence[str] = ()
) -> tuple[dict[str, float], dict[str, float]]:
    """Count the instructions of `cases`, and of these stacks (default: all) on the path with swaps, in parallel."""
    stacks = stacks or output(program, "--stacks").stdout.split()
    runs = [(case,) for case in cases] + [(STACKS_ON, "--stack", stack) for stack in stacks]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda words: count(program, *words), runs))
    split = len(cases)
    return dict(zip(cases, found[:split], strict=True)), dict(zip(stacks, found[split:], strict=True))


def moved(what: str, kept: Mapping[str, float], found: Mapping[str, float]) -> Iterator[str]:
    """The differences from the stored numbers."""
    for name, now in found.items():
        before = kept.get(name)
        if before is None:
            yield f"{what} {name}: {now:,.0f} instructions a packet, and none kept; {MEANT}"
        elif abs(change := now / before - 1) > TOLERANCE:
            yield f"{what} {name}: {before:,.0f} kept, {now:,.0f} now ({100 * change:+.1f} %); {MEANT}"
    yield from (f"{what} {name}: kept, but there is none; {MEANT}" for name in kept if name not in found)


def asked(kept: Kept, cases: Mapping[str, float], stacks: Mapping[str, float]) -> Iterator[str]:
    """Counts above their limit, and exceptions that are no longer needed."""
    for case, now in cases.items():
        if now > (most := kept.at_most.get(case, float("inf"))):
            yield f"case {case}: {now:,.0f} instructions a packet, the limit is {most:,.0f}"
    most = kept.at_most["stacks"]
    for stack, now in stacks.items():
        if now > most and stack not in kept.above:
            yield f"stack {stack}: {now:,.0f} instructions a packet, the limit is {most:,.0f}; name it in [above]?"
        if now <= most and stack in kept.above:
            yield f"stack {stack}: {now:,.0f} instructions a packet, within the limit; remove it from [above]"
    yield from (f"stack {stack}: in [above], but there is none" for stack in kept.above if stack not in stacks)


def main() -> int:
    """Count; compare or store the numbers."""
    compiler = output("rustc", "--version").stdout.strip()
    kept = read(KEPT.read_text(encoding="utf-8"))
    hearing: dict[str, float] = {}
    measuring, paths = dict(hearing), dict(hearing)
    if sys.argv[1:] == ["--bounded"]:
        kept = kept.only(BOUNDED, BOUNDED_STACKS)
        cases, stacks = counts(bench(), BOUNDED, BOUNDED_STACKS)
    else:
        cases, stacks = counts(bench(), CASES)
        hearing, measuring, paths = files(heard())
    wrong = list(asked(kept, cases, stacks))
    if sys.argv[1:] == ["--write"]:
        now = Kept(compiler, kept.at_most, kept.above, cases, stacks, hearing, measuring, paths)
        KEPT.write_text(written(now), encoding="utf-8")
    elif kept.compiler == compiler:
        wrong += [*moved("case", kept.cases, cases), *moved("stack", kept.stacks, stacks)]
        wrong += [*moved("heard", kept.heard, hearing), *moved("measured", kept.measured, measuring)]
        wrong += moved("path", kept.paths, paths)
    else:
        print(f"counted with {kept.compiler}; this is {compiler}, so only the limits were checked")
    for line in wrong:
        print(line)
    shown = ", ".join(f"{case}: {number:,.0f}" for case, number in cases.items())
    print(f"instructions per delivered packet: {shown}; {len(stacks)} stacks: up to {max(stacks.values()):,.0f}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
