"""Hooks of mkdocs.yml: content of the site beside the pages in docs/, made during the build and not stored.

The pages are: one for each algorithm; papers, ARCHITECTURE.md, CONTRIBUTING.md and CHANGELOG.md; the scenarios; and
every source file that a page links to. Links are written for readers of the repository and adapted here.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import notebooks
import site_algorithms
from site_markdown import ROOT, WHOLE, indented, mend, place, sources

LANGUAGES = {".rs": "rust", ".toml": "toml", ".py": "python", ".json": "json", ".csv": "text", ".tcl": "tcl"}
HIDDEN = "---\nsearch:\n  exclude: true\nhide: [navigation, toc]\n---\n"
Entry: TypeAlias = "str | dict[str, str | list[Entry]]"
"""An entry of the navigation: a page, or a title with a page or with entries."""
REPOSITORY: dict[str, str] = {}
"""The repository path of each page of the site that is not in docs/ under the same name."""


def whole() -> Iterator[tuple[str, str]]:
    """Yield path and text of the repository's pages that are not in docs/."""
    for path in sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("papers/**/*.md")):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(WHOLE):
            yield name, path.read_text(encoding="utf-8")


def scenarios() -> str:
    """The example scenarios with their text."""
    out = ["# Scenarios to begin with\n"]
    for path in sorted((ROOT / "scenarios").glob("*.toml")):
        out.append(f'## {path.stem}\n\n```toml title="scenarios/{path.name}"\n{path.read_text(encoding="utf-8")}```\n')
    return "\n".join(out)


def shown(path: str) -> str:
    """A page that shows a source file, or all files of a folder; it is excluded from search."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", path], cwd=ROOT, capture_output=True, check=True
    )
    out = [f"{HIDDEN}# `{path}`\n"]
    for name in listed.stdout.decode().splitlines():
        language = LANGUAGES.get(name[name.rfind(".") :], "text")
        heading = f"## `{name}`\n\n" if name != path else ""
        out.append(f'{heading}````{language} linenums="1"\n{(ROOT / name).read_text(encoding="utf-8")}````\n')
    return "\n".join(out)


def tutorials(config: MkDocsConfig) -> Iterator[File]:
    """Run the notebooks in parallel; yield a page for each, and its pictures.

    Raises:
        PluginError: a notebook failed.
    """
    paths = sorted(notebooks.FOLDER.glob("*.ipynb"))
    with ThreadPoolExecutor(2) as pool:
        try:
            books = list(pool.map(notebooks.run, paths))
        except RuntimeError as error:
            raise PluginError(str(error)) from error
    for path, book in zip(paths, books, strict=True):
        text, pictures = notebooks.markdown(book, path.stem)
        taken = f'<a href="../{path.name}" download>The notebook itself</a>'
        yield File.generated(config, f"tutorials/{path.stem}.md", content=f"{text}\n---\n\n{taken}\n")
        for name, picture in pictures.items():
            yield File.generated(config, f"tutorials/{name}", content=picture)


def made() -> Iterator[tuple[str, str, str]]:
    """Yield the pages made here: path in the site, path in the repository that its links are relative to, and text."""
    for uri, text in site_algorithms.pages():
        yield uri, f"docs/{uri}", text
    for name, text in whole():
        yield place(name), name, text
    yield "scenarios.md", "docs/scenarios.md", scenarios()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages made here into the navigation, where mkdocs.yml has their folder with a star."""
    config.nav = expanded(config.nav or [])
    return config


def expanded(nav: list[Entry]) -> list[Entry]:
    """The navigation with ``algorithms/*``, ``papers/*`` and ``decisions/*`` expanded to lists of pages."""
    out: list[Entry] = []
    for entry in nav:
        if isinstance(entry, str):
            out += star(entry)
        else:
            out.append({key: expanded(value) if isinstance(value, list) else value for key, value in entry.items()})
    return out


def star(entry: str) -> list[Entry]:
    """An entry of the navigation, with a star expanded."""
    if entry == "algorithms/*":
        slots: dict[str, str | list[Entry]] = {}
        for uri, _ in list(site_algorithms.pages())[1:]:
            slot = uri.removeprefix("algorithms/").rpartition("/")[0].replace("/", ".")
            slots[slot] = [*slots.get(slot, []), uri]
        return [{slot: pages} for slot, pages in slots.items()]
    if entry == "papers/*":
        listed = (ROOT / "papers/README.md").read_text(encoding="utf-8")
        names = {folder: name for name, folder in re.findall(r"\[([^\]]+)\]\(([\w-]+)/README\.md\)", listed)}
        others = {path.parent.name for path in ROOT.glob("papers/*/README.md")} - names.keys()
        return [{names.get(folder, folder.capitalize()): paper(folder)} for folder in [*names, *sorted(others)]]
    if entry == "decisions/*":
        return [f"decisions/{path.name}" for path in sorted((ROOT / "docs/decisions").glob("0*.md"))]
    return [entry]


def paper(folder: str) -> list[Entry]:
    """A paper's pages, as far as they exist: its set-up, the results, other simulators' values."""
    pages = {"README.md": "", "RESULTS.md": "Results", "reference/README.md": "Reference"}
    about = {f"papers/{folder}/{page}": name for page, name in pages.items()}
    return [{name: page} if name else page for page, name in about.items() if (ROOT / page).is_file()]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages made here, and a page for every source file that a page links to."""
    linked: set[str] = set()
    for file in files.documentation_pages():
        linked |= set(sources(file.content_string, f"docs/{file.src_uri}"))
    for uri, repository, text in made():
        REPOSITORY[uri] = repository
        linked |= set(sources(text, repository))
        files.append(File.generated(config, uri, content=text))
    for file in tutorials(config):
        files.append(file)
        if file.is_documentation_page():
            linked |= set(sources(file.content_string, f"docs/{file.src_uri}"))
    for path in sorted(linked):
        files.append(File.generated(config, f"source/{path}.md", content=shown(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Adapt links, and remove markers that only the tests of the documents read."""
    uri = page.file.src_uri
    if uri.startswith("source/"):
        return markdown
    text = re.sub(r"^( *```[a-z]+) no-run\b", r"\1", markdown, flags=re.MULTILINE)
    return mend(indented(text), REPOSITORY.get(uri, f"docs/{uri}"), uri)


LOADED = {
    "html": re.compile(
        r"""\s(?:src|srcset|poster|data|background)=["']([^"']+)|<link [^>]*href=["']?([^"'> ]+)"""
        r"""|\sstyle=["'][^>]*url\(["']?([^"')]+)|class="[^"]*\b(mermaid)\b"""
    ),
    "css": re.compile(r"""(?:url\(|@import)\s*["']?([^"')\s;]+)"""),
}
"""What a browser loads with a page or a style; the theme fetches the program of a mermaid diagram."""


def on_post_build(config: MkDocsConfig) -> None:
    """Check that the site loads nothing from elsewhere.

    Raises:
        PluginError: a page does.
    """
    for kind, pattern in LOADED.items():
        for path in sorted(Path(config.site_dir).rglob(f"*.{kind}")):
            for found in pattern.finditer(path.read_text(encoding="utf-8")):
                what = next(filter(None, found.groups()))
                if re.search(r"(?:^|,\s*)(?:(?!data:)[a-z]+:|//|mermaid$)", what):
                    raise PluginError(f"{path}: loads {what} from elsewhere")
