"""Path elements in Python: a class beside the scenario, or one defined in this program."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock as ak
from ackclock.scenario import Flow, Link, Scenario
from ackclock.slots import Fate, Packet, given

SCENARIO = """
[run]
duration = "20 s"
seed = 4
[[link]]
from = "S"
to = "D"
rate = "5 Mbps"
delay = "30 ms"
queue = "40 packets"
elements = [ELEMENT]
back = { elements = [] }
[[flow]]
from = "S"
to = "D"
stack = "rfc-6675"
"""

SCRIPT = """
import ackclock as ak
from ackclock.slots import Fate, Packet


class Script(ak.Element):
    def __init__(self, *, drop=(), duplicate=(), late=(), by_ms=0):
        self.rules = {n: Fate.DROP for n in drop} | {n: Fate.DUPLICATE for n in duplicate}
        self.rules |= {n: Fate.delay(by_ms * 1_000_000) for n in late}

    def packet(self, packet: Packet) -> Fate | None:
        return self.rules.get(packet.nth)
"""


OUTAGE = """
import ackclock as ak
from ackclock.slots import Fate, Packet


class Outage(ak.Element):
    delays = duplicates = False

    def __init__(self, *, begin_ms, ms):
        self.begin, self.end = begin_ms * 1_000_000, (begin_ms + ms) * 1_000_000

    def packet(self, packet: Packet) -> Fate | None:
        return Fate.DROP if self.begin <= packet.now < self.end else None
