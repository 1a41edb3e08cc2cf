"""Reproduces papers: runs them, and writes figures, ``claims.json`` and pages."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ackclock import files
from ackclock.papers import claims, report, sizes, together
from ackclock.papers.one import Wish
from ackclock.papers.paper import Done, Reproduced, Shown
from ackclock.progress import Show, unshown
from ackclock.runs.executor import executor
from ackclock.runs.laboratory import Laboratory, Spent
from ackclock.runs.store import Store

OLDER = ".points"
"""Subfolder of the results where older versions kept finished points, before the store existed."""


def reproduce(wish: Wish, show: Show = unshown) -> Done:
    """Run papers and extra pages, and write all their results.

    Args:
        wish: the papers, and how to run them.
        show: shows the progress of the runs.

    Raises:
        OSError: a file could not be read or written.
        ValueError: a paper's scenario or another file is invalid.
        ImportError: a package of the extra ``papers`` is missing.
        RuntimeError: a worker has another version of Ackclock.
        KeyboardInterrupt: as usual; finished runs are kept.
    """
    workers = executor(wish.on, wish.threads)
    wish.out.mkdir(parents=True, exist_ok=True)
    if (older := wish.out / OLDER).is_dir():
        print(
            f"ackclock: {older}: it holds points of an older form, which are not read; it may be deleted",
            file=sys.stderr,
        )
    with Store(wish.store) as store, workers as runs_on:

        def lab(key: str) -> Laboratory:
            """Create a separate laboratory for each paper, so that its cost counter covers only that paper."""
            return Laboratory(store, runs_on, lambda what: show(f"{key}: {what}"), wish.fresh)

        made = together.reproduced(wish, lab, store, show)
    done = Done([r for r in made if isinstance(r, Reproduced)], [r for r in made if isinstance(r, Shown)])
    for file, text in report.pages(done, wish.named, wish.options(), wish.papers, wish.lab).items():
        files.write(wish.out / file, text.encode())
    claims.write(wish.out / "claims.json", [f for r in done.papers for f in r.outcome.findings])
    sizes.write_times(done, wish.out)
    if wish.copy_to is not None and not wish.options():
        sizes.write_sizes(done, wish.papers)
    return done


def summary(done: Done, out: Path) -> str:
    """The results in a few lines."""
    lines = []
    for r in done.papers:
        found = r.outcome.findings
        lines.append(f"{r.paper.title}: {len(found)} claims. {claims.headline(found)}")
        lines += [f"  {line}" for line in claims.kinds(found)]
        lines += [f"  {sentence}" for reference in r.outcome.references for sentence in reference.summary]
    lines.append(f"{out / report.FRONT}: figures, claims and why; {out / 'claims.json'}: the same as data")
    return "\n".join(lines)


def as_json(done: Done) -> dict[str, Any]:
    """The results as ``--json`` prints them."""
    every = [f for r in done.papers for f in r.outcome.findings]
    total = Spent.total(sizes.spent(done).values())
    return {
        "claims": len(every),
        "verdicts": _verdicts(every),
        "spent": asdict(total),
        "papers": [_as_row(r) for r in done.papers],
        "extras": [
            {"extra": one.extra.key, "page": f"{one.extra.key}.html", "spent": asdict(one.spent)} for one in done.extras
        ],
    }


def _verdicts(findings: Sequence[claims.Finding]) -> dict[str, dict[str, int]]:
    """The number of each verdict, by kind."""
    every = claims.by_kind(findings).items()
    return {kind.value: {verdict.value: n for verdict, n in of.items()} for kind, of in every}


def _as_row(r: Reproduced) -> dict[str, Any]:
    o = r.outcome
    return {
        "paper": r.paper.key,
        "page": f"{r.paper.key}.html",
        "claims": len(o.findings),
        "verdicts": _verdicts(o.findings),
        "differing": [f.claim.id for f in o.findings if f.verdict is claims.Verdict.DIFFERS],
        "seeds": list(o.seeds),
        "durations_s": list(o.durations_s),
        "runs": o.runs,
        "runs_hash": o.digest,
        "spent": asdict(r.spent),
        "references": [
            {
                "title": one.table.title,
                "agrees": one.good,
                "values": dict(Counter(value.value for value in one.compared())),
            }
            for one in o.references
        ],
    }
