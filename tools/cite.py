"""Checks citations against docs/references.toml, both ways: citations without an entry, and entries never cited.

It also checks the sequencer's numbered rules in ARCHITECTURE.md. The table there says which files of crates/tcp/src
implement which rules; exactly these files must name them. And it checks docs/vectors.md: the proof of each vector, a
test or a recorded conversation, exists.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REFERENCES = "docs/references.toml"
# "RFC 6582", "RFC 2582, 3782", "RFC 5681 and 6298"
RFC = re.compile(r"\bRFC (\d{3,4}(?:(?:,| and| or|/) ?\d{4})*)\b")
TAG = re.compile(r"\[([a-z][a-z0-9-]*) §")
NAME = r"(?!(?:January|February|March|April|May|June|July|August|September|October|November|December) \d)[A-Z][a-z]+"
# "Fall & Floyd 1996", "Hoe 1995", "Blanton & Allman §2.2"
YEAR = r"(?:19|20)\d\d"
PAPER = re.compile(
    rf"\b(?P<two>(?:{NAME}, )*{NAME} & {NAME})(?: (?P<year>{YEAR})\b)?|\b(?P<one>{NAME}) (?P<of>{YEAR})\b"
)


def cited(text: str) -> Iterator[tuple[int, str]]:
    """Yield citations and their positions: (position, `rfc 6582` or a paper's key or `names year`)."""
    for match in RFC.finditer(text):
        for number in re.findall(r"\d+", match[1]):
            yield match.start(), f"rfc {number}"
    for match in TAG.finditer(text):
        yield match.start(), match[1]
    for match in PAPER.finditer(text):
        names, year = match["two"] or match["one"], match["year"] or match["of"]
        yield match.start(), f"{names} {year}" if year else names


def known(references: dict[str, Any]) -> dict[str, str]:
    """Each form of citation, and the entry that it refers to."""
    ways = {f"rfc {number}": f"rfc {number}" for number in references["rfc"]}
    for key, paper in references["paper"].items():
        ways |= {key: key, paper["names"]: key, f"{paper['names']} {paper['year']}": key}
    return ways


RULES = re.compile(r"\b[Rr]ules? (\d+(?:(?:,| and| to|, and) \d+)*)")
ENGINE = ROOT / "crates/tcp/src"


def numbers(text: str) -> set[int]:
    """Parse the numbers of "5, 8 to 10 and 12"."""
    found: set[int] = set()
    for first, last in re.findall(r"(\d+)(?: to (\d+))?", text):
        found.update(range(int(first), int(last or first) + 1))
    return found


def rules() -> Iterator[str]:
    """Yield the errors in the sequencer's rules: their numbers, the table of files, and the files."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    chapter = text[text.index("\n## The sequencer\n") :].split("\n## ", 2)[1]
    stated = [int(number) for number in re.findall(r"^(\d+)\. ", chapter, re.MULTILINE)]
    if stated != list(range(1, len(stated) + 1)):
        yield f"ARCHITECTURE.md: the sequencer's rules are numbered {stated}"
    reported = {
        file: numbers(row)
        for row, file in re.findall(r"^ *\| ([\d, toand]+) \| `([\w/]+\.rs)` \|$", chapter, re.MULTILINE)
    }
    named: dict[str, set[int]] = {}
    for path in sorted(ENGINE.rglob("*.rs")):
        comments = "\n".join(re.findall(r"//.*", path.read_text(encoding="utf-8")))
        found = {number for match in RULES.finditer(comments) for number in numbers(match[1])}
        name = str(path.relative_to(ENGINE))
        yield from (f"{name}: names rule {n}, which does not exist" for n in sorted(found - set(stated)))
        if found and "tests" not in name:
            named[name] = found
    yield from (f"rule {n} is named by no file of the engine" for n in stated if n not in set().union(*named.values()))
    for file in sorted(reported.keys() | named.keys()):
        if (says := reported.get(file, set())) != (names := named.get(file, set())):
            yield f"{file} names rules {sorted(names)}, and the table in ARCHITECTURE.md says {sorted(says)}"


VECTORS = "docs/vectors.md"
# Attributes and comments may come between.
TEST = r"#\[test\]\n(?:\s*(?:#\[.*\]|//.*)\n)*\s*fn {name}\s*\("


def vectors() -> Iterator[str]:
    """Yield the errors in the list of test vectors: ids that are there twice, and proofs that do not exist."""
    seen: set[str] = set()
    for number, line in enumerate((ROOT / VECTORS).read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("| ") or line.startswith(("| id ", "| --- ")):
            continue
        key, *_, proof = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        file, _, test = proof.partition("::")
        path = ROOT / file
        if key in seen:
            yield f"{VECTORS}:{number}: {key} is there twice"
        elif not path.is_file():
            yield f"{VECTORS}:{number}: {file} does not exist"
        elif path.suffix == ".talk":
            if not path.with_suffix(".snap").is_file():
                yield f"{VECTORS}:{number}: {file} was never recorded"
        elif not re.search(TEST.format(name=re.escape(test)), path.read_text(encoding="utf-8")):
            yield f"{VECTORS}:{number}: {file} has no test {test}"
        seen.add(key)
    if not seen:
        yield f"{VECTORS}: no vector"


def main() -> int:
    """Print the errors; fail if there are any."""
    ways = known(tomllib.loads((ROOT / REFERENCES).read_text(encoding="utf-8")))
    command = ["git", "ls-files", "-co", "--exclude-standard", "*.rs", "*.py", "*.md"]
    files = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    used, wrong, count = set(), 0, 0
    for name in sorted(files):
        # The comments in this file are examples.
        if not (ROOT / name).is_file() or name == "tools/cite.py":
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        for at, what in cited(text):
            count += 1
            if what in ways:
                used.add(ways[what])
            else:
                wrong += 1
                print(f"{name}:{text.count(chr(10), 0, at) + 1}: {what} is not in {REFERENCES}")
    for unused in sorted(set(ways.values()) - used):
        wrong += 1
        print(f"{REFERENCES}: {unused} is cited nowhere")
    for said in [*rules(), *vectors()]:
        wrong += 1
        print(said)
    print(f"cite: {count} citations of {len(used)} sources, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
