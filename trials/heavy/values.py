"""Bodies, and values in bodies, that are expensive to parse or to check: 16 MB each, within the
other bounds or far beyond one of them."""

from __future__ import annotations

from functools import partial
from typing import Final

from app.policy.bounds import (
    BODY_CONTAINERS,
    BODY_ESCAPES,
    BODY_STRINGS,
    BODY_VALUES,
    DESCRIPTION_LENGTH,
)
from trials.heavy.request import Value, filled

SIZE: Final = 16 * 1024 * 1024  # bytes
_ROOM: Final = 1024  # for the rest of a body, in bytes and in values

_NUMBERS: Final = BODY_VALUES - _ROOM
_ARRAYS: Final = BODY_CONTAINERS - _ROOM
_TEXTS: Final = BODY_STRINGS - _ROOM
_MARKS: Final = "\u0301\u0316"


def _filled(before: bytes, piece: bytes, after: bytes = b"", most: int = SIZE) -> bytes:
    return filled(before, piece, after, most, size=SIZE - _ROOM)


def _text(text: str) -> bytes:
    return f'"{text}"'.encode()


def _names(before: bytes = b"") -> bytes:
    return b'{"x":0' + b"".join(b',"%b%d":0' % (before, number) for number in range(_TEXTS)) + b"}"


# JSON for a value of a body, by what it is.
STRINGS: Final[dict[str, Value]] = {
    "text": partial(_filled, b'"', b"x", b'"'),
    "spaces": partial(_filled, b'"', b" ", b'"'),
    "two-byte text": partial(_filled, b'"', "ß".encode(), b'"'),
    "four-byte text": partial(_filled, b'"', "🌲".encode(), b'"'),
    "marks": partial(_filled, b'"a', _MARKS.encode(), b'"'),
    "escapes": partial(_filled, b'"', rb"\u00e9", b'"', BODY_ESCAPES - _ROOM),
    "backslashes": partial(_filled, b'"', rb"\\", b'"', BODY_ESCAPES // 2 - _ROOM),
    "marks of a description": lambda: _text("a" + _MARKS * (DESCRIPTION_LENGTH // 2 - 1)),
    "30 marks each": lambda: _text(("a" + _MARKS * 15) * (DESCRIPTION_LENGTH // 31)),
}
LISTS: Final[dict[str, Value]] = {
    "ones": partial(_filled, b"[", b"1,", b"1]"),
    "numbers": partial(_filled, b"[", b"0.12345678901234567890,", b"1]", _NUMBERS),
    "integers": partial(_filled, b"[", b"1234567890123456789,", b"1]", _NUMBERS),
    "texts": partial(_filled, b"[", _text("x" * 800) + b",", b'""]', _TEXTS),
    "stars": partial(_filled, b"[", b'"*",', b'"*"]', _TEXTS),
    "arrays": partial(_filled, b"[", b"[1],", b"[]]", _ARRAYS),
    "objects": partial(_filled, b"[", b'{"":1},', b"{}]", _TEXTS),
    "deep": partial(_filled, b"[", b"["),
}
OBJECTS: Final[dict[str, Value]] = {
    "names": _names,
    "long names": lambda: b'{"%b":1,"%b":1}' % (b"x" * (SIZE // 2), b"y" * (SIZE // 3)),
    "escaped names": lambda: _names(rb"\u0078"),
    "nested": lambda: b'{"a":' * 250 + b"1" + b"}" * 250,
}
NUMBERS: Final[dict[str, Value]] = {
    "digits": partial(_filled, b"", b"9"),
    "decimals": partial(_filled, b"0.", b"1"),
    "exponent": partial(_filled, b"1e", b"9"),
}

# What every value can be, whatever it should be; and what a body as a whole can be.
ANYTHING: Final = {
    "text": STRINGS["text"],
    "integers": LISTS["integers"],
    "names": OBJECTS["names"],
}
BODIES: Final[dict[str, Value]] = {
    **STRINGS,
    **LISTS,
    **OBJECTS,
    **NUMBERS,
    "empty object and spaces": partial(_filled, b"{}", b" "),
    "not UTF-8": partial(_filled, b'{"a":"', b"\xff"),
    "cut off": partial(_filled, b'{"a":[', b"0.5,", b"", _NUMBERS),
    "a name twice": partial(_filled, b'{"b":1,"b":[', b"[1],", b"[]]}", _ARRAYS),
    "names twice": partial(_filled, b"[", b'{"a":1,"a":1},', b"{}]", _TEXTS // 2),
}
