"""The sockets of the Linux kernel, for conformance scripts.

``ackclock conform SCRIPTS --tun tun0 -- python3 crates/live/examples/kernel_sockets.py`` runs scripts against this
kernel. The command is started inside a network namespace. It says that its TCP is the kernel's, then reads a question
from each line and replies with a line. A call that would block gets the reply ``blocks``, and is tried again until it
has a result.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import select
import socket
import struct
import sys
from pathlib import Path
from typing import Any

Answer = dict[str, Any]
UNKNOWN: Answer = {"unknown": True}
BLOCKS: Answer = {"blocks": True}
LEVELS = {"SO": socket.SOL_SOCKET, "TCP": socket.IPPROTO_TCP}
NUMBERS = {"TCP_NOTSENT_LOWAT": 25, "TCP_USER_TIMEOUT": 18, "IP_MTU_DISCOVER": 10, "IPV6_MTU_DISCOVER": 23}
"""Options that Python's module of sockets may lack."""
QUEUES = {"SIOCINQ": 0x541B, "SIOCOUTQ": 0x5411, "SIOCOUTQNSD": 0x894B}
ALL_EVENTS = select.POLLIN | select.POLLOUT | select.POLLRDHUP
INFO = {
    "state": ("B", 0), "ca_state": ("B", 1), "retransmits": ("B", 2), "probes": ("B", 3), "backoff": ("B", 4),
    "options": ("B", 5), "rto": ("I", 8), "ato": ("I", 12), "snd_mss": ("I", 16), "rcv_mss": ("I", 20),
    "unacked": ("I", 24), "sacked": ("I", 28), "lost": ("I", 32), "retrans": ("I", 36), "pmtu": ("I", 60),
    "rcv_ssthresh": ("I", 64), "rtt": ("I", 68), "rttvar": ("I", 72), "snd_ssthresh": ("I", 76), "snd_cwnd": ("I", 80),
    "advmss": ("I", 84), "reordering": ("I", 88), "total_retrans": ("I", 100), "pacing_rate": ("Q", 104),
    "bytes_acked": ("Q", 120), "bytes_received": ("Q", 128), "segs_out": ("I", 136), "segs_in": ("I", 140),
    "notsent_bytes": ("I", 144), "min_rtt": ("I", 148), "delivered": ("I", 192), "delivered_ce": ("I", 196),
    "bytes_sent": ("Q", 200), "bytes_retrans": ("Q", 208), "dsack_dups": ("I", 216), "reord_seen": ("I", 220),
    "snd_wnd": ("I", 228), "rcv_wnd": ("I", 232),
}  # fmt: skip
"""Fields of ``struct tcp_info`` (``include/uapi/linux/tcp.h``): format and offset."""
STATES = (
    "ESTABLISHED", "SYN_SENT", "SYN_RCVD", "FIN_WAIT_1", "FIN_WAIT_2", "TIME_WAIT",
    "CLOSED", "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING",
)  # fmt: skip
"""The kernel's states, from 1 (``include/net/tcp_states.h``)."""
NEW_SYN_RECV, SYN_RECV = 12, 3
"""The kernel has two numbers for one state of RFC 9293."""
IPV6 = 6
DEFAULTS = {"tcp_rmem": "4096 131072 6291456", "tcp_wmem": "4096 16384 4194304"}
"""Linux's buffers (``Documentation/networking/ip-sysctl.rst``), which this machine may have changed."""


