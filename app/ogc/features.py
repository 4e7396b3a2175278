"""Features as GeoJSON text.

Stored geometries go out without being parsed: a Polygon becomes a MultiPolygon by the text around
its coordinates.
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
    """Yield (Feature for ``dumps``, length of its metadata and geometry) for rows of the source.

    The first Feature has all columns.
    """
    read = _row_reader(collection)
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
def _row_reader(collection: Collection) -> RowReader:
    return row_reader(collection.type.property_fields)


def as_feature(collection: Collection, record: dict[str, Any], crs: Crs) -> dict[str, Any]:
    """The Feature of a record of ``/v1``, for ``dumps``. Like its entity tag, it depends only on
    the record: in the metadata, only objects and arrays become text."""
    geojson = collection.type.feature(record).as_geojson()
    fields = {field.name for field in collection.type.property_fields}
    own = {name: value for name, value in geojson["properties"].items() if name not in fields}
    geojson["properties"] |= as_columns(own, {})
    if geojson["geometry"] is not None:
        geojson["geometry"] = shown_geometry(dumps(geojson["geometry"]).decode(), crs)
    return geojson


def shown_geometry(text: str, crs: Crs = CRS84) -> Any:
    """A stored geometry as a MultiPolygon or a Point, for ``dumps``."""
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
    """A parsed geometry in the stored form: a MultiPolygon of one part becomes a Polygon, the
    inverse of ``shown_geometry``."""
    if isinstance(geometry, dict) and geometry.get("type") == "MultiPolygon":
        parts = geometry.get("coordinates")
        if isinstance(parts, list) and len(parts) == 1:
            return geometry | {"type": "Polygon", "coordinates": parts[0]}
    return geometry
