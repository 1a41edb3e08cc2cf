"""Builds the tree with all mutants once, and runs the tests against one mutant after the other."""

from __future__ import annotations

import filecmp
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutants_rewrite import ALLOWED, SWITCH, Mutant, rewrite

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
# Always the same path: Cargo keeps its output for each path indefinitely.
COPY = TARGET / "mutants"
CRATES = ("tcp", "wire", "capture")
"""Crates with mutants."""
BUILT = ("ackclock-tcp", "ackclock-sim", "ackclock-wire", "ackclock-capture", "ackclock-conform", "ackclock-lab")
"""Crates whose tests run."""
HANG = (60.0, 10.0)
"""A suite hangs after this number of seconds, and this many times the time that its tests take without a mutant."""
PASSES = 12
"""Builds, until no mutant is left that does not compile."""


@dataclass(frozen=True)
class Suite:
    """A test program, and a choice of its tests."""

    package: str
    target: str
    skip: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    """Parts of names, or whole names after `--exact`."""


SLOW = ("sender::tests::invariants",)
SNAPSHOTS = (
    Suite("ackclock-tcp", "toml"),
    Suite("ackclock-tcp", "talk"),
    Suite("ackclock-sim", "sweep"),
)
"""Tables of results: they show a change, not an error. A failure that is no difference from a table counts as one."""
ENGINE = (
    Suite("ackclock-tcp", "ackclock_tcp", skip=SLOW),
    SNAPSHOTS[0],
    Suite("ackclock-conform", "conform", only=("suites::",)),
    Suite("ackclock-sim", "sim", only=("ns2::",)),
    Suite("ackclock-sim", "sim", only=("paths::",)),
    Suite("ackclock-sim", "sim", only=("robust::",)),
    Suite("ackclock-sim", "sim", only=("net2::",)),
    Suite("ackclock-sim", "ackclock_sim"),
    Suite("ackclock-tcp", "operations"),
    Suite("ackclock-tcp", "transfers"),
    Suite("ackclock-wire", "transfers"),
    Suite("ackclock-tcp", "lies"),
    Suite("ackclock-tcp", "ackclock_tcp", only=SLOW),
)
OF_CRATE: Mapping[str, tuple[Suite, ...]] = {
    "ackclock-tcp": ENGINE,
    "ackclock-wire": (
        Suite("ackclock-wire", "ackclock_wire"),
        Suite("ackclock-wire", "transfers"),
        Suite("ackclock-wire", "packets"),
        Suite("ackclock-conform", "conform", only=("suites::",)),
        Suite("ackclock-conform", "ackclock_conform"),
    ),
    "ackclock-capture": (
        Suite("ackclock-capture", "ackclock_capture"),
        Suite("ackclock-capture", "files"),
        Suite("ackclock-capture", "judged"),
        Suite("ackclock-lab", "lab", only=("captures::",)),
        Suite("ackclock-lab", "judge"),
    ),
}
"""The suites for a crate's mutants, the quickest first."""
REFEREE = Suite("ackclock-sim", "referee")
UNIT = Suite("ackclock-tcp", "ackclock_tcp")


def command(suites: Iterable[Suite]) -> tuple[str, ...]:
    """Cargo's command that builds the programs of these suites."""
    chosen = sorted({(s.package, s.target) for s in suites})
    crates = sorted({package for package, _ in chosen})
    libraries = any(target.startswith("ackclock_") for _, target in chosen)
    tests = sorted({target for _, target in chosen if not target.startswith("ackclock_")})
    packages = [word for name in crates for word in ("-p", name)]
    programs = [word for name in tests for word in ("--test", name)]
    return ("test", "--no-run", *(["--lib"] if libraries else []), *packages, *programs)


def copy_tree(mutated: set[str]) -> None:
    """Bring the copy of everything that Cargo and the tests read up to date, except for the mutated files."""
    COPY.mkdir(parents=True, exist_ok=True)
    command = ["git", "ls-files", "-co", "--exclude-standard", "Cargo.*", "rustfmt.toml", "clippy.toml", "crates",
               "conformance", "scenarios", "papers", "tests", "docs", "examples"]  # fmt: skip
    for name in subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines():
        source, goal = ROOT / name, COPY / name
        same = goal.is_file() and filecmp.cmp(source, goal, shallow=False)
        if source.is_file() and not source.is_symlink() and name not in mutated and not same:
            goal.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, goal)


