"""The comparison of our runner with packetdrill: what counts, what is reported, and what is never run."""

from __future__ import annotations

from pathlib import Path

import packetdrill
import pytest
from packetdrill import Verdict

PASS, FAIL, UNKNOWN = Verdict("pass"), Verdict("fail", "another packet"), Verdict("unknown")


def outside(work: Path, program: str) -> packetdrill.Outside:
    """A program in place of packetdrill."""
    file = work / "program"
    file.write_text(f"#!/bin/sh\n{program}\n", encoding="utf-8")
    file.chmod(0o755)
    commands = packetdrill.write_commands(work / "commands")
    return packetdrill.Outside(file, Path(), commands, work, "linux", 20)


def test_a_disagreement_is_named_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    scripts = [Path("a.pkt"), Path("b.pkt"), Path("c.pkt")]
    ours = dict(zip(scripts, (PASS, FAIL, PASS), strict=True))
    assert packetdrill.report(ours, ours) == 0
    assert "3 of 3 agree; 0 not understood" in capsys.readouterr().out
    assert packetdrill.report(ours, {**ours, scripts[1]: PASS}) == 1
    said = capsys.readouterr().out
    assert "b.pkt: our runner: fail another packet\n    packetdrill: pass" in said
    assert "2 of 3 agree" in said


def test_a_script_that_one_of_both_does_not_understand_does_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = Path("a.pkt"), Path("b.pkt")
    assert packetdrill.report({first: PASS, second: PASS}, {first: PASS, second: UNKNOWN}) == 0
    assert "1 of 1 agree; 1 not understood by one or both" in capsys.readouterr().out
    assert packetdrill.report({first: PASS}, {first: UNKNOWN}) == 1, "nothing was compared"


@pytest.mark.parametrize(
    ("code", "said", "word"),
    [
        (0, "", "pass"),
        (1, "a.pkt:3: error handling packet: timing error", "fail"),
        (1, "a.pkt:3: parse error at '#': syntax error", "unknown"),
        (77, "ackclock: not understood: splice", "unknown"),
        (2, "ackclock: the engine's thread has ended", "broken"),
        (-6, "Assertion failed", "broken"),
    ],
)
def test_the_end_of_packetdrill_says_what_became_of_a_script(code: int, said: str, word: str) -> None:
    assert packetdrill.judge(code, said).word == word


def test_a_broken_run_disagrees_with_every_result() -> None:
    path = Path("a.pkt")
    assert packetdrill.report({path: FAIL}, {path: packetdrill.judge(-6, "")}) == 1


def test_the_replaced_commands_write_settings_to_the_file_that_the_library_reads(tmp_path: Path) -> None:
    script = tmp_path / "a.pkt"
    script.write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n", encoding="utf-8")
    written = tmp_path / "seen.txt"
    settings = "sysctl -q -w a.b=1 'c.d=2 3'; tcpdrop -s TIME_WAIT; ip tcp_metrics flush all"
    runner = outside(tmp_path, f'{settings}; cat "$ACKCLOCK_ORDERS" > {written}')
    assert runner.run(script) == PASS
    assert written.read_text(encoding="utf-8") == "set a.b=1\nset c.d=2 3\ndrop TIME_WAIT\n"


def test_a_script_that_would_change_the_machine_is_not_run(tmp_path: Path) -> None:
    script = tmp_path / "a.pkt"
    runner = outside(tmp_path, f"touch {tmp_path}/ran")
    for command in (
        "echo 1 > /proc/sys/net/ipv4/tcp_sack",
        "../common/set_sysctls.py /proc/sys/x=1",
        "/sbin/sysctl a=1",
    ):
        script.write_text(f"`{command}`\n", encoding="utf-8")
        assert runner.run(script).word == "unknown"
    assert not (tmp_path / "ran").exists()


def test_a_folder_is_freebsds_if_its_scripts_set_freebsds_names(tmp_path: Path) -> None:
    script = tmp_path / "a.pkt"
    for setting, system in (("net.inet.tcp.rfc1323=1", "freebsd"), ("net.ipv4.tcp_sack=1", "linux")):
        script.write_text(f"0 `sysctl -w {setting}`\n", encoding="utf-8")
        assert packetdrill.guess_system(tmp_path) == system


def test_without_packetdrill_it_says_that_it_was_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    assert packetdrill.main([]) == 0
    assert capsys.readouterr().out.startswith("SKIPPED: make packetdrill needs PACKETDRILL=path")
