"""Checks that the results revision increases whenever a snapshot of results changes.

tools/revision.toml holds the revision and a checksum of each snapshot. Without arguments, the check fails if a snapshot
differs from its record. --write records the snapshots again. If a line of the last commit is missing or changed, it
requires a higher revision than the recorded one. New lines and new files (a new stack, a new conversation) change no
result.

    .venv/bin/python tools/revision.py            the check of `make lint`
    .venv/bin/python tools/revision.py --write    after a snapshot has changed
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tools/revision.toml"
# Every stack on every kind of path, and the conversations.
RESULTS = ("crates/sim/tests/sweep/*.snap", "crates/tcp/tests/talk/*.snap")


def revision() -> int:
    """The revision in the code."""
    found = re.search(r"RESULTS_REVISION: u32 = (\d+);", (ROOT / "crates/lab/src/lib.rs").read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit("crates/lab/src/lib.rs: no RESULTS_REVISION")
    return int(found[1])


def snapshots() -> dict[str, str]:
    """The snapshots of results: path and checksum."""
    command = ["git", "ls-files", "-co", "--exclude-standard", *RESULTS]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    kept = sorted(name for name in names if (ROOT / name).is_file())
    return {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest()[:16] for name in kept}


def changed_lines(name: str) -> int:
    """The number of lines in the last commit's file that no longer exist."""
    command = ["git", "show", f"HEAD:{name}"]
    before = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()
    path = ROOT / name
    now = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return (Counter(before) - Counter(now)).total()


def write(recorded: int, differing: list[str]) -> int:
    """Record the snapshots, unless results changed without a new revision."""
    gone = {name: lines for name in differing if (lines := changed_lines(name))}
    if gone and revision() <= recorded:
        for name, lines in gone.items():
            print(f"{name}: {lines} lines of results changed")
        print(f"raise RESULTS_REVISION in crates/lab/src/lib.rs above {recorded}, say why in CHANGELOG.md, then again")
        return 1
    listed = [f'"{name}" = "{checksum}"' for name, checksum in snapshots().items()]
    head = f"# Made by tools/revision.py --write.\nrevision = {revision()}\n\n[snapshots]\n"
    RECORD.write_text(head + "\n".join(listed) + "\n", encoding="utf-8")
    return 0


def main() -> int:
    """Print the differences from the record; fail if there are any."""
    record: dict[str, Any] = tomllib.loads(RECORD.read_text(encoding="utf-8"))
    then, now = record["snapshots"], snapshots()
    differing = sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))
    if sys.argv[1:] == ["--write"]:
        return write(record["revision"], differing)
    for name in differing:
        print(f"{name}: not as recorded; tools/revision.py --write")
    if revision() != record["revision"]:
        print(f"RESULTS_REVISION is {revision()}, recorded {record['revision']}; tools/revision.py --write")
    print(f"revision {revision()}: {len(now)} snapshots of results, {len(differing)} not as recorded")
    return int(bool(differing) or revision() != record["revision"])


if __name__ == "__main__":
    sys.exit(main())
