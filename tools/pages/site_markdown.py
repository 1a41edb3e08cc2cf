"""Converts the repository's Markdown to the site's dialect: links, lists, and code attributes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^ *(`{3,}|~{3,})")
ITEM = re.compile(r" *(?:[-*+]|\d+[.)]) +")
LINK = re.compile(r"\]\((?!#|[a-z]+:)([^)\s#]+)(#[^)\s]*)?\)")
MOVED = {"README.md": "index.md", "docs/algorithms.md": "algorithms/index.md", "scenarios": "scenarios.md"}
"""Pages with another place in the site, or made from a folder."""
WHOLE = ("papers/", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
"""Files outside docs/ that become pages."""


def outside_fences(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is outside fenced code."""
    fence = ""
    for line in text.splitlines(keepends=True):
        found = FENCE.match(line)
        if fence:
            yield line, False
            if found and found[1].startswith(fence):
                fence = ""
        else:
            fence = found[1] if found else ""
            yield line, not fence


def place(path: str) -> str:
    """The place in the site of a file or folder of the repository; source files get a page that shows them."""
    if path in MOVED:
        return MOVED[path]
    if path == "docs/decisions":
        return "decisions/README.md"
    if path.startswith("docs/") and not path.endswith(".py"):
        return re.sub(r"\.ipynb$", ".md", path.removeprefix("docs/"))
    if path.startswith(WHOLE) and path.endswith(".md"):
        return path
    return f"source/{path}.md"


def target(link: str, page: str) -> str:
    """The repository path that a page's relative link refers to."""
    return os.path.normpath(PurePosixPath(page).parent / link)


def sources(text: str, page: str) -> Iterator[str]:
    """Source files, or folders of them, that a page of the repository links to."""
    for line, code in outside_fences(text):
        for link in LINK.finditer(line) if code else ():
            path = target(link[1], page)
            if place(path).startswith("source/") and (ROOT / path).exists():
                yield path


def mend(text: str, page: str, uri: str) -> str:
    """Adapt the links of a page to its place in the site.

    Args:
        text: Markdown.
        page: the page's path in the repository.
        uri: its path in the site's tree of Markdown files.
    """

    def mended(link: re.Match[str]) -> str:
        there = os.path.relpath(place(target(link[1], page)), PurePosixPath(uri).parent)
        return f"]({PurePosixPath(there)}{link[2] or ''})"

    return "".join(LINK.sub(mended, line) if outside else line for line, outside in outside_fences(text))


def indented(text: str) -> str:
    """The text with the content of list items indented by four, not by the width of the bullet."""
    out: list[str] = []
    widths: list[int] = []
    for line, outside in outside_fences(text):
        deep = len(line) - len(line.lstrip(" "))
        if line.strip() and (outside or not out or FENCE.match(line)):
            ends = not out or not out[-1].strip() or ITEM.match(line)
            while widths and deep < widths[-1] and ends:
                widths.pop()
        cut = min(deep, widths[-1]) if widths else 0
        out.append(" " * 4 * len(widths) + line[cut:] if line.strip() else line)
        if outside and (item := ITEM.match(line)):
            widths.append(len(item[0]))
    return "".join(out)
