"""Conformance: scripts in packetdrill's language against the engine, on virtual time."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ackclock import _native

Dialect = Literal["linux", "freebsd"]
Result = Literal["pass", "fail", "not understood"]


@dataclass(frozen=True)
class Message:
    """One event of a script's conversation.

    Attributes:
        ns: virtual time, nanoseconds.
        line: line of the script, from 1.
        text: what happened, in the script's language.
    """

    ns: int
    line: int
    text: str


@dataclass(frozen=True)
class ScriptResult:
    """The result of one script.

    Attributes:
        file: the script.
        result: ``"pass"``, ``"fail"`` or ``"not understood"``.
        line: the line of the script that failed, from 1; ``None`` if it passed.
        reason: the kind of fault, for summaries; ``None`` if it passed.
        text: what was expected and what was found; ``None`` if it passed.
        talk: the conversation up to there.
    """

    file: Path
    result: Result
    line: int | None
    reason: str | None
    text: str | None
    talk: tuple[Message, ...]

    def to_dict(self) -> dict[str, Any]:
        """The result without its conversation, for JSON."""
        return {
            "file": str(self.file),
            "result": self.result,
            "line": self.line,
            "reason": self.reason,
            "text": self.text,
        }


def conform(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    dialect: Dialect = "linux",
    stack: str | None = None,
    library: str | os.PathLike[str] | None = None,
    tun: tuple[str, Sequence[str]] | None = None,
    threads: int | None = None,
) -> list[ScriptResult]:
    """Run scripts in packetdrill's language against the engine, or another TCP.

    Args:
        paths: scripts, and folders whose ``.pkt`` files are run.
        dialect: the system whose settings and option order the scripts expect.
        stack: the sender's stack, with parameters if needed, as in ``"rack-tlp,rto.min=200 ms"``. Default: the
            dialect's own.
        library: a shared library with a TCP of your own, which implements ``ackclock_conform.h``. It runs inside this
            process. Default: the engine.
        tun: a TUN device and a command with its arguments, which is started for each script in a network namespace
            and makes the script's calls. Time is real. Linux only.
        threads: scripts in parallel. Default: one per core.

    Returns:
        A result for each script, in the order of the paths and of the names within a folder.

    Raises:
        OSError: a file, a folder or the library cannot be read.
        ScenarioError: there is no such stack.
        ValueError: more than one of a stack, a library and a command is given.
        LiveError: the device or the command cannot be used.

    Example:
        >>> import ackclock as ak
        >>> script = '''
        ... 0  socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        ... +0 bind(3, ..., ...) = 0
        ... +0 listen(3, 1) = 0
        ... +0 < S 0:0(0) win 1000 <mss 1000>
        ... +0 > S. 0:0(0) ack 1 <...>
        ... '''
        >>> from pathlib import Path
        >>> _ = Path("handshake.pkt").write_text(script)
        >>> ak.conform("handshake.pkt")[0].result
        'pass'
    """
    if sum(choice is not None for choice in (stack, library, tun)) > 1:
        raise ValueError("found several TCPs, allowed: one of a stack of the engine, a library, and a TUN device")
    named = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    files = [file for path in named for file in _native.conform_scripts(Path(path))]
    chosen = None if library is None else Path(library)
    at_once = threads or os.cpu_count() or 1
    rows = json.loads(_native.conform_run(files, dialect == "freebsd", stack, chosen, tun, at_once))
    return [_result(file, row) for file, row in zip(files, rows, strict=True)]


def _result(file: Path, row: dict[str, Any]) -> ScriptResult:
    """Return a script's result from the engine's JSON."""
    return ScriptResult(
        file=file,
        result=row["result"],
        line=row["line"],
        reason=row["reason"],
        text=row["text"],
        talk=tuple(Message(**row) for row in row["talk"]),
    )
