"""The command: its output, where it goes, and its exit codes."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pyarrow.parquet
import pytest

import ackclock as package
from ackclock.papers.folder import every
from conftest import SHORT, Command, completed

LONG = SHORT.replace('"5 s"', '"100000 s"')


def test_run_prints_a_table_with_means_and_intervals(ackclock: Command, short: Path) -> None:
    result = ackclock("run", short)
    assert (result.returncode, result.stderr) == (0, "")
    assert "short: 5 s simulated, 4 seeds" in result.stdout
    row = next(line for line in result.stdout.splitlines() if "only" in line)
    assert re.search(r"only +newreno +[\d.,]+ ± [\d.,]+", row)
    assert "\x1b" not in result.stdout


def test_run_json_is_one_object_with_runs_and_means(ackclock: Command, short: Path) -> None:
    result = ackclock("run", short, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    report = json.loads(result.stdout)
    assert report["scenario"] == "short"
    assert [run["seed"] for run in report["runs"]] == [1, 2, 3, 4]
    for run in report["runs"]:
        flow = run["flows"][0]
        assert flow["throughput_bytes_per_s"] == pytest.approx(flow["acked_bytes"] / 5)
        assert flow["acked_bytes"] % 1460 == 0
        assert 0 < flow["retransmissions"] < flow["data_packets_sent"]
        assert flow["needless_retransmissions"] <= flow["retransmissions"]
        assert re.fullmatch(r"xxh3-128:[0-9a-f]{32}", run["trace_hash"])
        forward, back = run["links"]
        assert (forward["from"], forward["to"], back["from"]) == ("S", "D", "D")
        assert forward["loss_drops"] + forward["queue_drops"] == flow["data_drops"] > 0
        assert forward["max_queue_packets"] <= 21
        assert back["loss_drops"] == back["queue_drops"] == 0
    mean = report["flows"][0]["retransmissions"]["mean"]
    assert mean == sum(run["flows"][0]["retransmissions"] for run in report["runs"]) / 4
    assert len({run["trace_hash"] for run in report["runs"]}) == 4


def test_a_run_writes_captures_of_both_sides_and_the_truth_beside_them(
    ackclock: Command, short: Path, tmp_path: Path
) -> None:
    result = ackclock("run", short, "--seeds", "1", "--json", "--pcap", "captures")
    (flow,) = json.loads(result.stdout)["runs"][0]["flows"]
    files = {path.name: path for path in (tmp_path / "captures").iterdir()}
    assert sorted(files) == ["receiver.pcapng", "sender.pcapng", "truth.csv"]
    with files["truth.csv"].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == flow["retransmissions"] > 0
    assert sum(row["verdict"] == "needless" for row in rows) == flow["needless_retransmissions"]
    # The start of a section in this machine's byte order, as in the format's draft.
    assert files["sender.pcapng"].read_bytes()[:12] == bytes.fromhex("0a0d0d0a1c0000004d3c2b1a")
    called = package.run(short, seeds=1, pcap=tmp_path / "called", pcap_snap=80)
    assert called.frame["retransmissions"][0] == len(rows)
    assert (tmp_path / "called" / "truth.csv").read_bytes() == files["truth.csv"].read_bytes()


@pytest.mark.parametrize("options", [("--pcap-at", "R1"), ("--pcap-snap", "96")])
def test_what_a_capture_is_like_makes_no_sense_without_one(
    ackclock: Command, short: Path, options: tuple[str, str]
) -> None:
    result = ackclock("run", short, *options)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == (
        f'ackclock: command line: key `{options[0]}`: found "{options[1]}" without --pcap, allowed: also --pcap DIR, '
        "a folder for captures\n"
    )


def test_several_stacks_are_blocks_of_one_table_and_of_one_json(ackclock: Command, short: Path) -> None:
    both = ("--stack", "tahoe", "--stack", "sack-ff96", "--seeds", "3")
    table = ackclock("run", short, *both)
    assert (table.returncode, table.stderr) == (0, "")
    assert "short: 5 s simulated, 3 seeds" in table.stdout
    assert re.findall(r"^only +(\S+) +[\d.,]+ ± ", table.stdout, re.MULTILINE) == ["tahoe", "sack-ff96"]
    report = json.loads(ackclock("run", short, *both, "--json").stdout)
    alone = [json.loads(ackclock("run", short, "--stack", s, "--json").stdout) for s in ("tahoe", "sack-ff96")]
    assert report["runs"] == [run for one in alone for run in one["runs"][:3]]
    assert [(flow["stack"], flow["retransmissions"]["n"]) for flow in report["flows"]] == [
        ("tahoe", 3),
        ("sack-ff96", 3),
    ]
    for flow, one in zip(report["flows"], alone, strict=True):
        mean = sum(run["flows"][0]["retransmissions"] for run in one["runs"][:3]) / 3
        assert flow["retransmissions"]["mean"] == pytest.approx(mean)


def test_seeds_count_up_from_the_first(ackclock: Command, short: Path) -> None:
    def seeds(*options: str) -> list[int]:
        return [run["seed"] for run in json.loads(ackclock("run", short, "--json", *options).stdout)["runs"]]

    assert seeds("--seeds", "6") == [1, 2, 3, 4, 5, 6]
    assert seeds("--seed", "8", "--seeds", "2") == [8, 9]


def test_the_same_bytes_on_one_and_two_threads(ackclock: Command, short: Path) -> None:
    one, two = (ackclock("run", short, "--json", "--threads", n).stdout for n in ("1", "2"))
    assert one == two != ""


def test_seed_stack_and_set_change_the_run(ackclock: Command, short: Path) -> None:
    def run(*options: str) -> tuple[str, str, str]:
        report = json.loads(ackclock("run", short, "--seed", "2", "--json", *options).stdout)
        (run,) = report["runs"]
        assert run["seed"] == 2
        return report["flows"][0]["stack"], run["identity"], run["trace_hash"]

    plain, tahoe = run(), run("--stack", "tahoe")
    slow = run("--set", "startup.initial_window_segs=4")
    assert (plain[0], tahoe[0], slow[0]) == ("newreno", "tahoe", "newreno")
    assert len({plain[1], tahoe[1], slow[1]}) == len({plain[2], tahoe[2], slow[2]}) == 3


def test_the_scenario_may_come_from_standard_input(ackclock: Command, short: Path) -> None:
    piped = ackclock("run", "-", "--json", "--seed", "1", stdin=SHORT)
    assert piped.stdout == ackclock("run", short, "--json", "--seed", "1").stdout != ""
    assert ackclock("run", "-", stdin="[rnu]\n").stderr.startswith("ackclock: <stdin>:1: key `rnu`")


def test_a_trace_is_written_as_csv_and_as_parquet(ackclock: Command, short: Path, tmp_path: Path) -> None:
    for name in ("t.csv", "t.parquet"):
        result = ackclock("run", short, "--seed", "1", "--trace", name, "--json")
        assert (result.returncode, result.stderr) == (0, "")
    untraced = ackclock("run", short, "--seed", "1", "--json")
    assert untraced.stdout == result.stdout
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    table = pyarrow.parquet.read_table(tmp_path / "t.parquet")
    assert len(rows) == table.num_rows > 1000
    assert list(rows[0]) == table.column_names


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--stack", "newrno"], 'command line: key `--stack`: found "newrno", allowed: one of tahoe, '),
        (["--set", "rto.mni=1s"], "command line: key `--set rto.mni`: found 1s, allowed: one of the parameters rto."),
        (["--set", "rto.min"], "command line: key `--set`: found rto.min, allowed: path=value"),
        (["--stack", "reno", "--stack", "reno"], 'command line: key `--stack`: found "reno" a second time, allowed: '),
        (
            ["--stack", "dsack-ewma", "--stack", "reno", "--set", "detect.threshold.x=0.5"],
            'command line: key `--set detect.threshold.x`: found 0.5 with stack "reno", allowed: one of ',
        ),
        (["--seed", "9223372036854775807", "--seeds", "2"], "command line: key `--seeds`: found 2, allowed: seeds up"),
        (["--trace", "t.txt"], 'command line: key `--trace`: found "t.txt", allowed: a file name that ends in '),
    ],
)
def test_a_bad_option_is_one_message_and_exit_code_2(
    ackclock: Command, short: Path, options: list[str], said: str
) -> None:
    result = ackclock("run", short, *options)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"ackclock: {said}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("change", "line", "said"),
    [
        ('"5 Mbps"', 9, 'key `link[0].rate`: found "5 Mbs" (unknown unit), allowed: a rate: '),
        ('"20 packets"', 11, 'key `link[0].queue`: found "0 packets", allowed: '),
        ('"newreno"', 18, 'key `flow[0].stack`: found "newrno", allowed: one of '),
    ],
)
def test_a_bad_scenario_is_one_message_and_exit_code_2(
    ackclock: Command, short: Path, change: str, line: int, said: str
) -> None:
    bad = {'"5 Mbps"': '"5 Mbs"', '"20 packets"': '"0 packets"', '"newreno"': '"newrno"'}[change]
    short.write_text(SHORT.replace(change, bad), encoding="utf-8")
    for options in ([], ["--json"]):
        result = ackclock("run", short, *options)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.startswith(f"ackclock: {short}:{line}: {said}")
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("what", ["missing", "folder", "latin-1"])
def test_an_unreadable_file_is_one_message_and_exit_code_2(ackclock: Command, tmp_path: Path, what: str) -> None:
    path = tmp_path / "x.toml"
    if what == "folder":
        path.mkdir()
    elif what == "latin-1":
        path.write_bytes(b"# caf\xe9\n")
    result = ackclock("run", path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"ackclock: {path}{':1' if what == 'latin-1' else ''}: found ")
    assert result.stderr.count("\n") == 1


def test_a_trace_that_cannot_be_written_is_one_message_and_exit_code_1(ackclock: Command, short: Path) -> None:
    result = ackclock("run", short, "--trace", "no/such/folder/t.csv")
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "no/such/folder/t.csv" in result.stderr


def test_stacks_are_listed_with_their_names(ackclock: Command) -> None:
    listed = json.loads(ackclock("stacks", "--json").stdout)
    names = [stack["name"] for stack in listed]
    assert {"tahoe", "reno", "newreno", "sack-ff96", "rfc-6675"} <= set(names)
    assert all(stack["summary"] and "kind" in stack["recovery"] for stack in listed)
    table = ackclock("stacks")
    assert (table.returncode, table.stderr) == (0, "")
    assert re.findall(r"^ *([a-z0-9-]+) ", table.stdout, re.MULTILINE) == ["stack", *names]
    assert names == [stack["name"] for stack in package.stacks()]


def test_version_and_help(ackclock: Command) -> None:
    assert ackclock("--version").stdout == f"ackclock {package.__version__}\n"
    assert "Examples:\n    ackclock new" in ackclock("--help").stdout
    for command in ("run", "show", "new", "stacks", "schema"):
        reported = ackclock(command, "--help")
        assert reported.returncode == 0
        assert "Usage:" in reported.stdout
        assert f"Examples:\n    ackclock {command}" in reported.stdout
    assert ackclock("rnu").returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux that is always full")
@pytest.mark.parametrize("arguments", [["run"], ["run", "--json"], ["show"]])
def test_a_full_disk_is_one_message_and_exit_code_1(short: Path, arguments: list[str]) -> None:
    command = [sys.executable, "-m", "ackclock", *arguments, str(short)]
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith("ackclock: ")
    assert "No space left on device" in result.stderr


def test_stacks_are_completed(tmp_path: Path) -> None:
    names = [s["name"] for s in package.stacks() if s["name"].startswith("newr")]
    for command in ("run", "show"):
        assert completed(f"ackclock {command} x.toml --stack newr", tmp_path) == names != []


def test_papers_are_completed(tmp_path: Path) -> None:
    assert completed("ackclock reproduce bl", tmp_path) == ["blanton-allman-2002"]
    assert completed("ackclock reproduce ", tmp_path) == sorted(every(Path(__file__).resolve().parents[2] / "papers"))


def test_scenario_files_are_completed(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    for name in ("a.toml", "b.toml", "b.csv", ".hidden.toml", "more/c.toml"):
        (tmp_path / name).touch()
    for command in ("run", "show"):
        assert completed(f"ackclock {command} ", tmp_path) == ["a.toml", "b.toml", "more/"]
        assert completed(f"ackclock {command} b", tmp_path) == ["b.toml"]
        assert completed(f"ackclock {command} more/", tmp_path) == ["more/c.toml"]


def identities(report: str) -> list[str]:
    return [run["identity"] for run in json.loads(report)["runs"]]


def test_show_prints_toml_with_every_default_that_runs_the_same(ackclock: Command, short: Path, tmp_path: Path) -> None:
    options = ("--stack", "dsack-avg", "--set", "rto.tick=500ms", "--seeds", "2")
    shown = ackclock("show", short, *options)
    assert (shown.returncode, shown.stderr) == (0, "")
    parsed = tomllib.loads(shown.stdout)
    stack = next(s for s in package.stacks() if s["name"] == "dsack-avg")
    stack["rto"]["tick"] = "500 ms"
    expected = {k: v for k, v in stack.items() if k not in {"name", "summary"}}
    assert parsed["flow"][0]["set"] == expected
    (tmp_path / "all.toml").write_text(shown.stdout, encoding="utf-8")
    again = ackclock("run", "all.toml", "--json").stdout
    assert identities(again) == identities(ackclock("run", short, *options, "--json").stdout)
    assert ackclock("show", "all.toml").stdout == shown.stdout
    bad = ackclock("show", short, "--stack", "newrno")
    assert (bad.returncode, bad.stdout) == (2, "")


def test_new_makes_a_scenario_that_runs_and_leaves_a_file_alone(ackclock: Command, tmp_path: Path) -> None:
    made = ackclock("new")
    assert (made.returncode, made.stderr) == (0, "")
    path = tmp_path / "scenario.toml"
    text = path.read_text(encoding="utf-8")
    ran = ackclock("run", "scenario.toml")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ackclock("new", "-").stdout == text
    path.write_text("mine", encoding="utf-8")
    refused = ackclock("new")
    assert (refused.returncode, refused.stdout, path.read_text(encoding="utf-8")) == (2, "", "mine")
    assert refused.stderr == "ackclock: scenario.toml: found a file, allowed: a name that does not exist yet\n"
    assert ackclock("new", "no/such/folder.toml").returncode == 1


def test_what_the_starter_has_commented_out_runs_too(ackclock: Command) -> None:
    text = ackclock("new", "-").stdout
    elements = re.sub(r"^    # \{", "    {", text, flags=re.MULTILINE)
    assert elements.count("    {") == 3
    ran = ackclock("run", "-", "--seeds", "1", stdin=elements)
    assert (ran.returncode, ran.stderr) == (0, "")


def on_a_terminal(path: Path, until: bytes, variables: dict[str, str], *options: str) -> tuple[bytes, int]:
    """Run the command with a terminal as its standard error; interrupt it when `until` appears."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "ackclock", "run", str(path), *options]
    env = os.environ | {"TERM": "xterm", "COLUMNS": "80"} | variables
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave, env=env) as process:
        os.close(slave)
        shown = b""
        deadline = time.monotonic() + 30
        while until not in shown and time.monotonic() < deadline:
            shown += os.read(master, 4096)
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=30)
        assert process.stdout is not None
        assert process.stdout.read() == b""
    os.close(master)
    return shown, code


