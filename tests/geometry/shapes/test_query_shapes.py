"""The shapes of queries, and what intersects them."""

from __future__ import annotations

import json

import pytest
import shapely

from app.geometry.shapes import CRS84, ShapeInvalid, query_shapes, read_box, read_shape
from app.geometry.shapes.crs import EPSG_3857, EPSG_4326
from tests.geometry.expensive_shapes import tiny_squares
from tests.make import multi_square, square


def test_a_box_is_read() -> None:
    for numbers, crs, bounds in (
        ([1, 2, 3, 4], CRS84, (1, 2, 3, 4)),
        ([1, 2, -9, 3, 4, 9], CRS84, (1, 2, 3, 4)),
        ([2, 1, 4, 3], EPSG_4326, (1, 2, 3, 4)),
        ([170, 0, -170, 1], CRS84, (170, 0, 190, 1)),
        ([-190, 0, -170, 1], CRS84, (170, 0, 190, 1)),
        ([190, 0, 200, 1], CRS84, (-170, 0, -160, 1)),
        ([170, 0, 190, 1], CRS84, (170, 0, 190, 1)),
        ([-500, -100, 500, 100], CRS84, (-180, -90, 180, 90)),
        ([180, 0, 180, 0], CRS84, (180, 0, 180, 0)),
        ([-1e300, -1e300, 1e300, 1e300], EPSG_3857, (-180, -90, 180, 90)),
    ):
        assert tuple(read_box(numbers, crs).bounds) == pytest.approx(bounds), numbers


def test_what_is_no_box_is_refused() -> None:
    for numbers in (
        [],
        [1, 2, 3],
        [1, 2, 3, 4, 5],
        [1, 4, 3, 2],
        [float("nan"), 1, 2, 3],
    ):
        with pytest.raises(ShapeInvalid):
            read_box(numbers, CRS84)


def test_a_box_across_the_antimeridian_meets_both_sides() -> None:
    box = read_box([170, -10, -170, 10], CRS84)
    texts = [
        json.dumps(each)
        for each in (
            square(171, 0),
            square(-171, 0),
            square(0, 0),
            multi_square((179, 0), (-180, 0)),
        )
    ]
    assert box.intersects(texts) == [True, True, False, True]
    assert box.intersects_points([170, -170, 0], [0, 0, 0]) == [True, True, False]


def test_a_shape_at_the_antimeridian_meets_what_is_behind_it() -> None:
    shape = read_shape("POINT(180 0)", CRS84)
    assert shape.intersects([json.dumps(square(-180, 0)), json.dumps(square(-179, 0))]) == [
        True, False,
    ]  # fmt: skip


def test_a_collection_is_its_parts() -> None:
    inner = "GEOMETRYCOLLECTION(POLYGON((0 0,2 0,2 2,0 0)))"
    shape = read_shape(f"GEOMETRYCOLLECTION(POINT(180 0),POINT EMPTY,{inner})", CRS84)
    assert tuple(shape.bounds) == (0, 0, 180, 2)
    texts = [json.dumps(square(*corner)) for corner in ((-180, 0), (1, 0), (50, 0))]
    assert shape.intersects(texts) == [True, True, False]
    assert shape.intersects_points([-180, 1, 0], [0, 0.5, 2]) == [True, True, False]


def test_parts_that_cross_each_other_get_no_more_edges() -> None:
    line = ",".join(f"{90 * (each % 2)} {37 * each % 90}" for each in range(80))
    shape = read_shape(f"GEOMETRYCOLLECTION(LINESTRING({line}))", CRS84)
    assert shapely.count_coordinates(shape.copies) == 80


def test_comparing_many_edges_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = read_shape(f"LINESTRING({','.join(['-1 -1,9 9'] * 500)})", CRS84)
    texts = [json.dumps(tiny_squares(3_000)), json.dumps(square(4, 4))]
    longitudes, latitudes = zip(*[(5, 5), *[(8, 1)] * 3_000], strict=True)
    assert shape.intersects(texts)[1:] == [True]
    assert shape.intersects_points(longitudes, latitudes) == [True] + [False] * 3_000
    monkeypatch.setattr(query_shapes, "SHAPE_SECONDS", 0.001)
    assert shape.intersects(texts * 60) is None
    assert shape.intersects_points(longitudes * 60, latitudes * 60) is None


NO_SHAPES = [
    "", "CIRCLE(1 2)", "POINT EMPTY", "POINT(nan 1)", "POINT(181 0)", "POINT(0 91)",
    "POLYGON((0 0))", "LINESTRING(0 0)", "{}", "null", '{"type":"Point"}',
    "POLYGON((0 0,1 1,1 0,0 1,0 0))", "CIRCULARSTRING(0 0,1 1,2 0)",
]  # fmt: skip


def test_what_is_no_shape_is_refused() -> None:
    for text in NO_SHAPES:
        with pytest.raises(ShapeInvalid):
            read_shape(text, CRS84)


def test_a_shape_can_be_in_another_system() -> None:
    assert read_shape("POINT(2 1)", EPSG_4326).bounds[:2] == (1, 2)
    assert read_shape("POINT(111319.49 222684.21)", EPSG_3857).bounds[:2] == pytest.approx(
        (1, 2), abs=1e-6
    )
