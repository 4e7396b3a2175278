"""The current time, from one place so that tests can set it, and how times are written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any


def now() -> datetime:
    """The current time in UTC, truncated to milliseconds as the service stores it."""
    time = datetime.now(UTC)
    return time.replace(microsecond=time.microsecond // 1000 * 1000)


def format_time(time: datetime) -> str:
    """RFC 3339 in UTC with three decimals and ``Z``: ``2026-01-02T03:04:05.678Z``."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds")[:23] + "Z"


def parse_time(text: str) -> datetime:
    """The inverse of ``format_time``. Raises ValueError for text that is no time."""
    return datetime.fromisoformat(text)


def format_optional_time(time: datetime | str | None) -> str | None:
    """A time as text; one that was read as a plain column is text already."""
    return format_time(time) if isinstance(time, datetime) else time


def format_value(value: Any) -> Any:
    """An attribute's value for a record: a time as text, any other value unchanged."""
    return format_time(value) if isinstance(value, datetime) else value


def describe_duration(duration: timedelta) -> str:
    """A duration of whole hours in words; in days when there are some."""
    hours = int(duration.total_seconds()) // 3600
    number, unit = (hours // 24, "day") if hours > 24 and hours % 24 == 0 else (hours, "hour")
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
