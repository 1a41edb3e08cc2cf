"""A paper as a folder: the content of its ``paper.toml``, and its Python code, which is loaded when it runs."""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from ackclock import AlgorithmError, ScenarioError
from ackclock.document import Node, refusal
from ackclock.papers import claims
from ackclock.papers.paper import Extra, Outcome, Paper, Section, Work
from ackclock.runs.task import RevisionError
from ackclock.runs.trial import Effort
from ackclock.slots import allowing

PAPER, PAGE = "paper.toml", "page.toml"
CLAIMS = "claims.csv"
KEYS = ("key", "title", "about", "code", "full", "quick")
OF_PAPERS = ("cite", "year", "readings")
EFFORT = ("seeds", "duration")
TAKEN = ("report", "comparison")
"""Pages that every report has."""
MOST_SEEDS, YEARS = 100_000, (1969, 9999)
OF_THE_EXTRA = ("jinja2", "markdown_it", "matplotlib", "pyarrow")
"""Packages that ``ackclock[papers]`` installs."""


class PaperError(ValueError):
    """The code of a paper raised an error or returned an invalid value; the message is one line."""


def read(folder: Path) -> Paper | Extra:
    """Read the paper, or the extra page, in a folder. Its code is not loaded.

    Raises:
        ScenarioError: the folder has neither, or it is invalid.
        OSError: a file cannot be read.
    """
    file = next((folder / name for name in (PAPER, PAGE) if (folder / name).is_file()), None)
    if file is None:
        raise refusal(str(folder), None, None, f"no {PAPER}", f"a folder with {PAPER}")
    try:
        root = Node.read(str(file), file.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise refusal(str(file), None, None, error.reason, "text in UTF-8") from error
    known = (*KEYS, *OF_PAPERS) if file.name == PAPER else KEYS
    table = root.keys(known, "a paper")

    def needed(key: str, allowed: str) -> Node:
        if key not in table:
            raise refusal(str(file), None, key, "nothing", allowed)
        return table[key]

    def text(key: str) -> str:
        return needed(key, "text").text("text")

    key, code = _key(needed("key", "a name")), _code(table.get("code"), file)
    full, quick = (_effort(needed(which, "a table with `seeds`")) for which in ("full", "quick"))
    if file.name == PAGE:
        return Extra(key, text("title"), text("about"), full, quick, folder, code)
    year = needed("year", "the year of publication").whole(*YEARS)
    read = _effort(table["readings"]) if "readings" in table else quick
    return Paper(key, text("title"), text("cite"), year, text("about"), full, quick, read, folder, code)


def every(folder: Path) -> dict[str, Paper | Extra]:
    """Read all papers and extra pages below a folder, by key: papers by year, then extra pages.

    Raises:
        ScenarioError: one of them is invalid, or its key is not the name of its folder.
        OSError: a file cannot be read.
    """
    files = [file for name in (PAPER, PAGE) for file in sorted(folder.glob(f"*/{name}"))]
    found = [read(file.parent) for file in files]
    for file, one in zip(files, found, strict=True):
        if one.key != file.parent.name:
            raise refusal(str(file), None, "key", one.key, f"{file.parent.name}, the name of its folder")
    papers = [one for one in found if isinstance(one, Paper)]
    ordered: list[Paper | Extra] = [*sorted(papers, key=lambda one: (one.year, one.key))]
    ordered += [one for one in found if isinstance(one, Extra)]
    return {one.key: one for one in ordered}


def run(paper: Paper, work: Work) -> Outcome:
    """Call the paper's function ``reproduce``, which makes the runs and returns an outcome.

    Raises:
        PaperError: the code raised an error, or its findings do not match ``claims.csv``.
        ScenarioError: a scenario or ``claims.csv`` is invalid.
        ImportError: a package of the extra ``papers`` is missing.
        OSError: a file could not be read or written.
    """
    outcome = _called(paper, "reproduce", work)
    if not isinstance(outcome, Outcome):
        raise PaperError(f"{paper.code}: reproduce returned {type(outcome).__name__}, allowed: an Outcome")
    _check(paper.folder / CLAIMS, outcome.findings)
    return outcome


def judged(paper: Paper, work: Work) -> Sequence[claims.Finding]:
    """Call the paper's function ``judged`` with the runs that its claims need; errors are those of ``run``."""
    found = _called(paper, "judged", work)
    if not isinstance(found, Sequence) or not all(isinstance(one, claims.Finding) for one in found):
        raise PaperError(f"{paper.code}: judged returned {type(found).__name__}, allowed: a list of Finding")
    _check(paper.folder / CLAIMS, found)
    return found


def sections(extra: Extra, work: Work) -> Sequence[Section]:
    """Call the page's function ``sections``, which makes its runs; errors are those of ``run``."""
    made = _called(extra, "sections", work)
    if not isinstance(made, Sequence) or not all(isinstance(one, Section) for one in made):
        raise PaperError(f"{extra.code}: sections returned {type(made).__name__}, allowed: a list of Section")
    return made


def load(one: Paper | Extra) -> None:
    """Load the code of a paper or page, if it is not loaded; errors are those of ``run``."""
    with _located(one), allowing(True):
        _module(one.code)


def _key(node: Node) -> str:
    allowed = f"lower-case letters, digits and single - . between them, but not {' or '.join(TAKEN)}"
    key = node.text(allowed)
    if key in TAKEN or not re.fullmatch(r"[a-z0-9]+([.-][a-z0-9]+)*", key):
        raise node.refuse(allowed)
    return key


def _code(node: Node | None, file: Path) -> Path:
    """The Python file to load: the named file, the named package's first file, or the file next to ``file``."""
    if node is None:
        return file.with_suffix(".py")
    allowed = "a Python file of the folder, or a package in it"
    name = node.text(allowed)
    if not re.fullmatch(r"[A-Za-z_]\w*(\.py)?", name):
        raise node.refuse(allowed)
    return file.with_name(name) if name.endswith(".py") else file.with_name(name) / "__init__.py"


def _effort(node: Node) -> Effort:
    table = node.keys(EFFORT, "a table with `seeds`")
    if "seeds" not in table:
        raise node.refuse("a table with `seeds`", "no `seeds`")
    seeds = table["seeds"].whole(1, MOST_SEEDS)
    if "duration" not in table:
        return Effort(seeds)
    allowed = 'whole seconds, as in "180 s"'
    said = re.fullmatch(r"([1-9]\d{0,5}) s", table["duration"].text(allowed))
    if said is None:
        raise table["duration"].refuse(allowed)
    return Effort(seeds, int(said[1]))


def _called(one: Paper | Extra, name: str, work: Work) -> object:
    # Naming the folder permits its code to run, including the code that its scenarios name.
    with _located(one), allowing(True):
        function = getattr(_module(one.code), name, None)
        if not callable(function):
            raise PaperError(f"{one.code}: found no function {name}, allowed: {name}(work)")
        made: object = function(work)
        return made


def _module(code: Path) -> ModuleType:
    """The code, loaded once. The module's name depends on its folder, so papers may use the same file names."""
    where = code.resolve()
    name = f"ackclock_paper_{hashlib.sha256(bytes(where)).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    package = [str(where.parent)] if where.name == "__init__.py" else None
    spec = spec_from_file_location(name, where, submodule_search_locations=package)
    if spec is None or spec.loader is None or not where.is_file():
        raise PaperError(f"{code}: found no such file, allowed: the Python code of the paper")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextmanager
def _located(one: Paper | Extra) -> Iterator[None]:
    """Report errors of the code in one line with their place; errors that name a place are passed on unchanged."""
    try:
        yield
    except (PaperError, ScenarioError, AlgorithmError, RevisionError, OSError):
        raise
    except Exception as error:
        if isinstance(error, ImportError) and (error.name or "").partition(".")[0] in OF_THE_EXTRA:
            raise
        raise PaperError(f"{_place(error, one)}: {type(error).__name__}: {' '.join(str(error).split())}") from error


def _place(error: BaseException, one: Paper | Extra) -> str:
    """The innermost line of the paper's code in the error's traceback."""
    folder, place = one.folder.resolve(), str(one.code)
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_relative_to(folder):
        return f"{one.folder / Path(error.filename).relative_to(folder)}:{error.lineno}"
    frame = error.__traceback__
    while frame is not None:
        file = Path(frame.tb_frame.f_code.co_filename)
        if file.is_relative_to(folder):
            place = f"{one.folder / file.relative_to(folder)}:{frame.tb_lineno}"
        frame = frame.tb_next
    return place


def _check(table: Path, findings: Sequence[claims.Finding]) -> None:
    """Refuse findings that do not match the claims one to one."""
    asked, found = [claim.id for claim in claims.read(table)], Counter(f.claim.id for f in findings)
    for id in asked:
        if found[id] != 1:
            n = "no finding" if not found[id] else f"{found[id]} findings"
            raise PaperError(f"{table}: claim {id}: found {n}, allowed: one")
    for id in found:
        if id not in asked:
            raise PaperError(f"{table}: found a finding on {id}, which is not a claim, allowed: {', '.join(asked)}")
