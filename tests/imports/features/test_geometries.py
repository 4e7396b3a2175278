"""The geometries of files as boundaries and locations."""

from __future__ import annotations

from typing import Any

import pytest

from app.geometry import GeometryInvalid
from app.imports.features.geometries import (
    boundary_of,
    is_empty,
    location_of,
    plain_problem,
    points_of,
)
from tests.make import point, square

LINE = {"type": "LineString", "coordinates": [[0, 0], [1, 0], [1, 1]]}


def collection(*members: Any) -> dict[str, Any]:
    return {"type": "GeometryCollection", "geometries": [*members]}


def test_the_areas_of_a_collection_are_taken() -> None:
    for geometry, type_, parts, notes in (
        (collection(point(), square()), "Polygon", 1, 1),
        (collection(square(), square(2)), "MultiPolygon", 2, 0),
        (collection(collection(LINE, square()), collection(square(2))), "MultiPolygon", 2, 1),
        (
            collection(
                {
                    "type": "MultiPolygon",
                    "coordinates": [square()["coordinates"], square(2)["coordinates"]],
                },
                square(4),
                {"type": "Point", "coordinates": []},
            ),
            "MultiPolygon",
            3,
            0,
        ),
    ):
        told: list[str] = []
        boundary = boundary_of(geometry, told.append, close_lines=False)
        found = (boundary.type, len(boundary.rings.exteriors), len(told))
        assert found == (type_, parts, notes), geometry


def test_what_has_no_area_is_refused() -> None:
    for geometry in (
        collection(point(), LINE),
        collection(1, None, {}),
        collection({"type": "Polygon", "coordinates": [[[0, 0]]]}),
        collection({"type": "MultiPolygon", "coordinates": 5}, square()),
        point(),
        LINE,
        {"type": "FeatureCollection", "features": []},
    ):
        with pytest.raises(GeometryInvalid):
            boundary_of(geometry, lambda _: None, close_lines=False)


def test_collections_in_one_another_are_read_to_a_depth() -> None:
    nested: dict[str, Any] = square()
    for _ in range(90):
        nested = collection(nested)
    with pytest.raises(GeometryInvalid):
        boundary_of(nested, lambda _: None, close_lines=False)


def test_what_is_nested_like_another_type_is_read(subtests: pytest.Subtests) -> None:
    rings = square(10, 47, 0.01)["coordinates"]
    inner = [[round(x / 2 + 5.0025, 7), y / 2 + 23.5025] for x, y in rings[0]]
    for name, type_, coordinates, kind in (
        ("a MultiPolygon like a Polygon", "MultiPolygon", rings, "Polygon"),
        ("with a hole", "MultiPolygon", [*rings, inner], "Polygon"),
        ("a Polygon like a MultiPolygon", "Polygon", [rings], "MultiPolygon"),
        ("like a line", "Polygon", rings[0], "Polygon"),
        ("a MultiPolygon like a line", "MultiPolygon", rings[0], "Polygon"),
    ):
        with subtests.test(name):
            notes = list[str]()
            geometry = {"type": type_, "coordinates": coordinates}
            found = boundary_of(geometry, notes.append, close_lines=False)
            assert found.type == kind
            assert found.area_m2 == pytest.approx(
                845443 * (0.75 if "hole" in name else 1), rel=1e-4
            )
            assert notes == [
                f"Coordinates that are nested like those of a {kind} were read as one."
            ]
    for coordinates in ([rings, rings[0]], [[rings]], [[[]]], 7):
        with pytest.raises(GeometryInvalid):
            boundary_of(
                {"type": "Polygon", "coordinates": coordinates}, notes.append, close_lines=False
            )


def test_rings_close_at_ends_that_are_the_same_but_for_rounding(subtests: pytest.Subtests) -> None:
    corners = square(10, 47, 0.01)["coordinates"][0][:-1]
    first, second = [*corners[:3]], [corners[0], corners[3], corners[2]]
    for name, type_, coordinates, notes in (
        ("rounded", "Polygon", [[*corners, [10 + 4e-7, 47]]], 1),
        ("of a part", "MultiPolygon", [[[*corners, [10, 47 - 1e-14]]]], 1),
        ("a border in pieces", "MultiLineString", [first, second], 0),
    ):
        with subtests.test(name):
            told = list[str]()
            geometry = {"type": type_, "coordinates": coordinates}
            found = boundary_of(geometry, told.append, close_lines=True)
            assert found.area_m2 == pytest.approx(845443, rel=1e-4)
            assert (len(found.rings.exteriors), len(told)) == (1, notes)
    wide = {"type": "Polygon", "coordinates": [[*corners, [10 + 2e-6, 47]]]}
    with pytest.raises(GeometryInvalid, match="Close the ring"):
        boundary_of(wide, told.append, close_lines=True)


def test_a_multipoint_of_one_position_is_a_point() -> None:
    found = location_of({"type": "MultiPoint", "coordinates": [[8.5, 50.25]]})
    assert (found.longitude, found.latitude) == (8.5, 50.25)


def test_what_is_no_point_is_refused() -> None:
    for geometry in (
        {"type": "MultiPoint", "coordinates": [[1, 2], [3, 4]]},
        {"type": "MultiPoint", "coordinates": [["a"]]},
        {"type": "MultiPoint", "coordinates": 5},
        {"type": "MultiPoint"},
        square(),
    ):
        with pytest.raises(GeometryInvalid):
            location_of(geometry)


def test_problems_are_told_without_the_words_of_json() -> None:
    def note(_: str) -> None:
        """Take a note."""

    with pytest.raises(GeometryInvalid) as nested:
        boundary_of({"type": "Polygon", "coordinates": [[[[[0, 0]]]]]}, note, close_lines=False)
    with pytest.raises(GeometryInvalid) as swapped:
        location_of(point(47, 108))
    with pytest.raises(GeometryInvalid) as missing:
        boundary_of({"type": "Polygon"}, note, close_lines=False)
    errors = (each.value.problems for each in (nested, swapped, missing))
    (one,), (two,), (three,) = (map(plain_problem, problems) for problems in errors)
    assert one.message.startswith("The geometry is nested 5 deep. A Polygon is 3 deep")
    assert two.message.startswith("The geometry is out of range: latitude 108")
    assert three.message == "geometry has no coordinates. Add them."


def test_the_points_of_a_multipoint() -> None:
    found = points_of({"type": "MultiPoint", "coordinates": [[1, 2], [3, 4]]})
    assert [each["coordinates"] for each in found] == [[1, 2], [3, 4]]
    assert points_of(point()) == points_of({}) == []


def test_what_is_empty() -> None:
    for type_ in ("Point", "Polygon", "MultiPolygon"):
        assert is_empty({"type": type_, "coordinates": []})
    assert is_empty(collection())
    assert not is_empty({"type": "Polygon", "coordinates": [[]]})
    assert not is_empty({"type": "Polygon"})
    assert not is_empty({"type": "Point", "coordinates": [1, 2], "geometries": []})
