"""Reading JSON as a stream, with errors that say where the file is broken."""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, Final, Protocol

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
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"{\0", b"\0{")
_RECORD_SEPARATOR: Final = b"\x1e"
_OPTIONS: Final[dict[str, Any]] = {"use_float": True, "multiple_values": True}
_LONGEST_WORD: Final = len(b"-Infinity")
_TEXT_OR_NAN: Final = re.compile(rb'"(?:[^"\\]|\\.)*+("?)|-?(?:NaN|Infinity)', re.DOTALL)
_DEEPER: Final = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}


class Readable(Protocol):
    """A file that is read once, from its beginning."""

    def read(self, size: int, /) -> bytes: ...


class NullForNan:
    """A file of JSON in which NaN and Infinity, as Python writes them, are null. ``has_any``: what
    was read had one of them."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._rest = b""  # an incomplete text or word
        self.has_any = False

    def read(self, size: int, /) -> bytes:
        """Read some bytes, whatever their number; none at the end, or of none."""
        while size and (chunk := self._file.read(_MIDDLE_CHUNK)):
            text = self._rest + chunk
            end = len(text) - _LONGEST_WORD
            for last in deque(_TEXT_OR_NAN.finditer(text), maxlen=1):
                is_open = last[0].startswith(b'"') and not last[1]
                end = last.start() if is_open else max(end, last.end())
            self._rest = text[max(end, 0) :]
            if end > 0:
                return _TEXT_OR_NAN.sub(self._finite, text[:end])
        text, self._rest = (self._rest, b"") if size else (b"", self._rest)
        return _TEXT_OR_NAN.sub(self._finite, text)

    def _finite(self, match: re.Match[bytes]) -> bytes:
        if match[0].startswith(b'"'):
            return match[0]
        self.has_any = True
        return b"null"


def has_nan(file: Readable) -> bool:
    """True if a file has the word NaN or Infinity somewhere, perhaps in a text."""
    before = b""
    while chunk := file.read(_LARGE_CHUNK):
        text = before + chunk
        if b"NaN" in text or b"Infinity" in text:
            return True
        before = chunk[-_LONGEST_WORD:]
    return False


def json_events(file: Readable) -> Iterator[tuple[str, str, Any]]:
    """Yield the path, event and value of each token, as ``ijson.parse`` does.

    The file may have several values one after the other, or be a sequence (RFC 8142).

    Raises:
        FileInvalid: it is not JSON to its end, nested too deeply, or has too long a text.
    """
    source = _Source(file)
    tokens = ijson.sendable_list()
    parser = ijson.parse_coro(tokens, **_OPTIONS)
    depth = waiting = 0
    try:
        # The parser starts an incomplete token again with each chunk.
        while chunk := source.read(_LARGE_CHUNK if waiting else _CHUNK):
            parser.send(chunk)
            waiting = 0 if tokens else waiting + len(chunk)
            if waiting > _LONGEST_TOKEN:
                raise source.too_long()
            for token in tokens:
                depth += _DEEPER.get(token[1], 0)
                if depth > _DEEPEST:
                    raise source.too_deep()
                yield token
            tokens.clear()
        parser.close()
        yield from tokens
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise source.fault(error) from None


def json_values(file: Readable, path: str) -> Iterator[Any]:
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

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._read = 0

    def read(self, size: int) -> bytes:
        chunk = self._file.read(size)
        if not self._read:
            if chunk.startswith(_UTF_16):
                raise FileInvalid("The file is in UTF-16. Save it as UTF-8, as JSON has to be.")
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
