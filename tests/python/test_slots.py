"""Algorithms in Python inside the engine give the same results as the built-in ones."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import ackclock as ak
import slots_rebuilt as rebuilt
from ackclock.document.permission import allowing
from ackclock.runs.task import Task, run_task
from ackclock.slots import given, pickled, source_hash, used
from ackclock.slots.registry import Value
from conftest import python

HERE = Path(__file__).parent
TUTORIAL = HERE.parents[1] / "docs" / "tutorials" / "avg_dev.py"
PYTHON = f'{{ kind = "python", source = "{TUTORIAL}:AvgDev" }}'

LEUNG_MA = (HERE.parents[1] / "scenarios" / "leung-ma.toml").read_text(encoding="utf-8").replace("1000 s", "60 s")
"""Leung & Ma's single path, with shorter runs."""
BLANTON_ALLMAN = """
[run]
duration = "60 s"
[[link]]
from = "S"
to = "D"
rate = "5 Mbps"
delay = "50 ms"
queue = "100 packets"
elements = [{ kind = "swap", mode = "slots", count = 12, gap = { exponential = "1 s" } }]
back = { elements = [] }
[[flow]]
from = "S"
to = "D"
stack = "dsack-ewma"
segment = "1000 B"
window = "140 packets"
receiver = { ack = "every" }
"""
"""Swaps in a queue, as in Blanton & Allman's experiments."""
ROUGH = BLANTON_ALLMAN.replace("elements = [{", 'elements = [{ kind = "bernoulli", p = 0.01 }, {').replace(
    "100 p", "40 p"
)
"""The same with losses and a short queue: many fast recoveries, timeouts and needless retransmissions."""

Set = dict[str, Value]


def hashes(scenario: str, stack: str | None = None, set: Set | None = None, seeds: int = 2) -> list[str]:
    """The trace hashes of a scenario's runs."""
    return [
        run["trace_hash"]
        for run in ak.run(scenario, stack=stack, set=set, seeds=seeds, allow_python=True).to_dict()["runs"]
    ]


@pytest.mark.parametrize("scenario", [LEUNG_MA, BLANTON_ALLMAN], ids=["leung-ma", "blanton-allman"])
def test_avg_dev_in_python_gives_the_same_traces_as_the_one_of_the_engine(scenario: str) -> None:
    built_in = hashes(scenario, set={"detect.threshold": "avg-dev"}, seeds=3)
    assert hashes(scenario, set={"detect.threshold": PYTHON}, seeds=3) == built_in
    assert hashes(scenario, seeds=3) != built_in, "the threshold matters here"


def test_the_tutorial_has_about_25_lines_of_python() -> None:
    lines = TUTORIAL.read_text(encoding="utf-8").split("class AvgDev")[1].splitlines()
    code = [line for line in lines if line.strip() and not line.lstrip().startswith(("#", '"""'))]
    assert len(code) <= 30, len(code)


JUDGED: Set = {"spurious": '{ kind = "rtt-min", judge_fast_retransmits = true }', "undo": "slow-start-back"}
SLOTS: list[tuple[str, Set, Set, Set]] = [
    # Stack, other parameters, the class in Python, and a different setting, which must change the result.
    ("reno", {}, {"rto": rebuilt.Rfc6298}, {"rto.min": "300 ms"}),
    ("reno", {}, {"detect": rebuilt.DupAck}, {"detect.guard": "off"}),
    ("reno", {}, {"detect.threshold": given(rebuilt.Fixed, dupacks=4)}, {}),
    ("reno", {"disorder": "limited-transmit"}, {"disorder": rebuilt.LimitedTransmit}, {"disorder": "nothing"}),
    ("reno", {}, {"recovery": rebuilt.Reno}, {"recovery": "newreno"}),
    ("tahoe", {}, {"recovery": rebuilt.Tahoe}, {"recovery": "reno"}),
    ("reno", {}, {"timeout": rebuilt.GoBackN}, {"recovery": "tahoe"}),
    ("reno", {}, {"congestion": rebuilt.Aimd}, {"congestion.cut_from": "window"}),
    ("reno", {}, {"startup": given(rebuilt.FixedStart, segments=2)}, {}),
    ("reno", JUDGED, {"spurious": rebuilt.RttMin}, {"spurious": "nothing"}),
    ("dsack", {}, {"undo": rebuilt.SlowStartBack}, {"undo": "nothing"}),
    (
        "dsack",
        {"congestion": "aimd"},
        {"congestion": rebuilt.Bounded, "undo": rebuilt.SlowStartBack},
        {"undo": "nothing"},
    ),
]
WRITTEN: Set = {
    "detect.threshold": '{ kind = "fixed", segments = 4 }',
    "startup": '{ kind = "fixed", initial_window_segs = 2 }',
}


