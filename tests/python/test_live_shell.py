"""``ackclock live shell`` as a program, and the messages of all live commands without permission."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import HERE, Command, needs_devices

LOSSY = """
[run]
duration = "5 s"
seeds = { first = 5, count = 2 }
[[link]]
from = "S"
to = "D"
rate = "50 Mbps"
delay = "2 ms"
queue = "200 packets"
elements = [{ kind = "bernoulli", p = 0.1 }]
back = { elements = [] }
[[flow]]
from = "S"
to = "D"
stack = "linux-2025"
"""
HEARS = """
import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)  # the usual one holds 166 of these datagrams, if this stalls
s.bind((os.environ["ACKCLOCK_ADDRESS"], 5005))
heard = 0
try:
    while s.recv(2000):
        heard += 1
        s.settimeout(0.6)
except TimeoutError:
    pass
print("heard", heard)
"""
SENDS = """
import os, socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(200):
    s.sendto(bytes(200), (os.environ["ACKCLOCK_PEER"], 5005))
    time.sleep(0.0002)
print("sent from", os.environ["ACKCLOCK_ADDRESS"])
sys.exit(9)
"""


@pytest.fixture
def lossy(tmp_path: Path) -> Path:
    """A path that loses one packet in ten, in one direction."""
    path = tmp_path / "lossy.toml"
    path.write_text(LOSSY, encoding="utf-8")
    return path


def quoted(code: str) -> str:
    """Python code as a command for a shell."""
    return f"'{sys.executable}' -c '{code}'"


@needs_devices
def test_the_ledger_is_json_the_programs_speak_beside_it_and_the_exit_code_is_passed_on(
    ackclock: Command, lossy: Path
) -> None:
    shell = ["live", "shell", lossy, "--json", "--peer", quoted(HEARS), "--", sys.executable, "-c", SENDS]
    result = ackclock(*shell)
    assert result.returncode == 9, result.stderr
    ledger = json.loads(result.stdout)
    there, back = ledger["ways"]
    assert (ledger["code"], ledger["peer_code"], ledger["seed"]) == (9, 0, 5)
    assert (there["from"], there["to"], there["sent"], back["sent"]) == ("S", "D", 200, 0)
    assert there["sent"] == there["arrived"] + there["lost"]
    assert there["lost"] == there["loss_drops"] > 0
    assert f"heard {there['arrived']}\n" in result.stderr
    assert "sent from 10.77.0.1\n" in result.stderr
    assert there["reordering"]["packets"] == there["arrived"]
    assert there["reordering"]["reordered"] == 0


@needs_devices
def test_the_first_line_says_where_and_the_last_ones_what_became_of_packets(ackclock: Command, lossy: Path) -> None:
    result = ackclock("live", "shell", lossy, "--seed", "8", "--mtu", "1400", "--peer", quoted(HEARS), "--", "true")
    assert (result.returncode, result.stdout) == (0, "")
    lines = result.stderr.splitlines()
    assert lines[0].startswith("namespaces: net:[")
    assert "device: tun0 (TUN) in each, MTU 1400, offload off" in lines[0]
    assert any(line.split() == ["packets", "S", "→", "D", "D", "→", "S"] for line in lines)
    assert any(line.split() == ["overtaken", "0", "0"] for line in lines)
    assert any(line.startswith("seed 8, ") for line in lines)


@needs_devices
def test_what_cannot_be_run_is_refused_in_one_sentence(ackclock: Command, lossy: Path) -> None:
    for words, message in (
        (["--", "/no/such/program"], 'found the command "/no/such/program"'),
        (["--to", "X", "--", "true"], 'key `--to`: found "X", allowed: one of S, D'),
        (["--mtu", "70", "--from", "D", "--", "true"], "it needs two different nodes"),
    ):
        result = ackclock("live", "shell", lossy, *words)
        assert (result.returncode, message in result.stderr) == (2, True), result.stderr
        assert result.stderr.splitlines()[-1].startswith("ackclock: ")


def outside() -> str:
    """State of the host's namespace that a run might change."""
    ask = ["sysctl -a 2>/dev/null | grep '^net[.]ipv[46]' | sort", "ip -d link", "ip addr", "ip route show table all"]
    if shutil.which("ip") is None or shutil.which("sysctl") is None:
        pytest.skip("live: skipped, because ip and sysctl are not installed")
    outputs = (subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True).stdout for line in ask)
    # Lifetimes of addresses count down, and other tests' devices are ignored.
    return "".join(line for text in outputs for line in text.splitlines(keepends=True) if "valid_lft" not in line)


def runs(argument: str) -> bool:
    """Whether a process with this argument runs."""
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if argument.encode() in line.read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


def eventually(what: Callable[[], bool], seconds: float = 10) -> bool:
    """Wait for a condition for a time. Default: ten seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.02)
    return False


@contextmanager
def sleeping(scenario: Path) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A run whose program, peer and their children sleep, and the durations of the sleeps in seconds."""
    naps = [str(10_000_000 + 10 * os.getpid() + n) for n in range(4)]
    program, peer = (f"(setsid sleep {a} &) ; exec sleep {b}" for a, b in (naps[:2], naps[2:]))
    command = [*HERE, "live", "shell", str(scenario), "--peer", peer, "--", "sh", "-c", program]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            # Two programs and their namespaces begin, perhaps on a busy machine.
            assert eventually(lambda: all(map(runs, naps)), seconds=60)
            yield process, naps
        finally:
            process.kill()


