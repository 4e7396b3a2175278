"""Well-known text, as shapely reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest
import shapely

from app.formats.writers.delimited import write_wkt
from app.values.strict_json import Fragment
from tests.make.geometry import multi_square, point, square


def _written(geometry: Any) -> str:
    return write_wkt(Fragment(json.dumps(geometry)))


@pytest.mark.parametrize("geometry", [square(), multi_square((1, 2), (3, 4)), point(1e-7, -90)])
def test_shapely_reads_the_same(geometry: Any) -> None:
    read = shapely.from_wkt(_written(geometry))
    assert shapely.equals_exact(read, shapely.geometry.shape(geometry), 0)


def test_heights_are_kept() -> None:
    assert _written({"type": "Point", "coordinates": [1, 2, 3.5]}) == "POINT Z (1 2 3.5)"


def test_heights_of_some_positions_are_left_out() -> None:
    ring = [[0, 0, 5], [1, 0], [1, 1], [0, 0, 5]]
    written = _written({"type": "Polygon", "coordinates": [ring]})
    assert written == "POLYGON ((0 0, 1 0, 1 1, 0 0))"
