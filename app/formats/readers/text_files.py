"""Text files in any encoding."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, Final, NamedTuple, cast

from app.formats.encodings import TOKENS, decoder_of, encoding_name, tokens_of
from app.formats.features import AS_IT_SAYS, AsRead

_CHUNK: Final = 1024 * 1024  # bytes or characters at a time
_DECLARED: Final = re.compile(rb"\A\s*<\?xml[^>]{1,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})[\"']")


class FoundEncoding(NamedTuple):
    """The encoding of a file, and if it is guessed; ``unknown`` are words, if the file says
    none."""

    name: str
    is_guessed: bool = False
    unknown: tuple[bytes, ...] = ()


def find_encoding(path: Path, how: AsRead = AS_IT_SAYS) -> FoundEncoding:
    """The encoding that a person has said, that all of the file is in or XML declares, or a
    guess."""
    with path.open("rb") as file:
        start = file.read(_CHUNK)
    if how.encoding:
        return FoundEncoding(how.encoding)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return FoundEncoding("utf-16")
    with suppress(UnicodeDecodeError), path.open(encoding="utf-8", newline="") as text:
        while text.read(_CHUNK):
            pass
        return FoundEncoding("utf-8")
    declared = _DECLARED.match(start)
    name = encoding_name(declared[1].decode()) if declared else None
    if name and not name.startswith("utf"):
        return FoundEncoding(name)
    return FoundEncoding(how.guess, True, tuple(_unknown_words(path)))


class RecodedFile:
    """A file that is read as UTF-8, in place of its path."""

    def __init__(self, path: Path, encoding: str) -> None:
        self._path, self._encoding = path, decoder_of(encoding)
        self.stem = path.stem

    def open(self, _: str = "rb") -> BinaryIO:
        """A copy in UTF-8 with a byte order mark, which counts more than what XML declares."""
        copy = TemporaryFile()  # noqa: SIM115 - whoever opens it closes it
        copy.write(codecs.BOM_UTF8)
        with self._path.open(encoding=self._encoding, errors="replace", newline="") as file:
            while text := file.read(_CHUNK):
                copy.write(text.encode())
        copy.seek(0)
        return cast("BinaryIO", copy)


def _unknown_words(path: Path) -> list[bytes]:
    """Words of a file with other letters than those of ASCII."""
    words: dict[bytes, None] = {}
    with path.open("rb") as file:
        while len(words) < TOKENS and (chunk := file.read(_CHUNK)):
            words |= dict.fromkeys(tokens_of(chunk + file.readline(_CHUNK)))
    return list(words)[:TOKENS]
