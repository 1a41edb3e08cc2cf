"""A newcomer's first view: README's picture, the links for a lecture, the address of the publisher."""

from __future__ import annotations

import base64
import json
import re
import tomllib
import zlib
from pathlib import Path

import tomli_w

import ackclock as ak
import front_picture
from ackclock import lab_page

ROOT = Path(__file__).resolve().parents[2]
LECTURE = (ROOT / "docs/teach.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_first_picture_shows_the_runs_of_the_first_command() -> None:
    kept = front_picture.PICTURE.read_text(encoding="utf-8")
    assert front_picture.words(kept) == front_picture.words(front_picture.drawn(front_picture.measured()))
    command = re.search(r"^\$ ackclock run scenarios/two-paths\.toml --seeds (\d+)(.*)$", README, re.MULTILINE)
    assert command is not None
    assert int(command[1]) == front_picture.SEEDS
    assert re.findall(r"--stack (\S+)", command[2]) == list(front_picture.SENDERS)


def test_the_first_forty_lines_say_problem_for_whom_what_to_type_what_comes_out_and_what_it_is_not() -> None:
    first = "\n".join(README.splitlines()[:40])
    marks = ("Is my TCP hurting me", "It is for", "$ pip install", "newreno", "front.svg", "It is not")
    places = [first.find(mark) for mark in marks]
    assert -1 not in places
    assert places == sorted(places)


def test_readme_has_at_most_two_hundred_lines() -> None:
    assert len(README.splitlines()) <= 200


def test_every_link_of_the_lecture_leads_to_the_lab_page_and_opens_there() -> None:
    links = re.findall(r"\]\((http[^)]+)\)", LECTURE)
    assert len(links) >= 20
    presets = {
        f"{path.stem}/{preset['id']}"
        for path in (ROOT / "web/presets").glob("*.toml")
        for preset in tomllib.loads(path.read_text(encoding="utf-8"))["preset"]
    }
    stacks = {one["name"] for one in ak.stacks()}
    states = 0
    for link in links:
        page, kind, value = re.fullmatch(r"(.*)#(preset|lab)=(.*)", link).groups()  # type: ignore[union-attr]
        assert page == f"http://{lab_page.HOST}:{lab_page.PORT}/"
        if kind == "preset":
            assert value in presets, link
            continue
        version, packed = value.split(".")
        assert int(version) == lab_page.VERSION
        padded = packed + "=" * (-len(packed) % 4)
        state = json.loads(zlib.decompress(base64.urlsafe_b64decode(padded), wbits=-zlib.MAX_WBITS))
        assert 1 <= len(state["stacks"]) <= 4
        assert {one["name"] for one in state["stacks"]} <= stacks
        ak.Scenario.from_toml(tomli_w.dumps(state["scenario"]))
        states += 1
    assert states == 2


def test_every_link_of_the_lecture_says_what_to_look_for_and_what_to_ask() -> None:
    rows = [line for line in LECTURE.splitlines() if re.match(r"\| \[", line)]
    assert len(rows) >= 18
    for row in rows:
        _, _, look_for, ask, _ = row.split("|")
        assert look_for.strip().endswith(".")
        assert "?" in ask
