"""The quick check: what the changes since origin/main can reach, by the names of the changed files."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import parts
from parts import ROOT, Part

DEAR = ("test_across.py", "test_dask.py", "test_docs.py", "test_reproduce.py", "test_wheel.py")
"""Tests that take long, and only run here if they themselves were changed."""


def changed() -> set[Path]:
    """The files that differ from the last common commit with origin/main, and new ones."""

    def names(*words: str) -> list[str]:
        done = subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True)
        return done.stdout.splitlines()

    remote = names("for-each-ref", "--format=%(refname)", "refs/remotes/origin/main")
    [base] = names("merge-base", "HEAD", *(remote or ["HEAD"]))
    found = {*names("diff", "--name-only", base), *names("ls-files", "-o", "--exclude-standard")}
    return {Path(name) for name in found if (ROOT / name).is_file()}


def rust(files: set[Path]) -> list[Part]:
    """Format and clippy for all, since Cargo knows what is reached; the tests of the changed crates."""
    crates = {path.parts[1] for path in files if path.parts[0] == "crates"}
    if not crates and not files & {Path("Cargo.toml"), Path("Cargo.lock")}:
        return []
    programs = sorted({
        path.parent.name if path.name == "main.rs" else path.stem
        for crate in crates
        for pattern in ("tests/*.rs", "tests/*/main.rs")
        for path in (ROOT / "crates" / crate).glob(pattern)
    })  # fmt: skip
    tests = " ".join(["--lib", *(f"--test {name}" for name in programs)])
    script = f"cargo test --quiet --workspace --locked {tests}"
    tests_of = Part("rust", f"the tests of {', '.join(sorted(crates))}", script, 1)
    return [parts.BY_NAME["format"], parts.BY_NAME["clippy"], tests_of]


def python(files: set[Path]) -> list[Part]:
    """Ruff and mypy; the test files that were changed, or that bear or import the name of a changed module."""
    ours = {path for path in files if path.suffix == ".py"}
    if not ours and not any(path.parts[0] == "crates" and path.parts[1] == "py" for path in files):
        return []
    words = {"(?!)"}
    stems = {"command" if "cli" in path.parts else name for path in ours for name in (path.stem, path.parent.name)}
    for path in ours:
        match path.parts:
            case ("python", *module):
                words.add(re.escape(".".join(module).removesuffix(".py").removesuffix(".__init__")))
            case ("papers", _, package, *_) | (_, *_, package):
                words.add(rf"(?:import|from) {package.removesuffix('.py')}\b")
    named = re.compile("|".join(words))

    def reached(path: Path) -> bool:
        own = path.stem.removeprefix("test_").split("_")[0] in stems
        return path.name not in DEAR and (own or bool(named.search(path.read_text(encoding="utf-8"))))

    tests = sorted(
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests/python").glob("test_*.py")
        if path.relative_to(ROOT) in ours or reached(path)
    )
    lint = Part("lint-python", "ruff and mypy", "ruff check; ruff format --check; mypy")
    if not tests:
        return [lint]
    run = Part("python", f"{len(tests)} files of Python tests", f"python -m pytest -x {' '.join(tests)}")
    return [parts.BY_NAME["extension"], run, lint]


def others(files: set[Path]) -> list[Part]:
    """The rules for all files, and those of the page and of the generated files."""
    rules = "for rule in arrows language cite revision; do python tools/$rule.py; done"
    found = [Part("rules", "arrows, language, citations, results revision", rules)]
    if any(path.parts[0] == "web" for path in files):
        script = """
        cd web; npm run --silent lint; npm run --silent check
        [ -e generated/ackclock.wasm ] || npm run --silent generate -- --debug
        npm run --silent test
        """
        found.append(Part("web", "the page without a browser", script))
    return found


def check() -> int:
    """Run the parts that the changes reach."""
    files = changed()
    print(f"{len(files)} changed files")
    return parts.check([*rust(files), *python(files), *others(files)])
