"""Mutation testing: changes the code in one place, and asks whether a test notices.

    .venv/bin/python tools/mutants.py             build all mutants, run those whose outcome is not known
    .venv/bin/python tools/mutants.py --kept      only the mutants of tests/mutants/survivors.toml, each with its test
    .venv/bin/python tools/mutants.py --again 2   the two quickest suites once more for mutants that no test noticed
    .venv/bin/python tools/mutants.py --referee   the referee against 40 faults that no other test notices
    .venv/bin/python tools/mutants.py --seed 27   another list, of the engine's only, and only with the quick suites

The list is drawn from `cargo mutants --list` with a fixed seed, and a drawn mutant stays. One build has all mutants; an
environment variable chooses the active one. Each test is first run alone without a mutant: a mutant is judged only by
the tests that come to its function. Tables of results do not count as tests here: they show a change, not an error.
Outcomes go to tests/mutants/drawn.csv; `reasons.toml` beside it says why a survivor is equivalent, and `referee.csv`
has the referee's faults. A list of another seed has neither mutants nor files in common with the others:
`drawn-27.csv`, `referee-27.csv`.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from mutants_rewrite import Change, Mutant, body_of, listed
from mutants_run import (
    CRATES,
    ENGINE,
    HANG,
    OF_CRATE,
    REFEREE,
    ROOT,
    SNAPSHOTS,
    UNIT,
    Built,
    Reached,
    Suite,
    build,
    differs_from_a_table,
    reach,
    run,
)

LIST = ROOT / "tests" / "mutants"
DRAWN, KEPT, REASONS, FAULTS = (LIST / name for name in ("drawn.csv", "survivors.toml", "reasons.toml", "referee.csv"))
ANOTHER = 330
"""Mutants of the engine to draw (at least) with another seed, unless `--draw` says otherwise."""
OPEN = "open"
"""The outcome of a mutant that was drawn, but not judged to the end; `by` is the number of suites that it passed."""
SILENT = {"survived", "table"}
"""The outcomes of a mutant that no test noticed."""
COLUMNS = ("file", "change", "number", "outcome", "by")
SEED = 24
FOLDERS = {
    400: ("ackclock-tcp", "recovery detect spurious undo timeout disorder congestion startup rto sender facts"),
    120: ("ackclock-wire", ""),
    121: ("ackclock-capture", ""),
}
"""Mutants to draw (at least), from these folders of a crate's `src`; no folder means the whole crate."""
FIRST_DRAWN = 1000
FAULT_COUNT = 40
QUICK = 9
"""A fault for the referee has passed this number of the engine's suites; the others take half a minute for each."""
REFEREE_LIMIT = 600.0
"""Seconds after which the referee counts as hanging."""


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


def lists(seed: int) -> tuple[Path, Path]:
    """The files of a list: all drawn mutants, and the referee's faults."""
    if seed == SEED:
        return DRAWN, FAULTS
    return LIST / f"drawn-{seed}.csv", LIST / f"referee-{seed}.csv"


def draw(tool: str, before: Set[str], seed: int, another: int) -> list[Mutant]:
    """The drawn mutants, in the order of files. A mutant that was drawn before is drawn again while it exists.

    Args:
        tool: the cargo that finds cargo-mutants.
        before: the mutants drawn before.
        seed: the list's.
        another: mutants to draw (at least) for the list of another seed.
    """
    folders = FOLDERS if seed == SEED else {another: next(iter(FOLDERS.values()))}
    others = set() if seed == SEED else {key for file in LIST.glob("drawn*.csv") for key in known(file)} - before
    command = [tool, "mutants", "--list", "--json", *(w for _, (p, _) in folders.items() for w in ("-p", p))]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    every = [m for m in listed(rows, ROOT) if m.key not in others]
    chosen: list[Mutant] = []
    for count, (package, names) in folders.items():
        within = tuple(f"crates/tcp/src/{name}" for name in names.split())
        of = [m for m in every if m.package == package and m.file.startswith(within or "crates/")]
        switched = sorted((m for m in of if m.body), key=lambda m: (m.key not in before, place(m.key, seed)))
        print(
            f"{package}: {len(switched)} mutants, {len(of) - len(switched)} more outside functions or in constant ones"
        )
        chosen += switched[: max(count, sum(m.key in before for m in switched))]
    return sorted(chosen, key=lambda m: m.key)


def place(key: str, seed: int = SEED) -> str:
    """The place of a mutant in the order of drawing, which depends on no other mutant."""
    return hashlib.sha256(f"{seed} {key}".encode()).hexdigest()


def known(list_: Path) -> dict[str, dict[str, str]]:
    """Rows of a list by key."""
    if not list_.exists():
        return {}
    with list_.open(encoding="utf-8", newline="") as file:
        return {f"{row['file']}: {row['change']} #{row['number']}": row for row in csv.DictReader(file)}


