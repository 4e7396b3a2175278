"""Strict reading and compact writing of JSON.

Input is RFC 8259 with the rules of I-JSON (RFC 7493): UTF-8, no repeated names, no NaN or Infinity,
no integers past 64 bits, a bounded depth. orjson checks all but repeated names and large integers.
Those are searched in the raw text, so that a body of many coordinates is not parsed twice.
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

MAX_CONTAINERS: Final = 300_000  # a boundary has an array for each of its 100,000 positions

Fragment = orjson.Fragment


class JsonInvalid(ValueError):
    """The text is not JSON that the service accepts. The message says why, and where."""


def loads(raw: bytes) -> Any:
    """Parse a JSON text.

    Raises:
        JsonInvalid: it is not UTF-8, not JSON, too deep, has a name twice in one object, or an
            integer that 64 bits do not hold.
    """
    if raw.count(b"[") + raw.count(b"{") > MAX_CONTAINERS:
        raise JsonInvalid(f"The body has more than {MAX_CONTAINERS:,} arrays and objects.")
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise JsonInvalid(_decode_message(error)) from None
    if _may_break_rules(raw):
        _check_slowly(raw)
    return value


def dumps(value: Any) -> bytes:
    """Compact JSON in UTF-8. The text of ``Fragment`` values is inserted unchanged."""
    return orjson.dumps(value)


def _decode_message(error: orjson.JSONDecodeError) -> str:
    return f"The body is not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})."


def _may_break_rules(raw: bytes) -> bool:
    """Whether a name occurs twice anywhere in the text, or a number is long."""
    if _LONG_DIGITS in raw.translate(_DIGITS_TO_NINES) and _has_long_number(raw):
        return True
    seen: set[bytes] = set()
    for match in _STRING.finditer(raw):
        name = match[1] if match[2] else None
        if name is not None and (name in seen or b"\\" in name):
            return True
        if name is not None:
            seen.add(name)
    return False


def _has_long_number(raw: bytes) -> bool:
    return any(not token.startswith(b'"') for token in _STRING_OR_LONG_DIGITS.findall(raw))


def _check_slowly(raw: bytes) -> None:
    """Parse with the standard library, which can check names and integers. Raises JsonInvalid."""
    try:
        json.loads(
            raw, object_pairs_hook=_distinct, parse_int=_int64, parse_constant=_reject_constant
        )
    except RecursionError:
        raise JsonInvalid("The body is nested too deeply.") from None


def _distinct(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            shown = name if len(name) <= 64 else f"{name[:64]}…"
            raise JsonInvalid(f"The body repeats the name {shown!r} in one object.")
        seen.add(name)


def _int64(digits: str) -> int:
    if len(digits) > 20 or int(digits) not in _INT64:
        raise JsonInvalid("The body has an integer of more than 64 bits.")
    return int(digits)


def _reject_constant(name: str) -> NoReturn:
    raise JsonInvalid(f"The body contains {name}, which is not valid JSON.")
