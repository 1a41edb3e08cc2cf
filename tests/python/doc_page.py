"""Runs the code blocks of one Markdown page in order, or the examples in a Python file's docstrings.

It is a program that is run in a temporary folder.

The rules are in CONTRIBUTING.md under "Code in the documents".
"""

from __future__ import annotations

import ast
import csv
import doctest
import json
import os
import re
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import ModuleType

FENCE = re.compile(r"^( *)(`{3,})\s*([^\s`]*)\s*([^`]*)$")
FILE_NAMED = re.compile(r"`([\w./-]+\.toml)`:$")
SHOWN_ONLY = {"text", "places"}
"""Languages of blocks that are pictures, lists or made-up lines, which cannot be run."""
ELSEWHERE = {"rust": "cargo test runs it"}
NOT_RUN = {
    "make ": "sets up and runs everything; CI calls each of its targets",
    "ackclock kernel build ": "takes minutes; make kernel-test runs it",
    "apt ": "changes the machine that runs the tests",
    "pip install ": "changes the environment that runs the tests",
    "ackclock reproduce ": "runs for minutes; test_reproduce.py runs smaller ones",
    "ns ": "is ns-2, which is not needed to build or test",
}
"""Prefixes of commands that a page shows and the tests do not run, with the reason."""
KERNEL = ("--virtual", "--stack kernel:", "study kernels.toml", "ackclock kernel check", "cmp first/", "cmp once ")
"""Parts of commands that need a kernel in virtual time, and of commands that use their results."""
KERNEL_NAME = "6.12"
"""The kernel of the guide."""
NO_KERNEL = "needs a kernel in virtual time, which make kernel-test builds"
LIVE = ("ackclock live ", "unshare ", "cmp numbers ")
"""Prefixes of commands that need a network device, and of commands that use their results."""
LIVE_CALL = "ak.live."
"""Text in a Python block that needs a network device."""
RUN = ("ackclock reproduce ./",)
"""Prefixes of commands that are run nevertheless."""


