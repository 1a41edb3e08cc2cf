"""The tutorials, docs/tutorials/*.ipynb: stored without outputs, and executed when needed."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/tutorials"
METADATA = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
SECONDS = 120
"""Time limit of a cell; a slower one is broken."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def kept(path: Path) -> str:
    """A notebook's text in its stored form."""
    cells = []
    for at, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], 1):
        source = "".join(cell["source"]).splitlines(keepends=True)
        ran: dict[str, Any] = {"execution_count": None, "outputs": []} if cell["cell_type"] == "code" else {}
        cells.append({"cell_type": cell["cell_type"], "id": f"cell-{at}", "metadata": {}, "source": source, **ran})
    book = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def run(path: Path) -> Any:  # noqa: ANN401 - nbformat's notebooks have no type
    """Run a notebook in a temporary folder beside the tutorials' Python files; return it with its outputs.

    Raises:
        RuntimeError: a cell failed; the message has its traceback.
    """
    import nbformat  # noqa: PLC0415
    from nbclient import NotebookClient  # noqa: PLC0415 - --check is faster without it
    from nbclient.exceptions import CellExecutionError  # noqa: PLC0415

    read: Callable[..., Any] = nbformat.read
    book = read(path, as_version=4)
    with TemporaryDirectory() as folder:
        for beside in path.parent.glob("*.py"):
            shutil.copy(beside, folder)
        place = {"metadata": {"path": folder}}
        # Suppress the message that the kernel listens on the loopback address.
        quiet = ["--log-level=ERROR"]
        client = NotebookClient(book, timeout=SECONDS, kernel_name="python3", resources=place, extra_arguments=quiet)
        try:
            client.execute(env={**os.environ, "IPYTHONDIR": str(Path(folder) / ".ipython")})
        except CellExecutionError as error:
            raise RuntimeError(f"{path.name}: {COLOURS.sub('', str(error))}") from error
    return book


def markdown(book: Any, name: str) -> tuple[str, dict[str, bytes]]:  # noqa: ANN401
    """Convert an executed notebook to a page; return it with its pictures by file name."""
    pictures: dict[str, bytes] = {}
    out: list[str] = []
    for cell in book.cells:
        if cell.cell_type == "markdown":
            out.append(cell.source)
            continue
        out.append(f"```python\n{cell.source}\n```")
        out += [text for output in cell.outputs for text in shown(output, name, pictures)]
    return "\n\n".join(out) + "\n", pictures


def shown(output: Any, name: str, pictures: dict[str, bytes]) -> Iterator[str]:  # noqa: ANN401
    """Convert an output to Markdown; add its pictures to ``pictures``."""
    data = output.get("data", {})
    if output.output_type == "stream":
        yield f"```text\n{COLOURS.sub('', output.text).rstrip()}\n```"
    elif "text/markdown" in data:
        yield data["text/markdown"]
    elif "text/html" in data:
        yield f'<div class="output">\n{data["text/html"].strip()}\n</div>'
    elif "image/png" in data:
        file = f"{name}-{len(pictures) + 1}.png"
        pictures[file] = base64.b64decode(data["image/png"])
        yield f"![The figure drawn by the lines above]({file})"
    elif "text/plain" in data:
        yield f"```text\n{data['text/plain']}\n```"


def files() -> Iterator[tuple[Path, str]]:
    """Each notebook in its stored form."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        yield path, kept(path)