Places = Mapping[str, Mapping[int, tuple[int, int]]]
"""The lines of each mutant's arm, by file."""


def write(mutants: Mapping[int, Mutant], without: set[int]) -> tuple[Places, dict[int, int]]:
    """Write the mutated files into the copy; returns the places and the switch of each mutant."""
    places: dict[str, dict[int, tuple[int, int]]] = {}
    switches: dict[int, int] = {}
    files: dict[str, dict[int, Mutant]] = {m.file: {} for m in mutants.values()}
    for number, m in mutants.items():
        if number not in without:
            files[m.file][number] = m
    for crate in CRATES:
        lib = f"crates/{crate}/src/lib.rs"
        files.setdefault(lib, {})
    for file, own in files.items():
        new = rewrite((ROOT / file).read_text(encoding="utf-8"), own)
        text = new.text
        places[file] = new.lines
        switches |= new.switches
        if file.endswith("/src/lib.rs"):
            # Inner attributes stay first; the line numbers move by one.
            text = ALLOWED + text + SWITCH
            places[file] = {n: (a + 1, b + 1) for n, (a, b) in new.lines.items()}
        goal = COPY / file
        if not goal.exists() or goal.read_text(encoding="utf-8") != text:
            goal.parent.mkdir(parents=True, exist_ok=True)
            goal.write_text(text, encoding="utf-8")
    return places, switches


def cargo(arguments: Sequence[str]) -> list[dict[str, object]]:
    """Cargo's messages."""
    command = ["cargo", *arguments, "--locked", "--message-format=json"]
    env = os.environ | {"CARGO_TARGET_DIR": str(TARGET), "CARGO_INCREMENTAL": "0"}
    done = subprocess.run(command, cwd=COPY, env=env, check=False, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def errors_of(message: Mapping[str, object]) -> list[tuple[str, int]]:
    """Files and lines of an error of the compiler, `src/...` of the crate where it was found."""
    if message.get("reason") != "compiler-message":
        return []
    told = message["message"]
    assert isinstance(told, dict)
    if told["level"] != "error":
        return []
    # A note may point anywhere.
    return [(s["file_name"], s["line_start"]) for s in told["spans"] if s["is_primary"]]


@dataclass(frozen=True)
class Built:
    """The test programs with all mutants."""

    programs: Mapping[tuple[str, str], Path]
    """By package and target."""
    unviable: frozenset[int]
    """Mutants that do not compile."""
    switches: Mapping[int, int]
    """The switch of each other mutant."""

    def __getitem__(self, suite: Suite) -> Path:
        return self.programs[suite.package, suite.target]


def build(mutants: dict[int, Mutant], suites: Iterable[Suite]) -> Built:
    """Build the test programs.

    Args:
        mutants: by number.
        suites: whose programs are needed.
    """
    unviable: set[int] = set()
    tests = command(suites)
    copy_tree({m.file for m in mutants.values()} | {f"crates/{crate}/src/lib.rs" for crate in CRATES})
    for _ in range(PASSES):
        places, switches = write(mutants, unviable)
        messages = cargo(tests)
        found = {n for m in messages for place in errors_of(m) for n in numbers_at(places, *place)}
        if any(m.get("reason") == "build-finished" and m.get("success") for m in messages):
            return Built(binaries(messages), frozenset(unviable), switches)
        if not found:
            raise SystemExit("make mutants: the copy does not build, and no mutant is the reason (see above)")
        print(f"{len(found)} mutants do not compile", flush=True)
        unviable |= found
    raise SystemExit(f"make mutants: still errors after {PASSES} builds")


def numbers_at(places: Places, file: str, line: int) -> set[int]:
    """The mutants at this line."""
    arms = places.get(file, {})
    return {n for n, (first, last) in arms.items() if first <= line <= last}


def binaries(messages: Iterable[Mapping[str, object]]) -> dict[tuple[str, str], Path]:
    """The test binaries by package and target."""
    found: dict[tuple[str, str], Path] = {}
    for m in messages:
        if m.get("reason") == "compiler-artifact" and m.get("executable"):
            target = m["target"]
            assert isinstance(target, dict)
            # The identifier names the crate's folder, or the crate if that differs.
            words = re.split(r"[/#@]", str(m["package_id"]))
            name = next(w for w in words if w in BUILT or f"ackclock-{w}" in BUILT)
            name = name if name in BUILT else f"ackclock-{name}"
            found[name, target["name"].replace("-", "_")] = Path(str(m["executable"]))
    return found


FAILED = re.compile(r"^test (\S+)[^\n]* \.\.\. FAILED", re.MULTILINE)


def filters(suite: Suite) -> list[str]:
    """The test program's arguments for the tests of the suite."""
    return [*suite.only, *(word for name in suite.skip for word in ("--skip", name))]


def place_of(suite: Suite, more: Mapping[str, str]) -> tuple[Path, dict[str, str]]:
    """Working folder and environment of a suite's tests."""
    crate = COPY / "crates" / suite.package.removeprefix("ackclock-")
    ours = {"INSTA_UPDATE": "no", "CARGO_MANIFEST_DIR": str(crate), "INSTA_WORKSPACE_ROOT": str(COPY)}
    return crate, os.environ | ours | dict(more)


@dataclass(frozen=True)
class Reached:
    """The tests that come to a switch, by switch, and the seconds of all tests without a mutant."""

    tests: Mapping[int, list[str]]
    seconds: float


def reach(binary: Path, suite: Suite) -> Reached:
    """Run each test of a suite alone without a mutant."""
    found: dict[int, list[str]] = {}
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "reached")
        crate, env = place_of(suite, {"ACKCLOCK_MUTANT": "reach", "ACKCLOCK_REACHED": str(file)})
        listed = subprocess.run([binary, "--list", *filters(suite)], cwd=crate, env=env, check=True,
                                capture_output=True, text=True).stdout  # fmt: skip
        for test in re.findall(r"^(\S+): test$", listed, re.MULTILINE):
            file.unlink(missing_ok=True)
            subprocess.run([binary, "--exact", test], cwd=crate, env=env, check=True, stdout=subprocess.DEVNULL)
            if file.exists():
                for switch in file.read_text(encoding="utf-8").split():
                    found.setdefault(int(switch), []).append(test)
    return Reached(found, time.monotonic() - start)


