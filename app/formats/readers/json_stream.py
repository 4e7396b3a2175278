"""The bytes of a file with JSON for a parser that reads it as a stream, and what is wrong there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import ijson

from app.formats.features import FileInvalid

_CHUNK: Final = 8192
_DEEPEST: Final = 100
_DEEPER_IN_CHUNK: Final = 500  # brackets that may be in texts, so they are not exact
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_RECORD_SEPARATOR: Final = b"\x1e"
_OPTIONS: Final[dict[str, Any]] = {
    "use_float": True,
    "multiple_values": True,
    "buf_size": _CHUNK,
}
_DEEPER: Final = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}


def events(file: BinaryIO) -> Iterator[tuple[str, str, Any]]:
    """The path, the kind and the value of each token, as ``ijson.parse`` has them.

    The file may have several values one after the other, or be a sequence (RFC 8142).

    Raises:
        FileInvalid: it is not JSON to its end, or nested too deeply.
    """
    source = _Source(file)
    depth = 0
    try:
        for token in ijson.parse(source, **_OPTIONS):
            if token[1] in _DEEPER:
                depth += _DEEPER[token[1]]
                if depth > _DEEPEST:
                    raise source.too_deep()
            yield token
    except ijson.JSONError as error:
        raise source.fault(error) from None


def values(file: BinaryIO, path: str) -> Iterator[Any]:
    """Each value at a path, such as "features.item"; one is in memory at a time. Raises as
    ``events``."""
    source = _Source(file)
    try:
        yield from ijson.items(source, path, **_OPTIONS)
    except ijson.JSONError as error:
        raise source.fault(error) from None


class _Source:
    """The bytes of a file, counted, without those that a JSON parser does not expect."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._read = 0

    def read(self, size: int) -> bytes:
        chunk = self._file.read(size)
        if not self._read:
            chunk = chunk.removeprefix(_BYTE_ORDER_MARK)
        self._read += len(chunk)
        # The parser's memory grows with the square of the depth, and it is a chunk ahead.
        opened = chunk.count(b"[") + chunk.count(b"{")
        if opened > _DEEPER_IN_CHUNK + chunk.count(b"]") + chunk.count(b"}"):
            raise self.too_deep()
        return chunk.replace(_RECORD_SEPARATOR, b" ")

    def too_deep(self) -> FileInvalid:
        return FileInvalid(f"The file is nested too deeply near byte {self._read:,}.")

    def fault(self, error: ijson.JSONError) -> FileInvalid:
        """What is wrong with the JSON, and about where."""
        if not self._read:
            return FileInvalid("The file is empty.")
        reported = error.args[0] if error.args else ""
        if isinstance(reported, bytes):
            reported = reported.decode(errors="replace")
        text = str(reported)
        if "premature EOF" in text:
            return FileInvalid("The file is incomplete: it ends in the middle.")
        reason = (text.splitlines() or ["it cannot be read"])[0].partition(": ")[2] or text
        return FileInvalid(f"The file is not JSON near byte {self._read:,}: {reason.rstrip('.')}.")
