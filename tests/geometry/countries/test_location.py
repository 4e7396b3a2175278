"""The country of a boundary."""

from __future__ import annotations

from typing import Any

from app.geometry import read_boundary
from app.geometry.countries import country_of_box
from app.geometry.countries.location import Country, country_of_shape
from app.geometry.polygons import build_polygons
from tests.make.geometry import multi_square, square


def country(geometry: dict[str, Any]) -> Country:
    return read_boundary(geometry).country


def test_a_small_area() -> None:
    """Natural Earth has French Guiana in France."""
    for code, lon, lat in (
        ("DE", 10, 50),
        ("FR", 2.5, 47),
        ("NO", 10, 61),
        ("US", -122.6, 43.6),
        ("BR", -60, -5),
        ("ID", 113, -1),
        ("CD", 23, -2),
        ("CG", 15, 0),
        ("KE", 37, 1),
        ("NZ", 175.5, -38.5),
        ("FR", -53, 4),
        ("CY", 33.5, 35.28),
        ("SO", 45, 9.5),
        ("XK", 20.9, 42.6),
        ("FJ", 177.9, -17.8),
        ("FJ", -179.97, -16.8),
        ("RU", -179.5, 71.2),
        ("RU", 179.9, 71.2),
        ("AQ", 0, -80),
        ("CA", -62, 82.5),
        (None, -30, 0),
        (None, 0, 89.9),
        (None, -140, -40),
    ):
        assert country(square(lon, lat, 0.01)) == code, code


def test_most_of_an_area_decides() -> None:
    """Across the Rhine at 48.3° N, which is at some 7.72° E."""
    cases: list[tuple[float, str]] = [(7.0, "FR"), (7.3, "FR"), (7.9, "DE"), (8.2, "DE")]
    for west, code in cases:
        assert country(square(west, 48.2, 0.4)) == code, west


def test_of_several_parts_the_largest_share_decides() -> None:
    parts = multi_square((10, 50), (10.2, 50), (2.5, 47))
    assert country(parts) == "DE"
    parts["coordinates"].append(square(2, 46.5, 0.3)["coordinates"])
    assert country(parts) == "FR"


def test_in_the_sea_the_nearest_country_within_25_km_counts() -> None:
    """West of Portugal, whose coast is at some 8.85° W at 40.5° N; a degree is 85 km there."""
    assert country(square(-9.0, 40.5, 0.01)) == "PT"
    assert country(square(-9.1, 40.5, 0.01)) == "PT"
    assert country(square(-9.3, 40.5, 0.01)) is None


def test_across_the_antimeridian() -> None:
    """Viti Levu and Vanua Levu lie on both sides."""
    both = multi_square((179.6, -17), (-180, -17), size=0.4)
    assert country(both) == "FJ"


def test_a_box_decides_where_it_can_and_as_the_shape_does() -> None:
    decided = 0
    for lat in range(-55, 75, 5):
        for lon in range(-180, 180, 11):
            boundary = read_boundary(square(lon, lat, 0.05))
            found = country_of_box(boundary.bounds)
            if found is not False:
                decided += 1
                polygons = build_polygons(boundary.rings)
                assert country_of_shape(polygons) == found, (lon, lat)
    assert decided > 150, "of 858, most of them in the sea"
