"""``ackclock live path`` and ``ackclock.live.path``: scenarios in real time, with the kernel's TCP and ours."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import ackclock as package
from conftest import HERE, Command, needs_devices

ROOT = Path(__file__).resolve().parents[2]

LOSSY = """
name = "lossy"
[run]
duration = "60 s"
[[link]]
from = "S"
to = "D"
rate = "20 Mbps"
delay = "10 ms"
queue = "60 packets"
elements = [{ kind = "bernoulli", p = 0.01, only = "data" }]
back = { elements = [] }
[[flow]]
name = "one"
from = "S"
to = "D"
stack = "linux-2025"
segment = "1000 B"
window = "1 MB"
"""
TWO = LOSSY + LOSSY[LOSSY.index("[[flow]]") :].replace('"one"', '"two"')


@pytest.fixture
def lossy(tmp_path: Path) -> Path:
    """A path that loses one packet of a hundred."""
    path = tmp_path / "lossy.toml"
    path.write_text(LOSSY, encoding="utf-8")
    return path


@needs_devices
def test_a_kernels_run_stands_beside_its_counters_and_simulated_seeds(ackclock: Command, lossy: Path) -> None:
    result = ackclock("live", "path", lossy, "--seconds", "2", "--compare", "2")
    assert result.returncode == 0, result.stderr
    first, out = result.stderr.splitlines()[0], result.stdout
    assert first.startswith("senders: kernel:cubic, kernel at tun0 in net:[")
    assert first.endswith("MTU 1500, offload off, ordinary priority")
    assert "lossy: 2 s live, seed 1" in out
    assert "  segment 1000 B: MSS (TCP_MAXSEG) 1012, of which timestamps take 12 B" in out
    assert "  handshake = false: a live connection has a handshake" in out
    for words in ("one ", "kernel:cubic ", "linux-2025, 2 simulated seeds", "RetransSegs ", "at the receiver", "(p99)"):
        assert words in out


def numbers(result: subprocess.CompletedProcess[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A report as JSON, and the flows of its run."""
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    return report, report["runs"][0]["flows"]


@needs_devices
def test_the_ledger_the_trace_and_the_kernels_counters_agree(ackclock: Command, lossy: Path, tmp_path: Path) -> None:
    options = ("--seconds", "3", "--json", "--trace", "run.parquet", "--plot", "run.png", "--pcap", "captures")
    report, (flow,) = numbers(ackclock("live", "path", lossy, *options))
    kinds = [f"{kind}_retransmissions" for kind in ("needed", "refused", "needless")]
    sent_again = flow["retransmissions"]
    assert sum(flow[kind] for kind in kinds) == sent_again > 0
    assert report["live"]["counters"]["sender"]["RetransSegs"] == sent_again
    assert (report["simulated"], report["live"]["strays"], report["live"]["damaged"]) == (None, 0, [])

    events = pyarrow.parquet.read_table(tmp_path / "run.parquet").to_pylist()
    data = [e for e in events if e["event"] == "sent" and e["side"] == "sender" and e["len"]]
    assert {e["len"] for e in data} >= {1000}, "the segments are as large as the scenario says"
    assert sum(e["sends"] > 1 for e in data) == sent_again
    acked = [e for e in events if e["event"] == "acked"]
    assert sum(e["newly_delivered"] for e in acked) >= acked[-1]["ack"] - 1 == flow["acked_bytes"]
    assert any(e["dup_run"] >= 3 for e in acked)
    assert max(e["pipe"] for e in acked) > 10_000
    trips = [e for e in events if e["event"] == "rtt"]
    assert all(e["rto_ns"] > e["srtt_ns"] > 20_000_000 and e["rttvar_ns"] > 0 for e in trips), "the path takes 20 ms"
    windows = [e for e in events if e["event"] == "window"]
    assert windows[0]["cwnd"] == 10_000
    assert any(e["cwnd"] < e["cwnd_from"] for e in windows), "a loss shows in the window"
    assert {"open", "recovery"} <= {e["phase_to"] for e in events if e["event"] == "phase"}
    assert any(e["event"] == "threshold" and e["dupthresh"] >= 3 for e in events)
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    for side in ("sender", "receiver"):
        assert (tmp_path / "captures" / f"{side}.pcapng").stat().st_size > 100_000
    with (tmp_path / "captures" / "truth.csv").open(encoding="utf-8", newline="") as file:
        truth = Counter(row["verdict"] for row in csv.DictReader(file))
    assert [truth[kind.removesuffix("_retransmissions")] for kind in kinds] == [flow[kind] for kind in kinds]


