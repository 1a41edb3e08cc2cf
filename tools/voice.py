"""Finds the phrases of tools/voice.toml in the project's prose; draws sentences for a reader to judge.

Without options each hit is printed with its file, line and replacement, and the exit code is 1 if there is one.
``--draw 200 --seed 21`` prints 200 sentences instead, drawn from pages, comments and printed strings. Tests' strings
are not drawn, because users never see them.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from prose import ROOT, Passage, files, hidden, passages, sentences

PHRASES = ROOT / "tools/voice.toml"


@dataclass(frozen=True)
class Phrase:
    """A phrase to avoid, and what to write instead."""

    find: re.Pattern[str]
    write: str
    before: str
    """A sentence in which it is found."""


@dataclass(frozen=True)
class Hit:
    """A phrase that was found."""

    path: Path
    line: int
    words: str
    write: str

    def __str__(self) -> str:
        """One line: place, words found, replacement."""
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.words!r}; write {self.write}"


def phrases() -> list[Phrase]:
    """The list of tools/voice.toml. A blank in a pattern also matches a line break."""
    listed = tomllib.loads(PHRASES.read_text(encoding="utf-8"))["phrase"]
    return [Phrase(re.compile(one["find"].replace(" ", r"\s+")), one["write"], one["before"]) for one in listed]


def hits(found: Iterable[Passage], avoid: list[Phrase]) -> Iterator[Hit]:
    """Each place where a passage has a phrase outside code and quotes."""
    for passage in found:
        text = hidden(passage.text)
        for phrase in avoid:
            for match in phrase.find.finditer(text):
                yield Hit(passage.path, passage.line_at(match.start()), " ".join(match[0].split()), phrase.write)


def prose() -> Iterator[Passage]:
    """All the prose of the repository except the list of phrases."""
    for path in files():
        if path != PHRASES:
            yield from passages(path, path.read_text(encoding="utf-8"))


def drawn(number: int, seed: int) -> list[str]:
    """Sentences of all files, each with its place, chosen by the seed."""
    every = [
        f"{passage.path.relative_to(ROOT)}:{line}: {sentence}"
        for passage in prose()
        if passage.kind != "string" or not {"tests", "tests.rs"} & set(passage.path.parts)
        for line, sentence in sentences(passage)
    ]
    return random.Random(seed).sample(every, min(number, len(every)))


def main() -> int:
    """Prints the hits, or a draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", type=int, metavar="N", help="print N sentences instead")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default: 1)")
    given = parser.parse_args()
    if given.draw is not None:
        print("\n".join(drawn(given.draw, given.seed)))
        return 0
    found = list(hits(prose(), phrases()))
    for hit in found:
        print(hit)
    print(f"voice: {len(found)} phrases to rewrite")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