@pytest.mark.parametrize(("stack", "around", "in_python", "other"), SLOTS, ids=["+".join(s[2]) for s in SLOTS])
def test_each_slot_in_python_gives_the_same_traces_as_the_engines_own(
    stack: str, around: Set, in_python: Set, other: Set
) -> None:
    # If segments are also lost, hardly any episode is proved a mistake.
    scenario = BLANTON_ALLMAN if {"spurious", "undo"} & {*in_python} else ROUGH
    same = {path: text for path, text in WRITTEN.items() if path in in_python}
    built_in = hashes(scenario, stack, {**around, **same})
    assert hashes(scenario, stack, {**around, **in_python}) == built_in
    assert hashes(scenario, stack, {**around, **other}) != built_in, "the slot matters here"


def test_nine_slots_in_python_at_once_give_the_same_traces() -> None:
    around: Set = {"disorder": "limited-transmit", **JUDGED}
    all_of_them: Set = {
        "rto": rebuilt.Rfc6298,
        "detect": rebuilt.DupAck,
        "disorder": rebuilt.LimitedTransmit,
        "recovery": rebuilt.Reno,
        "timeout": rebuilt.GoBackN,
        "congestion": rebuilt.Bounded,
        "startup": rebuilt.FixedStart,
        "spurious": rebuilt.RttMin,
        "undo": rebuilt.SlowStartBack,
    }
    assert hashes(ROUGH, "reno", all_of_them) == hashes(ROUGH, "reno", around)


TWO = BLANTON_ALLMAN + BLANTON_ALLMAN[BLANTON_ALLMAN.index("[[flow]]") :]


def test_of_two_flows_one_may_have_an_algorithm_in_python_and_objects_share_nothing() -> None:
    python = f"[flow.set]\n'detect.threshold' = {PYTHON}\n"
    built_in = '[flow.set]\n"detect.threshold" = "avg-dev"\n'
    assert hashes(TWO + python) == hashes(TWO + built_in) != hashes(TWO)
    assert hashes(TWO, set={"detect.threshold": PYTHON}) == hashes(TWO, set={"detect.threshold": "avg-dev"})


def test_background_traffic_may_have_one_too() -> None:
    background = '[[background]]\nkind = "transfers"\nfrom = "S"\nto = "D"\nstack = "dsack"\n'
    background += (
        'gap = { exponential = "1 s" }\nsize = { constant = "50 kB" }\n[background.set]\n"detect.threshold" = '
    )
    assert hashes(ROUGH + background + PYTHON) == hashes(ROUGH + background + '"avg-dev"')


