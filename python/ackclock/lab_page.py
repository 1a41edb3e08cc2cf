"""The lab page on this machine: a folder of static files, served to this machine only."""

from __future__ import annotations

import base64
import json
import threading
import tomllib
import webbrowser
import zlib
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from ackclock.shared import PAGE

HOST = "127.0.0.1"
"""Address of the lab page; only this machine can reach it."""
PORT = 8437
"""Its default port; links in reports point to it."""
VERSION = 1
"""Version of links that hold a state: ``web/src/scenario/state.ts``."""


def built() -> Path | None:
    """Return the folder of the page, or ``None`` if it has not been built. A wheel always contains it."""
    return PAGE if (PAGE / "index.html").is_file() else None


def fragment(scenario: str) -> str:
    """Return the URL fragment, without ``#``, that opens the text of a valid scenario."""
    table = tomllib.loads(scenario)
    run = table["run"]
    seeds = run.get("seeds", [run.get("seed", 1)])
    first = seeds.get("first", 1) if isinstance(seeds, dict) else seeds[0]
    state = {"scenario": table, "stacks": [{"name": None, "set": {}}], "seed": first}
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = deflate.compress(json.dumps(state, separators=(",", ":")).encode()) + deflate.flush()
    return f"lab={VERSION}.{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def server(folder: Path, port: int | None) -> ThreadingHTTPServer:
    """Return a server for the files in ``folder``, bound but not yet running.

    Args:
        folder: the built page.
        port: the port; 0 takes any free port. Default: ``PORT``, or any free port if that is taken.

    Raises:
        OSError: the port is not available.
    """
    page = partial(_Files, directory=str(folder.resolve()))
    try:
        return ThreadingHTTPServer((HOST, PORT if port is None else port), page)
    except OSError:
        if port is not None:
            raise
        return ThreadingHTTPServer((HOST, 0), page)


def serve(server: ThreadingHTTPServer, at: str, announce: Callable[[str], object], *, look: bool) -> None:
    """Serve until the user interrupts.

    Args:
        server: the result of ``server``.
        at: the URL fragment to open.
        announce: called with the address.
        look: whether to open a browser.
    """
    address = f"http://{HOST}:{server.server_address[1]}/"
    announce(address)
    if look:
        # A browser that runs in the terminal would block.
        threading.Thread(target=webbrowser.open, args=(f"{address}#{at}" if at else address,), daemon=True).start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


class _Files(SimpleHTTPRequestHandler):
    """Serves the files of one folder and nothing else."""

    protocol_version = "HTTP/1.1"
    # Does not use the system's table: some lack WebAssembly, and some serve scripts as text.
    extensions_map = {  # noqa: RUF012 - declared like this in the base class
        ".css": "text/css; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".json": "application/json",
        ".mjs": "text/javascript; charset=utf-8",
        ".png": "image/png",
        ".svg": "image/svg+xml",
        ".toml": "text/plain; charset=utf-8",
        ".wasm": "application/wasm",
        ".woff2": "font/woff2",
        "": "application/octet-stream",
    }

    def send_head(self) -> BytesIO | BinaryIO | None:
        """Send a file, or 404 if there is none; links that lead out of the folder count as missing."""
        if not self._is_ours(self.translate_path(self.path)):
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        return super().send_head()

    def _is_ours(self, name: str) -> bool:
        if "\0" in name:
            return False
        path = Path(name)
        shown = path.is_file() or (path / "index.html").is_file()
        return shown and path.resolve().is_relative_to(self.directory)

    def end_headers(self) -> None:
        """Make browsers revalidate every file: the page may be rebuilt under the same address."""
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Suppress the line for each request."""
