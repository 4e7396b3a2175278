"""A zip file that is sent while it is written, with one piece of it in memory.

Its directory comes last. If writing fails before, the zip has no directory and cannot be opened.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Generator, Iterable
from datetime import datetime
from typing import Any

from app.policy.account_export import COMPRESSION_LEVEL


class ZipStream:
    """Writes the files of a zip, in the order of the calls.

    Args:
        made_at: the date of all files.
    """

    def __init__(self, made_at: datetime) -> None:
        self._unsent, self._made_at = _Unsent(), made_at
        self._zip = zipfile.ZipFile(self._unsent, "w")

    def add(self, name: str, content: Iterable[bytes]) -> Generator[bytes, None, dict[str, Any]]:
        """Add a file. Yields the pieces of the zip, and returns the file's name, its unpacked size
        and its hash."""
        size, digest = 0, hashlib.sha256()
        # The size is not known yet, so it gets the room of ZIP64.
        with self._zip.open(self._info(name), "w", force_zip64=True) as file:
            for piece in content:
                size += len(piece)
                digest.update(piece)
                file.write(piece)
                yield self._unsent.take()
        return {"name": name, "bytes": size, "sha256": digest.hexdigest()}

    def end(self) -> bytes:
        """The last piece: the directory."""
        self._zip.close()
        return self._unsent.take()

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = zipfile.ZipInfo(name, self._made_at.timetuple()[:6])
        info.compress_type = zipfile.ZIP_DEFLATED
        # It is public from Python 3.13 on, as ``compress_level``.
        info._compresslevel = COMPRESSION_LEVEL  # type: ignore[attr-defined]
        return info


class _Unsent(io.RawIOBase):
    """The part of the zip that is not sent yet. ``zipfile`` cannot seek in it."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        return len(piece)

    def take(self) -> bytes:
        """Return everything that was written since the last call."""
        unsent, self._pieces = b"".join(self._pieces), []
        return unsent