@needs_devices
def test_kernels_and_ours_share_a_queue_if_asked(ackclock: Command, lossy: Path) -> None:
    lossy.write_text(TWO, encoding="utf-8")
    senders = ("--sender", "kernel:reno", "--sender", "two=linux-2025", "--set", "options.timestamps=false")
    result = ackclock("live", "path", lossy, "--seconds", "2", "--json", *senders)
    report, flows = numbers(result)
    assert [f["stack"] for f in flows] == ["kernel:reno", "linux-2025"]
    assert all(f["acked_bytes"] > 50_000 for f in flows)
    assert "segment 1000 B: MSS (TCP_MAXSEG) 1000, of" in " ".join(report["live"]["notes"]), "without timestamps"
    assert "kernel:reno + linux-2025" in result.stderr


def senders_of(path: Path) -> list[str]:
    """The kernel, and the scenario's own stacks, which have the parameters that it sets."""
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    flow = read.get("dumbbell", read)["flow"][0]
    return ["kernel:cubic", flow["stack"]]


@needs_devices
def test_every_scenario_and_the_papers_paths_run_with_kernels_and_our_senders(ackclock: Command) -> None:
    papers = ("blanton-allman-2002/scenario-paper", "leung-ma-2005/scenario-single", "fukuda-2018/scenario")
    paths = [*sorted(ROOT.glob("scenarios/*.toml")), *(ROOT / "papers" / f"{paper}.toml" for paper in papers)]
    runs = [(path, sender) for path in paths for sender in senders_of(path)]
    assert len(runs) >= 20

    def run(path: Path, sender: str) -> subprocess.CompletedProcess[str]:
        # The path may drop a SYN, which is repeated after a second.
        return ackclock("live", "path", path, "--sender", sender, "--seconds", "3", "--json")

    # The runs mostly wait, but with four at once beside other work a path had not read the last packets when it ended.
    with ThreadPoolExecutor(2) as pool:
        for (path, sender), result in zip(runs, pool.map(lambda of: run(*of), runs), strict=True):
            report, flows = numbers(result)
            live = report["live"]
            assert (live["strays"], live["damaged"]) == (0, []), (path, sender)
            for flow in flows:
                assert flow["acked_bytes"] > 0, (path, sender)
                assert flow["data_packets_sent"] > flow["retransmissions"], (path, sender)
            if sender.startswith("kernel"):
                sent_again = sum(flow["retransmissions"] for flow in flows)
                # A timer may have fired after the end.
                assert 0 <= live["counters"]["sender"].get("RetransSegs", 0) - sent_again <= 2, (path, sender)


