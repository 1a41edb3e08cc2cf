"""Runs every step of a release except publishing: ``make release``; docs/release.md explains the steps.

usage: tools/dev release                    every step
       tools/dev release tree DIR           a clone of the last commit in DIR, with the publisher's addresses filled in
       tools/dev release wheel DIR [ARG...] a wheel, with further arguments of maturin
       tools/dev release sdist              a source distribution in dist
       tools/dev release audit              the licences of all dependencies, and advisories
       tools/dev release requirements       renew requirements-dev.txt
"""

from __future__ import annotations

import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
PUBLISHER = "packaging/publisher.toml"
TREE = ROOT / "target/release-tree"
LINK = re.compile(r"(!?)\[((?:[^\[\]]|!?\[[^\]]*\]\([^)]*\))*)\]\((?!#|[a-z]+:)([^)\s#]+)(#[^)\s]*)?\)")
"""A relative link or picture in Markdown: mark, text, path, anchor."""
UNPUBLISHED = ("--exclude", "ackclock-py", "--exclude", "ackclock-wasm")
"""Crates that are no library for others."""
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


class ReleaseError(Exception):
    """The release cannot continue; the message is one sentence."""


@dataclass(frozen=True)
class Publisher:
    """Values that only the publisher can provide."""

    repository: str
    page: str
    raw: str
    contact: str
    index: str

    @staticmethod
    def read(root: Path) -> Publisher:
        """Read ``packaging/publisher.toml``.

        Raises:
            ReleaseError: a key is missing, unknown or empty.
        """
        reported = tomllib.loads((root / PUBLISHER).read_text(encoding="utf-8"))
        keys = list(Publisher.__dataclass_fields__)
        if unknown := sorted(reported.keys() - set(keys)):
            raise ReleaseError(f"{PUBLISHER}: key `{unknown[0]}`: found an unknown key, allowed: {', '.join(keys)}")
        if empty := [key for key in keys if not isinstance(reported.get(key), str) or not reported[key].strip()]:
            names = ", ".join(f"`{key}`" for key in empty)
            raise ReleaseError(f"{PUBLISHER}: {names} must be filled in by the publisher (docs/release.md)")
        return Publisher(**reported)

    def address(self, form: str, path: str, tag: str) -> str:
        """Return the address of a file of the repository at a tag, by one of the two forms."""
        return form.format(repository=self.repository, tag=tag, path=path)


def absolute(text: str, page: str, publisher: Publisher, tag: str) -> str:
    """Return Markdown whose relative links and pictures lead to the repository at a tag.

    Args:
        text: the Markdown; code blocks are not changed.
        page: the path of the page in the repository.
        publisher: the owner of the repository.
        tag: the tag of the release.
    """

    def there(found: re.Match[str]) -> str:
        mark, words, link, anchor = found.groups()
        path = PurePosixPath(page).parent / link
        form = publisher.raw if mark else publisher.page
        inner = LINK.sub(there, words)
        return f"{mark}[{inner}]({publisher.address(form, str(path), tag)}{anchor or ''})"

    out, at = [], 0
    for fence in FENCE.finditer(text):
        out += [LINK.sub(there, text[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*out, LINK.sub(there, text[at:])])


def version(root: Path) -> str:
    """Return the version of the workspace."""
    reported = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))
    return str(reported["workspace"]["package"]["version"])


