"""Boundaries that cross the antimeridian, as they are split there."""

from __future__ import annotations

from typing import Any

import pytest

from app.geometry import Bounds, read_boundary
from app.geometry.antimeridian import split_at_antimeridian


def polygon(*rings: list[Any]) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings)}


def box(west: float, south: float, east: float, north: float) -> list[Any]:
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


SQUARE = box(179.9, 10, -179.9, 10.2)


def test_a_square_becomes_two() -> None:
    assert split_at_antimeridian(polygon(SQUARE)) == {
        "type": "MultiPolygon",
        "coordinates": [
            [[[179.9, 10], [180, 10], [180, 10.2], [179.9, 10.2], [179.9, 10]]],
            [[[-179.9, 10.2], [-180, 10.2], [-180, 10], [-179.9, 10], [-179.9, 10.2]]],
        ],
    }


def test_it_has_the_area_and_the_box_of_what_was_meant() -> None:
    made = read_boundary(split_at_antimeridian(polygon(SQUARE)))
    assert made.area_m2 == pytest.approx(read_boundary(polygon(box(9.9, 10, 10.1, 10.2))).area_m2)
    assert made.bounds == Bounds(179.9, 10, 180.1, 10.2)


def test_numbers_stay_as_they_were_sent() -> None:
    ring = [[-179.1, 10.123], [179.3, 10.1], [179.3, 11.7], [-179.1, 11.7], [-179.1, 10.123]]
    made = split_at_antimeridian(polygon(ring))
    assert made is not None
    positions = [position for [part] in made["coordinates"] for position in part]
    assert all(position in positions for position in ring)


def test_holes_stay_in_their_part_or_are_split_too() -> None:
    east, west = box(179.91, 10.05, 179.95, 10.1), box(-179.95, 10.05, -179.91, 10.1)
    across = box(179.98, 10.12, -179.98, 10.18)
    made = split_at_antimeridian(polygon(SQUARE, east, west, across))
    assert made is not None
    assert [len(part) for part in made["coordinates"]] == [2, 2]
    solid, holed = read_boundary(split_at_antimeridian(polygon(SQUARE))), read_boundary(made)
    share = (2 * 0.04 * 0.05 + 0.04 * 0.06) / (0.2 * 0.2)
    assert holed.area_m2 == pytest.approx(solid.area_m2 * (1 - share), rel=1e-4)


def test_other_parts_stay() -> None:
    others = {"type": "MultiPolygon", "coordinates": [[SQUARE], [box(20, 10, 21, 11)]]}
    made = split_at_antimeridian(others)
    assert made is not None
    assert len(made["coordinates"]) == 3
    assert read_boundary(made).bounds == Bounds(20, 10, 180.1, 11)


def test_heights_are_left_out() -> None:
    ring = [[*position, 7] for position in SQUARE]
    assert split_at_antimeridian(polygon(ring)) == split_at_antimeridian(polygon(SQUARE))


def test_what_cannot_be_meant_is_not_split() -> None:
    for ring in (
        [[-120, 70], [0, 70], [120, 70], [-120, 70]],  # around the pole
        [[179.9, 10], [-179.9, 10.2], [-179.9, 10], [179.9, 10.2], [179.9, 10]],  # a bow tie
    ):
        assert split_at_antimeridian(polygon(ring)) is None, ring
