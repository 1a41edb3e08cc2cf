"""Papers in processes of their own: the same results, at the same time, and nothing left behind."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import alive, parent
from reproducing import COMMAND, environment, lay_out, written

FIRST, SECOND = "made-up-1999", "made-up-2000"
END = "ackclock: interrupted; finished runs are kept and the same command continues"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Reproduce the papers of a folder; its exit code, and what it writes."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, env=environment(), capture_output=True, text=True, timeout=120, check=False
    )


def laid_out(folder: Path, code: str, *keys: str) -> Path:
    """Made-up papers, and more code at the end of these papers' files."""
    lay_out(folder / "papers", FIRST, SECOND)
    for key in keys:
        with (folder / "papers" / key / "paper.py").open("a", encoding="utf-8") as opened:
            opened.write(f"\nimport os, time\nfrom pathlib import Path\nonce = reproduce\n{code}\n")
    return folder


@pytest.mark.parametrize("how", [["--threads", "3"], ["--on", "dask:2"]])
def test_several_papers_at_a_time_write_the_bytes_of_one_after_another(how: list[str], tmp_path: Path) -> None:
    folders = [laid_out(tmp_path / name, "") for name in ("alone", "apart")]
    ways = [["--threads", "1"], how]
    done = [run(folder, *way, "--copy-to", "docs") for folder, way in zip(folders, ways, strict=True)]
    assert [each.returncode for each in done] == [0, 0], done
    assert done[0].stdout == done[1].stdout
    alone, apart = (written(folder) for folder in folders)
    assert alone == apart
    assert {f"results/{key}/fig1.svg" for key in (FIRST, SECOND)} < set(apart)
    for file in ("papers/sizes.json", f"papers/{FIRST}/RESULTS.md", f"docs/{SECOND}-fig1.svg", "docs/across-all.svg"):
        assert (folders[0] / file).read_bytes() == (folders[1] / file).read_bytes(), file


def test_one_paper_is_drawn_while_another_one_is_at_work(tmp_path: Path) -> None:
    """Each waits for the other behind its runs, so one after another they would never end."""
    meet = f"""
def reproduce(work):
    outcome = once(work)
    (work.out / "here").touch()
    ends = time.monotonic() + 60
    while not all((work.out.parent / key / "here").exists() for key in ("{FIRST}", "{SECOND}")):
        assert time.monotonic() < ends, "the other one never came"
        time.sleep(0.02)
    return outcome
"""
    done = run(laid_out(tmp_path, meet, FIRST, SECOND), "--threads", "2")
    assert done.returncode == 0, done


@pytest.mark.parametrize("threads", ["1", "3"])
def test_an_error_in_a_papers_code_names_its_place_in_either_way(threads: str, tmp_path: Path) -> None:
    laid_out(tmp_path, "def reproduce(work): return [][7]", SECOND)
    done = run(tmp_path, "--threads", threads)
    line = len((tmp_path / "papers" / SECOND / "paper.py").read_text(encoding="utf-8").splitlines())
    said = f"ackclock: papers/{SECOND}/paper.py:{line}: IndexError: list index out of range"
    assert (done.returncode, done.stdout, done.stderr.splitlines()[-1]) == (2, "", said)


def test_a_process_that_dies_is_named_and_ends_the_command(tmp_path: Path) -> None:
    laid_out(tmp_path, "def reproduce(work):\n    once(work)\n    os.kill(os.getpid(), 9)", SECOND)
    done = run(tmp_path, "--threads", "2")
    said = f"ackclock: {SECOND}: its process died (SIGKILL); finished runs are kept and the same "
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, f"{said}command continues")


def test_a_result_may_have_classes_of_the_papers_code_but_not_of_a_function(tmp_path: Path) -> None:
    own = """
class Word(str): pass
def reproduce(work):
    outcome = once(work)
    object.__setattr__(outcome.tables[0], "title", Word("Numbers of mine"))
    return outcome
"""
    laid_out(tmp_path, own, FIRST)
    assert run(tmp_path, "--threads", "2").returncode == 0
    assert "Numbers of mine" in (tmp_path / "results" / f"{FIRST}.html").read_text(encoding="utf-8")
    file = tmp_path / "papers" / FIRST / "paper.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('Word("', 'type("Inner", (str,), {})("'), encoding="utf-8")
    done = run(tmp_path, "--threads", "2")
    assert done.returncode == 2
    said = done.stderr.splitlines()[-1]
    assert re.fullmatch(
        rf"ackclock: papers/{FIRST}/paper.py: it returned what cannot leave its process \(.*Inner.*\), allowed: .*",
        said,
    )


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_when_the_command_is_stopped(how: signal.Signals, tmp_path: Path) -> None:
    slow = 'def reproduce(work):\n    once(work)\n    (work.out / "here").touch()\n    time.sleep(100)'
    laid_out(tmp_path, slow, FIRST, SECOND)
    pipe = subprocess.PIPE
    command = [*COMMAND, "--threads", "2"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), stdout=pipe, stderr=pipe, text=True) as process:
        ends = time.monotonic() + 60
        while len(list(tmp_path.glob("results/*/here"))) < 2:
            assert process.poll() is None
            assert time.monotonic() < ends
            time.sleep(0.02)
        running = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]
        children = [pid for pid in running if parent(pid) == process.pid]
        assert len(children) == 2
        process.send_signal(how)
        said = process.communicate(timeout=30)[1].splitlines()
    ends = time.monotonic() + 10
    while any(alive(pid) for pid in children) and time.monotonic() < ends:
        time.sleep(0.05)
    assert not [pid for pid in children if alive(pid)]
    if how is signal.SIGINT:
        assert (process.returncode, said[-1]) == (130, END)
        assert "Traceback" not in "".join(said)
    assert not list(tmp_path.glob("results/**/*.part"))
