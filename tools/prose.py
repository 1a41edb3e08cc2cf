"""Finds the prose in the repository's files: pages, comments, docstrings and the strings that programs print."""

from __future__ import annotations

import io
import json
import re
import subprocess
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
Kind = Literal["page", "comment", "string"]
PATTERNS = (
    "*.md",
    "*.ipynb",
    "*.html",
    "*.rs",
    "*.py",
    "*.pyi",
    "*.ts",
    "*.mts",
    "*.mjs",
    "*.toml",
    "*.sh",
    "Makefile",
)
HIDDEN = "¤"
"""Replaces each character that is not the project's own prose: code, addresses, quotes."""

_FENCE = re.compile(r"^ *(```+|~~~+)")
_TAG = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<!--.*?-->|<[^>]*>", re.S | re.I)
_QUOTES = re.compile(r"`+[^`]*`+|\]\([^)]*\)|\"[^\"]{1,600}\"|“[^”]*”|https?://\S+")
_RUST = re.compile(
    r"//[^\n]*|/\*.*?\*/|b?r(?P<hashes>#*)\".*?\"(?P=hashes)|b?\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\\n]|\\[^\n]{1,8})'", re.S
)
_SCRIPT = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`"
    r"|(?<=[=(,:;!&|?{}\[])\s*/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/",
    re.S,
)
_TOML = re.compile(r"#[^\n]*|\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'", re.S)
_SHELL = re.compile(r"(?<![^\s@])#+ [^\n]*")
_COMMENT = re.compile(r"^\s*(?://[/!]?|/\*+|#+|\*/|\*(?=\s|$))[ ]?|\*/$")
_STRING = re.compile(r"^[A-Za-z]{0,3}#*(?:\"\"\"|'''|[\"'`])|(?:\"\"\"|'''|[\"'`])#*$")
_ESCAPED = re.compile(r"\\(?:[nrt]|(?=\n)|u\{?[0-9A-Fa-f]{2,8}\}?)")


@dataclass(frozen=True)
class Passage:
    """Prose of a file, with the file's line breaks, starting at line `line`."""

    path: Path
    line: int
    kind: Kind
    text: str

    def line_at(self, position: int) -> int:
        """The line of the file in which the character at `position` of the text is."""
        return self.line + self.text.count("\n", 0, position)


def hidden(text: str) -> str:
    """Mask code, addresses and quotes in the text; positions are kept."""
    return _QUOTES.sub(lambda match: re.sub(r"[^\n]", HIDDEN, match[0]), text)


def files() -> Iterator[Path]:
    """The files with prose that are in the repository or could be added to it."""
    command = ["git", "ls-files", "-co", "--exclude-standard", *PATTERNS]
    for name in subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines():
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            yield path


def passages(path: Path, text: str) -> Iterator[Passage]:
    """Extract the prose of a file, given its name and text."""
    match path.suffix:
        case ".md":
            yield from _markdown(path, text)
        case ".ipynb":
            yield from _notebook(path, text)
        case ".html":
            blank = _TAG.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
            yield from _paragraphs(path, enumerate(blank.splitlines(), 1))
        case ".py" | ".pyi":
            yield from _python(path, text)
        case ".rs":
            yield from _scanned(path, text, _RUST)
        case ".ts" | ".mts" | ".mjs":
            yield from _scanned(path, text, _SCRIPT)
        case ".toml":
            yield from _scanned(path, text, _TOML)
        case _:
            yield from _scanned(path, text, _SHELL)


def _paragraphs(path: Path, lines: Iterator[tuple[int, str]]) -> Iterator[Passage]:
    """Group lines that are not separated by an empty line."""
    held: list[str] = []
    begin = 0
    for number, line in lines:
        if held and (not line.strip() or number != begin + len(held)):
            yield Passage(path, begin, "page", "\n".join(held))
            held = []
        if line.strip():
            begin = begin if held else number
            held.append(line)
    if held:
        yield Passage(path, begin, "page", "\n".join(held))


