"""Shapes of shapefiles: their kinds, rings and parts, and what is wrong with them."""

from __future__ import annotations

import io
import random
import struct
from typing import Any

import pytest

from app.formats.readers.shp import Shapes
from app.geometry import GeometryInvalid, read_boundary
from app.policy.files import GEOMETRY_BYTES
from app.policy.request_limits import GEOMETRY_POSITIONS
from tests.formats.readers.shapefiles import (
    NULL,
    SQUARE,
    Ring,
    hole,
    moved,
    multipoint,
    parts,
    point,
    shp,
)

LARGE, LAKE, ISLAND, POND = (
    moved(SQUARE, by, scale) for by, scale in [(0, 9), (9, 7), (18, 5), (27, 3)]
)


def shape(content: bytes) -> Any:
    return Shapes(io.BytesIO(shp(content)), None, "forest.shp").read_shape(0)


def problem(content: bytes) -> tuple[str, str]:
    with pytest.raises(GeometryInvalid) as error:
        shape(content)
    first = error.value.problems[0]
    return first.code, first.message


def listed(*rings: Ring) -> list[list[list[float]]]:
    return [[list(position) for position in ring] for ring in rings]


def test_kinds() -> None:
    for content, geometry in (
        (point(1, 2), {"type": "Point", "coordinates": [1, 2]}),
        (point(1, 2, 3), {"type": "Point", "coordinates": [1, 2]}),
        (point(1, 2, 3, 4), {"type": "Point", "coordinates": [1, 2]}),
        (multipoint((1, 2), (3, 4)), {"type": "MultiPoint", "coordinates": [[1, 2], [3, 4]]}),
        (multipoint(), None),
        (parts(SQUARE, kind=3), {"type": "LineString", "coordinates": listed(SQUARE)[0]}),
        (
            parts(SQUARE, SQUARE, kind=13),
            {"type": "MultiLineString", "coordinates": listed(SQUARE, SQUARE)},
        ),
        (parts(SQUARE), {"type": "Polygon", "coordinates": listed(SQUARE)}),
        (parts(SQUARE, kind=15), {"type": "Polygon", "coordinates": listed(SQUARE)}),
        (parts(SQUARE, []), {"type": "Polygon", "coordinates": listed(SQUARE)}),
        (
            parts(SQUARE, SQUARE[:2]),
            {"type": "MultiPolygon", "coordinates": [listed(SQUARE), listed(SQUARE[:2])]},
        ),
        (parts(), None),
        (NULL, None),
    ):
        assert shape(content) == geometry, content


def test_holes_are_with_their_exterior_rings_in_any_order() -> None:
    other = moved(SQUARE, -60)
    rings = [hole(POND), other, ISLAND, hole(LAKE), LARGE, hole(moved(SQUARE, -58, 0.5))]
    found = shape(parts(*rings))
    assert found["type"] == "MultiPolygon"
    assert found["coordinates"] == [
        listed(other, rings[-1]),
        listed(ISLAND, hole(POND)),
        listed(LARGE, hole(LAKE)),
    ]
    read_boundary(found)


def test_an_island_that_fills_its_lake() -> None:
    found = shape(parts(LARGE, hole(LAKE), LAKE))
    assert found["coordinates"] == [listed(LARGE, hole(LAKE)), listed(LAKE)]


def test_holes_of_the_only_exterior_ring_are_not_looked_at() -> None:
    outside = hole(moved(SQUARE, 200))
    assert shape(parts(SQUARE, outside))["coordinates"] == listed(SQUARE, outside)


def test_a_hole_without_an_exterior_ring() -> None:
    far = moved(SQUARE, 400)
    code, message = problem(parts(SQUARE, hole(moved(SQUARE, 200)), far))
    assert code == "hole_outside"
    assert message.startswith("Ring 1 is wound as a hole, and lies in no exterior ring.")


