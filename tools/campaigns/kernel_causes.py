"""Makes the captures in ``tests/captures/causes``: transfers between two kernels whose cause of waiting is set.

Each transfer is made by two small programs behind a simulated path (``ackclock live shell``), and captured at both ends
with 96 bytes of each packet. It needs Linux, root and tcpdump. ``tools/dev campaign kernel-causes NAME...`` repeats the
named ones; without names, it makes the missing ones.
"""

from __future__ import annotations

import csv
import gzip
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "captures" / "causes"
SNAP = "96"
PORT = 5001

PATH = """
[run]
duration = "60 s"
seed = {seed}
[[link]]
from = "S"
to = "D"
rate = "{rate}"
delay = "{delay}"
queue = "500 packets"
elements = [{elements}]
back = {{ elements = [] }}
[[flow]]
from = "S"
to = "D"
stack = "linux-2025"
"""

COMMON = """
import os, signal, socket, subprocess, sys, time
SIDE, FOLDER = sys.argv[1], sys.argv[2]
capture = subprocess.Popen(
    ["tcpdump", "--immediate-mode", "-B", "8192", "-i", "tun0", "-s", "{snap}", "-U",
     "-w", f"{{FOLDER}}/{{SIDE}}.pcap", "tcp"],
    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
)
capture.stderr.readline()
def close(code=0):
    time.sleep(0.3)
    capture.send_signal(signal.SIGINT)
    capture.wait()
    sys.exit(code)
def listen(**options):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if "rcvbuf" in options:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, options["rcvbuf"])
    s.bind((os.environ["ACKCLOCK_ADDRESS"], {port}))
    s.listen()
    s.settimeout(20)
    c = s.accept()[0]
    c.settimeout(20)
    return c
def connect(control="cubic", nagle=True, seconds=20):
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    if not nagle:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.settimeout(seconds)
    s.connect((os.environ["ACKCLOCK_PEER"], {port}))
    return s
def take(c, n):
    got = 0
    while got < n:
        data = c.recv(min(65536, n - got))
        if not data:
            break
        got += len(data)
    return got
"""
SINK = """
c = listen()
while c.recv(65536):
    pass
c.close()
close()
"""
SEND = """
s = connect("{control}")
s.sendall(bytes({size}))
s.shutdown(1)
s.recv(1)
s.close()
close()
"""
ENDLESS = """
s = connect("{control}")
s.settimeout({seconds})
until = time.time() + {seconds}
try:
    while time.time() < until:
        s.send(bytes(50000))
except OSError:
    pass
close()
"""
ANSWERS = """
c = listen()
for n in range(6):
    take(c, 200)
    time.sleep({wait})
    c.sendall(bytes(30000))
c.recv(1)
c.close()
close()
"""
ASKS = """
s = connect()
for n in range(6):
    s.sendall(bytes(200))
    take(s, 30000)
    time.sleep({think})
s.close()
close()
"""
READS = """
c = listen(rcvbuf={rcvbuf})
while take(c, {size}) == {size}:
    time.sleep({wait})
c.close()
close()
"""
SMALL_WRITES = """
s = connect()
for n in range(40):
    s.sendall(bytes(120))
    s.sendall(bytes(80))
    take(s, 50)
s.close()
close()
"""
ECHO = """
c = listen()
while take(c, 200) == 200:
    c.sendall(bytes(50))
c.close()
close()
"""
FIRST_SMALL = """
s = connect(nagle=False)
s.sendall(bytes(200))
time.sleep(0.2)
s.settimeout(8)
try:
    s.sendall(bytes(5000000))
except OSError:
    pass
close()
"""
REFUSED = """
try:
    connect(seconds=8)
except OSError:
    pass
time.sleep(4)
close()
"""
WAITS = """
time.sleep(12)
close()
"""


@dataclass(frozen=True)
class Case:
    """A transfer: its cause, its path, and the programs that send at S and receive at D."""

    name: str
    cause: str
    sender: str
    receiver: str = SINK
    rate: str = "20 Mbps"
    delay: str = "10 ms"
    elements: str = ""
    seed: int = 1


