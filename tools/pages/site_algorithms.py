"""A page for each algorithm: the header of its file, its parameters from the schema, the stacks that use it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import algorithms as page
from ackclock.api import Stack, stacks

HEAD = """# Algorithms

A stack is one answer to each of these questions; `ackclock stacks` lists the named ones, and `--set` or `[flow.set]`
exchanges any part or parameter: `--set recovery=newreno`, `--set detect.threshold.alpha=0.25`. Each answer is one file
of code, and has a page here.
"""
KINDS = re.compile(r"^\*\*`kind = \"([a-z0-9-]+)\"`\*\* (.*)$")


def documented() -> dict[tuple[str, str], tuple[str, str]]:
    """The description and the table of parameters of each algorithm, taken from docs/scenario.md.

    The key is the slot as written in scenario files, and the kind.
    """
    text = (page.ROOT / "docs/scenario.md").read_text(encoding="utf-8").partition("## Parameters of stacks")[2]
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for slot, part in re.findall(r"^#{3,5} `([a-z_.]+)`\n(.*?)(?=^#{3,5} |\Z)", text, re.DOTALL | re.MULTILINE):
        for block in re.split(r"\n(?=\*\*`kind = )", part):
            first, _, rest = block.partition("\n")
            if kind := KINDS.match(first):
                found[slot, kind[1]] = kind[2], "\n".join(line for line in rest.splitlines() if line.startswith("|"))
    return found


def parts_of(slot: str, table: str, text: str) -> str:
    """The tables of nested parameters, such as ``detect.threshold.cap``."""
    out = ""
    for key in re.findall(r"^\| `([a-z_.]+)` \| (?:[^|]*, )?table \|", table, re.MULTILINE):
        if part := re.search(rf"^#+ `{re.escape(key)}`\n(.*?)(?=^#+ |\Z)", text, re.DOTALL | re.MULTILINE):
            out += f"\n### `{key}`\n\n{part[1].strip()}\n"
    return out


def answer(slot: str, kind: str, module: str, named: list[Stack], about: tuple[str, str], reference: str) -> str:
    """The page of one algorithm, as Markdown with links relative to docs/algorithms/SLOT/."""
    path = page.ENGINE / slot / f"{module}.rs"
    key = slot.replace("/", ".")
    out = [f"# `{kind}`\n", f'`{key} = "{kind}"`: {about[0]}\n']
    if path.is_file():
        head = page.header(path)
        out += [f"**{page.capital(head.title)}**\n"]
        out += [f"**{name}.** {page.capital(head.parts[name])}\n" for name in ("Idea", "Source") if name in head.parts]
        out += [f"{block}\n" for block in head.rest]
        out += [
            f"**{name}.** {page.capital(head.parts[name])}\n"
            for name in ("Departures", "Unsaid")
            if head.parts.get(name, "none.") != "none."
        ]
        if head.table:
            out += ["## The source's names here\n", "\n".join(head.table) + "\n"]
    if about[1]:
        out += ["## Parameters\n", about[1] + "\n", parts_of(slot, about[1], reference)]
    using = page.users(slot, kind, [dict(stack) for stack in named])
    all_of = "All named stacks." if len(using) == len(named) else ""
    out += [
        "## Stacks\n",
        all_of or ", ".join(f"`{name}`" for name in using) or "None by name: choose it with `--set`.",
    ]
    up = "../" * (3 + slot.count("/"))
    if path.is_file():
        out += ["\n## Code\n", f"[{path.relative_to(page.ROOT)}]({up}{path.relative_to(page.ROOT)})"]
    return decided("\n".join(out) + "\n", up)


def decided(text: str, up: str) -> str:
    """Link every decision mentioned by number; ``up`` leads to the repository's root."""

    def link(found: re.Match[str]) -> str:
        (path,) = (page.ROOT / "docs/decisions").glob(f"{found[1]}-*.md")
        return f"[{found[0]}]({up}docs/decisions/{path.name})"

    return re.sub(r"\bdecision (\d{4})\b", link, text)


def pages() -> Iterator[tuple[str, str]]:
    """Yield path below docs/ and text of each page, the overview first."""
    named, about = stacks(), documented()
    reference = (page.ROOT / "docs/scenario.md").read_text(encoding="utf-8")
    overview = [HEAD]
    found: list[tuple[str, str]] = []
    for slot in page.SLOTS:
        key = slot.replace("/", ".")
        question = page.header(page.ENGINE / f"{slot}.rs").title.split("?")[0]
        overview.append(f"## {question}? (`{key}`)\n\n| answer | what it is |\n| --- | --- |")
        for kind, module, _ in page.answers(slot):
            said = about[key, kind]
            overview.append(f"| [`{kind}`]({slot}/{kind}.md) | {said[0]} |")
            found.append((f"algorithms/{slot}/{kind}.md", answer(slot, kind, module, named, said, reference)))
        overview.append("")
    overview += ["## Stacks\n", "| stack | what it is |", "| --- | --- |"]
    overview += [f"| `{stack['name']}` | {stack['summary']} |" for stack in named]
    yield "algorithms/index.md", "\n".join(overview) + "\n"
    yield from found
