"""The parts of ``make test``: what each runs, what it needs, and how they are run beside each other."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "target/check"
SLOWEST = 10
SCENARIOS = " ".join(f"crates/lab/tests/scenarios/{name}.toml" for name in ("good", "dumbbell", "elements", "paths"))
"""Scenarios whose trace hashes are compared between machines."""
GUIDES = "tests/python/test_docs.py::test_every_block_of_a_page_does_what_it_says"
"""They run with a wheel."""
BUILT_WHEEL = "target/wheel/ackclock-*.whl"


@dataclass(frozen=True)
class Part:
    """A part of the check."""

    name: str
    about: str
    script: str
    """Run by bash, in the repository, with the environment's programs first in ``PATH``."""
    order: int = 2
    """Order 1 runs first, one part after the other; then order 2, two parts at a time. Order 0 runs beside them."""
    needs: tuple[str, ...] = ()


EXPECTED = f"""
cargo build --quiet --workspace --locked --example expected
"${{CARGO_TARGET_DIR:-target}}"/debug/examples/expected {SCENARIOS} > target/same.json
"""
PARTS = (
    Part(
        "page",
        "the lab page in web/dist, with the engine in the tests' profile",
        # The browsers are fetched here, beside the first builds.
        """
        tools/need.sh chromium firefox >/dev/null || true
        cd web; npm run --silent generate -- --debug; npm run --silent build
        """,
        0,
    ),
    Part("format", "formatting; no crate is built twice", "cargo fmt --all --check; tools/one_build.sh", 1),
    Part("clippy", "clippy, warnings are errors", "cargo clippy --workspace --all-targets --locked -- -D warnings", 1),
    Part(
        "rust",
        "the Rust tests: optimised, with debug assertions and overflow checks",
        # Of the examples only two are built, which tests start. Clippy reads them all.
        """
        cargo build --workspace --locked --example engine_c --example conform_smoltcp
        cargo test --workspace --locked --tests -- --show-output
        cargo test --workspace --locked --doc
        """,
        1,
    ),
    Part(
        "extension",
        "the Python extension, in the tests' profile",
        'tools/step.sh "extension for Python: build for tests" maturin develop --locked --profile dev',
        1,
    ),
    Part(
        "python",
        "the Python tests, and the extension's type stubs",
        f"""
        python -m mypy.stubtest ackclock._native
        python -m pytest -rs --durations={SLOWEST} --deselect {GUIDES}
        """,
        needs=("extension",),
    ),
    Part(
        "web",
        "the lab page: lint, types, unit tests, and the built page in headless Chromium and in Firefox",
        """
        cd web
        npm run --silent lint
        npm run --silent check
        npm run --silent test
        if chromium=$(../tools/need.sh chromium); then
          firefox=$(../tools/need.sh firefox) || echo "SKIPPED: the lab page in Firefox, which is not installed"
          CHROMIUM=$chromium FIREFOX=$firefox npm run --silent test:page
        else
          echo "SKIPPED: the tests of the lab page in a browser, because there is no Chromium"
        fi
        """,
        needs=("extension", "page"),
    ),
    Part(
        "guides",
        "every guide, with a wheel in a fresh environment, in an empty folder (WHEEL=FILE: with this wheel)",
        f"""
        tools/dev generate --check THIRD-PARTY.txt
        if [ -z "${{WHEEL:-}}" ]; then
          rm -rf target/wheel
          tools/dev release wheel target/wheel --profile dev --strip false --compatibility linux
        fi
        python -m pytest -rPs --durations={SLOWEST} tests/python/test_wheel.py \\
          {GUIDES} \\
          --wheel "${{WHEEL:-$(ls {BUILT_WHEEL})}}"
        """,
        needs=("extension", "page"),
    ),
    Part("newcomer", "CONTRIBUTING's steps: only the listed places change", "tools/newcomer.sh"),
    Part("survivors", "changes that the rule tests once missed: each fails its test", "python tools/survivors.py"),
    Part(
        "docs",
        "the Rust documentation, and all documents as a site with executed notebooks; warnings are errors",
        """
        RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps --locked --document-private-items \\
          --exclude ackclock-py
        NO_MKDOCS_2_WARNING=1 PYTHONPATH=tools/generators mkdocs build --quiet --strict
        """,
        needs=("extension",),
    ),
    Part(
        "wasm",
        "the engine as WebAssembly has the native trace hashes",
        f"""
        cargo build --quiet -p ackclock-wasm --locked --target wasm32-unknown-unknown
        {EXPECTED}
        node crates/wasm/tests/same.mjs target/wasm32-unknown-unknown/debug/ackclock_wasm.wasm < target/same.json
        """,
        needs=("page",),
    ),
    Part(
        "lint",
        "ruff, mypy --strict, arrows between modules, phrases and identifiers, citations, generated files",
        """
        ruff check
        ruff format --check
        mypy
        for rule in arrows language cite revision; do python "tools/$rule.py"; done
        tools/dev generate --check
        """,
        needs=("extension",),
    ),
    Part("instructions", "instructions per delivered packet", "python tools/instructions.py --bounded", 0),
)
BY_NAME = {part.name: part for part in PARTS}


@dataclass(frozen=True)
class Ended:
    """How a part ended."""

    part: Part
    ok: bool
    seconds: float
    processor: float

    @property
    def log(self) -> str:
        """All that it printed."""
        return (LOGS / f"{self.part.name}.log").read_text(encoding="utf-8", errors="replace")


