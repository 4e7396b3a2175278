"""Turning the geometry of a feature into a boundary, a location, or an outline for a map."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import dist
from typing import Any, Final, TypeGuard

import shapely

from app.formats.positions import positions_of, replace_positions
from app.geometry import Boundary, GeometryInvalid, Point, Problem, read_boundary, read_point
from app.geometry.problems import whole_problem
from app.geometry.structure import array_depth
from app.policy.imports import OUTLINE_POSITIONS, PROBLEMS
from app.values.strict_json import dumps

Json = Mapping[str, Any]
Note = Callable[[str], None]  # called with sentences about what was left out

IS_LINE: Final = "The feature is a line, and a boundary is an area."
_IS_POINT: Final = "The feature is a point, and a boundary is an area."
_NO_AREA: Final[Mapping[Any, str]] = {
    "Point": _IS_POINT,
    "MultiPoint": _IS_POINT,
    "GeometryCollection": "The feature is a collection without an area, and a boundary is one.",
}
NO_POINT: Final = "The feature is no point, and assets are. Areas can become projects."
_AREAS: Final = ("Polygon", "MultiPolygon")
_NESTING: Final = {2: "Polygon", 3: "Polygon", 4: "MultiPolygon"}  # by arrays around a number
_LINES: Final = ("LineString", "MultiLineString")
_COLLECTION: Final = "GeometryCollection"
_OTHERS_LEFT_OUT: Final = "Points and lines beside the areas of a feature were left out."
_DEEPEST: Final = 4  # collections in one another
_NEARLY_CLOSED: Final = 0.1  # distance of the ends, as a share of the length
_ROUNDED: Final = 1e-6  # degrees by which the ends of a ring differ by rounding alone
_CLOSED: Final = "Outlines whose ends differ in the seventh decimal or later were closed."
# How deep the positions are nested in the coordinates of each type that has an outline.
_DEPTHS: Final = {
    "Point": 0,
    "LineString": 1,
    "Polygon": 2,
    "MultiLineString": 2,
    "MultiPolygon": 3,
}
_KINDS: Final = {
    "Polygon": "areas", "MultiPolygon": "areas", "GeometryCollection": "areas",
    "LineString": "lines", "MultiLineString": "lines",
    "Point": "points", "MultiPoint": "points",
}  # fmt: skip


def geometry_kind(geometry: Json) -> str | None:
    """Return ``areas``, ``lines`` or ``points`` for a geometry, which need not be valid.
    Collections are ``areas``: only areas are read from them."""
    return _KINDS.get(str(geometry.get("type")))


def has_points(geometry: Json) -> bool:
    """True if a geometry, which need not be valid, is a collection with points."""
    return geometry.get("type") == _COLLECTION and bool(split_points(geometry)[1])


def split_points(geometry: Json) -> tuple[Json | None, list[dict[str, Any]]]:
    """Return (the geometry without its points or None, its points)."""
    if geometry.get("type") != _COLLECTION:
        points = points_of(geometry)
        return (None if points else geometry), points
    others, points = [], []
    for member in _geometry_members(geometry):
        if geometry_kind(member) == "points":
            points += points_of(member) or [dict(member)]
        else:
            others.append(member)
    return ({"type": _COLLECTION, "geometries": others} if others else None), points


def is_nearly_closed(geometry: Json) -> bool:
    """True if the ends of each line nearly meet, as around an area. The geometry need not be
    valid."""
    coordinates = geometry.get("coordinates")
    lines = coordinates if geometry.get("type") == "MultiLineString" else [coordinates]
    return isinstance(lines, list) and bool(lines) and all(map(_is_closed_around, lines))


def _is_closed_around(line: Any) -> bool:
    try:
        positions = [(float(x), float(y)) for x, y, *_ in line]
    except (TypeError, ValueError, OverflowError):
        return False
    length = sum(map(dist, positions, positions[1:]))
    return len(positions) > 3 and dist(positions[0], positions[-1]) <= _NEARLY_CLOSED * length


def closed_area_m2(geometry: Json) -> int:
    """The area that lines surround once they are closed, in square meters; 0 if that is no valid
    boundary."""
    try:
        return read_boundary(closed_lines(geometry), locate=False, max_faults=0).area_m2
    except GeometryInvalid:
        return 0


def is_empty(geometry: Json) -> bool:
    """True if a geometry has no positions, which some programs write instead of null."""
    member = "geometries" if geometry.get("type") == _COLLECTION else "coordinates"
    return geometry.get(member) == []


def boundary_of(
    geometry: Json, note: Note, *, close_lines: bool, max_faults: int = PROBLEMS
) -> Boundary:
    """Return a geometry, or the areas of a collection, as a boundary.

    Args:
        close_lines: turn lines into the areas that they surround.
        max_faults: places to find where it is not valid.

    Raises:
        GeometryInvalid: it has no area, or is not valid.
    """
    if geometry.get("type") == _COLLECTION:
        geometry = _areas_of(geometry, note)
    if geometry.get("type") in _LINES and not close_lines:
        raise GeometryInvalid([whole_problem("wrong_type", IS_LINE, "geometry.type")])
    geometry = _repaired(closed_lines(geometry), note)
    if reason := _NO_AREA.get(geometry.get("type")):
        raise GeometryInvalid([whole_problem("wrong_type", reason, "geometry.type")])
    # The reader has no countries loaded.
    return read_boundary(geometry, locate=False, max_faults=max_faults)


def closed_lines(geometry: Json) -> Json:
    """Turn lines into areas, each line into a ring, after joining those of which two have an end in
    common. Other and malformed geometries stay."""
    is_multi = geometry.get("type") == "MultiLineString"
    lines = geometry.get("coordinates") if is_multi else [geometry.get("coordinates")]
    if geometry.get("type") not in _LINES or not _are_lines(lines):
        return geometry
    rings = [line if line[:1] == line[-1:] else [*line, line[0]] for line in _joined(lines)]
    if len(rings) == 1:
        return {"type": "Polygon", "coordinates": rings}
    return {"type": "MultiPolygon", "coordinates": [[ring] for ring in rings]}


def _joined(lines: list[list[Any]]) -> list[list[Any]]:
    try:
        merged = shapely.line_merge(
            shapely.MultiLineString([[at[:2] for at in one] for one in lines])
        )
    except (TypeError, ValueError, shapely.errors.ShapelyError):
        return lines
    parts = shapely.get_parts(merged)
    if len(parts) == len(lines):
        return lines
    return [shapely.get_coordinates(part).tolist() for part in parts]


def _repaired(geometry: Json, note: Note) -> Json:
    """An area as the type that its coordinates are nested like, where that is plain, whose rings
    end where they begin, also those that are closed but for rounding."""
    kind, coordinates = geometry.get("type"), geometry.get("coordinates")
    if kind not in _AREAS or not isinstance(coordinates, list):
        return geometry
    depths = {1 + array_depth(member) for member in coordinates}
    depth = depths.pop() if len(depths) == 1 else 0
    if depth in _NESTING and ((nested := _NESTING[depth]) != kind or depth == 2):
        note(f"Coordinates that are nested like those of a {nested} were read as one.")
        kind, coordinates = nested, coordinates if depth > 2 else [coordinates]
    return {**geometry, "type": kind, "coordinates": _closed_rings(coordinates, note)}


def _closed_rings(value: Any, note: Note) -> Any:
    if array_depth(value) > 2:
        return [_closed_rings(member, note) for member in value]
    try:
        is_near = value[0] != value[-1] and dist(value[0][:2], value[-1][:2]) < _ROUNDED
    except (TypeError, ValueError, LookupError):
        return value
    if is_near:
        note(_CLOSED)
    return [*value[:-1], value[0]] if is_near else value


def _are_lines(value: Any) -> TypeGuard[list[list[Any]]]:
    return isinstance(value, list) and all(isinstance(line, list) and line for line in value)


def location_of(geometry: Json) -> Point:
    """Return a Point, or a MultiPoint of one position, as a location.

    Raises:
        GeometryInvalid: the geometry is no point, or not valid.
    """
    points = points_of(geometry)
    if geometry.get("type") in (*_AREAS, *_LINES, _COLLECTION):
        raise GeometryInvalid([whole_problem("wrong_type", NO_POINT, "location.type")])
    return read_point(points[0] if len(points) == 1 else geometry)


def plain_problem(problem: Problem) -> Problem:
    """Reword a problem for people who see no JSON."""
    message = problem.message.replace("`coordinates` ", "The geometry ").replace("`", "")
    return replace(problem, message=message)


def points_of(geometry: Json) -> list[dict[str, Any]]:
    """The points of a MultiPoint; none of other geometries."""
    positions = geometry.get("coordinates")
    if geometry.get("type") != "MultiPoint" or not isinstance(positions, list):
        return []
    return [{"type": "Point", "coordinates": position} for position in positions]


def _areas_of(collection: Json, note: Note) -> Json:
    """The areas of a collection as one geometry; the collection itself if it has none."""
    members = list(_geometry_members(collection))
    areas = [member for member in members if member.get("type") in _AREAS]
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


def _geometry_members(geometry: Any, depth: int = 0) -> Iterator[Json]:
    if not isinstance(geometry, dict) or is_empty(geometry):
        return
    members = geometry.get("geometries")
    if geometry.get("type") != _COLLECTION or not isinstance(members, list) or depth > _DEEPEST:
        yield geometry
        return
    for member in members:
        yield from _geometry_members(member, depth + 1)


def rejected_outline(geometry: Mapping[str, Any] | None) -> str | None:
    """Return the geometry of a rejected feature, without heights, as GeoJSON text for a map.

    None: it cannot be drawn, or has more than OUTLINE_POSITIONS positions.
    """
    if geometry is None or geometry.get("type") not in _DEPTHS:
        return None
    if not _is_nested(geometry.get("coordinates"), _DEPTHS[geometry["type"]]):
        return None
    try:
        points = positions_of({**geometry})
    except GeometryInvalid:
        return None
    if len(points) > OUTLINE_POSITIONS or not (abs(points) <= (180, 90)).all():
        return None
    return dumps(replace_positions({**geometry}, points)).decode()


def _is_nested(value: Any, depth: int) -> bool:
    """True if so many arrays are around each position, and none is empty."""
    if not isinstance(value, list) or not value:
        return False
    if depth:
        return all(_is_nested(member, depth - 1) for member in value)
    return not isinstance(value[0], list)