def test_rings_that_are_all_wound_as_holes() -> None:
    far = moved(SQUARE, 200)
    shapes = Shapes(io.BytesIO(shp(parts(hole(SQUARE), hole(far)), parts(SQUARE))), None, "x")
    found = shapes.read_shape(0)
    assert found == {
        "type": "MultiPolygon",
        "coordinates": [listed(hole(SQUARE)), listed(hole(far))],
    }
    assert shapes.notes == {
        "Polygons of which all rings are wound as holes were read as exterior rings."
    }
    assert shape(parts(hole(SQUARE)))["type"] == "Polygon"


def test_too_many_rings_around_each_other() -> None:
    rings = [moved(SQUARE, n / 400, 1 - n / 2000) for n in range(1000)]
    many = [ring for one in rings for ring in (one, hole(moved(one, 0.0001, 0.9999)))]
    assert problem(parts(*many))[0] == "too_complex"
    assert len(shape(parts(*many[:300]))["coordinates"]) == 150


def test_shapes_that_are_damaged() -> None:
    for content, code in (
        (struct.pack("<i", 31), "wrong_type"),
        (struct.pack("<i", 7), "wrong_type"),
        (struct.pack("<i", -5), "wrong_type"),
        (struct.pack("<i", 10), "wrong_type"),
        (struct.pack("<i", 35), "wrong_type"),
        (point(1, 2)[:-2], "unreadable"),
        (parts(SQUARE)[:-2], "unreadable"),
        (parts(SQUARE)[:40], "unreadable"),
        (struct.pack("<i4d2i", 5, 0, 0, 0, 0, 1, -1), "unreadable"),
        (struct.pack("<i4d2i", 5, 0, 0, 0, 0, -1, 1), "unreadable"),
        (struct.pack("<i4d2i", 5, 0, 0, 0, 0, 2**31 - 1, 1), "too_many_positions"),
        (struct.pack("<i4d3i", 5, 0, 0, 0, 0, 1, 2**31 - 1, 0), "too_many_positions"),
        (struct.pack("<i4di", 8, 0, 0, 0, 0, -1), "unreadable"),
        (struct.pack("<i4d4i32x", 5, 0, 0, 0, 0, 2, 2, 0, 3), "unreadable"),
        (struct.pack("<i4d5i32x", 5, 0, 0, 0, 0, 3, 2, 0, 2, 1), "unreadable"),
        (struct.pack("<i4d3i32x", 5, 0, 0, 0, 0, 1, 2, 1), "unreadable"),
        (point(float("nan"), 0), "not_a_number"),
        (parts([(0, 0), (float("inf"), 1), (0, 0)]), "not_a_number"),
        (multipoint(*[(0, 0)] * (GEOMETRY_POSITIONS + 1)), "too_many_positions"),
        (bytes(GEOMETRY_BYTES + 2), "too_many_positions"),
    ):
        assert problem(content)[0] == code, content


def test_records_are_numbered_from_1_or_0() -> None:
    for first in (0, 1):
        index = io.BytesIO(b"\0\0\x27\x0a" + bytes(96) + struct.pack(">4i", 50, 10, 64, 10))
        content = io.BytesIO(shp(point(1, 1), point(2, 2), first=first))
        shapes = Shapes(content, index, "x")
        assert (len(shapes), shapes.is_index_wrong) == (2, False), first


@pytest.mark.slow
def test_damaged_bytes() -> None:
    """No file makes it do anything but read shapes, or say that it cannot."""
    good = shp(
        parts(LARGE, hole(LAKE), ISLAND, kind=15), multipoint((1, 2)), parts(SQUARE, kind=23)
    )
    chosen = random.Random(11)
    outcomes = set()
    for _ in range(1000):
        damaged = bytearray(good)
        for _ in range(chosen.randint(1, 6)):
            damaged[chosen.randrange(100, len(good))] = chosen.choice((0, 1, 5, 127, 128, 255))
        try:
            shapes = Shapes(io.BytesIO(damaged), None, "x")
            outcomes |= {bool(shapes.read_shape(n)) for n in range(len(shapes))}
        except ValueError as error:
            outcomes.add(type(error).__name__)
    assert outcomes == {True, False, "FileInvalid", "GeometryInvalid"}
