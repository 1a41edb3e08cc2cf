"""A table that is written piece by piece, because it may be larger than the memory."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Full, Queue
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

if TYPE_CHECKING:
    import polars as pl

_LOOK_EVERY_S = 0.1


def written(pieces: Iterable[pl.DataFrame], schema: Mapping[str, Any], into: BinaryIO) -> None:
    """Write a table as Parquet; equal rows give equal bytes, however they are divided into pieces.

    Polars writes on a thread of its own. The pieces are made on this thread, the only one that may use a store.

    Raises:
        OSError: ``into`` cannot be written.
        Exception: an error of ``pieces``.
    """
    from polars.io.plugins import register_io_source  # noqa: PLC0415 - start-up time

    ready: Queue[pl.DataFrame | None] = Queue(1)

    def source(*_: object) -> Iterator[pl.DataFrame]:
        while (piece := ready.get()) is not None:
            yield piece

    lazy, out = register_io_source(source, schema=dict(schema)), _Out(into)

    def write() -> None:
        lazy.sink_parquet(cast("IO[bytes]", out), compression="zstd", compression_level=3, row_group_size=100_000)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            for piece in pieces:
                _put(ready, piece, writing)
        finally:
            _put(ready, None, writing)
    try:
        writing.result()
    except Exception:
        # Polars's own error is a text.
        if out.failed is not None:
            raise out.failed from None
        raise


def _put(ready: Queue[pl.DataFrame | None], piece: pl.DataFrame | None, writing: Future[Any]) -> None:
    """Pass a piece on, unless writing has ended with an error."""
    while not writing.done():
        with suppress(Full):
            ready.put(piece, timeout=_LOOK_EVERY_S)
            return


class _Out(io.RawIOBase):
    """Passes bytes on to a file, and remembers why that failed."""

    def __init__(self, into: BinaryIO) -> None:
        self._into = into
        self.failed: OSError | None = None

    def writable(self) -> bool:
        """As every file that is written."""
        return True

    def write(self, content: Any) -> int:  # noqa: ANN401 - any object with bytes
        """Write to the file.

        Raises:
            OSError: as the file.
        """
        try:
            return self._into.write(content)
        except OSError as error:
            self.failed = error
            raise