def released(root: Path) -> tuple[str, str]:
    """Return the version and the date that all files agree on.

    Raises:
        ReleaseError: a file has another version or date, or the date is invalid.
    """
    number = version(root)
    changes = re.search(r"^## (\S+)(?:, (\S+))?$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if changes is None or changes[1] != number or changes[2] is None:
        found = changes[0] if changes else "no heading"
        raise ReleaseError(f'CHANGELOG.md: found "{found}" as the first heading, allowed: "## {number}, YYYY-MM-DD"')
    date = changes[2]
    try:
        datetime.date.fromisoformat(date)
    except ValueError:
        raise ReleaseError(f'CHANGELOG.md: found "{date}" beside the version, allowed: a date, YYYY-MM-DD') from None
    for file, line in (
        ("CITATION.cff", f"version: {number}"),
        ("CITATION.cff", f'date-released: "{date}"'),
        ("packaging/conda/recipe.yaml", f'  version: "{number}"'),
    ):
        if line not in (root / file).read_text(encoding="utf-8").splitlines():
            raise ReleaseError(f"{file}: the line `{line.strip()}` is missing")
    return number, date


def fill_in(root: Path, publisher: Publisher) -> None:
    """Write the publisher's addresses into a tree: README, Cargo.toml, pyproject.toml, CITATION.cff, SECURITY.md."""
    tag = f"v{version(root)}"

    def change(file: str, edit: Callable[[str], str]) -> None:
        path = root / file
        before = path.read_text(encoding="utf-8")
        after = edit(before)
        if after == before:
            raise ReleaseError(f"{file}: found no place for the publisher's address")
        path.write_text(after, encoding="utf-8")

    urls = {
        "Repository": publisher.repository,
        "Changelog": publisher.address(publisher.page, "CHANGELOG.md", tag),
        "Documentation": publisher.address(publisher.page, "docs/index.md", tag),
    }
    table = "".join(f'{name} = "{address}"\n' for name, address in urls.items())
    contact = f"\nOr write to {publisher.contact}.\n"
    change("README.md", lambda text: absolute(text, "README.md", publisher, tag))
    change("SECURITY.md", lambda text: text + contact)
    change("CITATION.cff", lambda text: f'{text}repository-code: "{publisher.repository}"\n')
    change(
        "pyproject.toml", lambda text: text.replace("[project.scripts]", f"[project.urls]\n{table}\n[project.scripts]")
    )
    change(
        "Cargo.toml",
        lambda text: text.replace(
            "[workspace.package]\n", f'[workspace.package]\nrepository = "{publisher.repository}"\n'
        ),
    )
    for manifest in sorted(root.glob("crates/*/Cargo.toml")):
        name = manifest.relative_to(root).as_posix()
        change(
            name,
            lambda text: text.replace(
                "version.workspace = true\n", "version.workspace = true\nrepository.workspace = true\n", 1
            ),
        )


def tree(to: Path, publisher: Publisher) -> None:
    """Clone the last commit into a folder, and fill in the publisher's addresses there.

    Raises:
        ReleaseError: the clone failed, or a file has no place for an address.
    """
    shutil.rmtree(to, ignore_errors=True)
    run("git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(to))
    fill_in(to, publisher)


def run(*command: str, cwd: Path = ROOT) -> None:
    """Run a command of a step.

    Raises:
        ReleaseError: it failed.
    """
    if subprocess.run(command, cwd=cwd, check=False).returncode:
        raise ReleaseError(f"`{' '.join(command)}` failed")


def one(pattern: str) -> Path:
    """Return the only file of the release that a pattern matches.

    Raises:
        ReleaseError: there is none, or more than one.
    """
    found = sorted((TREE / "dist").glob(pattern))
    if len(found) != 1:
        raise ReleaseError(f"{TREE}/dist: found {len(found)} files {pattern}, allowed: one")
    return found[0]


def clean() -> None:
    """Check that everything is committed, and that the tag is free."""
    if subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, check=True).stdout:
        raise ReleaseError("found changes that are not committed, allowed: a clean checkout")
    tag = f"v{version(ROOT)}"
    if subprocess.run(["git", "tag", "--list", tag], cwd=ROOT, capture_output=True, check=True).stdout:
        raise ReleaseError(f"found the tag {tag}, allowed: a version without a tag")


def from_source() -> None:
    """Install the source distribution in a fresh environment, and run a scenario."""
    place = TREE / "target/from-source"
    shutil.rmtree(place, ignore_errors=True)
    run(sys.executable, "-m", "venv", str(place))
    run(str(place / "bin/python"), "-m", "pip", "install", "--quiet", str(one("ackclock-*.tar.gz")))
    command = str(place / "bin/ackclock")
    run(command, "examples", "scenarios/bundle.toml", "--copy-to", ".", cwd=place)
    run(command, "run", "scenarios/bundle.toml", "--seed", "1", cwd=place)


def reported(publisher: Publisher) -> None:
    """Print the remaining steps."""
    tag = f"v{version(ROOT)}"
    print(f"The files are in {TREE / 'dist'}. Nothing was published. Left to do, in this order:")
    print(f"  git tag --annotate {tag} && git push {publisher.repository} {tag}")
    print("  wait for .github/workflows/release.yml, and put its wheels into dist")
    print(f"  twine upload --repository {publisher.index} dist/*")
    print(f"  cargo publish --workspace {' '.join(UNPUBLISHED)}")
    print("  the address and the checksum of the source distribution in packaging/conda/recipe.yaml")


@dataclass(frozen=True)
class Step:
    """A step of the checklist."""

    name: str
    """Its name in docs/release.md."""
    act: Callable[[Publisher], None]


STEPS = (
    Step("The checkout is clean and the tag is free", lambda _: clean()),
    Step("All files agree on version and date", lambda _: print("{}, {}".format(*released(ROOT)))),
    Step("Every check passes", lambda _: run("make", "test")),
    Step("Licences and advisories", lambda _: audit()),
    Step("A tree with the publisher's addresses", lambda publisher: tree(TREE, publisher)),
    Step("The source distribution and a wheel", lambda _: built()),
    Step("The guides, by that wheel", lambda _: guides()),
    Step("A wheel from the source distribution", lambda _: from_source()),
    Step(
        "The crates can be packaged",
        lambda _: run(
            "cargo", "package", "--workspace", *UNPUBLISHED, "--locked", "--no-verify", "--allow-dirty", cwd=TREE
        ),
    ),
    Step("What is left to do", reported),
)


def built() -> None:
    """Make the source distribution and a wheel of the tree."""
    run("make", "wheel", cwd=TREE)
    run("npm", "--prefix", "web", "run", "--silent", "test:page", "--", "tests/load.test.ts", cwd=TREE)
    run("tools/dev", "release", "sdist", cwd=TREE)


def guides() -> None:
    """Run the guides with the wheel that is to be released."""
    os.environ["WHEEL"] = str(one("ackclock-*.whl"))
    run("tools/dev", "check", "guides", cwd=TREE)


def wheel(folder: str, *arguments: str) -> None:
    """Build a wheel with pip, so that it equals pip's result for a checkout."""
    words = " ".join(arguments or ("--compatibility", "pypi"))
    run(
        str(ROOT / ".venv/bin/python"), "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps",
        "--no-build-isolation", "--wheel-dir", folder, "--config-settings", f"maturin.build-args=--locked {words}", ".",
    )  # fmt: skip


def sdist() -> None:
    """Make a source distribution; it needs a Rust compiler."""
    run("make", "--jobs=2", ".venv/.ready", "web")
    run("tools/dev", "generate", "--check", "THIRD-PARTY.txt")
    code = "from wheel_backend import build_sdist; build_sdist('dist')"
    os.environ["PYTHONPATH"] = str(ROOT / "packaging")
    run(str(ROOT / ".venv/bin/python"), "-c", code)


def audit() -> None:
    """Check the licences of all dependencies that are distributed, and ask for advisories where that can be done.

    Raises:
        ReleaseError: a licence is not allowed, or there is an advisory.
    """
    run("tools/need.sh", "deny")
    run("cargo-deny", "--locked", "check", "licenses", "bans", "sources")
    allowed = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))["licenses"]["allow"]
    packages = json.loads((ROOT / "web/package-lock.json").read_text(encoding="utf-8"))["packages"]
    for name, package in packages.items():
        if name and not package.get("dev") and package.get("license") not in allowed:
            raise ReleaseError(f"{name}: found {package.get('license')}, allowed: the list of deny.toml")
    asked = {"crates": ["cargo-deny", "check", "advisories"], "npm": ["npm", "--prefix", "web", "audit"]}
    for kind, command in asked.items():
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        if done.returncode and re.search(r"(?i)failed to fetch|endpoint|ENOTFOUND|ECONN|connect", said):
            print(f"SKIPPED: advisories on {kind}: their database cannot be reached")
        elif done.returncode:
            raise ReleaseError(f"advisories on {kind}:\n{said}")


