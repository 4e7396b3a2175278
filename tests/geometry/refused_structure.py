"""Boundaries that are refused for their members or their structure."""

from __future__ import annotations

from typing import Any

from tests.geometry.drawing import BOWTIE, INFINITE, NAN, TEN, UNIT, Told, multipolygon, polygon

MEMBERS: dict[str, tuple[Any, list[Told]]] = {
    "null": (None, [Told("not_an_object", field="geometry")]),
    "empty object": ({}, [Told("missing_member", field="geometry.type")]),
    "no coordinates": ({"type": "Polygon"}, [Told("missing_member")]),
    "feature": (
        {"type": "Feature", "properties": {}, "geometry": polygon(UNIT)},
        [Told("wrong_type", field="geometry.type")],
    ),
    "lower case type": (
        {"type": "polygon", "coordinates": [UNIT]},
        [Told("wrong_type", field="geometry.type")],
    ),
    "type is an array": (
        {"type": ["Polygon"], "coordinates": [UNIT]},
        [Told("wrong_type", field="geometry.type")],
    ),
    "unknown members, all told": (
        polygon(UNIT, properties={}, id=1),
        [
            Told("unknown_member", field="geometry.properties"),
            Told("unknown_member", field="geometry.id"),
        ],
    ),
    "projected crs": (
        polygon(UNIT, crs={"type": "name", "properties": {"name": "EPSG:25832"}}),
        [Told("wrong_crs", field="geometry.crs")],
    ),
    "null crs": (polygon(UNIT, crs=None), [Told("wrong_crs", field="geometry.crs")]),
    "linked crs": (
        polygon(UNIT, crs={"type": "link", "properties": {"name": "EPSG:4326"}}),
        [Told("wrong_crs", field="geometry.crs")],
    ),
    "members and coordinates at once": (
        polygon([[0, 0], [1, 0], [1, 1], [0, 1]], id=1),
        [
            Told("unknown_member", field="geometry.id"),
            Told("not_closed", None, 0, 3, [0, 1]),
        ],
    ),
    "members and a crossing at once": (
        polygon(BOWTIE, id=1),
        [
            Told("unknown_member", field="geometry.id"),
            Told("self_intersection", None, 0, 0, [0.5, 0.5]),
        ],
    ),
}

STRUCTURE: dict[str, tuple[Any, list[Told]]] = {
    "coordinates null": ({"type": "Polygon", "coordinates": None}, [Told("not_an_array")]),
    "coordinates empty": (polygon(), [Told("empty")]),
    "part without rings": (multipolygon([UNIT], []), [Told("empty", 1)]),
    "part is a number": (multipolygon([UNIT], 5), [Told("not_an_array", 1)]),
    "ring empty": (polygon(TEN, []), [Told("empty", None, 1)]),
    "ring is text": (polygon(TEN, "hole"), [Told("not_an_array", None, 1)]),
    "a ring's positions in place of the rings": (polygon(*UNIT), [Told("wrong_nesting")]),
    "Polygon nested as a MultiPolygon": (polygon([UNIT]), [Told("wrong_nesting")]),
    "MultiPolygon nested as a Polygon": (multipolygon(UNIT), [Told("wrong_nesting")]),
    "position is an object": (
        polygon([[0, 0], [1, 0], {"lon": 1, "lat": 1}, [0, 0]]),
        [Told("not_an_array", None, 0, 2)],
    ),
    "positions of one and of four numbers": (
        polygon([[0, 0], [1], [1, 1, 1, 1], [0, 0]]),
        [Told("wrong_position", None, 0, 1), Told("wrong_position", None, 0, 2)],
    ),
    "ordinates that are no numbers": (
        polygon([[0, 0], [1, "0"], [True, 1], [None, 1], [[1], 1], [1, 1, {}], [0, 0]]),
        [Told("not_a_number", None, 0, index) for index in range(1, 6)],
    ),
    "ordinates that are not finite": (
        polygon([[NAN, 0], [1, INFINITE], [1, 1, -INFINITE], [1, 2, NAN], [NAN, 0]]),
        [Told("not_a_number", None, 0, index) for index in range(5)],
    ),
    "out of range": (
        polygon([[0, 0], [180.5, 0], [1, -90.5], [1, 1, 1e300], [0, 0]]),
        [
            Told("out_of_range", None, 0, 1, [180.5, 0]),
            Told("out_of_range", None, 0, 2, [1, -90.5]),
            Told("out_of_range", None, 0, 3, [1, 1]),
        ],
    ),
    "integers past 64 bits": (
        polygon([[0, 0], [2**64, 0], [10**400, 1], [1, 1, 2**64], [0, 0]]),
        [
            Told("out_of_range", None, 0, 1, [2.0**64, 0]),
            Told("out_of_range", None, 0, 2),
            Told("out_of_range", None, 0, 3, [1, 1]),
        ],
    ),
    "some nested too deep, some not enough": (
        polygon([0, 0], [[[0, 0]]]),
        [
            Told("not_an_array", None, 0, 0),
            Told("not_an_array", None, 0, 1),
            Told("too_few_positions", None, 0),
            Told("wrong_position", None, 1, 0),
            Told("too_few_positions", None, 1),
        ],
    ),
    "three positions": (polygon([[0, 0], [1, 0], [0, 0]]), [Told("too_few_positions", None, 0)]),
    "not closed": (
        polygon([[0, 0], [1, 0], [1, 1], [0, 1]]),
        [Told("not_closed", None, 0, 3, [0, 1])],
    ),
    "closed but for the height": (
        polygon([[0, 0, 7], [1, 0], [1, 1], [0, 0, 8]]),
        [Told("not_closed", None, 0, 3, [0, 0])],
    ),
    "faults of all rings and parts at once": (
        multipolygon(
            [TEN, [[1, 1], [2, 1], [2, 2], [1, 2]], []],
            "part",
            [[[0, 0], [1, "x"], [1, 99], [0, 0]]],
        ),
        [
            Told("not_closed", 0, 1, 3, [1, 2]),
            Told("empty", 0, 2),
            Told("not_an_array", 1),
            Told("not_a_number", 2, 0, 1),
            Told("out_of_range", 2, 0, 2, [1, 99]),
        ],
    ),
    "too many positions": (
        polygon([[0, 0]] * 60_000, [[0, 0]] * 60_000),
        [Told("too_many_positions")],
    ),
}
