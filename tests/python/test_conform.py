"""``ackclock conform`` and :func:`ackclock.conform`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ackclock as ak
from conftest import Command

HANDSHAKE = """\
 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 1000 <mss 1000>
+0 > S. 0:0(0) ack 1 <mss 1460>
"""
WRONG = HANDSHAKE.replace("<mss 1460>", "<mss 1400>")
UNKNOWN = HANDSHAKE + "+0 splice(3, 4) = 0\n"
SYNTAX = HANDSHAKE + "+0 < . 1:1(0) akc 1 win 1000\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Scripts with each of the three results."""
    scripts = {"pass": HANDSHAKE, "wrong": WRONG, "unknown": UNKNOWN, "syntax": SYNTAX}
    for name, text in scripts.items():
        (tmp_path / f"{name}.pkt").write_text(text, encoding="utf-8")
    return tmp_path


def test_each_script_passes_fails_or_is_not_understood_with_line_and_reason(folder: Path) -> None:
    results = {result.file.stem: result for result in ak.conform(folder)}
    assert {name: result.result for name, result in results.items()} == {
        "pass": "pass",
        "wrong": "fail",
        "unknown": "not understood",
        "syntax": "not understood",
    }
    assert results["pass"].line is None
    assert results["pass"].talk[-1].text == "> S. 0:0(0) ack 1 win 65535 <mss 1460>"
    assert (results["wrong"].line, results["wrong"].reason) == (5, "an unexpected packet")
    assert "options <mss 1400>, found <mss 1460>" in str(results["wrong"].text)
    assert str(results["unknown"].text) == "the call splice is not understood"
    assert (results["syntax"].line, results["syntax"].reason) == (6, "syntax error")
    assert "syntax.pkt:6:15: found `akc`, allowed here: `ack N`" in str(results["syntax"].text)


def test_the_last_line_begins_with_the_number_that_passed_and_the_exit_code_says_whether_all_did(
    folder: Path, ackclock: Command
) -> None:
    said = ackclock("conform", str(folder))
    assert said.returncode == 1
    lines = said.stdout.splitlines()
    assert lines[0] == f"{folder}: 1 of 4 pass, 1 fail, 2 not understood"
    assert lines[-1] == "1 of 4 pass, 1 fail, 2 not understood"
    assert ackclock("conform", str(folder / "pass.pkt")).returncode == 0


def test_a_kept_list_of_results_is_met_until_a_script_changes_sides(folder: Path, ackclock: Command) -> None:
    listed = folder / "expected.txt"
    ackclock("conform", str(folder), "--write-expected", str(listed))
    assert ackclock("conform", str(folder), "--expect", str(listed)).returncode == 0
    (folder / "wrong.pkt").write_text(HANDSHAKE, encoding="utf-8")
    said = ackclock("conform", str(folder), "--expect", str(listed))
    assert said.returncode == 1
    assert f"{folder / 'wrong.pkt'}: pass, expected: fail" in said.stdout
    (folder / "wrong.pkt").unlink()
    assert "wrong.pkt: not found, expected: fail" in ackclock("conform", str(folder), "--expect", str(listed)).stdout


def test_json_has_each_script_and_the_counts(folder: Path, ackclock: Command) -> None:
    found = json.loads(ackclock("conform", str(folder), "--json").stdout)
    assert (found["pass"], found["fail"], found["not understood"]) == (1, 1, 2)
    assert [Path(script["file"]).stem for script in found["scripts"]] == ["pass", "syntax", "unknown", "wrong"]


def test_the_conversation_stands_beside_the_script(folder: Path, ackclock: Command) -> None:
    said = ackclock("conform", str(folder / "wrong.pkt"), "-v").stdout
    assert "    4  +0 < S 0:0(0) win 1000 <mss 1000>\n           0.000000 s  < S 0:0(0) win 1000 <mss 1000>\n" in said
    assert "       fail: expected > S. 0:0(0) ack 1 <mss 1400>" in said