DEVELOPMENT = (
    "click", "cloudpickle", "dask[distributed]", "duckdb", "hypothesis", "ipykernel", "jinja2", "jsonschema",
    "matplotlib", "maturin", "mkdocs-material", "mkdocstrings[python]", "mypy", "nbclient", "optuna", "pandas",
    "polars", "pyarrow", "pytest", "rich", "ruff", "tomli-w", "uv",
)  # fmt: skip


def requirements() -> None:
    """Renew requirements-dev.txt: versions and hashes of the packages for development."""
    file = ROOT / "requirements-dev.txt"
    version = sys.version.split()[0]
    command = ["uv", "pip", "compile", "--quiet", "--no-config", "--universal", "--python-version", version,
               "--generate-hashes", "--no-header", "--no-annotate", "-"]  # fmt: skip
    done = subprocess.run(command, input="\n".join(DEVELOPMENT), capture_output=True, text=True, check=True)
    head = file.read_text(encoding="utf-8").split("\n", 1)[0]
    file.write_text(f"{head}\n{done.stdout}", encoding="utf-8")


def every_step() -> None:
    """Carry a release out to the last step before publishing."""
    publisher = Publisher.read(ROOT)
    began = time.monotonic()
    for at, step in enumerate(STEPS, 1):
        minutes = (time.monotonic() - began) / 60
        print(f"release: {at}/{len(STEPS)}, after {minutes:.0f} min: {step.name}", flush=True)
        step.act(publisher)


def main(words: list[str]) -> int:
    """Run the release, or one of its acts."""
    os.environ.setdefault("PYO3_BUILD_EXTENSION_MODULE", "1")
    os.environ["PATH"] = os.pathsep.join([str(ROOT / ".venv/bin"), str(ROOT / "target/tools/bin"), os.environ["PATH"]])
    try:
        match words:
            case []:
                every_step()
            case ["tree", folder]:
                tree(Path(folder).resolve(), Publisher.read(ROOT))
            case ["wheel", folder, *arguments]:
                wheel(folder, *arguments)
            case ["sdist"]:
                sdist()
            case ["audit"]:
                audit()
            case ["requirements"]:
                requirements()
            case _:
                print(__doc__)
                return 2
    except ReleaseError as error:
        print(f"ackclock: {error}", file=sys.stderr)
        return 2
    return 0
