"""Kernels in virtual time: building, keeping, booting. What needs a real one is skipped where none has been built.

A real kernel takes minutes to build, so most tests have a made-up one: a tree whose makefile is short, or a program
that runs the command on this machine, where the kernel would run it inside.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ackclock import _native, kernel_stacks
from ackclock.errors import LiveError
from ackclock.kernels import build as builds
from ackclock.kernels import checks, kept, source
from ackclock.kernels.kept import Kernel
from ackclock.runs.task import Task
from conftest import HERE, Command, alive
from doc_page import has_kernel

needs_kernel = pytest.mark.skipif(
    not has_kernel(), reason="kernel: skipped, because none has been built (make kernel-test builds one)"
)
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="kernels run on Linux only")

PATHS = """
name = "short"
[run]
duration = "5 s"
[[link]]
from = "S"
to = "D"
rate = "5 Mbps"
delay = "20 ms"
queue = "20 packets"
elements = [{ kind = "bernoulli", p = 0.01 }, { kind = "netem", delay = "3 ms", jitter = "3 ms" }]
back = { elements = [] }
[[flow]]
name = "only"
from = "S"
to = "D"
stack = "linux-2025"
"""
LOST_ACK = """\
   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
  +0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
  +0 bind(3, ..., ...) = 0
  +0 listen(3, 1) = 0
  +0 < S 0:0(0) win 65535 <mss 1000>
  +0 > S. 0:0(0) ack 1 <mss 1460>
+.05 < P. 1:301(300) ack 1 win 65535
+0~+.2 > . 1:1(0) ack 301
  +0 accept(3, ..., ...) = 4
"""
MAKEFILE = """\
allnoconfig:
\tgrep '^CONFIG_' $(KCONFIG_ALLCONFIG) > $(O)/.config
kernelrelease:
\t@echo 9.8.7
linux:
\t@echo '  CC      main.o' && grep -q 'default 1000' arch/um/Kconfig
\tprintf 'int main(void) { return 0; }' | gcc -x c - -o $(O)/linux
"""
KCONFIG = "config HZ\n\tint\n\tdefault 100\n"
OFFSETS = "\tDEFINE_LONGS(HOST_FP_SIZE, 2696);\n"
UTIL = "ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)\n{\n\treturn getrandom(buf, len, flags);\n}\n"
RUNS_HERE = """\
#!/bin/sh
# Stands for a kernel: runs the command on this machine.
echo "$@" > {told}
: > booted
env -i /bin/sh command < in > out 2> err
echo $? > code
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the kernels; empty."""
    folder = tmp_path / "kernels"
    monkeypatch.setenv(kept.PLACE, str(folder))
    return folder


def tree(folder: Path, makefile: str = MAKEFILE, **other: str) -> Path:
    """A made-up source of a kernel."""
    files = {
        "Makefile": makefile,
        "arch/um/Kconfig": KCONFIG,
        "arch/x86/um/user-offsets.c": OFFSETS,
        "arch/um/os-Linux/util.c": UTIL,
        **other,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def content(folder: Path) -> dict[str, bytes]:
    """The files below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def made_up(name: str, program: str, version: str = "6.12.1") -> Kernel:
    """Keep a kernel whose program is a shell script."""
    folder = kept.place(name)
    folder.mkdir(parents=True)
    (folder / kept.PROGRAM).write_text(program, encoding="utf-8")
    (folder / kept.PROGRAM).chmod(0o755)
    (folder / kept.CONFIGURATION).write_text("CONFIG_NET=y\n", encoding="utf-8")
    configuration, program = (kept.sha256(folder / file) for file in (kept.CONFIGURATION, kept.PROGRAM))
    kernel = Kernel(name, version, 250, configuration, program, "made up", (), "none")
    (folder / kept.IDENTITY).write_text(kept.written(kernel), encoding="utf-8")
    return kernel


def says(call: Callable[[], object]) -> str:
    """The message of the error that a call raises."""
    with pytest.raises(LiveError) as raised:
        call()
    return str(raised.value)


def only_with(folder: Path, *tools: str) -> str:
    """A PATH with these programs and no others."""
    folder.mkdir()
    for tool in tools:
        (folder / tool).symlink_to(shutil.which(tool) or f"/usr/bin/{tool}")
    return str(folder)


# What is kept.


