"""Whether a place is likely beside an account's projects."""

from __future__ import annotations

from typing import Any, Final

import pytest

from app.geometry import Bounds, middle_of, read_boundary
from app.geometry.countries import has_world
from app.policy.countries import UNEXPECTED_KM
from app.projects import places
from app.projects.places import degrees_from, is_likelier_swapped, is_unexpected, project_places
from tests.make import Client, make_project
from tests.make.geometry import square

ALPS: Final = [(10.0, 47.0)]
CARPATHIANS: Final = [(22.9, 46.4), (25.2, 45.6)]
FIJI: Final = [(179.9, -17.0)]
BORDER: Final = [(7.60, 47.70)]  # in Germany, 7 km from Switzerland

pytestmark = pytest.mark.skipif(not has_world(), reason="the countries are not installed")


def test_what_is_asked_about(subtests: pytest.Subtests) -> None:
    for name, near, place, country, unexpected, swapped in (
        ("swapped", CARPATHIANS, (46.6, 23.9), "SA", True, True),
        ("swapped, in another region", CARPATHIANS[:1], (47.0, 27.0), "SA", True, True),
        ("at home", CARPATHIANS, (23.9, 46.6), "RO", False, False),
        ("abroad", CARPATHIANS, (19.0, 47.0), "HU", True, False),
        ("abroad, beyond a coarse border", BORDER, (7.61, 47.64), "CH", False, False),
        ("in no country", ALPS, (-30.0, 0.0), None, True, False),
        ("the first project", [], (46.6, 23.9), "SA", False, False),
        ("the first project, in the sea", [], (-30.0, -40.0), None, False, False),
        ("the first project, on land swapped", [], (52.0, -60.0), None, False, True),
        ("at home, too far", [(-122.0, 45.0)], (-80.0, 35.0), "US", True, False),
        ("at home, far, beside others swapped", [(28.0, 62.0)], (62.0, 28.0), "RU", True, True),
        ("across the antimeridian", FIJI, (-179.9, -17.0), "FJ", False, False),
        ("unknown, near", CARPATHIANS, (23.9, 46.6), False, False, False),
        ("unknown, far", CARPATHIANS, (80.0, 46.6), False, True, False),
        ("at a pole", ALPS, (10.0, -89.9), "AQ", True, False),
    ):
        with subtests.test(name):
            assert is_unexpected(near, place, country) is unexpected
            box = Bounds(*place, *place)
            assert is_likelier_swapped(near, place, country, box) is swapped


def test_longitudes_beyond_a_right_angle_are_not_swapped() -> None:
    """In the Indian Ocean, and swapped on Ellesmere Island."""
    for east, swapped in ((89.9, True), (90.1, False)):
        box = Bounds(82.4, -62, east, -62)
        assert is_likelier_swapped([], (82.5, -62.0), None, box) is swapped


def test_kilometers_decide(subtests: pytest.Subtests) -> None:
    degrees = UNEXPECTED_KM / 111.32
    for factor, unexpected in ((0.99, False), (1.01, True)):
        with subtests.test(factor):
            place = (20.0 + degrees * factor, 0.0)
            assert is_unexpected([(20.0, 0.0)], place, False) is unexpected
    assert degrees_from(FIJI, -179.9, -17.0) == pytest.approx(0.2)


def test_where_there_are_more_projects_those_beside_count(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "NEWEST", 1)
    make_project(client, geometry=square(23.0, 46.0, 0.2))
    make_project(client, geometry=square(10.0, 50.0, 0.2))
    with client.app.app_context():
        assert project_places(client.account_id) == [pytest.approx((10.1, 50.1))]
        for beside, more in ((Bounds(23.5, 46, 24, 47), [(23.1, 46.1)]), (Bounds(1, 1, 2, 2), [])):
            expected = [(10.1, 50.1), *more]
            found = project_places(client.account_id, beside)
            assert found == list(map(pytest.approx, expected))


def multi(parts: list[Any]) -> dict[str, Any]:
    return {"type": "MultiPolygon", "coordinates": parts}


def test_the_middle_of_a_boundary(subtests: pytest.Subtests) -> None:
    hole = square(10.1, 50.1, 0.8)["coordinates"][0][::-1]
    ring = {"type": "Polygon", "coordinates": [*square(10, 50, 1)["coordinates"], hole]}
    parts = [square(20, 50, 1)["coordinates"], square(10, 50, 0.1)["coordinates"]]
    antimeridian = [square(179.9, -17)["coordinates"], square(-180, -17, 0.2)["coordinates"]]
    for name, geometry, (west, south, east, north) in (
        ("of the box", square(10, 50, 0.2), (10.1, 50.1, 10.1, 50.1)),
        ("beside a hole", ring, (10, 50, 10.1, 51)),
        ("of the largest part", multi(parts), (20, 50, 21, 51)),
        ("at the antimeridian", multi(antimeridian), (-179.95, -16.9, -179.95, -16.9)),
        ("at a pole", square(10, -90, 0.2), (10, -90, 10.2, -89.8)),
    ):
        with subtests.test(name):
            longitude, latitude = middle_of(read_boundary(geometry).rings)
            assert west - 1e-9 <= longitude <= east + 1e-9
            assert south - 1e-9 <= latitude <= north + 1e-9
