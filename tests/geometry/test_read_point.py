"""Locations."""

from __future__ import annotations

from typing import Any

import pytest

from app.geometry import GeometryInvalid, Point, read_point


def test_point() -> None:
    read = read_point({"type": "Point", "coordinates": [8.25, 48]})
    assert read == Point('{"type":"Point","coordinates":[8.25,48]}', 8.25, 48.0)
    assert type(read.latitude) is float


def test_third_ordinate_and_bbox_are_taken() -> None:
    sent = point(-180, 90, 12.5, bbox=[0, 0, 1, 1])
    assert read_point(sent).text == '{"type":"Point","coordinates":[-180,90,12.5]}'


def test_a_rounding_error_beyond_the_range_is_corrected() -> None:
    read = read_point({"type": "Point", "coordinates": [180.0000000000001705, -90.0000000001, 7]})
    assert read == Point('{"type":"Point","coordinates":[180.0,-90.0,7]}', 180.0, -90.0)
    with pytest.raises(GeometryInvalid):
        read_point(point(180.00000001, 0))


def point(*position: Any, **members: Any) -> dict[str, Any]:
    return {"type": "Point", "coordinates": list(position), **members}


NAN = float("nan")


def test_refused() -> None:
    for value, code, field, coordinates in (
        (None, "not_an_object", "location", None),
        ([8, 48], "not_an_object", "location", None),
        ({"coordinates": [8, 48]}, "missing_member", "location.type", None),
        ({"type": "Point"}, "missing_member", "location.coordinates", None),
        ({"type": "Polygon", "coordinates": []}, "wrong_type", "location.type", None),
        ({"type": "Point", "coordinates": "8,48"}, "not_an_array", "location.coordinates", None),
        (point(), "wrong_position", "location.coordinates", None),
        (point(8), "wrong_position", "location.coordinates", None),
        (point(8, 48, 1, 1), "wrong_position", "location.coordinates", None),
        (point([8, 48]), "wrong_nesting", "location.coordinates", None),
        (point([8, 48], [9, 48]), "wrong_nesting", "location.coordinates", None),
        (point([[8, 48]]), "wrong_nesting", "location.coordinates", None),
        (point(8, "48"), "not_a_number", "location.coordinates", None),
        (point(8, True), "not_a_number", "location.coordinates", None),
        (point(8, NAN), "not_a_number", "location.coordinates", None),
        (point(8, 91), "out_of_range", "location.coordinates", [8, 91]),
        (point(-181, 0), "out_of_range", "location.coordinates", [-181, 0]),
        (point(8, 48, 2**64), "out_of_range", "location.coordinates", [8, 48]),
        (point(8, 48, crs="EPSG:25832"), "wrong_crs", "location.crs", None),
        (point(8, 48, name="gate"), "unknown_member", "location.name", None),
    ):
        with pytest.raises(GeometryInvalid) as refused:
            read_point(value)
        (problem,) = refused.value.problems
        assert (problem.code, problem.field, problem.coordinates) == (code, field, coordinates), (
            value
        )
        assert (problem.part, problem.ring, problem.position) == (None, None, None), value


def test_all_problems_at_once() -> None:
    with pytest.raises(GeometryInvalid) as refused:
        read_point(point(48, 100, a=1, b=2))
    fields = [problem.field for problem in refused.value.problems]
    assert fields == ["location.a", "location.b", "location.coordinates"]
    assert "look swapped" in refused.value.problems[2].message