def test_a_stack_may_have_parameters_and_a_script_may_choose_one(folder: Path, ackclock: Command) -> None:
    script = folder / "pass.pkt"
    chosen = "ackclock.stack='linux-2025,options.timestamps=false'"
    script.write_text(f"0 `sysctl -q {chosen}`\n{HANDSHAKE}", encoding="utf-8")
    assert ak.conform(script)[0].result == "pass"
    assert ak.conform(script, stack="rack-tlp,rto.min=200 ms")[0].result == "pass"
    said = ackclock("conform", str(script), "--stack", "rack-tlp,rto.mim=1 s")
    assert said.returncode == 2
    assert "rto.min" in said.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.pkt"], "missing.pkt: No such file"),
        (["."], "found no script, allowed: a folder with .pkt files"),
        (["a.pkt", "--library", "missing.so"], "missing.so: No such file"),
        (["a.pkt", "--library", "a.pkt"], "a.pkt: it cannot be loaded"),
        (["a.pkt", "--library", "a.so", "--stack", "reno"], "found several TCPs, allowed: one of a stack"),
        (["a.pkt", "--", "true"], "found a command after --, allowed: with --tun NAME"),
        (["a.pkt", "--expect", "list"], 'list: line 1: found "fine a.pkt", allowed: one of pass, fail, not-understood'),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], message: str, tmp_path: Path, ackclock: Command) -> None:
    if "a.pkt" in arguments:
        (tmp_path / "a.pkt").write_text(HANDSHAKE, encoding="utf-8")
        (tmp_path / "list").write_text("fine a.pkt\n", encoding="utf-8")
    said = ackclock("conform", *arguments)
    assert said.returncode == 2
    assert message in said.stderr
    assert said.stderr.count("\n") == 1


UNAVAILABLE = 3
"""The exit code where devices cannot be opened."""
REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler named cc")
@pytest.mark.skipif(sys.platform == "win32", reason="libraries are loaded on Unix alone")
def test_a_tcp_in_a_library_is_run_by_the_same_scripts(tmp_path: Path, ackclock: Command) -> None:
    library, conform = tmp_path / "libclosed.so", REPOSITORY / "crates/conform"
    compile = ["cc", "-shared", "-fPIC", "-I", str(conform / "include"), "-o", str(library)]
    subprocess.run([*compile, str(conform / "examples/c/closed.c")], check=True)
    closed = sorted((REPOSITORY / "conformance/states").glob("closed-*.pkt"))
    assert {r.result for r in ak.conform(closed, library=library)} == {"pass"}
    said = ackclock("conform", str(closed[0]), "--library", str(library))
    assert (said.returncode, said.stdout.splitlines()[-1]) == (0, "1 of 1 pass, 0 fail, 0 not understood")
    other = ak.conform(REPOSITORY / "conformance/states/established-fin.pkt", library=library)
    assert (other[0].result, other[0].text) == ("not understood", "the TCP under test does not have this listen")


def test_the_kernels_own_sockets_are_run_over_a_device_by_the_same_scripts(ackclock: Command) -> None:
    script = REPOSITORY / "conformance/states/established-rst-in-window.pkt"
    program = [sys.executable, str(REPOSITORY / "crates/live/examples/kernel_sockets.py")]
    said = ackclock("conform", str(script), "--threads", "1", "--tun", "tun0", "--", *program)
    if said.returncode == UNAVAILABLE:
        pytest.skip(said.stderr)
    assert (said.returncode, said.stdout.splitlines()[-1]) == (0, "1 of 1 pass, 0 fail, 0 not understood")
    said = ackclock("conform", str(script), "--tun", "tun0", "--", "false")
    assert (said.returncode, said.stderr) == (2, "ackclock: false has ended: exit status: 1\n")
    said = ackclock("conform", str(script), "--tun", "tun0")
    assert "found no command after --, allowed: a program and its arguments" in said.stderr
