"""Checks the licences of all dependencies, and queries advisories if their databases can be reached.

Crates and the packages bundled into the lab page must meet the list of ``deny.toml``; Python and npm packages used
only in development may also have a licence of ``BESIDE``. Advisories come from cargo-deny, npm and pip-audit. A tool
that is not installed or gets no reply is reported as skipped.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageMetadata, distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BESIDE = {"MPL-2.0", "PSF-2.0", "MIT-CMU"}
"""Licences allowed for programs that we run but do not distribute."""
OLD = {
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""Licence texts of Python packages without an SPDX expression. "BSD" is ambiguous; every variant is allowed."""
TOKEN = re.compile(r"\(|\)|[^\s()]+")


@dataclass(frozen=True)
class Used:
    """A package and its declared licence."""

    kind: str
    name: str
    licence: str
    beside: bool
    """Whether it is used but not distributed."""


def allowed(expression: str, licences: set[str]) -> bool:
    """Whether these licences satisfy an SPDX expression. A `/` is an old form of OR.

    Raises:
        ValueError: the expression is invalid.
    """
    tokens = TOKEN.findall(expression.replace("/", " OR "))

    def one() -> bool:
        if not tokens or tokens[0] in {")", "AND", "OR", "WITH"}:
            raise ValueError(f"found {expression!r}, allowed: an SPDX expression")
        token = tokens.pop(0)
        if token == "(":
            inside = any_of()
            if not tokens or tokens.pop(0) != ")":
                raise ValueError(f"found {expression!r}, allowed: an SPDX expression")
            return inside
        if tokens[:1] == ["WITH"] and len(tokens) > 1:
            token = f"{token} WITH {tokens[1]}"
            del tokens[:2]
        return token in licences

    def all_of() -> bool:
        met = one()
        while tokens[:1] == ["AND"]:
            tokens.pop(0)
            met = one() and met
        return met

    def any_of() -> bool:
        met = all_of()
        while tokens[:1] == ["OR"]:
            tokens.pop(0)
            met = all_of() or met
        return met

    met = any_of()
    if tokens:
        raise ValueError(f"found {expression!r}, allowed: an SPDX expression")
    return met


def used() -> Iterator[Used]:
    """Every package in Cargo.lock, web/package-lock.json and this Python environment."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    said = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    for package in said["packages"]:
        if package["source"] is not None:
            yield Used("crate", f"{package['name']} {package['version']}", package["license"] or "", beside=False)
    locked = json.loads((ROOT / "web/package-lock.json").read_text(encoding="utf-8"))["packages"]
    for place, package in locked.items():
        if place:
            name = place.rpartition("node_modules/")[2]
            yield Used("npm", f"{name} {package['version']}", package.get("license", ""), bool(package.get("dev")))
    for found in distributions():
        if found.name != "ackclock":
            yield Used("Python", f"{found.name} {found.version}", _python(found.metadata), beside=True)


def _python(said: PackageMetadata) -> str:
    """The SPDX expression of a Python package, derived from its metadata."""
    if "License-Expression" in said:
        return said["License-Expression"]
    classified = [one.rpartition(" :: ")[2] for one in said.get_all("Classifier") or [] if "License ::" in one]
    named = classified or ([line.strip() for line in said["License"].splitlines()[:1]] if "License" in said else [])
    return " AND ".join(OLD.get(name, name) for name in named)


def refused() -> list[str]:
    """A line for each package whose licence is not allowed."""
    listed = set(tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))["licenses"]["allow"])
    lines = []
    for package in used():
        try:
            met = allowed(package.licence, listed | (BESIDE if package.beside else set()))
        except ValueError:
            met = False
        if not met:
            found = package.licence or "no licence"
            lines.append(f"{package.kind} {package.name}: found {found}, allowed: the list in deny.toml")
    return lines


def advisories() -> bool:
    """Ask each tool for advisories; return whether there are any."""
    bad = False
    for kind, program, command, folder in (
        ("crates", "cargo-deny", ["cargo", "deny", "check", "advisories", "sources"], ROOT),
        ("npm", "npm", ["npm", "audit"], ROOT / "web"),
        ("Python", "pip-audit", ["pip-audit", "--require-hashes", "--disable-pip", "-r", "requirements-dev.txt"], ROOT),
    ):
        if shutil.which(program) is None:
            print(f"SKIPPED: advisories on {kind}: {program} is not installed")
            continue
        said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        text = said.stdout + said.stderr
        if said.returncode and re.search(r"(?i)failed to fetch|endpoint|ENOTFOUND|ECONN|ConnectionError|connect", text):
            print(f"SKIPPED: advisories on {kind}: {program} reaches no database of them")
        elif said.returncode:
            bad = True
            print(text)
        else:
            print(f"advisories on {kind}: none")
    return bad


def main() -> int:
    """Print the problems, if there are any."""
    lines = refused()
    print("\n".join(lines) if lines else f"licences: {len(list(used()))} packages, all allowed")
    return 1 if advisories() or lines else 0


if __name__ == "__main__":
    sys.exit(main())
