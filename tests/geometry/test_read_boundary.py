"""Boundaries that are accepted: what is kept, what is turned, what is computed."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from app.geometry import Boundary, Bounds, GeometryInvalid, read_boundary

Ring = list[list[float]]


def box(west: float, south: float, east: float, north: float) -> Ring:
    """A ring along the axes, counter-clockwise."""
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def polygon(*rings: Ring, **members: Any) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings), **members}


def sent_back(boundary: Boundary) -> Any:
    return json.loads(boundary.text)["coordinates"]


def test_polygon() -> None:
    boundary = read_boundary(polygon(box(8, 48, 8.5, 48.5)))
    assert boundary.type == "Polygon"
    assert boundary.positions == 5
    assert boundary.bounds == Bounds(8, 48, 8.5, 48.5)
    assert boundary.text == (
        '{"type":"Polygon","coordinates":[[[8,48],[8.5,48],[8.5,48.5],[8,48.5],[8,48]]]}'
    )


def test_multipolygon_with_holes() -> None:
    parts = [
        [box(0, 0, 3, 3), box(1, 1, 2, 2)[::-1]],
        [box(4, 0, 5, 1)],
        [box(1.25, 1.25, 1.75, 1.75)],
    ]
    boundary = read_boundary({"type": "MultiPolygon", "coordinates": parts})
    assert (boundary.type, boundary.positions) == ("MultiPolygon", 20)
    assert sent_back(boundary) == parts


def test_numbers_come_back_as_sent() -> None:
    ring = "[[8,48],[8.1234567890123456,48.0],[8.000000000000002,4.85e1,-7],[8,48]]"
    sent = json.loads(f'{{"type":"Polygon","coordinates":[{ring}]}}')
    boundary = read_boundary(sent)
    assert boundary.text == (
        '{"type":"Polygon","coordinates":'
        "[[[8,48],[8.123456789012346,48.0],[8.000000000000002,48.5,-7],[8,48]]]}"
    )


def test_third_ordinates_are_kept_and_not_used() -> None:
    flat = box(8, 48, 9, 49)
    high = [[*position, index % 4 * 1000.5] for index, position in enumerate(flat)]
    boundary = read_boundary(polygon(high))
    assert sent_back(boundary) == [high]
    assert boundary.area_m2 == read_boundary(polygon(flat)).area_m2


def test_rings_are_wound_by_the_right_hand_rule_and_keep_their_start() -> None:
    exterior, hole = box(0, 0, 3, 3), box(1, 1, 2, 2)
    expected = [exterior, hole[::-1]]
    for sent in ([exterior, hole], [exterior[::-1], hole], [exterior[::-1], hole[::-1]]):
        assert sent_back(read_boundary(polygon(*sent))) == expected


def test_what_was_read_can_be_sent_again() -> None:
    boundary = read_boundary(polygon(box(0, 0, 3, 3)[::-1], box(1, 1, 2, 2)))
    assert read_boundary(json.loads(boundary.text)) == boundary


def test_crs_of_wgs84_is_taken_and_not_kept() -> None:
    for crs in (
        "EPSG:4326",
        "OGC:CRS84",
        {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}},
        {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::4326"}},
        {"type": "name", "properties": {"name": "epsg:4326"}},
    ):
        boundary = read_boundary(polygon(box(0, 0, 1, 1), crs=crs, bbox="ignored"))
        assert json.loads(boundary.text).keys() == {"type", "coordinates"}, crs


def test_touching_at_single_points_is_valid() -> None:
    diamond: Ring = [[0, 2], [1, 3], [2, 2], [1, 1], [0, 2]]
    read_boundary(polygon(box(0, 0, 4, 4), diamond))
    read_boundary({"type": "MultiPolygon", "coordinates": [[box(0, 0, 1, 1)], [box(1, 1, 2, 2)]]})


def test_repeated_positions_are_valid() -> None:
    ring: Ring = [[0, 0], [0, 0], [1, 0], [1, 0], [1, 1], [0, 0], [0, 0]]
    assert read_boundary(polygon(ring)).positions == 7


def test_ring_may_touch_the_antimeridian_and_the_poles() -> None:
    ring: Ring = [[90, 80], [180, 80], [180, 90], [90, 90], [90, 80]]
    assert read_boundary(polygon(ring)).bounds == Bounds(90, 80, 180, 90)


def circle(positions: int) -> Ring:
    turns = [2 * math.pi * k / (positions - 1) for k in range(positions - 1)]
    ring = [[10 + math.cos(turn), 50 + math.sin(turn)] for turn in turns]
    return [*ring, ring[0]]


@pytest.mark.slow
def test_100_000_positions() -> None:
    boundary = read_boundary(polygon(circle(100_000)))
    assert boundary.positions == 100_000
    # π square degrees around 50° north, each about 111.2 km by 71.7 km.
    assert boundary.area_m2 == pytest.approx(math.pi * 111_230 * 71_700, rel=0.005)


def test_limit_of_positions_counts_all_rings() -> None:
    sent = polygon(box(0, 0, 3, 3), box(1, 1, 2, 2))
    assert read_boundary(sent, max_positions=10).positions == 10
    with pytest.raises(GeometryInvalid) as refused:
        read_boundary(sent, max_positions=9)
    assert [problem.code for problem in refused.value.problems] == ["too_many_positions"]


def test_a_longitude_that_clipping_left_beyond_180_is_180() -> None:
    for sign in (1, -1):
        east = sign * 180.0000000000001705
        assert abs(east) > 180, sign
        ring = [[sign * 179.9, -17], [east, -17], [east, -16.9, 3], [sign * 179.9, -16.9]]
        found = read_boundary({"type": "Polygon", "coordinates": [[*ring, ring[0]]]})
        assert found.bounds in ((179.9, -17, 180, -16.9), (-180, -17, -179.9, -16.9)), sign
        assert f"[{sign * 180.0},-16.9,3]" in found.text, sign


def test_a_latitude_that_rounding_left_beyond_90_is_90() -> None:
    for sign in (1, -1):
        pole = sign * 90.00000000000003
        assert abs(pole) > 90, sign
        ring = [[10, sign * 80], [11, sign * 80], [11, pole, 5], [10, pole], [10, sign * 80]]
        found = read_boundary({"type": "Polygon", "coordinates": [ring]})
        assert f"[11,{sign * 90.0},5]" in found.text, sign


def test_what_a_longitude_beyond_180_is() -> None:
    for longitude, told in (
        (180.00000001, "longitude 180.00000001 is not within -180 to 180. It is -179.99999999:"),
        (180.1, "longitude 180.1 is not within -180 to 180. It is -179.9: split the boundary at"),
        (-181, "longitude -181 is not within -180 to 180. It is 179: split"),
        (5e5, "longitude 500000 is not within -180 to 180. Send degrees in WGS84."),
    ):
        ring = [[179.9, -17], [longitude, -17], [179.95, -16.9], [179.9, -17]]
        with pytest.raises(GeometryInvalid) as refused:
            read_boundary({"type": "Polygon", "coordinates": [ring]})
        assert told in refused.value.problems[0].message, longitude
