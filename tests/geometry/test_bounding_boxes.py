"""Boxes of boundaries and of queries, at the antimeridian above all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.geometry import Bounds, read_bbox, read_boundary, tightest_box

Ring = list[list[float]]


def box(west: float, south: float, east: float, north: float) -> Ring:
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def bounds_of(*parts: list[Ring]) -> Bounds:
    return read_boundary({"type": "MultiPolygon", "coordinates": list(parts)}).bounds


def test_polygon() -> None:
    sent = {"type": "Polygon", "coordinates": [box(-10.5, 40, 20, 50.25), box(0, 45, 1, 46)]}
    assert read_boundary(sent).bounds == Bounds(west=-10.5, south=40, east=20, north=50.25)


def test_split_at_the_antimeridian_gives_the_box_across_it() -> None:
    split = bounds_of([box(-180, -20, -170, -10)], [box(170, -20, 180, -10)])
    assert split == Bounds(west=170, south=-20, east=190, north=-10)


def test_parts_near_the_antimeridian_need_not_touch_it() -> None:
    assert bounds_of([box(-179, 0, -178, 1)], [box(160, 2, 161, 3)]) == (160, 0, 182, 3)


def test_largest_of_several_gaps_is_left_out() -> None:
    parts = [[box(west, 0, west + 10, 1)] for west in (-170, -100, 90, 170)]
    assert bounds_of(*parts) == (90, 0, 270, 1)


def test_box_stays_within_the_circle_where_crossing_gains_nothing() -> None:
    assert bounds_of([box(-100, 0, -90, 1)], [box(80, 0, 90, 1)]) == (-100, 0, 90, 1)


def test_full_circle() -> None:
    west: Ring = [[-180, 0], [-90, 0], [0, 0], [0, 9], [-90, 9], [-180, 9], [-180, 0]]
    north_east = [[lon + 180, lat + 20] for lon, lat in west]
    assert bounds_of([west], [north_east]) == (-180, 0, 180, 29)


def test_hole_does_not_count_as_a_part() -> None:
    wide: Ring = [[-170, 0], [-60, 0], [60, 0], [170, 0], [170, 9], [60, 9], [-60, 9], [-170, 9]]
    assert bounds_of([[*wide, wide[0]], box(-1, 1, 1, 2)]) == (-170, 0, 170, 9)


def intervals() -> st.SearchStrategy[list[tuple[int, int]]]:
    one = st.tuples(st.integers(-180, 179), st.integers(1, 170))
    return st.lists(one.map(lambda p: (p[0], min(180, p[0] + p[1]))), min_size=1, max_size=5)


@settings(deadline=None)
@given(intervals())
def test_box_is_the_tightest_around_all_parts(parts: list[tuple[int, int]]) -> None:
    west, _, east, _ = bounds_of(*([box(w, i, e, i + 0.5)] for i, (w, e) in enumerate(parts)))
    needs = [max((w - start) % 360 + e - w for w, e in parts) for start, _ in parts]
    assert east - west == min(360, *needs)
    assert -180 <= west <= 180
    assert all((w - west) % 360 + e - w <= east - west for w, e in parts) or east - west == 360
    assert east - west < 360 or (west, east) == (-180, 180)


def test_the_tightest_box_around_boxes() -> None:
    for sides, expected in (
        ([], None),
        ([(10, 12), (14, 15)], (10, 15)),
        ([(10, 12), (-20, -10)], (-20, 12)),
        ([(170, 175), (-178, -170)], (170, 190)),
        ([(179, 181), (-170, -160)], (179, 200)),
        ([(-179, -178), (170, 195)], (170, 195)),
        ([(-180, 180), (170, 195)], (-180, 180)),
    ):
        box = tightest_box(Bounds(west, 0, east, 1) for west, east in sides)
        assert (box and (box.west, box.east)) == expected, sides


def test_read_bbox() -> None:
    for text, box in (
        ("8,48,9,49", (8, 48, 9, 49)),
        ("-180,-90,180,90", (-180, -90, 180, 90)),
        ("8.5,48,8.5,48", (8.5, 48, 8.5, 48)),
        ("170,-20,-170,-10", (170, -20, 190, -10)),
        ("180,0,-180,1", (180, 0, 180, 1)),
        ("+1e1,.5,1.1E+1,1.", (10, 0.5, 11, 1)),
    ):
        assert read_bbox(text) == box, text


def test_read_bbox_refuses() -> None:
    for text, told in (
        ("", "four numbers"),
        ("1,2,3", "four numbers"),
        ("1,2,3,4,5,6", "four numbers"),
        ("1,2,3,x", '"x" is not a number'),
        ("1,2,,4", '"" is not a number'),
        (" 1,2,3,4", '" 1" is not a number'),
        ("nan,2,3,4", '"nan" is not a number'),
        ("1,2,inf,4", '"inf" is not a number'),
        ("1_0,2,30,4", '"1_0" is not a number'),
        ("1,2,٣,4", '"٣" is not a number'),
        ("-181,2,3,4", "longitudes"),
        ("1,2,180.1,4", "longitudes"),
        ("1e999,2,3,4", "longitudes"),
        ("1,-91,3,4", "latitudes"),
        ("1,2,3,90.1", "latitudes"),
        ("1,5,3,4", "southern latitude second"),
    ):
        with pytest.raises(ValueError, match=r"\.$") as refused:
            read_bbox(text)
        assert told in str(refused.value), text