def test_a_parameter_can_be_set_in_the_table_by_its_path_and_by_given(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text((HERE / "slots_rebuilt.py").read_text(encoding="utf-8"), encoding="utf-8")
    scenario = tmp_path / "s.toml"
    table = '[flow.set.detect.threshold]\nkind = "python"\nsource = "own.py:Fixed"\n'
    scenario.write_text(ROUGH + table, encoding="utf-8")
    four = hashes(ROUGH, set={"detect.threshold": '{ kind = "fixed", segments = 4 }'})
    assert hashes(str(scenario), set={"detect.threshold.dupacks": 4}) == four
    assert hashes(str(scenario)) == hashes(ROUGH, set={"detect.threshold": "fixed"}) != four
    assert hashes(str(scenario), set={"detect.threshold": '{ kind = "fixed", segments = 4 }'}) == four
    scenario.write_text(ROUGH + table + "dupacks = 4\n", encoding="utf-8")
    assert hashes(str(scenario)) == four
    detector = '{ kind = "dup-ack", guard = "off", judge_in_recovery = true'
    with_ours = f'{detector}, threshold = {{ kind = "python", source = "own.py:Fixed" }} }}'
    assert hashes(str(scenario), set={"detect": with_ours}) == hashes(ROUGH, set={"detect": detector + " }"})


def test_show_writes_the_table_down_again_and_it_runs_the_same(tmp_path: Path) -> None:
    for name, text in [("own.py", (HERE / "slots_rebuilt.py").read_text(encoding="utf-8")), ("s.toml", ROUGH)]:
        (tmp_path / name).write_text(text, encoding="utf-8")
    set_: Set = {
        slot: f'{{ kind = "python", source = "own.py:{name}" }}'
        for slot, name in [
            ("rto", "Rfc6298"),
            ("detect.threshold", "Fixed"),
            ("congestion", "Aimd"),
            ("undo", "SlowStartBack"),
        ]
    }
    shown = ak.show(str(tmp_path / "s.toml"), set=set_, allow_python=True)
    assert 'undo = { kind = "python", source = "own.py:SlowStartBack" }' in shown
    (tmp_path / "shown.toml").write_text(shown, encoding="utf-8")
    first, again = (
        ak.run(str(tmp_path / name), set=s, allow_python=True).to_dict()["runs"]
        for name, s in [("s.toml", set_), ("shown.toml", {})]
    )
    assert first == again


def identity(folder: Path, source: str, **parameters: object) -> str:
    """The identity of a run with this algorithm."""
    text = "".join(f", {key} = {value}" for key, value in parameters.items())
    option = ("detect.threshold", f'{{ kind = "python", source = "{folder}/{source}"{text} }}')
    with allowing(True):
        return ak._native.identities("x", ROUGH, None, [option], 1, 1)[0]


def test_source_name_and_parameters_are_in_the_identity_of_a_run_and_its_place_is_not(tmp_path: Path) -> None:
    text = "import ackclock as ak\nclass A(ak.DupThresh):\n def __init__(self, n=3): self.n = n\n"
    text += " def segments(self, w, cx): return self.n\nclass B(A): pass\n"
    other = tmp_path / "other"
    other.mkdir()
    for folder in (tmp_path, other):
        (folder / "a.py").write_text(text, encoding="utf-8")
    same = identity(tmp_path, "a.py:A")
    assert identity(other, "a.py:A") == same
    found = {same, identity(tmp_path, "a.py:B"), identity(tmp_path, "a.py:A", n=3), identity(tmp_path, "a.py:A", n=4)}
    (tmp_path / "a.py").write_text(text + "# more\n", encoding="utf-8")
    assert len(found | {identity(tmp_path, "a.py:A")}) == 5
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    assert identity(tmp_path, "a.py:A") == same


def test_a_class_that_stands_in_no_file_is_known_by_its_code(tmp_path: Path) -> None:
    code = "import ackclock as ak\nclass A(ak.DupThresh):\n  follows_flight = False\n"
    code += "  def segments(self, w, cx): return (lambda n: n + 3)(0)\nprint(ak.slots.source_hash(A))"
    same = python(code, tmp_path)
    assert len(same.split()) == 1, same
    assert python(code, tmp_path) == same, "no address is in it"
    others = (code.replace("+ 3", "+ 4"), code.replace("False", "True"))
    assert len({same, *(python(other, tmp_path) for other in others)}) == 3


def test_a_task_takes_its_algorithms_along_and_needs_no_file_where_it_runs(tmp_path: Path) -> None:
    (tmp_path / "avg_dev.py").write_text(TUTORIAL.read_text(encoding="utf-8"), encoding="utf-8")
    options = (("detect.threshold", '{ kind = "python", source = "avg_dev.py:AvgDev" }'),)
    with allowing(True):
        task = Task("x", LEUNG_MA, None, options, 1, 2, algorithms=pickled(LEUNG_MA, options, tmp_path))
    (tmp_path / "avg_dev.py").unlink()
    here = run_task(task).runs
    (tmp_path / "task").write_bytes(pickle.dumps(task))
    code = "import pickle; from ackclock.runs.task import run_task\n"
    code += "print(*run_task(pickle.load(open('task', 'rb'))).runs, sep='\\n')"
    assert tuple(python(code, tmp_path).splitlines()) == here
    assert task.identities()[0] in here[0]
    with allowing(True), pytest.raises(ak.ScenarioError, match="no readable file"):
        run_task(Task("x", LEUNG_MA, None, options, 1, 2))


def test_used_names_every_source_that_a_scenario_and_its_options_have() -> None:
    text = ROUGH + f"[flow.set]\n'detect.threshold' = {PYTHON}\n'rto.source' = '{HERE}/slots_rebuilt.py:Rfc6298'\n"
    with allowing(True):
        found = used(text, [("undo", f'{{ kind = "python", source = "{HERE}/slots_rebuilt.py:SlowStartBack" }}')], HERE)
    assert [cls.__name__ for cls in found.values()] == ["AvgDev", "Rfc6298", "SlowStartBack"]
    assert source_hash(found[f"{HERE}/slots_rebuilt.py:Rfc6298"]) == source_hash(rebuilt.Rfc6298), "one file, one hash"
