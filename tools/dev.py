"""The developer's command.

    tools/dev check                     what the changes since origin/main can reach, in a few minutes
    tools/dev check --all               everything that must pass: make test
    tools/dev check PART ...            some parts of it, and what they need; --list names them
    tools/dev generate [FILES ...]      write the generated files; --check compares them
    tools/dev generate pictures         draw the pictures of README and of the lab page again
    tools/dev measure NAME [...]        speed, sizes, instructions; without NAME the list of measurements
    tools/dev campaign NAME [...]       long tests that look for errors; without NAME the list of them
    tools/dev release [...]             a release, to the last step before publishing (docs/release.md)

Words after NAME are options of that measurement or campaign.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass

import generate
import parts
import reach
import release
from parts import ROOT


@dataclass(frozen=True)
class Long:
    """A measurement or a campaign."""

    about: str
    script: str
    """Run by bash; the words after the name are its arguments."""
    needs: str = "rust"
    """The tools of tools/need.sh."""
    release: bool = False
    """Whether it needs the Python extension in the release profile."""


def tool(name: str) -> str:
    """The script of a module below tools."""
    return f'python tools/{name}.py "$@"'


MEASURES = {
    "instructions": Long(
        "instructions per delivered packet (callgrind), also for every stack, against tools/instructions.toml; --write",
        tool("instructions"),
        "valgrind",
    ),
    "bench": Long(
        "speed of flows, stacks, recording, sweeps, start-up, beside ns-2 and ns-3; --quick, --docs, PART ...",
        tool("measures/bench"),
        release=True,
    ),
    "captures": Long("speed of capture analysis, beside tshark and tcptrace; --quick", tool("measures/capture_bench")),
    "live": Long(
        "the engine on a device with this kernel as its peer, beside smoltcp; --quick",
        'cargo run --quiet --release --locked -p ackclock-live --example live_bench -- "$@"',
    ),
    "page": Long(
        "the lab page: time from click to picture, frames per second, size of the first load",
        'make web; cd web; CHROMIUM=$(../tools/need.sh chromium) npm run --silent bench -- "$@"',
        "rust npm",
    ),
    "sweeps": Long(
        "two workers and one, here and on Dask; 100,000 short runs; results/sweep-speed.json",
        'mkdir -p results; python tools/measures/sweep_speed.py --json results/sweep-speed.json "$@"',
        release=True,
    ),
    "slots": Long("the cost of a call of an algorithm in Python", tool("measures/slots_cost"), release=True),
    "what-if": Long("what a fitted path foretells, beside the kernel's runs; FOLDER", tool("measures/what_if")),
}
CAMPAIGNS = {
    "attacks": Long(
        "attacks on a host, in memory and behind a device: its answers, memory and work for each packet",
        f"""
        {tool("campaigns/attacks")}
        cargo run --quiet --release --locked -p ackclock-live --example live_attacks
        """,
        "rust valgrind",
    ),
    "aarch64": Long(
        "trace hashes on aarch64, emulated by qemu-user, equal the native ones",
        f"""
        rustup target add aarch64-unknown-linux-gnu
        {parts.EXPECTED}
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \\
          cargo build --workspace --locked --example expected --target aarch64-unknown-linux-gnu
        qemu-aarch64 -L /usr/aarch64-linux-gnu target/aarch64-unknown-linux-gnu/debug/examples/expected \\
          {parts.SCENARIOS} > target/aarch64.json
        cmp target/same.json target/aarch64.json
        """,
    ),
    "capture-judge": Long(
        "any folder of captures against a plain second reader, and tshark where it is installed: FOLDER",
        """
        ACKCLOCK_CAPTURES=${1:?FOLDER} .venv/bin/pytest -q --no-header -rs tests/python/test_capture_plain.py -k folder
        """,
    ),
    "faults": Long(
        "kills commands at each write of their files, and fills the disk there; --most N",
        f"""
        type -P strace >/dev/null || {{ echo "SKIPPED: this needs strace (Debian: apt-get install strace)"; exit 0; }}
        {tool("campaigns/faults")}
        """,
        release=True,
    ),
    "example-capture": Long(
        "tests/captures/example: transfers of tests/captures/causes in one file, as their client would have it",
        tool("campaigns/example_capture"),
    ),
    "fuzz": Long(
        "random inputs for the targets of tools/campaigns/fuzz.toml; --cases N, --from N, --continue, TARGET ...",
        tool("campaigns/fuzz"),
        "rust npm",
    ),
    "judge": Long(
        "verdicts on simulated captures of 30 paths, 6 stacks and 20 origins against the truth; "
        "tests/captures/verdicts.md and origins.md",
        """
        export ACKCLOCK_JUDGE_TABLE=$PWD/tests/captures/verdicts.md
        export ACKCLOCK_JUDGE_ORIGINS=4 ACKCLOCK_JUDGE_ORIGINS_TABLE=$PWD/tests/captures/origins.md
        cargo test --workspace --locked --test judge -- "$@"
        """,
    ),
    "kills": Long(
        "kills sweeps of 2,000 runs and a paper's readings at random, here and on Dask, and compares their results",
        tool("campaigns/kills"),
        release=True,
    ),
    "kernel-causes": Long(
        "transfers between two kernels whose cause of waiting is set, in tests/captures/causes; NAME ...",
        tool("campaigns/kernel_causes"),
        release=True,
    ),
    "linux": Long(
        "this kernel's TCP beside ours on the paths of tests/linux: its missing runs, ours, docs/linux.md",
        tool("campaigns/linux"),
        release=True,
    ),
    "linux-captures": Long(
        "the captures of this kernel's TCP in tests/captures/kernel; NAME ...",
        tool("campaigns/kernel_captures"),
        release=True,
    ),
    "mutants": Long(
        "changes the code in one place and asks whether a test notices (cargo-mutants); --shard K/N, --file GLOB",
        """
        PATH="$PWD/target/tools/bin:$PATH" INSTA_UPDATE=no INSTA_FORCE_PASS=1 \\
          cargo mutants --output target --baseline skip --timeout 300 "$@"
        """,
        "rust mutants",
    ),
    "ns2-logs": Long(
        "the comparison with ns-2's packet logs, packet by packet; ACKCLOCK_NS2_LOGS names another folder of logs",
        "cargo test --workspace --locked --test sim ns2:: -- --nocapture",
    ),
    "packetdrill": Long(
        "an unmodified packetdrill and our runner on the same scripts; --packetdrill ITS-SOURCE, FOLDER ...",
        tool("campaigns/packetdrill"),
    ),
    "referee": Long(
        "every stack against the rules of its sources; the number of random scenarios (default 10,000)",
        'ACKCLOCK_REFEREE=${1:-10000} cargo test --workspace --locked --test referee -- --nocapture',
    ),
}  # fmt: skip


def long(kind: str, known: dict[str, Long], words: list[str]) -> int:
    """Run a measurement or a campaign, or list them."""
    if not words or words[0] not in known:
        print(f"usage: tools/dev {kind} NAME [OPTION ...]\n")
        print("\n".join(f"  {name:15} {one.about}" for name, one in known.items()))
        return 2 if words else 0
    one = known[words[0]]
    subprocess.run([ROOT / "tools/need.sh", *one.needs.split()], check=True)
    built = 'tools/step.sh "extension for Python: release build" maturin develop --locked --release\n'
    script = (built if one.release else "") + one.script
    command = ["bash", "-euo", "pipefail", "-c", script, kind, *words[1:]]
    return subprocess.run(command, cwd=ROOT, env=parts.environment(), check=False).returncode


def check(words: list[str]) -> int:
    """Run the parts of ``make test``, or what the changes can reach."""
    parser = argparse.ArgumentParser(prog="tools/dev check")
    parser.add_argument("part", nargs="*", help="parts of make test")
    parser.add_argument("--all", action="store_true", help="all of them")
    parser.add_argument("--list", action="store_true", help="name them")
    asked = parser.parse_args(words)
    if asked.list:
        print("\n".join(f"  {part.name:15} {part.about}" for part in parts.PARTS))
        return 0
    return parts.check(parts.chosen(asked.part)) if asked.part or asked.all else reach.check()


PICTURES = Long(
    "the pictures of README and of the lab page",
    """
    python tools/generators/front_picture.py
    make web; cd web
    CHROMIUM=$(../tools/need.sh chromium) FIGURES=../docs/figures npm run --silent test:page -- tests/figures.test.ts
    """,
    "rust npm",
)


def generated(words: list[str]) -> int:
    """Write the generated files, or compare them."""
    if words == ["pictures"]:
        return long("generate", {"pictures": PICTURES}, words)
    parser = argparse.ArgumentParser(prog="tools/dev generate")
    parser.add_argument("files", nargs="*", metavar="FILES", help="as listed in tools/generate.py")
    parser.add_argument("--check", action="store_true", help="compare them only")
    asked = parser.parse_args(words)
    os.environ.update(parts.environment())
    return generate.generate(asked.check, asked.files)


VERBS = {
    "check": check,
    "generate": generated,
    "measure": lambda words: long("measure", MEASURES, words),
    "campaign": lambda words: long("campaign", CAMPAIGNS, words),
    "release": release.main,
}


def main() -> int:
    """Carry out a verb."""
    verb, words = (sys.argv[1:2] or ["--help"])[0], sys.argv[2:]
    if verb in {"--help", "-h"}:
        print(__doc__)
        return 0
    if verb not in VERBS:
        print(f"found {verb}, allowed: {', '.join(VERBS)}", file=sys.stderr)
        return 2
    return VERBS[verb](words)


if __name__ == "__main__":
    sys.exit(main())
