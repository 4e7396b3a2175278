"""Features as GeoJSON text.

Geometries go out as they are stored, without being parsed: a Polygon becomes a MultiPolygon by
what stands around its coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

import orjson

from app.geometry.shapes import CRS84, Crs, from_degrees
from app.ogc.collections import Collection
from app.ogc.columns import Types, as_columns
from app.values.records import RowReader, row_reader
from app.values.strict_json import Fragment, dumps

_POLYGON: Final = '{"type":"Polygon","coordinates":'
_COORDINATES: Final = slice(len(_POLYGON), -1)
_MULTI: Final = '{"type":"MultiPolygon"'
_POINT: Final = '{"type":"Point"'


def as_features(
    collection: Collection, rows: Iterable[tuple[Any, ...]], crs: Crs, types: Types
) -> Iterator[tuple[dict[str, Any], int]]:
    """Each row of the collection's source as a Feature, which ``dumps`` writes, and how long the
    texts of its metadata and geometry are. The first has all columns."""
    read = _reader(collection)
    keys = collection.type.metadata_properties
    columns = dict.fromkeys(types)
    for *values, metadata, geometry in rows:
        properties = read(*values) | columns
        columns = {}
        if metadata is not None:
            properties |= as_columns(keys(metadata), types)
        yield (
            {
                "type": "Feature",
                "id": properties["id"],
                "geometry": None if geometry is None else shown_geometry(geometry, crs),
                "properties": properties,
            },
            len(metadata or "") + len(geometry or ""),
        )


@cache
def _reader(collection: Collection) -> RowReader:
    return row_reader(collection.type.property_fields)


def as_feature(collection: Collection, record: dict[str, Any], crs: Crs) -> dict[str, Any]:
    """The Feature of a record of ``/v1``, which ``dumps`` writes. It follows from the record alone,
    as its entity tag does: of the metadata, only objects and arrays are text."""
    geojson = collection.type.feature(record).as_geojson()
    fields = {field.name for field in collection.type.property_fields}
    own = {name: value for name, value in geojson["properties"].items() if name not in fields}
    geojson["properties"] |= as_columns(own, {})
    if geojson["geometry"] is not None:
        geojson["geometry"] = shown_geometry(dumps(geojson["geometry"]).decode(), crs)
    return geojson


def shown_geometry(text: str, crs: Crs = CRS84) -> Any:
    """A stored geometry as it is shown, a MultiPolygon or a Point, which ``dumps`` writes."""
    if crs is not CRS84:
        text = from_degrees(text, crs)
    if text.startswith(_POLYGON):
        return {"type": "MultiPolygon", "coordinates": [Fragment(text[_COORDINATES])]}
    if not text.startswith((_MULTI, _POINT)):  # it was written with SQL, with other spaces
        geometry = orjson.loads(text)
        ordered = {"type": geometry["type"], "coordinates": geometry["coordinates"]}
        if geometry["type"] == "Polygon":
            return shown_geometry(dumps(ordered).decode())
    return Fragment(text)


def as_stored(geometry: Any) -> Any:
    """A parsed geometry in the form in which most are stored: a MultiPolygon of one part as a
    Polygon, which ``shown_geometry`` makes a MultiPolygon again."""
    if isinstance(geometry, dict) and geometry.get("type") == "MultiPolygon":
        parts = geometry.get("coordinates")
        if isinstance(parts, list) and len(parts) == 1:
            return geometry | {"type": "Polygon", "coordinates": parts[0]}
    return geometry
