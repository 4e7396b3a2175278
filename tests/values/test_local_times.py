"""Times in the zone of a person."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from app.values.local_times import local_time, zones_by_region

MOMENT = datetime(2026, 7, 31, 22, 5, tzinfo=UTC)


def test_daylight_saving_time() -> None:
    winter, summer = (datetime(2026, month, 1, 12, tzinfo=UTC) for month in (1, 7))
    offsets = [local_time(each, "Europe/Berlin").utcoffset() for each in (winter, summer)]
    assert offsets == [timedelta(hours=1), timedelta(hours=2)]


def test_an_unknown_zone_is_utc() -> None:
    cases: list[str | None] = [None, "", "Europe/Nowhere", "../etc/passwd", "a" * 64]
    for zone in cases:
        assert local_time(MOMENT, zone).utcoffset() == timedelta(), zone


def test_every_offered_zone_is_known() -> None:
    names = [name for names in zones_by_region().values() for name in names]
    assert "Europe/Berlin" in names
    assert "America/Argentina/Buenos_Aires" in names
    assert len(names) == len(set(names)) > 400
    for name in names:
        ZoneInfo(name)
    assert max(map(len, names)) <= 64
