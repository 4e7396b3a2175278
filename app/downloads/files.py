"""Files that are read piece by piece."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path
from typing import IO, NamedTuple

from flask import Flask

from app.formats.writers.source import BLOCK
from app.formats.writers.temporary import new_file
from app.http.errors import ServiceUnavailable


class ExportedFile(NamedTuple):
    """The pieces of a file, to be closed in the end, and its size if it is known."""

    pieces: Generator[bytes]
    size: int | None


def whole_file(pieces: Iterable[bytes], app: Flask) -> ExportedFile:
    """A file that is complete before this returns.

    Raises:
        ServiceUnavailable: there is no room for it.
    """
    try:
        with new_file(Path(app.instance_path)) as file:
            file.writelines(pieces)
    except OSError:
        raise no_room() from None
    return sized(file)


def sized(file: IO[bytes]) -> ExportedFile:
    """A complete file, read from its beginning."""
    size = file.seek(0, 2)
    file.seek(0)
    return ExportedFile(_pieces(file), size)


def no_room() -> ServiceUnavailable:
    """The error for a file that the disk has no room for."""
    message = "The server has no room for this file. Ask whoever runs it to free some disk."
    return ServiceUnavailable(message)


def _pieces(file: IO[bytes]) -> Generator[bytes]:
    with file:
        while piece := file.read(BLOCK):
            yield piece
