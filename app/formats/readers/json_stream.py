"""Reading JSON as a stream, with errors that say where the file is broken."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO, Final

import ijson

from app.formats.features import FileInvalid
from app.formats.readers.layer_limits import quoted
from app.policy.files import VALUE_BYTES

_CHUNK: Final = 8192
_MIDDLE_CHUNK: Final = 64 * 1024
_LARGE_CHUNK: Final = 512 * 1024
_LONGEST_TOKEN: Final = 6 * VALUE_BYTES  # each character can be written as \\u and digits
_DEEPEST: Final = 100
_DEEPER_IN_CHUNK: Final = 500  # more than _DEEPEST, as brackets in texts are counted, too
_RECORD_SEPARATOR: Final = b"\x1e"
_OPTIONS: Final[dict[str, Any]] = {"use_float": True, "multiple_values": True}
_NAN: Final = (b"NaN", b"Infinity")
_TEXT_OR_NAN: Final = re.compile(rb'("(?:[^"\\]|\\.)*+"?)|-?(?:NaN|Infinity)', re.DOTALL)
_DEEPER: Final = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}


def null_for_nan(file: BinaryIO) -> BinaryIO | None:
    """A file in memory, with null for each NaN and Infinity, as Python writes them; None if it has
    none outside of texts."""
    content = b""
    if any(word in chunk for chunk in iter(partial(file.read, _LARGE_CHUNK), b"") for word in _NAN):
        file.seek(0)
        content = file.read()
    file.seek(0)
    finite = _TEXT_OR_NAN.sub(lambda match: match[1] or b"null", content)
    return None if finite == content else io.BytesIO(finite)


def json_events(file: BinaryIO) -> Iterator[tuple[str, Any]]:
    """Yield the event and value of each token, as ``ijson.basic_parse`` does.

    The file may have several values one after the other, or be a sequence (RFC 8142).

    Raises:
        FileInvalid: it is not JSON to its end, nested too deeply, or has too long a text.
    """
    source = _Source(file)
    tokens = ijson.sendable_list()
    parser = ijson.basic_parse_coro(tokens, **_OPTIONS)
    depth = waiting = 0
    try:
        # The parser starts an incomplete token again with each chunk.
        while chunk := source.read(_LARGE_CHUNK if waiting else _CHUNK):
            parser.send(chunk)
            waiting = 0 if tokens else waiting + len(chunk)
            if waiting > _LONGEST_TOKEN:
                raise source.too_long()
            for token in tokens:
                depth += _DEEPER.get(token[0], 0)
                if depth > _DEEPEST:
                    raise source.too_deep()
                yield token
            tokens.clear()
        parser.close()
        yield from tokens
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise source.fault(error) from None


def json_values(file: BinaryIO, path: str) -> Iterator[Any]:
    """Yield each value at a path, such as "features.item"; one is in memory at a time.

    For a file that ``json_events`` has read. Raises as ``json_events``.
    """
    source = _Source(file)
    try:
        yield from ijson.items(source, path, buf_size=_MIDDLE_CHUNK, **_OPTIONS)
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise source.fault(error) from None


class _Source:
    """The bytes of a file, counted, without those that a JSON parser does not expect."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._read = 0

    def read(self, size: int) -> bytes:
        chunk = self._file.read(size)
        if not self._read:
            chunk = chunk.removeprefix(codecs.BOM_UTF8)
        self._read += len(chunk)
        # The parser's memory grows with the square of the depth, and it is a chunk ahead.
        opened = chunk.count(b"[") + chunk.count(b"{")
        if opened > _DEEPER_IN_CHUNK + chunk.count(b"]") + chunk.count(b"}"):
            raise self.too_deep()
        return chunk.replace(_RECORD_SEPARATOR, b" ")

    def too_deep(self) -> FileInvalid:
        return FileInvalid(f"The file is nested too deeply near byte {self._read:,}.")

    def too_long(self) -> FileInvalid:
        size = VALUE_BYTES // 2**20
        return FileInvalid(
            f"A text near byte {self._read:,} is longer than {size} MiB. Shorten it."
        )

    def fault(self, error: ijson.JSONError | UnicodeDecodeError) -> FileInvalid:
        """The error for broken JSON, with its approximate place."""
        if isinstance(error, UnicodeDecodeError):
            return FileInvalid(
                f"A text near byte {self._read:,} has an escape such as \\udfff, which is half a "
                "character. Leave it out."
            )
        if not self._read:
            return FileInvalid("The file is empty.")
        reported = error.args[0] if error.args else ""
        if isinstance(reported, bytes):
            reported = reported.decode(errors="replace")
        text = str(reported)
        if "premature EOF" in text:
            return FileInvalid("The file is incomplete: it ends in the middle.")
        if "overflow" in text:
            return FileInvalid(
                f"A number near byte {self._read:,} is too large. Write it as a text."
            )
        first, *others = text.splitlines() or ["it cannot be read"]
        reason = (first.partition(": ")[2] or text).rstrip(".")
        place = f", at {quoted(others[0].strip())}" if others else ""
        return FileInvalid(f"The file is not JSON near byte {self._read:,}{place}: {reason}.")
