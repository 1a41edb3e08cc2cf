"""Runs commands one after the other in this process and reports how each ended: cases in, results out, as JSON.

A command that takes too long is interrupted as by Ctrl-C; its input counts as accepted.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FrameType

LATE = (
    "ackclock.cli.main", "ackclock.papers.reproduce", "ackclock.study.job", "ackclock.study.plan",
    "ackclock.study.tables", "ackclock.sweep.job", "ackclock.sweep.shown", "ackclock.sweep.stores",
    "ackclock.tables.printed", "ackclock.captures.tables", "ackclock.tuning.files", "ackclock.tuning.job",
    "ackclock.scenario", "ackclock.plot", "ackclock.lab_page", "distributed", "optuna",
)  # fmt: skip
"""Modules that commands import late; an import must not be interrupted."""


def main() -> None:
    """Report each case on a separate line."""
    patience, address_space = float(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for module in LATE:
        import_module(module)
    signal.signal(signal.SIGALRM, _interrupt)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.unraisablehook = partial(_lost, patience)
    for line in Path(sys.argv[3]).read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        answers.write(json.dumps(_answer(case, patience)) + "\n")
        answers.flush()


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


def _lost(patience: float, about: sys.UnraisableHookArgs) -> None:
    """Repeat an interrupt that came while an object was being deleted, where Python ignores it."""
    if about.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, patience)
    else:
        sys.__unraisablehook__(about)


def _answer(case: dict[str, object], patience: float) -> dict[str, object]:
    from ackclock.cli import main  # noqa: PLC0415 - after the memory limit is set

    folder = tempfile.mkdtemp()
    os.chdir(folder)
    for name, text in dict(case["files"]).items():  # type: ignore[call-overload]
        Path(name).write_text(text, encoding="utf-8", errors="surrogatepass")
    if "base.toml" in dict(case["files"]):  # type: ignore[call-overload]
        Path("bytes.toml").write_bytes(b"\xff\xfe[run]")
        Path("folder").mkdir()
        Path("link.toml").symlink_to("link.toml")
        with Path("big.toml").open("wb") as big:
            big.truncate(20 << 20)
    sys.argv[1:] = list(case["command"])  # type: ignore[call-overload]
    out, said, began = io.StringIO(), io.StringIO(), time.monotonic()
    code: object = 0
    sys.stdin = io.TextIOWrapper(io.BytesIO(b""))
    signal.setitimer(signal.ITIMER_REAL, patience)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            main.main()
    except SystemExit as end:
        code = end.code or 0
    except KeyboardInterrupt:
        code = 130
    except BaseException as error:
        import traceback  # noqa: PLC0415 - rarely needed

        code, _ = "".join(traceback.format_exception(error)), said.write("Traceback")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    os.chdir("/")
    shutil.rmtree(folder, ignore_errors=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"code": code, "said": said.getvalue(), "seconds": time.monotonic() - began, "peak_kb": peak}


if __name__ == "__main__":
    main()
