"""Other coordinate systems, against PROJ."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyproj import Transformer

from app.geometry.shapes import CRS84, SYSTEMS, from_degrees, to_degrees
from app.geometry.shapes.crs import EPSG_3857, EPSG_4326
from tests.make import multi_square, point, square

PROJ = Transformer.from_crs("OGC:CRS84", "EPSG:3857", always_xy=True)


@given(st.floats(-180, 180), st.floats(-85, 85))
def test_web_mercator_agrees_with_proj(longitude: float, latitude: float) -> None:
    moved = json.loads(from_degrees(json.dumps(point(longitude, latitude)), EPSG_3857))
    assert moved["coordinates"] == pytest.approx(PROJ.transform(longitude, latitude), abs=1e-3)
    back = to_degrees(moved, EPSG_3857)
    assert back["coordinates"] == pytest.approx([longitude, latitude], abs=1e-8)


def test_each_kind_of_geometry_goes_there_and_back() -> None:
    cases: list[Any] = [point(), square(), multi_square((1, 2), (3, 4))]
    for geometry in cases:
        for crs in SYSTEMS:
            text = from_degrees(json.dumps(geometry), crs)
            assert (json.loads(text) != geometry) == (crs is not CRS84)
            assert to_degrees(json.loads(text), crs) == geometry


def test_what_is_no_geometry_stays_as_it_is() -> None:
    for value in (
        None,
        5,
        {},
        {"coordinates": 5},
        {"coordinates": []},
        {"coordinates": [[[["x"]]]]},
    ):
        assert to_degrees(value, EPSG_4326) == value, value
