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
    """The pieces of a file, which have to be closed, and its size if known."""

    pieces: Generator[bytes]
    size: int | None


def whole_file(pieces: Iterable[bytes], app: Flask) -> ExportedFile:
    """Write a whole file before it is sent. Raises ServiceUnavailable if there is no room."""
    try:
        with new_file(Path(app.instance_path)) as file:
            file.writelines(pieces)
    except OSError:
        raise no_room_error() from None
    return exported_file(file)


def exported_file(file: IO[bytes]) -> ExportedFile:
    """Return the pieces and the size of a complete file."""
    size = file.seek(0, 2)
    file.seek(0)
    return ExportedFile(_file_pieces(file), size)


def no_room_error() -> ServiceUnavailable:
    """Return the error for a full disk."""
    message = "The server has no room for this file. Ask whoever runs it to free some disk."
    return ServiceUnavailable(message)


def _file_pieces(file: IO[bytes]) -> Generator[bytes]:
    with file:
        while piece := file.read(BLOCK):
            yield piece