@needs_devices
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_a_signal_leaves_no_process_and_nothing_outside_is_touched(
    lossy: Path, number: signal.Signals, code: int
) -> None:
    before = outside()
    with sleeping(lossy) as (process, naps):
        during = outside()
        process.send_signal(number)
        _, err = process.communicate(timeout=20)
        assert process.returncode == code, err
        assert ("S → D" in err) == (number != signal.SIGKILL)
        assert eventually(lambda: not any(map(runs, naps)))
    assert during == before
    assert outside() == before


@needs_devices
@pytest.mark.skipif(shutil.which("script") is None, reason="script is not installed, which makes a terminal")
@pytest.mark.parametrize(("trap", "keys", "code"), [("exit 5", 1, 5), ("", 2, 130)])
def test_on_a_terminal_ctrl_c_is_for_the_program_and_the_second_one_ends_the_run(
    lossy: Path, tmp_path: Path, trap: str, keys: int, code: int
) -> None:
    program = f'trap "{trap}" INT; touch {tmp_path}/ready; while :; do sleep 0.1; done'
    (tmp_path / "program.sh").write_text(program, encoding="utf-8")
    # A shell between the terminal and the command would also end on Ctrl-C, and determine the exit code.
    line = " ".join(("exec", *HERE, "live", "shell", str(lossy), "--", "sh", str(tmp_path / "program.sh")))
    command, pipe = ["script", "-qec", line, "/dev/null"], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT) as process:
        assert process.stdin is not None
        assert eventually((tmp_path / "ready").exists)
        for _ in range(keys):
            process.stdin.write(b"\x03")
            process.stdin.flush()
            # Two signals in quick succession would count as one.
            time.sleep(0.5)
        output, _ = process.communicate(timeout=20)
    assert process.returncode == code, output
    assert "S → D" in output.decode()


FEW = ["unshare", "-U", "--keep-caps", "sh", "-c"]
WITHOUT = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all --inh-caps=-all "
WITHOUT_NETWORKS = "echo 0 > /proc/sys/user/max_net_namespaces && exec "
NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups "
OPEN_TO_ALL = "mount -t tmpfs none /dev/net && mknod -m 666 /dev/net/tun c 10 200"
"""On some systems only root may open the device; here it is a new one, in a mount namespace of the test."""
OF_SOMEBODY = f"{OPEN_TO_ALL} && ip tuntap add dev tun1 mode tun user 12345 && exec {NOBODY}"


def restricted(before: list[str], restriction: str, words: list[str]) -> subprocess.CompletedProcess[str]:
    """A live command under a restriction set up by a shell; ``-`` stands for a scenario."""

    def run(*these: str) -> subprocess.CompletedProcess[str]:
        line = restriction + " ".join(f"'{word}'" for word in (*HERE, *these))
        return subprocess.run(
            [*before, line], cwd="/", input=LOSSY, capture_output=True, text=True, check=False, timeout=60
        )

    if run("--version").returncode != 0:
        pytest.skip("live: skipped, because this user cannot be restricted so, or may not run this Python")
    return run(*words)


@needs_devices
@pytest.mark.parametrize(
    ("before", "restriction"), [(FEW, WITHOUT), (["unshare", "-U", "-r", "sh", "-c"], WITHOUT_NETWORKS)]
)
@pytest.mark.parametrize(
    "words",
    [
        ["shell", "-", "--realtime", "--", "true"],
        ["path", "-", "--seconds", "1"],
        ["bench", "--bytes", "1MB"],
        ["send", "/etc/passwd", "--to", "10.77.0.2:5001"],
        ["recv", "--listen", "10.77.0.1:5001", "--peer", "/etc/passwd", "-o", "-"],
    ],
)
def test_without_permission_a_command_says_in_one_sentence_what_is_missing(
    before: list[str], restriction: str, words: list[str]
) -> None:
    result = restricted(before, restriction, ["live", *words])
    assert (result.returncode, result.stdout) == (3, ""), result.stderr
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.startswith("ackclock: ")
    assert "need" in result.stderr


@needs_devices
@pytest.mark.parametrize(("device", "code"), [("tun1", 3), ("lo", 2), ("absent", 2)])
def test_a_device_that_may_not_be_used_is_refused_in_one_sentence(device: str, code: int) -> None:
    words = ["live", "recv", "--tun", device, "--listen", "10.77.0.1:5001"]
    result = restricted(["unshare", "--net", "--mount", "sh", "-c"], OF_SOMEBODY, words)
    assert (result.returncode, result.stderr.count("\n")) == (code, 1), result.stderr
    assert device in result.stderr


@needs_devices
def test_a_user_without_permission_has_a_namespace_of_his_own_and_no_real_time_priority() -> None:
    result = restricted(
        ["unshare", "--mount", "sh", "-c"],
        f"{OPEN_TO_ALL} && exec {NOBODY}",
        ["live", "shell", "-", "--realtime", "--", "true"],
    )
    if result.returncode == 3:
        pytest.skip(f"live: skipped, because {result.stderr}")
    assert result.returncode == 0, result.stderr
    assert "real-time priority refused (permission denied)" in result.stderr.splitlines()[0]
