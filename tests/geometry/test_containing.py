"""Whether a position is within a boundary."""

from __future__ import annotations

import json

import pytest

from app.geometry import contains, stored_rings
from tests.make import multi_square, square

HOLE = {
    "type": "Polygon",
    "coordinates": [*square(10, 50, 1)["coordinates"], *square(10.4, 50.4, 0.2)["coordinates"]],
}
ACROSS = {
    "type": "Polygon",
    "coordinates": [[[179, 0], [-179, 0], [-179, 1], [179, 1], [179, 0]]],
}


@pytest.mark.parametrize(
    ("boundary", "longitude", "latitude", "is_within"),
    [
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
    ],
)
def test_positions(boundary: object, longitude: float, latitude: float, is_within: bool) -> None:
    assert contains(stored_rings(json.dumps(boundary)), longitude, latitude) is is_within
