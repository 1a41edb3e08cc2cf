"""The pages of ``ackclock reproduce``: what a reader finds, and that they are self-contained."""

from __future__ import annotations

import hashlib
import re
import shutil
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import ackclock
from ackclock import lab_page
from ackclock.papers import claims, report
from ackclock.papers import reproduce as command
from ackclock.papers.folder import every
from ackclock.papers.one import Wish
from ackclock.papers.paper import Done, Paper
from ackclock.papers.parts import labels, shown_in
from ackclock.plot import style
from ackclock.quantities import count, duration
from ackclock.runs.laboratory import Spent
from ackclock.statistics import Verdict
from blanton_allman.points import KEY
from reproducing import PAPERS, lay_out, read_json

ROOT = Path(__file__).parents[2]
LAB = f"http://{lab_page.HOST}:{lab_page.PORT}/#preset="


class Page(HTMLParser):
    """The content of a page as a browser sees it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.references: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the tag and its references."""
        self.tags[tag] += 1
        self.text += " "
        for name, value in attrs:
            if name == "id":
                self.ids.append(str(value))
            if name in {"href", "xlink:href", "src", "srcset", "data", "action"}:
                self.references.append(str(value))
            self.references += re.findall(r"url\((.*?)\)", value or "")

    def handle_data(self, data: str) -> None:
        """Record the text."""
        self.text += data


def read(path: Path) -> tuple[str, Page]:
    """A page's source, and its content as a browser sees it."""
    text = path.read_text(encoding="utf-8")
    return text, Page(text)


