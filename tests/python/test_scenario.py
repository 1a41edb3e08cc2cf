"""Scenarios as objects: equal to files, with the same errors."""

from __future__ import annotations

import pickle
import tomllib
from pathlib import Path

import pytest

import ackclock as ak
from ackclock import _native
from ackclock.scenario import (
    AckDelayed,
    Back,
    Bernoulli,
    Bulk,
    Dumbbell,
    DumbbellFlow,
    DumbbellLink,
    Flow,
    Gap,
    Link,
    Queue,
    Scenario,
    Swap,
)
from ackclock.slots import Context, Window
from conftest import SHORT
from test_schema import GOOD, ROOT, bad

SWAPS = Scenario(
    name="queue swaps",
    duration="600 s",
    seeds=range(1, 31),
    reordering=True,
    links=[
        Link(from_="S", to="R1", rate="10 Mbps", delay="1 ms"),
        Link(
            from_="R1",
            to="R2",
            rate="5 Mbps",
            delay="50 ms",
            queue=Queue(limit="65 packets", limit_counts_service=True),
            elements=[Swap(mode="slots", count=12, gap=Gap(exponential="1 s"))],
            back=Back(elements=[]),
        ),
        Link(from_="R2", to="D", rate="10 Mbps", delay="1 ms"),
    ],
    flows=[
        Flow(
            from_="S",
            to="D",
            stack="reno",
            segment="1460 B",
            header="40 B",
            window="500 packets",
            app=Bulk(start="0 s"),
            receiver=AckDelayed(delay="200 ms"),
            set={"rto.tick": "500 ms"},
        )
    ],
)
"""The example of docs/scenario.md."""


def identities(file: str, text: str | None) -> list[str]:
    return _native.identities(file, text, None, [], None, None)


def test_the_documented_example_built_in_python_is_the_documented_example() -> None:
    text = (ROOT / "docs/scenario.md").read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    assert Scenario.from_toml(text) == SWAPS
    assert SWAPS.to_dict() == tomllib.loads(text)
    assert identities("x", SWAPS.to_toml()) == identities("x", text)


