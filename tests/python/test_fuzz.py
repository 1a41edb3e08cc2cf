"""Any scenario, plan or command line either runs, or one line says what is wrong.

``ACKCLOCK_FUZZ=1`` runs 900 scenarios, 450 plans and 450 command lines (a larger number runs a multiple); otherwise a
part of them is run in less than a minute. The cases are always the same; ``ACKCLOCK_FUZZ_SEED`` draws others.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fuzz_cases
from conftest import SHORT
from fuzz_cases import Case

TIMES = int(os.environ.get("ACKCLOCK_FUZZ", "0"))
SEED = int(os.environ.get("ACKCLOCK_FUZZ_SEED", "20"))
SHARE = 3
"""Without ``ACKCLOCK_FUZZ``, every third case is run."""
PATIENCE_S = 2.0 if TIMES else 0.15
LONGEST_S = 20.0
MOST_KB = 1_000_000
ADDRESS_SPACE = 6 << 30
"""Address space of the process, in bytes; libraries map far more than they use."""
ENDS = {0, 1, 2, 130}
COUNTS = {"scenarios": 900, "plans": 450, "lines": 450}


def cases(kind: str) -> list[Case]:
    count = COUNTS[kind] * (TIMES or 1) // (1 if TIMES else SHARE)
    draw = random.Random(f"{SEED} {kind}")
    if kind == "scenarios":
        return list(fuzz_cases.scenarios(count, draw))
    return list(getattr(fuzz_cases, kind)(count, SHORT, draw))


def faults(case: Case, answer: dict[str, Any]) -> list[str]:
    """What is wrong with the end of a command."""
    code, said = answer["code"], answer["said"].splitlines()
    found = [] if code in ENDS else [f"exit code {code}"]
    found += ["a traceback"] if "Traceback" in answer["said"] else []
    # A command with many runs first prints how much it has to do.
    errors = [line for line in said if line.startswith("ackclock: ")]
    if code in {1, 2} and (len(errors) != 1 or said[-1:] != errors):
        found.append(f"{len(said)} lines")
    if code == 0 and errors:
        found.append("an error that is none")
    found += [f"{answer['seconds']:.1f} s"] if answer["seconds"] > LONGEST_S and len(said) < 1 else []
    return found


@pytest.mark.parametrize("kind", COUNTS)
def test_what_makes_no_sense_is_one_line_and_no_traceback_within_a_gigabyte(kind: str, tmp_path: Path) -> None:
    drawn = cases(kind)
    child = [sys.executable, str(Path(__file__).with_name("fuzz_child.py")), str(PATIENCE_S), str(ADDRESS_SPACE)]
    asked = "".join(json.dumps(case.to_dict()) + "\n" for case in drawn)
    (tmp_path / "cases").write_text(asked, encoding="utf-8")
    child.append(str(tmp_path / "cases"))
    env = {k: v for k, v in os.environ.items() if k not in {"FORCE_COLOR", "COLUMNS", "ACKCLOCK_STORE"}}
    with (tmp_path / "out").open("w+", encoding="utf-8") as out:
        done = subprocess.run(
            child, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True, env=env, check=False
        )
        out.seek(0)
        answers = [json.loads(line) for line in out]
    at = "" if len(answers) == len(drawn) else f"it ended at {drawn[len(answers)].to_dict()}"
    assert (done.returncode, at) == (0, ""), done.stderr
    wrong = [
        f"{found} of {case.command}:\n{answer['said']}\n{answer['code']}\n{case.files}"
        for case, answer in zip(drawn, answers, strict=True)
        if (found := faults(case, answer))
    ]
    assert not wrong, f"{len(wrong)} of {len(drawn)}\n" + "\n\n".join(wrong[:20])
    assert answers[-1]["peak_kb"] < MOST_KB
    codes = {answer["code"] for answer in answers}
    assert 2 in codes, "some make no sense"
    if kind == "scenarios":
        assert codes & {0, 130}, "some do"


def test_a_sample_as_programs_of_their_own_ends_in_the_same_way(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))

    for kind in COUNTS:
        refused = [case for case in cases(kind) if case.command[0] == "show" or kind != "scenarios"][::40]
        for at, case in enumerate(refused[:4]):
            folder = tmp_path / f"{kind}-{at}"
            folder.mkdir()
            for name, text in case.files.items():
                (folder / name).write_text(text, encoding="utf-8", errors="surrogatepass")
            done = subprocess.run(
                [sys.executable, "-m", "ackclock", *case.command],
                cwd=folder, capture_output=True, timeout=60, check=False, preexec_fn=limit, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            said = done.stderr.decode()
            assert done.returncode in ENDS, said
            assert "Traceback" not in said
            assert done.returncode == 0 or said.splitlines()[-1].startswith("ackclock: "), said