class Kernel:
    """The sockets of a script, by their numbers."""

    def __init__(self) -> None:
        self.sockets: list[socket.socket | None] = []
        self.blocking: dict[int, bool] = {}
        self.written: dict[int, int] = {}
        self.connecting: set[int] = set()

    def add(self, new: socket.socket) -> Answer:
        """Keep a socket; it never blocks this process."""
        new.setblocking(False)
        self.sockets.append(new)
        self.blocking[len(self.sockets) - 1] = True
        return {"result": len(self.sockets) - 1}

    def answer(self, asked: dict[str, Any]) -> Answer:
        """Make a call; an error of the kernel is an answer."""
        call = getattr(self, f"_do_{asked['call']}", None)
        if call is None:
            return UNKNOWN
        number, flags = asked.get("socket", -1), asked.get("flags", [])
        try:
            if "socket" in asked and (number >= len(self.sockets) or self.sockets[number] is None):
                raise OSError(errno.EBADF, "not an open socket")
            found: Answer = call(asked)
        except OSError as error:
            waits = self.blocking.get(number, False) and "MSG_DONTWAIT" not in flags
            if error.errno in (errno.EAGAIN, errno.EINPROGRESS, errno.EALREADY) and waits:
                return BLOCKS
            return {"errno": errno.errorcode[error.errno or 0]}
        return found

    def of(self, asked: dict[str, Any]) -> socket.socket:
        """The socket of a call."""
        found = self.sockets[asked["socket"]]
        assert found is not None
        return found

    def _do_socket(self, asked: dict[str, Any]) -> Answer:
        family = socket.AF_INET6 if asked["family"] == IPV6 else socket.AF_INET
        return self.add(socket.socket(family, socket.SOCK_STREAM))

    def _do_bind(self, asked: dict[str, Any]) -> Answer:
        self.of(asked).bind((asked["ip"], asked["port"]))
        return {"result": 0}

    def _do_listen(self, asked: dict[str, Any]) -> Answer:
        self.of(asked).listen(asked["backlog"])
        return {"result": 0}

    def _do_accept(self, asked: dict[str, Any]) -> Answer:
        return self.add(self.of(asked).accept()[0])

    def _do_connect(self, asked: dict[str, Any]) -> Answer:
        one, number = self.of(asked), asked["socket"]
        if number in self.connecting and self.blocking[number]:
            # The call that blocks: it ends when the socket can be written, or has failed.
            if not self.events(one) & (select.POLLOUT | select.POLLERR | select.POLLHUP):
                return BLOCKS
            failed = one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if failed:
                raise OSError(failed, "the connection failed")
            return {"result": 0}
        self.connecting.add(number)
        one.connect((asked["ip"], asked["port"]))
        return {"result": 0}

    def _do_read(self, asked: dict[str, Any]) -> Answer:
        if "MSG_WAITALL" in asked["flags"]:
            return UNKNOWN
        flags = sum(getattr(socket, flag) for flag in asked["flags"])
        return {"result": len(self.of(asked).recv(asked["len"], flags))}

    def _do_write(self, asked: dict[str, Any]) -> Answer:
        number, flags = asked["socket"], sum(getattr(socket, flag) for flag in asked["flags"])
        already = self.written.pop(number, 0)
        already += self.of(asked).send(bytes(asked["len"] - already), flags | socket.MSG_NOSIGNAL)
        if already < asked["len"] and self.blocking[number] and "MSG_DONTWAIT" not in asked["flags"]:
            self.written[number] = already
            return BLOCKS
        return {"result": already}

    def _do_shutdown(self, asked: dict[str, Any]) -> Answer:
        self.of(asked).shutdown(getattr(socket, asked["how"]))
        return {"result": 0}

    def _do_close(self, asked: dict[str, Any]) -> Answer:
        self.of(asked).close()
        self.sockets[asked["socket"]] = None
        return {"result": 0}

    def option(self, asked: dict[str, Any]) -> tuple[int, int] | None:
        """Level and number of an option."""
        v6 = self.of(asked).family == socket.AF_INET6
        name = {"IP_TOS": "IPV6_TCLASS", "IP_MTU_DISCOVER": "IPV6_MTU_DISCOVER"}.get(asked["name"]) if v6 else None
        name = name or asked["name"]
        level = LEVELS.get(name.partition("_")[0], socket.IPPROTO_IPV6 if v6 else socket.IPPROTO_IP)
        number = getattr(socket, name, NUMBERS.get(name))
        return None if number is None else (level, number)

    def _do_setsockopt(self, asked: dict[str, Any]) -> Answer:
        option, value = self.option(asked), asked["value"]
        if option is None:
            return UNKNOWN
        if isinstance(value, dict):
            value = struct.pack("ii", value["on"], value["seconds"])
        self.of(asked).setsockopt(*option, value.encode() if isinstance(value, str) else value)
        return {"result": 0}

    def _do_getsockopt(self, asked: dict[str, Any]) -> Answer:
        option = self.option(asked)
        if option is None:
            return UNKNOWN
        if asked["name"] == "TCP_CONGESTION":
            return {"value": self.of(asked).getsockopt(*option, 16).rstrip(b"\0").decode()}
        if asked["name"] == "SO_LINGER":
            on, seconds = struct.unpack("ii", self.of(asked).getsockopt(*option, 8))
            return {"value": {"on": bool(on), "seconds": seconds}}
        return {"value": self.of(asked).getsockopt(*option)}

    def _do_set_non_blocking(self, asked: dict[str, Any]) -> Answer:
        self.blocking[asked["socket"]] = not asked["on"]
        return {"result": 0}

    def _do_ioctl(self, asked: dict[str, Any]) -> Answer:
        found = fcntl.ioctl(self.of(asked), QUEUES[asked["name"]], struct.pack("i", 0))
        return {"result": struct.unpack("i", found)[0]}

    def events(self, one: socket.socket) -> int:
        """What ``poll`` finds now."""
        poll = select.poll()
        poll.register(one, ALL_EVENTS)
        found = poll.poll(0)
        return found[0][1] if found else 0

    def _do_poll(self, asked: dict[str, Any]) -> Answer:
        return {"result": self.events(self.of(asked))}

    def _do_info(self, asked: dict[str, Any]) -> Answer:
        field = INFO.get(asked["field"].removeprefix("tcpi_"))
        found = self.of(asked).getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        if field is None or field[1] + struct.calcsize(field[0]) > len(found):
            return UNKNOWN
        return {"result": struct.unpack_from(field[0], found, field[1])[0]}

    def _do_states(self, _asked: dict[str, Any]) -> Answer:
        lines = [line for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
        numbers = [int(line.split()[3], 16) for line in lines]
        return {"states": [STATES[(SYN_RECV if number == NEW_SYN_RECV else number) - 1] for number in numbers]}

    def _do_set(self, asked: dict[str, Any]) -> Answer:
        path = Path("/proc/sys") / asked["name"].replace(".", "/")
        if not asked["name"].startswith("net.") or not path.is_file():
            return UNKNOWN
        path.write_text(asked["value"], encoding="ascii")
        return {"result": 0}


def say(answer: Answer) -> None:
    """Write a line."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Answer until the runner closes the input."""
    for name, value in DEFAULTS.items():
        Path("/proc/sys/net/ipv4", name).write_text(value, encoding="ascii")
    kernel, blocked, unread = Kernel(), list[dict[str, Any]](), b""
    say({"ackclock_conform": 1, "side": "kernel"})
    while True:
        if select.select([0], [], [], 0.0005 if blocked else None)[0]:
            part = os.read(0, 65_536)
            if not part:
                return
            *lines, unread = (unread + part).split(b"\n")
            for asked in map(json.loads, lines):
                answer = kernel.answer(asked)
                if answer == BLOCKS:
                    blocked.append(asked)
                say(answer | {"id": asked["id"]})
        for asked in blocked.copy():
            answer = kernel.answer(asked)
            if answer != BLOCKS:
                blocked.remove(asked)
                say(answer | {"id": asked["id"]})


if __name__ == "__main__":
    main()
