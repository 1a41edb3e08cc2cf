"""Runs scripts with packetdrill and the plug-in, and with the project's own runner, and reports where they disagree.

packetdrill is an outside program (GPL-2.0), which ``--packetdrill`` names: the program itself, or a folder with its
source, which is copied to a temporary folder and built there. A script counts when both understand it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "conformance"
NOT_UNDERSTOOD = 77
"""The plug-in's exit code for something that it does not have."""
ADDRESSES = {
    False: ("192.168.0.1", "192.0.2.1", ("--gateway_ip=192.168.0.1", "--netmask_ip=255.255.0.0")),
    True: ("fd3d:fa7b:d17d::1", "2001:db8::1", ("--gateway_ip=fd3d:fa7b:d17d:8888::1",)),
}
"""For IPv4 and IPv6: the end under test, the script's end, and the rest of packetdrill's options."""
WRITES_TO_SYSTEM = re.compile(r"/proc/sys|/sys/|set_sysctls|\bs?bin/")
"""A script that would change the machine past the programs below."""
REFUSED = re.compile(r"syntax error|semantic error|unknown symbol|NameError")
"""packetdrill's messages about a script that it cannot read, or whose assertions use names that it does not have."""

RECORD = """#!/bin/sh
# {name}: writes what a script changes to the plug-in's file.
{body}
"""
COMMANDS = {
    "sysctl": """for word in "$@"; do
    case "$word" in
        -*) ;;
        *=*) printf 'set %s\\n' "$word" >> "$ACKCLOCK_ORDERS" ;;
        *) printf 'sysctl %s\\n' "$word" >> "$ACKCLOCK_ORDERS" ;;
    esac
done""",
    "tcpdrop": """[ "$1" = -s ] && printf 'drop %s\\n' "$2" >> "$ACKCLOCK_ORDERS" """,
    "sockstat": """cat "${ACKCLOCK_ORDERS%.*}.states" 2> /dev/null""",
    "ip": """[ "$1" = tcp_metrics ] || printf 'ip %s\\n' "$*" >> "$ACKCLOCK_ORDERS" """,
    **dict.fromkeys(("ethtool", "kldload", "kldstat", "modprobe", "nstat", "sync", "tc"), "exit 0"),
}
"""The programs that scripts call, as shell scripts."""


@dataclass(frozen=True)
class Verdict:
    """The result of one script: ``pass``, ``fail``, ``unknown`` or ``broken``, and why."""

    word: str
    why: str = ""


@dataclass(frozen=True)
class Folder:
    """Scripts of one system."""

    system: str
    path: Path


def main(words: Sequence[str] | None = None) -> int:
    """Compare, print, and return 1 if the two disagree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--packetdrill", type=Path, metavar="PATH", help="the program, or a folder with its source")
    parser.add_argument("--at-once", type=int, default=2, metavar="N", help="scripts side by side (default: 2)")
    parser.add_argument("--timeout", type=float, default=60, metavar="S", help="seconds a script (default: 60)")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write both results of each script to FILE")
    parser.add_argument(
        "folders", nargs="*", metavar="[SYSTEM:]FOLDER", help="scripts (default: see docs/packetdrill.md)"
    )
    asked = parser.parse_args(words)
    if asked.packetdrill is None:
        print("SKIPPED: make packetdrill needs PACKETDRILL=path, a folder with packetdrill's source or its program")
        return 0
    with tempfile.TemporaryDirectory(prefix="ackclock-packetdrill-") as name:
        work = Path(name)
        program = find_program(asked.packetdrill, work)
        library = build_plugin()
        commands = write_commands(work / "commands")
        ours: dict[Path, Verdict] = {}
        theirs: dict[Path, Verdict] = {}
        for folder in folders(asked.folders):
            ours.update(run_ours(folder))
            runner = Outside(program, library, commands, work, folder.system, asked.timeout)
            scripts = [path for path in ours if path not in theirs]
            with ThreadPoolExecutor(asked.at_once) as pool:
                theirs.update(zip(scripts, pool.map(runner.run, scripts), strict=True))
    if asked.keep is not None:
        asked.keep.write_text(
            "".join(f"{ours[p].word}\t{theirs[p].word}\t{p}\t{theirs[p].why}\n" for p in sorted(ours))
        )
    return report(ours, theirs)


def folders(named: Sequence[str]) -> Iterator[Folder]:
    """The folders to run: those named, or the project's own and those of ``ACKCLOCK_PACKETDRILL``."""
    words = list(named)
    if not words:
        words = [str(OWN)] if OWN.is_dir() else []
        words += [word for word in os.environ.get("ACKCLOCK_PACKETDRILL", "").split(os.pathsep) if word]
    for word in words:
        system, colon, path = word.partition(":")
        if not colon or system not in ("linux", "freebsd"):
            system, path = "", word
        if not Path(path).is_dir():
            raise SystemExit(f"{path}: not a folder with scripts")
        yield Folder(system or guess_system(Path(path)), Path(path).resolve())


def guess_system(path: Path) -> str:
    """FreeBSD's scripts set FreeBSD's names."""
    for script in sorted(path.rglob("*.pkt"))[:20]:
        text = script.read_text(encoding="utf-8", errors="replace")
        if "net.inet.tcp." in text or "kern.ipc." in text:
            return "freebsd"
    return "linux"


