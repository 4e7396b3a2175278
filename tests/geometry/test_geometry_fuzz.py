"""Whatever is sent, the answer is a boundary or a list of problems, and it is the right one."""

from __future__ import annotations

import json
import math
from typing import Any

import orjson
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from app.geometry import (
    PROBLEM_CODES,
    GeometryInvalid,
    Problem,
    read_boundary,
    read_point,
)
from app.geometry.problems import MAX_PROBLEMS

ODD_NUMBERS = [0, -0.0, 180, -180, 90, 1e-320, 1e308, 2**63, 10**400, math.nan, math.inf]


def json_values() -> st.SearchStrategy[Any]:
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    leaves |= st.sampled_from([*ODD_NUMBERS, "Polygon", "Point", "EPSG:4326"])
    names = st.sampled_from(["type", "coordinates", "crs", "bbox", "name", "properties"])
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(names | st.text(), inner),
        max_leaves=30,
    )


def objects(*types: str) -> st.SearchStrategy[Any]:
    members = {"type": st.sampled_from(types), "coordinates": json_values()}
    return st.fixed_dictionaries(members, optional={"crs": json_values(), "x": json_values()})


@st.composite
def nearly_boundaries(draw: st.DrawFn) -> Any:
    """Draw a Polygon or MultiPolygon of random rings, with one value in it replaced by another."""
    position = st.lists(st.integers(-200, 200) | st.floats(-90, 90), min_size=2, max_size=3)
    ring = st.lists(position, min_size=3, max_size=6).map(lambda ring: [*ring, ring[0]])
    part = st.lists(ring, min_size=1, max_size=3)
    multi = draw(st.booleans())
    value = draw(st.lists(part, min_size=1, max_size=3) if multi else part)
    value = {"type": "MultiPolygon" if multi else "Polygon", "coordinates": value}
    if draw(st.booleans()):
        value = json.loads(json.dumps(value))  # no list is in it twice
        place: Any = value["coordinates"]
        for _ in range(draw(st.integers(0, 3 + multi - 1))):
            place = place[draw(st.integers(0, len(place) - 1))]
        place[draw(st.integers(0, len(place) - 1))] = draw(json_values())
    return value


def check_problems(problems: list[Problem], name: str) -> None:
    assert 1 <= len(problems) <= MAX_PROBLEMS
    for problem in problems:
        assert problem.code in PROBLEM_CODES
        assert problem.field == name or problem.field.startswith(f"{name}.")
        assert problem.coordinates is None or all(map(math.isfinite, problem.coordinates))
        assert len(problem.message) < 500


@pytest.mark.slow
@settings(deadline=None)
@given(json_values() | objects("Polygon", "MultiPolygon") | nearly_boundaries())
def test_boundary_or_problems(value: Any) -> None:
    try:
        boundary = read_boundary(value)
    except GeometryInvalid as refused:
        check_problems(refused.problems, "geometry")
    else:
        assert orjson.loads(boundary.text)["type"] == value["type"]
        assert boundary.area_m2 >= 0


@pytest.mark.slow
@settings(deadline=None)
@given(json_values() | objects("Point"))
def test_point_or_problems(value: Any) -> None:
    try:
        point = read_point(value)
    except GeometryInvalid as refused:
        check_problems(refused.problems, "location")
    else:
        assert orjson.loads(point.text) == {"type": "Point", "coordinates": value["coordinates"]}


@pytest.mark.slow
@pytest.mark.parametrize("depth", [300, 100_000])
def test_deep_nesting(depth: int) -> None:
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    square = [[0, 0], [1, 0], [nested, 1], [0, 0]]
    for coordinates in (nested, [square]):
        with pytest.raises(GeometryInvalid):
            read_boundary({"type": "Polygon", "coordinates": coordinates})
    while nested:  # Python's own way to free it is recursive
        nested = nested.pop()


@st.composite
def grid_boundaries(draw: st.DrawFn) -> Any:
    """Draw a sound structure on a coarse grid, where faults of every kind are frequent."""
    position = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(list)
    small = st.lists(position, min_size=3, max_size=5).map(lambda ring: [*ring, ring[0]])
    whole = st.sampled_from([[[0, 0], [5, 0], [5, 5], [0, 5], [0, 0]]])
    part = st.lists(small, min_size=1, max_size=2) | st.builds(
        lambda exterior, holes: [exterior, *holes], whole, st.lists(small, max_size=3)
    )
    if draw(st.booleans()):
        return {"type": "Polygon", "coordinates": draw(part)}
    return {"type": "MultiPolygon", "coordinates": draw(st.lists(part, min_size=1, max_size=3))}


@pytest.mark.slow
@settings(deadline=None)
@given(grid_boundaries())
def test_refused_if_and_only_if_shapely_has_it_invalid(value: Any) -> None:
    valid = shapely.is_valid(shapely.from_geojson(json.dumps(value)))
    try:
        read_boundary(value)
    except GeometryInvalid as refused:
        assert not valid
        for problem in refused.problems:
            check_place(value, problem)
    else:
        assert valid


def check_place(value: Any, problem: Problem) -> None:
    """Check that a fault's coordinates are on the edge that starts at its position."""
    parts = value["coordinates"] if value["type"] == "MultiPolygon" else [value["coordinates"]]
    assert (problem.part is None) == (value["type"] == "Polygon")
    assert problem.ring is not None
    assert problem.position is not None
    assert problem.coordinates is not None
    ring = parts[problem.part or 0][problem.ring]
    edge = shapely.LineString(ring[problem.position : problem.position + 2])
    assert shapely.distance(edge, shapely.Point(problem.coordinates)) < 1e-12
