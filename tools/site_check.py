"""Checks a built site: it loads nothing from other sites, and its internal links have targets.

usage: tools/site_check.py [FOLDER]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
LOADS = {"src", "srcset", "poster", "data", "action", "background"}
"""Attributes that make a browser fetch something; `href` does so only in a `link`."""
IN_STYLES = re.compile(r"""(?:url\(|@import)\s*["']?([^"')\s;]+)""")


class References(HTMLParser):
    """The resources that a page loads, the targets of its links, and its anchors."""

    def __init__(self) -> None:
        """Start with empty lists."""
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.classes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the references of a tag."""
        for name, value in attrs:
            if not value:
                continue
            if name in LOADS or (name == "href" and tag == "link"):
                self.loads += [part.split()[0] for part in value.split(",")] if name == "srcset" else [value]
            elif name == "href":
                self.links.append(value)
            elif name == "style":
                self.loads += IN_STYLES.findall(value)
            elif name in {"id", "name"}:
                self.places.add(value)
            elif name == "class":
                self.classes |= set(value.split())


def elsewhere(reference: str) -> bool:
    """Whether a reference leaves the site."""
    parts = urlsplit(reference)
    return parts.scheme not in {"", "data"} or bool(parts.netloc)


def wrong(folder: Path) -> Iterator[str]:
    """Yield the errors of the site in a folder, one line each."""
    pages = {path: read(path) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(folder)
        yield from (f"{name}: loads {what} from elsewhere" for what in page.loads if elsewhere(what))
        if "mermaid" in page.classes:
            yield f"{name}: has a mermaid diagram, whose program the theme fetches from elsewhere"
        for what in page.loads + page.links:
            if not elsewhere(what) and not leads(what, path, folder, pages):
                yield f"{name}: {what} leads nowhere"
    for path in sorted(folder.rglob("*.css")):
        for what in IN_STYLES.findall(path.read_text(encoding="utf-8")):
            if elsewhere(what):
                yield f"{path.relative_to(folder)}: loads {what} from elsewhere"
    if not pages:
        yield f"{folder}: no page in it"


def read(path: Path) -> References:
    """Parse a page's references."""
    page = References()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def leads(reference: str, path: Path, folder: Path, pages: dict[Path, References]) -> bool:
    """Whether a reference of a page leads to a file of the site, and to an anchor in it."""
    parts = urlsplit(reference)
    if parts.scheme == "data" or path.name == "404.html":
        return True
    to = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
    to = to / "index.html" if to.is_dir() else to
    if not to.is_file() or not to.is_relative_to(folder.resolve()):
        return False
    page = pages.get(to)
    return not parts.fragment or page is None or unquote(parts.fragment) in page.places


def main() -> int:
    """Print the errors."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site"
    said = list(wrong(folder.resolve()))
    print("\n".join([*said, f"site: {len(said)} mistakes"]))
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
