"""docs/algorithms.md, from the headers of the algorithms' files.

For each slot (a folder of crates/tcp/src) and each algorithm (a file) the page has: idea, source, the code's names for
the source's terms, departures, points that the source leaves open, parameters with their defaults, and the named stacks
that use it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "crates/tcp/src"
PAGE = ROOT / "docs/algorithms.md"
SLOTS = (
    "rto", "detect", "detect/threshold", "disorder", "recovery", "timeout", "congestion", "startup", "spurious", "undo",
    "ack", "receive_window",
)  # fmt: skip
PARAGRAPHS = ("Source", "Idea", "Departures", "Unsaid in the source", "Unsaid")
HEAD = """<!-- Generated from the headers in crates/tcp/src: make generated -->
# Algorithms

A stack is one answer to each of these questions. `ackclock stacks` lists the named stacks, and `--set` or
`[flow.set]` replaces any part or parameter: `--set recovery=newreno`, `--set detect.threshold.alpha=0.25`. Each answer
is one file, and this page is made from the headers of these files.
"""


@dataclass
class Header:
    """The text at the top of a file."""

    title: str
    parts: dict[str, str] = field(default_factory=dict)
    """Paragraphs that begin with one of the words in PARAGRAPHS."""
    table: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)


def plain(text: str) -> str:
    """Remove rustdoc's links, which have no target on this page."""
    return re.sub(r"\[(`[^`\]]+`)\](?:\([^)]*\))?", r"\1", text).replace("super::", "")


def blocks(lines: list[str]) -> Iterator[str]:
    """Yield paragraphs and tables; a word in PARAGRAPHS starts a new one even without an empty line before it."""
    block: list[str] = []
    for line in [*lines, ""]:
        begins = any(line.startswith(f"{name}:") for name in PARAGRAPHS)
        table = line.startswith("|") != bool(block and block[-1].startswith("|"))
        if (not line or begins or table) and block:
            yield "\n".join(block)
            block = []
        if line:
            block.append(line)


def header(path: Path) -> Header:
    """Parse the text at the top of a file."""
    lines = [line[3:].strip() for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("//!")]
    head = Header(plain(lines[0]))
    for block in blocks(lines[1:]):
        name, _, text = block.partition(":")
        if block.startswith("|"):
            head.table = block.splitlines()
        elif name in PARAGRAPHS:
            # "Departures: none. Unsaid: …" on one line becomes two paragraphs.
            first, _, second = text.partition(" Unsaid: ")
            head.parts[name.split()[0]] = plain(" ".join(first.split()))
            if second:
                head.parts["Unsaid"] = plain(" ".join(second.split()))
        else:
            head.rest.append(plain(block))
    return head


def kebab(name: str) -> str:
    """`SackFf96` as scenario files spell it: `sack-ff96`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def answers(slot: str) -> Iterator[tuple[str, str, str]]:
    """Kind, module and description type of each variant of the slot's `…Spec`, in the order of the file."""
    text = (ENGINE / f"{slot}.rs").read_text(encoding="utf-8")
    found = re.search(r"pub enum (\w+Spec) \{\n(.*?)\n\}", text, re.DOTALL)
    if not found:
        raise SystemExit(f"{slot}.rs: no description enum")
    named = r'^(?:    #\[serde\(rename = "([a-z0-9-]+)"\)\]\n)?    (\w+)(?:\((\w+)::(\w+)\)| \{[^}]*\})?,$'
    for name, variant, module, spec in re.findall(named, found[2], re.MULTILINE):
        if variant == "Custom":
            continue
        kind = name or kebab(variant)
        yield kind, module or module_of(slot, kind), spec


def module_of(slot: str, kind: str) -> str:
    """The file of a kind: either its name, or its first words (`delayed-reordered` is in `delayed`)."""
    words = kind.split("-")
    names = ["_".join(words[:n]) for n in range(len(words), 0, -1)]
    return next((name for name in names if (ENGINE / slot / f"{name}.rs").is_file()), names[0])


def parameters(text: str, spec: str, path: str) -> Iterator[tuple[str, str]]:
    """Yield path and meaning of each field of a description.

    Raises:
        SystemExit: a field has no default. Parts of a stack need none; they have a page of their own.
    """
    body = re.search(rf"pub struct {spec} \{{\n(.*?)\n\}}", text, re.DOTALL)
    comment: list[str] = []
    for line in body[1].splitlines() if body else []:
        at = line.strip()
        if at.startswith("///"):
            comment.append(at[3:].strip())
        elif named := re.match(r"pub (\w+): (\w+)", at):
            meaning = plain(" ".join(comment))
            if "efault" not in meaning and not named[2].endswith("Spec"):
                raise SystemExit(f"{spec}.{named[1]}: its comment does not state the default")
            yield f"{path}.{named[1]}", meaning
            comment = []


def users(slot: str, kind: str, stacks: list[dict[str, Any]]) -> list[str]:
    """The named stacks that use this algorithm."""
    first, _, inner = slot.partition("/")

    def part(stack: dict[str, Any]) -> dict[str, Any]:
        return (stack[first].get(inner) or {}) if inner else stack[first]

    return [stack["name"] for stack in stacks if part(stack).get("kind") == kind]


def capital(text: str) -> str:
    """Capitalise the start of a sentence, unless it is code."""
    return text[:1].upper() + text[1:]


def entry(slot: str, kinds: list[str], module: str, spec: str, stacks: list[dict[str, Any]]) -> Iterator[str]:
    """The part of the page for the kinds in one file."""
    path = ENGINE / slot / f"{module}.rs"
    names = ", ".join(f"`{kind}`" for kind in kinds)
    if not path.is_file():
        yield f"### {names}\n"
        return
    head, text = header(path), path.read_text(encoding="utf-8")
    yield f"### {names}: {head.title[0].lower() + head.title[1:] if head.title[:2].istitle() else head.title}\n"
    for name in ("Idea", "Source"):
        if name in head.parts:
            yield f"**{name}.** {capital(head.parts[name])}\n"
    yield from (f"{block}\n" for block in head.rest)
    for name in ("Departures", "Unsaid"):
        if head.parts.get(name, "none.") != "none.":
            yield f"**{name}.** {capital(head.parts[name])}\n"
    if head.table:
        yield "\n".join(head.table) + "\n"
    known = list(parameters(text, spec, slot.replace("/", "."))) if spec else []
    if known:
        yield "\n".join(["| parameter | meaning |", "| --- | --- |", *(f"| `{p}` | {m} |" for p, m in known)]) + "\n"
    using = [name for kind in kinds for name in users(slot, kind, stacks)]
    named = "all" if len(using) == len(stacks) else ", ".join(f"`{name}`" for name in using) or "none by name"
    yield f"Stacks: {named}. [{path.name}](../{path.relative_to(ROOT)})\n"


def page() -> str:
    """The whole page."""
    asked = [sys.executable, "-m", "ackclock", "stacks", "--json"]
    stacks = json.loads(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)
    out = [HEAD, "| stack | description |\n| --- | --- |"]
    out[-1] += "".join(f"\n| `{s['name']}` | {s['summary']} |" for s in stacks) + "\n"
    for slot in SLOTS:
        question = header(ENGINE / f"{slot}.rs").title
        out.append(f"## {question.split('?')[0]}? (`{slot.replace('/', '.')}`)\n")
        for (module, spec), kinds in groupby(answers(slot), key=lambda answer: answer[1:]):
            out.extend(entry(slot, [kind for kind, *_ in kinds], module, spec, stacks))
    return "\n".join(out)


def files() -> Iterator[tuple[Path, str]]:
    """The page."""
    yield PAGE, page()
