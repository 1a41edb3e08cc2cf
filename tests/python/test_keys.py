"""Keys in compact form, and tables that are written in pieces."""

from __future__ import annotations

import errno
import hashlib
import io
import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from ackclock import _native
from ackclock.runs.store.forms import checksum
from ackclock.runs.store.keys import Keys, key_of_run
from ackclock.sweep.writing import written


def key(of: object) -> str:
    """A key."""
    return hashlib.sha256(str(of).encode()).hexdigest()


def test_keys_are_the_texts_that_were_given() -> None:
    texts = [key(n) for n in range(5)]
    keys = Keys(texts)
    assert (list(keys), len(keys), keys[0], keys[-1], keys[1:3]) == (texts, 5, texts[0], texts[4], texts[1:3])
    assert keys == Keys(texts) != Keys(texts[1:])
    assert keys == texts != Keys(texts[1:])
    assert (len(Keys()), list(Keys()), Keys().json()) == (0, [], "[]")
    many = Keys(key(n) for n in range(2001))
    assert [one.json() for one in (keys, many)] == [json.dumps(list(one)) for one in (keys, many)]
    with pytest.raises(IndexError):
        keys[5]
    for bad in ("ab", texts[0].upper(), texts[0][:-1] + "g", f"{texts[0][:-1]} "):
        with pytest.raises(ValueError, match=r"found the key|non-hexadecimal"):
            Keys([bad])


def test_the_key_of_a_run_is_that_of_its_own_identity() -> None:
    run = '{"name":"\\"identity\\":\\"no\\"","seed":1,"identity":"xxh3-128:ab","flows":[{"name":"x"}]}'
    spaced = run.replace('"identity":"xxh3', '"identity": "xxh3')
    assert key_of_run(run) == key_of_run(spaced)
    assert key_of_run(run) != key_of_run(run.replace("ab", "ac"))
    assert key_of_run(run) != key_of_run(run.replace('"name":"x"', '"reordering":{}'))


def test_a_backslash_or_a_missing_end_leaves_an_identity_to_the_parser() -> None:
    escaped = '{"seed":1,"identity":"a\\u0062","flows":[]}'
    assert _native.plain_identities([escaped, escaped[:20], "{}"]) == [None, None, None]
    assert key_of_run(escaped) == key_of_run('{"identity":"ab","flows":[]}')


def test_checksums_of_many_are_those_of_each() -> None:
    keys = [key(n) for n in range(4)]
    runs = ["", "x" * 1000, "µ ≤ ü", "\0" * 127]
    assert _native.checksums(keys, runs) == [checksum(*one) for one in zip(keys, runs, strict=True)]
    assert _native.checksums(["k", b"k", "k"], [None, "", 1.5]) == [None, None, None]
    with pytest.raises(ValueError, match="2 keys of 1 runs"):
        _native.checksums(["k", "l"], [""])


def pieces(count: int) -> Iterator[pl.DataFrame]:
    """Pieces of a table of 5,000 rows each."""
    for i in range(count):
        yield pl.DataFrame({"x": [float((i * 7919 + j * j) % 10007) for j in range(5000)], "y": [str(i)] * 5000})


SCHEMA = {"x": pl.Float64, "y": pl.String}


@pytest.mark.parametrize("count", [0, 1, 25])
def test_a_table_written_in_pieces_has_the_bytes_of_the_whole_one(count: int) -> None:
    into, whole = io.BytesIO(), io.BytesIO()
    written(pieces(count), SCHEMA, into)
    frame = pl.concat([pl.DataFrame(schema=SCHEMA), *pieces(count)], rechunk=True)
    frame.write_parquet(whole, compression="zstd", compression_level=3, row_group_size=100_000)
    assert into.getvalue() == whole.getvalue()


def test_an_error_of_a_piece_or_of_the_file_ends_the_writing() -> None:
    def broken() -> Iterator[pl.DataFrame]:
        yield from pieces(2)
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        written(broken(), SCHEMA, io.BytesIO())
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no device that is always full")
    with full.open("wb", buffering=0) as opened, pytest.raises(OSError, match="No space left") as failed:
        written(pieces(60), SCHEMA, opened)
    assert failed.value.errno == errno.ENOSPC
