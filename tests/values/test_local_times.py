"""Times in the zone of a person."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from app.policy.dates import DATE_FORMATS
from app.values.local_times import format_local_time, local_time, zones_by_region

MOMENT = datetime(2026, 7, 31, 22, 5, tzinfo=UTC)


def test_every_form() -> None:
    for form, text in (
        ("iso", "2026-08-01, 00:05"),
        ("dots", "01.08.2026, 00:05"),
        ("slashes", "01/08/2026, 00:05"),
        ("slashes_12", "01/08/2026, 12:05 AM"),
        ("us", "08/01/2026, 12:05 AM"),
        ("us_24", "08/01/2026, 00:05"),
        (None, "2026-08-01, 00:05"),
        ("of a later version", "2026-08-01, 00:05"),
    ):
        assert format_local_time(local_time(MOMENT, "Europe/Berlin"), form) == text, form


def test_every_form_is_tested() -> None:
    assert set(DATE_FORMATS) == {"iso", "dots", "slashes", "slashes_12", "us", "us_24"}


def test_twelve_hours() -> None:
    cases: list[tuple[int, str]] = [(0, "12"), (1, "1"), (11, "11"), (12, "12"), (13, "1")]
    for hour, text in cases:
        half = "AM" if hour < 12 else "PM"
        moment = datetime(2026, 1, 31, hour, 5, tzinfo=UTC)
        assert format_local_time(moment, "us") == f"01/31/2026, {text}:05 {half}", hour


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