def equivalent() -> dict[str, str]:
    """The mutants that differ in nothing that anybody could observe, each with the reason."""
    reasons = tomllib.loads(REASONS.read_text(encoding="utf-8")) if REASONS.exists() else {}
    return {key: str(why) for key, why in reasons.get("equivalent", {}).items()}


def save(rows: dict[str, dict[str, str]], to: Path) -> None:
    """Write the list, sorted."""
    with to.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows[key] for key in sorted(rows))


def row_of(m: Mutant, outcome: str, by: str = "") -> dict[str, str]:
    """A row of the list."""
    return {"file": m.file, "change": m.name, "number": m.key.rsplit("#", 1)[1], "outcome": outcome, "by": by}


def judge(
    pending: dict[int, Mutant], rows: dict[str, dict[str, str]], built: Built, arguments: argparse.Namespace
) -> None:
    """Run one suite after the other, each against all mutants that no earlier one has killed and that it comes to.

    Args:
        pending: the mutants by number.
        rows: the list that gets the outcomes.
        built: the test programs.
        arguments: when to stop; how many suites run once more for mutants that no test noticed earlier, which keep
            their outcome if none does now; the list.
    """
    end = time.monotonic() + 60 * arguments.minutes
    again, to = arguments.again, lists(arguments.seed)[0]
    reached: dict[Suite, Reached] = {}
    depths = again or max(len(suites) for suites in OF_CRATE.values()) + len(SNAPSHOTS) + 1
    depths = depths if arguments.seed == SEED else QUICK
    for depth in range(depths):
        for number, m in list(pending.items()):
            if time.monotonic() > end:
                return
            own = OF_CRATE[m.package]
            suites = own if again else own + (SNAPSHOTS if m.package == "ackclock-tcp" else ())
            row = rows[m.key]
            if depth < len(suites):
                if not again and row["outcome"] == OPEN and depth < int(row["by"] or 0):
                    continue
                suite = suites[depth]
                if suite not in reached:
                    reached[suite] = reach(built[suite], suite)
                by = against(built, suite, reached[suite], number)
                table = by is not None and suite in SNAPSHOTS and differs_from_a_table(built[suite], suite, number, by)
                if by is None or (table and depth < len(own)):
                    if row["outcome"] == OPEN:
                        rows[m.key] = row_of(m, OPEN, str(max(depth + 1, int(row["by"] or 0))))
                    continue
                rows[m.key] = row_of(m, "table" if table else "killed", f"{suite.target}: {by}")
            elif again:
                continue
            else:
                rows[m.key] = row_of(m, "survived")
            del pending[number]
            print(f"{len(pending)} left: {rows[m.key]['outcome']}: {m.key}: {rows[m.key]['by']}", flush=True)
            save(rows, to)
        save(rows, to)


def against(built: Built, suite: Suite, reached: Reached, number: int) -> str | None:
    """The first test of a suite that notices a mutant, of the tests that come to its function."""
    tests = reached.tests.get(built.switches[number], [])
    limit = HANG[0] + HANG[1] * reached.seconds
    return run(built[suite], replace(suite, only=("--exact", *tests)), number, limit) if tests else None


def report(every: dict[str, dict[str, str]]) -> None:
    """Print the counts of all outcomes, in all and by crate."""
    same = equivalent()
    for crate in ("", *(f"crates/{crate}/" for crate in CRATES)):
        rows = {key: row for key, row in every.items() if key.startswith(crate)}
        counts = Counter("equivalent" if key in same else row["outcome"] for key, row in rows.items())
        judged = len(rows) - counts["unviable"] - counts["equivalent"]
        print(f"{crate or 'all'}:", ", ".join(f"{n} {name}" for name, n in sorted(counts.items())))
        if judged:
            print(f"  noticed without tables: {counts['killed']} of {judged}, {counts['killed'] / judged:.1%}")


def check_kept(built: Built, mutants: dict[int, tuple[Mutant, str, str]]) -> int:
    """Run each kept mutant's test; returns the number that it does not notice."""
    missed = 0
    for number, (m, rule, test) in mutants.items():
        suite = replace(UNIT, only=(test,))
        binary = built[suite]
        if run(binary, suite, 0, HANG[0]):
            print(f"fails without a mutant: {test}")
            missed += 1
        elif not run(binary, suite, number, HANG[0]):
            print(f"not noticed: {rule} ({m.file}, {test})")
            missed += 1
    print(f"kept mutants: {len(mutants) - missed} of {len(mutants)} are noticed by their tests")
    return missed


def silence(row: dict[str, str]) -> bool:
    """Whether no test noticed a mutant, as far as it has been judged; a table may have."""
    return row["outcome"] in SILENT or (row["outcome"] == OPEN and int(row["by"] or 0) >= QUICK)


