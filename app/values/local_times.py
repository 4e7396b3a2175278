"""Times in the zone and the format that a person has chosen."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from app.policy.dates import DATE_FORMATS, ZONE_REGIONS

_PLAIN: Final = "iso"


@cache
def zones_by_region() -> dict[str, tuple[str, ...]]:
    """The names of all zones, such as ``Europe/Berlin``, by region."""
    names = sorted(available_timezones())
    return {
        region: tuple(name for name in names if name.startswith(f"{region}/"))
        for region in ZONE_REGIONS
    } | {"UTC": ("UTC",)}


def local_time(moment: datetime, zone: str | None) -> datetime:
    """A time in a zone; in UTC without a zone, or if it is unknown on this machine."""
    return moment.astimezone(_time_zone(zone) if zone else UTC)


def format_local_time(moment: datetime, form: str | None) -> str:
    """Format a local time by one of ``DATE_FORMATS``, to the minute: ``2026-01-31, 14:05``."""
    return DATE_FORMATS.get(form or _PLAIN, DATE_FORMATS[_PLAIN]).format(
        year=f"{moment:%Y}",
        month=f"{moment:%m}",
        day=f"{moment:%d}",
        hour=f"{moment:%H}",
        minute=f"{moment:%M}",
        hour12=(moment.hour + 11) % 12 + 1,
        half="AM" if moment.hour < 12 else "PM",
    )


@cache
def _time_zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
