"""Features as GeoJSON text.

Geometries go out as they are stored, without being parsed: a Polygon becomes a MultiPolygon by
what stands around its coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import orjson

from app.ogc.collections import Collection
from app.shapes import CRS84, Crs, from_degrees
from app.values.records import row_reader
from app.values.strict_json import Fragment, dumps

_POLYGON: Final = '{"type":"Polygon","coordinates":'
_COORDINATES: Final = slice(len(_POLYGON), -1)
_MULTI: Final = '{"type":"MultiPolygon","coordinates":'
_POINT: Final = '{"type":"Point"'
_BEFORE: Final = f"{_MULTI}["
_AFTER: Final = "]}"
_NOWHERE: Final = ("null", "", "")
_METADATA: Final = "stored_metadata"  # the last two columns of a row
_GEOMETRY: Final = "stored_geometry"


def feature_texts(
    collection: Collection, rows: Iterable[tuple[Any, ...]], crs: Crs
) -> Iterator[tuple[str, str, str]]:
    """Each row of the collection's source as the text of a Feature, in three parts: what is before
    its coordinates, these, and what is after them. To join them here would copy them once more."""
    read = row_reader(collection.type.property_fields, _METADATA, _GEOMETRY)
    keys = collection.type.metadata_properties
    for row in rows:
        properties = read(*row)
        metadata, geometry = properties.pop(_METADATA), properties.pop(_GEOMETRY)
        if metadata is not None:
            properties |= keys(metadata)
        before, coordinates, after = _NOWHERE if geometry is None else _parts(geometry, crs)
        yield (
            f'{{"type":"Feature","id":"{properties["id"]}","geometry":{before}',
            coordinates,
            f'{after},"properties":{dumps(properties).decode()}}}',
        )


def feature(collection: Collection, record: dict[str, Any], crs: Crs) -> dict[str, Any]:
    """The Feature of a record of ``/v1``, which ``dumps`` writes."""
    made = collection.type.feature(record).as_geojson()
    if made["geometry"] is not None:
        made["geometry"] = Fragment(shown_geometry(dumps(made["geometry"]).decode(), crs))
    return made


def shown_geometry(text: str, crs: Crs = CRS84) -> str:
    """The text of a stored geometry as it is shown: a MultiPolygon or a Point."""
    return "".join(_parts(text, crs))


def _parts(text: str, crs: Crs) -> tuple[str, str, str]:
    """Likewise in three parts, the second of which has the coordinates."""
    if crs is not CRS84:
        text = from_degrees(text, crs)
    if text.startswith(_POLYGON):
        return _BEFORE, text[_COORDINATES], _AFTER
    if not text.startswith((_MULTI, _POINT)):  # it was written with SQL, with other spaces
        geometry = orjson.loads(text)
        ordered = {"type": geometry["type"], "coordinates": geometry["coordinates"]}
        if geometry["type"] == "Polygon":
            return _parts(dumps(ordered).decode(), CRS84)
    return "", text, ""


def as_stored(geometry: Any) -> Any:
    """A parsed geometry in the form in which most are stored: a MultiPolygon of one part as a
    Polygon, which ``shown_geometry`` makes a MultiPolygon again."""
    if isinstance(geometry, dict) and geometry.get("type") == "MultiPolygon":
        parts = geometry.get("coordinates")
        if isinstance(parts, list) and len(parts) == 1:
            return geometry | {"type": "Polygon", "coordinates": parts[0]}
    return geometry
