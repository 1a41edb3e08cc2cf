"""docs/conformance-scripts.md, from the headers of the scripts.

A script begins with "// RFC 9293 §3.10.7.4: what is proved, one sentence.", followed by why or how. Several places are
separated by commas, and a section without an RFC belongs to the one before: "// RFC 8985 §3.2, §6.2 step 4: …". Another
source has its name in the place of the RFC: "// Hoe 1995 §3: …". The second line may name the
algorithm whose rule it is, by its file below crates/tcp/src: "// Algorithm: recovery/prr".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "conformance"
PAGE = ROOT / "docs/conformance-scripts.md"
HEADER = re.compile(r"// ([^:]*): (\S.*\.)")
PLACE = re.compile(r"(?:RFC (\d+) )?§([\dA-Z]+(?:\.\d+)*)(?: .*)?")
SOURCE = re.compile(r"(?!RFC|§)([A-Za-z][\w/& ]*?(?: §[\d.]+)?)(?: \(.*\))?")
ALGORITHM = "// Algorithm: "
ALGORITHMS = ROOT / "crates/tcp/src"
EXAMPLES = 3
"""The most generated scripts that are listed for a section; the others are counted."""
HEAD = """<!-- Generated from the headers of the scripts in conformance: make generated -->
# Conformance scripts by RFC section

Each script proves the sentence beside it. Run one, or all of them, with `ackclock conform`:

    ackclock conform conformance/states/established-rst.pkt -v
    ackclock conform conformance
"""


def algorithms(root: Path = SCRIPTS) -> dict[str, list[str]]:
    """The scripts of each algorithm, by the algorithm's file below ``crates/tcp/src`` without its ending.

    Raises:
        BadHeaderError: there is no such file.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(root.rglob("*.pkt")):
        second = path.read_text(encoding="utf-8").split("\n", 2)[1]
        if not second.startswith(ALGORITHM):
            continue
        name = second.removeprefix(ALGORITHM)
        if not (ALGORITHMS / f"{name}.rs").is_file():
            script = path.relative_to(root).as_posix()
            raise BadHeaderError(f"{script}:2: found {name!r}; expected a file below crates/tcp/src")
        found[name].append(path.relative_to(root).as_posix())
    return dict(found)


class BadHeaderError(Exception):
    """A script whose first line is not a header. The text names the file and says what is expected."""


@dataclass(frozen=True)
class Header:
    """The first line of a script."""

    path: str
    """Below `conformance`, with slashes."""
    sections: tuple[tuple[int, str], ...]
    """Numbers of RFCs and their sections; 0 and a name, perhaps with a section, for another source."""
    proves: str
    generated: bool
    """Whether a tool wrote the script."""


def header(path: Path, root: Path = SCRIPTS) -> Header:
    """Read the header of a script."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(root).as_posix()
    first = text.split("\n", 1)[0]
    found = HEADER.fullmatch(first)
    sections = places(found[1]) if found else ()
    if not found or not sections:
        wanted = '"// RFC 9293 §3.4: a sentence that ends with a full stop."'
        raise BadHeaderError(f"{name}:1: found {first!r}; expected {wanted}")
    return Header(name, sections, found[2], "\n// Written by " in text)


def places(where: str) -> tuple[tuple[int, str], ...]:
    """Read the part of a header before the colon; nothing if a place is none."""
    read: list[tuple[int, str]] = []
    # Commas in parentheses separate nothing.
    for part in re.split(r", (?![^(]*\))", where):
        if place := PLACE.fullmatch(part):
            rfc = int(place[1]) if place[1] else read[-1][0] if read else 0
            if not rfc:
                return ()
            read.append((rfc, place[2]))
        elif source := SOURCE.fullmatch(part):
            read.append((0, source[1]))
        else:
            return ()
    return tuple(dict.fromkeys(read))


def headers(root: Path = SCRIPTS) -> list[Header]:
    """Read the headers of all scripts, in the order of their names."""
    return [header(path, root) for path in sorted(root.rglob("*.pkt"))]


def page(found: list[Header]) -> str:
    """Return the page."""
    by_section: defaultdict[tuple[int, str], list[Header]] = defaultdict(list)
    for script in found:
        for section in script.sections:
            by_section[section].append(script)
    by_hand = sum(not script.generated for script in found)
    parts = [
        HEAD,
        f"{by_hand} scripts are written by hand. `make generated` writes {len(found) - by_hand} more: every order "
        "in which five segments\ncan arrive, and overlaps. A script is named by its path below `conformance`.\n",
    ]
    rfc = -1
    for section in sorted(by_section, key=place_in_page):
        if section[0] != rfc:
            rfc = section[0]
            parts.append(f"## RFC {rfc}\n" if rfc else "## Other sources\n")
        scripts = by_section[section]
        written = [script for script in scripts if script.generated]
        listed = [script for script in scripts if not script.generated] + written[:EXAMPLES]
        rows = [
            f"| `{script.path.removesuffix('.pkt')}` | {script.proves[0].upper()}{script.proves[1:]} |"
            for script in listed
        ]
        if len(written) > EXAMPLES:
            folder = written[0].path.split("/")[0]
            rows.append(f"| `{folder}` | {len(written) - EXAMPLES} more like the last {EXAMPLES}. |")
        title = f"Section {section[1]}" if rfc else section[1]
        parts.append(f"### {title}\n\n| script | what it proves |\n| --- | --- |\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def place_in_page(section: tuple[int, str]) -> tuple[bool, int, list[str]]:
    """Return what sections are sorted by: RFCs by number, then the other sources."""
    rfc, name = section
    return not rfc, rfc, [part.zfill(3) for part in name.split(".")]


def files() -> Iterator[tuple[Path, str]]:
    """The page."""
    yield PAGE, page(headers())
