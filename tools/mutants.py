"""Mutation testing: changes the code in one place, and asks whether a test notices.

    .venv/bin/python tools/mutants.py             build all mutants, run those whose outcome is not known
    .venv/bin/python tools/mutants.py --kept      only the mutants of tests/mutants/survivors.toml, each with its test
    .venv/bin/python tools/mutants.py --referee   the referee against 40 faults that no other test notices

The list is drawn from `cargo mutants --list` with a fixed seed, and a drawn mutant stays. One build has all mutants; an
environment variable chooses the active one. Each test is first run alone without a mutant: a mutant is judged only by
the tests that come to its function. Tables of results do not count as tests here: they show a change, not an error.
Outcomes go to tests/mutants/drawn.csv; `reasons.toml` beside it says why a survivor is equivalent or tolerated.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import random
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mutants_rewrite import Change, Mutant, body_of, listed
from mutants_run import ENGINE_ALONE, EVERYTHING, OF_CRATE, REFEREE, ROOT, SNAPSHOTS, Built, Suite, build, reach, run

LIST = ROOT / "tests" / "mutants"
DRAWN, KEPT, REASONS, FAULTS = (LIST / name for name in ("drawn.csv", "survivors.toml", "reasons.toml", "referee.csv"))
OPEN = "open"
"""The outcome of a mutant that was drawn, but not judged to the end."""
COLUMNS = ("file", "change", "number", "outcome", "by")
SEED = 24
FOLDERS = {
    400: ("ackclock-tcp", "recovery detect spurious undo timeout disorder congestion startup rto sender facts"),
    120: ("ackclock-wire", ""),
    121: ("ackclock-capture", ""),
}
"""Mutants to draw (at least), from these folders of a crate's `src`; no folder means the whole crate."""
FIRST_DRAWN = 1000
LIMIT = 600.0
"""Seconds after which a suite counts as hanging."""
FAULT_COUNT = 40


def kept() -> Iterator[tuple[Mutant, str, str]]:
    """The mutants made by hand, with rule and test."""
    for row in tomllib.loads(KEPT.read_text(encoding="utf-8"))["survivor"]:
        text = (ROOT / row["file"]).read_text(encoding="utf-8")
        if text.count(row["from"]) != 1:
            raise SystemExit(f"{KEPT.name}: {row['file']} must contain this text once: {row['from']!r}")
        at = text.index(row["from"])
        change = Change(at, at + len(row["from"]), row["to"])
        body = enclosing(text, at)
        yield (
            Mutant(f"ackclock-{row['file'].split('/')[1]}", row["file"], "", row["rule"], change, body),
            row["rule"],
            row["test"],
        )


def enclosing(text: str, at: int) -> tuple[int, int] | None:
    """The body of the last function that begins before `at`."""
    start = max(text.rfind("\n    fn ", 0, at), text.rfind(" fn ", 0, at), text.rfind("\nfn ", 0, at))
    return body_of(text, start)


def draw(tool: str, before: Mapping[str, object]) -> list[Mutant]:
    """The drawn mutants, in the order of files. A mutant that was drawn before is drawn again while it exists."""
    command = [tool, "mutants", "--list", "--json", *(w for _, (p, _) in FOLDERS.items() for w in ("-p", p))]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    every = list(listed(rows, ROOT))
    chosen: list[Mutant] = []
    for count, (package, names) in FOLDERS.items():
        within = tuple(f"crates/tcp/src/{name}" for name in names.split())
        of = [m for m in every if m.package == package and m.file.startswith(within or "crates/")]
        switched = sorted((m for m in of if m.body), key=lambda m: (m.key not in before, place(m.key)))
        print(
            f"{package}: {len(switched)} mutants, {len(of) - len(switched)} more outside functions or in constant ones"
        )
        chosen += switched[: max(count, sum(m.key in before for m in switched))]
    return sorted(chosen, key=lambda m: m.key)


def place(key: str) -> str:
    """The place of a mutant in the order of drawing, which depends on no other mutant."""
    return hashlib.sha256(f"{SEED} {key}".encode()).hexdigest()


def known() -> dict[str, dict[str, str]]:
    """Rows of the list by key."""
    if not DRAWN.exists():
        return {}
    with DRAWN.open(encoding="utf-8", newline="") as file:
        return {f"{row['file']}: {row['change']} #{row['number']}": row for row in csv.DictReader(file)}


def save(rows: dict[str, dict[str, str]], to: Path = DRAWN) -> None:
    """Write the list, sorted."""
    with to.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows[key] for key in sorted(rows))


def row_of(m: Mutant, outcome: str, by: str = "") -> dict[str, str]:
    """A row of the list."""
    return {"file": m.file, "change": m.name, "number": m.key.rsplit("#", 1)[1], "outcome": outcome, "by": by}