class PageError(Exception):
    """A block does not do what the page says."""


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    line: int
    """Where its text begins, counted from 1."""
    language: str
    options: str
    text: str
    before: str
    """The last line of text before the block."""

    @property
    def title(self) -> str | None:
        """The file that the block shows, if any."""
        found = re.search(r'title="([^"]+)"', self.options)
        named = FILE_NAMED.search(self.before) if self.language == "toml" else None
        return found[1] if found else named[1] if named else None

    @property
    def no_run(self) -> bool:
        """Whether the page marks the block as not to be run."""
        return "no-run" in self.options.split()


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page; the indentation of a block in a list is removed.

    Raises:
        PageError: a fence is not closed.
    """
    found: list[Block] = []
    lines, at, before = page.splitlines(), 0, ""
    while at < len(lines):
        if opened := FENCE.match(lines[at]):
            ends = [n for n in range(at + 1, len(lines)) if lines[n].strip() == opened[2]]
            if not ends:
                raise PageError(f"{at + 1}: a fence that is not closed")
            inside = "".join(f"{line.removeprefix(opened[1])}\n" for line in lines[at + 1 : ends[0]])
            found.append(Block(at + 2, opened[3], opened[4], inside, before))
            at, before = ends[0], ""
        elif lines[at].strip():
            before = lines[at].rstrip()
        at += 1
    return found


def examples(source: str) -> list[Block]:
    """The examples in the docstrings of a Python file, as one block for each docstring."""
    found: list[Block] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            lines = [one.source for one in doctest.DocTestParser().get_examples(text)]
            if lines:
                found.append(Block(node.body[0].lineno, "python", "", "".join(lines), ""))
    return found


def commands(block: Block) -> list[tuple[int, str, list[str]]]:
    """Line, command and expected output of each command in a console block."""
    found: list[tuple[int, str, list[str]]] = []
    for at, line in enumerate(block.text.splitlines(), block.line):
        if line.startswith("$ "):
            found.append((at, line[2:], []))
        elif not found:
            raise PageError(f"{at}: a block of a console begins with a command, `$ …`")
        elif found[-1][1].endswith("\\") and not found[-1][2]:
            found[-1] = found[-1][0], f"{found[-1][1]}\n{line}", []
        else:
            found[-1][2].append(line)
    return found


def live_runs() -> bool:
    """Whether network devices can be created here."""
    return sys.platform == "linux" and os.geteuid() == 0 and Path("/dev/net/tun").exists()


def has_kernel(name: str | None = None) -> bool:
    """Whether a kernel in virtual time has been built here: this one, or any."""
    from ackclock.kernels import kept  # noqa: PLC0415 - most pages need none

    return any(name in {None, kernel.name} for kernel in kept.every())


def reason(command: str) -> str | None:
    """Why a command is not run; ``None`` if it is."""
    if command.startswith(RUN):
        return None
    if any(part in command for part in KERNEL):
        return None if has_kernel(KERNEL_NAME) else NO_KERNEL
    if any(begin in command for begin in LIVE) and not live_runs():
        return "needs root and /dev/net/tun"
    return next((NOT_RUN[begin] for begin in NOT_RUN if f"{command} ".startswith(begin)), None)


def agrees(shown: list[str], said: list[str]) -> bool:
    """Whether output matches: `…` in a line matches any text, and alone on a line any lines."""
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() == "…" else ".*".join(map(re.escape, line.rstrip().split("…"))) + r"\n"
        for line in shown
    )
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in said)) is not None


class Page:
    """A page whose blocks are run."""

    def __init__(self, name: str, text: str) -> None:
        """Keep the text; the page's name is for messages."""
        self.name = name
        self.module = ModuleType("__main__")
        self.source = [""] * (text.count("\n") + 1)
        self.printed: str | None = ""

    def carry_out(self, block: Block) -> None:
        """Run a block.

        Raises:
            PageError: the result differs from the page, or the block cannot be run.
        """
        if block.no_run or block.language in SHOWN_ONLY or block.language in ELSEWHERE:
            return
        if block.language == "python" and LIVE_CALL in block.text and not live_runs():
            self.printed = None
            return
        if block.title:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.text, encoding="utf-8")
        step = getattr(self, f"do_{block.language}", None)
        if step is None:
            kind = f"of `{block.language}`" if block.language else "without a language"
            known = sorted(name.removeprefix("do_") for name in dir(self) if name.startswith("do_"))
            raise PageError(f"{block.line - 1}: a fence {kind}, allowed: {', '.join(known)}")
        step(block)

    def do_toml(self, block: Block) -> None:
        """The block must parse, and must be a valid scenario if it looks like one."""
        import ackclock as ak  # noqa: PLC0415 - pages without it are faster

        if {"run", "flow"} <= (read := tomllib.loads(block.text)).keys() or {"run", "dumbbell"} <= read.keys():
            ak.show(block.text, name=f"{self.name}:{block.line}", allow_python=True)

    def do_json(self, block: Block) -> None:
        """The block must parse."""
        json.loads(block.text)

    def do_csv(self, block: Block) -> None:
        """Every line must have a cell for each column."""
        head, *rows = csv.reader(block.text.splitlines())
        for at, row in enumerate(rows, block.line + 1):
            if len(row) != len(head):
                raise PageError(f"{at}: {len(row)} cells under {len(head)} columns")

    def do_pkt(self, block: Block) -> None:
        """The block must be a script that passes."""
        import ackclock as ak  # noqa: PLC0415 - pages without it are faster

        script = Path(block.title or "script.pkt")
        script.write_text(block.text, encoding="utf-8")
        (result,) = ak.conform(script)
        if result.result != "pass":
            raise PageError(f"{block.line + (result.line or 1) - 1}: {result.result}: {result.text}")

    def do_yaml(self, block: Block) -> None:
        """The block must parse."""
        import yaml  # type: ignore[import-untyped]  # noqa: PLC0415 - pages without it are faster

        list(yaml.safe_load_all(block.text))

    def do_bash(self, block: Block) -> None:
        """A script for another machine; bash must be able to parse it."""
        said = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True, check=False)
        if said.returncode:
            raise PageError(f"{block.line}: {said.stderr}")

    def do_sql(self, block: Block) -> None:
        """A query for DuckDB."""
        import duckdb  # noqa: PLC0415 - pages without it are faster

        duckdb.execute(block.text).fetchall()

    def do_python(self, block: Block) -> None:
        """Run the block after the previous ones, with the page's line numbers; a file is only compiled."""
        if block.title:
            compile(block.text, block.title, "exec")
            return
        lines = block.text.splitlines()
        self.source[block.line - 1 : block.line - 1 + len(lines)] = lines
        script = Path(f"{Path(self.name).stem}.py")
        script.write_text("\n".join(self.source), encoding="utf-8")
        code = compile("\n" * (block.line - 1) + block.text, str(script), "exec")
        sys.modules["__main__"] = self.module
        with redirect_stdout(StringIO()) as out:
            exec(code, self.module.__dict__)
        self.printed = out.getvalue()

    def do_output(self, block: Block) -> None:
        """The output of the previous Python block: these lines in order, with others between; frames are ignored."""

        def plain(text: str) -> list[str]:
            return [" ".join(re.sub(r"[│┆|]", " ", line).split()) for line in text.splitlines()]

        if self.printed is None:
            return
        rest = iter(plain(self.printed))
        for at, line in enumerate(plain(block.text), block.line):
            if line and line not in rest:
                raise PageError(f"{at}: not printed: {line}\nprinted was:\n{self.printed}")

    def do_console(self, block: Block) -> None:
        """Run the commands; the output of each must be as shown, on standard error if the command is refused."""
        for at, command, shown in commands(block):
            if reason(command):
                continue
            said = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
            while shown and not shown[-1].strip():
                shown.pop()
            expected = 2 if shown and shown[0].startswith("ackclock: ") else 0
            if said.returncode != expected:
                text = said.stdout + said.stderr
                raise PageError(f"{at}: exit code {said.returncode}, not {expected}: {command}\n{text}")
            lines = (said.stderr if expected else said.stdout).splitlines()
            if shown and not agrees(shown, lines):
                raise PageError(f"{at}: says something other than shown: {command}\n" + "\n".join(lines))


def main() -> int:
    """Run the page named on the command line, under the name in the second argument."""
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    name = sys.argv[2]
    sys.path.insert(0, "")  # as for a script in that folder: a page may import a file that it shows
    page = Page(name, text)
    try:
        for block in examples(text) if name.endswith(".py") else blocks(text):
            page.carry_out(block)
    except PageError as wrong:
        print(f"{name}:{wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
