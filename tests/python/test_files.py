"""Files that are complete under their name, even if other processes write or are killed."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from ackclock import files


def test_writers_of_one_file_at_a_time_all_succeed_and_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    contents = [bytes([65 + k]) * 100_000 for k in range(4)]
    failed: list[BaseException] = []

    def write(content: bytes) -> None:
        try:
            for _ in range(100):
                files.write(path, content)
        except BaseException as error:
            failed.append(error)

    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert failed == []
    assert path.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_writer_left_goes_with_a_later_write_and_a_running_one_is_left_alone(tmp_path: Path) -> None:
    left, running, other = (tmp_path / f".{name}.part" for name in ("a[1].txt.0f", "a[1].txt.1f", "b.txt.0f"))
    for part in (left, running, other):
        part.write_bytes(b"half")
    hours_ago = time.time() - 7200
    os.utime(left, (hours_ago, hours_ago))
    os.utime(other, (hours_ago, hours_ago))
    files.write(tmp_path / "a[1].txt", b"whole")
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "a[1].txt", running, other])


def test_a_name_that_no_file_can_have_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError, match="null character"):
        files.read("a\0b")