def _markdown(path: Path, text: str) -> Iterator[Passage]:
    """Paragraphs, list items, headings and cells of tables; fenced code and block quotes are not prose."""
    prose: list[tuple[int, str]] = []
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        if match := _FENCE.match(line):
            if not fence:
                fence = match[1]
            elif match[1].startswith(fence):
                fence = ""
        elif line.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line.strip("|")):
                if cell.strip(" :-"):
                    yield Passage(path, number, "page", cell.strip())
        elif not fence and not line.lstrip().startswith(">"):
            if re.match(r"\s*(?:[-*+]|\d+\.) |#", line):
                prose.append((number - 1, ""))
            prose.append((number, line))
    yield from _paragraphs(path, iter(prose))


def _notebook(path: Path, text: str) -> Iterator[Passage]:
    """The text cells of a notebook."""
    raw = text.splitlines()
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "markdown":
            for line in "".join(cell["source"]).splitlines():
                written = json.dumps(line, ensure_ascii=False)[:-1]
                number = next((at for at, found in enumerate(raw, 1) if written in found), 1)
                if line.strip() and not line.startswith(("```", ">")):
                    yield Passage(path, number, "page", line)


def _python(path: Path, text: str) -> Iterator[Passage]:
    """Comments and strings; a docstring is a comment."""
    statement = True
    pieces: list[tuple[int, str, Kind]] = []
    quiet = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            pieces.append((token.start[0], token.string, "comment"))
        elif token.type == tokenize.STRING:
            pieces.append((token.start[0], token.string, "comment" if statement else "string"))
        elif token.type != tokenize.NL:
            pieces.append((0, "", "string"))
        statement = token.type == tokenize.NEWLINE or (statement and token.type in quiet)
    yield from _joined(path, pieces)


def _scanned(path: Path, text: str, pattern: re.Pattern[str]) -> Iterator[Passage]:
    """The comments and strings that the pattern finds."""
    pieces: list[tuple[int, str, Kind]] = []
    line, end = 1, 0
    for match in pattern.finditer(text):
        between = text[end : match.start()]
        if between.strip():
            pieces.append((0, "", "string"))
        line += between.count("\n")
        kind: Kind = "comment" if re.match(r"//|/\*|#", match[0]) else "string"
        pieces.append((line, match[0], kind))
        line, end = line + match[0].count("\n"), match.end()
    yield from _joined(path, pieces)


def _joined(path: Path, pieces: list[tuple[int, str, Kind]]) -> Iterator[Passage]:
    """Join comments on consecutive lines, and adjacent strings, into one passage each."""
    held: Passage | None = None
    for line, piece, kind in pieces:
        if kind == "comment" and not piece.startswith(('"', "'", "r")):
            bare = "\n".join(_COMMENT.sub("", part) for part in piece.split("\n"))
        else:
            bare = _bare_string(piece)
        follows = held is not None and held.kind == kind and 0 < line <= held.line_at(len(held.text)) + 1
        if held and follows:
            gap = "\n" * (line - held.line_at(len(held.text))) or " "
            held = Passage(path, held.line, kind, held.text + gap + bare)
            continue
        if held and held.text.strip():
            yield held
        held = Passage(path, line, kind, bare) if line else None
    if held and held.text.strip():
        yield held


def _bare_string(literal: str) -> str:
    """A literal without its quotes; escapes become blanks, escaped quotes become quotes."""
    return _ESCAPED.sub(" ", _STRING.sub("", literal)).replace('\\"', '"').replace("\\'", "'")


_SENTENCE = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z\"`(*\[])|\n\s*\n")
_WORD = re.compile(r"[A-Za-z]{2,}")


def sentences(passage: Passage) -> Iterator[tuple[int, str]]:
    """The sentences of at least four words, each with its line."""
    at = 0
    for end in [*(match.end() for match in _SENTENCE.finditer(passage.text)), len(passage.text)]:
        part = passage.text[at:end]
        words = [word for word in hidden(part).split() if _WORD.search(word)]
        enough = 4 if passage.kind != "string" else 5
        prose = sum(sign.isalpha() or sign.isspace() for sign in part) >= 0.75 * len(part)
        if len(words) >= enough and (prose or passage.kind != "string"):
            yield passage.line_at(at + len(part) - len(part.lstrip())), " ".join(part.split())
        at = end