def shown(path: Path) -> str:
    """A page's text."""
    return " ".join(read(path)[1].text.split())


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two made-up papers and an extra page, and with their complete results."""
    folder = tmp_path_factory.mktemp("made")
    reproduce_made_up(folder)
    return folder


@pytest.fixture
def made(made_once: Path, tmp_path: Path) -> Path:
    """Complete results of two made-up papers and an extra page; a test may change them."""
    shutil.copytree(made_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "results"


def reproduce_made_up(
    folder: Path,
    verdicts: Sequence[Verdict] = (Verdict.WITHIN, Verdict.OVERLAP, Verdict.IN_BOTH),
    named: Sequence[str] = (),
) -> Done:
    papers = folder / "papers"
    lay_out(papers, "made-up-1999", "other-2001", verdicts=verdicts)
    (papers / "README.md").write_text("# Papers\n\n## What was learned\n\n- **Much** was.\n\n## More\n\nNo.\n")
    what = [one for key, one in every(papers).items() if key in named or not named]
    return command.reproduce(Wish(what, named, papers, folder / "results", copy_to=folder / "docs"))


def check_alone(folder: Path) -> set[str]:
    """Check that the pages of a folder load only pages of that folder; return their names."""
    pages = {path.name: read(path) for path in folder.glob("*.html")}
    for name, (text, page) in pages.items():
        assert not page.tags.keys() & {"script", "link", "img", "iframe", "object", "embed", "base"}, name
        assert len(page.ids) == len(set(page.ids)), name
        assert not re.search(r"@import|url\(\s*[\"']?https?:|//[a-z]", text), name
        assert str(folder.parent) not in text, "nothing of the machine"
        for reference in page.references:
            if reference.startswith(LAB):
                continue
            file, _, place = reference.partition("#")
            assert not place or place in pages[file or name][1].ids, (name, reference)
            assert (file or name) in pages, (name, reference)
    return set(pages)


def test_pages_ask_for_nothing_and_their_links_lead_somewhere(undisturbed: Path, made: Path) -> None:
    assert check_alone(undisturbed / "results") == {"report.html", f"{KEY}.html", "comparison.html"}
    both = {"made-up-1999.html", "other-2001.html", "across.html"}
    assert check_alone(made) == {"report.html", "comparison.html", *both}


def test_each_figure_of_a_paper_leads_to_its_preset_in_the_lab(undisturbed: Path) -> None:
    text, page = read(undisturbed / "results" / f"{KEY}.html")
    figures = re.findall(r'<figure id="([\w-]+)"', text)
    assert [r.removeprefix(LAB) for r in page.references if r.startswith(LAB)] == [f"{KEY}/{name}" for name in figures]
    for key in (key for key, one in every(PAPERS).items() if isinstance(one, Paper)):
        code = "".join(path.read_text(encoding="utf-8") for path in (PAPERS / key).glob("*/*.py"))
        named = re.findall(r'"((?:fig|table)\d+(?:-\w+)?|states)"', code)
        presets = tomllib.loads((ROOT / "web" / "presets" / f"{key}.toml").read_text(encoding="utf-8"))["preset"]
        assert named
        assert set(named) <= {preset["id"] for preset in presets}, key


def test_every_page_leads_to_all_others_and_says_which_it_is(made: Path) -> None:
    names = ["report.html", "made-up-1999.html", "other-2001.html", "comparison.html", "across.html"]
    for at, name in enumerate(names):
        text, page = read(made / name)
        assert page.references[0] == "#content"
        assert page.references[1:6] == names
        assert re.findall(r'href="(\S+)" aria-current="page"', text) == [name]
        around = [other for i, other in enumerate(names) if abs(i - at) == 1]
        assert page.references[-len(around) :] == around


def test_the_front_page_counts_verdicts_and_leads_to_every_claim_that_differs(undisturbed: Path, made: Path) -> None:
    rows = read_json(undisturbed / "results" / "claims.json")
    _, page = read(undisturbed / "results" / "report.html")
    words = shown(undisturbed / "results" / "report.html")
    assert not page.tags["svg"]
    for kind in claims.Kind:
        of = Counter(row["verdict"] for row in rows if row["kind"] == kind.value)
        signs = {verdict.value: report.MARKS[verdict.value].sign for verdict in claims.Verdict}
        numbers = [f"{signs[v.value]} {v.counted(of[v.value])}" for v in claims.Verdict if of[v.value]]
        line = " ".join([f"{kind.value}, {of.total()}", *numbers])
        assert words.count(line) == (2 if of else 0), "all papers, and the only one"
    measured = [row["verdict"] for row in rows if row["kind"] == "measured"]
    checked = sum(verdict != "cannot be checked" for verdict in measured)
    assert words.count(f"{measured.count('holds')} of {checked} measured claims hold") == 2
    listed = {"differs", "partly"}
    differing = [f"{KEY}.html#{r['id']}" for r in rows if r["verdict"] in listed and r["kind"] == "measured"]
    assert [link for link in page.references if "#S" in link] == differing != []
    assert f"ackclock reproduce {KEY} --seeds 2" in words
    assert re.search(
        r"[\d,]+ runs; [\d.]+ \w+( \d+ \w+)? simulated; [\d.,]+ (million )?data packets; [\d.]+ s of processor",
        words,
    )
    words = shown(made / "report.html")
    assert "2 of 4 measured claims hold (50 %). measured, 6 ✓ 2 hold ✗ 2 differ ? 2 cannot be checked" in words
    assert words.count("measured, 3 ✓ 1 holds ✗ 1 differs ? 1 cannot be checked") == 2
    assert re.search(
        r"M-2 packets <again> few & none [\d,. \[\]]+packets "
        r"They counted something else\. [\d.,]+ is not below 10\. .*Rates are others\.",
        words,
    )
    assert "So it is." not in words, "a clause each"
    title = "made-up-1999".replace("-", " ").title()
    assert f"{title} 2 1 0 0 1 – 2 of 3 " in words  # noqa: RUF001
    assert "Figure of all. A line. Made by ackclock reproduce across from" in words.partition("What was learned")[0]
    assert "What was learned Much was. Papers paper measured claims" in words, "the lessons before the table"
    assert words.index("What was run Version") > words.index("Measured claims that differ")
    assert "What is the same in all?" in words
    assert "command ackclock reproduce " in words.lower()


def test_why_a_claim_differs_begins_with_the_cause_in_plain_words(made: Path) -> None:
    why = r"They counted something else\. [\d.,]+ is not below 10\."
    assert re.search(rf"✗ differs {why}.*\(arithmetic; shown by ackclock run it\)", shown(made / "made-up-1999.html"))
    assert re.search(rf"packets {why}.*\(arithmetic\)", shown(made / "report.html"))
    page = (made.parent / "papers" / "made-up-1999" / "RESULTS.md").read_text(encoding="utf-8")
    assert "- **M-2** (§2; packets <again>): They counted something else.\n  - " in page


def test_a_papers_page_has_every_claim_figure_command_and_hash(undisturbed: Path) -> None:
    path = undisturbed / "results" / f"{KEY}.html"
    (text, page), words = read(path), shown(path)
    rows = read_json(undisturbed / "results" / "claims.json")
    for row in rows:
        assert row["id"] in page.ids
        assert row["where"] in words
        assert row["note"][:40] in words
    marked = Counter(re.findall(r'<td data-label="verdict"><span class="verdict (\w+)">[^\n]*<br>', text))
    assert marked == Counter(report.MARKS[row["verdict"]].name for row in rows)
    assert page.tags["svg"] == page.tags["figure"] == 8
    assert words.count(f"ackclock reproduce {KEY} --seeds 2") == 1 + 8
    for file in ("scenario-ns2.toml", "scenario-paper.toml"):
        digest = hashlib.sha256((undisturbed / "papers" / KEY / file).read_bytes()).hexdigest()[:16]
        assert words.count(f"{file} {digest}") >= 3
    assert f"Ackclock {ackclock.__version__}" in words
    assert "5 s, seeds 1 to 2" in words
    assert "Compared with ns-2.35" in words
    assert "Two set-ups" in words
    parts = re.findall(r'<section id="([\w-]+)"', text)
    assert (parts[0], parts[-1]) == ("figures", "setup"), "figures first, the set-up last"
    assert "measured" not in re.findall(r'class="([^"]+)"', text), "times only on the front page"


@pytest.mark.parametrize(
    ("said", "unit", "shown"),
    [
        ("65.2", "%", "65.2 %"),
        ("0.96 (2.37 s to 3.33 s)", "s", "0.96 s (2.37 s to 3.33 s)"),
        ('"around" 40 to 80', "%", '"around" 40 to 80 %'),
        ("none after 3 s", "s", "none after 3 s"),
        ("2 (550/275)", "ratio", "2 (550/275)"),
        ("1; 1; 0", "ratio; ratio; events", "1; 1; 0"),
    ],
)
def test_published_numbers_have_their_unit(said: str, unit: str, shown: str) -> None:
    claim = claims.Claim("C-1", "§1", "it", said, "", unit, claims.Kind.MEASURED, "words")
    assert claims.published(claim) == shown


def test_links_to_the_lab_page_lead_where_the_user_says(made: Path) -> None:
    done = reproduce_made_up(made.parent / "again")
    done = replace(done, papers=[replace(one, own=True) for one in done.papers])
    file = "made-up-1999.html"
    here, there = (report.pages(done, [], [], made, lab)[file] for lab in (None, "https://lab.test/"))
    assert f'<a href="{LAB}made-up-1999/fig1">Open in the lab</a>, while <code>ackclock lab</code> runs.' in here
    assert '<a href="https://lab.test/#preset=made-up-1999/fig1">Open in the lab</a>.' in there
    assert LAB not in there


@pytest.mark.parametrize(
    ("name", "where", "drawn"),
    [
        ("fig2", "§4 Fig. 2(a)", True),
        ("fig2", "§4 Fig. 20", False),
        ("fig3-5", "§IV-A, Figures 4, 6", True),
        ("fig3-5", "§IV-A, Figures 6, 8", False),
        ("fig5-1", "§5.1 Fig. 5.1 (top)", True),
        ("fig5-8", "§5.1 Fig. 5.1 (top)", False),
        ("table5", "§5 Table 5, case II", True),
        ("table5", "§5 Fig. 5", False),
        ("fig6-events", "§3.3 Fig. 6(a)", True),
        ("states", "§3.3 Fig. 6", False),
    ],
)
def test_a_figure_has_beside_it_the_claims_that_name_it(name: str, where: str, drawn: bool) -> None:
    named = labels(where)
    assert bool(named & shown_in(name, named)) is drawn


def test_what_was_published_stands_beside_each_figure(undisturbed: Path) -> None:
    text, _ = read(undisturbed / "results" / f"{KEY}.html")
    (figure,) = re.findall(r'<figure id="fig9">.*?</figure>', text, flags=re.DOTALL)
    rows = {row["id"]: row for row in read_json(undisturbed / "results" / "claims.json")}
    beside = re.findall(r'<th scope="row"><a href="#(S000-\d+)">', figure)
    assert beside == [key for key, row in rows.items() if "Fig. 9" in row["where"]]


def test_claims_are_filtered_by_verdict_without_scripts(undisturbed: Path) -> None:
    text, _ = read(undisturbed / "results" / f"{KEY}.html")
    rows = read_json(undisturbed / "results" / "claims.json")
    marked = Counter(re.findall(r'<tr id="[^"]+" data-verdict="(\w+)">', text))
    names = {mark: report.MARKS[mark].name for mark in report.MARKS}
    assert marked == Counter(names[row["verdict"]] for row in rows)
    buttons = re.findall(r'<input type="radio" name="show" id="show-(\w+)"', text)
    assert buttons == ["all", *(name for name in names.values() if marked[name])]
    assert re.findall(r'<label for="show-(\w+)">', text) == buttons
    for name in names.values():
        assert f'body:has(#show-{name}:checked) .claims tr[data-verdict]:not([data-verdict="{name}"], :target)' in text


def test_all_comparisons_are_on_one_page(undisturbed: Path, made: Path) -> None:
    words = shown(made / "comparison.html")
    for key in ("made-up-1999", "other-2001"):
        title = key.replace("-", " ").title()
        assert f"{title} ns-0 3 2 1 0 " in words
    assert words.count("All is said. All is done.") == 2
    words = shown(undisturbed / "results" / "comparison.html")
    summary = re.search(r"Blanton & Allman 2002 ns-2.35 68 (\d+) (\d+) (\d+) ", words)
    assert summary
    reproduced, overlap, outside = map(int, summary.groups())
    assert reproduced + overlap + outside == 68
    assert outside == words.count("OUTSIDE") - len(re.findall(r"\d+ OUTSIDE", words)) > 0


def test_runs_that_have_nothing_to_be_compared_with_say_so(made: Path) -> None:
    done = Done([], [])
    assert "There is nothing to compare these runs with" in report.pages(done, [], [], made)["comparison.html"]


def test_an_extra_page_has_its_sections(made: Path) -> None:
    path = made / "across.html"
    (_, page), words = read(path), shown(path)
    assert "First part It is <so>. all Figure of all. A line. Made by ackclock reproduce across from" in words
    digest = hashlib.sha256((made.parent / "papers/made-up-1999/scenario.toml").read_bytes()).hexdigest()[:16]
    assert f"made-up-1999/scenario.toml {digest}" in words
    assert "Second part Table of it stack n reno 1" in words
    assert (page.tags["svg"], page.tags["figure"]) == (1, 1)
    assert (made / "across" / "all.svg").is_file()
    assert (made.parent / "docs" / "across-all.svg").is_file()


def test_a_page_can_be_made_alone(tmp_path: Path) -> None:
    done = reproduce_made_up(tmp_path, named=["across"])
    assert (len(done.papers), len(done.extras)) == (0, 1)
    assert {path.name for path in (tmp_path / "results").glob("*.html")} == {
        "report.html",
        "across.html",
        "comparison.html",
    }
    assert "ackclock reproduce across " in shown(tmp_path / "results" / "report.html")
    assert read_json(tmp_path / "results" / "claims.json") == []


def test_a_value_outside_is_not_good(tmp_path: Path) -> None:
    assert reproduce_made_up(tmp_path).good
    done = reproduce_made_up(tmp_path, [Verdict.WITHIN, Verdict.OUTSIDE])
    assert not done.good
    references = [one["references"] for one in command.as_json(done)["papers"]]
    assert (
        references
        == [[{"title": "Compared with ns-0", "agrees": False, "values": {"within tolerance": 1, "OUTSIDE": 1}}]] * 2
    )


def test_claims_are_data_for_each_paper_and_for_all(made: Path) -> None:
    parts = [read_json(made / key / "claims.json") for key in ("made-up-1999", "other-2001")]
    assert read_json(made / "claims.json") == [row for part in parts for row in part]
    assert [row["id"] for row in parts[0]] == ["M-1", "M-2", "M-3"]
    beside = made.parent / "papers" / "made-up-1999" / "claims.json"
    assert beside.read_bytes() == (made / "made-up-1999" / "claims.json").read_bytes()


def test_a_drawing_keeps_its_form_and_gets_names_of_its_own() -> None:
    svg = """<?xml version="1.0"?>