def find_program(path: Path, work: Path) -> Path:
    """The program, built from its source if need be."""
    if path.is_file():
        return path.resolve()
    for place in (path, path / "gtests/net/packetdrill"):
        if (place / "packetdrill").is_file():
            return (place / "packetdrill").resolve()
        if (place / "Makefile.Linux").is_file():
            source = work / "packetdrill"
            shutil.copytree(place, source)
            for command in (["sh", "./configure"], ["make", "-f", "Makefile.Linux", "packetdrill"]):
                done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    raise SystemExit(f"{place}: {' '.join(command)} failed:\n{done.stderr[-2000:]}")
            return source / "packetdrill"
    raise SystemExit(f"{path}: neither packetdrill nor a folder with its source")


def build_plugin() -> Path:
    """Build ``libackclock_packetdrill.so``."""
    subprocess.run(["cargo", "build", "--quiet", "--locked", "-p", "ackclock-packetdrill"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target.resolve() / "debug/libackclock_packetdrill.so"


def write_commands(folder: Path) -> Path:
    """Write the programs that scripts call."""
    folder.mkdir()
    for name, body in COMMANDS.items():
        file = folder / name
        file.write_text(RECORD.format(name=name, body=body), encoding="utf-8")
        file.chmod(0o755)
    return folder


def run_ours(folder: Folder) -> dict[Path, Verdict]:
    """The results of the project's own runner."""
    command = ["cargo", "run", "--quiet", "--locked", "-p", "ackclock-conform", "--example", "conform", "--"]
    done = subprocess.run(
        [*command, folder.system, str(folder.path)], cwd=ROOT, check=True, capture_output=True, text=True
    )
    words = {"pass": "pass", "FAIL": "fail", "????": "unknown"}
    found: dict[Path, Verdict] = {}
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word not in words:
            # The rest of a message of several lines.
            continue
        path, _, why = rest.partition(".pkt")
        found[Path(f"{path}.pkt")] = Verdict(words[word], why.strip())
    return found


@dataclass(frozen=True)
class Outside:
    """packetdrill with the plug-in."""

    program: Path
    library: Path
    commands: Path
    work: Path
    system: str
    timeout: float

    def run(self, script: Path) -> Verdict:
        """Run one script in its folder."""
        text = script.read_text(encoding="utf-8", errors="replace")
        if WRITES_TO_SYSTEM.search(text):
            return Verdict("unknown", "it would change the machine, so it was not run")
        with tempfile.TemporaryDirectory(dir=self.work) as name:
            orders = Path(name) / "orders.txt"
            orders.touch()
            try:
                done = subprocess.run(
                    [str(self.program), *self.options(text, orders), script.name],
                    cwd=script.parent,
                    env=self.environment(orders),
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=self.timeout,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return Verdict("broken", f"no result after {self.timeout:g} s")
        return judge(done.returncode, done.stderr.strip())

    def options(self, text: str, orders: Path) -> list[str]:
        """The options of packetdrill for a script, which may name its own."""
        own = dict(re.findall(r"^\s*--(\w+)=(\S+)", text, re.M))
        v6 = own.get("ip_version", own.get("wire_protocol")) == "ipv6"
        local, remote, rest = ADDRESSES[v6]
        local = own.get("local_ip", local)
        flags = f"system={self.system} address={local} mtu={own.get('mtu', '1500')} orders={orders}"
        version = [] if "ip_version" in own else ["--ip_version=ipv4"]
        ends = [f"--local_ip={local}", f"--remote_ip={own.get('remote_ip', remote)}", *rest]
        return [f"--so_filename={self.library}", f"--so_flags={flags}", *version, *ends]

    def environment(self, orders: Path) -> Mapping[str, str]:
        """The programs above first, and the plug-in loaded early, for calls past packetdrill's table."""
        path = f"{self.commands}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return {**os.environ, "PATH": path, "ACKCLOCK_ORDERS": str(orders), "LD_PRELOAD": str(self.library)}


def judge(code: int, said: str) -> Verdict:
    """The meaning of packetdrill's end."""
    # packetdrill writes assertions to a file with a random name.
    last = re.sub(r"code_\w+", "code", " ".join(said.split()))[-400:]
    if code == 0:
        return Verdict("pass")
    if code == NOT_UNDERSTOOD or REFUSED.search(said):
        return Verdict("unknown", last)
    return Verdict("fail" if code == 1 else "broken", f"{last} (exit code {code})")


def report(ours: Mapping[Path, Verdict], theirs: Mapping[Path, Verdict]) -> int:
    """Print the counts and each disagreement."""
    both = [path for path in sorted(ours) if "unknown" not in (ours[path].word, theirs[path].word)]
    apart = [path for path in both if ours[path].word != theirs[path].word]
    for path in apart:
        mine, other = ours[path], theirs[path]
        print(f"{path}: our runner: {mine.word} {mine.why}")
        print(f"    packetdrill: {other.word} {other.why}")
    counts = Counter((ours[path].word, theirs[path].word) for path in ours)
    print("our runner  packetdrill  scripts")
    for (first, second), count in sorted(counts.items()):
        print(f"{first:<11} {second:<12} {count}")
    print(f"{len(both) - len(apart)} of {len(both)} agree; {len(ours) - len(both)} not understood by one or both")
    return 1 if apart or not both else 0


if __name__ == "__main__":
    sys.exit(main())
