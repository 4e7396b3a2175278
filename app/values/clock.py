"""The time, from one place, so that tests can move it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any


def now() -> datetime:
    """The current time in UTC, cut to whole milliseconds (what the service stores and shows)."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def format_time(moment: datetime) -> str:
    """RFC 3339 in UTC with three decimals and ``Z``: ``2026-01-02T03:04:05.678Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:23] + "Z"


def parse_time(text: str) -> datetime:
    """The moment that ``format_time`` wrote. Raises ValueError for anything else."""
    return datetime.fromisoformat(text)


def format_optional_time(moment: datetime | str | None) -> str | None:
    """A moment as it is shown; one that was read as a plain column has that form already."""
    return format_time(moment) if isinstance(moment, datetime) else moment


def format_value(value: Any) -> Any:
    """A value of an object's attribute as it is shown: a moment as text, all else as it is."""
    return format_time(value) if isinstance(value, datetime) else value


def describe_duration(span: timedelta) -> str:
    """A span of whole hours in words: days when there are some."""
    hours = int(span.total_seconds()) // 3600
    number, unit = (hours // 24, "day") if hours > 24 and hours % 24 == 0 else (hours, "hour")
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
