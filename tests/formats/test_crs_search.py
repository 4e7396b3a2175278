"""Coordinate systems that are found by words, and by where they put a position."""

from __future__ import annotations

import pytest
from pyproj import CRS, Proj

from app.formats import crs_search
from app.formats.crs_search import (
    NATIONAL,
    bounds_in_degrees,
    find_systems,
    nearest_systems,
    usual_systems,
)
from app.geometry.countries import has_world

TYROL = [(10.0, 47.0)]


def test_a_system_is_found_by_its_words() -> None:
    for text, code in (
        ("stereo70", "EPSG:3844"),
        ("Stereo 70", "EPSG:3844"),
        ("romania stereo70", "EPSG:3844"),
        ("25832", "EPSG:25832"),
        ("epsg:2056", "EPSG:2056"),
        ("Portugal - mainland tm06", "EPSG:3763"),
        ("utm 34", "EPSG:25834"),
        ("utm 18", "EPSG:26918"),
    ):
        assert find_systems(text, (), 3)[0].code == code, text


def test_systems_of_known_places_come_first() -> None:
    first = find_systems("utm zone", TYROL, 5)
    assert "EPSG:25832" in [system.code for system in first]
    assert all("zone 32" in system.name for system in first)


def test_nothing_is_found_by_other_words() -> None:
    for text in ("", "  ", "nowhere at all"):
        assert find_systems(text, TYROL, 5) == [], text


def test_the_system_that_leads_to_known_places_is_the_first() -> None:
    for position, near, code in (
        ((500_000, 5_200_000), [(9.0, 46.9)], "EPSG:25832"),
        ((310_000, 420_000), [(22.6, 45.3)], "EPSG:3844"),
        ((500_000, 4_900_000), [(-123.0, 44.2)], "EPSG:26910"),
        ((2_700_000, 1_200_000), [(8.8, 46.9)], "EPSG:2056"),
    ):
        assert nearest_systems(position, near, 5)[0].code == code, position


def test_of_places_all_over_the_world_few_systems_are_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = []
    monkeypatch.setattr(crs_search, "Proj", lambda code: tried.append(code) or Proj(code))
    everywhere = [(22.9, 46.4), (25.0, 68.0), (-150.0, 65.0), (130.0, -20.0)]
    assert nearest_systems((552_409, 343_874), everywhere, 1)[0].code == "EPSG:3844"
    assert len(tried) < 1_000


def test_no_system_leads_there() -> None:
    assert nearest_systems((5e5, 52e5), [(-60.0, -10.0)], 5) == []
    assert nearest_systems((5e5, 52e5), [], 5) == []


def test_the_place_of_a_box_is_told() -> None:
    for code, box, bounds in (
        ("EPSG:25832", (5e5, 52e5, 6e5, 53e5), (9.0, 46.95, 10.36, 47.85)),
        ("EPSG:32601", (2e5, 0, 3e5, 1e5), (-179.7, 0.0, -178.8, 0.9)),
        ("EPSG:32660", (7e5, 0, 9e5, 1e5), (178.8, 0.0, -179.4, 0.9)),
    ):
        assert bounds_in_degrees(code, box) == pytest.approx(bounds, abs=0.06), code


def test_a_box_that_is_nowhere_has_no_place() -> None:
    assert bounds_in_degrees("EPSG:25832", (1e30, 0, 1e30, 1)) is None
    assert bounds_in_degrees("EPSG:27200", (-8e6, -4e6, 12e6, 16e6)) is None


@pytest.mark.skipif(not has_world(), reason="the countries are not installed")
def test_systems_that_put_a_position_into_the_country_are_the_first() -> None:
    """Near Brasov, in Stereo 70; in UTM it would be south of the Sahara."""
    assert find_systems("romania", (), 5, (516759.4, 450049.6))[0].code == "EPSG:3844"
    assert find_systems("germany", (), 5, (500_000, 5_400_000))[0].code == "EPSG:25832"


@pytest.mark.skipif(not has_world(), reason="the countries are not installed")
def test_usual_systems_put_a_position_on_land(subtests: pytest.Subtests) -> None:
    for name, position, codes in (
        ("Lambert-93", (405_000, 6_530_000), ["EPSG:2154", "EPSG:3006"]),
        ("Switzerland", (2_600_000, 1_200_000), ["EPSG:2056"]),
        ("the web", (-13_795_987, 5_787_846), ["EPSG:3857"]),
        ("Great Britain", (530_000, 180_000), ["EPSG:27700"]),
        ("no numbers of any", (5e8, 5e8), []),
    ):
        with subtests.test(name):
            found = [system.code for system in usual_systems(position)]
            assert found[: len(codes)] == codes
            assert bool(found) == bool(codes)
    for numbers in NATIONAL.values():
        for number in numbers:
            assert CRS.from_epsg(number).area_of_use, number


@pytest.mark.skipif(not has_world(), reason="the countries are not installed")
def test_zones_of_utm_are_told_by_countries() -> None:
    found = usual_systems((500_000, 5_200_000))
    zones = {zone.code: zone.area for zone in found if "UTM zone" in zone.name}
    assert {"EPSG:32631": "France", "EPSG:32632": "Switzerland"}.items() <= zones.items()
    assert zones["EPSG:32759"] == "New Zealand"  # south of the equator
    assert "EPSG:32625" not in zones  # in the Atlantic
    assert [*zones.values()] == sorted(zones.values())


def test_a_system_is_suggested_once() -> None:
    codes = [system.code for system in find_systems("UTM 32N", (), 10)]
    assert len(codes) == len({*codes}) == 10
