"""Positions within a boundary, and outside it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from app.geometry import contains_point, stored_rings
from tests.make import multi_square, square
from tests.processor_time import takes_at_most

HOLE = {
    "type": "Polygon",
    "coordinates": [*square(10, 50, 1)["coordinates"], *square(10.4, 50.4, 0.2)["coordinates"]],
}
ACROSS = multi_square((179, 0), (-180, 0), size=1)  # both sides of the antimeridian


def test_positions() -> None:
    for boundary, longitude, latitude, is_within in (
        (square(10, 50, 1), 10.5, 50.5, True),
        (square(10, 50, 1), 9.9, 50.5, False),
        (square(10, 50, 1), 10.5, 51.5, False),
        (HOLE, 10.5, 50.5, False),
        (HOLE, 10.2, 50.5, True),
        (multi_square((10, 50), (20, 50)), 20.05, 50.05, True),
        (multi_square((10, 50), (20, 50)), 15, 50.05, False),
        (ACROSS, 179.5, 0.5, True),
        (ACROSS, -179.5, 0.5, True),
        (ACROSS, 0, 0.5, False),
        (ACROSS, -178.5, 0.5, False),
    ):
        assert (
            contains_point(stored_rings(json.dumps(boundary)), longitude, latitude) is is_within
        ), boundary


@pytest.mark.slow
def test_a_boundary_of_many_rings_takes_no_time() -> None:
    corners = [(0.001 * (number % 200), 0.001 * (number // 200)) for number in range(25_000)]
    rings = stored_rings(json.dumps(multi_square(*corners, size=0.0005)))
    assert contains_point(rings, 0.1002, 0.0602)
    assert not contains_point(rings, 0.1007, 0.0602)
    one = replace(rings, starts=[0, len(rings.lon)], part_starts=[0, 1])
    assert takes_at_most(20, lambda: contains_point(rings, 0, 0), lambda: contains_point(one, 0, 0))
