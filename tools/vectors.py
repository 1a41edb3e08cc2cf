"""Checks docs/vectors.md: ids are unique, and each vector's proof, a test or a recorded conversation, exists."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = "docs/vectors.md"
COLUMNS = 4
# Attributes and comments may come between.
TEST = r"#\[test\]\n(?:\s*(?:#\[.*\]|//.*)\n)*\s*fn {name}\s*\("


def rows(text: str) -> list[tuple[int, list[str]]]:
    """Line number and cells of each vector."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and not line.startswith(("| id ", "| --- ")):
            found.append((number, cells))
    return found


def fault(proof: str) -> str | None:
    """The error in a proof; ``None`` if there is none."""
    file, _, test = proof.partition("::")
    path = ROOT / file
    if not path.is_file():
        return f"{file} does not exist"
    if path.suffix == ".talk":
        return None if path.with_suffix(".snap").is_file() else f"{file} was never recorded"
    if not re.search(TEST.format(name=re.escape(test)), path.read_text(encoding="utf-8")):
        return f"{file} has no test {test}"
    return None


def main() -> int:
    """Print the errors; fail if there are any."""
    seen: set[str] = set()
    wrong = 0
    vectors = rows((ROOT / LIST).read_text(encoding="utf-8"))
    for number, cells in vectors:
        if len(cells) != COLUMNS or not all(cells):
            said: str | None = f"{len(cells)} cells; a row has id, source, vector and proof"
        elif cells[0] in seen:
            said = f"{cells[0]} stands twice"
        else:
            said = fault(cells[3])
        seen.add(cells[0])
        if said:
            wrong += 1
            print(f"{LIST}:{number}: {said}")
    print(f"vectors: {len(vectors)} vectors, {wrong} without a proof")
    return int(wrong > 0 or not vectors)


if __name__ == "__main__":
    sys.exit(main())
