"""What a worker on another machine answers: text that is checked word by word. Nothing of it is ever run here."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Sequence
from typing import Any

from ackclock.errors import AlgorithmError, ScenarioError
from ackclock.runs.task import Done, RevisionError

LARGEST = 1 << 30
"""The most bytes that an answer unfolds to; one of a second's runs has a few million."""
_TEXTS = {
    "ScenarioError": ("message", "file", "found", "allowed"),
    "AlgorithmError": ("message", "algorithm", "method", "traceback"),
}
"""What an error of this kind must say, as text."""


class AnswerError(RuntimeError):
    """A worker answered what makes no sense; the message is one line for people."""


def packed(done: Sequence[Done]) -> bytes:
    """What was made of tasks."""
    return _packed({"done": [[list(one.runs), one.seconds, one.processor_s] for one in done]})


def failed(error: Exception) -> bytes:
    """Why nothing was made."""
    said: dict[str, object] = {"kind": type(error).__name__, "message": str(error)}
    if isinstance(error, ScenarioError | AlgorithmError):
        said |= vars(error)
    elif isinstance(error, ImportError):
        said |= {"kind": "ImportError", "name": error.name}
    return _packed({"error": said})


def unpacked(answer: object, tasks: int) -> list[Done]:
    """What a worker made of the first of its tasks, at least of one.

    Args:
        answer: what came back.
        tasks: how many it was given.

    Raises:
        AnswerError: this is no answer.
        Exception: what went wrong at the worker: a :class:`~ackclock.ScenarioError`,
            :class:`~ackclock.AlgorithmError`, :class:`RevisionError` or ``ImportError``; whatever else, as a
            ``RuntimeError`` that names it.
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
        raise AnswerError(f"a Dask worker answered what is no answer of ackclock ({what})") from None
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
    """Whether this is the JSON of a run, as far as the store and the laboratory look at it."""
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