@needs_devices
def test_what_the_kernels_receiver_refuses_is_told_apart(ackclock: Command, tmp_path: Path) -> None:
    # More loss than in the file, so that a few seconds show the effect.
    text = (ROOT / "scenarios" / "two-paths.toml").read_text(encoding="utf-8")
    paths = tmp_path / "paths.toml"
    paths.write_text(text.replace("p = 0.002", "p = 0.01"), encoding="utf-8")

    def run(*options: str) -> tuple[int, int]:
        report, (flow,) = numbers(ackclock("live", "path", paths, "--seconds", "4", "--json", *options))
        receiver = report["live"]["counters"]["receiver"]
        return flow["refused_retransmissions"], receiver.get("PAWSEstab", 0)

    late = ("--sender", "late")
    options = [(), ("--sysctl", "net.ipv4.tcp_timestamps=0"), (*late, "--set", "options.timestamps=true"), late]
    with ThreadPoolExecutor(len(options)) as pool:  # the runs mostly wait
        stamped, plain, late_stamped, late_plain = pool.map(lambda of: run(*of), options)
    for refused, paws in (stamped, late_stamped):
        # The kernel counts packets that it refused; some have not been retransmitted yet, or more than once.
        assert refused > 0
        assert abs(refused - paws) <= max(5, paws // 4), (refused, paws)
    assert (plain, late_plain) == ((0, 0), (0, 0))


@needs_devices
def test_python_gets_a_result_like_that_of_a_simulated_run(lossy: Path) -> None:
    first: list[str] = []
    shares: list[float] = []
    result = package.live.path(
        lossy,
        sender="rfc-6675",
        receiver="linux-2025",
        seconds=1.5,
        compare=2,
        say=first.append,
        progress=shares.append,
    )
    assert first[0].startswith("senders: rfc-6675, the engine in this process; receivers: the engine in this process")
    assert shares == sorted(shares)
    assert 0 < shares[-1] <= 1
    assert result.frame["duration_s"].to_list() == [1.5]
    assert result.summary["stack"].to_list() == ["rfc-6675"]
    assert result.about["counters"] == {"sender": None, "receiver": None}
    events = result.events
    assert events.height == len(result.arrow("events")) > 500
    assert "1.5 s live, 1 run" in repr(result)
    assert {"acked", "window", "rtt"} <= set(events["event"].unique().to_list())
    assert result.plot().axes
    assert result.simulated is not None
    assert result.simulated.frame["seed"].to_list() == [1, 2]
    assert result.simulated.events.height > 500


@needs_devices
def test_ctrl_c_ends_a_live_run_with_130(lossy: Path, tmp_path: Path) -> None:
    command = [*HERE, "live", "path", str(lossy), "--trace", "run.parquet"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("senders: ")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", "ackclock: interrupted\n")
    assert [p.name for p in tmp_path.iterdir()] == ["lossy.toml"], "nothing half-written"


@needs_devices
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--sender", "nosuch"],
            'key `--sender`: found "nosuch", allowed: kernel:cubic, kernel:reno, kernel:bbr, or a',
        ),
        (
            ["--sender", "kernel:vegas7"],
            "key `--sender`: found kernel:vegas7, allowed: an algorithm that this kernel has loaded",
        ),
        (["--sender", "x=reno"], 'key `--sender`: found the flow "x", allowed: one'),
        (["--receiver", "kernel:cubic"], 'key `--receiver`: found "kernel:cubic", allowed: kernel, or a stack'),
        (["--sysctl", "net.ipv4.tcp_sack"], "key `--sysctl`: found net.ipv4.tcp_sack, allowed: key=value"),
        (["--sysctl", "net.ipv4.no_such=1"], 'found the sysctl "net.ipv4.no_such", allowed: a sysctl that a network'),
        (
            ["--sysctl", "kernel.hostname=x"],
            'found the sysctl "kernel.hostname", allowed: a sysctl of a namespace, net.',
        ),
        (["--sysctl", "net.ipv4.tcp_sack=perhaps"], 'the sysctl net.ipv4.tcp_sack does not take "perhaps"'),
        (["--seconds", "0"], 'key `--seconds`: found "0", allowed: seconds above 0, or a time with its unit'),
        (["--set", "rto.min=1s"], 'key `--set`: found "rto.min" without a stack, allowed: also a --sender'),
        (["--trace", "run.txt"], 'key `--trace`: found "run.txt", allowed: a file name that ends in'),
        (["--plot", "run.txt"], 'key `--plot`: found "run.txt", allowed: a file name that ends in'),
    ],
)
def test_what_makes_no_sense_is_one_message_and_exit_code_2(
    ackclock: Command, lossy: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    result = ackclock("live", "path", lossy, "--seconds", "1", *options)
    reported = [line for line in result.stderr.splitlines() if not line.startswith("senders: ")]
    assert (result.returncode, result.stdout, len(reported)) == (2, "", 1), result.stderr
    assert message in reported[0]
    assert [p.name for p in tmp_path.iterdir()] == ["lossy.toml"]


def test_a_run_with_a_kernel_where_none_was_built_points_to_live_runs(
    ackclock: Command, short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACKCLOCK_KERNELS", str(tmp_path / "none"))
    result = ackclock("run", short, "--stack", "kernel:cubic")
    assert result.returncode == 2
    assert 'found "kernel:cubic" and no kernel, allowed: a kernel that was built with' in result.stderr
    assert "TCP runs in real time: ackclock live path SCENARIO --sender kernel:cubic" in result.stderr