<svg xmlns:xlink="x" width="10pt" height="5pt" viewBox="0 0 10 5" version="1.1"><metadata>who</metadata>
<path id="a" d="M 1.23456 2
L -10.5 0.999" transform="scale(0.015625)"/><use xlink:href="#a" x="7.004" y="40" clip-path="url(#b)"/></svg>"""
    assert style.inline(style.lean(svg), "f-") == (
        '<svg role="img" style="--points: 10" viewBox="0 0 10 5"> '
        '<path id="f-a" d="M 1.23 2 L -10.5 1" transform="scale(0.015625)"/>'
        '<use xlink:href="#f-a" x="7" y="40" clip-path="url(#f-b)"/></svg>'
    )


def test_a_brief_reason_has_the_first_sentence_of_the_note() -> None:
    claim = claims.Claim("M-9", "§9", "share", "few", "under 0.5", "share", claims.Kind.MEASURED, "words")
    found = claims.judge(claim, (0.75,), note="RFC 9293 says 3. More follows.")
    assert found.brief == "0.75 is not below 0.5. RFC 9293 says 3."
    assert claims.Finding(claim, claims.Verdict.UNCHECKED, note="Nothing. At all.").brief == "Nothing."


def test_numbers_are_read_as_words() -> None:
    assert [count(n) for n in (0, 1234, 999_999, 5_678_000, 105_400_000)] == [
        "0",
        "1,234",
        "999,999",
        "5.68 million",
        "105 million",
    ]
    assert [duration(s) for s in (3.44, 59.99, 320.4, 3599.7, 3600, 36_000, 3_844_800)] == [
        "3.4 s",
        "1 min 0 s",
        "5 min 20 s",
        "1.0 h",
        "1.0 h",
        "10 h",
        "1,068 h",
    ]


def test_what_was_spent_adds_up() -> None:
    parts = [Spent(1, 2, 3, 0.1, 5.0, 6.0), Spent(10, 20, 30, 0.2, 50.0, 60.0), Spent(1, 1, 1, 0.3, 1.0, 1.0)]
    assert Spent.total(parts) == Spent.total(reversed(parts)) == Spent(12, 23, 34, 0.6, 56.0, 67.0)
    assert Spent.total([]) == Spent()