@pytest.mark.parametrize("path", GOOD, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_read_and_written_runs_the_same(path: Path) -> None:
    scenario = Scenario.read(path)
    text = scenario.to_toml()
    assert identities("written", text) == identities(str(path), None)
    assert Scenario.from_toml(text) == scenario
    assert pickle.loads(pickle.dumps(scenario)) == scenario


def test_a_scenario_runs_as_its_file_does(short: Path) -> None:
    scenario = Scenario.read(short)
    assert ak.run(scenario).json == ak.run(short).json
    assert ak.show(scenario) == ak.show(short)
    compared = ak.compare(scenario, ["reno", "tahoe"], seeds=2)
    assert compared.json == ak.compare(short, ["reno", "tahoe"], seeds=2).json
    assert ak.run(scenario, seed=1).events.equals(ak.run(short, seed=1).events)


def test_what_is_wrong_is_said_with_its_key_and_without_a_line() -> None:
    link = Link(from_="S", to="D", rate="5 Mbits", delay="20 ms")
    built = Scenario(name="mine", duration="5 s", links=[link], flows=[Flow(from_="S", to="D", stack="reno")])
    for use in (built.check, lambda: ak.run(built), lambda: ak.show(built)):
        with pytest.raises(ak.ScenarioError) as error:
            use()
        e = error.value
        assert (e.file, e.line, e.key, e.found) == ("mine", None, "link[0].rate", '"5 Mbits" (unknown unit)')
        assert str(e).startswith('mine: key `link[0].rate`: found "5 Mbits" (unknown unit), allowed: ')
    # Valid by itself, but not with the option.
    judge = SWAPS.replace("flow[0].stack", "rfc-6675").replace("flow[0].set", {"detect.kind": "sack"})
    with pytest.raises(ak.ScenarioError) as error:
        ak.run(judge, stack="reno", seed=1)
    assert (error.value.line, error.value.key) == (None, 'flow[0].set."detect.kind"')
    # Parameters that the other stack lacks are reported.
    timer = SWAPS.replace("flow[0].stack", "newreno").replace("flow[0].set", {"recovery.timer": "slow-but-steady"})
    told_of = "sack-ff96 does not have recovery.timer, which the scenario sets."
    assert ak.run(timer, stack="sack-ff96", seed=1).notes == [told_of]


@pytest.mark.parametrize("title", sorted(bad()))
def test_a_bad_text_is_refused_as_its_run_is(title: str) -> None:
    text = bad()[title]
    with pytest.raises(ak.ScenarioError) as run:
        ak.run(text, name="x", threads=1)
    with pytest.raises(ak.ScenarioError) as read:
        Scenario.from_toml(text, "x")
    assert str(read.value) == str(run.value)


def test_a_place_is_changed_by_its_path() -> None:
    changed = SWAPS.replace("link[1].elements[0].count", 3).replace('flow[0].set."rto.tick"', "100 ms")
    changed = changed.replace("link[0].queue.limit", "9 packets").replace("run.seeds", [4, 2])
    changed = changed.replace("link[2].elements", [Bernoulli(p=0.5)]).replace("flow[0].app", None)
    assert changed.links[1].elements == (Swap(mode="slots", count=3, gap=Gap(exponential="1 s")),)
    assert (changed.flows[0].set, changed.flows[0].app) == ({"rto.tick": "100 ms"}, None)
    assert (changed.links[0].queue, changed.seeds) == (Queue(limit="9 packets"), (4, 2))
    assert changed.links[2].elements == (Bernoulli(p=0.5),)
    assert SWAPS.links[0].queue is None


@pytest.mark.parametrize(
    ("path", "value", "key", "found"),
    [
        ("link[7].rate", "1 Mbps", "link[7].rate", "3 of them"),
        ("run[0].seed", 1, "run[0].seed", "no list"),
        ("link[0].rate.limit", "1 Mbps", "link[0].rate.limit", '"10 Mbps"'),
        ("link[1]..rate", "1 Mbps", "link[1]..rate", '"link[1]..rate"'),
        ("", 1, "", '""'),
        ("link[0].rte", "1 Mbps", "link[0].rte", "an unknown key"),
        ("link[0].rate", 5, "link[0].rate", "5"),
        ("link[0].rate", None, "link[0].rate", "nothing"),
    ],
)
def test_a_place_that_is_not_there_is_refused(path: str, value: object, key: str, found: str) -> None:
    with pytest.raises(ak.ScenarioError) as error:
        SWAPS.replace(path, value)
    assert (error.value.file, error.value.line, error.value.key, error.value.found) == (
        "queue swaps",
        None,
        key,
        found,
    )


def test_a_part_shows_what_was_given() -> None:
    back = SWAPS.links[1].back
    assert repr(back) == "Back(elements=())"
    assert eval(repr(SWAPS.links[1].elements)) == SWAPS.links[1].elements


class Five(ak.DupThresh):
    """A threshold of five, or another number."""

    def __init__(self, *, dupacks: int = 5) -> None:
        self.dupacks = dupacks

    def segments(self, w: Window, cx: Context) -> int:
        return self.dupacks


def test_one_flow_of_several_may_have_an_algorithm_in_python() -> None:
    flow = Flow(from_="S", to="D", stack="sack-ff96", set={"detect.threshold.segments": 7})

    def both(rule: object) -> Scenario:
        ours = Flow(from_="S", to="D", stack="sack-ff96", set={"detect": {"threshold": rule}})
        return Scenario(duration="5 s", links=SWAPS.links, flows=[ours, flow])

    hashes = [ak.run(both(rule)).frame["trace_hash"][0] for rule in (Five, {"kind": "fixed", "segments": 5})]
    assert hashes[0] == hashes[1]
    assert ak.run(both(ak.slots.given(Five, dupacks=6))).frame["trace_hash"][0] != hashes[0]


def test_a_slip_of_python_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'rte'"):
        Link(from_="S", to="D", rte="5 Mbps", delay="1 ms")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Link\.rate: .* cannot be written to a scenario file"):
        Link(from_="S", to="D", rate=Path, delay="1 ms").to_dict()  # type: ignore[arg-type]


def test_a_dumbbell_can_be_built() -> None:
    side = DumbbellLink(rate="100 Mbps", delay="5 ms")
    bottleneck = DumbbellLink(rate="1 Gbps", delay="20 ms", queue="20000 packets")
    dumbbell = Dumbbell(bottleneck=bottleneck, access=side, flows=[DumbbellFlow(stack="reno", count=3, spread="1 s")])
    scenario = Scenario(duration="2 s", dumbbell=dumbbell)
    assert len(ak.run(scenario).to_dict()["runs"][0]["flows"]) == 3
    assert repr(scenario) == "<ackclock.Scenario: scenario, 2 s, 1 seed, 3 flows>"
    assert "<td>R1</td><td>R2</td><td>1 Gbps</td>" in scenario._repr_html_()


def test_paths_of_other_files_hold_wherever_the_scenario_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cell.trace").write_text("1\n2\n4\n", encoding="utf-8")
    file = tmp_path / "cell.toml"
    file.write_text(SHORT.replace('kind = "bernoulli", p = 0.01', 'kind = "deliveries", file = "cell.trace"'), "utf-8")
    monkeypatch.chdir(tmp_path)
    scenario = Scenario.read("cell.toml")
    monkeypatch.chdir("/")
    assert identities("x", scenario.to_toml()) == identities(str(file), None)


def test_a_notebook_shows_links_and_flows_and_escapes_names() -> None:
    html = SWAPS.replace("name", "<b>")._repr_html_()
    assert "<strong>&lt;b&gt;</strong>: 600 s, 30 seeds, 3 links, 1 flow" in html
    assert "swap (mode slots, count 12, gap exponential 1 s)" in html
    assert html.count("<tr>") == 1 + 3 + 1 + 1