def faults(drawn: dict[int, Mutant], rows: dict[str, dict[str, str]], seed: int) -> dict[int, Mutant]:
    """The referee's faults: the first of the engine's in the order of drawing that no other test noticed.

    Those without an effect are left out. A fault that was drawn once stays, whether or not a test notices it by now.
    """
    before, same = known(lists(seed)[1]), equivalent()
    silent = [(n, m) for n, m in drawn.items()
              if m.package == "ackclock-tcp" and m.key not in same
              and (m.key in before or silence(rows[m.key]))]  # fmt: skip
    return dict(sorted(silent, key=lambda item: (item[1].key not in before, place(item[1].key, seed)))[:FAULT_COUNT])


def referee(built: Built, faults: dict[int, Mutant], to: Path) -> int:
    """Run the referee against these faults; returns the number that it finds."""
    scenarios = {"ACKCLOCK_REFEREE": os.environ.get("ACKCLOCK_REFEREE", "300")}
    if by := run(built[REFEREE], REFEREE, 0, REFEREE_LIMIT, scenarios):
        raise SystemExit(f"the referee finds a violation without a fault: {by}")
    found: dict[str, dict[str, str]] = {}
    for number, m in faults.items():
        by = run(built[REFEREE], REFEREE, number, REFEREE_LIMIT, scenarios)
        found[m.key] = row_of(m, "found" if by else "not found", by or "")
        print(f"{found[m.key]['outcome']}: {m.key} {by or ''}", flush=True)
    save(found, to)
    return sum(row["outcome"] == "found" for row in found.values())


def chosen(
    drawn: dict[int, Mutant], rows: dict[str, dict[str, str]], arguments: argparse.Namespace
) -> dict[int, Mutant]:
    """The mutants of a run: no others are built."""
    if arguments.referee:
        return faults(drawn, rows, arguments.seed)
    outcomes = {*SILENT, OPEN} if arguments.again else {OPEN}
    return {n: m for n, m in drawn.items()
            if rows[m.key]["outcome"] in outcomes and m.file.startswith(tuple(arguments.only))}  # fmt: skip


def needed(pending: dict[int, Mutant], arguments: argparse.Namespace) -> set[Suite]:
    """The suites of a run."""
    if arguments.referee:
        return {REFEREE}
    if arguments.seed != SEED:
        return set(ENGINE[:QUICK])
    suites = {UNIT}
    for package in {m.package for m in pending.values()}:
        suites |= set(OF_CRATE[package][: arguments.again] if arguments.again else OF_CRATE[package])
        suites |= set(SNAPSHOTS) if package == "ackclock-tcp" and not arguments.again else set()
    return suites


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Mutation testing of the engine, the wire and capture crates.")
    parser.add_argument("--kept", action="store_true", help="only tests/mutants/survivors.toml")
    parser.add_argument("--referee", action="store_true", help="the referee against faults that no test notices")
    parser.add_argument("--cargo", default="cargo", help="the cargo that finds cargo-mutants")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="when to stop; a later run goes on")
    parser.add_argument("--only", nargs="+", default=[""], metavar="PATH", help="mutants of files that begin like this")
    parser.add_argument("--again", type=int, default=0, metavar="SUITES",
                        help="run this number of suites for mutants that no test noticed earlier")  # fmt: skip
    parser.add_argument(
        "--seed", type=int, default=SEED, help="another list of the engine's mutants, with the quick suites"
    )
    parser.add_argument("--draw", type=int, default=ANOTHER, help="mutants to draw (at least) with another seed")
    arguments = parser.parse_args()
    own = dict(enumerate(kept(), 1)) if arguments.seed == SEED else {}
    list_, found = lists(arguments.seed)
    before = known(list_)
    drawn: dict[int, Mutant] = {}
    if not arguments.kept:
        all_drawn = draw(arguments.cargo, before.keys(), arguments.seed, arguments.draw)
        drawn = dict(enumerate(all_drawn, FIRST_DRAWN))
    rows = {m.key: before.get(m.key, row_of(m, OPEN)) for m in drawn.values()}
    pending = chosen(drawn, rows, arguments)
    built = build({n: m for n, (m, _, _) in own.items()} | pending, needed(pending, arguments))
    if broken := [own[n][1] for n in built.unviable if n in own]:
        raise SystemExit(f"{KEPT.name}: does not compile: {broken}")
    if arguments.kept:
        return 1 if check_kept(built, own) else 0
    rows |= {m.key: row_of(m, "unviable") for n, m in pending.items() if n in built.unviable}
    save(rows, list_)
    if arguments.referee:
        print(f"faults found by the referee: {referee(built, pending, found)} of {len(pending)}")
        return 0
    missed = check_kept(built, own) if own else 0
    pending = {n: m for n, m in pending.items() if n not in built.unviable}
    judge(pending, rows, built, arguments)
    report(rows)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
