"""Joining points to areas: GPS devices and surveyors' tables list the corners of parcels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from app.formats.features import FormatReader, Layer, SourceFeature
from app.imports.features.geometries import points_of

_JOINED: Final = "The points were joined to boundaries, in the order of the file."
_OTHERS: Final = "Lines and areas beside the points were left out."


def joined_corners(
    reader: FormatReader, layer: Layer, crs: str | None, column: str
) -> Iterator[SourceFeature]:
    """Read a layer whose points are the corners of areas.

    All points with the same value of a column become one feature, in the order of the file; with
    the column "", all points of the file. It has the columns whose values are the same in all its
    points.
    """
    areas: dict[str, SourceFeature] = {}
    rings: dict[str, list[Any]] = {}
    layer = replace(layer, columns=(*layer.columns, column))
    for feature in reader.read_features(layer, crs):
        geometry = feature.geometry or {}
        points = points_of(geometry) or ([geometry] if geometry.get("type") == "Point" else [])
        if geometry and not points:
            reader.note(_OTHERS)
        if points or feature.problems:
            key = str(feature.properties.get(column, "")).strip()
            area = areas.setdefault(key, replace(feature, number=len(areas) + 1))
            areas[key] = _with_corner(area, feature)
            rings.setdefault(key, []).extend(point.get("coordinates") for point in points)
    reader.note(_JOINED)
    for key, area in areas.items():
        ring = rings[key]
        if len(ring) < 2 or ring[0] != ring[-1]:
            ring += ring[:1]
        yield replace(area, geometry={"type": "Polygon", "coordinates": [ring]})


def _with_corner(area: SourceFeature, corner: SourceFeature) -> SourceFeature:
    """An area without the values that differ in one of its corners."""
    differ = [
        name for name, value in area.properties.items() if corner.properties.get(name) != value
    ]
    for name in differ:
        del area.properties[name]
    return replace(
        area, problems=area.problems or corner.problems, letter=area.letter or corner.letter
    )
