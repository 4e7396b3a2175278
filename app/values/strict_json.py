"""JSON in and out, strictly.

In: RFC 8259 and what I-JSON (RFC 7493) asks besides: UTF-8, no repeated names, no NaN or Infinity,
no integers past 64 bits, a bounded depth. orjson checks all of it but the repeated names and the
large integers; those are looked for in the raw text, so that a body of many coordinates is not
walked twice.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

import orjson

_STRING: Final = re.compile(rb'"((?:[^"\\]++|\\.)*+)"(\s*+:)?', re.DOTALL)
_DIGITS_TO_NINES: Final = bytes.maketrans(b"012345678", b"999999999")
_LONG_DIGITS: Final = b"9" * 19  # the fewest digits that may not fit into 64 bits
_STRING_OR_LONG_DIGITS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[0-9]{19}', re.DOTALL)
_INT64: Final = range(-(2**63), 2**63)

MOST_CONTAINERS: Final = 300_000  # a boundary has an array for each of its 100,000 positions

Fragment = orjson.Fragment


class JsonInvalid(ValueError):
    """The text is not JSON that the service accepts. The message says what and where."""


def loads(raw: bytes) -> Any:
    """Parse a JSON text.

    Raises:
        JsonInvalid: it is not UTF-8, not JSON, too deep, has a name twice in one object, or an
            integer that 64 bits do not hold.
    """
    if raw.count(b"[") + raw.count(b"{") > MOST_CONTAINERS:
        raise JsonInvalid(f"The body has more than {MOST_CONTAINERS:,} arrays and objects.")
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise JsonInvalid(_decode_message(error)) from None
    if _needs_a_second_look(raw):
        _read_slowly(raw)
    return value


def dumps(value: Any) -> bytes:
    """Compact JSON in UTF-8. ``Fragment`` values go out as they are."""
    return orjson.dumps(value)


def _decode_message(error: orjson.JSONDecodeError) -> str:
    return f"The body is not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})."


def _needs_a_second_look(raw: bytes) -> bool:
    """Whether a name stands in the text twice, wherever, or a number is long."""
    if _LONG_DIGITS in raw.translate(_DIGITS_TO_NINES) and _has_long_number(raw):
        return True
    seen: set[bytes] = set()
    for found in _STRING.finditer(raw):
        name = found[1] if found[2] else None
        if name is not None and (name in seen or b"\\" in name):
            return True
        if name is not None:
            seen.add(name)
    return False


def _has_long_number(raw: bytes) -> bool:
    return any(not token.startswith(b'"') for token in _STRING_OR_LONG_DIGITS.findall(raw))


def _read_slowly(raw: bytes) -> None:
    try:
        json.loads(
            raw, object_pairs_hook=_distinct, parse_int=_int64, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise JsonInvalid("The body is nested too deeply.") from None


def _distinct(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            shown = name if len(name) <= 64 else f"{name[:64]}…"
            raise JsonInvalid(f"The body has the name {shown!r} twice in one object.")
        seen.add(name)


def _int64(digits: str) -> int:
    if len(digits) > 20 or int(digits) not in _INT64:
        raise JsonInvalid("The body has an integer that does not fit into 64 bits.")
    return int(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise JsonInvalid(f"The body holds {name}, which is not JSON.")
