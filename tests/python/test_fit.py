"""A path fitted to the capture of a simulated run equals the run's path; and the predictions for other senders."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest
from click.testing import CliRunner

import ackclock as ak
from ackclock.captures.fitting import Fit, Parameter
from ackclock.cli.main import app

PATH = """
[run]
duration = "60 s"
[[link]]
from = "S"
to = "R"
rate = "{rate} Mbps"
delay = "{delay} ms"
queue = "{queue} packets"
elements = [{elements}]
back = {{ elements = [] }}
[[link]]
from = "R"
to = "D"
rate = "unlimited"
delay = "0 s"
elements = [{beyond}]
back = {{ elements = [] }}
[[flow]]
from = "S"
to = "D"
stack = "{stack}"
window = "4000 packets"
handshake = true
"""
SWAP = '{ kind = "swap", mode = "literal", count = 12, gap = { exponential = "1 s" } }'


def bernoulli(p: float) -> str:
    return f'{{ kind = "bernoulli", p = {p}, at = "exit", only = "data" }}'


def jitter(half_ms: int) -> str:
    return f'{{ kind = "netem", delay = "{half_ms} ms", jitter = "{half_ms} ms" }}'


def captured(folder: Path, **keys: object) -> Path:
    filled = {"rate": 5, "delay": 50, "queue": 65, "elements": "", "beyond": "", "stack": "linux-2025"} | keys
    ak.run(PATH.format(**filled), seed=1, pcap=folder)
    return folder / "sender.pcapng"


def fitted(folder: Path, **keys: object) -> Fit:
    return ak.capture(captured(folder, **keys)).fit()


def parameter(fit: Fit, name: str) -> Parameter:
    return next(p for p in fit.parameters if p.name == name)


def is_near(fit: Fit, name: str, truth: float, within: float) -> None:
    found = parameter(fit, name)
    assert found.mark == "measured", found
    assert found.value == pytest.approx(truth, rel=within), found
    assert found.low <= found.value <= found.high


@pytest.mark.parametrize(
    ("rate", "delay", "queue", "keys"),
    [
        (5, 50, 65, {}),
        (20, 20, 60, {}),
        (2, 10, 20, {}),
        (5, 50, 10, {"stack": "linux-reno-2025"}),
        (50, 100, 800, {}),
        (5, 50, 65, {"elements": SWAP}),
        (10, 30, 80, {"stack": "rfc-6675"}),
    ],
)
def test_rate_propagation_and_queue_limit_of_a_path_that_was_filled_are_found(
    tmp_path: Path, rate: float, delay: float, queue: int, keys: dict[str, object]
) -> None:
    fit = fitted(tmp_path, rate=rate, delay=delay, queue=queue, **keys)
    is_near(fit, "rate", rate, 0.05)
    is_near(fit, "propagation", 2 * delay, 0.02)
    is_near(fit, "queue limit", queue, 0.1)
    assert parameter(fit, "loss").value < 0.05


@pytest.mark.parametrize("p", [0.003, 0.01, 0.03])
@pytest.mark.parametrize("stack", ["linux-2025", "linux-bbr-2025"])
def test_random_loss_is_told_from_a_full_queue(tmp_path: Path, p: float, stack: str) -> None:
    scenario = PATH.format(rate=5, delay=50, queue=65, elements=bernoulli(p), beyond="", stack=stack)
    run = ak.run(scenario, seed=1, pcap=tmp_path).to_dict()["runs"][0]
    fit = ak.capture(tmp_path / "sender.pcapng").fit()
    rate = parameter(fit, "rate")
    assert rate.low <= 5.001
    assert rate.high >= 4.999
    if rate.mark == "measured":
        is_near(fit, "rate", 5, 0.05)
    is_near(fit, "propagation", 100, 0.02)
    drops = run["links"][0]["loss_drops"]
    drawn = drops / run["flows"][0]["data_packets_sent"]
    loss = parameter(fit, "loss")
    assert (
        loss.value * 0.01 == pytest.approx(drawn, rel=0.2) if drops >= 50 else loss.low * 0.01 <= p <= loss.high * 0.01
    )


@pytest.mark.parametrize(("half_ms", "queue"), [(10, 65), (25, 65)])
def test_a_delay_that_varies_is_found(tmp_path: Path, half_ms: int, queue: int) -> None:
    fit = fitted(tmp_path, beyond=jitter(half_ms), queue=queue)
    is_near(fit, "jitter", 2 * half_ms, 0.15)
    is_near(fit, "rate", 5, 0.05)


def test_swaps_are_found_with_how_often_and_how_many(tmp_path: Path) -> None:
    fit = fitted(tmp_path, elements=SWAP)
    is_near(fit, "swaps at once", 12, 0.35)
    gap = parameter(fit, "time between swaps")
    assert gap.low <= 1.0 <= gap.high


def test_flows_that_share_a_bottleneck_are_fitted_together(tmp_path: Path) -> None:
    path = PATH.format(rate=10, delay=40, queue=80, elements="", beyond="", stack="linux-2025") + "count = 3\n"
    ak.run(path, seed=1, pcap=tmp_path)
    fit = ak.capture(tmp_path / "sender.pcapng").fit()
    is_near(fit, "rate", 10, 0.05)
    is_near(fit, "propagation", 80, 0.02)
    is_near(fit, "queue limit", 80, 0.1)
    assert len(fit.to_dict()["transfers"]) == 3
    assert fit.to_dict()["disagreements"] == []
    answer = fit.what_if(["linux-reno-2025"], seeds=2)
    assert answer.trusted
    assert "for a transfer on average" in answer.sentences[0]


@pytest.mark.parametrize("dsack", [True, False])
def test_two_paths_are_found_and_whether_the_receiver_reports_duplicates(tmp_path: Path, dsack: bool) -> None:
    two = '{ kind = "split", choice = "random", paths = [{ weight = 2 }, { weight = 1, delay = "40 ms" }] }'
    path = PATH.format(rate=5, delay=50, queue=65, elements="", beyond=two, stack="linux-2025")
    ak.run(path + f"receiver = {{ dsack = {str(dsack).lower()} }}\n", seed=1, pcap=tmp_path)
    fit = ak.capture(tmp_path / "sender.pcapng").fit()
    is_near(fit, "share on the longer path", 100 / 3, 0.1)
    is_near(fit, "paths apart", 40, 0.1)
    assert f"dsack = {str(dsack).lower()}" in fit.scenario
    assert "# DSACK: measured: " in fit.scenario


def test_a_queue_that_never_overflowed_is_a_lower_bound_and_both_ends_are_run(tmp_path: Path) -> None:
    fit = fitted(tmp_path, elements=bernoulli(0.03), queue=1000)
    limit = parameter(fit, "queue limit")
    assert limit.mark in {"lower bound", "unknown"}
    assert limit.low < limit.high
    assert fit.ends, "its upper end"
    assert all(end != fit.scenario for end in fit.ends)


def test_the_scenario_says_what_is_known_and_runs(tmp_path: Path) -> None:
    fit = fitted(tmp_path / "captures")
    fit.write(tmp_path / "path.toml")
    assert "# rate: measured 5.0" in fit.scenario
    flow = ak.run(tmp_path / "path.toml").to_dict()["runs"][0]["flows"][0]
    assert flow["finish_s"] == pytest.approx(60, rel=0.02)


def test_what_if_foretells_another_sender_and_says_how_far_off_it_is(tmp_path: Path) -> None:
    keys = {"elements": bernoulli(0.01)}
    fit = fitted(tmp_path / "cubic", **keys)
    answer = fit.what_if(["linux-bbr-2025"], seeds=8)
    carried = fit.to_dict()["transfers"][0]["bytes"]
    path = PATH.format(rate=5, delay=50, queue=65, beyond="", stack="linux-bbr-2025", **keys)
    other = ak.run(path + f'app = {{ kind = "fixed", size = "{carried} B" }}\n', seed=7)
    truth = other.to_dict()["runs"][0]["flows"][0]["finish_s"]
    row = answer.others[0]
    assert answer.trusted
    assert row.low < row.seconds < row.high
    assert row.seconds == pytest.approx(truth, rel=0.15)
    assert answer.sentences[0].startswith("linux-bbr-2025 would have taken ")


def test_a_receivers_capture_is_refused_with_the_reason(tmp_path: Path) -> None:
    captured(tmp_path)
    with pytest.raises(ValueError, match="a capture at the receiver"):
        ak.capture(tmp_path / "receiver.pcapng").fit()


def test_the_command_fits_writes_and_answers(tmp_path: Path) -> None:
    file = captured(tmp_path / "captures")
    to = tmp_path / "path.toml"
    ran = CliRunner().invoke(
        app, ["capture", str(file), "--fit", str(to), "--what-if", "--stack", "reno", "--seeds", "3", "--json"]
    )
    assert ran.exit_code == 0, ran.output
    reported = json.loads(ran.output)
    assert [row["stack"] for row in reported["what_if"]["rows"]] == ["linux-2025", "reno"]
    assert reported["what_if"]["trusted"]
    assert "would have taken" in reported["what_if"]["sentences"][0]
    assert to.read_text(encoding="utf-8") == reported["fit"]["scenario"]
    refused = CliRunner().invoke(app, ["capture", str(tmp_path / "captures" / "receiver.pcapng"), "--fit", str(to)])
    assert refused.exit_code == 2


def test_the_named_direction_is_fitted_and_no_other(tmp_path: Path) -> None:
    path = captured(tmp_path)
    (flow,) = ak.capture(path).flows.filter("main")["flow"]
    there, back = flow.split(" > ")
    assert ak.capture(path, flow=flow).fit().to_dict()["transfers"][0]["flow"] == flow
    with pytest.raises(ValueError, match=f"fit: {back} > {there}: there is no data"):
        ak.capture(path, flow=f"{back} > {there}").fit()


def test_without_a_syn_the_window_is_unknown_and_both_ends_of_it_are_run(tmp_path: Path) -> None:
    path = captured(tmp_path)
    content, at, kept, packets = path.read_bytes(), 0, b"", 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        packets += kind == 6
        kept += content[at : at + length] if kind != 6 or packets > 3 else b""
        at += length
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(kept)
    whole, fit = ak.capture(path).fit(), ak.capture(cut, at="sender").fit()
    true = parameter(whole, "receiver window")
    window = parameter(fit, "receiver window")
    assert (true.mark, window.mark) == ("lower bound", "unknown")
    assert "no SYN was captured" in window.how
    assert window.low <= window.value < window.high
    assert true.value <= window.high
    windows = [re.findall(r'\nwindow = "(\d+) B"', text)[0] for text in (fit.scenario, *fit.ends)]
    assert int(windows[-1]) == pytest.approx(1000 * window.high, rel=1e-3)
    assert int(windows[-1]) > int(windows[0])