def test_a_bar_on_a_terminal_and_130_on_interrupt(short: Path) -> None:
    short.write_text(LONG, encoding="utf-8")
    shown, code = on_a_terminal(short, b"%", {}, "--stack", "tahoe", "--stack", "reno", "--seeds", "3")
    assert b"simulating" in shown
    assert re.search(rb"(\d:\d\d|-:--):(\d\d|--)", shown), "time left"
    assert code == 130


def test_no_color_is_respected(short: Path) -> None:
    short.write_text(LONG, encoding="utf-8")
    # Without control characters a line comes every ten seconds.
    shown, _ = on_a_terminal(short, b"%", {"NO_COLOR": "1"}, "--seeds", "40")
    assert not re.search(rb"\x1b\[[0-9;]*3[0-9]", shown)


def test_more_threads_than_a_system_can_count_are_refused_in_one_line(ackclock: Command, short: Path) -> None:
    refused = ackclock("run", str(short), "--threads", "9" * 20)
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
    assert "--threads" in refused.stderr


INTERRUPTED_WHILE_DELETING = """
import time
from ackclock.cli import main
class Gone:
    def __del__(self):
        raise KeyboardInterrupt
def app(**_):
    Gone()
    time.sleep(30)
main.app = app
main.main()
"""


def test_an_interrupt_that_comes_while_an_object_is_deleted_is_not_lost() -> None:
    command = [sys.executable, "-c", INTERRUPTED_WHILE_DELETING]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
