"""Times in the zone that a person has chosen."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

# Regions that zones are named and grouped by. Zones with other names are outdated.
_REGIONS: Final = (
    *("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe"),
    *("Indian", "Pacific"),
)


@cache
def zones_by_region() -> dict[str, tuple[str, ...]]:
    """The names of all zones, such as ``Europe/Berlin``, by region."""
    names = sorted(available_timezones())
    return {
        region: tuple(name for name in names if name.startswith(f"{region}/"))
        for region in _REGIONS
    } | {"UTC": ("UTC",)}


def local_time(moment: datetime, zone: str | None) -> datetime:
    """A time in a zone; in UTC without a zone, or if it is unknown on this machine."""
    return moment.astimezone(_time_zone(zone) if zone else UTC)


@cache
def _time_zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
