"""The parts of the site; `make docs` checks that the built site is complete and loads nothing from elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import griffe
import pytest

import notebooks
import site_algorithms
from site_docstrings import Roles
from site_markdown import ROOT, indented, mend, sources

SCHEMA = json.loads((ROOT / "docs/scenario.schema.json").read_text(encoding="utf-8"))
PAGES = dict(site_algorithms.pages())


def kinds() -> dict[tuple[str, str], set[str]]:
    """The parameters of every algorithm in the schema: slot and kind, names."""
    found: dict[tuple[str, str], set[str]] = {}

    def look(slot: str, part: object) -> None:
        if isinstance(part, list):
            for one in part:
                look(slot, one)
        elif isinstance(part, dict):
            own = part.get("properties", {})
            if "const" in own.get("kind", {}):
                found[slot, own["kind"]["const"]] = own.keys() - {"kind"}
            for choice in ("anyOf", "oneOf", "allOf"):
                look(slot, part.get(choice))
            if "threshold" in own:
                look(f"{slot}.threshold", own["threshold"])
            if part.get("type") == "string":
                for one in part.get("oneOf", []):
                    found.setdefault((slot, one["const"]), set())

    for slot in (
        "rto",
        "detect",
        "disorder",
        "recovery",
        "timeout",
        "congestion",
        "startup",
        "spurious",
        "undo",
        "ack",
        "receive_window",
    ):
        look(slot, SCHEMA["$defs"]["Set"]["properties"][slot])
    return found


def test_every_answer_of_the_schema_has_a_page_with_all_its_parameters() -> None:
    known = {key: names for key, names in kinds().items() if key[1] not in {"custom", "python"}}
    assert len(known) > 50
    for (slot, kind), names in known.items():
        text = PAGES[f"algorithms/{slot.replace('.', '/')}/{kind}.md"]
        rows = set(re.findall(rf"^\| `{re.escape(slot)}\.([a-z0-9_]+)` \|", text, re.MULTILINE))
        assert names <= rows, (slot, kind)
    assert len(PAGES) == len(known) + 1


def test_a_page_of_an_algorithm_says_who_uses_it_and_shows_its_code() -> None:
    page = PAGES["algorithms/detect/threshold/avg-dev.md"]
    assert "## Stacks\n\n`avg-dev`" in page
    assert "(../../../../crates/tcp/src/detect/threshold/avg_dev.rs)" in page
    assert "[decision 0046](../../../../docs/decisions/0046-avg-dev-bounds.md)" in page
    assert list(sources(page, "docs/algorithms/detect/threshold/avg-dev.md")) == [
        "crates/tcp/src/detect/threshold/avg_dev.rs"
    ]


def test_the_index_of_decisions_has_each_of_them_once_under_its_title() -> None:
    folder = ROOT / "docs/decisions"
    listed = re.findall(
        r"^- \[(.*)\]\((0\d{3}-.*\.md)\)$", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(name for _, name in listed) == sorted(path.name for path in folder.glob("0*.md"))
    for title, name in listed:
        text = (folder / name).read_text(encoding="utf-8")
        assert text.startswith(f"# {title}\n\nStatus: "), name


@pytest.mark.parametrize(
    ("link", "page", "uri", "there"),
    [
        ("docs/scenario.md#run", "ARCHITECTURE.md", "ARCHITECTURE.md", "scenario.md#run"),
        ("../papers/README.md", "docs/index.md", "index.md", "papers/README.md"),
        ("../../docs/figures/a.svg", "papers/x/RESULTS.md", "papers/x/RESULTS.md", "../../figures/a.svg"),
        ("../crates/tcp/src/lib.rs", "docs/algorithms.md", "algorithms/index.md", "../source/crates/tcp/src/lib.rs.md"),
        ("docs/decisions", "README.md", "index.md", "decisions/README.md"),
        ("algorithms.md", "docs/index.md", "index.md", "algorithms/index.md"),
        ("tables.ipynb", "docs/tutorials/a.ipynb", "tutorials/a.md", "tables.md"),
        ("https://example.org/a.md", "README.md", "index.md", "https://example.org/a.md"),
        ("#run", "docs/scenario.md", "scenario.md", "#run"),
    ],
)
def test_links_for_readers_of_the_repository_lead_to_the_same_in_the_site(
    link: str, page: str, uri: str, there: str
) -> None:
    assert mend(f"a [b]({link}) c\n", page, uri) == f"a [b]({there}) c\n"
    assert mend(f"```\n[b]({link})\n```\n", page, uri) == f"```\n[b]({link})\n```\n"


def test_roles_in_docstrings_become_links_and_examples_code(tmp_path: Path) -> None:
    (tmp_path / "box.py").write_text(
        '''class Box:
    """Holds what :func:`run` gives, as :meth:`size` and ``size`` say.

    >>> Box(  # doctest: +SKIP
    ...     1
    ... )
    """

    def size(self):
        """See :class:`ackclock.Result`, and :meth:`empty`."""

    def empty(self):
        """Make it so."""
''',
        encoding="utf-8",
    )
    box = griffe.load("box", search_paths=[tmp_path], extensions=griffe.load_extensions(Roles))["Box"]
    assert box.docstring.value == (
        "Holds what [`run`][ackclock.run] gives, as [`size`][box.Box.size] and `size` say.\n\n"
        "```python\nBox(\n    1\n)\n```"
    )
    said = "See [`ackclock.Result`][ackclock.Result], and [`empty`][box.Box.empty]."
    assert box["size"].docstring.value == said


def test_what_belongs_to_an_item_of_a_list_stays_in_it() -> None:
    text = "9. nine\n\n   | a |\n10. ten\n\n    - nested\n\n      ```toml\n      - x\n      ```\n\nafter\n"
    wide = "9. nine\n\n    | a |\n10. ten\n\n    - nested\n\n        ```toml\n        - x\n        ```\n\nafter\n"
    assert indented(text) == wide


def notebook(folder: Path, *cells: str) -> Path:
    """A notebook with these code cells."""
    path = folder / "one.ipynb"
    book = [{"cell_type": "code", "source": cell, "outputs": [{"x": 1}], "execution_count": 3} for cell in cells]
    path.write_text(json.dumps({"cells": book}), encoding="utf-8")
    path.write_text(notebooks.kept(path), encoding="utf-8")
    return path


def test_the_study_of_a_bonded_upload_takes_at_most_25_lines_from_question_to_answer() -> None:
    book = json.loads((ROOT / "docs/tutorials/which-sender-for-my-upload.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    assert sum(1 for line in "\n".join(cells).splitlines() if line.strip()) <= 25
    assert "ak.study(" in "\n".join(cells)


def test_a_notebook_becomes_a_page_with_what_its_cells_print_and_draw(tmp_path: Path) -> None:
    path = notebook(
        tmp_path,
        "%matplotlib inline\nimport beside\nprint(beside.word)",
        "import matplotlib.pyplot as plt\n_ = plt.plot([1])",
    )
    (tmp_path / "beside.py").write_text("word = 'found'\n", encoding="utf-8")
    text, pictures = notebooks.markdown(notebooks.run(path), "one")
    assert "```text\nfound\n```" in text
    assert list(pictures) == ["one-1.png"]
    assert pictures["one-1.png"].startswith(b"\x89PNG")
    assert '"outputs": []' in path.read_text(encoding="utf-8")


def test_a_cell_that_fails_is_an_error_that_names_notebook_and_reason(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"one\.ipynb(.|\n)*ZeroDivisionError"):
        notebooks.run(notebook(tmp_path, "1 / 0"))
