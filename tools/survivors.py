"""Applies the changes of tests/survivors.toml, which no test once noticed: each must fail its test.

One build of a copy of the engine has all changes; an environment variable chooses one. A changed function keeps its
signature, and its body becomes a `match` with an arm for each change and the body as written.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tests/survivors.toml"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
COPY = TARGET / "survivors"
"""Always the same path: Cargo keeps its output for each path indefinitely."""
ACTIVE = """
/// The number of the active change, from the environment; 0 if none.
pub(crate) fn active_change() -> u32 {
    static ACTIVE: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *ACTIVE.get_or_init(|| std::env::var("ACKCLOCK_CHANGE").map_or(0, |n| n.parse().expect("a number")))
}
"""
TOKENS = re.compile(r"""//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^\\'])'|[{}]""")
SECONDS = 120


def body_of(text: str, at: int) -> tuple[int, int]:
    """The body, with its braces, of the function in which the character `at` is."""
    start = max(match.start() for match in re.finditer(r"\bfn \w+[(<]", text) if match.start() < at)
    depth, opening = 0, 0
    for match in TOKENS.finditer(text, start):
        if match[0] == "{":
            opening = opening or match.start()
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if depth == 0:
                return opening, match.end()
    raise SystemExit(f"no function ends after {text[start : start + 60]!r}")


def changed(text: str, changes: dict[int, dict[str, str]]) -> str:
    """The text of a file with all its changes, by number."""
    arms: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for number, change in changes.items():
        if text.count(change["from"]) != 1:
            raise SystemExit(f"{LIST.name}: {change['file']} must contain this text once: {change['from']!r}")
        at = text.index(change["from"])
        start, end = body_of(text, at)
        body = text[start:at] + change["to"] + text[at + len(change["from"]) : end]
        arms[start, end].append(f"{number} => {body}")
    for (start, end), bodies in sorted(arms.items(), reverse=True):
        whole = "\n".join([*bodies, f"_ => {text[start:end]}"])
        text = f"{text[:start]}{{ match crate::active_change() {{ {whole} }} }}{text[end:]}"
    return text


def build(changes: dict[int, dict[str, str]]) -> Path:
    """Build the engine's own tests with all changes; return the program."""
    shutil.rmtree(COPY, ignore_errors=True)
    for name in ("Cargo.toml", "Cargo.lock", "crates", "tests/fuzz"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, COPY / name)
    for file in {change["file"] for change in changes.values()}:
        path = COPY / file
        of_file = {number: change for number, change in changes.items() if change["file"] == file}
        path.write_text(changed(path.read_text(encoding="utf-8"), of_file), encoding="utf-8")
    library = COPY / "crates/tcp/src/lib.rs"
    library.write_text(f"#![allow(warnings)]\n{library.read_text(encoding='utf-8')}{ACTIVE}", encoding="utf-8")
    command = ["cargo", "test", "--locked", "--package=ackclock-tcp", "--lib", "--no-run", "--message-format=json"]
    env = os.environ | {"CARGO_TARGET_DIR": str(TARGET), "CARGO_INCREMENTAL": "0"}
    done = subprocess.run(command, cwd=COPY, env=env, stdout=subprocess.PIPE, text=True, check=True)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    return next(Path(found) for message in messages if (found := message.get("executable")))


def main() -> int:
    """Run each test without its change and with it."""
    changes = dict(enumerate(tomllib.loads(LIST.read_text(encoding="utf-8"))["survivor"], 1))
    program = build(changes)

    def passes(number: int, test: str) -> bool:
        env = os.environ | {"ACKCLOCK_CHANGE": str(number), "INSTA_UPDATE": "no"}
        command = [str(program), "--exact", test]
        try:
            done = subprocess.run(command, cwd=COPY / "crates/tcp", env=env, capture_output=True, text=True,
                                  timeout=SECONDS, check=False)  # fmt: skip
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0 and "1 passed" in done.stdout

    def judged(number: int) -> str:
        rule, test = changes[number]["rule"], changes[number]["test"]
        if not passes(0, test):
            return f"{test}: does not pass without the change, or does not exist"
        return f"{test}: passes with the change against {rule}" if passes(number, test) else ""

    with ThreadPoolExecutor(2) as pool:
        wrong = [line for line in pool.map(judged, changes) if line]
    print("\n".join([*wrong, f"survivors: {len(changes) - len(wrong)} of {len(changes)} changes fail their test"]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
