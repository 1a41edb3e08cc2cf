"""``ackclock live send``, ``recv`` and ``bench`` as programs: files, signals, exit codes."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from ackclock import _native
from ackclock.cli.main import app
from conftest import HERE, Command, needs_devices
from doc_page import live_runs

AT = "10.77.0.1:5001"
ENTRY = {
    "direction": "send",
    "offload": False,
    "family": "IPv4",
    "gbps": 1.0,
    "hashes_equal": False,
    "engine_processor": 0.5,
    "kernel_processor": 0.5,
    "bytes_per_frame": 1448.0,
    "retransmitted": 0,
    "late_p99_us": None,
    "priority": "ordinary priority",
}


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_hash_that_differs_is_exit_code_1(monkeypatch: pytest.MonkeyPatch, form: list[str]) -> None:
    asked: list[tuple[object, ...]] = []

    def bench(*arguments: object) -> str:
        asked.append(arguments[:3])
        # One of eight fails.
        return json.dumps({**ENTRY, "hashes_equal": len(asked) != 3})

    monkeypatch.setattr(_native, "live_bench", bench)
    result = CliRunner().invoke(app, ["live", "bench", *form])
    assert result.exit_code == 1
    assert "the bytes received differ from the bytes sent" in result.output
    assert len(set(asked)) == 8
    monkeypatch.setattr(_native, "live_bench", lambda *_: json.dumps({**ENTRY, "hashes_equal": True}))
    assert CliRunner().invoke(app, ["live", "bench", *form]).exit_code == 0


@needs_devices
def test_bench_has_an_entry_for_each_direction_offload_and_family(ackclock: Command) -> None:
    result = ackclock("live", "bench", "--bytes", "1MB", "--json")
    assert result.returncode == 0, result.stderr
    entries = json.loads(result.stdout)["entries"]
    kinds = {(entry["direction"], entry["offload"], entry["family"]) for entry in entries}
    assert len(entries) == len(kinds) == 8
    for entry in entries:
        assert entry["hashes_equal"]
        assert entry["gbps"] > 0
        assert entry["bytes"] == 1_000_000
        assert entry["engine_processor"] > 0
        assert entry["kernel_processor"] > 0
    assert result.stderr.count("namespace: ") == 8


def test_a_file_that_cannot_be_made_or_read_is_refused_before_anything_is_made(
    ackclock: Command, tmp_path: Path
) -> None:
    (tmp_path / "there").write_text("mine", encoding="utf-8")
    recv, send = ["live", "recv", "--listen", AT, "--peer", "there"], ["live", "send"]
    for words, message in (
        ([*recv, "-o", "there"], "there: found a file, allowed: a name that does not exist yet"),
        ([*recv, "-o", "."], ".: found a folder, allowed: a name that does not exist yet"),
        ([*recv, "-o", "no/copy"], "no/copy: cannot write it: "),
        ([*recv, "-o", "there/copy"], "there/copy: cannot write it: "),
        ([*send, "absent", "--to", AT], "absent: "),
        ([*send, ".", "--to", AT], ".: found a folder, allowed: a file"),
        (
            [*send, "there", "--to", AT, "--peer", "there"],
            "there: found a file, allowed: a name that does not exist yet",
        ),
    ):
        result = ackclock(*words)
        assert result.returncode == (2 if live_runs() else result.returncode), result.stderr
        assert result.stderr.startswith(f"ackclock: {message}"), result.stderr
    assert (tmp_path / "there").read_text(encoding="utf-8") == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


@needs_devices
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
@pytest.mark.parametrize("ours", [True, False])
def test_a_transfer_that_is_ended_leaves_no_half_of_a_file(
    tmp_path: Path, number: signal.Signals, code: int, ours: bool
) -> None:
    command = [*HERE, "live"]
    if ours:
        command += ["recv", "--listen", AT, "-o", "copy", "--peer", "-", "--pcap", "packets"]
    else:
        command += ["send", "-", "--to", AT, "--peer", "copy", "--pcap", "packets"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        process.stdin.write(bytes(2_000_000))
        process.stdin.flush()
        # The capture's buffer is written only after megabytes have passed the device.
        end = time.monotonic() + 20
        while not ((tmp_path / "packets").exists() and (tmp_path / "packets").stat().st_size > 1_000_000):
            assert time.monotonic() < end
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        # Its input stays open, so it does not end by itself.
        assert process.wait(timeout=20) == code
    assert [path.name for path in tmp_path.iterdir()] == ["packets"]


@needs_devices
def test_standard_input_arrives_in_a_file_that_is_whole(ackclock: Command, tmp_path: Path) -> None:
    text = "".join(f"{n}\n" for n in range(200_000))
    result = ackclock("live", "send", "-", "--to", AT, "--peer", "copy", "--offload", stdin=text)
    assert result.returncode == 0, result.stderr
    assert "the same at the kernel's end" in result.stdout
    assert (tmp_path / "copy").read_text(encoding="utf-8") == text
    assert (tmp_path / "copy").stat().st_mode & 0o111 == 0
