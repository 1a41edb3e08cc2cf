"""Lists source files over 400 lines, without tests, and functions over 60 lines; exceptions need a reason."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_LIMIT = 400
FUNCTION_LIMIT = 60
RUST_FN = re.compile(r"^(?P<indent> *)(?:pub(?:\([a-z ]+\))? )?(?:const )?(?:unsafe )?fn (?P<name>\w+)")


def sources() -> Iterator[Path]:
    """Rust, Python and TypeScript files that are in the repository or not ignored by it."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "*.rs", "*.py", "*.ts"]
    for name in subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines():
        path = ROOT / name
        if path.is_file() and not {"tests", "tests.rs"} & set(path.relative_to(ROOT).parts):
            yield path


def without_tests(text: str, suffix: str) -> list[str]:
    """The lines before the unit tests at the end of a Rust file."""
    if suffix == ".rs":
        text = re.split(r"^#\[cfg\(test\)\]\n(?:#\[.*\]\n)*mod \w+ \{", text, maxsplit=1, flags=re.MULTILINE)[0]
    return text.splitlines()


def rust_functions(lines: list[str]) -> Iterator[tuple[str, int]]:
    """Name and length of each function; rustfmt puts the closing brace at the indentation of the first line."""
    for start, line in enumerate(lines):
        if match := RUST_FN.match(line):
            end = f"{match['indent']}}}"
            opened = False
            for length, body in enumerate(lines[start:], 1):
                opened = opened or body.endswith("{")
                if body == end or (not opened and body.endswith((";", "}"))):
                    yield match["name"], length
                    break


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    """Name and length of each function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def offenders() -> Iterator[str]:
    """Files and functions that are too long, as `path` or `path::function`, with their length."""
    for path in sources():
        name, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        lines = without_tests(text, path.suffix)
        if len(lines) > FILE_LIMIT:
            yield f"{name} {len(lines)}"
        functions = rust_functions(lines) if path.suffix == ".rs" else iter(())
        for function, length in python_functions(text) if path.suffix == ".py" else functions:
            if length > FUNCTION_LIMIT:
                yield f"{name}::{function} {length}"


def main() -> int:
    """Print the offenders; fail on one without a reason, and on a reason without an offender."""
    explained = tomllib.loads((ROOT / "tools/sizes.toml").read_text(encoding="utf-8"))
    found = dict(line.rsplit(" ", 1) for line in offenders())
    for what, length in found.items():
        print(f"{what}: {length} lines; {explained.get(what, 'NOT EXPLAINED in tools/sizes.toml')}")
    stale = explained.keys() - found.keys()
    for what in sorted(stale):
        print(f"{what}: explained in tools/sizes.toml, but no longer too long")
    print(f"sizes: {len(found)} over the limits, {len(found.keys() - explained.keys())} of them unexplained")
    return int(bool(stale or found.keys() - explained.keys()))


if __name__ == "__main__":
    sys.exit(main())
