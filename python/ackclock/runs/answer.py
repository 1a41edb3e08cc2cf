"""The reply of a worker on another machine: text, checked field by field. It is never executed."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Sequence
from typing import Any

from ackclock.errors import AlgorithmError, ScenarioError
from ackclock.runs.task import Done, RevisionError

LARGEST = 1 << 30
"""The largest unpacked size of a reply, in bytes; the runs of one second take a few million."""
_TEXTS = {
    "ScenarioError": ("message", "file", "found", "allowed"),
    "AlgorithmError": ("message", "algorithm", "method", "traceback"),
}
"""The text fields that each kind of error must have."""


class AnswerError(RuntimeError):
    """A worker sent an invalid reply; the message is one line for people."""


def packed(done: Sequence[Done]) -> bytes:
    """Pack the results of tasks."""
    return _packed({"done": [[list(one.runs), one.seconds, one.processor_s] for one in done]})


def failed(error: Exception) -> bytes:
    """Pack an error, if there is no result."""
    said: dict[str, object] = {"kind": type(error).__name__, "message": str(error)}
    if isinstance(error, ScenarioError | AlgorithmError):
        said |= vars(error)
    elif isinstance(error, ImportError):
        said |= {"kind": "ImportError", "name": error.name}
    return _packed({"error": said})


def unpacked(answer: object, tasks: int) -> list[Done]:
    """Unpack a worker's results for the first of its tasks, at least one.

    Args:
        answer: the worker's reply.
        tasks: the number of tasks it was given.

    Raises:
        AnswerError: the reply is invalid.
        Exception: the worker's error: a :class:`~ackclock.ScenarioError`, :class:`~ackclock.AlgorithmError`,
            :class:`RevisionError` or ``ImportError``; any other error becomes a ``RuntimeError`` that names it.
    """
    try:
        said = _unfolded(answer)
        if "error" in said:
            error: Exception | None = _error(said["error"])
        else:
            error, done = None, [_done(*one) for one in said["done"]]
            if not 1 <= len(done) <= tasks:
                raise ValueError(f"{len(done)} of {tasks} tasks")
    except (ValueError, TypeError, KeyError, RecursionError, zlib.error) as wrong:
        what = " ".join(str(wrong).split())[:200]
        raise AnswerError(f"a Dask worker did not send an ackclock result ({what})") from None
    if error is not None:
        raise error
    return done


def _packed(said: dict[str, object]) -> bytes:
    return zlib.compress(json.dumps(said).encode(), 1)


def _unfolded(answer: object) -> dict[str, Any]:
    if not isinstance(answer, bytes):
        raise TypeError(f"found {type(answer).__name__}, allowed: bytes")
    unfold = zlib.decompressobj()
    text = unfold.decompress(answer, LARGEST)
    if not unfold.eof:
        raise ValueError(f"more than {LARGEST} bytes, or cut off")
    said = json.loads(text)
    if not isinstance(said, dict):
        raise TypeError("no table")
    return said


def _done(runs: object, seconds: object, processor_s: object) -> Done:
    if not isinstance(runs, list) or not all(map(_is_run, runs)):
        raise TypeError("no list of runs")
    for number in (seconds, processor_s):
        if not isinstance(number, float) or not (math.isfinite(number) and number >= 0):
            raise TypeError("no number of seconds")
    return Done(tuple(runs), float(str(seconds)), float(str(processor_s)))


def _is_run(run: object) -> bool:
    """Whether this is the JSON of a run, as far as the store and the laboratory read it."""
    said = json.loads(run) if isinstance(run, str) else None
    if not isinstance(said, dict):
        return False
    flows = said.get("flows")
    named = all(isinstance(said.get(key), str) for key in ("identity", "trace_hash"))
    return named and isinstance(flows, list) and all(isinstance(flow, dict) for flow in flows)


def _error(said: dict[str, Any]) -> Exception:
    kind, message = said["kind"], said["message"]
    if not isinstance(kind, str) or not isinstance(message, str):
        raise TypeError("an error without kind or message")
    if not all(isinstance(said.get(key), str) for key in _TEXTS.get(kind, ())):
        raise TypeError("an error that says not enough")
    if kind == "ScenarioError":
        line, key, hint = said.get("line"), said.get("key"), said.get("hint")
        return ScenarioError(message, said["file"], line, key, said["found"], said["allowed"], hint)
    if kind == "AlgorithmError":
        of = (said["algorithm"], said["method"], float(said["time_s"]), int(said["seed"]), said["traceback"])
        return AlgorithmError(message, *of)
    if kind == "ImportError":
        return ImportError(message, name=said.get("name"))
    return RevisionError(message) if kind == "RevisionError" else RuntimeError(f"{kind}: {message}")