def judge(pending: dict[int, Mutant], rows: dict[str, dict[str, str]], built: Built, minutes: float) -> None:
    """Run one suite after the other, each against all mutants that no earlier one has killed and that it comes to."""
    end = time.monotonic() + 60 * minutes
    reached: dict[Suite, dict[int, list[str]]] = {}
    for depth in range(max(len(suites) for suites in OF_CRATE.values()) + len(SNAPSHOTS) + 1):
        for number, m in list(pending.items()):
            if time.monotonic() > end:
                return
            own = OF_CRATE[m.package]
            suites = own + (SNAPSHOTS if m.package == "ackclock-tcp" else ())
            if depth < len(suites):
                suite = suites[depth]
                if suite not in reached:
                    reached[suite] = reach(built[suite], suite)
                tests = reached[suite].get(built.switches[number], [])
                by = run(built[suite], replace(suite, only=("--exact", *tests)), number, LIMIT) if tests else None
                if by is None:
                    continue
                rows[m.key] = row_of(m, "killed" if depth < len(own) else "table", f"{suite.target}: {by}")
            else:
                rows[m.key] = row_of(m, "survived")
            del pending[number]
            print(f"{len(pending)} left: {rows[m.key]['outcome']}: {m.key}: {rows[m.key]['by']}", flush=True)
            save(rows)


def report(rows: dict[str, dict[str, str]]) -> None:
    """Print the counts of all outcomes."""
    counts = Counter(row["outcome"] for row in rows.values())
    reasons = tomllib.loads(REASONS.read_text(encoding="utf-8")) if REASONS.exists() else {}
    equivalent = sum(key in reasons.get("equivalent", {}) for key in rows)
    viable = counts["killed"] + counts["survived"] + counts["table"]
    judged = viable - equivalent
    print(", ".join(f"{n} {name}" for name, n in sorted(counts.items())), f"; {equivalent} equivalent")
    if judged:
        print(f"killed without tables: {counts['killed']} of {judged}, {counts['killed'] / judged:.1%}")


def check_kept(built: Built, mutants: dict[int, tuple[Mutant, str, str]]) -> int:
    """Run each kept mutant's test; returns the number that it does not notice."""
    missed = 0
    for number, (m, rule, test) in mutants.items():
        suite = Suite("ackclock-tcp", "ackclock_tcp", only=(test,))
        binary = built[suite]
        if run(binary, suite, 0, LIMIT):
            print(f"fails without a mutant: {test}")
            missed += 1
        elif not run(binary, suite, number, LIMIT):
            print(f"not noticed: {rule} ({m.file}, {test})")
            missed += 1
    print(f"kept mutants: {len(mutants) - missed} of {len(mutants)} are noticed by their tests")
    return missed


def referee(built: Built, drawn: dict[int, Mutant]) -> int:
    """Run the referee against faults that no other test notices; returns the number of faults found."""
    rows = known()
    silent = [n for n, m in drawn.items() if rows.get(m.key, {}).get("outcome") in {"survived", "table"}]
    faults = random.Random(SEED).sample(silent, min(FAULT_COUNT, len(silent)))
    found: dict[str, dict[str, str]] = {}
    for number in sorted(faults):
        by = run(built[REFEREE], REFEREE, number, 10 * LIMIT,
                 {"ACKCLOCK_REFEREE": os.environ.get("ACKCLOCK_REFEREE", "200")})  # fmt: skip
        m = drawn[number]
        found[m.key] = row_of(m, "found" if by else "not found", by or "")
        print(f"{found[m.key]['outcome']}: {m.key} {by or ''}", flush=True)
        save(found, FAULTS)
    return sum(row["outcome"] == "found" for row in found.values())


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Mutation testing of the engine, the wire and capture crates.")
    parser.add_argument("--kept", action="store_true", help="only tests/mutants/survivors.toml")
    parser.add_argument("--referee", action="store_true", help="the referee against faults that no test notices")
    parser.add_argument("--cargo", default="cargo", help="the cargo that finds cargo-mutants")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="when to stop; a later run goes on")
    arguments = parser.parse_args()
    own = dict(enumerate(kept(), 1))
    before = known()
    drawn = {} if arguments.kept else dict(enumerate(draw(arguments.cargo, before), FIRST_DRAWN))
    wrong = {n for n, m in drawn.items() if before.get(m.key, {}).get("outcome") == "unviable"}
    tests = ENGINE_ALONE if arguments.kept else EVERYTHING
    built = build({n: m for n, (m, _, _) in own.items()} | drawn, wrong, tests)
    if broken := [own[n][1] for n in built.unviable if n in own]:
        raise SystemExit(f"{KEPT.name}: does not compile: {broken}")
    if arguments.referee:
        print(f"faults found by the referee: {referee(built, drawn)}")
        return 0
    rows = {m.key: before.get(m.key, row_of(m, OPEN)) for m in drawn.values()}
    rows |= {m.key: row_of(m, "unviable") for n, m in drawn.items() if n in built.unviable}
    if drawn:
        save(rows)
    missed = check_kept(built, own)
    judge({n: m for n, m in drawn.items() if rows[m.key]["outcome"] == OPEN}, rows, built, arguments.minutes)
    if drawn:
        save(rows)
        report(rows)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