def environment() -> dict[str, str]:
    """The environment of every part: the developer's programs come first."""
    path = f"{ROOT / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"
    # Maturin sets the first variable too; with another value PyO3 would be built again.
    return os.environ | {"PATH": path, "PYO3_BUILD_EXTENSION_MODULE": "1", "PYTHONDONTWRITEBYTECODE": "1"}


class Runner:
    """Runs parts, and ends them all when it is interrupted."""

    def __init__(self) -> None:
        """Start with no process."""
        self.running: set[int] = set()
        self.ended: list[Ended] = []

    def run(self, part: Part) -> Ended:
        """Run a part, with its output in a file of its own."""
        LOGS.mkdir(parents=True, exist_ok=True)
        nice = ["nice", "-n", "19"] if part.order == 0 else []
        command = [*nice, "bash", "-euo", "pipefail", "-c", part.script]
        began = time.monotonic()
        with (LOGS / f"{part.name}.log").open("wb") as log:
            child = subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, stdout=log,
                                     stderr=subprocess.STDOUT, start_new_session=True)  # fmt: skip
            self.running.add(child.pid)
            _, status, used = os.wait4(child.pid, 0)
            self.running.discard(child.pid)
        child.returncode = os.waitstatus_to_exitcode(status)
        ended = Ended(part, child.returncode == 0, time.monotonic() - began, used.ru_utime + used.ru_stime)
        self.ended.append(ended)
        word = "passed" if ended.ok else "FAILED"
        print(f"{part.name}: {word} after {ended.seconds:.0f} s ({ended.processor:.0f} s of processor)", flush=True)
        if not ended.ok:
            print("".join(ended.log.splitlines(keepends=True)[-60:]), flush=True)
            print(f"{part.name}: all of its output is in target/check/{part.name}.log", flush=True)
        return ended

    def all(self, parts: Sequence[Part]) -> bool:
        """Run these parts by their order; return whether all passed. If a part of order 1 fails, no other begins."""
        with ThreadPoolExecutor(1) as beside, ThreadPoolExecutor(2) as two:
            try:
                early = {part.name: beside.submit(self.run, part) for part in parts if part.order == 0}

                def late(part: Part) -> Ended:
                    for name in part.needs:
                        if name in early:
                            early[name].result()
                    return self.run(part)

                ok = all(self.run(part).ok for part in parts if part.order == 1)
                if ok:
                    list(two.map(late, [part for part in parts if part.order > 1]))
                return ok and all(future.result().ok for future in early.values()) and all(e.ok for e in self.ended)
            finally:
                for pid in list(self.running):
                    os.killpg(pid, signal.SIGTERM)


def chosen(names: Sequence[str]) -> list[Part]:
    """The parts of these names and what they need, in order; all if none is named."""
    if unknown := set(names) - BY_NAME.keys():
        raise SystemExit(f"found {', '.join(sorted(unknown))}, allowed: {', '.join(BY_NAME)}")
    wanted = set(names or BY_NAME)
    for name in names:
        wanted |= set(BY_NAME[name].needs)
    return [part for part in PARTS if part.name in wanted]


PYTEST = re.compile(r"^(?P<s>[\d.]+)s (?:call|setup|teardown) +(?P<name>\S+)", re.MULTILINE)
VITEST = re.compile(r"^ *[✓✗] (?P<name>\S.*?) +(?P<ms>\d+)ms *$", re.MULTILINE)
RUST = re.compile(r"Running .*?/deps/(?P<name>\w+)-\w+\).*?finished in (?P<s>[\d.]+)s", re.DOTALL)


def slowest(ended: Sequence[Ended]) -> list[tuple[float, str]]:
    """The longest tests in the parts' output: tests of Python and the page, whole programs of Rust tests."""
    found: list[tuple[float, str]] = []
    for one in ended:
        text = re.sub(r"\x1b\[[\d;]*m", "", one.log)
        found += [(float(match["s"]), match["name"]) for match in PYTEST.finditer(text)]
        each = [match for match in VITEST.finditer(text) if not match["name"].endswith((" test)", " tests)"))]
        found += [(int(match["ms"]) / 1000, f"{one.part.name}: {match['name']}") for match in each]
        found += [(float(match["s"]), match["name"]) for match in RUST.finditer(text)]
    return sorted(found, reverse=True)[:SLOWEST]


def skipped(ended: Sequence[Ended]) -> list[str]:
    """What was skipped, with the reason; and that the live tests ran, if they did."""
    lines = [line for one in ended for line in one.log.splitlines()]
    return list(dict.fromkeys(line for line in lines if line.startswith(("SKIPPED", "live: skipped", "live: running"))))


def report(ended: Sequence[Ended], seconds: float) -> None:
    """Print the parts with their times, the slowest tests, and the skipped ones."""
    print("\n   wall  processor  part")
    for one in sorted(ended, key=lambda one: -one.seconds):
        print(f"{one.seconds:6.0f} s {one.processor:8.0f} s  {one.part.name}: {one.part.about}")
    print(f"{seconds:6.0f} s {sum(one.processor for one in ended):8.0f} s  all")
    print("\nThe slowest tests:" if (tests := slowest(ended)) else "")
    print("".join(f"{taken:6.1f} s  {name}\n" for taken, name in tests))
    print("\n".join(skipped(ended)))


def check(wanted: Sequence[Part]) -> int:
    """Run these parts; return 1 if one failed."""
    began, runner = time.monotonic(), Runner()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    ok = runner.all(wanted)
    report(runner.ended, time.monotonic() - began)
    failed = ", ".join(one.part.name for one in runner.ended if not one.ok)
    print("all checks passed" if ok else f"FAILED: {failed}")
    return int(not ok)
