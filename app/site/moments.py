"""Fields of times: js/times.js sends them in UTC, and without scripts people type them in UTC."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from app.values.timestamps import TimestampInvalid, read_timestamp

_LOCAL: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?")  # what browsers send


def in_utc(text: str) -> str:
    """The value of a field as an RFC 3339 timestamp; any other text unchanged."""
    if not _LOCAL.fullmatch(text):
        return text
    moment = f"{text}:00Z" if text.count(":") == 1 else f"{text}Z"
    try:
        read_timestamp(moment)
    except TimestampInvalid:
        return text  # whoever validates it says what is wrong
    return moment


def field_value(moment: datetime | None) -> str:
    """The value of the field for a time, in UTC; empty for None."""
    return "" if moment is None else f"{moment:%Y-%m-%dT%H:%M:%S}"
