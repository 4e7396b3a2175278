"""The current time, from one place so that tests can set it, and how times are written.

With PostgreSQL it is the database's time. Hosts whose own clocks differ then agree on what is due,
what has expired and when a limit is reset.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from app.values.text import pluralize

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# A divisor of times: with floats, some would be one millisecond too early.
_MILLISECOND: Final = timedelta(milliseconds=1)

_LONGEST_ANSWER: Final = 0.5  # seconds
TOLERATED: Final = 0.05  # seconds; smaller differences are the duration of the answer

_UNITS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))  # with seconds

# Unlike the monotonic clock of Linux, it runs while the machine is suspended.
_STEADY_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class _DatabaseClock:
    """The offset of the database's clock.

    Attributes:
        offset: seconds from the steady clock to the database's Unix time; None while unknown.
        read_at: the time of the reading, on the steady clock.
    """

    offset: float | None = None
    read_at = -1e9


def now() -> datetime:
    """The current time in UTC, truncated to milliseconds as the service stores it."""
    offset = _DatabaseClock.offset
    if offset is None:
        moment = datetime.now(UTC)
    else:
        moment = datetime.fromtimestamp(offset + time.clock_gettime(_STEADY_CLOCK), UTC)
    return to_millisecond(moment)


def follow_database_clock(seconds: float, *, took: float = 0.0) -> None:
    """Make ``now`` follow the database's clock.

    Args:
        seconds: its reading, in seconds since 1970.
        took: seconds until the answer. A slow one is ignored once a reading is known.
    """
    steady = time.clock_gettime(_STEADY_CLOCK)
    offset, current = seconds + took / 2 - steady, _DatabaseClock.offset
    if current is not None and took > _LONGEST_ANSWER:
        return
    if current is None or abs(offset - current) > TOLERATED:
        _DatabaseClock.offset = offset
    _DatabaseClock.read_at = steady


def forget_reading() -> None:
    """Let the database's clock be read again, such as after a fork."""
    _DatabaseClock.read_at = -1e9


def read_ago() -> float:
    """Seconds since the database's clock was read."""
    return time.clock_gettime(_STEADY_CLOCK) - _DatabaseClock.read_at


def format_time(moment: datetime) -> str:
    """RFC 3339 in UTC with three decimals and ``Z``: ``2026-01-02T03:04:05.678Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:23] + "Z"


def day_of(moment: datetime) -> str:
    """The day of a moment (UTC): ``2026-01-31``."""
    return moment.astimezone(UTC).date().isoformat()


def unix_milliseconds(moment: datetime) -> int:
    """Milliseconds from 1970-01-01T00:00:00Z to a moment."""
    return (moment - _EPOCH) // _MILLISECOND


def to_millisecond(moment: datetime) -> datetime:
    """A moment as the service stores it: truncated to milliseconds."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def parse_time(text: str) -> datetime:
    """The inverse of ``format_time``. Raises ValueError for text that is no time."""
    return datetime.fromisoformat(text)


def format_optional_time(moment: datetime | str | None) -> str | None:
    """Format a time; one from a plain column is text already."""
    return format_time(moment) if isinstance(moment, datetime) else moment


def format_value(value: Any) -> Any:
    """An attribute's value for a record: a time as text, others unchanged."""
    return format_time(value) if isinstance(value, datetime) else value


def describe_duration(duration: timedelta, *, day: str = "24 hours") -> str:
    """A duration in words, in the largest unit that gives a whole number: ``5 minutes``.

    Args:
        day: one day in words.
    """
    if duration == timedelta(days=1):
        return day
    seconds = int(duration.total_seconds())
    unit, length = next(entry for entry in _UNITS if seconds % entry[1] == 0)
    return pluralize(seconds // length, unit)
