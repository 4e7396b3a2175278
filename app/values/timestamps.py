"""Reading timestamps that clients write."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

_RFC_3339: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
    r"(Z|[+-][0-9]{2}:[0-5][0-9])"
)
_LONGEST: Final = 100  # characters
_LOST_PLUS: Final = re.compile(r":[0-9.]+ [0-9]{2}:[0-9]{2}\Z")  # a + that a URL made a space


class TimestampInvalid(ValueError):
    """The text is not a timestamp. The message continues the name of a field: "must be …"."""


def read_timestamp(value: object) -> datetime:
    """The moment of an RFC 3339 timestamp with a zone, in UTC.

    Raises:
        TimestampInvalid: the value is not one.
    """
    text = value.upper() if isinstance(value, str) and len(value) <= _LONGEST else ""
    try:
        if _RFC_3339.fullmatch(text):
            return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):  # no such day, or no such year in UTC
        pass
    message = "must be an RFC 3339 timestamp with a zone, such as 2026-01-02T03:04:05Z."
    if _LOST_PLUS.search(text):
        message += " In a URL, write + as %2B."
    raise TimestampInvalid(message)
