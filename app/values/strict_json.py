"""Strict reading and compact writing of JSON.

Input is RFC 8259 with the rules of I-JSON (RFC 7493): UTF-8, no repeated names, no NaN or Infinity,
no integers past 64 bits, a bounded depth. orjson checks all but repeated names and large integers.
Those are searched in the raw text, in which a body of many coordinates has few names.

No other thread runs while a text is parsed, so the number of its values is bounded before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

import orjson

from app.policy.request_limits import BODY_CONTAINERS, BODY_ESCAPES, BODY_STRINGS, BODY_VALUES
from app.values.threads import let_others_run

_DIGITS_TO_NINES: Final = bytes.maketrans(b"012345678", b"999999999")
_LONG_DIGITS: Final = b"9" * 19  # the fewest digits that may not fit into 64 bits
_BETWEEN_NUMBERS: Final = b"[]{}:\t\r\n "
_COMMAS: Final = bytes.maketrans(_BETWEEN_NUMBERS, b"," * len(_BETWEEN_NUMBERS))
_INT64: Final = range(-(2**63), 2**63)
_LONGEST_INT64: Final = 20  # characters
_LONGEST_SHOWN: Final = 64  # characters of a name in a message
_CONTAINERS: Final = (dict, list)
_LARGE: Final = 1024 * 1024  # bytes, which take some 10 ms

Fragment = orjson.Fragment


class JsonInvalid(ValueError):
    """The text is not JSON that the service accepts. The message says why, and where."""


def loads(raw: bytes) -> Any:
    """Parse a JSON text.

    Raises:
        JsonInvalid: it is not UTF-8, not JSON, too deep, has too many values, a name twice in one
            object, or an integer that 64 bits do not hold.
    """
    _limit_values(raw)
    return loads_own(raw)


def loads_own(raw: bytes) -> Any:
    """Parse a text that the service has written. Like ``loads``, without its limit on values: the
    record of a change can be several times as long as the body that caused it."""
    pause = let_others_run if len(raw) > _LARGE else _do_nothing
    pause()
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise JsonInvalid(_decode_message(raw, error)) from None
    pause()
    pieces = _without_escapes(raw).split(b'"')
    pause()
    _refuse_repeated_names(_names_in_pieces(pieces), value)
    if _LONG_DIGITS in raw.translate(_DIGITS_TO_NINES):
        _refuse_large_integers(b",".join(pieces[::2]))
    return value


def dumps(value: Any) -> bytes:
    """Compact JSON in UTF-8. The text of ``Fragment`` values is inserted unchanged."""
    return orjson.dumps(value)


def canonical_json(value: Any) -> bytes:
    """The one JSON text of a value: names sorted by code point, no white space, UTF-8."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def with_whole_numbers(value: Any) -> Any:
    """Return a parsed value, changed in place: 1.0 becomes 1, as both are one number."""
    outer = [value]
    level: list[Any] = [outer]
    while level:
        for items in level:
            members = items.items() if type(items) is dict else enumerate(items)
            for key, item in members:
                if type(item) is float and item.is_integer() and abs(item) < _INT64.stop:
                    items[key] = int(item)
        level = _inner_values(level)
    return outer[0]


def is_within_levels(value: Any, most: int) -> bool:
    """Return whether objects and arrays are nested at most ``most`` levels deep."""
    level = [value] if type(value) in _CONTAINERS else []
    for _ in range(most):
        if not level:
            break
        level = _inner_values(level)
    return not level


def _do_nothing() -> None:
    pass


def _limit_values(raw: bytes) -> None:
    """Reject a text of very many values. Commas in strings count, too, which is cheaper."""
    if raw.count(b",") > BODY_VALUES:
        raise JsonInvalid(f"The body has more than {BODY_VALUES:,} values.")
    if raw.count(b"[") + raw.count(b"{") > BODY_CONTAINERS:
        raise JsonInvalid(f"The body has more than {BODY_CONTAINERS:,} arrays and objects.")
    if raw.count(b'"') > 2 * BODY_STRINGS:
        raise JsonInvalid(f"The body has more than {BODY_STRINGS:,} strings.")
    if raw.count(b"\\") > BODY_ESCAPES:
        raise JsonInvalid(f"The body has more than {BODY_ESCAPES:,} escaped characters.")


def _decode_message(raw: bytes, error: orjson.JSONDecodeError) -> str:
    place = f"(line {error.lineno}, column {error.colno})"
    if error.msg.endswith("surrogate in string"):
        return f"The body is not UTF-8: it has half of a surrogate pair {place}."
    try:
        raw.decode()
    except UnicodeDecodeError as fault:
        before = raw[: fault.start].decode()
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        return f"The body is not UTF-8 (line {line}, column {column})."
    return f"The body is not valid JSON: {error.msg} {place}."


def _without_escapes(raw: bytes) -> bytes:
    """A text without escaped backslashes and quotes: each quote begins or ends a string."""
    return raw.replace(rb"\\", b"").replace(rb"\"", b"") if b"\\" in raw else raw


def _names_in_pieces(pieces: list[bytes]) -> list[bytes]:
    """The names in a text that was split at its quotes; every other piece is a string."""
    strings = zip(pieces[1::2], pieces[2::2], strict=True)
    return [string for string, after in strings if after.lstrip()[:1] == b":"]


def _refuse_repeated_names(names: list[bytes], value: Any) -> None:
    """Raise JsonInvalid when ``value`` has fewer names than its text: of two it has the last."""
    if len(set(names)) == len(names) and not any(b"\\" in name for name in names):
        return
    missing = len(names)
    for members in _nested_objects(value):
        missing -= len(members)
        if missing == 0:
            return
    counts = Counter(chain.from_iterable(_nested_objects(value)))
    repeated = Counter(name.decode() for name in names) - counts
    name = next(iter(repeated))
    name = name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…"
    raise JsonInvalid(f"The body repeats the name {name!r} in one object.")


def _nested_objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a value, the outer ones first."""
    level = [value]
    while level:
        yield from (item for item in level if type(item) is dict)
        level = _inner_values(level)


def _inner_values(level: list[Any]) -> list[Any]:
    """The objects and arrays in those of a level."""
    items = (item.values() if type(item) is dict else item for item in level)
    return [item for item in chain.from_iterable(items) if type(item) in _CONTAINERS]


def _refuse_large_integers(text: bytes) -> None:
    """Raise JsonInvalid when a text without its strings has an integer past 64 bits."""
    for number in text.translate(_COMMAS).split(b","):
        is_long = len(number) >= len(_LONG_DIGITS) and number.lstrip(b"-").isdigit()
        if is_long and (len(number) > _LONGEST_INT64 or int(number) not in _INT64):
            raise JsonInvalid("The body has an integer of more than 64 bits.")
