"""Zip files that are written while they are sent: other programs read them."""

from __future__ import annotations

import io
import shutil
import subprocess
import tracemalloc
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.exports.account_export.zip_stream import ZipStream

NOON = datetime(2026, 11, 23, 12, 0, 30, tzinfo=UTC)


def _zip(**files: bytes) -> bytes:
    stream = ZipStream(NOON)
    pieces = [piece for name, data in files.items() for piece in stream.add(name, [data])]
    return b"".join([*pieces, stream.end()])


def _drained(pieces: Iterator[bytes]) -> tuple[int, object]:
    """How many bytes there were, and what the generator returned."""
    size = 0
    while True:
        try:
            size += len(next(pieces))
        except StopIteration as end:
            return size, end.value


def test_what_was_written_is_read() -> None:
    found = zipfile.ZipFile(io.BytesIO(_zip(a=b"one", b=b"", c=b"three" * 100_000)))
    assert found.testzip() is None
    assert found.namelist() == ["a", "b", "c"]
    assert found.read("c") == b"three" * 100_000
    assert {each.date_time for each in found.infolist()} == {(2026, 11, 23, 12, 0, 30)}
    assert {each.external_attr >> 16 for each in found.infolist()} == {0o600}


def test_a_file_says_what_was_written() -> None:
    _, written = _drained(ZipStream(NOON).add("a", [b"on", b"e"]))
    digest = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
    assert written == {"name": "a", "bytes": 3, "sha256": digest}


@pytest.mark.parametrize("program", [["unzip", "-q"], ["bsdtar", "-xf"], ["7z", "x"]])
def test_other_programs_read_it(tmp_path: Path, program: list[str]) -> None:
    if shutil.which(program[0]) is None:
        pytest.skip(f"{program[0]} is not installed")
    (tmp_path / "a.zip").write_bytes(_zip(**{"one.txt": b"one", "two.txt": b"two" * 50_000}))
    subprocess.run([*program, "a.zip"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "one.txt").read_bytes() == b"one"
    assert (tmp_path / "two.txt").read_bytes() == b"two" * 50_000


def test_a_failure_ends_it_without_a_directory() -> None:
    def content() -> Iterator[bytes]:
        yield b"one"
        raise ValueError("stop")

    stream, pieces = ZipStream(NOON), list[bytes]()
    pieces += stream.add("a", [b"whole"])
    with pytest.raises(ValueError, match="stop"):
        pieces.extend(stream.add("b", content()))  # keeps those before the error
    del stream
    assert zipfile.stringEndArchive not in b"".join(pieces)


@pytest.mark.slow
def test_it_keeps_no_more_than_a_piece() -> None:
    stream, piece = ZipStream(NOON), bytes(range(256)) * 4_096
    tracemalloc.start()
    try:
        size, _ = _drained(stream.add("a", (piece for _ in range(200))))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > 0
    assert peak < 5 * len(piece)
