"""Finds the phrases of tools/language.toml in pages, comments and printed text, and its words in identifiers.

Code and quotes are not searched for phrases. Each hit is printed with its file, its line, and what to write instead.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tools/language.toml"
PAGES = (".md", ".ipynb", ".html")
CODE = (".rs", ".py", ".pyi", ".ts", ".mts", ".mjs", ".toml", ".sh")
NOT_PROSE = re.compile(
    r"^ *(```+|~~~+).*?^ *\1|<(?:script|style)\b.*?</(?:script|style)>|<!--.*?-->|<[^>\n]*>|^ *>[^\n]*|^\|[^\n]*"
    r"|`+[^`]*`+|\]\([^)]*\)|\"[^\"]{1,600}\"|“[^”]*”|https?://\S+",
    re.S | re.M | re.I,
)
"""Fenced code, tags, block quotes, tables; code, addresses and quotes in a line."""
QUOTED = re.compile(r"`+[^`]*`+|\\?\"[^\"]{1,600}\"|“[^”]*”|https?://\S+", re.S)
TABLE = re.compile(r"^\|([^\n]*)$", re.M)
LITERAL = (
    r"(?:[bfr]{0,2}(?:\"{3}.*?\"{3}|'{3}.*?'{3}|r?#+\".*?\"#+"
    r"|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`))"
)
PIECES = re.compile(
    r"(?P<comment>(?:(?<![:\"'])//|(?<![\w&'\"$])#(?!\[|!\[))[^\n]*(?:\n[ \t]*(?://|#(?!\[|!\[))[^\n]*)*|/\*.*?\*/)"
    rf"|(?P<text>{LITERAL}(?:[ \t]*\n[ \t]*{LITERAL})*)",
    re.S,
)
"""Comments on consecutive lines, and literals, of any of the languages."""
ENDS = re.compile(r"""^[bfr]{0,2}#*(?:\"{3}|'{3}|[\"'`])|(?:\"{3}|'{3}|[\"'`])#*$|[\"'`]\s*\n\s*[bfr]{0,2}[\"'`]""")
MARKS = re.compile(r"^[ \t]*(?://[/!]?|#+|/?\*+/?)", re.M)


def blank(match: re.Match[str]) -> str:
    """As many characters that are in no phrase."""
    return re.sub(r"[^\n]", "¤", match[0])


def prose(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """The prose of a file: where a piece of it begins, and the piece, with everything else masked."""
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
        for source in ("".join(cell["source"]) for cell in cells):
            first = json.dumps(source.splitlines()[0], ensure_ascii=False)[:-1]
            yield max(0, text.find(first)), NOT_PROSE.sub(blank, source)
    elif path.suffix in PAGES:
        yield 0, NOT_PROSE.sub(blank, text)
        yield from ((row.start(), QUOTED.sub(blank, row[0])) for row in TABLE.finditer(text))
    else:
        for piece in PIECES.finditer(text):
            masked = (MARKS if piece["comment"] else ENDS).sub(blank, piece[0])
            yield piece.start(), QUOTED.sub(blank, masked.replace("\\\n", "¤\n").replace("\\n", "¤¤"))


def identifiers(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """The code of a file, without comments and literals."""
    if path.suffix in {".rs", ".py", ".ts", ".mts"}:
        yield 0, PIECES.sub(blank, text)


def hits() -> Iterator[str]:
    """Each hit, as a line."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    # Between two words of a phrase there may be a line break, with the marks of a comment.
    phrases = [(re.compile(one["find"].replace(" ", r"[\s¤]+")), one["write"]) for one in listed["phrase"]]
    words = [(re.compile(rf"\b(?:{one['find']})\b"), one["write"]) for one in listed["identifier"]]
    command = ["git", "ls-files", "-co", "--exclude-standard", *(f"*{end}" for end in (*PAGES, *CODE)), "Makefile"]
    for name in subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines():
        path = ROOT / name
        if not path.is_file() or path.is_symlink() or path == LIST:
            continue
        text = path.read_text(encoding="utf-8")
        for patterns, pieces in ((phrases, prose(path, text)), (words, identifiers(path, text))):
            for at, piece in pieces:
                for find, write in patterns:
                    for match in find.finditer(piece):
                        line = text.count("\n", 0, at) + piece.count("\n", 0, match.start()) + 1
                        yield f"{name}:{line}: {' '.join(match[0].replace('¤', ' ').split())!r}; write {write}"


def main() -> int:
    """Print the hits."""
    found = list(dict.fromkeys(hits()))
    print("\n".join([*found, f"language: {len(found)} to rewrite"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
