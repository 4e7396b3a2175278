"""Geometries that no project can have."""

from __future__ import annotations

from typing import Any

from tests.api.corpus.case import JSON, PROJECT, PROJECTS, Bad
from tests.make import square
from tests.make.geometry import square_ring

RING = square_ring(10, 50, 1)
HOLE = square_ring(10.2, 50.2, 0.2)
COORDINATES = "geometry.coordinates"


def _whole(what: str, fields: str, geometry: Any) -> Bad:
    return Bad(what, "POST", PROJECTS, 422, fields, {"name": "A", "geometry": geometry})


def _polygon(what: str, *rings: Any) -> Bad:
    return _whole(what, COORDINATES, {"type": "Polygon", "coordinates": list(rings)})


def _parts(what: str, *parts: Any) -> Bad:
    return _whole(what, COORDINATES, {"type": "MultiPolygon", "coordinates": list(parts)})


def _ring_text(what: str, number: str, status: int, field: str) -> Bad:
    """A ring whose first longitude is written in this way."""
    ring = f"[[{number},0],[1,0],[1,1],[{number},0]]"
    text = f'{{"name":"A","geometry":{{"type":"Polygon","coordinates":[{ring}]}}}}'
    return Bad(what, "POST", PROJECTS, status, field, text.encode(), JSON)


def _other(kind: str, coordinates: Any) -> Bad:
    return _whole(f"a {kind}", "geometry.type", {"type": kind, "coordinates": coordinates})


CASES = [
    _whole("a string", "geometry", "POLYGON"),
    _whole("an array", "geometry", [RING]),
    _whole("an empty object", "geometry.type", {}),
    _whole("no coordinates", COORDINATES, {"type": "Polygon"}),
    _whole("no type", "geometry.type", {"coordinates": [RING]}),
    _other("Point", [1, 2]),
    _other("LineString", RING),
    _whole("a GeometryCollection", "geometry.type", {
        "type": "GeometryCollection", "geometries": [square()],
    }),
    _whole("a Feature", "geometry.type", {
        "type": "Feature", "properties": {}, "geometry": square(),
    }),
    _whole("a FeatureCollection", "geometry.type", {"type": "FeatureCollection", "features": []}),
    _whole("coordinates null", COORDINATES, {"type": "Polygon", "coordinates": None}),
    _whole("another crs", "geometry.crs", square() | {
        "crs": {"type": "name", "properties": {"name": "EPSG:25832"}},
    }),
    _polygon("no ring"),
    _polygon("an empty ring", []),
    _polygon("a ring that is null", None),
    _polygon("three positions", [RING[0], RING[1], RING[0]]),
    _polygon("a ring that is not closed", RING[:-1]),
    _polygon("a position that is null", [RING[0], None, *RING[2:]]),
    _polygon("a position of four numbers", [RING[0], [11, 50, 1, 1], *RING[2:]]),
    _polygon("a position of strings", [RING[0], ["11", "50"], *RING[2:]]),
    _polygon("a longitude past 180", square_ring(180.5, 0, 1)),
    _polygon("a latitude past 90", square_ring(0, 90.5, 1)),
    _polygon("latitude and longitude swapped", [[50, 110], [50, 111], [51, 111], [50, 110]]),
    _polygon("a bow-tie", [[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]),
    _polygon("a spike", [[0, 0], [1, 0], [2, 0], [1, 0], [1, 1], [0, 0]]),
    _polygon("a hole outside", RING, square_ring(20, 50, 0.2)),
    _polygon("a hole across the edge", RING, square_ring(10.9, 50.2, 0.2)),
    _polygon("holes that overlap", RING, HOLE, square_ring(10.3, 50.3, 0.2)),
    _polygon("a hole in a hole", RING, HOLE, square_ring(10.25, 50.25, 0.05)),
    _polygon("a ring across the antimeridian", [
        [179, 0], [-179, 0], [-179, 1], [179, 1], [179, 0],
    ]),
    _polygon("nested like a MultiPolygon", [RING]),
    _parts("no part"),
    _parts("nested like a Polygon", RING),
    _parts("parts that overlap", [RING], [square_ring(10.5, 50.5, 1)]),
    _parts("a part in a part", [RING], [HOLE]),
    Bad("100,001 positions", "POST", PROJECTS, 422, COORDINATES, (
        b'{"name":"A","geometry":{"type":"Polygon","coordinates":[['
        + b",".join(b"[%d,0]" % (number % 90) for number in range(100_001)) + b"]]}}"
    ), JSON),
    _ring_text("an ordinate of NaN", "NaN", 400, "body"),
    _ring_text("an ordinate past all doubles", "1e999", 400, "body"),
    _ring_text("an ordinate of 18 digits", "1" * 18, 422, COORDINATES),
    Bad("a change to a line", "PUT", PROJECT, 422, "geometry.type", {
        "geometry": {"type": "LineString", "coordinates": RING},
    }),
    Bad("a change to an open ring", "PUT", PROJECT, 422, COORDINATES, {
        "geometry": {"type": "Polygon", "coordinates": [RING[:-1]]},
    }),
]  # fmt: skip
