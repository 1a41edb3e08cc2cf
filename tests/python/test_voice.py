"""The list of phrases that prose avoids, and where it is searched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import voice
from prose import ROOT, passages

PHRASE = " ".join(("so", "many"))
"""Split here because this file is searched as well."""

BAD = f"Segments are sent, {PHRASE} at a time."
PLACES = {
    "a page": ("a.md", f"# A page\n\nFirst line.\n{BAD}\n", 4),
    "a cell of a table": ("a.md", f"| a |\n| --- |\n| {BAD} |\n", 3),
    "a notebook": ("a.ipynb", json.dumps({"cells": [{"cell_type": "markdown", "source": [BAD]}]}, indent=0), 6),
    "a page of the lab": ("a.html", f"<html>\n<p class='x'>{BAD}</p>\n", 2),
    "a Rust comment": ("a.rs", f"let x = '\"'; // {BAD}\n", 1),
    "a Rust comment of two lines": ("a.rs", f"//! Segments are sent, so\n//! {PHRASE.split()[1]} at a time.\n", 1),
    "a schema's description": ("a.rs", f"struct A {{\n    /// {BAD}\n    a: u8,\n}}\n", 2),
    "a Rust message": ("a.rs", f'fn f() {{\n    panic!("{BAD}");\n}}\n', 2),
    "a Rust message of two lines": ("a.rs", f'let m = "first \\\n   line, {PHRASE} \\\n  more";\n', 2),
    "a docstring": ("a.py", f'"""First.\n\n{BAD}\n"""\n', 3),
    "a Python comment": ("a.py", f"x = 1  # {BAD}\n", 1),
    "a command's help": ("a.py", f'x = option(\n    help="{BAD}",\n)\n', 2),
    "a message in two pieces": ("a.py", f'x = ("Segments are sent, so "\n    "{PHRASE.split()[1]} at a time.")\n', 1),
    "a formatted message": ("a.py", f'x = f"{{n}}: {BAD}"\n', 1),
    "a TypeScript comment": ("a.ts", f'const r = /"/;\n/**\n * {BAD}\n */\n', 3),
    "a TypeScript message": ("a.ts", f"const x = `{BAD}`;\n", 1),
    "a TOML comment": ("a.toml", f'a = "#"\nb = 1   # {BAD}\n', 2),
    "a TOML text": ("a.toml", f"a = '''\n{BAD}'''\n", 2),
    "a script's comment": ("a.sh", f"#!/bin/sh\n# {BAD}\n", 2),
    "a target's help": ("Makefile", f"all: x ## {BAD}\n", 1),
}


@pytest.mark.parametrize(("name", "text", "line"), PLACES.values(), ids=PLACES)
def test_a_phrase_is_found_on_its_line_in(name: str, text: str, line: int) -> None:
    found = list(voice.hits(passages(ROOT / name, text), voice.phrases()))
    assert [(hit.line, hit.words) for hit in found] == [(line, PHRASE)]
    assert str(found[0]).startswith(f"{name}:{line}: '{PHRASE}'; write ")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", f'The RFC says "{BAD}" here.\n'),
        ("a.md", f"Before.\n\n> {BAD}\n\nAfter.\n"),
        ("a.md", f"```text\n{BAD}\n```\n"),
        ("a.md", f"The name `{BAD}` is code.\n"),
        ("a.rs", f'// §2 says "{BAD}".\nlet x = "§2 says \\"{BAD}\\"";\n'),
        ("a.rs", f'//! §2 says "Segments are sent, {PHRASE}\n//! at a time."\n'),
        ("a.py", f"x = 'RFC 5681: \"{BAD}\"'\n"),
        ("a.toml", f"text = '§4: \"{BAD}\"'\n"),
        ("a.ts", f"// §2: “{BAD}”\n"),
    ],
)
def test_a_quote_and_code_are_not_searched(name: str, text: str) -> None:
    assert list(voice.hits(passages(ROOT / name, text), voice.phrases())) == []


@pytest.mark.parametrize("phrase", voice.phrases(), ids=lambda phrase: phrase.write)
def test_each_phrase_finds_its_example_and_not_its_replacement(phrase: voice.Phrase) -> None:
    assert phrase.find.search(phrase.before)
    assert not phrase.find.search(phrase.write)


def test_a_draw_is_the_same_for_the_same_seed_and_covers_pages_and_code() -> None:
    drawn = voice.drawn(300, 5)
    assert drawn == voice.drawn(300, 5) != voice.drawn(300, 6)
    assert len(drawn) == len(set(drawn)) == 300
    paths = {line.split(":")[0] for line in drawn}
    assert {Path(path).suffix for path in paths} >= {".md", ".rs", ".py"}


def test_a_hit_ends_the_command_with_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["voice.py"])
    monkeypatch.setattr(voice, "prose", lambda: passages(ROOT / "a.md", BAD))
    assert voice.main() == 1
    assert "a.md:1: " in capsys.readouterr().out
    monkeypatch.setattr(voice, "prose", lambda: passages(ROOT / "a.md", "Segments are sent in pairs."))
    assert voice.main() == 0
