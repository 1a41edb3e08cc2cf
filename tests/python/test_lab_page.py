"""``ackclock lab``: what it serves, to whom, and its output."""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import tomllib
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ackclock import lab_page
from ackclock.cli import lab as command
from ackclock.shared import PAGE
from conftest import SHORT


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A folder that looks like a built page, with a secret beside it."""
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<title>lab</title>", encoding="utf-8")
    (folder / "assets" / "app.js").write_text("export {}", encoding="utf-8")
    (folder / "assets" / "engine.wasm").write_bytes(b"\0asm\1\0\0\0")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (folder / "way-out.txt").symlink_to(tmp_path / "secret.txt")
    return folder


@pytest.fixture
def port(page: Path) -> Iterator[int]:
    """The port of a server for the page."""
    serving = lab_page.server(page, 0)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield int(serving.server_address[1])
    serving.shutdown()
    serving.server_close()


def get(port: int, path: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(lab_page.HOST, port, timeout=10)
    connection.request(method, path)
    response = connection.getresponse()
    found = response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    connection.close()
    return found


def test_files_have_the_types_that_a_browser_needs(port: int) -> None:
    types = {"/": "text/html", "/assets/app.js": "text/javascript", "/assets/engine.wasm": "application/wasm"}
    for path, kind in types.items():
        status, headers, body = get(port, path)
        assert (status, headers["content-type"].split(";")[0]) == (200, kind)
        assert headers["cache-control"] == "no-cache"
        assert body
    assert get(port, "/", "HEAD")[2] == b""


def test_nothing_else_is_served(port: int) -> None:
    outside = ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/../../secret.txt", "//secret.txt", "/way-out.txt"]
    for path in [*outside, "/assets", "/assets/", "/missing.js", "/%00"]:
        status, _, body = get(port, path)
        assert status in {301, 404}, path
        assert b"secret" not in body, path
    assert get(port, "/", "POST")[0] == 501


def test_only_this_machine_is_listened_to(page: Path) -> None:
    serving = lab_page.server(page, 0)
    assert serving.server_address[0] == "127.0.0.1"
    serving.server_close()


def test_a_taken_port_is_refused_if_it_was_asked_for_and_else_another_is_found(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = lab_page.server(page, 0)
    taken = int(first.server_address[1])
    with pytest.raises(OSError, match="in use"):
        lab_page.server(page, taken)
    monkeypatch.setattr(lab_page, "PORT", taken)
    second = lab_page.server(page, None)
    assert second.server_address[1] != taken
    first.server_close()
    second.server_close()


def test_a_fragment_holds_the_scenario_and_its_first_seed() -> None:
    def state(text: str) -> object:
        version, packed = lab_page.fragment(text).removeprefix("lab=").split(".")
        assert version == str(lab_page.VERSION)
        return json.loads(zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -15))

    assert state(SHORT) == {"scenario": tomllib.loads(SHORT), "stacks": [{"name": None, "set": {}}], "seed": 1}
    for seeds, first in {"seed = 7": 7, "seeds = [5, 6]": 5, "seeds = { count = 3 }": 1, "": 1}.items():
        text = f"[run]\n{seeds}\n"
        assert state(text) == {"scenario": tomllib.loads(text), "stacks": [{"name": None, "set": {}}], "seed": first}


def test_the_packages_own_page_is_served_once_it_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_page, "PAGE", tmp_path / "page")
    assert lab_page.built() is None
    (tmp_path / "page").mkdir()
    assert lab_page.built() is None
    (tmp_path / "page" / "index.html").write_text("<!doctype html>", encoding="utf-8")
    assert lab_page.built() == tmp_path / "page"


def test_in_the_repository_the_packages_page_is_what_make_web_builds() -> None:
    assert PAGE.resolve() == Path(__file__).resolve().parents[2] / "web" / "dist"


@pytest.fixture
def lab(page: Path, tmp_path: Path) -> Iterator[list[subprocess.Popen[str]]]:
    """Started commands, which are ended after the test."""
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


def start(page: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    program = (
        "import sys; from pathlib import Path; from ackclock import lab_page; from ackclock.cli.main import main\n"
        f"lab_page.built = lambda: Path({str(page)!r})\nmain()"
    )
    command = [sys.executable, "-c", program, "lab", "--no-open", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ})


def test_the_command_prints_the_address_and_ends_when_interrupted(
    page: Path, short: Path, lab: list[subprocess.Popen[str]]
) -> None:
    process = start(page, "--port", "0", short)
    lab.append(process)
    assert process.stdout is not None
    found = re.match(r"The lab is at http://127\.0\.0\.1:(\d+)/#lab=1\.[\w-]+$", process.stdout.readline())
    assert found is not None
    assert process.stdout.readline() == "Ctrl-C ends it.\n"
    assert get(int(found[1]), "/")[0] == 200
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=20)
    assert (process.returncode, rest, errors) == (0, "", "")


def test_a_bad_scenario_or_a_taken_port_is_one_message(page: Path, tmp_path: Path, port: int) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text(SHORT.replace("5 Mbps", "5 Mbs"), encoding="utf-8")
    cases: list[tuple[tuple[str | Path, ...], int, str]] = [
        ((bad,), 2, r"ackclock: .*bad\.toml:9: key `link\[0\]\.rate`: found .*\n"),
        (("--port", str(port)), 1, rf"ackclock: port {port}: Address already in use\n"),
    ]
    for arguments, code, said in cases:
        process = start(page, *arguments)
        output, errors = process.communicate(timeout=20)
        assert (process.returncode, output) == (code, "")
        assert re.fullmatch(said, errors)


def test_a_page_that_is_not_built_is_a_message_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "built", lambda: None)
    with pytest.raises(SystemExit) as ended:
        command.lab([])
    assert ended.value.code == 1
    assert "make web" in capsys.readouterr().err
