"""The geometry of a feature of a file as the boundary of a project, or the location of an asset."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import dist
from typing import Any, Final, TypeGuard

from app.geometry import Boundary, GeometryInvalid, Point, Problem, read_boundary, read_point
from app.geometry.problems import whole_problem

Json = Mapping[str, Any]
Note = Callable[[str], None]  # is told what was left out

IS_LINE: Final = "The feature is a line, and a boundary is an area."
_IS_POINT: Final = "The feature is a point, and a boundary is an area."
_NO_AREA: Final[Mapping[Any, str]] = {
    "Point": _IS_POINT,
    "MultiPoint": _IS_POINT,
    "GeometryCollection": "The feature is a collection without an area, and a boundary is one.",
}
NO_POINT: Final = "The feature is no point, and assets are. Areas can become projects."
_AREAS: Final = ("Polygon", "MultiPolygon")
_LINES: Final = ("LineString", "MultiLineString")
_COLLECTION: Final = "GeometryCollection"
_OTHERS_LEFT_OUT: Final = "Points and lines beside the areas of a feature were left out."
_DEEPEST: Final = 4  # collections in one another
_NEARLY: Final = 0.1  # of the length of a line, between its ends
_KINDS: Final = {
    "Polygon": "areas", "MultiPolygon": "areas", "GeometryCollection": "areas",
    "LineString": "lines", "MultiLineString": "lines",
    "Point": "points", "MultiPoint": "points",
}  # fmt: skip


def kind_of(geometry: Json) -> str | None:
    """What a geometry that nobody has validated is: ``areas``, ``lines`` or ``points``. Collections
    count as areas, as those are what is read of them."""
    return _KINDS.get(str(geometry.get("type")))


def has_points(geometry: Json) -> bool:
    """True if a collection that nobody has validated has points."""
    is_collection = geometry.get("type") == _COLLECTION
    return is_collection and any(kind_of(each) == "points" for each in _members(geometry))


def by_kind(geometry: Json) -> tuple[Json | None, list[dict[str, Any]]]:
    """What a geometry has besides points, None if that is nothing, and its points."""
    if geometry.get("type") != _COLLECTION:
        points = points_of(geometry)
        return (None if points else geometry), points
    others, points = [], []
    for each in _members(geometry):
        if kind_of(each) == "points":
            points += points_of(each) or [dict(each)]
        else:
            others.append(each)
    return ({"type": _COLLECTION, "geometries": others} if others else None), points


def is_nearly_closed(geometry: Json) -> bool:
    """True if closing the lines of a geometry hardly makes them longer, as those that surround an
    area do; of a geometry that nobody has validated."""
    coordinates = geometry.get("coordinates")
    lines = coordinates if geometry.get("type") == "MultiLineString" else [coordinates]
    return isinstance(lines, list) and bool(lines) and all(map(_surrounds, lines))


def _surrounds(line: Any) -> bool:
    try:
        positions = [(float(x), float(y)) for x, y, *_ in line]
    except (TypeError, ValueError, OverflowError):
        return False
    length = sum(map(dist, positions, positions[1:]))
    return len(positions) > 3 and dist(positions[0], positions[-1]) <= _NEARLY * length


def is_empty(geometry: Json) -> bool:
    """True if a geometry has no positions, as programs write where there is none."""
    return geometry.get("coordinates") == [] or geometry.get("geometries") == []


def boundary_of(geometry: Json, note: Note, *, close_lines: bool) -> Boundary:
    """The boundary that a geometry is. Of a collection it has the areas.

    Args:
        close_lines: lines become the areas that they surround.

    Raises:
        GeometryInvalid: it has no area, or is not valid.
    """
    if geometry.get("type") == _COLLECTION:
        geometry = _areas_of(geometry, note)
    if geometry.get("type") in _LINES and not close_lines:
        raise GeometryInvalid([whole_problem("wrong_type", IS_LINE, "geometry.type")])
    geometry = closed(geometry)
    if reason := _NO_AREA.get(geometry.get("type")):
        raise GeometryInvalid([whole_problem("wrong_type", reason, "geometry.type")])
    with _in_plain_words():
        return read_boundary(geometry, locate=False)  # the reader has no countries loaded


def closed(geometry: Json) -> Json:
    """A line as the area that it surrounds, each of its lines as a ring that ends where it begins;
    another geometry, or one that is malformed, as it is."""
    is_multi = geometry.get("type") == "MultiLineString"
    lines = geometry.get("coordinates") if is_multi else [geometry.get("coordinates")]
    if geometry.get("type") not in _LINES or not _are_lines(lines):
        return geometry
    rings = [line if line[:1] == line[-1:] else [*line, line[0]] for line in lines]
    if len(rings) == 1:
        return {"type": "Polygon", "coordinates": rings}
    return {"type": "MultiPolygon", "coordinates": [[ring] for ring in rings]}


def _are_lines(value: Any) -> TypeGuard[list[list[Any]]]:
    return isinstance(value, list) and all(isinstance(line, list) and line for line in value)


def location_of(geometry: Json) -> Point:
    """The point that a geometry is; one of a single position is a point whatever its type.

    Raises:
        GeometryInvalid: it is none.
    """
    points = points_of(geometry)
    if geometry.get("type") in (*_AREAS, *_LINES, _COLLECTION):
        raise GeometryInvalid([whole_problem("wrong_type", NO_POINT, "location.type")])
    with _in_plain_words():
        return read_point(points[0] if len(points) == 1 else geometry)


@contextmanager
def _in_plain_words() -> Iterator[None]:
    """Let problems speak of the geometry to somebody who sees no JSON."""
    try:
        yield
    except GeometryInvalid as error:
        raise GeometryInvalid(map(_plain, error.problems)) from None


def _plain(problem: Problem) -> Problem:
    message = problem.message.replace("`coordinates` ", "The geometry ").replace("`", "")
    return replace(problem, message=message)


def points_of(geometry: Json) -> list[dict[str, Any]]:
    """The points of a MultiPoint; of other geometries none."""
    positions = geometry.get("coordinates")
    if geometry.get("type") != "MultiPoint" or not isinstance(positions, list):
        return []
    return [{"type": "Point", "coordinates": position} for position in positions]


def _areas_of(collection: Json, note: Note) -> Json:
    """The areas of a collection as one geometry; the collection itself if it has none."""
    members = list(_members(collection))
    areas = [each for each in members if each.get("type") in _AREAS]
    if not areas:
        return collection
    if len(areas) < len(members):
        note(_OTHERS_LEFT_OUT)
    if len(areas) == 1:
        return areas[0]
    parts: list[Any] = []
    for area in areas:
        coordinates = area.get("coordinates")
        if area["type"] == "MultiPolygon" and isinstance(coordinates, list):
            parts += coordinates
        else:
            parts.append(coordinates)
    return {"type": "MultiPolygon", "coordinates": parts}


def _members(geometry: Any, depth: int = 0) -> Iterator[Json]:
    if not isinstance(geometry, dict) or is_empty(geometry):
        return
    members = geometry.get("geometries")
    if geometry.get("type") != _COLLECTION or not isinstance(members, list) or depth > _DEEPEST:
        yield geometry
        return
    for member in members:
        yield from _members(member, depth + 1)