"""


class Lossy(ak.Element):
    """Loses packets with a probability."""

    delays = duplicates = False

    def __init__(self, *, p: float) -> None:
        self.p = p
        self.rng = random.Random(self.seed)

    def packet(self, packet: Packet) -> Fate | None:
        return Fate.DROP if packet.data and self.rng.random() < self.p else None


def run(folder: Path, element: str) -> ak.Result:
    file = folder / "scenario.toml"
    file.write_text(SCENARIO.replace("ELEMENT", element), encoding="utf-8")
    return ak.run(file, allow_python=True)


def trace(result: ak.Result) -> str:
    found: str = result.to_dict()["runs"][0]["trace_hash"]
    return found


@pytest.mark.parametrize("where", ["", ', at = "exit"', ', only = "data"', ', at = "exit", only = "data"'])
def test_the_engines_script_rebuilt_in_python_gives_the_engines_trace(tmp_path: Path, where: str) -> None:
    (tmp_path / "model.py").write_text(SCRIPT, encoding="utf-8")
    late = ", ".join(f'{{ nth = {n}, by = "25 ms" }}' for n in (90, 300, 301))
    engine = f'{{ kind = "script", duplicate = [70, 400], delay = [{late}]{where} }}'
    parameters = f"duplicate = [70, 400], late = [90, 300, 301], by_ms = 25{where}"
    mine = f'{{ kind = "python", source = "model.py:Script", {parameters} }}'
    theirs, ours = run(tmp_path, engine), run(tmp_path, mine)
    assert trace(ours) == trace(theirs)
    assert theirs.to_dict()["runs"][0]["flows"] == ours.to_dict()["runs"][0]["flows"]
    assert trace(run(tmp_path, mine.replace("[70, 400]", "[70]"))) != trace(ours)


@pytest.mark.parametrize("where", ["", ', at = "entry", only = "data"'])
def test_the_engines_outage_rebuilt_in_python_gives_the_engines_trace(tmp_path: Path, where: str) -> None:
    (tmp_path / "model.py").write_text(OUTAGE, encoding="utf-8")
    place = where or ', at = "exit"'
    engine = f'{{ kind = "outage", times = ["3 s"], length = "200 ms"{where} }}'
    mine = f'{{ kind = "python", source = "model.py:Outage", begin_ms = 3000, ms = 200{place} }}'
    theirs, ours = run(tmp_path, engine), run(tmp_path, mine)
    assert ours.to_dict()["runs"][0]["flows"][0]["data_drops"] > 3
    assert trace(ours) == trace(theirs)


def test_a_class_of_this_program_stands_in_a_scenario_object_and_draws_by_the_runs_seed() -> None:
    def scenario(*elements: object) -> Scenario:
        link = Link(from_="S", to="D", rate="5 Mbps", delay="30 ms", elements=elements)  # type: ignore[arg-type]
        return Scenario(duration="20 s", links=[link], flows=[Flow(from_="S", to="D", stack="newreno")])

    lossy = scenario(given(Lossy, p=0.01))
    first, again, other = (ak.run(lossy, seed=seed) for seed in (1, 1, 2))
    assert trace(first) == trace(again) != trace(other)
    assert first.to_dict()["runs"][0]["flows"][0]["retransmissions"] > 5
    assert trace(first) != trace(ak.run(scenario(), seed=1))


def test_source_and_parameters_are_in_the_identity_and_what_is_shown_runs_the_same(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(SCRIPT, encoding="utf-8")
    identity: Callable[[ak.Result], str] = lambda result: result.to_dict()["runs"][0]["identity"]  # noqa: E731
    element = '{ kind = "python", source = "model.py:Script", drop = [40] }'
    assert identity(run(tmp_path, element)) != identity(run(tmp_path, element.replace("40", "41")))
    first = run(tmp_path, element)
    shown = tmp_path / "shown.toml"
    shown.write_text(ak.show(tmp_path / "scenario.toml", allow_python=True), encoding="utf-8")
    assert identity(ak.run(shown, allow_python=True)) == identity(first)
    (tmp_path / "model.py").write_text(SCRIPT + "\n# another\n", encoding="utf-8")
    assert identity(run(tmp_path, element)) != identity(first)


@pytest.mark.parametrize(
    ("element", "key", "found"),
    [
        ('source = "model.py:Nothing"', "source", "no class `Nothing`"),
        ('source = "model.py:Script", dorp = [4]', "dorp", "an unknown parameter"),
        ('source = "none.py:Script"', "source", "no readable file"),
        ('source = "model.py:Script", at = "queue"', "at", '"queue"'),
        ("drop = [4]", "source", "nothing"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(tmp_path: Path, element: str, key: str, found: str) -> None:
    (tmp_path / "model.py").write_text(SCRIPT, encoding="utf-8")
    with pytest.raises(ak.ScenarioError) as refused:
        run(tmp_path, f'{{ kind = "python", {element} }}')
    assert refused.value.key == f"link[0].elements[0].{key}"
    assert found in refused.value.found
    assert refused.value.line == 11


def test_a_declaration_that_is_no_truth_value_is_refused(tmp_path: Path) -> None:
    text = SCRIPT.replace("(ak.Element):", "(ak.Element):\n    loses = 0.5\n")
    (tmp_path / "model.py").write_text(text, encoding="utf-8")
    with pytest.raises(ak.ScenarioError, match=r"`Script` with loses = 0.5, allowed: True or False"):
        run(tmp_path, '{ kind = "python", source = "model.py:Script" }')


def test_an_algorithm_of_a_stack_is_refused_as_an_element(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import ackclock as ak\nclass Dup(ak.DupThresh):\n    def segments(self, w, cx): return 3\n"
    )
    with pytest.raises(
        ak.ScenarioError, match=r"subclass of ackclock.DupThresh, allowed: a subclass of ackclock.Element"
    ):
        run(tmp_path, '{ kind = "python", source = "model.py:Dup" }')


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return 7", "returned 7, allowed: None, Fate.PASS"),
        ("return Fate.DROP", "its `loses` is False"),
        ("return Fate.delay(2**60)", "a delay of at most"),
        ("return 1 // 0", "ZeroDivisionError"),
    ],
)
def test_an_error_or_a_wild_answer_ends_the_run_with_class_time_and_seed(tmp_path: Path, body: str, says: str) -> None:
    text = SCRIPT.replace("return self.rules.get(packet.nth)", body).replace(
        "(ak.Element):", "(ak.Element):\n    loses = False\n"
    )
    (tmp_path / "model.py").write_text(text, encoding="utf-8")
    with pytest.raises(ak.AlgorithmError) as raised:
        run(tmp_path, '{ kind = "python", source = "model.py:Script" }')
    assert says in str(raised.value)
    assert "model.py:Script.packet at 0.0" in str(raised.value)
    assert raised.value.seed == 4
    assert raised.value.__cause__ is not None
