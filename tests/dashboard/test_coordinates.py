"""Coordinates as people write them."""

from __future__ import annotations

import pytest

from app.dashboard.asset_page.coordinates import Axis, read_degrees, split_both


@pytest.mark.parametrize(
    ("text", "axis", "degrees"),
    [
        ("48.5127", "latitude", 48.5127),
        ("48,5127", "latitude", 48.5127),
        ("-122.6512", "longitude", -122.6512),
        ("−122.6512°", "longitude", -122.6512),
        ("12°34'56\"N", "latitude", 12.58222222),
        ("12° 34′ 56.4″ S", "latitude", -12.58233333),
        ("N 48 30.5", "latitude", 48.50833333),
        ("8:12:36 W", "longitude", -8.21),
        ("180", "longitude", 180),
    ],
)
def test_degrees_are_read(text: str, axis: Axis, degrees: float) -> None:
    assert read_degrees(text, axis) == pytest.approx(degrees, abs=1e-8)


@pytest.mark.parametrize(
    ("text", "axis", "message"),
    [
        ("91", "latitude", "between −90 and 90"),
        ("181", "longitude", "between −180 and 180"),
        ("north", "latitude", "Write it in degrees"),
        ("1e3", "latitude", "Write it in degrees"),
        ("", "latitude", "Write it in degrees"),
        ("48.5 E", "latitude", "E does not belong to a latitude"),
        ("48 60", "latitude", "below 60"),
        ("48.5 30", "latitude", "Only the last"),
    ],
)
def test_what_is_wrong_is_told(text: str, axis: Axis, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_degrees(text, axis)


@pytest.mark.parametrize(
    ("text", "both"),
    [
        ("48.5, 8.2", ("48.5", "8.2")),
        ("48,5; 8,2", ("48,5", "8,2")),
        ("48.5 -8.2", ("48.5", "-8.2")),
        ("48°30'N 8°12'E", ("48°30'N", "8°12'E")),
        ("48.5", None),
        ("48,5", None),
    ],
)
def test_both_are_split(text: str, both: tuple[str, str] | None) -> None:
    assert split_both(text) == both