def cases() -> list[Case]:
    """All transfers."""
    found = []
    for ms in (5, 30):
        delay = f"{ms} ms"
        for wait in (0.4, 0.9):
            name = f"{ms}-{wait}"
            slow, quick = ANSWERS.format(wait=wait), ANSWERS.format(wait=0)
            found.append(Case(f"slow-server-{name}", "application idle", slow, ASKS.format(think=0), delay=delay))
            found.append(Case(f"slow-client-{name}", "application idle", quick, ASKS.format(think=wait), delay=delay))
        send = SEND.format(control="cubic", size=600_000)
        slow = READS.format(size=40_000, wait=0.2, rcvbuf=60_000)
        found.append(Case(f"slow-reader-{ms}", "receiver window", send, slow, delay=delay))
        slower = READS.format(size=100_000, wait=1.2, rcvbuf=120_000)
        found.append(Case(f"slower-reader-{ms}", "receiver window", send, slower, delay=delay))
        found.append(Case(f"nagle-{ms}", "Nagle", SMALL_WRITES, ECHO, delay=delay))
        for control in ("cubic", "reno", "bbr"):
            name = f"{control}-{ms}"
            long = SEND.format(control=control, size=1_500_000)
            outage = '{ kind = "outage", times = ["0.9 s"], length = "3 s" }'
            found.append(Case(f"outage-{name}", "outage", long, delay=delay, rate="10 Mbps", elements=outage))
            gone = '{ kind = "outage", times = ["0.9 s"], length = "100 s" }'
            endless = ENDLESS.format(control=control, seconds=8)
            found.append(Case(f"peer-gone-{name}", "peer gone", endless, delay=delay, rate="5 Mbps", elements=gone))
        for control, p in (("cubic", 0.03), ("reno", 0.03), ("cubic", 0.08), ("reno", 0.08)):
            lossy = f'{{ kind = "bernoulli", p = {p} }}'
            some = SEND.format(control=control, size=400_000)
            found.append(Case(f"loss-{control}-{p}-{ms}", "loss", some, delay=delay, rate="100 Mbps", elements=lossy))
        for control in ("cubic", "reno"):
            bucket = '{ kind = "token-bucket", rate = "2 Mbps", burst = "40 kB", excess = "drop", at = "entry" }'
            long = SEND.format(control=control, size=1_500_000)
            name = f"policer-{control}-{ms}"
            found.append(Case(name, "policer", long, delay=delay, rate="100 Mbps", elements=bucket))
        hole = '{ kind = "token-bucket", rate = "100 Mbps", burst = "1000 B" }'
        found.append(Case(f"mtu-hole-{ms}", "MTU hole", FIRST_SMALL, delay=delay, elements=hole))
        found.append(Case(f"refused-{ms}", "refused", REFUSED, WAITS, delay=delay))
        down = '{ kind = "outage", times = ["0 s"], length = "100 s" }'
        found.append(Case(f"unanswered-{ms}", "unanswered", REFUSED, delay=delay, elements=down))
    return found


def make(case: Case) -> dict[str, str]:
    """Make the captures of one transfer."""
    listens = "listen(" in case.sender
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scenario = folder / "path.toml"
        parts = {"rate": case.rate, "delay": case.delay, "elements": case.elements, "seed": case.seed}
        scenario.write_text(PATH.format(**parts), encoding="utf-8")
        for side, code in (("sender", case.sender), ("receiver", case.receiver)):
            (folder / f"{side}.py").write_text(COMMON.format(snap=SNAP, port=PORT) + code, encoding="utf-8")
        words = {side: [sys.executable, str(folder / f"{side}.py"), side, name] for side in ("sender", "receiver")}
        # The program whose end is awaited connects; its peer listens.
        peer, client, ends = ("sender", "receiver", ("D", "S")) if listens else ("receiver", "sender", ("S", "D"))
        shell = [str(Path(sys.executable).with_name("ackclock")), "live", "shell", str(scenario)]
        shell += ["--from", ends[0], "--to", ends[1], "--peer", shlex.join(words[peer]), "--", *words[client]]
        subprocess.run(shell, check=True, timeout=120, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for side in ("sender", "receiver"):
            raw = (folder / f"{side}.pcap").read_bytes()
            (FOLDER / f"{case.name}-{side}.pcap.gz").write_bytes(gzip.compress(raw, 9, mtime=0))
    return {"name": case.name, "cause": case.cause, "kernel": platform.release()}


def main() -> None:
    """Make the named transfers, or the missing ones, and write the list."""
    os.chdir(ROOT)
    FOLDER.mkdir(parents=True, exist_ok=True)
    listed = FOLDER / "runs.csv"
    rows: dict[str, dict[str, str]] = {}
    if listed.exists():
        with listed.open(encoding="utf-8", newline="") as file:
            rows = {row["name"]: row for row in csv.DictReader(file)}
    named = sys.argv[1:]
    for case in cases():
        if case.name not in named and (named or case.name in rows):
            continue
        try:
            rows[case.name] = make(case)
        except (subprocess.SubprocessError, OSError) as error:
            output = getattr(error, "stderr", b"") or b""
            print(f"{case.name}: {error} {output.decode(errors='replace')}", file=sys.stderr, flush=True)
            continue
        print(rows[case.name], flush=True)
        order = [rows[c.name] for c in cases() if c.name in rows]
        with listed.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, order[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(order)


if __name__ == "__main__":
    main()