def run(binary: Path, suite: Suite, number: int, limit: float, env: Mapping[str, str] | None = None) -> str | None:
    """Run a suite against a mutant; returns the first test that fails, "hang" or "crash", or `None`."""
    crate, environment = place_of(suite, {"ACKCLOCK_MUTANT": str(number)} | dict(env or {}))
    command = [str(binary), "--test-threads=2", *filters(suite)]
    child = subprocess.Popen(command, cwd=crate, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True, start_new_session=True, preexec_fn=lambda: os.nice(5))  # noqa: PLW1509  # fmt: skip
    assert child.stdout is not None
    try:
        return watch(child, limit)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.stdout.close()
        child.wait()


def differs_from_a_table(binary: Path, suite: Suite, number: int, test: str) -> bool:
    """Whether a test fails against a mutant because a stored table differs, and for no other reason."""
    if test in {"hang", "crash"}:
        return False
    crate, env = place_of(suite, {"ACKCLOCK_MUTANT": str(number)})
    done = subprocess.run([binary, "--exact", test, "--nocapture"], cwd=crate, env=env, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANG[0])  # fmt: skip
    return "snapshot assertion for" in done.stdout


def watch(child: subprocess.Popen[str], limit: float) -> str | None:
    """Read the output up to the first failure."""
    assert child.stdout is not None
    end = time.monotonic() + limit
    with selectors.DefaultSelector() as ready:
        ready.register(child.stdout, selectors.EVENT_READ)
        os.set_blocking(child.stdout.fileno(), False)
        text = ""
        while time.monotonic() < end:
            if ready.select(timeout=max(0.0, end - time.monotonic())):
                part = child.stdout.read()
                if part == "":
                    code = child.wait()
                    return None if code == 0 else "crash"
                text += part or ""
                if found := FAILED.search(text):
                    return found[1]
    return "hang"