def test_kernels_are_kept_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(kept.PLACE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for cache, expected in (("", ".cache"), ("relative", ".cache"), (str(tmp_path / "mine"), "mine")):
        monkeypatch.setenv("XDG_CACHE_HOME", cache)
        assert kept.folder() == tmp_path / expected / "ackclock" / "kernels"
    monkeypatch.setenv(kept.PLACE, str(tmp_path / "here"))
    assert kept.folder() == tmp_path / "here"


def test_kernels_are_listed_by_version_and_what_has_no_identity_is_none(place: Path, ackclock: Command) -> None:
    empty = ackclock("kernel", "list")
    assert (empty.returncode, empty.stdout) == (0, "")
    assert f"no kernel in {place}" in empty.stderr
    for name in ("6.12", "6.9", "mine"):
        made_up(name, RUNS_HERE)
    (place / "half").mkdir()
    (place / "half" / kept.IDENTITY).write_text('{"name": "half"', encoding="utf-8")
    (place / ".building-x").mkdir()
    rows = json.loads(ackclock("kernel", "list", "--json").stdout)
    assert [row["name"] for row in rows] == ["6.9", "6.12", "mine"]
    assert rows[1]["folder"] == str(place / "6.12")
    table = ackclock("kernel", "list").stdout
    assert table.splitlines()[2].split()[:3] == ["6.9", "6.12.1", "250"]


def test_a_kernel_that_is_not_there_is_refused_with_those_that_are(place: Path, ackclock: Command) -> None:
    none = ackclock("kernel", "check")
    assert none.returncode == 2
    assert none.stderr == (
        "ackclock: command line: found no kernel, allowed: one that was built with ackclock kernel build\n"
    )
    made_up("before", RUNS_HERE)
    made_up("after", RUNS_HERE)
    two = ackclock("live", "shell", "x.toml", "--virtual", "--", "true")
    assert (two.returncode, "found 2 kernels and no name, allowed: the name of one of after, before" in two.stderr) == (
        2,
        True,
    )
    assert "did you mean `before`?" in ackclock("kernel", "remove", "befor").stderr
    assert 'found the kernel "zzz", allowed: one of after, before\n' in ackclock("kernel", "check", "zzz").stderr


def test_a_removed_kernel_is_gone_and_of_several_either_all_are_removed_or_none(place: Path, ackclock: Command) -> None:
    for name in ("a", "b", "c"):
        made_up(name, RUNS_HERE)
    assert ackclock("kernel", "remove", "a", "nope").returncode == 2
    assert [kernel.name for kernel in kept.every()] == ["a", "b", "c"]
    assert ackclock("kernel", "remove", "a", "c", "a").stdout == "a: removed\nc: removed\n"
    assert [path.name for path in place.iterdir()] == ["b"]


def test_a_name_is_no_path(place: Path) -> None:
    for name in ("", "../x", ".hidden", "a/b", "x" * 65):
        assert "allowed: up to 64 letters, digits" in says(partial(kept.place, name))
    assert kept.place("6.12+mine_1-2") == place / "6.12+mine_1-2"


def test_another_program_under_a_kernels_name_is_found(place: Path, ackclock: Command) -> None:
    kernel = made_up("k", RUNS_HERE)
    assert kept.damage(kernel) is None
    with (place / "k" / kept.PROGRAM).open("a", encoding="utf-8") as program:
        program.write("# changed\n")
    checked = ackclock("kernel", "check")
    assert (checked.returncode, "found another file than the one that was built" in checked.stderr) == (1, True)


# Building.


@linux_only
def test_what_is_missing_is_said_in_one_sentence(
    place: Path, ackclock: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = [tool for tool in builds._PACKAGES if shutil.which(tool) and tool not in {"flex", "bison"}]
    monkeypatch.setenv("PATH", only_with(tmp_path / "some", *tools, "as", "sh"))
    few = ackclock("kernel", "build", "--source", str(tree(tmp_path / "tree")))
    assert few.returncode == 3
    assert "building a kernel needs flex and bison, which are missing here; on Debian: apt install" in few.stderr
    assert not place.exists()
    monkeypatch.setenv("PATH", only_with(tmp_path / "none"))
    assert "needs make, gcc, ld, strip, flex, bison and bc, which are missing" in says(
        lambda: builds.check_tools(False)
    )
    assert "apt install make gcc binutils flex bison bc tar xz-utils" in says(builds.check_tools)


def test_a_source_that_is_none_is_refused(place: Path, ackclock: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.c").touch()
    for words, code, message in (
        ([], 2, "found neither --debian nor --source, allowed: one of the two"),
        (["--debian", "6.12", "--source", "x"], 2, "found both --debian and --source, allowed: one of the two"),
        (["--debian", "newest"], 2, 'key `--debian`: found "newest", allowed: a version as in 6.12'),
        (["--debian", "2.99"], 3, "apt install linux-source-2.99"),
        (["--source", str(tmp_path / "empty")], 2, "found no arch/um/Kconfig, allowed: the source of a Linux kernel"),
        (["--source", str(tmp_path / "file.c")], 2, "allowed: a folder, or an archive that ends in .tar.xz"),
        (["--source", str(tmp_path / "nothing")], 2, "allowed: a folder, or an archive that ends in .tar.xz"),
    ):
        result = ackclock("kernel", "build", *words)
        assert (result.returncode, message in result.stderr) == (code, True), result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert not place.exists()


def test_the_changes_are_made_once_and_a_place_that_is_not_there_is_said(tmp_path: Path) -> None:
    changed = tree(tmp_path / "old")
    assert len(source.change(changed, 250)) == 3
    assert "default 250\n" in (changed / "arch/um/Kconfig").read_text(encoding="utf-8")
    assert "(HOST_FP_SIZE, 11008)" in (changed / "arch/x86/um/user-offsets.c").read_text(encoding="utf-8")
    assert "getrandom(buf" not in (changed / "arch/um/os-Linux/util.c").read_text(encoding="utf-8")
    # Newer kernels ask for the size of the state.
    newer = tree(tmp_path / "new", **{"arch/x86/um/user-offsets.c": "/* asks */\n"})
    assert [line.partition(":")[0] for line in source.change(newer, 100)] == [
        "arch/um/Kconfig",
        "arch/um/os-Linux/util.c",
    ]
    assert says(lambda: source.change(newer, 250)).startswith("arch/um/os-Linux/util.c: the place where")
    other = tree(tmp_path / "other", **{"arch/um/Kconfig": "config HZ\n\tint\n\tdefault 300\n"})
    assert says(lambda: source.change(other, 250)).startswith("arch/um/Kconfig: the place where HZ is 100")


def test_a_copy_has_neither_what_a_build_left_nor_what_git_keeps(tmp_path: Path) -> None:
    made = {"x.o": "", ".config": "", "include/config/auto.conf": "", "include/generated/a.h": "", ".git/HEAD": ""}
    original = tree(tmp_path / "tree", **made, **{"include/linux/tcp.h": "here", "net/ipv4/tcp.c": "code"})
    (original / "link").symlink_to("Makefile")
    (tmp_path / "copy").mkdir()
    source.of_user(original).copy(tmp_path / "copy", lambda _: None)
    left = {"link", "include/linux/tcp.h", "net/ipv4/tcp.c", *content(tree(tmp_path / "plain"))}
    assert content(tmp_path / "copy").keys() == left
    assert (tmp_path / "copy" / "link").is_symlink()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_copy_of_a_git_tree_has_what_is_there_now_and_is_named_by_its_commit(tmp_path: Path) -> None:
    original = tree(tmp_path / "tree", **{".gitignore": "*.log\n", "gone.c": "", "mine.log": ""})
    who = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run(["git", *words], cwd=original, env=os.environ | who, check=True)
    (original / "gone.c").unlink()
    (original / "new.c").write_text("not committed", encoding="utf-8")
    (tmp_path / "copy").mkdir()
    chosen = source.of_user(original)
    chosen.copy(tmp_path / "copy", lambda _: None)
    assert chosen.about.endswith("-dirty")
    names = content(tmp_path / "copy").keys()
    assert ("new.c" in names, "gone.c" in names, "mine.log" in names, ".git/HEAD" in names) == (
        True,
        False,
        False,
        False,
    )


needs_tools = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in builds._PACKAGES)
    or sys.platform != "linux"
    or os.uname().machine != "x86_64",
    reason="kernel: skipped, because compiler, flex, bison or bc is missing",
)


@needs_tools
def test_a_build_keeps_the_program_with_its_identity_and_leaves_the_tree_as_it_was(
    place: Path, ackclock: Command, tmp_path: Path
) -> None:
    original = tree(tmp_path / "tree")
    before = content(original)
    build = ["kernel", "build", "--source", str(original), "--hz", "1000"]
    built = ackclock(*build)
    assert built.returncode == 0, built.stderr
    assert "building Linux 9.8.7 from" in built.stderr
    assert content(original) == before
    kernel = kept.find(None)
    assert (kernel.name, kernel.version, kernel.hz, kept.damage(kernel)) == ("9.8.7", "9.8.7", 1000, None)
    assert {path.name for path in place.iterdir()} == {"9.8.7"}
    assert subprocess.run([kept.program(kernel)], check=False).returncode == 0
    assert kernel.identity() == {
        "version": "9.8.7",
        "hz": 1000,
        "configuration": hashlib.sha256((place / "9.8.7" / "config").read_bytes()).hexdigest(),
        "program": hashlib.sha256((place / "9.8.7" / "linux").read_bytes()).hexdigest(),
    }
    again = ackclock(*build)
    assert (again.returncode, "exists already, allowed: another --name" in again.stderr) == (2, True)
    assert ackclock(*build, "--name", "other").returncode == 0
    assert kept.find("other").identity() == kernel.identity()


@needs_tools
def test_an_archive_is_unpacked_and_one_that_is_damaged_is_refused(
    place: Path, ackclock: Command, tmp_path: Path
) -> None:
    tree(tmp_path / "linux-9.8.7")
    archive = tmp_path / "linux.tar.xz"
    subprocess.run(["tar", "-C", str(tmp_path), "-cJf", str(archive), "linux-9.8.7"], check=True)
    built = ackclock("kernel", "build", "--source", str(archive), "--hz", "1000")
    assert (built.returncode, kept.find(None).source) == (0, str(archive)), built.stderr
    archive.write_bytes(archive.read_bytes()[:100])
    cut = ackclock("kernel", "build", "--source", str(archive), "--name", "cut")
    assert (cut.returncode, f"{archive}: cannot be unpacked: " in cut.stderr) == (1, True), cut.stderr
    assert [path.name for path in place.iterdir()] == ["9.8.7"]


@needs_tools
def test_a_source_that_does_not_build_says_why_and_leaves_nothing(
    place: Path, ackclock: Command, tmp_path: Path
) -> None:
    broken = MAKEFILE + "\t@echo \"net/ipv4/tcp_input.c:7:1: error: expected ';'\" >&2; exit 1\n"
    result = ackclock("kernel", "build", "--source", str(tree(tmp_path / "a", broken)), "--hz", "1000")
    assert result.returncode == 1
    last = "ackclock: the source does not build: net/ipv4/tcp_input.c:7:1: error: expected ';'"
    assert result.stderr.splitlines()[-1] == last
    lacks = MAKEFILE.replace("grep '^CONFIG_'", "grep -v -e '^#' -e TIME_TRAVEL -e HOSTFS")
    result = ackclock("kernel", "build", "--source", str(tree(tmp_path / "b", lacks)))
    assert "the source has no UML_TIME_TRAVEL_SUPPORT and HOSTFS for User-Mode Linux" in result.stderr
    assert list(place.iterdir()) == []


@needs_tools
def test_an_interrupted_build_leaves_nothing_and_ends_its_processes(place: Path, tmp_path: Path) -> None:
    slow = MAKEFILE.replace("@echo '  CC", f"@echo $$$$ > {tmp_path}/pid; sleep 100; echo '  CC")
    command = [*HERE, "kernel", "build", "--source", str(tree(tmp_path / "tree", slow))]
    building = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text(encoding="ascii"):
        assert building.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    building.send_signal(signal.SIGINT)
    _, said = building.communicate(timeout=60)
    assert (building.returncode, said.splitlines()[-1]) == (130, "ackclock: interrupted")
    assert not alive(int((tmp_path / "pid").read_text(encoding="ascii")))
    assert list(place.iterdir()) == []


# Booting, with a program in place of the kernel.


@linux_only
def test_the_command_is_the_same_inside_with_its_streams_and_exit_code(place: Path, tmp_path: Path) -> None:
    made_up("here", RUNS_HERE.format(told=tmp_path / "told"))
    folder = tmp_path / "a folder"
    folder.mkdir()
    words = ["live", "path", "-", "--virtual", "--seconds", "1", "--sender", "kernel:'x y'"]
    env = os.environ | {"XYZ": "it's \n two lines"}
    done = subprocess.run(
        [*HERE, *words], input="[run]\nduration = 5\n", cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    first, *rest = done.stderr.splitlines()
    assert first.startswith("kernel: here, Linux 6.12.1, 250 Hz, configuration ")
    # The scenario arrived on standard input, so that it is the scenario that is refused.
    assert (done.returncode, len(rest)) == (2, 1)
    assert rest[0].startswith("ackclock: <stdin>:2: key `run.duration`: found 5")
    told = (tmp_path / "told").read_text(encoding="utf-8")
    assert "time-travel=inf-cpu" in told
    assert "a folder" not in told, "what differs between runs would change random numbers"


@linux_only
def test_options_are_checked_before_a_kernel_is_started(place: Path, ackclock: Command, tmp_path: Path) -> None:
    made_up("here", RUNS_HERE.format(told=tmp_path / "told"))
    for words in (["path", "--virtual", "here"], ["path", "x.toml", "--virtual", "--seed", "x"], ["shell", "x.toml"]):
        result = ackclock("live", *words)
        assert (result.returncode, "kernel: here" in result.stderr) == (2, False), result.stderr
    assert not (tmp_path / "told").exists()


@linux_only
def test_a_kernel_that_dies_is_reported_with_its_last_words(place: Path, ackclock: Command) -> None:
    made_up("dies", "#!/bin/sh\necho Checking\necho 'ptrace: not permitted' >&2\nexit 1\n")
    words = ["live", "path", "x.toml", "--virtual"]
    dead = ackclock(*words, "dies")
    assert dead.returncode == 1
    assert dead.stderr.splitlines()[-1] == "ackclock: the kernel dies did not start: ptrace: not permitted"
    made_up("ends", "#!/bin/sh\n: > booted\n")
    assert "the kernel ends ended before the command: it said nothing" in ackclock(*words, "ends").stderr
    made_up("text", "no program")
    assert "the kernel text cannot be started" in ackclock(*words, "text").stderr
    checked = ackclock("kernel", "check", "dies", "--json")
    assert (checked.returncode, json.loads(checked.stdout)["faults"]) == (
        1,
        ["the kernel dies did not start: ptrace: not permitted"],
    )


@linux_only
def test_a_check_finds_a_clock_that_does_not_jump_and_boots_that_differ(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "_SCRIPT", "uname -r; echo 1; echo 2; cat /proc/sys/kernel/random/uuid; exit 7")
    made_up("here", RUNS_HERE.format(told="/dev/null"), version=os.uname().release)
    faults = checks.check(kept.find(None)).faults
    assert [fault.split(";")[0] for fault in faults if "tun" not in fault] == [
        "its clock moved by 1.00 s in 30 s",
        "two boots are not the same",
    ]


@linux_only
def test_an_interrupt_ends_the_kernel_and_all_that_it_started(place: Path, tmp_path: Path) -> None:
    made_up("waits", f"#!/bin/sh\nsleep 100 &\necho $$ $! > {tmp_path}/pids\nwait\n")
    running = subprocess.Popen(
        [*HERE, "live", "path", "x.toml", "--virtual"], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    )
    until = time.monotonic() + 60
    while not (tmp_path / "pids").exists() or not (tmp_path / "pids").read_text(encoding="ascii"):
        assert running.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert (running.returncode, said.splitlines()[-1]) == (130, "ackclock: interrupted")
    pids = [int(pid) for pid in (tmp_path / "pids").read_text(encoding="ascii").split()]
    until = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(map(alive, pids))


# Kernels as stacks.


def test_a_kernels_stack_is_read_with_its_name_and_settings(place: Path) -> None:
    only = made_up("6.12", RUNS_HERE)
    one = kernel_stacks.parsed("kernel:bbr")
    assert (one.control, one.kernel.identity(), one.sysctls) == ("bbr", only.identity(), ())
    other = made_up("my-tree.2", RUNS_HERE)
    two = kernel_stacks.parsed("kernel:reno@my-tree.2,sysctl.tcp_recovery=0, sysctl.net.core.default_qdisc=fq")
    settings = (("net.ipv4.tcp_recovery", "0"), ("net.core.default_qdisc", "fq"))
    assert (two.control, two.kernel.name, two.sysctls) == ("reno", other.name, settings)
    for wrong in ("kernel:", "kernel:cubic@", "kernel:cubic,rto.min=1s", "kernel:cubic@6.12,sysctl.x", "kernel:a b"):
        assert "allowed: kernel:CONTROL[@NAME][,sysctl.KEY=VALUE]" in says(partial(kernel_stacks.parsed, wrong))
    assert "found 2 kernels and no name" in says(partial(kernel_stacks.parsed, "kernel:cubic"))
    assert 'found the kernel "7.0", allowed: one of 6.12, my-tree.2' in says(
        partial(kernel_stacks.parsed, "kernel:cubic@7.0")
    )


def test_options_that_kernels_do_not_have_are_refused(place: Path, ackclock: Command, short: Path) -> None:
    made_up("k", RUNS_HERE)
    for words in (["--set", "rto.min=1 s"], ["--measures"], ["--stalls"], ["--plot", "x.svg"], ["--pcap-at", "S"]):
        refused = ackclock("run", short, "--stack", "kernel:cubic", *words)
        message = f"ackclock: command line: key `{words[0]}`: found it together with a kernel's stack"
        assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr
    twice = ackclock("run", short, "--stack", "kernel:cubic@k", "--stack", "kernel:cubic@k")
    assert 'found "kernel:cubic@k" a second time, allowed: each stack once' in twice.stderr
    unknown = ackclock("run", short, "--stack", "kernel:cubic", "--stack", "nope")
    assert (unknown.returncode, 'found "nope"' in unknown.stderr) == (2, True), unknown.stderr


def test_the_means_are_those_of_simulated_runs() -> None:
    transfers = PATHS + 'app = { kind = "transfers", size = "3 packets", count = 5 }\n'
    for text, seeds in ((PATHS, 1), (PATHS, 4), (transfers, 3)):
        stacks = ["reno", "linux-2025"]
        made = json.loads(_native.run("x", text, stacks, [], 1, seeds, None, None, None, None, False, False).json())
        assert kernel_stacks.means(made["runs"], seeds) == made["flows"]


def test_runs_are_known_by_their_kernel_and_settings_and_take_no_parameters_of_stacks(place: Path) -> None:
    made_up("a", RUNS_HERE)
    made_up("b", RUNS_HERE + "# another program\n")
    made_up("same", RUNS_HERE)
    stacks = ["kernel:cubic@a", "kernel:cubic@b", "kernel:bbr@a", "kernel:cubic@a,sysctl.tcp_sack=0", "linux-2025"]
    found = [Task("x", PATHS, stack, (), 1, 2).identities() for stack in stacks]
    assert len({one for identities in found for one in identities}) == 10
    assert Task("x", PATHS, "kernel:cubic@same", (), 1, 2).identities() == found[0]
    set_one = Task("x", PATHS, "kernel:cubic@a", (("rto.min", "1 s"),), 1, 1)
    assert "x: found `rto.min` for the stack kernel:cubic@a, allowed: sysctl.KEY" in says(set_one.identities)


# With a real kernel.


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a real kernel."""
    return kept.every()[-1].name


@pytest.fixture
def paths(tmp_path: Path) -> Path:
    """A scenario with loss and reordering."""
    path = tmp_path / "paths.toml"
    path.write_text(PATHS, encoding="utf-8")
    return path


@needs_kernel
def test_a_real_kernel_does_what_it_must(ackclock: Command, real: str) -> None:
    checked = ackclock("kernel", "check", real, "--json")
    assert checked.returncode == 0, checked.stderr
    about = json.loads(checked.stdout)
    assert (about["faults"], about["slept_s"] >= 30) == ([], True)


@needs_kernel
def test_the_same_path_with_the_same_seed_is_the_same_to_the_last_byte(
    ackclock: Command, real: str, paths: Path, tmp_path: Path
) -> None:
    for control in ("cubic", "bbr"):
        made = []
        for n in range(3):
            folder = tmp_path / f"{control}-{n}"
            words = ["--sender", f"kernel:{control}", "--seconds", "3", "--pcap", folder, "--trace", folder / "t.csv"]
            folder.mkdir()
            ran = ackclock("live", "path", paths, "--virtual", real, *words, "--json")
            assert ran.returncode == 0, ran.stderr
            made.append((json.loads(ran.stdout), content(folder)))
        (first, files), *others = made
        assert all(other == (first, files) for other in others)
        assert {"truth.csv", "sender.pcapng", "receiver.pcapng", "t.csv"} <= files.keys()
        assert first["flows"][0]["data_packets_sent"]["mean"] > 300
        assert first["runs"][0]["trace_hash"] is not None
        assert first["live"]["virtual"] == kept.find(real).identity()
        assert first["live"]["late_worst_us"] < 100


@needs_kernel
def test_what_is_recorded_does_not_change_the_run(ackclock: Command, real: str, paths: Path, tmp_path: Path) -> None:
    words = ["live", "path", paths, "--virtual", real, "--seconds", "2"]
    plain = ackclock(*words, "--pcap", tmp_path / "plain")
    more = ackclock(*words, "--pcap", tmp_path / "more", "--trace", tmp_path / "trace.csv", "--json", "--compare", "1")
    assert (plain.returncode, more.returncode) == (0, 0), plain.stderr + more.stderr
    assert (tmp_path / "plain/truth.csv").read_bytes() == (tmp_path / "more/truth.csv").read_bytes()


@needs_kernel
def test_a_run_in_a_kernel_depends_on_its_seed_and_not_on_the_others(
    ackclock: Command, real: str, paths: Path, tmp_path: Path
) -> None:
    stacks = ["--stack", f"kernel:cubic@{real}", "--stack", "linux-2025", "--stack", f"kernel:bbr@{real}"]
    words = ["run", paths]
    both = ackclock(*words, *stacks, "--seeds", "3", "--json", "--threads", "2")
    assert both.returncode == 0, both.stderr
    result = json.loads(both.stdout)
    assert [(run["seed"], run["flows"][0]["stack"]) for run in result["runs"][::3]] == [
        (1, f"kernel:cubic@{real}"),
        (1, "linux-2025"),
        (1, f"kernel:bbr@{real}"),
    ]
    hashes = [run["trace_hash"] for run in result["runs"]]
    assert len(set(hashes)) == 9
    assert len({run["identity"] for run in result["runs"]}) == 9
    again = ackclock(*words, *stacks, "--seeds", "3", "--json", "--threads", "1")
    assert json.loads(again.stdout) == result
    (second,) = json.loads(ackclock(*words, *stacks[4:], "--seed", "2", "--json").stdout)["runs"]
    assert second == result["runs"][7]
    simulated = json.loads(ackclock(*words, "--stack", "linux-2025", "--seeds", "3", "--json").stdout)
    assert simulated["runs"] == result["runs"][3:6]
    assert simulated["flows"] == result["flows"][1:2]
    assert result["runs"][0]["kernel"]["program"] == kept.find(real).program


@needs_kernel
def test_captures_and_the_trace_of_a_run_in_a_kernel_are_files_as_of_any_run(
    ackclock: Command, real: str, paths: Path, tmp_path: Path
) -> None:
    stacks = ["--stack", "linux-2025", "--stack", f"kernel:cubic@{real}"]
    ran = ackclock("run", paths, *stacks, "--seeds", "2", "--pcap", tmp_path / "pcap", "--trace", tmp_path / "t.csv")
    assert ran.returncode == 0, ran.stderr
    folders = {f"linux-2025-seed-{n}" for n in (1, 2)} | {f"kernel-cubic-{real}-seed-{n}" for n in (1, 2)}
    assert {path.name for path in (tmp_path / "pcap").iterdir()} == folders
    for folder in folders:
        assert {"sender.pcapng", "receiver.pcapng", "truth.csv"} <= content(tmp_path / "pcap" / folder).keys()
    assert (tmp_path / "t.csv").stat().st_size > 10_000
    one = ackclock(
        "run", paths, *stacks[2:], "--seed", "1", "--pcap", tmp_path / "one", "--trace", tmp_path / "one.csv"
    )
    assert one.returncode == 0, one.stderr
    assert {"sender.pcapng", "receiver.pcapng", "truth.csv"} <= content(tmp_path / "one").keys()


@needs_kernel
def test_settings_of_a_kernel_change_its_runs_and_unknown_ones_are_refused(
    ackclock: Command, real: str, paths: Path
) -> None:
    words = ["run", paths, "--seed", "1", "--json", "--stack"]
    plain, without = (
        json.loads(ackclock(*words, f"kernel:reno@{real}{more}").stdout)["runs"][0]
        for more in ("", ",sysctl.tcp_sack=0")
    )
    assert plain["kernel"]["counters"]["sender"]["TCPSackRecovery"] > 0
    assert "TCPSackRecovery" not in {key for key, n in without["kernel"]["counters"]["sender"].items() if n}
    assert plain["identity"] != without["identity"]
    for stack, message in (
        (f"kernel:nothing@{real}", "nothing"),
        (f"kernel:reno@{real},sysctl.tcp_no_such_key=1", 'found the sysctl "net.ipv4.tcp_no_such_key"'),
    ):
        refused = ackclock(*words, stack)
        assert (refused.returncode, message in refused.stderr.splitlines()[-1]) == (2, True), refused.stderr
        assert refused.stderr.splitlines()[-1].startswith("ackclock: ")


@needs_kernel
def test_a_study_and_a_sweep_compare_kernels_and_keep_their_runs(
    ackclock: Command, real: str, paths: Path, tmp_path: Path
) -> None:
    stacks = [f"kernel:cubic@{real}", f"kernel:cubic@{real},sysctl.tcp_recovery=0", "linux-2025"]
    study = f"stacks = {json.dumps(stacks)}\nbaseline = {stacks[0]!r}\nseeds = 2\n[[path]]\nscenario = 'paths.toml'\n"
    (tmp_path / "study.toml").write_text(study, encoding="utf-8")
    sweep = f"name = 's'\nscenario = 'paths.toml'\nseeds = {{ count = 2 }}\n[grid]\nstack = {json.dumps(stacks[::2])}\n"
    (tmp_path / "sweep.toml").write_text(sweep, encoding="utf-8")
    store = ["--store", tmp_path / "store"]
    first = ackclock("study", tmp_path / "study.toml", *store, "--json")
    assert first.returncode == 0, first.stderr
    assert json.loads(ackclock("study", tmp_path / "study.toml", *store, "--json").stdout) == json.loads(first.stdout)
    swept = ackclock("sweep", tmp_path / "sweep.toml", *store, "--json")
    # The study has made all of these runs.
    assert (swept.returncode, json.loads(swept.stdout)["kept"]) == (0, 4), swept.stderr
    alone = json.loads(ackclock("run", paths, "--stack", stacks[0], "--seeds", "2", "--json").stdout)
    (row,) = [one for one in json.loads(swept.stdout)["summary"] if one["stack"] == stacks[0]]
    assert row["goodput_bytes_per_s"] == alone["flows"][0]["goodput_bytes_per_s"]["mean"]


@needs_kernel
def test_what_kernels_do_not_have_is_refused_in_studies_and_sweeps(
    ackclock: Command, real: str, paths: Path, tmp_path: Path
) -> None:
    head = "name = 's'\nscenario = 'paths.toml'\nseeds = { count = 1 }\n[grid]\n"
    for grid, message in (
        (f"stack = ['kernel:cubic@{real}']\n'run.measures' = [true]", "key `run.measures`: found it with kernel:"),
        ("stack = ['kernel:cubic@nowhere']", 'found the kernel "nowhere"'),
    ):
        (tmp_path / "sweep.toml").write_text(head + grid, encoding="utf-8")
        refused = ackclock("sweep", tmp_path / "sweep.toml", "--store", tmp_path / "store")
        assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr
        assert "Traceback" not in refused.stderr


@needs_kernel
def test_another_seed_is_another_path(ackclock: Command, real: str, paths: Path, tmp_path: Path) -> None:
    for seed in ("1", "2"):
        ran = ackclock(
            "live", "path", paths, "--virtual", real, "--seconds", "2", "--seed", seed, "--pcap", tmp_path / seed
        )
        assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "1/truth.csv").read_bytes() != (tmp_path / "2/truth.csv").read_bytes()


@needs_kernel
def test_programs_run_behind_a_path_and_their_exit_code_and_files_come_out(
    real: str, paths: Path, tmp_path: Path
) -> None:
    program = "cat; echo $ACKCLOCK_PEER; sleep 60; echo made > made; exit 9"
    command = [*HERE, "live", "shell", str(paths), "--virtual", real, "--json", "--", "sh", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, input="given\n", capture_output=True, text=True, check=False)
    assert done.returncode == 9, done.stderr
    assert done.stderr.splitlines()[-2:] == ["given", "10.77.0.2"]
    ledger = json.loads(done.stdout)
    assert (ledger["code"], 60 <= ledger["seconds"] < 61) == (9, True)
    assert (tmp_path / "made").read_text(encoding="utf-8") == "made\n"


@needs_kernel
def test_scripts_run_against_the_kernel_at_the_same_times(ackclock: Command, real: str, tmp_path: Path) -> None:
    repository = Path(__file__).resolve().parents[2]
    program = [sys.executable, str(repository / "crates/live/examples/kernel_sockets.py")]
    script = tmp_path / "lost-ack.pkt"
    script.write_text(LOST_ACK, encoding="utf-8")
    words = ["conform", script, "--tun", "tun0", "--virtual", real, "--json", "--", *program]
    first, again = ackclock(*words), ackclock(*words)
    assert (first.returncode, again.returncode) == (0, 0), first.stdout + first.stderr
    assert json.loads(first.stdout)["pass"] == 1
    assert first.stdout == again.stdout
    script.write_text(LOST_ACK.replace("ack 301", "ack 302"), encoding="utf-8")
    assert ackclock(*words).returncode == 1


@needs_kernel
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can be somebody else")
def test_no_root_is_needed(real: str, paths: Path) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        shutil.copytree(kept.place(real), folder / "kernels" / real)
        shutil.copy(paths, folder / "paths.toml")
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        shell = ["sh", "-c", '"$0" "$@"', *HERE, "--version"]
        if subprocess.run([*nobody, *shell], cwd=folder, capture_output=True, check=False).returncode:
            pytest.skip("this Python cannot be run by somebody else")
        env = os.environ | {kept.PLACE: str(folder / "kernels"), "HOME": name}
        words = ["live", "path", "paths.toml", "--virtual", "--seconds", "1", "--trace", "trace.csv"]
        done = subprocess.run(
            [*nobody, *HERE, *words], cwd=folder, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert (folder / "trace.csv").stat().st_uid == 65534
